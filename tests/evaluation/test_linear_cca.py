"""LinearCCA against SciPy's angles between subspaces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles

from vse_zoo.evaluation.linear_cca import LinearCCA

RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.normal(2, 1, size=(60, 5))
OWNERS = np.repeat(np.arange(60), 2)
TEXTS = np.maximum(IMAGES[OWNERS, :4] - 2 + 0.5 * RANDOM.normal(size=(120, 4)), 0)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_without_ridges_the_correlations_are_the_cosines_of_the_angles(kind: type) -> None:
    cca = LinearCCA(IMAGES, kind(TEXTS), OWNERS, text_ridge=1e-10, directions=4, image_ridge=1e-10)
    x = IMAGES[OWNERS]
    angles = subspace_angles(x - x.mean(0), TEXTS - TEXTS.mean(0))
    np.testing.assert_allclose(cca.correlations, np.sort(np.cos(angles))[::-1], atol=1e-5)


def test_rows_are_unit_vectors_and_own_pairs_are_near() -> None:
    cca = LinearCCA(IMAGES, TEXTS, OWNERS, text_ridge=1e-3, directions=4)
    images, texts = cca.image(IMAGES), cca.text(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(images, axis=1), 1, atol=1e-9)
    scores = images @ texts.T
    own = scores[OWNERS, np.arange(120)]
    assert own.mean() > scores.mean() + 0.3
