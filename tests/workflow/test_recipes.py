"""Every recipe can be run without naming a configuration, as the README does."""

from __future__ import annotations

import inspect
import runpy

import pytest

from vse_zoo import registry
from vse_zoo.registry import recipe_names


@pytest.mark.parametrize("name", recipe_names())
def test_the_default_configuration_is_there(name: str) -> None:
    main = runpy.run_path(str(registry.recipes() / f"{name}.py"))["main"]
    default = inspect.signature(main).parameters["config"].default
    assert (registry.recipes() / "configs" / name / f"{default}.toml").is_file()
