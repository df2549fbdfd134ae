"""Requests that make no sense: an error that says why, or a valid answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

UNIT = np.ones((2, 3, 8), "float32") / np.sqrt(8).astype("float32")
ONES = np.ones((2, 4, 6), "float32")
COUNTS = np.array([4, 2], "int32")


def with_nan(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flat[0] = np.nan
    return array


@pytest.mark.parametrize(
    ("name", "signature", "inputs", "reason"),
    [
        ("attention", "encode_image", {"regions": with_nan(ONES), "n_regions": COUNTS}, "regions: found NaN"),
        ("attention", "encode_image", {"regions": ONES, "n_regions": COUNTS[:1]}, "one count for each row"),
        ("attention", "encode_image", {"regions": ONES, "n_regions": COUNTS - 2}, "between 1 and the number of items"),
        ("attention", "encode_image", {"regions": ONES, "n_regions": COUNTS + 1}, "between 1 and the number of items"),
        ("attention", "encode_image", {"regions": ONES[:0], "n_regions": COUNTS[:0]}, "regions: found an empty batch"),
        ("attention", "encode_text_en", {"text": np.array([], "S1")}, "text: found an empty batch"),
        (
            "attention",
            "similarity",
            {"image": np.ones((2, 16), "f"), "text": with_nan(np.ones((2, 16), "f"))},
            "text: f",
        ),
        ("attention", "similarity", {"image": np.ones((2, 16), "f"), "text": np.ones((2, 9), "f")}, "[Mm]atrix size"),
        (
            "attention",
            "encode_image",
            {"regions": ONES * 3e38, "n_regions": COUNTS},
            "embedding: found NaN or inf.*large",
        ),
        ("matrices", "encode_x", {"x": with_nan(np.ones((2, 6), "f"))}, "x: found NaN"),
        (
            "transport",
            "similarity",
            {"image": UNIT, "n_regions": COUNTS, "text": UNIT, "n_words": COUNTS},
            "image: expected counts",
        ),
        (
            "transport",
            "explain",
            {"image": UNIT, "n_regions": COUNTS // 2, "text": UNIT[:1], "n_words": COUNTS[1:]},
            "expected pairs",
        ),
    ],
)
def test_an_error_says_why(serve: Any, name: str, signature: str, inputs: dict[str, Any], reason: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        serve(name).ask(signature, **inputs)


@pytest.mark.parametrize("name", ["attention", "transport"])
def test_damaged_and_strange_text_gets_a_row(serve: Any, name: str) -> None:
    texts = [b"\xff\xfe dog", b"\xc3", b"dog\x00cat", b"", b"   ", "🐕".encode(), b"a " * 3000]
    found = serve(name).ask("encode_text_en", text=texts)
    assert len(found["embedding"]) == len(texts)
    assert np.isfinite(found["embedding"]).all()


@pytest.mark.parametrize("shape", [(4, 6), (1, 2, 4, 6), (2, 4, 5)])
def test_another_rank_or_size_is_an_error(serve: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        serve("attention").ask("encode_image", regions=np.ones(shape, "float32"), n_regions=COUNTS)
