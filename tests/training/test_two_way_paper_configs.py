"""The paper's configurations: parameters as its layers give them, and a step at full size within 8 GiB."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from vse_zoo import registry
from vse_zoo.training import TwoWayNetConfig, load_config

CONFIGS = registry.recipes() / "configs" / "two_way_net"

# Sizes of the views and the hidden layers, and the number of parts of the last map: section 4 of the paper.
PAPER = {
    "mnist": ((392, 392, 50, 392, 392), 1),
    "xrmb": ((273, 560, 280, 112, 680, 1365, 112), 1),
    "flickr8k": ((4096, 2000, 3000, 4000, 36000), 1),
    "flickr30k": ((4096, 2000, 3000, 16000, 36000), 2),
    "coco": ((4096, 2000, 3000, 16000, 36000), 2),
}

STEP = """
import json, resource, sys
import keras, numpy as np
from pathlib import Path
from vse_zoo.models import TwoWayNet
from vse_zoo.training import TwoWayNetConfig, load_config
settings = load_config(Path(sys.argv[1]), TwoWayNetConfig)
x_dim, y_dim = int(sys.argv[2]), int(sys.argv[3])
model = TwoWayNet(x_dim=x_dim, y_dim=y_dim, **settings.network())
model.build()
model.compile(settings.optimizer.optimizer(100, settings.train.epochs), jit_compile=settings.sentences is None)
random = np.random.default_rng(0)
batch = {name: random.normal(size=(settings.train.batch_size, size)).astype("float32") / size**0.5
         for name, size in (("x", x_dim), ("y", y_dim))}
loss = model.train_on_batch(batch)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
trained = int(sum(np.prod(weight.shape) for weight in model.trainable_weights))
print(json.dumps({"loss": float(np.ravel(loss)[0]), "trained": trained, "peak_gib": peak,
                  "position": model.channels.architecture.position}))
"""


def parameters(sizes: tuple[int, ...], parts: int) -> int:
    """Kernels once, two biases a map, γ and β of both channels on every hidden layer."""
    pairs = list(pairwise(sizes))
    kernels = sum(a * b for a, b in pairs[:-1]) + pairs[-1][0] * pairs[-1][1] // parts
    return kernels + sum(a + b for a, b in pairs) + 4 * sum(sizes[1:-1])


@pytest.mark.parametrize("name", PAPER)
def test_layers_and_weights_are_the_papers(name: str) -> None:
    sizes, parts = PAPER[name]
    settings = load_config(CONFIGS / f"{name}.toml", TwoWayNetConfig)
    assert settings.model.layer_sizes == sizes[1:-1]
    assert (settings.model.parts or (1,))[-1] == parts
    assert settings.model.weight_decay == settings.model.gamma_strength == 0.05
    assert settings.model.decorrelation_weight == (0.05 if name in ("mnist", "xrmb") else 0.5)
    if settings.sentences:
        assert 2 * 2 * settings.sentences.components * settings.sentences.word_dim == sizes[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnist", "xrmb"])
def test_a_step_of_the_small_networks(name: str) -> None:
    check_step(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAPER if name not in ("mnist", "xrmb")])
def test_a_step_of_the_large_networks_takes_less_than_8_gib(name: str) -> None:
    check_step(name)


def check_step(name: str) -> None:
    sizes, parts = PAPER[name]
    command = [sys.executable, "-c", STEP, str(CONFIGS / f"{name}.toml"), str(sizes[0]), str(sizes[-1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["trained"] == parameters(sizes, parts)
    assert found["loss"] > 0
    assert found["peak_gib"] < 8
    assert sizes[found["position"]] == {"mnist": 50, "xrmb": 112}.get(name, 3000)
