"""Every source of raw data: parameters with help for the command line, an example, a typed result."""

from __future__ import annotations

import inspect
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest

from vse_zoo.data import sources


def test_there_are_sources() -> None:
    captioned = {"folder", "flickr8k", "multi30k", "flickr30k_entities", "karpathy", "coco_captions"}
    assert captioned | {"two_view", "mnist_halves"} <= set(sources.names())


@pytest.mark.parametrize("name", sources.names())
def test_parameters_have_types_and_help(name: str) -> None:
    reader = sources.get(name)
    hints = get_type_hints(reader, include_extras=True)
    parameters = inspect.signature(reader).parameters
    assert parameters
    for parameter in parameters:
        assert parameter in hints, f"{name}: {parameter} has no type"
        assert get_origin(hints[parameter]) is Annotated, f"{name}: {parameter} needs Annotated[type, 'help']"
        texts = [extra for extra in get_args(hints[parameter])[1:] if isinstance(extra, str)]
        assert texts, f"{name}: {parameter} has no help"
        assert texts[0].strip().endswith("."), f"{name}: {parameter}'s help is a sentence"


@pytest.mark.parametrize("name", sources.names())
def test_the_documentation_has_an_example(name: str) -> None:
    assert f"vse-zoo prepare {name} " in (inspect.getdoc(sources.get(name)) or "")


@pytest.mark.parametrize("name", sources.names())
def test_a_reader_returns_a_source(name: str) -> None:
    assert get_type_hints(sources.get(name))["return"] in (sources.Source, sources.TwoViewSource)
