"""Keras' saving of compiled models, with all that training needs to go on to the last bit."""

from __future__ import annotations

import inspect
from typing import Any

import keras
import numpy as np

from vse_zoo.models.replicated import ReplicatedModel

__all__ = ["ResumableModel"]

_SEEDS = "random_states"


class ResumableModel(ReplicatedModel):
    """A model that comes back compiled from a .keras file, and trains on as if it had never stopped.

    Keras keeps what `compile` was given and the optimiser's state. This class adds what Keras leaves out: the random
    states of dropout, which layers are frozen, which weights don't decay, and whether the loss is scaled.

    Args:
        kwargs: those of `keras.Model`.
    """

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """As `keras.Model.compile`."""
        super().compile(*args, **kwargs)
        given = inspect.signature(keras.Model.compile).bind(self, *args, **kwargs).arguments
        self._scales_loss = given.get("auto_scale_loss", True)

    def get_compile_config(self) -> dict[str, Any]:
        """What the model was compiled with, which of its layers are trained, and which weights don't decay."""
        config = super().get_compile_config()
        if not config:
            return {}
        return {
            **config,
            "auto_scale_loss": self._scales_loss,
            "trainable": [layer.trainable for layer in self._flatten_layers()],
            "without_decay": _without_decay(self.optimizer, self.trainable_variables),
        }

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles the built model as `get_compile_config` described; its optimiser is then ready to take its state."""
        options = keras.saving.deserialize_keras_object(config)
        _freeze(self._flatten_layers(), options.pop("trainable", []))
        kept = options.pop("without_decay", None)
        if kept and options["optimizer"] is not None:
            _keep_from_decay(options["optimizer"], self.trainable_variables, **kept)
        self.compile(**options)
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def save_own_variables(self, store: Any) -> None:
        """As in Keras; of a compiled model also the random states."""
        super().save_own_variables(store)
        states = self._random_states()
        if self.compiled and states:
            store[_SEEDS] = np.stack([state.numpy() for state in states])

    def load_own_variables(self, store: Any) -> None:
        """As in Keras; random states are taken over if the file has them."""
        super().load_own_variables({name: store[name] for name in store.keys() if name != _SEEDS})  # noqa: SIM118
        states = self._random_states()
        found = store[_SEEDS] if _SEEDS in store.keys() else ()  # noqa: SIM118
        if len(found) == len(states):
            for state, value in zip(states, found, strict=True):
                state.assign(value)

    def _random_states(self) -> list[Any]:
        weights = {id(weight) for weight in self.weights}
        return [variable for variable in self.variables if id(variable) not in weights]


def _freeze(layers: list[Any], trainable: list[bool]) -> None:
    """Sets which layers are trained. Setting it for a layer sets it for those within, which come after it."""
    if len(layers) == len(trainable):
        for layer, value in zip(layers, trainable, strict=True):
            if layer.trainable != value:
                layer.trainable = value


def _without_decay(optimizer: Any, variables: list[Any]) -> dict[str, Any]:
    """What `exclude_from_weight_decay` was told: a pattern of names, and places in the list of trained weights."""
    optimizer = _inner(optimizer)
    pattern = getattr(optimizer, "_exclude_from_weight_decay_pattern", None)
    chosen = getattr(optimizer, "_exclude_from_weight_decay", ())
    places = [place for place, variable in enumerate(variables) if chosen and optimizer._var_key(variable) in chosen]
    return {"names": pattern.pattern if pattern else None, "places": places}


def _keep_from_decay(optimizer: Any, variables: list[Any], names: str | None, places: list[int]) -> None:
    chosen = [variables[place] for place in places]
    _inner(optimizer).exclude_from_weight_decay(var_list=chosen, var_names=[names] if names else None)


def _inner(optimizer: Any) -> Any:
    """The optimiser that a `LossScaleOptimizer` leaves the update to, or the optimiser itself."""
    return getattr(optimizer, "inner_optimizer", optimizer)
