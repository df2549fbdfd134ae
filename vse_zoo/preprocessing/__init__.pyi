"""Strings and features to model inputs, in TensorFlow ops that are saved and exported with the model."""

from .pieces import PiecePreprocessor
from .text import TextPreprocessor

__all__ = ["PiecePreprocessor", "TextPreprocessor"]
