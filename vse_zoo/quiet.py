"""TensorFlow's start, without what it says about absent GPUs."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["without_gpu_notices"]

_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_DRIVERS = (Path("/proc/driver/nvidia"), Path("/dev/dxg"))
"""One of them is there with an NVIDIA driver: on Linux, on Windows' subsystem for it."""
_NOTICE = re.compile(
    rb"before absl::InitializeLog|oneDNN custom operations are on|cudart_stub\.cc|failed call to cuInit"
    rb"|Unable to register cu\w+ factory|optimized to use available CPU|To enable the following instructions"
)


@contextmanager
def without_gpu_notices() -> Iterator[None]:
    """Imports of TensorFlow inside say nothing on standard error of GPUs that a machine without an NVIDIA driver lacks.

    TensorFlow does so whatever its log level is. What else is said is shown at the end, also after an error. Set
    TF_CPP_MIN_LOG_LEVEL to 0 or 1 to see all of it.
    """
    told = int(os.environ.setdefault(_LEVEL, "2")) < 2
    if told or any(driver.exists() for driver in _DRIVERS) or "tensorflow" in sys.modules:
        yield
        return
    try:
        shown = os.dup(2)
    except OSError:  # a process without standard error
        yield
        return
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
            if "tensorflow" in sys.modules:  # says the rest when it looks for devices: let it do so now
                sys.modules["tensorflow"].config.list_physical_devices()
        finally:
            os.dup2(shown, 2)
            os.close(shown)
            kept.seek(0)
            for line in kept:
                if not _NOTICE.search(line):
                    os.write(2, line)
