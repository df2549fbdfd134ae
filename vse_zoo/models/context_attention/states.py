"""The states of a split's captions by a frozen encoder, computed once and kept beside the dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from vse_zoo.data import Dataset
from vse_zoo.files import replacing
from vse_zoo.models.context_attention.contextual import ContextualWords
from vse_zoo.preprocessing import PiecePreprocessor
from vse_zoo.progress import progress

__all__ = ["precomputed_states"]

_BATCH = 128


def precomputed_states(
    dataset: Dataset, split: str, language: str, preprocessor: PiecePreprocessor, contextual: ContextualWords
) -> Path:
    """The .npy file (all pieces, D) float16 of a split's captions, one after another; made if it isn't there.

    It is ``states/<hash>.npy`` in the dataset folder. The hash is of the encoder with its weights, the preprocessor and
    the captions, so that a file of others is never used; the file is there whole or not at all.

    Args:
        dataset: an opened dataset folder.
        split: of it.
        language: of its captions.
        preprocessor: whose pieces are encoded.
        contextual: the encoder.
    """
    texts, _ = dataset.captions(split, language)
    path = dataset.path / "states" / f"{_key(texts, preprocessor, contextual)}.npy"
    if not path.is_file():
        ids = preprocessor.ragged(texts, language)
        with replacing(path) as temporary:
            _write(temporary, ids, contextual, f"Encoding {split} captions ({language})")
    return path


def _write(path: Path, ids: tf.RaggedTensor, contextual: ContextualWords, description: str) -> None:
    splits, lengths = ids.row_splits.numpy(), ids.row_lengths().numpy()
    states = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(int(splits[-1]), contextual.dim))
    encode = tf.function(contextual, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    # Sentences of one length together: little padding, and each at its own place of the file.
    order = np.argsort(lengths, kind="stable")
    with progress(description, len(order)) as bar:
        for start in range(0, len(order), _BATCH):
            numbers = order[start : start + _BATCH]
            found = encode(tf.gather(ids, numbers).to_tensor()).numpy()
            for number, row in zip(numbers, found, strict=True):
                states[splits[number] : splits[number + 1]] = row[: lengths[number]]
            bar.advance(len(numbers))
    states.flush()


def _key(texts: Sequence[str], preprocessor: PiecePreprocessor, contextual: ContextualWords) -> str:
    digest = hashlib.sha256()
    backbone = contextual.backbone
    # What no state depends on; a name says which layer it is of its program.
    left_out = ("name", "trainable", "languages")
    configs = [backbone.get_config(), preprocessor.get_config()]
    used = [{name: value for name, value in config.items() if name not in left_out} for config in configs]
    described = [type(backbone).__name__, contextual.start_id, contextual.end_id, *used, list(texts)]
    digest.update(json.dumps(described, sort_keys=True).encode())
    for weight in contextual.weights:
        digest.update(weight.numpy().tobytes())
    return digest.hexdigest()
