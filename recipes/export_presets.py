"""Makes saved_models/<preset>/1 again, the SavedModels that TensorFlow Serving takes straight from a clone.

    python recipes/export_presets.py
    python recipes/export_presets.py context_attention_flickr8k_en_de

Call it after a preset's weights have changed; tests/serving/test_saved_models.py fails until then.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from vse_zoo.cli import console_errors
from vse_zoo.registry import saved_models
from vse_zoo.workflow.export import export_run

MAIN = ("context_attention_flickr8k_en_de", "optimal_transport_flickr8k_en", "two_way_net_mnist")
"""One of each family. Of the 2-Way Nets the paper's first experiment, in 2 MB; the one of sentences would be 44 MB."""


def export(name: str) -> None:
    """Exports a preset beside its files and takes the place of an older version 1."""
    folder = saved_models() / name
    with tempfile.TemporaryDirectory(prefix=".export.", dir=folder.parent) as staging:
        made = Path(staging) / name
        found = export_run(name, made)
        if found.left_out:
            raise SystemExit(f"{name}: would lack {found.left_out}; nothing replaced")
        shutil.rmtree(folder / found.path.name, ignore_errors=True)
        for path in made.iterdir():
            os.replace(path, folder / path.name)
    print(f"{folder / found.path.name}: {', '.join(found.signatures)}")


def main() -> None:
    """Exports the named presets, or the main ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=MAIN, help="built-in presets; by default one of each family")
    for name in parser.parse_args().names:
        export(name)


if __name__ == "__main__":
    with console_errors():
        main()
