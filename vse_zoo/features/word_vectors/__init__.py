"""Vectors of words: from word2vec, fastText and GloVe files and to them, or learned from the captions."""

from vse_zoo.features.word_vectors.learning import learn_word_vectors
from vse_zoo.features.word_vectors.reading import read_word_vectors, word_vector_dim
from vse_zoo.features.word_vectors.vectors import WordVectors
from vse_zoo.features.word_vectors.writing import write_word_vectors

__all__ = ["WordVectors", "learn_word_vectors", "read_word_vectors", "word_vector_dim", "write_word_vectors"]
