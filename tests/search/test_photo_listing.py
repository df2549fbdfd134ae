"""Which files of a folder are photos: odd names, links, loops, hidden and unreadable folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vse_zoo.errors import DataError
from vse_zoo.search.photos import Stamp, list_photos


def touch(path: Path, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_pictures_are_found_by_their_endings_in_any_case_and_depth(tmp_path: Path) -> None:
    for name in ("b.JPG", "a.jpeg", "deep/er/c.PnG", "Größe 😀/Straße 1.webp", "notes.txt", "noending", ".hidden.jpg"):
        touch(tmp_path / name, b"12345")
    touch(tmp_path / ".thumbnails" / "t.jpg")
    found = list_photos(tmp_path)
    assert list(found.files) == ["a.jpeg", "b.JPG", "Größe 😀/Straße 1.webp", "deep/er/c.PnG"]
    status = (tmp_path / "b.JPG").stat()
    assert found.files["b.JPG"] == Stamp(5, status.st_mtime_ns)


def test_names_that_are_not_unicode_are_kept_to_the_byte(tmp_path: Path) -> None:
    try:
        path = touch(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jpg")))
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    (name,) = list_photos(tmp_path).files
    assert os.fsencode(name) == b"caf\xe9.jpg"
    assert (tmp_path / name).samefile(path)


def test_loops_of_links_end_and_a_folder_counts_once(tmp_path: Path) -> None:
    touch(tmp_path / "root" / "z" / "one.jpg")
    touch(tmp_path / "elsewhere" / "two.jpg")
    (tmp_path / "root" / "z" / "up").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "a").symlink_to(tmp_path / "root" / "z")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "self").symlink_to(tmp_path / "root" / "self")
    assert list(list_photos(tmp_path / "root").files) == ["z/one.jpg", "link/two.jpg"]


def test_broken_links_pipes_and_folders_that_look_like_photos_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    os.mkfifo(tmp_path / "pipe.jpg")
    touch(tmp_path / "album.jpg" / "in.jpg")
    touch(tmp_path / "elsewhere.jpg")
    (tmp_path / "linked.png").symlink_to(tmp_path / "elsewhere.jpg")
    assert set(list_photos(tmp_path).files) == {"album.jpg/in.jpg", "elsewhere.jpg", "linked.png"}


def test_a_folder_below_can_be_left_out(tmp_path: Path) -> None:
    touch(tmp_path / "index" / "a.jpg")
    touch(tmp_path / "b.jpg")
    assert set(list_photos(tmp_path, skip=[tmp_path / "index", tmp_path / "missing"]).files) == {"b.jpg"}


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "closed" / "a.jpg")
    touch(tmp_path / "b.jpg")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("vse_zoo.search.photos.os.scandir", refuse)
    found = list_photos(tmp_path)
    assert set(found.files) == {"b.jpg"}
    assert found.unreadable == {"closed": "Permission denied"}
    assert found.may_hold("closed/a.jpg")
    assert not found.may_hold("b.jpg")


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        list_photos(tmp_path / "nowhere")
