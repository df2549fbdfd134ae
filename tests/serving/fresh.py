"""Answers a request from a SavedModel with nothing but TensorFlow: fresh.py MODEL SIGNATURE INPUTS.npz OUTPUTS.npz."""

import sys

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401 (its ops)

model, signature, inputs, outputs = sys.argv[1:]
assert not {"vse_zoo", "keras_hub"} & set(sys.modules)
request = {name: tf.constant(value) for name, value in np.load(inputs).items()}
found = tf.saved_model.load(model).signatures[signature](**request)
assert "vse_zoo" not in sys.modules
np.savez(outputs, **{name: value.numpy() for name, value in found.items()})
