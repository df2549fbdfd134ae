"""Trains a model of each kind for some steps on one, two or three virtual CPUs, and keeps weights and figures.

    python replicas.py OUT.npz MODEL[,MODEL…] COUNT[,COUNT…] [ungathered]

A script, since virtual CPUs must be made before TensorFlow runs, and a process can use one number of them only, beside
a single one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from vse_zoo import models, ops
from vse_zoo.losses import ContrastiveLoss, Decorrelation, TripletLoss
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training.strategies import replica_batches, strategy_scope

WORDS = {"en": ["red", "green", "blue", "dog", "cat"], "de": ["rot", "blau", "Hund", "Katze"]}
STEPS, DIM = 20, 6
SIZES = (7, 8, 5, 2)
"""Rows of the global batches in turn: never a multiple of both numbers of replicas, and 2 of 3 leave one without."""


def _pairs() -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(0)
    for step in range(STEPS):
        rows = SIZES[step % len(SIZES)]
        text = {name: random.integers(1, len(words) + 2, (rows, 4)) for name, words in WORDS.items()}
        for ids in text.values():
            ids *= np.arange(4) < random.integers(1, 5, (rows, 1))
        mask = np.arange(3) < random.integers(1, 4, (rows, 1))
        yield {
            "regions": (random.normal(size=(rows, 3, DIM)) * mask[..., None]).astype("float32"),
            "region_mask": mask,
            "text": {name: ids.astype("int32") for name, ids in text.items()},
            "text_mask": {"en": np.ones(rows, bool), "de": random.random(rows) < 0.7},
            "image_id": random.integers(0, 6, rows).astype("int32"),
        }


def _views() -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(0)
    for step in range(STEPS):
        shape = (SIZES[step % len(SIZES)], DIM)
        yield {"x": random.normal(3, 1, shape).astype("float32"), "y": random.normal(-2, 1, shape).astype("float32")}


@dataclass
class Batches:
    """The same batches for everyone, as PairBatches and TwoViewBatches would give them."""

    made: list[dict[str, Any]]
    batch_size: int = 8

    def dataset(self, start_epoch: int = 0) -> tf.data.Dataset:
        signature = tf.nest.map_structure(
            lambda array: tf.TensorSpec([None, *array.shape[1:]], array.dtype), self.made[0]
        )
        return tf.data.Dataset.from_generator(lambda: iter(self.made), output_signature=signature)


def _context_attention() -> Any:
    arguments: dict[str, Any] = {"units": 8, "heads": 2, "attention_dim": 4, "word_dim": 5}
    preprocessor = TextPreprocessor.from_captions(WORDS, minimum_count=1)
    model = models.ContextAttentionVSE(
        preprocessor, DIM, **arguments, ranking_loss=ContrastiveLoss(learnable=True, reduction="sum")
    )
    model.image_encoder.perceptron.kernel_regularizer = keras.regularizers.L2(0.1)
    model.build()
    return model, keras.optimizers.AdamW(1e-2, weight_decay=1e-3, global_clipnorm=0.5), _pairs


def _optimal_transport() -> Any:
    preprocessor = TextPreprocessor.from_captions(WORDS, minimum_count=1)
    loss = TripletLoss(0.2, warmup_steps=5, reduction="mean")
    model = models.TransportVSE(preprocessor, DIM, units=8, word_dim=5, ranking_loss=loss, language_weight=0.5)
    model.build()
    for encoder in model.text_encoders.values():
        # From small states scaled to unit length gradients are so steep that even one device, given the rows of a batch
        # in another order, arrives at weights that differ by more than 1e-5.
        encoder.words.embeddings.assign(20 * encoder.words.embeddings)
    # The paper's learning rate; at five times it rounding alone grows to 1e-5 in the weights.
    return model, keras.optimizers.AdamW(2e-4, weight_decay=1e-3, global_clipnorm=0.5), _pairs


def _two_way_net() -> Any:
    weights: dict[str, Any] = {"canonical_weight": 0.1, "ranking_weight": 0.5, "decorrelation_weight": 0.3}
    model = models.TwoWayNet(
        [5, 3, 5], DIM, DIM, **weights, decorrelation=Decorrelation(centered=True), dropout=0.0, momentum=0.8
    )
    model.build()
    return model, keras.optimizers.SGD(1e-2, momentum=0.9, nesterov=True, global_clipnorm=1.0), _views


KINDS = {"context_attention": _context_attention, "optimal_transport": _optimal_transport, "two_way_net": _two_way_net}


def train(kind: str, strategy: str) -> dict[str, np.ndarray]:
    """Weights and epoch figures after two epochs of `STEPS` / 2 steps."""
    with strategy_scope(strategy) as found:
        print(kind, found.num_replicas_in_sync, flush=True)
        keras.utils.set_random_seed(3)
        model, optimizer, batches = KINDS[kind]()
        model.compile(optimizer, jit_compile=False)
    history = model.fit(
        replica_batches(Batches(list(batches())), 0, found), epochs=2, steps_per_epoch=STEPS // 2, verbose=0
    )
    figures = {f"figure {name}": np.array(values) for name, values in history.history.items()}
    return {**{weight.path: weight.numpy() for weight in model.weights}, **figures}


def ungather() -> None:
    """Leaves every replica with its own rows."""
    for module in list(sys.modules.values()):
        if getattr(module, "gather_rows", None) is ops.replicas.gather_rows and module is not ops.replicas:
            module.gather_rows = lambda rows: rows  # type: ignore[attr-defined]


def main(out: str, kinds: str, counts: str, *options: str) -> None:
    if "ungathered" in options:
        ungather()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    cpus = tf.config.list_logical_devices("CPU")
    found = {}
    for count in counts.split(","):
        devices: dict[str, Any] = {"CPU": cpus[: int(count)], "GPU": []}
        tf.config.list_logical_devices = devices.get
        for kind in kinds.split(","):
            trained = train(kind, "none" if count == "1" else "mirrored")
            for number, (name, value) in enumerate(trained.items()):
                found[f"{count}/{kind}/{number} {name}"] = value
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
