"""Positions by t-SNE: what is alike in angle is near, whatever the lengths; equal vectors don't fail."""

from __future__ import annotations

import numpy as np

from vse_zoo.evaluation.tsne import tsne_points


def test_groups_of_like_angle_stay_together() -> None:
    random = np.random.default_rng(0)
    centres = np.eye(3, 8)
    vectors = np.repeat(centres, 12, axis=0) + 0.05 * random.standard_normal((36, 8))
    points = tsne_points(vectors * random.uniform(0.1, 10, (36, 1)))  # lengths don't matter to the cosine
    groups = points.reshape(3, 12, 2)
    middles = groups.mean(axis=1)
    nearest = np.linalg.norm(points[:, None] - middles, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest, np.repeat(np.arange(3), 12))


def test_a_seed_gives_one_map() -> None:
    vectors = np.random.default_rng(1).standard_normal((12, 5))
    np.testing.assert_array_equal(tsne_points(vectors, seed=3), tsne_points(vectors, seed=3))


def test_few_and_equal_vectors() -> None:
    assert np.isfinite(tsne_points(np.ones((4, 2)))).all()
    assert tsne_points(np.eye(4)).shape == (4, 2)
