"""Makes the pictures of the README again, from drawn scenes: the search page, and a match explained.

    pip install -e '.[serve,browser]' && python docs/pictures/make.py

It needs Chromium: from the system, or by ``playwright install chromium``.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import sync_playwright

from vse_zoo.data.sources.scenes import read_scenes

OUT = Path(__file__).parent
PRESET = "optimal_transport_scenes"
QUERY = "purple star and red flower"
SCENES, BEST = 300, "scene 003.png"
WIDTH = 840
SHOWN = """Promise.all([...document.querySelectorAll("img[src]")]
  .filter(each => each.getBoundingClientRect().top < innerHeight).map(each => each.decode()))"""
"""Waits for the pictures in the window; the others are loaded when somebody scrolls to them."""
BROWSER = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def draw_scenes(folder: Path) -> None:
    """Draws scenes as PNG files, none of which the preset was trained on."""
    dataset = read_scenes(train=0, dev=0, test=SCENES, seed=3).write(folder.with_name("data"))
    folder.mkdir()
    for row in range(SCENES):
        dataset.open_image(row).save(folder / f"scene {row:03d}.png")


def index(photos: Path, out: Path) -> None:
    """Makes the folder searchable."""
    subprocess.run(["vse-zoo", "index", photos, "--out", out, "--preset", PRESET], check=True)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the search page of an index."""
    command = ["vse-zoo", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield next(line.split()[1] for line in server.stdout if line.startswith("Open "))
        finally:
            server.terminate()


def photograph(address: str, ready: str, height: int, out: Path) -> None:
    """A picture of the top of a page, once an element is there, in 256 colours, which makes a small file."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER)
        tab = chromium.new_page(viewport={"width": WIDTH, "height": height})
        tab.goto(address)
        tab.locator(ready).first.wait_for()
        tab.evaluate(SHOWN)
        taken = Image.open(BytesIO(tab.screenshot()))
        chromium.close()
    taken.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, kmeans=3).save(out, optimize=True)


def explain(photo: Path, out: Path) -> None:
    """The page that shows where each word of the question is seen in a picture."""
    command = ["vse-zoo", "explain", PRESET, "--image", photo.name, "--caption", QUERY, "--out", out]
    subprocess.run(command, cwd=photo.parent, check=True)  # The page shows the name as it was given.


def main() -> None:
    """Writes both pictures beside this file."""
    with tempfile.TemporaryDirectory() as work:
        photos, folder, page = (Path(work) / name for name in ("photos", "index", "explain.html"))
        draw_scenes(photos)
        index(photos, folder)
        with served(folder) as address:
            photograph(f"{address}/?q={quote_plus(QUERY)}", "#results button", 640, OUT / "search.png")
        explain(photos / BEST, page)
        photograph(page.as_uri(), "figure", 966, OUT / "explain.png")


if __name__ == "__main__":
    main()
