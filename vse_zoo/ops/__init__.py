"""Optimal transport between sets, masked and batched, in TensorFlow."""
