"""What two representations share and how many directions one of them uses: streaming Keras metrics."""

from vse_zoo.metrics.canonical import CanonicalCorrelation
from vse_zoo.metrics.correlation import NeuronCorrelation
from vse_zoo.metrics.moments import Moments
from vse_zoo.metrics.spectrum import EffectiveRank, PrincipalDirections, RepresentationVariance

__all__ = [
    "CanonicalCorrelation",
    "EffectiveRank",
    "Moments",
    "NeuronCorrelation",
    "PrincipalDirections",
    "RepresentationVariance",
]
