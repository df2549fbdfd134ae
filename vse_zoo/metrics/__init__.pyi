"""What two representations share and how many directions one of them uses: streaming Keras metrics."""

from .canonical import CanonicalCorrelation
from .correlation import NeuronCorrelation
from .moments import Moments
from .spectrum import EffectiveRank, PrincipalDirections, RepresentationVariance

__all__ = [
    "CanonicalCorrelation",
    "EffectiveRank",
    "Moments",
    "NeuronCorrelation",
    "PrincipalDirections",
    "RepresentationVariance",
]
