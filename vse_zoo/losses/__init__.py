"""Losses over score matrices, heads and representations, as layers: they may hold weights, saved with their model."""

from vse_zoo.losses.canonical_distance import CanonicalDistance
from vse_zoo.losses.contrastive import ContrastiveLoss
from vse_zoo.losses.decorrelation import Decorrelation
from vse_zoo.losses.diversity import DiversityLoss
from vse_zoo.losses.squared_distance import SquaredDistance
from vse_zoo.losses.triplet import TripletLoss

__all__ = ["CanonicalDistance", "ContrastiveLoss", "Decorrelation", "DiversityLoss", "SquaredDistance", "TripletLoss"]
