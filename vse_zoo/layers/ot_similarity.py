"""Optimal transport between sets as a similarity (Cross-domain alignment with optimal transport, S_OT)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from vse_zoo.ops import set_scores, transport_plan
from vse_zoo.ops.transport import check_solver

__all__ = ["OTSimilarity"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class OTSimilarity(keras.layers.Layer):
    """``S_OT(V, E) = −⟨T, C⟩`` of all pairs, with ``C_km = 1 − ⟨v_k, e_m⟩`` and T the plan by IPOT.

    T moves uniform mass from the real regions to the real words. No gradient flows through it: by the envelope theorem
    the gradient with respect to C is −T. A tile of pairs is in memory at a time, whatever the batch, under XLA.

    Args:
        beta: β, the proximal step.
        iterations: of IPOT; 20 in the paper.
        feasible: round the plans so that their marginals are exact, as `vse_zoo.ranking` needs it.

    Call arguments:
        regions: (N, R, E) unit vectors.
        words: (M, T, E) unit vectors.
        region_mask: (N, R) bool, True on real regions; all by default.
        word_mask: (M, T) bool, for words.
        return_plans: also return the plans, which are N·M·R·T numbers.

    Returns:
        (N, M) float32 in [−2, 0]; with ``return_plans`` the pair ((N, M), (N, M, R, T)).
    """

    def __init__(self, beta: float = 0.5, iterations: int = 20, feasible: bool = False, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        check_solver(beta, iterations)
        self.beta = beta
        self.iterations = iterations
        self.feasible = feasible
        self.supports_masking = True
        self.built = True

    def call(
        self,
        regions: Tensor,
        words: Tensor,
        region_mask: Tensor | None = None,
        word_mask: Tensor | None = None,
        return_plans: bool = False,
    ) -> Any:
        """Scores of all pairs; shapes in the class's documentation."""
        region_mask, word_mask = _mask(regions, region_mask), _mask(words, word_mask)
        solver: dict[str, Any] = {"beta": self.beta, "iterations": self.iterations, "feasible": self.feasible}
        scores = set_scores(regions, region_mask, words, word_mask, **solver).transport
        return (scores, self._plans(regions, words, region_mask, word_mask, solver)) if return_plans else scores

    def _plans(self, regions: Tensor, words: Tensor, region_mask: Tensor, word_mask: Tensor, solver: Any) -> Tensor:
        cost = 1.0 - tf.einsum("nre,mte->nmrt", tf.cast(regions, tf.float32), tf.cast(words, tf.float32))
        shape = tf.shape(cost)
        plans = transport_plan(
            tf.reshape(cost, tf.concat([[-1], shape[2:]], 0)),
            tf.repeat(region_mask, shape[1], axis=0),
            tf.tile(word_mask, [shape[0], 1]),
            **solver,
        ).plan
        return tf.reshape(plans, shape)

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """Scores need no mask."""
        return

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("beta", "iterations", "feasible")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


def _mask(items: Tensor, mask: Tensor | None) -> Tensor:
    return tf.ones(tf.shape(items)[:2], tf.bool) if mask is None else tf.cast(mask, tf.bool)
