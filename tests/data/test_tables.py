"""Tables of captions: the standard library's own writers on the other side, and every kind of damage."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from vse_zoo.data.tables import lines, table_rows
from vse_zoo.errors import DataError

REQUIRED, OPTIONAL = ("image", "caption"), ("language", "split")
CAPTIONS = [
    "plain",
    'a, "quoted" one',
    "two\nlines",
    "two\r\nWindows lines",
    "ein Hund läuft 🐕",
    "a\u2028b\x0cc\x85d",
    "it's",
]


def rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    return list(table_rows(path, REQUIRED, OPTIONAL))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["csv", "txt", "tsv", "TSV"])
@pytest.mark.parametrize("terminator", ["\n", "\r\n"])
def test_reads_what_the_csv_module_writes(tmp_path: Path, bom: str, ending: str, terminator: str) -> None:
    path = tmp_path / f"table.{ending}"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(bom)
        writer = csv.writer(file, delimiter="\t" if ending.lower() == "tsv" else ",", lineterminator=terminator)
        writer.writerow(REQUIRED)
        writer.writerows(("a.jpg", caption) for caption in CAPTIONS)
    found = rows(path)
    assert [values["caption"] for _, values in found] == CAPTIONS
    assert found[0] == (2, {"image": "a.jpg", "caption": "plain", "language": "", "split": ""})
    # Rows are numbered by the line they begin on: the third and the fourth take two lines each.
    assert [row for row, _ in found] == [2, 3, 4, 6, 8, 9, 10]


@pytest.mark.parametrize("escaped", [True, False])
def test_reads_what_the_json_module_writes(tmp_path: Path, escaped: bool) -> None:
    objects = [{"image": "a.jpg", "caption": caption, "split": None} for caption in CAPTIONS]
    text = "\n".join(json.dumps(value, ensure_ascii=escaped) for value in objects)
    found = rows(write(tmp_path, "table.jsonl", "\ufeff" + text + "\n\n"))
    assert [values["caption"] for _, values in found] == CAPTIONS
    assert [row for row, _ in found] == list(range(1, len(CAPTIONS) + 1))


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "image,caption\n\na.jpg,one\n\n\nb.jpg,\n")
    with pytest.raises(DataError, match=r"row 5|row 6"):
        rows(path)


def test_columns_in_any_order_are_stripped(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", " split , caption ,image\n dev , hello  , a.jpg \n")
    assert rows(path) == [(2, {"image": "a.jpg", "caption": "hello", "language": "", "split": "dev"})]


BAD = {
    "an unknown column": ("t.csv", "image,caption,speaker\na.jpg,b,c\n", 1, "speaker", "unknown column 'speaker'"),
    "no header": ("t.csv", "a.jpg,hello\n", 1, "a.jpg", "expected a header with the columns: image, caption"),
    "a missing column": ("t.csv", "image,split\na.jpg,dev\n", 1, "caption", "no column 'caption'"),
    "a column twice": ("t.csv", "image,caption,caption\na.jpg,b,c\n", 1, "caption", "twice"),
    "an unquoted comma": ("t.csv", "image,caption\na.jpg,a dog, a cat\n", 2, None, "found 3 values, expected 2"),
    "a short row": ("t.csv", "image,caption\na.jpg,b\na.jpg\n", 3, "caption", "found nothing, expected text"),
    "white space only": ("t.tsv", "image\tcaption\na.jpg\t  \n", 2, "caption", "found nothing, expected text"),
    "no image": ("t.csv", "image,caption\n,b\n", 2, "image", "found nothing, expected text"),
    "an open quote": ("t.csv", 'image,caption\na.jpg,ok\na.jpg,"b\nb.jpg,c\n', 3, None, "quotation marks"),
    "a stray quote": ("t.csv", 'image,caption\na.jpg,"b"c\n', 2, None, "quotation marks"),
    "Latin-1": ("t.csv", "image,caption\na.jpg,ok\nb.jpg,Hündin\n".encode("latin-1"), 3, None, "0xfc, expected UTF-8"),
    "Latin-1 JSON": ("t.jsonl", '{"image": "a", "caption": "ü"}'.encode("latin-1"), 1, None, "expected UTF-8"),
    "UTF-16": ("t.csv", "image,caption\na.jpg,b\n".encode("utf-16"), 1, None, "expected UTF-8"),
    "broken JSON": ("t.jsonl", '{"image": "a.jpg", "caption": "b"}\n{"image": \n', 2, None, "not valid JSON"),
    "a JSON list": ("t.jsonl", '["a.jpg", "b"]\n', 1, None, "found list, expected an object"),
    "a JSON number": ("t.jsonl", '{"image": "a.jpg", "caption": 3}\n', 1, "caption", "found 3, expected text"),
    "a JSON null": ("t.jsonl", '{"image": "a.jpg", "caption": null}\n', 1, "caption", "found nothing"),
    "an unknown JSON field": ("t.jsonl", '{"image": "a", "text": "b"}', 1, "text", "unknown field 'text'"),
    "half a surrogate pair": ("t.jsonl", r'{"image": "a", "caption": "\ud83d"}', 1, "caption", "valid Unicode"),
    "an empty file": ("t.csv", "", None, None, "the file is empty, expected the columns: image, caption"),
    "another format": ("t.xlsx", "PK", None, None, "expected .csv, .tsv, .txt or .jsonl"),
}


@pytest.mark.parametrize("case", BAD)
def test_refuses_with_file_row_and_field(tmp_path: Path, case: str) -> None:
    name, content, row, field, problem = BAD[case]
    path = write(tmp_path, name, content)
    with pytest.raises(DataError) as caught:
        rows(path)
    message = str(caught.value)
    place = str(path) + (f", row {row}" if row else "") + (f", field '{field}'" if field else "")
    assert message.startswith(f"{place}: ")
    assert problem in message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for call in (rows, lines):
        with pytest.raises(DataError, match=r"absent\.csv: no such file"):
            call(tmp_path / "absent.csv")


@pytest.mark.parametrize("text", ["a\nb", "a\nb\n", "\ufeffa\r\nb\r\n"])
def test_lines_with_any_line_ends(tmp_path: Path, text: str) -> None:
    assert lines(write(tmp_path, "list.txt", text)) == ["a", "b"]


def test_lines_split_at_line_feeds_only(tmp_path: Path) -> None:
    assert lines(write(tmp_path, "list.txt", "a\u2028b\n\nc\x0bd\x85e\n")) == ["a\u2028b", "", "c\x0bd\x85e"]
    assert lines(write(tmp_path, "empty.txt", "")) == []
