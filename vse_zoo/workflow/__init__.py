"""Whole jobs made of the package's parts, one a file: what the command line runs."""

from vse_zoo.workflow.evaluation import evaluate_folder, evaluate_model
from vse_zoo.workflow.features import add_features
from vse_zoo.workflow.quickstart import quickstart
from vse_zoo.workflow.train import recipe_names, train

__all__ = ["add_features", "evaluate_folder", "evaluate_model", "quickstart", "recipe_names", "train"]
