"""TensorFlow's start on the command line, without what it says about absent GPUs."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["hide_gpu_notices"]

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_DRIVERS = (Path("/proc/driver/nvidia"), Path("/dev/dxg"))
"""One of them is there with an NVIDIA driver: on Linux, on Windows' subsystem for it."""
_NOTICE = re.compile(
    rb"before absl::InitializeLog|oneDNN custom operations are on|cudart_stub\.cc|failed call to cuInit"
    rb"|Unable to register cu\w+ factory|optimized to use available CPU|To enable the following instructions"
)


def hide_gpu_notices() -> None:
    """Makes TensorFlow, whenever it is imported, say nothing on standard error of GPUs that the machine lacks.

    TensorFlow does so whatever its log level is. What else it says is shown when its import ends, also after an error.
    Nothing is hidden on a machine with an NVIDIA driver, or where TF_CPP_MIN_LOG_LEVEL is 0 or 1.

    It is for the command line alone. A library must not touch the standard error of the program that imports it.
    """
    told = int(os.environ.setdefault(_LEVEL, "2")) < 2
    if not told and not any(driver.exists() for driver in _DRIVERS) and "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _QuietTensorFlow())


class _QuietTensorFlow(MetaPathFinder):
    """Finds TensorFlow once, by the other finders, and lets it load quietly."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of TensorFlow, which will be loaded quietly; None for every other module."""
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_quietly(module: ModuleType) -> None:
                with _without_notices():
                    load(module)
                    # It says the rest when it looks for devices.
                    module.config.list_physical_devices()

            spec.loader.exec_module = load_quietly  # type: ignore[method-assign]
        return spec


@contextmanager
def _without_notices() -> Iterator[None]:
    """What is written to file descriptor 2 inside is written at the end, without the notices."""
    try:
        shown = os.dup(2)
    except OSError:  # a process without standard error
        yield
        return
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(shown, 2)
            os.close(shown)
            kept.seek(0)
            for line in kept:
                if not _NOTICE.search(line):
                    os.write(2, line)
