"""Batches of pairs: the contract, every caption once, order as a pure function of seed and epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.pipeline import PairBatches
from vse_zoo.data.records import Record
from vse_zoo.data.tokens import Tokens
from vse_zoo.errors import DataError

IMAGES, CAPTIONS, REGIONS, DIM = 64, 3, 2, 3
IMAGE_WORD, LANGUAGE_WORD = 1000, 5000


def tokenize(texts: Sequence[str], language: str) -> tf.RaggedTensor:
    """The sentences here are numbers already: an independent tokeniser."""
    return tf.ragged.constant([[int(word) for word in text.split()] for text in texts], tf.int32, ragged_rank=1)


def caption(image: int, number: int, language: str) -> str:
    """Image and caption in the first word, the language in the second, and a length from 2 to 41 words."""
    words = [IMAGE_WORD + image * 10 + number, LANGUAGE_WORD + (language == "de")]
    return " ".join(map(str, [*words, *[7] * (37 * (image * 10 + number) % 40)]))


def dataset(path: Path, images: int = IMAGES, counts: dict[str, int] | None = None, stacked: bool = False) -> Dataset:
    """Image row n has the feature n everywhere; image 0 has no German; the last image is in no train split."""
    counts = counts or {"en": CAPTIONS, "de": CAPTIONS}
    records = [
        Record(
            f"{image:03}.jpg",
            "train" if image < images else "dev",
            {
                name: [caption(image, number, name) for number in range(count)]
                for name, count in counts.items()
                if count and (name, image) != ("de", 0)
            },
        )
        for image in range(images + 1)
    ]
    source = {"kind": "folder", "root": "."}
    empty = write_dataset(path / "data", records, name="n", image_source=source, languages=tuple(counts))
    rows = np.arange(images + 1, dtype="float16")
    offsets = None
    if stacked:
        each = 1 + np.arange(images + 1) % 3
        offsets = path / "offsets.npy"
        np.save(offsets, np.concatenate([[0], np.cumsum(each)]))
        np.save(path / "regions.npy", np.repeat(rows, each)[:, None] * np.ones(DIM, "float16"))
    else:
        np.save(path / "regions.npy", rows[:, None, None] * np.ones((REGIONS, DIM), "float16"))
    options: dict[str, Any] = {"backbone": "n", "grid": None, "left_out": {"001.jpg": "bad"}, "offsets": offsets}
    return empty.attach_regions(path / "regions.npy", None, **options)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return dataset(tmp_path_factory.mktemp("pipeline"))


def epoch(batches: PairBatches, number: int = 0) -> list[dict[str, Any]]:
    return [batches.batch(number * batches.steps_per_epoch + step) for step in range(batches.steps_per_epoch)]


def first_words(batches: list[dict[str, Any]], language: str) -> np.ndarray:
    """The word that tells image and caption apart, of all pairs with a caption."""
    return np.concatenate([batch["text"][language][batch["text_mask"][language], 0] for batch in batches])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    flat = zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True)
    return all(np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype for a, b in flat)


# Image 1 is left out, so 63 images of 3 captions remain: 189 pairs are 21 batches of 9.
def test_the_batch_contract(data: Dataset) -> None:
    for batch in epoch(PairBatches(data, "train", tokenize, batch_size=9)):
        assert set(batch) == {"regions", "region_mask", "text", "text_mask", "image_id"}
        assert (batch["regions"].shape, batch["regions"].dtype) == ((9, REGIONS, DIM), np.float16)
        assert (batch["region_mask"].shape, batch["region_mask"].dtype) == ((9, REGIONS), np.bool_)
        assert (batch["image_id"].shape, batch["image_id"].dtype) == ((9,), np.int32)
        for language in ("en", "de"):
            text, mask = batch["text"][language], batch["text_mask"][language]
            assert (text.dtype, mask.dtype, mask.shape) == (np.int32, np.bool_, (9,))
            lengths = (text > 0).sum(axis=1)
            assert lengths.min() >= 1
            assert lengths.max() == text.shape[1], "a batch is padded to its longest sentence, no further"
            assert all((row[:length] > 0).all() for row, length in zip(text, lengths, strict=True)), "padding is last"


def test_every_caption_once_an_epoch(data: Dataset) -> None:
    batches = epoch(PairBatches(data, "train", tokenize, batch_size=9))
    expected = [IMAGE_WORD + image * 10 + number for image in range(IMAGES) for number in range(CAPTIONS) if image != 1]
    assert sorted(first_words(batches, "en")) == expected
    assert sorted(first_words(batches, "de")) == expected[CAPTIONS:], "image 0 has no German"


def test_captions_belong_to_their_image(data: Dataset) -> None:
    for batch in epoch(PairBatches(data, "train", tokenize, batch_size=9)):
        np.testing.assert_array_equal(batch["regions"][:, 0, 0], batch["image_id"])
        for language, mask in batch["text_mask"].items():
            text = batch["text"][language]
            np.testing.assert_array_equal((text[mask, 0] - IMAGE_WORD) // 10, batch["image_id"][mask])
            assert (text[mask, 1] == LANGUAGE_WORD + (language == "de")).all()


def test_a_missing_language_is_one_unknown_word(data: Dataset) -> None:
    batches = epoch(PairBatches(data, "train", tokenize, batch_size=9))
    missing = [
        (row.tolist(), image)
        for batch in batches
        for row, image, present in zip(batch["text"]["de"], batch["image_id"], batch["text_mask"]["de"], strict=True)
        if not present
    ]
    assert [image for _, image in missing] == [0] * CAPTIONS
    assert all(row[0] == 1 and not any(row[1:]) for row, _ in missing)


def test_one_caption_an_image(data: Dataset) -> None:
    batches = PairBatches(data, "train", tokenize, batch_size=9, captions="one")
    assert batches.steps_per_epoch == 7
    seen = Counter()
    for number in range(30):
        words = first_words(epoch(batches, number), "en")
        assert sorted((words - IMAGE_WORD) // 10) == [image for image in range(IMAGES) if image != 1]
        seen.update(words.tolist())
    assert len(seen) == 63 * CAPTIONS, "over epochs every caption gets its turn"


def test_languages_with_fewer_captions_repeat_theirs(tmp_path: Path) -> None:
    data = dataset(tmp_path, images=10, counts={"en": 4, "de": 1})
    batches = epoch(PairBatches(data, "train", tokenize, batch_size=6))
    assert Counter(first_words(batches, "en").tolist()).most_common(1)[0][1] == 1
    assert set(Counter(first_words(batches, "de").tolist()).values()) == {4}


def test_captions_of_two_languages_meet_anew_each_epoch(data: Dataset) -> None:
    batches = PairBatches(data, "train", tokenize, batch_size=9)

    def meetings(number: int) -> set[tuple[int, int]]:
        pairs = [zip(b["text"]["en"][:, 0], b["text"]["de"][:, 0], strict=True) for b in epoch(batches, number)]
        return {pair for each in pairs for pair in each}

    assert meetings(0) != meetings(1)


def test_batches_depend_on_seed_and_step_only(data: Dataset) -> None:
    one, other = (PairBatches(data, "train", tokenize, batch_size=9, seed=5) for _ in range(2))
    steps = [70, 3, 21, 0, 3]
    assert all(same(one.batch(step), other.batch(step)) for step in reversed(steps))
    assert all(same(one.batch(step), other.batch(step)) for step in steps)
    different = PairBatches(data, "train", tokenize, batch_size=9, seed=6)
    assert not same(one.batch(0), different.batch(0))
    assert not same(one.batch(0), one.batch(one.steps_per_epoch))


def test_tf_data_equals_the_batches_and_resumes(data: Dataset) -> None:
    batches = PairBatches(data, "train", tokenize, batch_size=9)
    start = 3 * batches.steps_per_epoch
    stream = batches.dataset(start_epoch=3)
    count = 2 * batches.steps_per_epoch + 2
    taken = list(stream.take(count).as_numpy_iterator())
    assert all(same(batch, batches.batch(start + step)) for step, batch in enumerate(taken))
    from_the_start = list(batches.dataset().take(start + count).as_numpy_iterator())
    assert all(same(one, other) for one, other in zip(taken, from_the_start[start:], strict=True))


def test_tf_data_tells_its_shapes(data: Dataset) -> None:
    spec = PairBatches(data, "train", tokenize, batch_size=9).dataset().element_spec
    assert spec["regions"].shape.as_list() == [None, None, DIM]
    assert spec["text"]["de"].shape.as_list() == [None, None]
    assert spec["image_id"].shape.as_list() == [None]
    assert (spec["region_mask"].dtype, spec["text"]["en"].dtype) == (tf.bool, tf.int32)


def test_variable_region_counts(tmp_path: Path) -> None:
    data = dataset(tmp_path, images=10, stacked=True)
    for batch in PairBatches(data, "train", tokenize, batch_size=4).dataset().take(6).as_numpy_iterator():
        counts = 1 + batch["image_id"] % 3
        np.testing.assert_array_equal(batch["region_mask"].sum(axis=1), counts)
        expected = np.where(batch["region_mask"], batch["image_id"][:, None], 0)
        np.testing.assert_array_equal(batch["regions"], expected[..., None] * np.ones(DIM))


def test_buckets_save_padding(tmp_path: Path) -> None:
    batches = PairBatches(dataset(tmp_path, images=320, counts={"en": 3}), "train", tokenize, batch_size=16)
    found = [batch["text"]["en"] for batch in epoch(batches)]
    real = sum((text > 0).sum() for text in found)
    padding = sum(text.size for text in found) / real - 1
    lengths = np.concatenate([(text > 0).sum(axis=1) for text in found])
    shuffled = np.random.default_rng(0).permutation(lengths).reshape(-1, 16)
    unsorted = shuffled.max(axis=1).sum() * 16 / real - 1
    assert padding < 0.15 < 0.5 < unsorted


def test_without_a_pool_every_batch_holds_all_lengths(tmp_path: Path) -> None:
    """What a model needs that must learn to compare long sentences with short ones."""
    data = dataset(tmp_path, images=200, counts={"en": CAPTIONS})
    batches = PairBatches(data, "train", tokenize, batch_size=50, length_pool=1)
    for step in range(batches.steps_per_epoch):
        lengths = (batches.batch(step)["text"]["en"] > 0).sum(axis=1)
        # The standard deviation of lengths uniform from 2 to 41 is 11.5.
        assert lengths.std() > 8
    pooled = PairBatches(data, "train", tokenize, batch_size=50)
    assert all((pooled.batch(step)["text"]["en"] > 0).sum(axis=1).std() < 4 for step in range(3))


def test_an_order_is_shuffled_over_the_whole_split(tmp_path: Path) -> None:
    batches = PairBatches(dataset(tmp_path, images=320, counts={"en": 3}), "train", tokenize, batch_size=16)
    ids = np.stack([batch["image_id"] for batch in epoch(batches)])
    # A batch of a shuffle buffer spans few images; of a whole shuffle, it spans nearly all, wherever it stands.
    assert (np.ptp(ids, axis=1) > 160).all()
    assert abs(np.corrcoef(np.arange(len(ids)), ids.mean(axis=1))[0, 1]) < 0.5


def test_what_is_left_over_changes_with_the_epoch(data: Dataset) -> None:
    batches = PairBatches(data, "train", tokenize, batch_size=100)
    assert batches.steps_per_epoch == 1
    words = [first_words(epoch(batches, number), "en").tolist() for number in range(12)]
    assert all(len(set(each)) == 100 for each in words)
    assert len(set().union(*words)) == 63 * CAPTIONS


def test_a_small_split_is_one_batch(data: Dataset) -> None:
    batches = PairBatches(data, "dev", tokenize)
    assert (batches.batch_size, batches.steps_per_epoch) == (CAPTIONS, 1)
    assert set(batches.batch(0)["image_id"]) == {IMAGES}


def test_refusals(data: Dataset) -> None:
    with pytest.raises(DataError, match="split: found 'val'"):
        PairBatches(data, "val", tokenize)
    with pytest.raises(DataError, match="language: found 'fr'"):
        PairBatches(data, "train", tokenize, languages=("fr",))
    with pytest.raises(ValueError, match="'all' or 'one', got 'two'"):
        PairBatches(data, "train", tokenize, captions="two")


@pytest.mark.parametrize("left_out", [{}, {"a.jpg": "bad"}])
def test_a_split_without_pairs_is_refused(tmp_path: Path, left_out: dict[str, str]) -> None:
    records = [Record("a.jpg", "train", {"en": ["5"]}), Record("b.jpg", "dev", {name: ["5"] for name in ("en", "de")})]
    source = {"kind": "folder", "root": "."}
    empty = write_dataset(tmp_path / "d", records, name="n", image_source=source, languages=("en", "de"))
    np.save(tmp_path / "r.npy", np.ones((2, 1, 1), "float16"))
    data = empty.attach_regions(tmp_path / "r.npy", None, backbone="n", grid=None, left_out=left_out)
    with pytest.raises(DataError, match="split 'train' has no caption in: de"):
        PairBatches(data, "train", tokenize, languages=("de",))


def test_tokens_pad_to_the_longest(data: Dataset) -> None:
    tokens = Tokens.read(data, "train", "de", tokenize)
    texts, _ = data.captions("train", "de")
    chosen = np.array([5, -1, 0])
    expected = tokenize([texts[5], "1", texts[0]], "de").to_tensor().numpy()
    np.testing.assert_array_equal(tokens.padded(chosen), expected)
    assert tokens.counts.tolist() == [0] + [CAPTIONS] * 62
    assert tokens.numbers[0].tolist() == [-1] * CAPTIONS


def test_shuffled_tokens_stay_with_their_image(data: Dataset) -> None:
    tokens = Tokens.read(data, "train", "de", tokenize)
    shuffled = tokens.shuffled(np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(shuffled, axis=1), tokens.numbers)
    assert (shuffled != tokens.numbers).any()
