"""Optimal transport between sets as a similarity (Cross-domain alignment with optimal transport, S_OT)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from vse_zoo.layers.set_similarity import SetSimilarity, mask_of
from vse_zoo.ops import set_scores, transport_plan

__all__ = ["OTSimilarity"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class OTSimilarity(SetSimilarity):
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
        regions_mask: (N, R) bool, True on real regions. By default it is the Keras mask that ``regions`` carries, and
            without one all regions are real.
        words_mask: (M, T) bool, the same for words.
        return_plans: also return the plans, which are N·M·R·T numbers.
        region_mask, word_mask: older names of the two masks. A mask under its older name comes first.

    Returns:
        (N, M) float32 in [−2, 0]; with ``return_plans`` the pair ((N, M), (N, M, R, T)). A float64 policy changes the
        dtype to float64; the plans are computed in float32 all the same.
    """

    def __init__(self, beta: float = 0.5, iterations: int = 20, feasible: bool = False, **kwargs: Any) -> None:
        super().__init__(beta, iterations, **kwargs)
        self.feasible = feasible

    def call(
        self,
        regions: Tensor,
        words: Tensor,
        regions_mask: Tensor | None = None,
        words_mask: Tensor | None = None,
        return_plans: bool = False,
        region_mask: Tensor | None = None,
        word_mask: Tensor | None = None,
    ) -> Any:
        """Scores of all pairs; shapes in the class's documentation."""
        masks = mask_of(regions, region_mask, regions_mask), mask_of(words, word_mask, words_mask)
        solver: dict[str, Any] = {"beta": self.beta, "iterations": self.iterations, "feasible": self.feasible}
        scores = tf.cast(set_scores(regions, masks[0], words, masks[1], **solver).transport, self.compute_dtype)
        return (scores, self._plans(regions, words, *masks, solver)) if return_plans else scores

    def _plans(self, regions: Tensor, words: Tensor, region_mask: Tensor, word_mask: Tensor, solver: Any) -> Tensor:
        cost = 1.0 - tf.einsum("nre,mte->nmrt", tf.cast(regions, tf.float32), tf.cast(words, tf.float32))
        shape = tf.shape(cost)
        plans = transport_plan(
            tf.reshape(cost, tf.concat([[-1], shape[2:]], 0)),
            tf.repeat(region_mask, shape[1], axis=0),
            tf.tile(word_mask, [shape[0], 1]),
            **solver,
        ).plan
        return tf.cast(tf.reshape(plans, shape), self.compute_dtype)

    def compute_output_spec(self, regions: Tensor, words: Tensor, return_plans: bool = False, **masks: Any) -> Any:
        """Shapes and dtypes of what `call` returns."""
        scores = super().compute_output_spec(regions, words)
        shape = (*scores.shape, regions.shape[1], words.shape[1])
        return (scores, keras.KerasTensor(shape, dtype=self.compute_dtype)) if return_plans else scores

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("beta", "iterations", "feasible")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
