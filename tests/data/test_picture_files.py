"""Which file an image name means: exact names first, then those that one file alone can mean."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from vse_zoo.data.picture_files import PictureFiles
from vse_zoo.errors import DataError

NFC, NFD = (unicodedata.normalize(form, "Größe é.jpg") for form in ("NFC", "NFD"))


def files(root: Path, names: Sequence[str]) -> PictureFiles:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return PictureFiles(root)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a dog.jpg", "a dog.jpg"),
        ("./sub//a dog.jpg", "sub/a dog.jpg"),
        ("A DOG.JPG", "a dog.jpg"),
        ("sub\\a dog.jpg", "sub/a dog.jpg"),
        (".\\SUB\\A dog.jpg", "sub/a dog.jpg"),
        ("a dog", "a dog.jpg"),
        ("Sub\\A DOG", "sub/a dog.jpg"),
        ("v1.0", "v1.0.PNG"),
        ("no ending", "no ending"),
        (NFC, NFD),
        (NFC.upper(), NFD),
        ("STRASSE.JPG", "Straße.jpg"),
        ("photos\\a dog.jpg", "a dog.jpg"),
        ("Photos/sub/a dog", "sub/a dog.jpg"),
        ("linked/A dog.jpg", "linked/a dog.jpg"),
    ],
)
def test_a_name_that_one_file_can_mean(tmp_path: Path, name: str, file: str) -> None:
    root = tmp_path / "photos"
    found = files(root, ["a dog.jpg", "sub/a dog.jpg", "b.jpg", "v1.0.PNG", "v1.jpg", "no ending", NFD, "Straße.jpg"])
    (root / "linked").symlink_to(root / "sub")
    (root / "loop").symlink_to(root / "loop")
    assert found.find(name) == [file]


@pytest.mark.parametrize(
    "name", ["c.jpg", "a dog.jpeg", "a.jpg/b", "sub", "..\\a dog.jpg", "/a dog.jpg", "\\a dog.jpg", ".", "\\", "a\0b"]
)
def test_a_name_that_no_file_has(tmp_path: Path, name: str) -> None:
    assert files(tmp_path / "photos", ["a dog.jpg", "sub/a dog.jpg"]).find(name) == []


def test_a_name_that_several_files_can_mean(tmp_path: Path) -> None:
    found = files(tmp_path, ["a.jpg", "A.JPG", "b.jpg", "b.png", "X/c.jpg", "x/c.jpg"])
    assert found.find("A.JPG") == ["A.JPG"]
    assert found.find("a.Jpg") == ["A.JPG", "a.jpg"]
    assert found.find("b") == ["b.jpg", "b.png"]
    assert found.find("x\\c.jpg") == ["X/c.jpg", "x/c.jpg"]
    assert found.notes == []
    with pytest.raises(DataError, match=r"field 'images': the image name 'b' may mean 'b\.jpg' or 'b\.png'\. Rename"):
        found.resolve(["a.jpg", "b"])
    with pytest.raises(DataError, match=r"field 'images': 2 of 3 images are missing, the first is d\.jpg"):
        found.resolve(["a.jpg", "d.jpg", "e"])


def test_all_that_was_matched_is_said_in_one_line(tmp_path: Path) -> None:
    found = files(tmp_path, ["a.jpg", "b.jpg", "c.jpg"])
    assert found.resolve(["c.jpg", "A.JPG", "B"]) == {"c.jpg": "c.jpg", "A.JPG": "a.jpg", "B": "b.jpg"}
    (note,) = found.notes
    assert note == "2 image names and their files are spelt differently and were matched ('A.JPG' is 'a.jpg', …)."


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("vse_zoo.data.picture_files.os.scandir", refuse)
    with pytest.raises(DataError, match=r"sub: can't be listed \(Permission denied\)"):
        PictureFiles(tmp_path)._folder("sub")
