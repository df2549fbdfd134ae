"""Keras 3.15's `model.fit` under a `tf.distribute` strategy, mended where it fails or differs from one device."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from vse_zoo.ops.replicas import sum_over_replicas, worker_count

__all__ = ["ReplicatedModel"]


class ReplicatedModel(keras.Model):
    """A model that builds itself without an input, and trains under a strategy as it does on one device.

    Without a strategy nothing is changed. Under one

    - gradients are summed over the replicas before the optimiser sees them. Keras sums them after clipping, so that
      each replica's part would be clipped by itself, and a loss scale be lowered on some replicas only;
    - the model isn't traced with the mean of the replicas' batches to create its weights: it has them, there is no
      such mean of masks, and with several workers Keras' attempt is a ValueError;
    - with several workers the figures of a step have shape (1,), since Keras then takes their mean over axis 0.

    Args:
        kwargs: those of `keras.Model`.
    """

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """As `keras.Model.compile`."""
        super().compile(*args, **kwargs)
        if self.distribute_strategy.num_replicas_in_sync > 1 and self.optimizer is not None:
            _sum_gradients_first(self.optimizer)

    def train_step(self, data: Any) -> dict[str, Any]:
        """As `keras.Model.train_step`; subclasses override `compute_loss`."""
        return self._figures(super().train_step(data))

    def test_step(self, data: Any) -> dict[str, Any]:
        """As `keras.Model.test_step`."""
        return self._figures(super().test_step(data))

    def _figures(self, logs: dict[str, Any]) -> dict[str, Any]:
        if worker_count(self.distribute_strategy) == 1:
            return logs
        return {name: tf.reshape(value, [1]) for name, value in logs.items()}

    def _maybe_symbolic_build(self, iterator: Any = None, data_batch: Any = None) -> None:
        if self._distribute_strategy is None:
            super()._maybe_symbolic_build(iterator, data_batch)
            return
        with self._distribute_strategy.scope():
            if not self.built:
                self.build()
            if self.optimizer is not None and not self.optimizer.built:
                self.optimizer.build(self.trainable_variables)


def _sum_gradients_first(optimizer: Any) -> None:
    """Makes an optimiser sum gradients over the replicas at once, and its own sum, which comes too late, do nothing."""
    if "apply" in vars(optimizer):
        return  # A model was compiled with it before: summed again, gradients would be too large.
    apply = optimizer.apply

    def apply_summed(grads: Any, trainable_variables: Any = None) -> None:
        present = [number for number, gradient in enumerate(grads) if gradient is not None]
        summed = list(grads)
        for number, gradient in zip(present, sum_over_replicas([grads[number] for number in present]), strict=True):
            summed[number] = gradient
        apply(summed, trainable_variables)

    optimizer.apply = apply_summed
    # A LossScaleOptimizer, which Keras puts around another in float16, leaves the update to the one within.
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    inner._all_reduce_sum_gradients = list
