"""What an index run reads, keeps and forgets."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vse_zoo.errors import DataError
from vse_zoo.search import IndexSettings, LocalBackend, Update, reading, update_index
from vse_zoo.search.catalogue import Catalogue

Run = Callable[..., Update]
Paint = Callable[..., Path]
Colours = dict[str, tuple[int, int, int]]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def found(index: Path, colour: tuple[int, ...], k: int = 1) -> list[list[str]]:
    """The files of the best contents for a colour."""
    query = (np.array(colour) / np.linalg.norm(colour)).astype(np.float32)
    keys, _ = LocalBackend(index / "vectors", (3,)).search(query, k)
    files = Catalogue(index / "catalogue.sqlite").files_of(keys.tolist())
    return [files[key] for key in keys.tolist()]


def test_every_photo_is_found_by_what_it_shows(run: Run, index: Path, colours: Colours) -> None:
    assert run() == Update(5, 5, 0, 0, 5, 5, {})
    for name, colour in colours.items():
        assert found(index, colour) == [[f"{name}.png"]]


def test_a_second_run_reads_nothing(
    run: Run, settings: IndexSettings, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()

    def fail(*arguments: Any) -> Any:
        raise AssertionError("it was read again")

    monkeypatch.setattr("vse_zoo.search.reading._hashed", fail)
    assert update_index(index, settings, fail) == Update(0, 0, 0, 0, 5, 5, {})


def test_new_changed_and_deleted_files_are_noticed(
    run: Run, encoder: Any, photos: Path, index: Path, paint: Paint
) -> None:
    run()
    encoder.seen.clear()
    paint(photos / "new.png", (250, 250, 5))
    paint(photos / "red.png", (5, 250, 250))
    (photos / "blue.png").unlink()
    assert run() == Update(2, 1, 1, 1, 5, 5, {})
    assert sorted(encoder.seen) == [(5, 250, 250), (250, 250, 5)]
    assert found(index, (250, 250, 5)) == [["new.png"]]
    assert found(index, (5, 250, 250)) == [["red.png"]]
    names = [name for (name,) in found(index, (5, 5, 250), k=100)]
    assert sorted(names) == ["green.png", "grey.png", "new.png", "pink.png", "red.png"]


def test_a_change_of_the_same_size_and_second_is_noticed(run: Run, photos: Path, index: Path, paint: Paint) -> None:
    picture = paint(photos / "red.png", (250, 5, 5))
    run()
    before = picture.stat()
    content = bytearray(paint(photos / "other.tmp.bmp", (9, 9, 250)).read_bytes())
    (photos / "other.tmp.bmp").unlink()
    picture.with_suffix(".bmp").write_bytes(content)
    run()
    other = paint(photos / "x.bmp", (9, 250, 9)).read_bytes()
    (photos / "x.bmp").unlink()
    assert len(other) == len(content)
    picture.with_suffix(".bmp").write_bytes(other)
    os.utime(picture.with_suffix(".bmp"), ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert run().changed == 1
    assert ["red.bmp"] in found(index, (9, 250, 9), k=2)


def test_touched_and_moved_files_are_hashed_and_not_encoded(run: Run, encoder: Any, photos: Path, index: Path) -> None:
    run()
    encoder.seen.clear()
    os.utime(photos / "red.png", ns=(1, 1))
    (photos / "deep").mkdir()
    (photos / "green.png").rename(photos / "deep" / "moved.png")
    assert run() == Update(0, 1, 1, 1, 5, 5, {})
    assert not encoder.seen
    assert found(index, (5, 250, 5)) == [["deep/moved.png"]]
    assert run() == Update(0, 0, 0, 0, 5, 5, {})


def test_copies_are_one_content(run: Run, encoder: Any, photos: Path, index: Path) -> None:
    for name in ("a/copy.png", "zz.png"):
        (photos / name).parent.mkdir(exist_ok=True)
        (photos / name).write_bytes((photos / "red.png").read_bytes())
    assert run() == Update(5, 7, 0, 0, 7, 5, {})
    assert len(encoder.seen) == 5
    assert found(index, (250, 5, 5)) == [["a/copy.png", "red.png", "zz.png"]]
    (photos / "red.png").unlink()
    (photos / "a" / "copy.png").unlink()
    assert run() == Update(0, 0, 0, 2, 5, 5, {})
    assert found(index, (250, 5, 5)) == [["zz.png"]]


def test_what_cannot_be_read_is_listed_and_tried_again_only_when_it_changed(
    run: Run, photos: Path, index: Path, paint: Paint, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.effect_noise((64, 64), 50).save(photos / "cut.jpg")
    (photos / "cut.jpg").write_bytes((photos / "cut.jpg").read_bytes()[:700])
    (photos / "zero.jpg").write_bytes(b"")
    (photos / "text ü.jpg").write_text("hello")
    (photos / "copy of text.jpg").write_text("hello")
    done = run()
    assert set(done.unreadable) == {"cut.jpg", "zero.jpg", "text ü.jpg", "copy of text.jpg"}
    assert "truncated" in done.unreadable["cut.jpg"]
    assert done.unreadable["text ü.jpg"] == "can't be decoded as a picture (cannot identify image file)."
    assert (done.photos, done.contents) == (5, 5)
    tried: list[str] = []
    load = reading.load_image

    def listed(path: Path, size: int | None = None) -> Image.Image:
        tried.append(path.name)
        return load(path, size)

    monkeypatch.setattr(reading, "load_image", listed)
    assert run().unreadable == done.unreadable
    assert not tried
    paint(photos / "zero.jpg", (1, 200, 200))
    assert set(run().unreadable) == {"cut.jpg", "text ü.jpg", "copy of text.jpg"}
    assert tried == ["zero.jpg"]
    assert found(index, (1, 200, 200)) == [["zero.jpg"]]


def test_a_file_that_cannot_be_opened_is_tried_again(run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "red.png":
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        assert run().unreadable == {"red.png": "can't be opened (Permission denied)."}
    assert run() == Update(1, 0, 0, 0, 5, 5, {})


def test_a_picture_too_large_to_decode_is_left_out(run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    Image.new("1", (70, 70)).save(photos / "bomb.png")
    assert "decompression bomb" in run().unreadable["bomb.png"]


def test_heic_is_read_once_its_package_is_installed(run: Run, photos: Path, index: Path, request: Any) -> None:
    heif = pytest.importorskip("pillow_heif", reason="pip install 'vse-zoo[search]'")
    heif.from_pillow(Image.new("RGB", (32, 32), (250, 250, 5))).save(photos / "IMG_1.HEIC", quality=95)
    (photos / "IMG_2.heic").write_bytes((photos / "IMG_1.HEIC").read_bytes())
    (photos / "bad.jpg").write_text("no picture")
    missing = request.getfixturevalue("without_heif")
    done = run()
    assert (done.photos, done.new) == (5, 8)
    advice = "HEIC needs the package pillow-heif, which isn't installed. Run: pip install pillow-heif"
    assert [done.unreadable[name] for name in ("IMG_1.HEIC", "IMG_2.heic")] == [advice] * 2
    assert run() == dataclasses.replace(done, encoded=0, new=0)
    missing.undo()
    done = run()
    assert (done.encoded, done.photos, done.contents, set(done.unreadable)) == (1, 7, 6, {"bad.jpg"})
    assert found(index, (250, 250, 5)) == [["IMG_1.HEIC", "IMG_2.heic"]]
    assert run() == dataclasses.replace(done, encoded=0, new=0)


def test_photos_are_turned_upright(run: Run, encoder: Any, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = Image.new("RGB", (16, 16), "black")
    picture.paste((255, 255, 255), (0, 0, 16, 8))  # the upper half
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    picture.save(photos / "turned.png", exif=exif)
    batches: list[Any] = []
    encode = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda pixels: batches.append(pixels) or encode(pixels))
    run()
    halves = [(pixels[:4].mean(), pixels[4:].mean()) for pixels in np.concatenate(batches) if 120 < pixels.mean() < 130]
    assert any(upper < 60 and lower > 190 for upper, lower in halves)


def test_a_folder_that_cannot_be_listed_keeps_its_photos(
    run: Run, photos: Path, paint: Paint, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint(photos / "disk" / "a.png", (1, 2, 200))
    run()
    scandir = os.scandir

    def refuse(path: Path) -> Any:
        if Path(path).name == "disk":
            raise OSError(5, "Input/output error")
        return scandir(path)

    monkeypatch.setattr("vse_zoo.search.photos.os.scandir", refuse)
    assert run() == Update(0, 0, 0, 0, 6, 6, {"disk": "Input/output error"})


def test_an_empty_folder_gives_an_empty_index(run: Run, photos: Path) -> None:
    for path in photos.iterdir():
        path.unlink()
    assert run() == Update(0, 0, 0, 0, 0, 0, {})


def test_another_preset_makes_the_index_anew(
    run: Run, settings: IndexSettings, encoder: Any, index: Path, colours: Colours
) -> None:
    run()
    encoder.seen.clear()
    other = settings.model_copy(update={"fingerprint": "2"})
    assert update_index(index, other, lambda: encoder) == Update(5, 5, 0, 0, 5, 5, {})
    assert len(encoder.seen) == 5
    assert IndexSettings.read(index) == other
    assert found(index, colours["red"]) == [["red.png"]]


def test_an_index_follows_photos_that_were_moved_and_refuses_others(
    run: Run, settings: IndexSettings, encoder: Any, photos: Path, index: Path, tmp_path: Path
) -> None:
    run()
    (tmp_path / "others").mkdir()
    others = settings.model_copy(update={"photos": str(tmp_path / "others")})
    with pytest.raises(DataError, match=r"is the index of .*photos, not of .*others"):
        update_index(index, others, lambda: encoder)
    photos.rename(tmp_path / "elsewhere")
    moved = settings.model_copy(update={"photos": str(tmp_path / "elsewhere")})
    assert update_index(index, moved, lambda: encoder) == Update(0, 0, 0, 0, 5, 5, {})


def test_a_folder_with_other_files_is_not_touched(settings: IndexSettings, photos: Path, encoder: Any) -> None:
    before = sorted(path.name for path in photos.iterdir())
    with pytest.raises(DataError, match="no part of an index"):
        update_index(photos, settings, lambda: encoder)
    assert set(before) <= {path.name for path in photos.iterdir()} <= {*before, "lock.sqlite"}


def test_two_runs_at_once_are_refused(run: Run, index: Path) -> None:
    index.mkdir()
    other = sqlite3.connect(index / "lock.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DataError, match="another run is at work"):
        run()
    other.close()
    assert run().photos == 5


def test_an_index_inside_the_photos_does_not_index_itself(
    settings: IndexSettings, photos: Path, encoder: Any, paint: Paint
) -> None:
    update_index(photos / "index", settings, lambda: encoder)
    paint(photos / "index" / "vectors" / "odd.png", (9, 9, 9))
    assert update_index(photos / "index", settings, lambda: encoder).new == 0


@pytest.mark.slow
def test_ten_thousand_unchanged_photos_take_under_two_seconds(
    run: Run, settings: IndexSettings, photos: Path, encoder: Any, index: Path
) -> None:
    content = (photos / "red.png").read_bytes()
    for number in range(10_000):
        (photos / f"{number}.png").write_bytes(content)
    run(batch_size=1000)
    start = time.process_time()
    assert run(batch_size=1000).new == 0
    assert time.process_time() - start < 2
