"""Losses over score matrices, heads and representations, as layers: they may hold weights, saved with their model."""

from .canonical_distance import CanonicalDistance
from .contrastive import ContrastiveLoss
from .decorrelation import Decorrelation
from .diversity import DiversityLoss
from .squared_distance import SquaredDistance
from .triplet import TripletLoss

__all__ = ["CanonicalDistance", "ContrastiveLoss", "Decorrelation", "DiversityLoss", "SquaredDistance", "TripletLoss"]
