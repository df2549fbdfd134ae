"""Commands that compute nothing, and `import vse_zoo`, import neither TensorFlow nor Keras; Keras knows our classes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import vse_zoo

HEAVY = ("tensorflow", "keras", "keras_hub", "sklearn", "matplotlib", "scipy", "h5py")
COMMANDS = """
import sys
import vse_zoo
from vse_zoo.cli import app, console_errors

assert vse_zoo.__version__
for command in sys.argv[1].split("|"):
    try:
        with console_errors():
            app(command.split())
    except SystemExit as end:
        print("exit", end.code, command)
    loaded = [name for name in {heavy} if name in sys.modules]
    assert not loaded, (command, loaded)
"""


def run(script: str, *arguments: str) -> str:
    """What a script of a new process prints."""
    found = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_commands_that_compute_nothing_import_nothing_heavy(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "captions.csv").write_text("image,caption\na.png,a wall\n")
    commands = {
        "--help": 0,
        "--version": 0,
        "models": 0,
        "trian": 2,
        "train context_attention --nope": 2,
        "train --help": 0,
        "features --help": 0,
        "search --help": 0,
        "prepare --help": 0,
        f"prepare folder {tmp_path / 'data'} --images {tmp_path} --captions {tmp_path / 'captions.csv'}": 0,
        f"prepare folder {tmp_path / 'other'} --images {tmp_path} --captions {tmp_path / 'none.csv'}": 1,
        f"features {tmp_path / 'data'} --grid 7": 1,
        f"search {tmp_path / 'nowhere'} dog": 1,
    }
    said = run(COMMANDS.format(heavy=HEAVY), "|".join(commands))
    assert [line for line in said.splitlines() if line.startswith("exit")] == [
        f"exit {code} {command}" for command, code in commands.items()
    ]


def test_the_shell_completes_presets_and_configurations() -> None:
    script = (
        "import sys\nfrom vse_zoo.cli import app, completion\nimport typer\n"
        "print(completion.presets('optimal'))\n"
        "context = typer.Context(typer.main.get_command(app))\ncontext.params['recipe'] = 'two_way_net'\n"
        "print(completion.configurations(context, 'mnist'))\nprint(completion.recipes('add'))\n"
        "assert 'keras' not in sys.modules"
    )
    presets, configurations, recipes = run(script).splitlines()
    assert "optimal_transport_flickr8k_en" in presets
    assert configurations == "['mnist', 'mnist_canonical', 'mnist_zoo']"
    assert recipes == "['add_language']"


def test_the_top_level_reads_like_a_table_of_contents() -> None:
    assert dir(vse_zoo) == sorted(vse_zoo.__all__)
    for name in vse_zoo.__all__:
        assert getattr(vse_zoo, name) is not None
    with pytest.raises(AttributeError, match="quite"):
        vse_zoo.quite  # noqa: B018


@pytest.mark.parametrize(
    "imports",
    [
        "import vse_zoo, keras",
        pytest.param("import keras, vse_zoo", marks=pytest.mark.slow),
        pytest.param("from vse_zoo.layers import TiedDense; import keras", marks=pytest.mark.slow),
        pytest.param("from vse_zoo.data import PairBatches; PairBatches; import keras", marks=pytest.mark.slow),
        pytest.param("from vse_zoo.features import Backbone; import keras", marks=pytest.mark.slow),
        pytest.param("import vse_zoo.features.fisher, keras; vse_zoo.layers.TiedDense", marks=pytest.mark.slow),
        pytest.param("import vse_zoo.models.base, keras", marks=pytest.mark.slow),
        pytest.param("import vse_zoo.losses.triplet, keras", marks=pytest.mark.slow),
    ],
)
def test_keras_knows_every_class(imports: str) -> None:
    names = ("ContextAttentionVSE", "TiedDense", "TripletLoss", "InverseGamma", "TextPreprocessor", "FisherVectors")
    script = f"{imports}\nfor name in {names}: assert keras.saving.get_registered_object('vse_zoo>' + name), name"
    run(script)


@pytest.mark.slow
def test_a_thread_waits_for_the_classes_that_another_one_imports() -> None:
    script = """
import threading, time
import vse_zoo

found = []
importing = threading.Thread(target=lambda: vse_zoo.models.TwoWayNet)
loading = [
    threading.Thread(target=lambda: found.append(type(vse_zoo.load("two_way_net_mnist")).__name__)) for _ in range(2)
]
importing.start()
time.sleep(0.2)  # So that it has begun.
for thread in loading:
    thread.start()
for thread in (importing, *loading):
    thread.join()
print(*found)
"""
    assert run(script).split() == ["TwoWayNet", "TwoWayNet"]
