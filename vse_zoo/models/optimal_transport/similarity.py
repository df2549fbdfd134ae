"""``S = S_cos + λ S_OT`` of all pairs of sets (Cross-domain alignment with optimal transport)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from vse_zoo.ops import set_scores
from vse_zoo.ops.transport import check_solver

__all__ = ["AlignmentSimilarity"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class AlignmentSimilarity(keras.layers.Layer):
    """``S = S_cos + λ S_OT``, both of one computation of the inner products.

    ``S_cos`` is ``Σ_m max_k s_km`` ("text_image") or ``Σ_k max_m s_km`` ("image_text"), or the mean instead of the sum.

    Args:
        transport_weight: λ; 0 leaves the transport out.
        aggregation: "text_image" or "image_text".
        reduction: "sum", as in the paper, or "mean", as in its released code.
        beta: β, the proximal step of IPOT.
        iterations: of IPOT.

    Call arguments:
        regions: (N, R, E) unit vectors.
        words: (M, T, E) unit vectors.
        region_mask: (N, R) bool; word_mask: (M, T) bool.
        feasible: round the plans so that their marginals are exact, as everywhere but in training.

    Returns:
        (N, M) float32.
    """

    def __init__(
        self,
        transport_weight: float = 1.5,
        aggregation: str = "text_image",
        reduction: str = "mean",
        beta: float = 0.5,
        iterations: int = 20,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        check_solver(beta, iterations)
        if aggregation not in ("text_image", "image_text") or reduction not in ("sum", "mean"):
            expected = "'text_image' or 'image_text', and 'sum' or 'mean'"
            raise ValueError(f"aggregation, reduction: found {aggregation!r}, {reduction!r}; expected {expected}.")
        self.transport_weight = transport_weight
        self.aggregation = aggregation
        self.reduction = reduction
        self.beta = beta
        self.iterations = iterations
        self.supports_masking = True
        self.built = True

    def call(
        self, regions: Tensor, words: Tensor, region_mask: Tensor, word_mask: Tensor, feasible: bool = False
    ) -> Tensor:
        """Scores of all pairs; shapes in the class's documentation."""
        by_word = self.aggregation == "text_image"
        found = set_scores(
            regions,
            region_mask,
            words,
            word_mask,
            by_word=by_word,
            transport=self.transport_weight != 0,
            beta=self.beta,
            iterations=self.iterations,
            feasible=feasible,
        )
        best = found.best
        if self.reduction == "mean":
            counts = tf.reduce_sum(tf.cast(word_mask if by_word else region_mask, tf.float32), axis=1)
            best = best / tf.maximum(counts[None, :] if by_word else counts[:, None], 1.0)
        return best + self.transport_weight * found.transport

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """Scores need no mask."""
        return

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("transport_weight", "aggregation", "reduction", "beta", "iterations")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
