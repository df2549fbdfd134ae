"""Multi-head attention with learned context vectors (Huang et al., EMNLP 2019, eq. 1)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from vse_zoo.layers.full_precision import full_precision

__all__ = ["ContextAttention"]

Tensor = Any


@keras.saving.register_keras_serializable(package="vse_zoo")
class ContextAttention(keras.layers.Layer):
    """K heads, each a softmax-weighted mean of the items, queried by a learned context vector.

    For head k and items x_i: ``a_i = softmax_i( tanh(W_c c)ᵀ tanh(W x_i) )`` and ``head = Σ_i a_i x_i``, with
    ``W (D, A)``, ``W_c (C, A)`` and ``c (C)`` of the head's own (eq. 1 of the paper).

    Args:
        heads: number K of heads.
        context_dim: length C of the context vectors.
        attention_dim: length A of the space in which items and context meet; ``context_dim`` by default.

    Call arguments:
        items: (B, N, D), the regions of an image or the word states of a sentence.
        mask: (B, N) bool, True on real items; padding gets weight exactly 0, and a row without items gives zeros.
        return_weights: also return the weights.

    Returns:
        (B, K, D); with ``return_weights`` the pair ((B, K, D), (B, K, N)), the weights in float32, or float64
        under a float64 policy.
    """

    def __init__(self, heads: int = 3, context_dim: int = 512, attention_dim: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if heads < 1 or context_dim < 1:
            raise ValueError(f"heads and context_dim must be at least 1, got {heads} and {context_dim}.")
        self.heads = heads
        self.context_dim = context_dim
        self.attention_dim = attention_dim or context_dim
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates W as one (D, K·A) kernel, W_c (K, C, A) and the context vectors (K, C)."""
        width = self.heads * self.attention_dim
        self.kernel = self.add_weight(shape=(input_shape[-1], width), initializer="glorot_uniform", name="kernel")
        shape = (self.heads, self.context_dim, self.attention_dim)
        self.context_kernel = self.add_weight(shape=shape, initializer="glorot_uniform", name="context_kernel")
        normal = keras.initializers.RandomNormal(stddev=0.05)
        self.context = self.add_weight(shape=shape[:2], initializer=normal, name="context")
        self.built = True

    def call(self, items: Tensor, mask: Tensor | None = None, return_weights: bool = False) -> Tensor:
        """Attends to the items; shapes in the class's documentation."""
        weights = self._weights(items, mask)
        heads = ops.einsum("bkn,bnd->bkd", ops.cast(weights, items.dtype), items)
        return (heads, weights) if return_weights else heads

    def _weights(self, items: Tensor, mask: Tensor | None) -> Tensor:
        query = ops.tanh(ops.einsum("kc,kca->ka", self.context, self.context_kernel))
        keys = ops.tanh(ops.matmul(items, self.kernel))
        keys = ops.reshape(keys, (-1, ops.shape(items)[1], self.heads, self.attention_dim))
        logits = ops.cast(ops.einsum("bnka,ka->bkn", keys, query), self._weights_dtype)
        if mask is None:
            return ops.softmax(logits, axis=-1)
        mask = ops.expand_dims(ops.cast(mask, "bool"), 1)
        return ops.where(mask, ops.softmax(ops.where(mask, logits, -1e30), axis=-1), 0.0)

    @property
    def _weights_dtype(self) -> str:
        return str(full_precision(self.dtype_policy).compute_dtype)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """The shape (B, K, D) of the heads."""
        return (input_shape[0], self.heads, input_shape[-1])

    def compute_output_spec(self, items: Tensor, mask: Tensor | None = None, return_weights: bool = False) -> Any:
        """Shapes and dtypes of what `call` returns."""
        heads = keras.KerasTensor(self.compute_output_shape(items.shape), dtype=self.compute_dtype)
        shape = (items.shape[0], self.heads, items.shape[1])
        return (heads, keras.KerasTensor(shape, dtype=self._weights_dtype)) if return_weights else heads

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor | None = None) -> None:
        """The heads need no mask: every head exists."""
        return

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        sizes = {"heads": self.heads, "context_dim": self.context_dim, "attention_dim": self.attention_dim}
        return {**super().get_config(), **sizes}
