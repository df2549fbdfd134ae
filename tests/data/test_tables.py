"""Tables of captions: the standard library's own writers on the other side, and every kind of damage."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from vse_zoo.data.tables import Row, lines, table_rows
from vse_zoo.errors import DataError

REQUIRED, OPTIONAL = ("image", "caption"), ("language", "split")
CAPTIONS = [
    "plain",
    'a, "quoted"; one',
    "two\nlines",
    "two\r\nWindows lines",
    "ein Hund läuft 🐕",
    "a\u2028b\x0cc\x85d",
    "it's",
]


def rows(path: Path, **options: Any) -> list[Row]:
    return list(table_rows(path, REQUIRED, OPTIONAL, **options))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["csv", "txt", "tsv", "TSV"])
@pytest.mark.parametrize("terminator", ["\n", "\r\n", "\r"])
def test_reads_what_the_csv_module_writes(tmp_path: Path, bom: str, ending: str, terminator: str) -> None:
    path = tmp_path / f"table.{ending}"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(bom)
        # The csv module quotes a line feed only where it ends lines.
        quoting = csv.QUOTE_ALL if terminator == "\r" else csv.QUOTE_MINIMAL
        separator = "\t" if ending.lower() == "tsv" else ","
        writer = csv.writer(file, delimiter=separator, lineterminator=terminator, quoting=quoting)
        writer.writerow(REQUIRED)
        writer.writerows(("a.jpg", caption) for caption in CAPTIONS)
    notes: list[str] = []
    found = rows(path, note=notes.append)
    assert [row.values["caption"] for row in found] == CAPTIONS
    assert found[0] == Row(path, 2, 2, {"image": "a.jpg", "caption": "plain", "language": "", "split": ""})
    # The third and the fourth caption take two lines each.
    assert [row.number for row in found] == [2, 3, 4, 5, 6, 7, 8]
    assert [row.line for row in found] == [2, 3, 4, 6, 8, 9, 10]
    assert not notes


@pytest.mark.parametrize("escaped", [True, False])
def test_reads_what_the_json_module_writes(tmp_path: Path, escaped: bool) -> None:
    objects = [{"image": "a.jpg", "caption": caption, "split": None} for caption in CAPTIONS]
    text = "\n".join(json.dumps(value, ensure_ascii=escaped) for value in objects)
    found = rows(write(tmp_path, "table.jsonl", "\ufeff" + text + "\n\n"))
    assert [row.values["caption"] for row in found] == CAPTIONS
    assert [(row.number, row.line) for row in found] == [(row, row) for row in range(1, len(CAPTIONS) + 1)]


SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "vertical bars"}


@pytest.mark.parametrize("ending", ["csv", "txt", "tsv"])
@pytest.mark.parametrize("separator", SEPARATORS)
def test_the_header_shows_what_separates(tmp_path: Path, ending: str, separator: str) -> None:
    path = tmp_path / f"table.{ending}"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows([REQUIRED, *(("a.jpg", caption) for caption in CAPTIONS)])
    notes: list[str] = []
    assert [row.values["caption"] for row in rows(path, note=notes.append)] == CAPTIONS
    usual = {"csv": ",", "txt": ",", "tsv": "\t"}[ending]
    expected = [] if separator == usual else [f"table.{ending}: the values are separated by {SEPARATORS[separator]}."]
    assert notes == expected


def test_a_declared_separator_counts_as_a_line_and_not_as_a_row(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "sep=~\r\nimage~caption\r\na.jpg~one, two; three\r\nb.jpg~\r\n")
    with pytest.raises(DataError, match=r"t\.csv, row 3 \(line 4\), field 'caption': found nothing"):
        rows(path)
    path = write(tmp_path, "t.csv", "sep=~\r\nimage~caption\r\na.jpg~one, two; three\r\n")
    assert [row.values["caption"] for row in rows(path)] == ["one, two; three"]


def test_names_of_columns_in_any_case_and_further_ones(tmp_path: Path) -> None:
    text = " SPLIT ;Caption;Photographer;IMAGE;langauge;;\r\n dev ; hello ;x;a.jpg;de;;\r\n"
    notes: list[str] = []
    (row,) = rows(write(tmp_path, "t.csv", text), note=notes.append)
    assert row.values == {"image": "a.jpg", "caption": "hello", "language": "", "split": "dev"}
    assert notes == [
        "t.csv: the values are separated by semicolons.",
        "t.csv: these columns are ignored: 'Photographer', 'langauge'. "
        "If 'langauge' is to be read as 'language', rename it.",
    ]


def test_names_of_json_fields_in_any_case_and_further_ones(tmp_path: Path) -> None:
    text = '{"Image": "a.jpg", "CAPTION": "x", "id": 3}\n{"image": "b.jpg", "caption": "y", "url": null, "id": 4}\n'
    notes: list[str] = []
    found = rows(write(tmp_path, "t.jsonl", text), note=notes.append)
    assert [(row.values["image"], row.values["caption"]) for row in found] == [("a.jpg", "x"), ("b.jpg", "y")]
    assert notes == ["t.jsonl: these columns are ignored: 'id', 'url'."]


def test_blank_rows_are_skipped_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", '\n;;\nimage;caption\n\n"a.jpg";"one\ntwo"\n ; \n;;;\nb.jpg;\n')
    with pytest.raises(DataError, match=r"row 8 \(line 9\), field 'caption'"):
        rows(path)


def test_blank_values_beyond_the_header_are_no_values(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "image,caption\na.jpg,one,,\n")
    assert [row.values["caption"] for row in rows(path)] == ["one"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.jsonl"])
def test_the_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str, name: str) -> None:
    caption = "ein Mädchen 犬 🐕"
    text = json.dumps({"image": "a.jpg", "caption": caption}, ensure_ascii=False)
    text = text if name == "t.jsonl" else f"image\tcaption\r\na.jpg\t{caption}\r\n"
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    notes: list[str] = []
    path = write(tmp_path, name, (mark + text).encode(encoding))
    (row,) = rows(path, note=notes.append)
    assert row.values["caption"] == caption
    assert (f"{name} is read as {encoding[:6].upper()}." in notes) == (encoding != "utf-8-sig")


def test_an_encoding_that_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "image;caption\r\na.jpg;Straße – „größer“\r\n".encode("cp1252"))
    with pytest.raises(DataError) as caught:
        rows(path)
    assert str(caught.value) == (
        f"{path}, line 2: found the byte 0xdf, expected UTF-8 text. It looks like windows-1252. "
        "Name the encoding with --encoding windows-1252, or save the file as UTF-8."
    )
    notes: list[str] = []
    (row,) = rows(path, encoding="windows-1252", note=notes.append)
    assert row.values["caption"] == "Straße – „größer“"
    assert notes[0] == "t.csv is read as windows-1252."


BAD = {
    "no header": ("t.csv", "a.jpg,hello\n", "row 1", "image", "no column 'image' among 'a.jpg', 'hello', expected the"),
    "a missing column": ("t.csv", "image,split\na.jpg,dev\n", "row 1", "caption", "no column 'caption'"),
    "a misspelt column": ("t.csv", "image;captions\na;b\n", "row 1", "caption", "Rename 'captions' to 'caption'."),
    "a column twice": ("t.csv", "image,caption,Caption\na.jpg,b,c\n", "row 1", "caption", "twice"),
    "an unquoted comma": ("t.csv", "image,caption\na.jpg,a dog, a cat\n", "row 2", None, "found 3 values, expected 2"),
    "a short row": ("t.csv", "image,caption\na.jpg,b\na.jpg\n", "row 3", "caption", "found nothing, expected text"),
    "white space only": ("t.tsv", "image\tcaption\na.jpg\t  \n", "row 2", "caption", "found nothing, expected text"),
    "no image": ("t.csv", "image,caption\n,b\n", "row 2", "image", "found nothing, expected text"),
    "after a line break": (
        *("t.csv", 'image,caption\na.jpg,"b\nc"\na.jpg,\n', "row 3 (line 4)", "caption"),
        "found nothing, expected text",
    ),
    "too many after a line break": ("t.csv", 'image,caption\na,"b\nc"\na,b,c\n', "row 3 (line 4)", None, "3 values"),
    "an open quote": ("t.csv", 'image,caption\na.jpg,ok\na.jpg,"b\nb.jpg,c\n', "row 3", None, "quotation marks"),
    "a stray quote": ("t.csv", 'image,caption\na.jpg,"b"c\n', "row 2", None, "quotation marks"),
    "Latin-1": ("t.csv", "image,caption\na,ok\nb,Hündin\n".encode("latin-1"), "line 3", None, "0xfc, expected UTF-8"),
    "Latin-1 JSON": ("t.jsonl", '{"image": "a", "caption": "ü"}'.encode("latin-1"), "line 1", None, "expected UTF-8"),
    "UTF-16 without its mark": ("t.csv", "image,caption\na,b\n".encode("utf-16-le"), "line 1", None, "like utf-16-le"),
    "a cut UTF-16": ("t.csv", "image,caption\na,b\n".encode("utf-16")[:-1], "line 2", None, "expected UTF-16 text"),
    "broken JSON": ("t.jsonl", '{"image": "a.jpg", "caption": "b"}\n{"image": \n', "row 2", None, "not valid JSON"),
    "a JSON list": ("t.jsonl", '["a.jpg", "b"]\n', "row 1", None, "found list, expected an object"),
    "a JSON number": ("t.jsonl", '{"image": "a.jpg", "caption": 3}\n', "row 1", "caption", "found 3, expected text"),
    "a JSON null": ("t.jsonl", '{"image": "a.jpg", "caption": null}\n', "row 1", "caption", "found nothing"),
    "a missing JSON field": ("t.jsonl", '{"image": "a", "text": "b"}', "row 1", "caption", "no column 'caption' among"),
    "a JSON field twice": ("t.jsonl", '{"image": "a", "Image": "b", "caption": "c"}', "row 1", "image", "twice"),
    "half a surrogate pair": (
        *("t.jsonl", r'{"image": "a", "caption": "\ud83d"}', "row 1", "caption"),
        "valid Unicode",
    ),
    "an empty file": ("t.csv", "", None, None, "the file is empty, expected the columns: image, caption"),
    "blank lines only": ("t.csv", "\n \n", None, None, "the file is empty, expected the columns: image, caption"),
    "another format": ("t.xlsx", "PK", None, None, "expected .csv, .tsv, .txt or .jsonl. Save a spreadsheet as CSV."),
}


@pytest.mark.parametrize("case", BAD)
def test_refuses_with_file_row_and_field(tmp_path: Path, case: str) -> None:
    name, content, row, field, problem = BAD[case]
    path = write(tmp_path, name, content)
    with pytest.raises(DataError) as caught:
        rows(path)
    message = str(caught.value)
    place = str(path) + (f", {row}" if row else "") + (f", field '{field}'" if field else "")
    assert message.startswith(f"{place}: ")
    assert problem in message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for call in (rows, lines):
        with pytest.raises(DataError, match=r"absent\.csv: no such file"):
            call(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv: can't be read \(Is a directory\)"):
        rows(tmp_path / "folder.csv")


@pytest.mark.parametrize("text", ["a\nb", "a\nb\n", "\ufeffa\r\nb\r\n", "a\rb\r", "a\rb"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_with_any_line_ends(tmp_path: Path, text: str, encoding: str) -> None:
    assert lines(write(tmp_path, "list.txt", text.lstrip("\ufeff" * (encoding != "utf-8")).encode(encoding))) == [
        "a",
        "b",
    ]


def test_lines_of_another_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, "list.txt", "größe.jpg\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"list\.txt, line 1: found the byte 0xf6, .* with --encoding windows-1252"):
        lines(path)
    assert lines(path, "cp1252") == ["größe.jpg"]


def test_lines_split_at_line_feeds_only(tmp_path: Path) -> None:
    assert lines(write(tmp_path, "list.txt", "a\u2028b\n\nc\x0bd\x85e\n")) == ["a\u2028b", "", "c\x0bd\x85e"]
    assert lines(write(tmp_path, "empty.txt", "")) == []
