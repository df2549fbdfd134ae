"""The wheel, built from the source archive: what it holds, and that it works in an empty environment, far from here."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from email.message import Message
from email.parser import Parser
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from vse_zoo import list_presets

pytest.importorskip("build", reason="pip install 'vse-zoo[test]'")

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LICENCES = ["LICENSE", "NOTICE"]
FOR_SERVERS = ("batching_parameters.txt", "models.config")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both archives; the wheel is made from the source archive, so that this one must be complete."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return out


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    (path,) = archives.glob("*.whl")
    return path


def shipped(folder: str) -> set[str]:
    """The files of one of the checkout's folders that users of the package need, below the checkout."""
    paths = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()}
    cached = {path for path in paths if "__pycache__" in path.parts}
    served = {path for path in paths if path.parts[0] == "saved_models" and is_for_servers(path)}
    return {path.as_posix() for path in paths - cached - served}


def is_for_servers(path: Path) -> bool:
    """Whether a file in saved_models belongs to a SavedModel, which servers take from a clone."""
    return path.parts[2].isdigit() or path.name in FOR_SERVERS


def test_the_wheel_holds_the_package_its_weights_and_recipes(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    beside = {f"vse_zoo/{name}" for folder in ("saved_models", "recipes") for name in shipped(folder)}
    assert held == shipped("vse_zoo") | beside
    assert {"vse_zoo/py.typed", "vse_zoo/models/__init__.pyi"} <= held
    assert {Path(name).suffix for name in held} >= {".css", ".html", ".js", ".svg", ".toml", ".h5"}


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    described = read_metadata(wheel)
    assert (described["Name"], described["Version"]) == (PROJECT["name"], PROJECT["version"])
    assert described["License-Expression"] == "Apache-2.0"
    assert described.get_all("License-File") == LICENCES
    with zipfile.ZipFile(wheel) as opened:
        for name in LICENCES:
            (inside,) = (path for path in opened.namelist() if path.endswith(f".dist-info/licenses/{name}"))
            assert opened.read(inside) == (ROOT / name).read_bytes()


def read_metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as opened:
        (inside,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(opened.read(inside).decode("utf-8"))


def test_the_source_archive_holds_what_the_checks_need(archives: Path) -> None:
    (path,) = archives.glob("*.tar.gz")
    with tarfile.open(path) as opened:
        held = {name.split("/", 1)[1] for name in opened.getnames()}
    wanted = {"pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "tests/conftest.py", ".ci/run", *LICENCES}
    assert wanted <= held
    assert shipped("vse_zoo") | shipped("saved_models") | shipped("recipes") <= held


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an environment that holds the wheel and the packages that it asks for, and no others.

    Downloading TensorFlow again would take minutes, so its packages are links to those of the running environment.
    """
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, symlinks=True)
    binaries = folder / "bin"
    install = [sys.executable, "-m", "pip", "--python", str(binaries / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True, timeout=300)
    (packages,) = folder.glob("lib/python*/site-packages")
    (installed,) = (found for found in distributions(path=[str(packages)]) if found.name == PROJECT["name"])
    for needed in closure(installed.requires or []):
        link(needed, packages)
    return binaries


def closure(requirements: Iterable[str]) -> list[Distribution]:
    """The installed distributions that the requirements name, those that these require, and so on."""
    found: dict[tuple[str, str], Distribution] = {}
    waiting = [(text, "") for text in requirements]
    while waiting:
        text, extra = waiting.pop()
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for key in ((name, wanted) for wanted in ("", *requirement.extras)):
            if key not in found:
                found[key] = distribution(name)
                waiting += [(other, key[1]) for other in found[key].requires or []]
    return list(found.values())


def link(needed: Distribution, packages: Path) -> None:
    """Links the modules and folders of a distribution into another folder of packages."""
    for name in {file.parts[0] for file in needed.files or [] if file.parts[0] not in ("..", "__pycache__")}:
        if not (packages / name).exists():
            (packages / name).symlink_to(Path(str(needed.locate_file(name))))


def run(command: list[str | Path], folder: Path) -> str:
    """What the command prints, when it is run in the folder with nothing of the checkout in reach."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=inherited, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheels_package_is_the_one_that_runs(environment: Path, tmp_path: Path) -> None:
    code = "import vse_zoo; print(vse_zoo.__file__, vse_zoo.__version__)"
    file, version = run([environment / "python", "-c", code], tmp_path).split()
    assert Path(file).is_relative_to(environment.parent)
    assert version == PROJECT["version"]


def test_packages_that_only_the_tests_need_are_not_in_reach(environment: Path, tmp_path: Path) -> None:
    code = "from importlib.util import find_spec; print(find_spec('pytest'), find_spec('usearch'))"
    assert run([environment / "python", "-c", code], tmp_path).split() == ["None", "None"]


def test_models_are_listed(environment: Path, tmp_path: Path) -> None:
    printed = run([environment / "vse-zoo", "models"], tmp_path)
    assert [name for name in list_presets() if name not in printed] == []


def test_the_quickstart_runs(environment: Path, tmp_path: Path) -> None:
    run([environment / "vse-zoo", "quickstart", "--out", "first"], tmp_path)
    assert "<html" in (tmp_path / "first" / "report.html").read_text(encoding="utf-8")
