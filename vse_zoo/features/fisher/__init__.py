"""Sentences as Fisher vectors of word vectors (Klein, Lev, Sadeh and Wolf, CVPR 2015)."""

from vse_zoo.features.fisher.gaussian import fit_gaussian_mixture
from vse_zoo.features.fisher.hybrid import fit_hybrid_mixture
from vse_zoo.features.fisher.layer import FisherVectors
from vse_zoo.features.fisher.matrix import fisher_matrix
from vse_zoo.features.fisher.mixture import Mixture
from vse_zoo.features.fisher.sentences import fit_fisher_vectors, vectors_of_words

__all__ = [
    "FisherVectors",
    "Mixture",
    "fisher_matrix",
    "fit_fisher_vectors",
    "fit_gaussian_mixture",
    "fit_hybrid_mixture",
    "vectors_of_words",
]
