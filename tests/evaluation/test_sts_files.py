"""STS files: as SemEval publishes them, and damaged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from vse_zoo.errors import DataError
from vse_zoo.evaluation.sts import read_sts

PAIRS = ("a dog runs\ta hound runs", "a cat\ta house", "ein Mädchen\ta girl")


def write(folder: Path, name: str, pairs: Sequence[str] = PAIRS, gold: Sequence[str] = ("4.2", "0", "5")) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"STS.input.{name}.txt").write_text("".join(f"{pair}\n" for pair in pairs), encoding="utf-8")
    (folder / f"STS.gs.{name}.txt").write_text("".join(f"{score}\n" for score in gold))
    return folder


def test_the_folder_of_a_year(tmp_path: Path) -> None:
    (pairs,) = read_sts(write(tmp_path, "deft-forum"))
    assert (pairs.name, pairs.skipped) == ("deft-forum", 0)
    assert pairs.first == ["a dog runs", "a cat", "ein Mädchen"]
    assert pairs.second == ["a hound runs", "a house", "a girl"]
    assert pairs.gold.tolist() == [4.2, 0.0, 5.0]


def test_the_folder_above_the_years(tmp_path: Path) -> None:
    write(tmp_path / "2014", "images")
    write(tmp_path / "2012", "MSRvid")
    write(tmp_path / "2012", "MSRpar")
    (tmp_path / "2012" / "._STS.input.MSRvid.txt").write_bytes(b"\0")  # what unpacking on a Mac leaves
    (tmp_path / "2012" / "STS.gs.SMT.txt").write_text("1\n")  # sentences that weren't published
    assert [pairs.name for pairs in read_sts(tmp_path)] == ["2012/MSRpar", "2012/MSRvid", "2014/images"]


def test_blank_scores_are_skipped_and_counted(tmp_path: Path) -> None:
    # Of a pair without a score nothing is asked, not even two sentences.
    pairs = (*PAIRS, "only one sentence", "x\ty")
    (found,) = read_sts(write(tmp_path, "answers-forums", pairs, ("4.2", "", "5", "  ", "")))
    assert (found.first, found.skipped) == (["a dog runs", "ein Mädchen"], 3)
    assert found.gold.tolist() == [4.2, 5.0]


def test_line_ends_of_windows_and_byte_order_marks(tmp_path: Path) -> None:
    write(tmp_path, "MSRvid")
    for path in tmp_path.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    (pairs,) = read_sts(tmp_path)
    assert pairs.second == ["a hound runs", "a house", "a girl"]
    assert pairs.gold.tolist() == [4.2, 0.0, 5.0]


def test_separators_of_lines_inside_a_sentence(tmp_path: Path) -> None:
    (pairs,) = read_sts(write(tmp_path, "MSRvid", ("a\u2028b\tc\x85d", *PAIRS[1:])))
    assert (pairs.first[0], pairs.second[0]) == ("a\u2028b", "c\x85d")


@pytest.mark.parametrize(
    ("pairs", "gold", "problem"),
    [
        (PAIRS[:2], ("1", "2", "3"), r"STS\.gs\.x\.txt: found 3 lines, expected 2 as in STS\.input\.x\.txt\. A pair"),
        (
            (*PAIRS[:2], "a\tb\tc"),
            ("1", "2", "3"),
            r"STS\.input\.x\.txt, row 3: found 3 columns, expected two sentences",
        ),
        ((PAIRS[0], "a b", PAIRS[2]), ("1", "2", "3"), r"STS\.input\.x\.txt, row 2: found 1 columns"),
        ((PAIRS[0], "a\t ", PAIRS[2]), ("1", "2", "3"), r"row 2, field 'sentence 2': found nothing"),
        (PAIRS, ("1", "5.1", "3"), r"STS\.gs\.x\.txt, row 2: found '5\.1', expected a score from 0 to 5"),
        (PAIRS, ("1", "2", "-1"), r"row 3: found '-1'"),
        (PAIRS, ("nan", "2", "3"), r"row 1: found 'nan'"),
        (PAIRS, ("1", "2,5", "3"), r"row 2: found '2,5'"),
    ],
)
def test_refuses_damaged_rows(tmp_path: Path, pairs: Sequence[str], gold: Sequence[str], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read_sts(write(tmp_path, "x", pairs, gold))


def test_refuses_other_encodings(tmp_path: Path) -> None:
    path = write(tmp_path, "x") / "STS.input.x.txt"
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    with pytest.raises(DataError, match=r"STS\.input\.x\.txt, line 3: found the byte 0xe4, expected UTF-8"):
        read_sts(tmp_path)
    assert read_sts(tmp_path, "latin-1")[0].first[2] == "ein Mädchen"
    path.write_bytes(path.read_text(encoding="latin-1").encode("utf-16"))
    assert read_sts(tmp_path)[0].first[2] == "ein Mädchen"


def test_refuses_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="absent: no such folder"):
        read_sts(tmp_path / "absent")
    with pytest.raises(DataError, match=r"found no files such as STS\.input\.MSRvid\.txt\. Give the folder of a year"):
        read_sts(tmp_path)
    (write(tmp_path, "x") / "STS.gs.x.txt").unlink()
    with pytest.raises(DataError, match=r"STS\.input\.x\.txt: found no gold scores: STS\.gs\.x\.txt is missing"):
        read_sts(tmp_path)


def test_published_files(shared_data: Path) -> None:
    found = {pairs.name: pairs for pairs in read_sts(shared_data / "sts")}
    assert {name: (len(pairs.gold), pairs.skipped) for name, pairs in found.items()} == {
        "2012/MSRvid": (750, 0),
        "2014/images": (750, 0),
    }
    last = (shared_data / "sts/2014/STS.input.images.txt").read_text().splitlines()[-1].split("\t")
    assert [found["2014/images"].first[-1], found["2014/images"].second[-1]] == [cell.strip() for cell in last]
    assert all(np.ptp(pairs.gold) == 5 for pairs in found.values())
