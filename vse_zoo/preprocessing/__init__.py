"""Strings and features to model inputs, in TensorFlow ops that are saved and exported with the model."""

from vse_zoo.preprocessing.pieces import PiecePreprocessor
from vse_zoo.preprocessing.text import TextPreprocessor

__all__ = ["PiecePreprocessor", "TextPreprocessor"]
