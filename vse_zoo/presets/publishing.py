"""Presets to the Hugging Face hub."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from vse_zoo.errors import PresetError, located
from vse_zoo.files import write_text
from vse_zoo.presets.integrity import check, record_hashes
from vse_zoo.presets.layout import CARD, METADATA, read_by_loading
from vse_zoo.presets.locations import HUB, resolve
from vse_zoo.presets.saving import save

__all__ = ["upload"]


def upload(preset: Any, repo: str, private: bool = False, message: str = "Upload a vse_zoo preset") -> str:
    """Publishes a preset in a repository of the Hugging Face hub, in one commit, as the user who is logged in.

    The files of the preset and its card go, nothing else of the folder; a folder without a card gets a short one,
    unless the repository has one.

    Args:
        preset: a model, a preset folder, the folder of a training run, or a built-in name.
        repo: ``user/repo``, made if missing.
        private: whether a new repository is private.
        message: of the commit.

    Returns:
        the address of what was uploaded, ``hf://user/repo@commit``, to pass to `load`.

    Raises:
        PresetError: the preset is none or damaged, or the hub refuses it.
    """
    import huggingface_hub  # takes half a second, and only the hub needs it

    repo = repo.removeprefix(HUB)
    if repo.count("/") != 1 or "@" in repo:
        raise PresetError(f"repo: found {repo!r}, expected user/repo.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _stage(preset, folder)
        hub = huggingface_hub.HfApi()
        try:
            hub.create_repo(repo, private=private, exist_ok=True)
            if not (folder / CARD).is_file() and not hub.file_exists(repo, CARD):
                write_text(folder / CARD, _card(repo))
            commit = hub.upload_folder(repo_id=repo, folder_path=folder, commit_message=message)
        except Exception as error:  # of the network and the hub, by no common base class
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            do = "Check the name (user/repo), the network and your login (hf auth login)."
            raise PresetError(located(HUB + repo, f"the upload failed ({reason}).", do=do)) from error
    return f"{HUB}{repo}@{commit.oid}"


def _stage(preset: Any, folder: Path) -> None:
    """Copies a checked preset, or saves a model."""
    if not isinstance(preset, str | Path):
        save(preset, folder)
        return
    source = resolve(preset)
    check(source)
    for name in (*read_by_loading(source), METADATA, CARD):
        if (source / name).is_file():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source / name, folder / name)
    record_hashes(folder)


def _card(repo: str) -> str:
    return (
        "---\nlibrary_name: vse_zoo\ntags: [visual-semantic-embedding, keras]\n---\n\n"
        f"# {repo.rpartition('/')[2]}\n\nA visual-semantic embedding.\n\n"
        f'    import vse_zoo\n    model = vse_zoo.load("{HUB}{repo}")\n'
    )
