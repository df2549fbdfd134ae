"""The files of the repository agree with one another, and the pages are what a reader can use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PATTERNS = ("*.md", "docs/*.md", "vse_zoo/models/*/README.md", "saved_models/*/README.md")
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern))
WORDS, PICTURE_BYTES = 700, 300_000
COMMANDS = ("pip install -e . && vse-zoo quickstart", "pip install -e '.[test]' && pytest")
_FENCED = re.compile(r"^```.*?^```", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    return tomllib.loads(text("pyproject.toml"))["project"]


def anchors(page: Path) -> set[str]:
    """The anchors that code hosts give to a page's headings: lower case, no punctuation, hyphens for spaces."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, and the anchor in each, if there is one."""
    for target in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    lost = [target for target, _ in links(page) if not target.exists()]
    assert not lost
    assert [(target, anchor) for target, anchor in links(page) if anchor and anchor not in anchors(target)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_examples_can_be_parsed(page: Path) -> None:
    for example in _PYTHON.findall(page.read_text(encoding="utf-8")):
        compile(example, str(page), "exec")


def test_every_page_of_docs_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            waiting += [target for target, _ in links(page)]
    assert set(ROOT.glob("docs/*.md")) <= reached


def test_the_readme_is_short_and_names_the_two_commands() -> None:
    readme = text("README.md")
    assert len(readme.split()) <= WORDS
    assert [command for command in COMMANDS if f"    {command}\n" not in readme] == []


def test_the_readme_shows_small_pictures() -> None:
    shown = [target for target, _ in links(ROOT / "README.md") if target.suffix == ".png"]
    assert len(shown) == 2
    assert all(picture.stat().st_size < PICTURE_BYTES for picture in shown)
    assert all(picture.name in text("docs/pictures/make.py") for picture in shown)


def test_the_version_is_the_same_everywhere() -> None:
    version = re.escape(project()["version"])
    changes = re.search(rf"^## \[{version}\] - (\d{{4}}-\d\d-\d\d)$", text("CHANGELOG.md"), re.M)
    assert changes, "a section of CHANGELOG.md"
    assert re.search(rf"^version: {version}$", text("CITATION.cff"), re.M)
    assert f"date-released: {changes[1]}\n" in text("CITATION.cff")


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    sections = re.findall(r"^## \[(.+?)\]", text("CHANGELOG.md"), re.M)
    assert sections[0] == "Unreleased"


def test_the_notice_tells_where_all_weights_come_from() -> None:
    weights = {path.parent.name for path in ROOT.glob("saved_models/*/model.weights.h5")}
    assert weights
    assert [name for name in weights if name not in text("NOTICE")] == []


def test_every_python_that_is_promised_is_checked() -> None:
    low, high = map(int, re.findall(r"3\.(\d+)", project()["requires-python"]))
    promised = [f"3.{minor}" for minor in range(low, high)]
    classified = [label.split()[-1] for label in project()["classifiers"] if re.search(r"Python :: 3\.\d", label)]
    assert classified == promised
    for workflow in ("check", "install"):
        (checked,) = re.findall(r"python: \[(.+)\]", text(f".github/workflows/{workflow}.yml"))
        assert re.findall(r'"(.+?)"', checked) == promised


def test_the_whole_check_has_every_part() -> None:
    steps = text(".ci/run").splitlines()
    wanted = {COMMANDS[1], "ruff check .", "ruff format --check .", "mypy", "lint-imports"}
    assert wanted <= set(steps)
    assert "- run: .ci/run\n" in text(".github/workflows/check.yml")
