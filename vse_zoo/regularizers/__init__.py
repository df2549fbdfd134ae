"""Weight regularisers."""

from vse_zoo.regularizers.inverse_gamma import InverseGamma

__all__ = ["InverseGamma"]
