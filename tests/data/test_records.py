"""Records and their lines in captions.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vse_zoo.data.records import Phrase, Record, leads_out, read_records
from vse_zoo.errors import DataError

labels = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)
names = texts.filter(lambda name: not leads_out(name))


@st.composite
def all_records(draw: st.DrawFn) -> Record:
    captions = draw(st.dictionaries(labels, st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=3))
    language = draw(st.sampled_from(sorted(captions)))
    number = draw(st.integers(0, len(captions[language]) - 1))
    end = draw(st.integers(1, len(captions[language][number])))
    low, high = st.floats(0, 0.5), st.floats(0.5, 1, exclude_min=True)
    box = st.tuples(low, low, high, high)
    boxes = tuple(draw(st.lists(box, max_size=2)))
    phrase = Phrase(language, number, draw(st.integers(0, end - 1)), end, boxes)
    return Record(draw(names), draw(labels), captions, draw(st.sampled_from([(), (phrase,)])))


@given(st.lists(all_records(), min_size=1, max_size=4))
def test_reading_inverts_writing(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> None:
    path = tmp_path_factory.mktemp("records") / "captions.jsonl"
    path.write_bytes(b"".join(record.line() for record in records))
    assert path.read_bytes().count(b"\n") == len(records)
    assert [record.problem() for record in records] == [None] * len(records)
    assert read_records(path) == records


def test_a_line_is_the_json_that_the_format_promises() -> None:
    phrase = Phrase("de", 0, 0, 8, ((0.0, 0.25, 0.5, 1.0),))
    record = Record("a/b.jpg", "train", {"de": ["Ein Hund läuft."]}, (phrase,))
    assert json.loads(record.line()) == {
        "image": "a/b.jpg",
        "split": "train",
        "captions": {"de": ["Ein Hund läuft."]},
        "phrases": [{"language": "de", "caption": 0, "start": 0, "end": 8, "boxes": [[0.0, 0.25, 0.5, 1.0]]}],
    }
    assert "läuft".encode() in record.line()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"image": ""}, "image"),
        ({"image": "../secret.jpg"}, "image"),
        ({"image": "a/../../secret.jpg"}, "image"),
        ({"image": "/etc/passwd"}, "image"),
        ({"image": "\udcff.jpg"}, "captions"),
        ({"split": ""}, "split"),
        ({"split": "a/b"}, "split"),
        ({"captions": {}}, "captions"),
        ({"captions": {"en": []}}, "captions"),
        ({"captions": {"en": ["good", " \n"]}}, "captions"),
        ({"captions": {"e n": ["good"]}}, "captions"),
        ({"captions": {"en": ["half a pair \ud83d"]}}, "captions"),
        ({"phrases": (Phrase("de", 0, 0, 1, ()),)}, "phrases"),
        ({"phrases": (Phrase("en", 1, 0, 1, ()),)}, "phrases"),
        ({"phrases": (Phrase("en", -1, 0, 1, ()),)}, "phrases"),
        ({"phrases": (Phrase("en", 0, 2, 2, ()),)}, "phrases"),
        ({"phrases": (Phrase("en", 0, 0, 99, ()),)}, "phrases"),
        ({"phrases": (Phrase("en", 0, 0, 1, ((0.5, 0.0, 0.4, 1.0),)),)}, "phrases"),
        ({"phrases": (Phrase("en", 0, 0, 1, ((0.0, 0.0, 1.1, 1.0),)),)}, "phrases"),
        ({"phrases": (Phrase("en", 0, 0, 1, ((0.0, 0.0, float("nan"), 1.0),)),)}, "phrases"),
    ],
)
def test_problems_are_found_in_their_field(change: dict[str, object], field: str) -> None:
    good = {"image": "a.jpg", "split": "train", "captions": {"en": ["a dog"]}}
    problem = Record(**{**good, **change}).problem()  # type: ignore[arg-type]
    assert problem is not None
    assert problem[0] == field


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"image": "a.jpg", "split": "train"}',
        b'{"image": 3, "split": "train", "captions": {"en": ["x"]}}',
        b'{"image": "a.jpg", "split": null, "captions": {"en": ["x"]}}',
        b'{"image": "a.jpg", "split": "train", "captions": ["x"]}',
        b'{"image": "a.jpg", "split": "train", "captions": {"en": "x"}}',
        b'{"image": "a.jpg", "split": "train", "captions": {"en": [1]}}',
        b'{"image": "a.jpg", "split": "train", "captions": {"en": ["\\ud83d"]}}',
        b'{"image": "a.jpg", "split": "train", "captions": {"en": ["x"]}, "phrases": 3}',
        b'{"image": "a.jpg", "split": "train", "captions": {"en": ["x"]}, "phrases": [{"language": "en"}]}',
        b'{"image": "a.jpg", "split": "train", "captions": {"en": ["x"]}, "phrases": '
        b'[{"language": "en", "caption": 0, "start": 0, "end": 1, "boxes": [[0, 0, 1]]}]}',
    ],
)
def test_damaged_lines_are_named_by_their_row(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "captions.jsonl"
    path.write_bytes(Record("b.jpg", "train", {"en": ["a dog"]}).line() + line + b"\n")
    with pytest.raises(DataError, match=r"captions\.jsonl, row 2: found no valid record"):
        read_records(path)
