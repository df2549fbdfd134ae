"""Word vectors from captions without pictures: batches, the loss against plain NumPy, what is learned, the recipe."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest

from vse_zoo.data import Dataset
from vse_zoo.errors import DataError
from vse_zoo.features.word_vectors import read_word_vectors
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training import EpochSeeds
from vse_zoo.training.caption_words import CaptionPairs, CaptionWords

# Three captions a thing: its number in other words each time; some in one language, or with one caption.
ENGLISH = ["thing{n} alpha", "alpha beta thing{n}", "gamma other{n}"]
GERMAN = ["ding{n} eins", "zwei ding{n} eins", "drei ding{n}"]


def things(count: int = 24) -> list[dict[str, list[str]]]:
    found = [
        {"en": [text.format(n=n) for text in ENGLISH], "de": [text.format(n=n) for text in GERMAN]}
        for n in range(count)
    ]
    found[1] = {"en": found[1]["en"]}
    found[2] = {"en": found[2]["en"][:1], "de": found[2]["de"]}
    return found


@pytest.fixture(scope="module")
def preprocessor() -> TextPreprocessor:
    captions = {name: [text for each in things() for text in each.get(name, [])] for name in ("en", "de")}
    return TextPreprocessor.from_captions(captions, minimum_count=1)


@pytest.fixture(scope="module")
def pairs(preprocessor: TextPreprocessor) -> CaptionPairs:
    return CaptionPairs(things(), preprocessor, batch_size=10, seed=3)


def sentences(preprocessor: TextPreprocessor, ids: np.ndarray, language: str) -> list[list[str]]:
    words = preprocessor.vocabulary(language)
    return [[" ".join(words[number] for number in row if number) for row in two] for two in ids]


def test_a_batch_holds_two_different_captions_of_each_thing(
    pairs: CaptionPairs, preprocessor: TextPreprocessor
) -> None:
    assert pairs.steps_per_epoch == 2
    seen = []
    for step in range(2):
        batch = pairs.batch(step)
        found = {name: sentences(preprocessor, batch["text"][name], name) for name in ("en", "de")}
        for row in range(10):
            numbers = {name: int(batch["counts"][name][row]) for name in found}
            own = next(each for each in things() if found["en"][row][0] in each["en"])
            seen.append(own["en"][0])
            for name, count in numbers.items():
                assert count == min(2, len(own.get(name, [])))
                assert set(found[name][row][:count]) <= set(own.get(name, []))
                assert len(set(found[name][row][:count])) == count
                assert found[name][row][count:] == ["[UNK]"] * (2 - count)
    assert len(set(seen)) == 20


def test_batches_depend_on_seed_and_number_alone(pairs: CaptionPairs, preprocessor: TextPreprocessor) -> None:
    again, other = (CaptionPairs(things(), preprocessor, 10, seed) for seed in (3, 4))
    later = next(iter(pairs.dataset(start_epoch=1)))
    for name in ("en", "de"):
        expected = pairs.batch(2)["text"][name]
        np.testing.assert_array_equal(later["text"][name], expected)
        np.testing.assert_array_equal(again.batch(2)["text"][name], expected)
        assert not np.array_equal(other.batch(2)["text"][name], expected)
        assert not np.array_equal(pairs.batch(0)["text"][name], expected)


def test_one_thing_alone_is_refused(preprocessor: TextPreprocessor) -> None:
    with pytest.raises(DataError, match="found 1 described pictures, expected two or more"):
        CaptionPairs(things()[:1], preprocessor)


def naive_loss(model: CaptionWords, batch: dict[str, Any], temperature: float) -> float:
    """Pair by pair in float64: every match against every other sentence there is, both ways."""

    def sentence(language: str, row: int, place: int) -> np.ndarray | None:
        if batch["counts"][language][row] <= place:
            return None
        table = np.asarray(model.words[language].embeddings, np.float64)
        mean = np.mean([table[number] for number in batch["text"][language][row, place] if number], axis=0)
        return mean / np.linalg.norm(mean)

    total = 0.0
    for (one, first), (other, second) in [(("en", 0), ("en", 1)), (("de", 0), ("de", 1)), (("en", 0), ("de", 0))]:
        rows = range(len(batch["counts"]["en"]))
        left = {row: found for row in rows if (found := sentence(one, row, first)) is not None}
        right = {row: found for row in rows if (found := sentence(other, row, second)) is not None}
        matches = [row for row in rows if row in left and row in right]
        terms = []
        for row in matches:
            match = left[row] @ right[row] / temperature
            ways = [
                np.log(sum(np.exp(left[row] @ found / temperature) for found in right.values())),
                np.log(sum(np.exp(found @ right[row] / temperature) for found in left.values())),
            ]
            terms.append(np.mean(ways) - match)
        total += float(np.mean(terms))
    return total


def test_the_loss_equals_the_definition(pairs: CaptionPairs, preprocessor: TextPreprocessor) -> None:
    keras.utils.set_random_seed(0)
    model = CaptionWords(preprocessor, dim=5, temperature=0.3)
    model.build()
    model.compile("sgd", jit_compile=False)
    for step in range(2):
        batch = pairs.batch(step)
        found = model.compute_loss(batch, y_pred=model(batch))
        # float32 against float64.
        np.testing.assert_allclose(float(found), naive_loss(model, batch, 0.3), rtol=2e-5)


def test_a_lost_word_is_lost_whole(preprocessor: TextPreprocessor) -> None:
    keras.utils.set_random_seed(0)
    model = CaptionWords(preprocessor, dim=4, word_dropout=0.5)
    model.build()
    text = {
        name: preprocessor([sentence], name).numpy()[None]
        for name, sentence in (("en", "alpha beta"), ("de", "eins zwei"))
    }
    table = np.asarray(model.words["en"].embeddings)[text["en"][0, 0]]
    allowed = [sum(kept) for kept in ([table[0]], [table[1]], [table[0], table[1]], [np.zeros(4)])]
    allowed = [each / max(np.linalg.norm(each), 1e-12) for each in allowed]
    drawn = [np.asarray(model({"text": text}, training=True)["en"])[0, 0] for _ in range(40)]
    kinds = {min(range(4), key=lambda place: np.abs(allowed[place] - each).max()) for each in drawn}
    assert kinds == {0, 1, 2, 3}
    assert all(min(np.abs(each - other).max() for other in allowed) < 1e-6 for each in drawn)


def test_words_of_the_same_things_come_together_in_both_languages(
    pairs: CaptionPairs, preprocessor: TextPreprocessor
) -> None:
    keras.utils.set_random_seed(0)
    model = CaptionWords(preprocessor, dim=32)
    model.build()
    model.compile(keras.optimizers.Adam(0.02), jit_compile=False)
    model.fit(pairs.dataset(), steps_per_epoch=pairs.steps_per_epoch, epochs=60, verbose=0, shuffle=False)
    vectors = {
        name: dict(zip(preprocessor.vocabulary(name), model.vectors(name), strict=True)) for name in ("en", "de")
    }
    for name in vectors:
        assert np.std([vector for word, vector in vectors[name].items() if word not in ("", "[UNK]")]) == pytest.approx(
            0.25
        )

    def nearest(word: np.ndarray, language: str, kind: str) -> str:
        candidates = {key: vector for key, vector in vectors[language].items() if key.startswith(kind)}
        return max(candidates, key=lambda key: word @ candidates[key] / np.linalg.norm(candidates[key]))

    numbers = range(3, 24)
    assert all(nearest(vectors["en"][f"thing{n}"], "de", "ding") == f"ding{n}" for n in numbers)
    assert all(nearest(vectors["en"][f"other{n}"], "en", "thing") == f"thing{n}" for n in numbers)


@pytest.fixture
def texts(tmp_path: Path, tiny: Dataset) -> Path:
    """Multi30K's task 2: twelve pictures, the tiny dataset's first test picture and its first training picture."""
    root = tmp_path / "multi30k" / "task2"
    (root / "raw").mkdir(parents=True)
    (root / "image_splits").mkdir()
    own = [tiny.image_names[tiny.indices(split)[0]] for split in ("test", "train")]
    names = [*(f"9{n}.jpg" for n in range(12)), *own]
    (root / "image_splits" / "train_images.txt").write_text("".join(f"{name}\n" for name in names))
    for language in ("en", "de"):
        for number in (1, 2):
            lines = [f"{language}word{n} {language}again{n % 5}" for n in range(12)] + [
                "secret testword",
                "allowed trainword",
            ]
            text = "".join(f"{line}\n" for line in lines)
            (root / "raw" / f"train.{number}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path / "multi30k"


def test_the_recipe_leaves_test_captions_out_and_goes_on_after_an_interruption(
    load_recipe: Callable[[str], ModuleType],
    tiny: Dataset,
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = load_recipe("caption_words")
    folders = [tmp_path / name for name in ("whole", "interrupted")]
    for folder in folders:
        folder.mkdir()
        for file in tiny.path.iterdir():
            if file.is_file():
                (folder / file.name).write_bytes(file.read_bytes())
    options = {"texts": texts, "dim": 6, "epochs": 3, "minimum_count": 1, "seed": 0}
    recipe.main(folders[0], **options)

    class Interrupt(EpochSeeds):
        def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            super().on_epoch_begin(epoch, logs)
            if epoch == 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(recipe, "EpochSeeds", Interrupt)
        with pytest.raises(KeyboardInterrupt):
            recipe.main(folders[1], **options)
    recipe.main(folders[1], **options)

    words = ["enword3", "enagain1", "allowed", "secret", "testword"]
    found, again = (read_word_vectors(folder / "words.en.vec", words) for folder in folders)
    np.testing.assert_array_equal(found.found, [True, True, True, False, False])
    # Written with four decimals.
    np.testing.assert_allclose(again.vectors, found.vectors, atol=2e-4)
    assert not list(folders[1].glob("*.weights.h5"))
