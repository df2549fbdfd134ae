"""What importing, loading, encoding and exporting cost, each in fresh processes: wall and CPU times, and memory.

    python benchmarks/loading.py --repeats 5

prints medians: `import keras`, `import vse_zoo, keras`, which imports all classes of the package, and their difference;
then, within the process that imported them, loading a built-in preset and encoding its first batch of sentences or
rows, and, in another one, exporting it as `vse-zoo export` does. Memory is the most that the process had held by then.
Where other jobs share the cores, the CPU times are the ones to read. Byte code must be there (`python -m compileall`),
or every import compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys

_TIMED = """
import json, resource, time
def clock():
    return time.perf_counter(), time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def spent(at, to):
    return [to[0] - at[0], to[1] - at[1], to[2]]
begin = clock()
{body}
"""
_IMPORT = _TIMED + "print(json.dumps({{'import': spent(begin, clock())}}))\n"
_LOAD = (
    _TIMED
    + """
start = clock()
model = vse_zoo.load({preset!r})
loaded = clock()
if model.languages:
    model.encode_text(["a dog on the beach"] * {batch}, model.languages[0])
else:
    import numpy
    model.encode_x(numpy.ones(({batch}, model.x_dim), "float32"))
encoded = clock()
differences = {{"load": (start, loaded), "encode": (loaded, encoded), "load + encode": (start, encoded)}}
print(json.dumps({{name: spent(*times) for name, times in differences.items()}}))
"""
)
_EXPORT = (
    _TIMED
    + """
import tempfile
from pathlib import Path
from vse_zoo.workflow.export import export_run
with tempfile.TemporaryDirectory() as folder:
    start = clock()
    export_run({preset!r}, Path(folder) / "served")
    print(json.dumps({{"export": spent(start, clock())}}))
"""
)
_OURS = "import vse_zoo, keras"
"""`import vse_zoo` alone imports no class before one is used."""
Times = dict[str, list[float]]


def run(code: str) -> Times:
    """What a fresh process prints last: seconds (wall, CPU) and MiB by name."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def medians(runs: list[Times]) -> Times:
    return {name: [statistics.median(run[name][column] for run in runs) for column in range(3)] for name in runs[0]}


def show(what: str, times: list[float]) -> None:
    print(f"{what:<66}{times[0]:8.2f}{times[1]:8.2f}" + "".join(f"{memory:8.0f}" for memory in times[2:]), flush=True)


def compare_imports(repeats: int) -> None:
    # In turns, so that a busy minute falls on both.
    pairs = [[run(_IMPORT.format(body=body)) for body in ("import keras", _OURS)] for _ in range(repeats)]
    keras, ours = (medians([pair[side] for pair in pairs])["import"] for side in (0, 1))
    show("import keras", keras)
    show(_OURS, ours)
    show("  difference of the medians", [ours[clock] - keras[clock] for clock in (0, 1)])
    show("  ratio of the medians", [ours[clock] / keras[clock] for clock in (0, 1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--presets", nargs="*", default=["context_attention_flickr8k_en_de", "two_way_net_flickr8k"])
    options = parser.parse_args()
    print(f"{'seconds, median of ' + str(options.repeats):<66}{'wall':>8}{'CPU':>8}{'MiB':>8}")
    compare_imports(options.repeats)
    for preset in options.presets:
        code = _LOAD.format(body=_OURS, preset=preset, batch=options.batch)
        exporting = _EXPORT.format(body=_OURS, preset=preset)
        for each in (code, exporting):
            for what, times in medians([run(each) for _ in range(options.repeats)]).items():
                show(f"{preset}: {what}", times)


if __name__ == "__main__":
    main()
