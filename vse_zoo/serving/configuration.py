"""The files that configure TensorFlow Serving, written once, since they are then the user's to change."""

from __future__ import annotations

from pathlib import Path

from vse_zoo.files import write_text

__all__ = ["BATCHING", "MODELS", "write_configuration"]

MODELS = "models.config"
BATCHING = "batching_parameters.txt"

_MODELS = """\
# --model_config_file=/models/{name}/{file}
model_config_list {{
  config {{
    name: "{name}"
    base_path: "/models/{name}"
    model_platform: "tensorflow"
  }}
}}
"""
_BATCHING = """\
# --enable_batching=true --batching_parameters_file=/models/{name}/{file}
# Requests for `similarity` must not be joined: ask another server for it, or compute it from the embeddings.
max_batch_size {{ value: 128 }}
batch_timeout_micros {{ value: 2000 }}
max_enqueued_batches {{ value: 100 }}
num_batch_threads {{ value: 4 }}
# Pictures with different numbers of regions can then be encoded together.
pad_variable_length_inputs: true
"""


def write_configuration(folder: Path) -> None:
    """Writes ``models.config`` and ``batching_parameters.txt`` into a model's folder where they are missing.

    Paths in them are those of a container in which the folder is mounted as /models/<its name>.
    """
    for file, text in ((MODELS, _MODELS), (BATCHING, _BATCHING)):
        if not (folder / file).exists():
            write_text(folder / file, text.format(name=folder.name, file=file))
