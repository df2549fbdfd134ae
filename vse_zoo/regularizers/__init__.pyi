"""Weight regularisers."""

from .inverse_gamma import InverseGamma

__all__ = ["InverseGamma"]
