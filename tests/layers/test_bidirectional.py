"""The layer that two directions are copied from lives as long as they do."""

from __future__ import annotations

import gc
import weakref

import keras
import pytest

from vse_zoo.layers.bidirectional import bidirectional
from vse_zoo.models.context_attention.encoders import SentenceEncoder
from vse_zoo.models.optimal_transport.encoders import WordEncoder


def test_the_copied_layer_is_freed_with_its_copies() -> None:
    layer = keras.layers.GRU(4)
    kept = weakref.ref(layer)
    both = bidirectional(layer, merge_mode="ave")
    del layer
    gc.collect()
    assert kept() is not None
    assert both.merge_mode == "ave"
    del both
    gc.collect()  # frees the copies, which lets go of the layer
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("kind", [keras.layers.LSTM, keras.layers.GRU])
def test_encoders_keep_the_copied_layer(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a `.keras` file loads, Keras gave an encoder the layer of another one whose `id` Python had used again."""
    made: list[weakref.ref[keras.layers.Layer]] = []

    def create(self: keras.layers.Layer, *arguments: object, **keywords: object) -> None:
        made.append(weakref.ref(self))
        init(self, *arguments, **keywords)

    init = kind.__init__
    monkeypatch.setattr(kind, "__init__", create)
    if kind is keras.layers.LSTM:
        encoder = SentenceEncoder(9, word_dim=4, units=4, heads=1, attention_dim=2)
    else:
        encoder = WordEncoder(9, word_dim=4, units=4)
    gc.collect()
    assert [layer() is not None for layer in made] == [True] * 3  # the copied layer and two directions
    assert encoder.recurrence.forward_layer is not encoder.recurrence.backward_layer
