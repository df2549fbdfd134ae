"""The ablation of multi-head attention with diversity: one change at a time, several seeds, one table of dev figures.

    python recipes/caption_words.py data/flickr8k --texts data/multi30k --dim 128
    python recipes/context_attention_ablation.py --data data/flickr8k --out runs/ablation --encoder minilm

Finished cells are kept, and an interrupted grid goes on where it stopped when the command is given again. Rows are left
out that need what isn't there: --encoder (a Hugging Face or Keras folder, or a name that keras_hub knows), or the
views of vse-zoo views.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from context_attention import CONFIGS, train

from vse_zoo import presets
from vse_zoo.cli import console_errors
from vse_zoo.data import Dataset
from vse_zoo.evaluation import evaluate
from vse_zoo.evaluation.sentence_retrieval import evaluate_between
from vse_zoo.training import ContextAttentionConfig, load_config, run_grid

Changes = dict[str, dict[str, Any]]
PRETRAINED, VIEWS = "English alone, pretrained encoder", "views"
RANDOM = {"kind": "random"}
ROWS: dict[str, Changes] = {
    "base": {},
    "no diversity, β = 0": {"model": {"diversity_weight": 0.0}},
    "β = 1": {"model": {"diversity_weight": 1.0}},
    "diversity by distance": {"diversity": {"form": "distance"}},
    "diversity as printed": {"diversity": {"form": "as_printed"}},
    "α_D = 0": {"diversity": {"margin": 0.0}},
    "α_D = 0.3": {"diversity": {"margin": 0.3}},
    "K = 1": {"model": {"heads": 1}},
    "K = 2": {"model": {"heads": 2}},
    "K = 5": {"model": {"heads": 5}},
    "γ = 0": {"model": {"language_weight": 0.0}},
    "English alone": {"train": {"languages": ("en",)}},
    "German alone": {"train": {"languages": ("de",)}},
    "random words": {"text": RANDOM},
    "English alone, random words": {"train": {"languages": ("en",)}, "text": RANDOM},
    PRETRAINED: {"train": {"languages": ("en",)}, "model": {"word_dim": None, "word_skip": False}},
    "words not added to states": {"model": {"word_skip": False}},
    "region power 1": {"model": {"region_power": 1.0}},
    VIEWS: {"train": {"views": True}},
}
COLUMNS = {
    "en_i2t": "English R@1 i2t",
    "en_t2i": "t2i",
    "en_rsum": "rsum",
    "de_i2t": "German R@1 i2t",
    "de_t2i": "t2i",
    "de_rsum": "rsum",
    "between": "English ↔ German R@1",
}


def changed(settings: ContextAttentionConfig, changes: Changes) -> ContextAttentionConfig:
    """The configuration of one cell; [text] is replaced as a whole, since its fields depend on its kind."""
    values = settings.model_dump(exclude_unset=True)
    sections = {name: {**({} if name == "text" else values.get(name, {})), **changes[name]} for name in changes}
    return ContextAttentionConfig.model_validate({**values, **sections})


def figures(run: Path, data: Path, split: str) -> dict[str, float | None]:
    """R@1 both ways and rsum of either language, None for one that the model doesn't know; R@1 between the two."""
    model, dataset = presets.load(run), Dataset.open(data)
    values: dict[str, float | None] = dict.fromkeys(COLUMNS)
    for language, each in evaluate(model, dataset, split).items():
        values |= {f"{language}_i2t": each.i2t.r1, f"{language}_t2i": each.t2i.r1, f"{language}_rsum": each.rsum}
    if {"en", "de"} <= set(model.languages):
        (found,) = evaluate_between(model, dataset, split, ("en", "de")).values()
        values["between"] = (found.forward.r1 + found.backward.r1) / 2
    return values


def main(
    data: Annotated[Path, typer.Option(help="Dataset folder with region features, English and German.")],
    out: Annotated[Path, typer.Option(help="Folder for the runs and the table.")],
    config: Annotated[str, typer.Option(help="Name of the configuration to change.")] = "ablation",
    encoder: Annotated[str | None, typer.Option(help="Contextual encoder for English.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the configuration's number of epochs.")] = None,
    seeds: Annotated[int, typer.Option(help="Runs of each row.")] = 3,
    split: Annotated[str, typer.Option(help="Split of the figures; it also chooses the best epoch.")] = "dev",
) -> None:
    """Train every row of the ablation with several seeds, and write OUT/table.md."""
    there = {PRETRAINED: encoder, VIEWS: (data / "views.npy").exists()}
    rows = {name: changes for name, changes in ROWS.items() if there.get(name, True)}
    pretrained = {"text": {"kind": "contextual", "encoder": str(encoder), "precomputed": True}}

    def cell(row: str, seed: int, place: Path) -> dict[str, float | None]:
        settings = load_config(CONFIGS / f"{config}.toml", ContextAttentionConfig, seed=seed, epochs=epochs)
        changes = {**rows[row], **(pretrained if row == PRETRAINED else {})}
        train(changed(settings, changes), data, place, resume=True, folder=Path.cwd())
        return figures(place, data, split)

    print(run_grid(list(rows), seeds, out, cell, COLUMNS, f"{split}.json"))


if __name__ == "__main__":
    with console_errors():
        typer.run(main)
