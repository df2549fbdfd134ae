"""A model to a SavedModel for TensorFlow Serving, and clients of such a server."""

from vse_zoo.serving.export import Export, export_saved_model
from vse_zoo.serving.signatures import Signature, default_signature, signatures

__all__ = ["Export", "Signature", "default_signature", "export_saved_model", "signatures"]
