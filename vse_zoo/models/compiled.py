"""`compile` of the zoo's models: what it is given is used, or refused."""

from __future__ import annotations

import inspect
from typing import Any

import keras

from vse_zoo.models.resumable import ResumableModel

__all__ = ["CompiledModel"]

_OF_TARGETS = ("loss", "loss_weights", "metrics", "weighted_metrics")


class CompiledModel(ResumableModel):
    """A model whose losses are layers of its own, which `compile` can replace.

    Args:
        kwargs: those of `keras.Model`.
    """

    loss_arguments: tuple[str, ...] = ()
    """The losses among the constructor's arguments. `compile` and `vse_zoo.load` take them, too."""

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """As `keras.Model.compile`, and with the losses that the model's constructor takes.

        A model that overrides ``compute_loss``, as all models of the zoo do, computes its loss from the batch and has
        no targets. Keras' losses and metrics compare predictions with targets, so such a model refuses them.

        Args:
            optimizer: as in Keras.
            loss: only for a model that doesn't override ``compute_loss``, as the next three.
            loss_weights: see ``loss``.
            metrics: see ``loss``.
            weighted_metrics: see ``loss``.
            args: the further arguments of `keras.Model.compile`.
            kwargs: the further arguments of `keras.Model.compile`; and layers that replace the model's losses, by the
                names in ``loss_arguments``, such as ``ranking_loss``.

        Raises:
            ValueError: an argument would not be used.
            TypeError: there is no such argument, or a loss isn't a layer.
        """
        of_targets = dict(zip(_OF_TARGETS, (loss, loss_weights, metrics, weighted_metrics), strict=True))
        if self.computes_loss_of_batch:
            self._refuse(of_targets)
        known = inspect.signature(keras.Model.compile).parameters
        self.replace_losses(**{name: kwargs.pop(name) for name in list(kwargs) if name not in known})
        super().compile(optimizer, *of_targets.values(), *args, **kwargs)

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles the built model as `get_compile_config` described; its optimiser is then ready to take its state."""
        if self.computes_loss_of_batch:
            # A file may have what `compile` once took without using it.
            config = {**config, **dict.fromkeys(_OF_TARGETS)}
        super().compile_from_config(config)

    @property
    def computes_loss_of_batch(self) -> bool:
        """Whether the class overrides ``compute_loss``, so that Keras' own losses and metrics aren't used."""
        return type(self).compute_loss is not keras.Model.compute_loss

    def replace_losses(self, **losses: Any) -> None:
        """Puts other layers in the place of the model's losses. The model must be compiled afterwards.

        Args:
            losses: layers by the names in ``loss_arguments``; None leaves a loss as it is.

        Raises:
            TypeError: the model has no such loss, or a loss isn't a layer.
        """
        losses = {name: loss for name, loss in losses.items() if loss is not None}
        for name, loss in losses.items():
            self._check_loss(name, loss)
        for name, loss in losses.items():
            before = getattr(self, name)
            if loss is not before:
                # Keras adds no layer to a built model. In the old layer's place, weights also keep their order.
                self._tracker.replace_tracked_value("layers", before, loss)
                setattr(self, name, loss)
                # The traced steps have the old loss.
                self.compiled = False

    def _check_loss(self, name: str, loss: Any) -> None:
        if name not in self.loss_arguments:
            known = ", ".join(self.loss_arguments) or "none"
            raise TypeError(f"{name}: {type(self).__name__} has no such argument. The losses it takes: {known}.")
        if not isinstance(loss, keras.layers.Layer):
            raise TypeError(f"{name}: found {loss!r}, expected a layer, such as one of vse_zoo.losses.")

    def _refuse(self, of_targets: dict[str, Any]) -> None:
        for name, value in of_targets.items():
            if value is not None:
                problem = f"found {value!r}, expected None: {type(self).__name__} computes its loss from the batch"
                own = ", ".join(f"{argument}=…" for argument in self.loss_arguments)
                do = f" To replace the model's own losses, call compile({own})." if own else ""
                raise ValueError(f"{name}: {problem}, and has no targets to compare with.{do}")
