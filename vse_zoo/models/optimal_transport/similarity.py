"""``S = S_cos + λ S_OT`` of all pairs of sets (Cross-domain alignment with optimal transport)."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from vse_zoo.layers.set_similarity import SetSimilarity, mask_of
from vse_zoo.ops import set_scores

__all__ = ["AlignmentSimilarity"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class AlignmentSimilarity(SetSimilarity):
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
        regions_mask: (N, R) bool, True on real regions. By default it is the Keras mask that ``regions`` carries, and
            without one all regions are real.
        words_mask: (M, T) bool, the same for words.
        feasible: round the plans so that their marginals are exact, as everywhere but in training.
        region_mask, word_mask: older names of the two masks. A mask under its older name comes first.

    Returns:
        (N, M) float32. A float64 policy changes the dtype to float64; the scores are computed in float32 all the same.
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
        super().__init__(beta, iterations, **kwargs)
        if aggregation not in ("text_image", "image_text") or reduction not in ("sum", "mean"):
            expected = "'text_image' or 'image_text', and 'sum' or 'mean'"
            raise ValueError(f"aggregation, reduction: found {aggregation!r}, {reduction!r}; expected {expected}.")
        self.transport_weight = transport_weight
        self.aggregation = aggregation
        self.reduction = reduction

    def call(
        self,
        regions: Tensor,
        words: Tensor,
        regions_mask: Tensor | None = None,
        words_mask: Tensor | None = None,
        feasible: bool = False,
        region_mask: Tensor | None = None,
        word_mask: Tensor | None = None,
    ) -> Tensor:
        """Scores of all pairs; shapes in the class's documentation."""
        regions_mask, words_mask = mask_of(regions, region_mask, regions_mask), mask_of(words, word_mask, words_mask)
        by_word = self.aggregation == "text_image"
        found = set_scores(
            regions,
            regions_mask,
            words,
            words_mask,
            by_word=by_word,
            transport=self.transport_weight != 0,
            beta=self.beta,
            iterations=self.iterations,
            feasible=feasible,
        )
        best = found.best
        if self.reduction == "mean":
            counts = tf.reduce_sum(tf.cast(words_mask if by_word else regions_mask, tf.float32), axis=1)
            best = best / tf.maximum(counts[None, :] if by_word else counts[:, None], 1.0)
        return tf.cast(best + self.transport_weight * found.transport, self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        names = ("transport_weight", "aggregation", "reduction", "beta", "iterations")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
