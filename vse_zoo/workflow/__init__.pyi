"""Whole jobs made of the package's parts, one a file: what the command line runs."""

from .evaluation import evaluate_folder, evaluate_model
from .features import add_features
from .quickstart import quickstart
from .train import train

__all__ = ["add_features", "evaluate_folder", "evaluate_model", "quickstart", "train"]
