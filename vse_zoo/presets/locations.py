"""Where presets are: built in, in a folder, in a training run, or in a repository of the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from vse_zoo.errors import PresetError, VSEZooError, located
from vse_zoo.files import read_json
from vse_zoo.presets.layout import ASSETS, CARD, CONFIG, METADATA, PREPROCESSOR, WEIGHTS
from vse_zoo.registry import saved_models

__all__ = ["HUB", "names", "resolve"]

HUB = "hf://"


def names() -> list[str]:
    """The built-in models that `load` finds by name."""
    return sorted(path.parent.name for path in saved_models().glob(f"*/{CONFIG}") if _is_model(path.parent))


def resolve(preset: str | Path) -> Path:
    """The folder of a preset: a local folder, a training run (its best model), a built-in name, or a downloaded copy.

    Args:
        preset: the folder or name, or ``hf://user/repo``, ``hf://user/repo@revision`` of the Hugging Face hub.

    Raises:
        PresetError: there is none.
    """
    if str(preset).startswith(HUB):
        return _downloaded(str(preset))
    for folder in (Path(preset), Path(preset) / "best", saved_models() / str(preset)):
        if _is_model(folder):
            return folder
    known = ", ".join(names()) or "none"
    raise PresetError(f"preset: found neither a model folder nor a built-in model {str(preset)!r}; built in: {known}.")


def _downloaded(address: str) -> Path:
    """The local copy of a hub repository's preset, from the hub's cache where it is up to date."""
    import huggingface_hub  # takes half a second, and only the hub needs it

    repo, _, revision = address.removeprefix(HUB).partition("@")
    if repo.count("/") != 1:
        raise PresetError(f"preset: found {address!r}, expected {HUB}user/repo or {HUB}user/repo@revision.")
    wanted = [CONFIG, WEIGHTS, PREPROCESSOR, METADATA, CARD, f"{ASSETS}/*"]
    try:
        folder = Path(huggingface_hub.snapshot_download(repo, revision=revision or None, allow_patterns=wanted))
    except Exception as error:  # of the network, the hub and the disk, by no common base class
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        do = "Check the name, the network and, if it is private, your login (hf auth login)."
        raise PresetError(located(address, f"found nothing to download ({reason}).", do=do)) from error
    if not _is_model(folder):
        raise PresetError(located(address, f"found no preset, expected {CONFIG} of a vse_zoo model there."))
    return folder


def _is_model(folder: Path) -> bool:
    """Whether a folder holds a model, rather than a backbone or nothing; a damaged one counts."""
    if (folder / PREPROCESSOR).is_file():
        return True
    try:
        return (folder / CONFIG).is_file() and "class" not in read_json(folder / CONFIG)
    except VSEZooError:
        return True
