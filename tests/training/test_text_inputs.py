"""Runs on word vectors from files: what is read, printed and listed, resumed and loaded, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import vse_zoo
from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError, DataError
from vse_zoo.training import ContextAttentionConfig, TextInputs, load_config, read_history

Train = Callable[..., None]
Same = Callable[[Path, Path], None]

TEXT = '[text]\nkind = "vectors"\nvectors = { en = "en.vec", de = "de.vec" }\n'
WORDS = {
    "en": ["dog", "cat", "Red", "blue", "zebra"],
    # As in a file of all spellings: capitals, umlauts composed or not.
    "de": ["hund", "Katze", "gru\u0308n", "blau", "rot"],
}
DIM = 6


def vectors(language: str) -> np.ndarray:
    return np.random.default_rng(len(language + WORDS[language][0])).normal(0, 0.1, (5, DIM)).round(4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, config_file: Path) -> Path:
    """A configuration and the files that it names, relative to itself."""
    folder = tmp_path_factory.mktemp("vectors")
    for language, words in WORDS.items():
        rows = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors(language), strict=True)]
        (folder / f"{language}.vec").write_text(f"5 {DIM}\n" + "".join(rows), encoding="utf-8")
    (folder / "tiny.toml").write_text(TEXT + config_file.read_text().replace("word_dim = 8\n", ""))
    frozen = (folder / "tiny.toml").read_text().replace("[text]", "[text]\ntrainable = false")
    (folder / "frozen.toml").write_text(frozen)
    return folder


def edited(folder: Path, *replaced: tuple[str, str]) -> ContextAttentionConfig:
    text = (folder / "tiny.toml").read_text()
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    path = folder / "edited.toml"
    path.write_text(text)
    return load_config(path, ContextAttentionConfig)


def word_vectors(run: Path, language: str) -> tuple[list[str], np.ndarray]:
    model = vse_zoo.load(run)
    return list(model.preprocessor.vocabulary(language)), model.text_encoders[language].words.embeddings.numpy()


@pytest.mark.usefixtures("without_graphs")
def test_frozen_vectors_are_those_of_the_files(
    train: Train, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(tmp_path / "run", config=folder / "frozen.toml", epochs=1)
    printed = capsys.readouterr().out
    assert "en: 4 of 7 words have a vector (57.1%), " in printed
    assert "de: 5 of 6 words have a vector (83.3%), " in printed
    for language, expected in {"en": {"green", "bird", "small"}, "de": {"vogel"}}.items():
        listed = (tmp_path / "run" / f"missing_words.{language}.txt").read_text(encoding="utf-8").splitlines()
        vocabulary, found = word_vectors(tmp_path / "run", language)
        assert set(listed) == expected
        assert listed == [word for word in vocabulary if word in expected]
        for word, vector in zip(WORDS[language], vectors(language), strict=True):
            if word != "zebra":
                place = vocabulary.index({"gru\u0308n": "grün"}.get(word, word.lower()))
                np.testing.assert_allclose(found[place], vector, atol=1e-7)


def test_vectors_beside_the_dataset_are_found(tiny: Dataset, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(tiny.path, data)
    for language in WORDS:
        shutil.copy(folder / f"{language}.vec", data)
    config = load_config(folder / "tiny.toml", ContextAttentionConfig)
    found = TextInputs.prepare(config, Dataset.open(data), tmp_path)
    assert found.vectors == {language: data / f"{language}.vec" for language in WORDS}
    # Beside the configuration they come first.
    assert TextInputs.prepare(config, Dataset.open(data), folder).vectors["en"] == folder / "en.vec"


@pytest.mark.slow
def test_vectors_are_trained_and_a_run_resumes_without_reading_them_again(
    train: Train, folder: Path, tmp_path: Path, assert_same_weights: Same
) -> None:
    config = tmp_path / "tiny.toml"
    for source in folder.glob("*.*"):
        shutil.copy(source, tmp_path)
    train(tmp_path / "whole", config=config, epochs=2)
    vocabulary, found = word_vectors(tmp_path / "whole", "en")
    moved = np.abs(found[vocabulary.index("dog")] - vectors("en")[0]).max()
    assert 1e-4 < moved < 0.3

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vse_zoo.training.callbacks.EpochSeeds.on_epoch_begin", killing_at(1))
        with pytest.raises(RuntimeError, match="killed"):
            train(tmp_path / "run", config=config, epochs=2)
    # Nothing but the header is there to read.
    for language in WORDS:
        (tmp_path / f"{language}.vec").write_text(f"5 {DIM}\n")
    train(tmp_path / "run", config=config, epochs=2, resume=True)
    assert_same_weights(tmp_path / "run" / "last.weights.h5", tmp_path / "whole" / "last.weights.h5")
    assert read_history(tmp_path / "run") == read_history(tmp_path / "whole")


def killing_at(last: int) -> Callable[..., None]:
    from vse_zoo.training.callbacks import EpochSeeds

    seeded = EpochSeeds.on_epoch_begin

    def on_epoch_begin(self: EpochSeeds, epoch: int, logs: dict[str, float] | None = None) -> None:
        if epoch == last:
            raise RuntimeError("killed")
        seeded(self, epoch, logs)

    return on_epoch_begin


REFUSED = {
    "a language without a file": (
        [(', de = "de.vec"', "")],
        "found no file for 'de', expected one for each of: en, de",
    ),
    "another dimension": ([("[model]", "[model]\nword_dim = 8")], r"en\.vec: found vectors of 6 numbers, .* is 8"),
    "a skip between sizes": ([("[model]", "[model]\nword_skip = true")], "found words of 6 numbers and units of 8"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_does_not_fit_is_refused(kind: str, folder: Path, tiny: Dataset) -> None:
    replaced, message = REFUSED[kind]
    with pytest.raises(ConfigError, match=message):
        TextInputs.prepare(edited(folder, *replaced), tiny, folder)


def test_a_missing_file_is_named(folder: Path, tiny: Dataset) -> None:
    with pytest.raises(DataError, match=r"none\.vec: no such file"):
        TextInputs.prepare(edited(folder, ('"de.vec"', '"none.vec"')), tiny, folder)


def test_a_file_of_another_language_is_refused(folder: Path, train: Train, tmp_path: Path) -> None:
    edited(folder, ('"de.vec"', '"other.vec"'))
    (folder / "other.vec").write_text(f"1 {DIM}\nπ 1 2 3 4 5 6\n")
    with pytest.raises(ConfigError, match=r"other\.vec: holds none of the 6 words of 'de'"):
        train(tmp_path / "run", config=folder / "edited.toml")


SECTIONS = {
    "vectors without files": ('kind = "vectors"', 'expected vectors, since kind is "vectors"'),
    "an encoder without a name": ('kind = "contextual"', 'expected encoder, since kind is "contextual"'),
    "files of random vectors": ('vectors = { en = "a" }', 'found vectors, which kind "random" does not have'),
    "frozen random vectors": ("trainable = false", 'found trainable, which kind "random" does not have'),
    "precomputed and trained": (
        'kind = "contextual"\nencoder = "a"\nprecomputed = true\ntrainable = true',
        "expected trainable = false, since precomputed",
    ),
    "an unknown kind": ('kind = "words"', "input should be 'random', 'vectors' or 'contextual'"),
}


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_section_that_contradicts_itself_is_refused(kind: str, tmp_path: Path) -> None:
    section, message = SECTIONS[kind]
    (tmp_path / "mine.toml").write_text(f"[text]\n{section}\n")
    with pytest.raises(ConfigError, match=r"mine\.toml, field 'text.*'") as caught:
        load_config(tmp_path / "mine.toml", ContextAttentionConfig)
    assert message in str(caught.value)
