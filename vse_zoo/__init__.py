"""vse_zoo: visual-semantic embeddings for Keras 3."""
