"""Losses over score matrices and attention heads, as layers: they may hold weights and are saved with their model."""

from vse_zoo.losses.contrastive import ContrastiveLoss
from vse_zoo.losses.diversity import DiversityLoss
from vse_zoo.losses.triplet import TripletLoss

__all__ = ["ContrastiveLoss", "DiversityLoss", "TripletLoss"]
