"""What the configurations of all models share: sections that refuse unknown fields, and how a file is read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vse_zoo.encodings import read_text
from vse_zoo.errors import ConfigError, DataError, located

__all__ = ["Section", "TrainConfig", "load_config"]


class Section(BaseModel):
    """A part of a configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TrainConfig(Section):
    """How long is trained, and from which seed."""

    epochs: int = Field(20, gt=0)
    batch_size: int = Field(128, gt=1)
    # The dropout states are 1,000 times the seed, in 32 bits.
    seed: int = Field(0, ge=0, le=4_000_000)


C = TypeVar("C", bound=Section)


def load_config(path: Path, kind: type[C], **overrides: Any) -> C:
    """Reads a TOML configuration.

    Args:
        path: the file.
        kind: the class of the configuration, such as `ContextAttentionConfig`.
        overrides: values for the [train] section that replace the file's, None for "keep".

    Raises:
        ConfigError: names the file, the field, what was found and what is expected.
    """
    try:
        values = tomllib.loads(read_text(path).text)
    except DataError as error:
        raise ConfigError(str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(located(path, f"not valid TOML ({error}).")) from None
    train = values.get("train", {})
    if isinstance(train, dict):
        train = {**train, **{name: value for name, value in overrides.items() if value is not None}}
    try:
        return kind.model_validate({**values, "train": train})
    except ValidationError as error:
        raise ConfigError(_message(path, error)) from None


def _message(path: Path, error: ValidationError) -> str:
    first = error.errors()[0]
    found = "" if isinstance(first["input"], dict) else f"found {first['input']!r}: "
    field = ".".join(str(part) for part in first["loc"])
    return located(path, f"{found}{first['msg'][:1].lower()}{first['msg'][1:]}.", field=field)
