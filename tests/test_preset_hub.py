"""The Hugging Face hub, by a stand-in that keeps commits in folders and takes only calls that the real client takes."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import keras
import numpy as np
import pytest

import vse_zoo
from vse_zoo import presets
from vse_zoo.errors import PresetError
from vse_zoo.models import TwoWayNet

REAL = {name: getattr(huggingface_hub.HfApi, name) for name in ("create_repo", "file_exists", "upload_folder")}
REAL_DOWNLOAD = huggingface_hub.snapshot_download
ROWS = np.random.default_rng(0).random((3, 4), dtype="float32")


class Hub:
    """Repositories as folders of commits; a commit keeps what the one before had."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.private: dict[str, bool] = {}

    def _bound(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        return inspect.signature(REAL[name]).bind(self, *args, **options).arguments

    def _commits(self, repo: str) -> list[Path]:
        return sorted((self.folder / repo).iterdir())

    def create_repo(self, *args: Any, **options: Any) -> None:
        given = self._bound("create_repo", args, options)
        (self.folder / given["repo_id"]).mkdir(parents=True, exist_ok=given["exist_ok"])
        self.private.setdefault(given["repo_id"], given["private"])

    def file_exists(self, *args: Any, **options: Any) -> bool:
        given = self._bound("file_exists", args, options)
        return any((commit / given["filename"]).is_file() for commit in self._commits(given["repo_id"])[-1:])

    def upload_folder(self, *args: Any, **options: Any) -> Any:
        given = self._bound("upload_folder", args, options)
        commits = self._commits(given["repo_id"])
        commit = self.folder / given["repo_id"] / f"commit{len(commits)}"
        for source in (*commits[-1:], given["folder_path"]):
            shutil.copytree(source, commit, dirs_exist_ok=True)
        return SimpleNamespace(oid=commit.name)

    def snapshot_download(self, *args: Any, **options: Any) -> str:
        given = inspect.signature(REAL_DOWNLOAD).bind(*args, **options).arguments
        assert "model.weights.h5" in given["allow_patterns"]
        commits = {commit.name: commit for commit in self._commits(given["repo_id"])}
        return str(commits[given.get("revision") or max(commits)])


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(tmp_path / "hub")
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: hub)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub.snapshot_download)
    return hub


def create(seed: int) -> TwoWayNet:
    keras.utils.set_random_seed(seed)
    model = TwoWayNet([3], 4, 5)
    model.build()
    return model


def test_what_is_uploaded_is_downloaded_by_name_and_by_revision(hub: Hub, tmp_path: Path) -> None:
    first, second = create(1), create(2)
    address = vse_zoo.upload_preset(first, "me/net", private=True)
    assert (address, hub.private) == ("hf://me/net@commit0", {"me/net": True})
    second.save_to_preset(tmp_path / "second", {"dataset": {"name": "tiny"}})
    (tmp_path / "second" / "1").mkdir()
    (tmp_path / "second" / "1" / "saved_model.pb").write_text("an export")
    assert vse_zoo.upload_preset(tmp_path / "second", "hf://me/net") == "hf://me/net@commit1"
    for name, model in ((address, first), ("hf://me/net@commit1", second), ("hf://me/net", second)):
        np.testing.assert_array_equal(vse_zoo.load(name).encode_x(ROWS), model.encode_x(ROWS))
    assert presets.metadata("hf://me/net") == {"dataset": {"name": "tiny"}}
    uploaded = {path.name for path in (hub.folder / "me/net/commit1").iterdir()}
    assert uploaded == {"README.md", "config.json", "metadata.json", "model.weights.h5"}
    assert 'vse_zoo.load("hf://me/net")' in (hub.folder / "me/net/commit1/README.md").read_text()


def test_a_card_of_ones_own_is_uploaded_and_one_on_the_hub_kept(hub: Hub, tmp_path: Path) -> None:
    create(1).save_to_preset(tmp_path / "net")
    (tmp_path / "net" / "README.md").write_text("my card")
    vse_zoo.upload_preset(tmp_path / "net", "me/net")
    vse_zoo.upload_preset(create(2), "me/net")
    assert (hub.folder / "me/net/commit1/README.md").read_text() == "my card"


def test_damaged_presets_are_not_uploaded(hub: Hub, tmp_path: Path) -> None:
    create(1).save_to_preset(tmp_path / "net")
    (tmp_path / "net" / "model.weights.h5").write_bytes(b"")
    with pytest.raises(PresetError, match="damaged or changed"):
        vse_zoo.upload_preset(tmp_path / "net", "me/net")
    assert not hub.folder.exists()


def test_failures_are_told_with_the_address(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("hf://me", "hf://", "hf://me/net/more"):
        with pytest.raises(PresetError, match="expected hf://user/repo or"):
            vse_zoo.load(address)
    for repo in ("net", "me/net@1", "a/b/c"):
        with pytest.raises(PresetError, match="expected user/repo"):
            vse_zoo.upload_preset(create(1), repo)
    with pytest.raises(PresetError, match=r"hf://me/none: found nothing to download .*Check the name"):
        vse_zoo.load("hf://me/none")
    (hub.folder / "me" / "other" / "commit0").mkdir(parents=True)
    with pytest.raises(PresetError, match=r"hf://me/other: found no preset"):
        vse_zoo.load("hf://me/other")
    monkeypatch.setattr(
        hub, "create_repo", lambda *args, **options: (_ for _ in ()).throw(OSError("401")), raising=False
    )
    with pytest.raises(PresetError, match=r"hf://me/net: the upload failed \(401\)"):
        vse_zoo.upload_preset(create(1), "me/net")
