"""What a served model answers to: for each kind of model its signatures, with the names and shapes of their tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import tensorflow as tf

from vse_zoo.layers import l2_normalize
from vse_zoo.models import PairwiseVSEModel, TwoWayNet, VSEModel
from vse_zoo.serving.checks import counted, finite, sentences
from vse_zoo.serving.pictures import PictureFeatures
from vse_zoo.serving.sets import plans, set_similarity

__all__ = ["PICTURES", "Signature", "default_signature", "signatures"]

PICTURES = "encode_image_bytes"
"""The signature that takes picture files."""

Tensor = Any
Ids = Callable[[Tensor, str], Tensor]
"""Sentences (B,) and their language to word ids (B, T)."""


@dataclass(frozen=True)
class Signature:
    """One thing to ask a served model for.

    Args:
        function: named tensors in, named tensors out, in the graph.
        inputs: name, type and shape of each input, None for what is free; the first axis is the batch.
        outputs: the same of each output.
    """

    function: Callable[..., dict[str, Tensor]]
    inputs: Mapping[str, tf.TensorSpec]
    outputs: Mapping[str, tf.TensorSpec]


def signatures(model: VSEModel, ids: Ids, pictures: PictureFeatures | None = None) -> dict[str, Signature]:
    """The signatures of a model by name.

    Of pictures and sentences: ``encode_image``, ``encode_text_<language>`` and ``similarity``; with ``pictures`` also
    ``encode_image_bytes``; ``explain`` where regions are compared with words. Of two matrices: ``encode_x``,
    ``encode_y``, ``reconstruct_x``, ``reconstruct_y`` and ``similarity``.

    Args:
        model: a built model.
        ids: word ids of sentences, as the model's preprocessor gives them.
        pictures: from encoded pictures to the regions that the model was trained on.
    """
    if model.preprocessor is None:
        return _of_two_matrices(model)
    pairwise = isinstance(model, PairwiseVSEModel)
    found = {"encode_image": _encode_image(model, pairwise)}
    if pictures is not None:
        found[PICTURES] = _encode_image_bytes(model, pictures, pairwise)
    for language in model.languages:
        found[f"encode_text_{language}"] = _encode_text(model, ids, language, pairwise)
    return {**found, **(_of_sets(model) if pairwise else _of_vectors(model))}


def default_signature(model: VSEModel) -> str:
    """The signature that a request gets which names none: sentences of the model's first language, or view x."""
    return f"encode_text_{model.languages[0]}" if model.languages else "encode_x"


def _spec(name: str, *shape: int | None, dtype: tf.DType = tf.float32) -> dict[str, tf.TensorSpec]:
    return {name: tf.TensorSpec(shape, dtype, name=name)}


_count = partial(_spec, dtype=tf.int32)
_string = partial(_spec, dtype=tf.string)


def _encoded(pairwise: bool, count: str) -> dict[str, tf.TensorSpec]:
    """What encoding gives: a vector, or a set of vectors and how many are real."""
    return (
        {**_spec("embedding", None, None, None), **_count(count, None)} if pairwise else _spec("embedding", None, None)
    )


def _encode_image(model: VSEModel, pairwise: bool) -> Signature:
    def encode(regions: Tensor, n_regions: Tensor) -> dict[str, Tensor]:
        regions, mask = counted("regions", regions, n_regions)
        embedding = model.embed_image(regions, mask)
        return {"embedding": embedding, "n_regions": tf.identity(n_regions)} if pairwise else {"embedding": embedding}

    inputs = {**_spec("regions", None, None, model.region_dim), **_count("n_regions", None)}
    return Signature(encode, inputs, _encoded(pairwise, "n_regions"))


def _encode_image_bytes(model: VSEModel, pictures: PictureFeatures, pairwise: bool) -> Signature:
    def encode(image: Tensor) -> dict[str, Tensor]:
        regions = pictures(image)
        mask = tf.ones(tf.shape(regions)[:2], tf.bool)
        embedding = model.embed_image(regions, mask)
        counts = tf.fill([tf.shape(regions)[0]], tf.shape(regions)[1])
        return {"embedding": embedding, "n_regions": counts} if pairwise else {"embedding": embedding}

    return Signature(encode, _string("image", None), _encoded(pairwise, "n_regions"))


def _encode_text(model: VSEModel, ids: Ids, language: str, pairwise: bool) -> Signature:
    def encode(text: Tensor) -> dict[str, Tensor]:
        found = ids(sentences(text), language)
        embedding = model.embed_text(found, language)
        counts = tf.math.count_nonzero(found, axis=1, dtype=tf.int32)
        return {"embedding": embedding, "n_words": counts} if pairwise else {"embedding": embedding}

    return Signature(encode, _string("text", None), _encoded(pairwise, "n_words"))


def _of_vectors(model: VSEModel, names: tuple[str, str] = ("image", "text")) -> dict[str, Signature]:
    # A 2-Way Net compares by correlation, which is the inner product of centred unit vectors.
    ready = _centred if isinstance(model, TwoWayNet) else tf.identity
    rows, columns = names

    def similarity(**vectors: Tensor) -> dict[str, Tensor]:
        one, other = (ready(finite(name, vectors[name])) for name in names)
        return {"scores": tf.matmul(one, other, transpose_b=True)}

    inputs = {**_spec(rows, None, None), **_spec(columns, None, None)}
    return {"similarity": Signature(similarity, inputs, _spec("scores", None, None))}


def _of_sets(model: PairwiseVSEModel) -> dict[str, Signature]:
    def similarity(image: Tensor, n_regions: Tensor, text: Tensor, n_words: Tensor) -> dict[str, Tensor]:
        images, texts = counted("image", image, n_regions), counted("text", text, n_words)
        return {"scores": set_similarity(model.alignment, *images, *texts)}

    def explain(image: Tensor, n_regions: Tensor, text: Tensor, n_words: Tensor) -> dict[str, Tensor]:
        images, texts = counted("image", image, n_regions), counted("text", text, n_words)
        plan, cosine = plans(model.alignment, *images, *texts)
        return {"plan": plan, "cosine": cosine}

    size = model.units
    inputs = {
        **_spec("image", None, None, size),
        **_count("n_regions", None),
        **_spec("text", None, None, size),
        **_count("n_words", None),
    }
    pairs = {**_spec("plan", None, None, None), **_spec("cosine", None, None, None)}
    return {
        "similarity": Signature(similarity, inputs, _spec("scores", None, None)),
        "explain": Signature(explain, inputs, pairs),
    }


def _of_two_matrices(model: TwoWayNet) -> dict[str, Signature]:
    def of_view(name: str, view: str, size: int, output: dict[str, tf.TensorSpec]) -> Signature:
        function = model.view_functions[name]
        (key,) = output

        def run(**views: Tensor) -> dict[str, Tensor]:
            return {key: function(finite(view, views[view]))}

        return Signature(run, _spec(view, None, size), output)

    x, y = model.x_dim, model.y_dim
    return {
        "encode_x": of_view("encode_x", "x", x, _spec("embedding", None, None)),
        "encode_y": of_view("encode_y", "y", y, _spec("embedding", None, None)),
        "reconstruct_x": of_view("reconstruct_x", "y", y, _spec("x", None, x)),
        "reconstruct_y": of_view("reconstruct_y", "x", x, _spec("y", None, y)),
        **_of_vectors(model, ("x", "y")),
    }


def _centred(vectors: Tensor) -> Tensor:
    return l2_normalize(vectors - tf.reduce_mean(vectors, axis=-1, keepdims=True))
