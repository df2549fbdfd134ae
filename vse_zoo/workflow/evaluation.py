"""A model's figures on a folder, whichever kind it is: retrieval on captions, correlations of two views, similarity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType

from vse_zoo.data import Dataset, TwoViewData
from vse_zoo.errors import ConfigError, EvaluationError, located
from vse_zoo.evaluation import evaluate, evaluate_each, figures_as_dict
from vse_zoo.evaluation.correlation import evaluate_correlation
from vse_zoo.evaluation.sentence_retrieval import evaluate_between
from vse_zoo.evaluation.sentence_tables import sentences_as_dict, sentences_table
from vse_zoo.evaluation.sts import evaluate_sts, sentence_encoder, sts_as_dict, sts_table
from vse_zoo.evaluation.tables import correlation_table, figures_table

__all__ = ["Evaluation", "evaluate_folder", "evaluate_languages", "evaluate_model", "evaluate_similarity"]

_COCO = "coco"
_COCO_IMAGES = 5000


@dataclass(frozen=True)
class Evaluation:
    """Figures to show and to keep.

    Args:
        table: for the terminal.
        values: plain numbers for JSON.
    """

    table: RenderableType
    values: dict[str, Any]


def evaluate_model(
    model: Any,
    name: str,
    data: Path | None = None,
    split: str = "test",
    folds: int = 1,
    protocol: str | None = None,
    *,
    between: str | None = None,
    sts: Path | None = None,
    language: str | None = None,
    encoding: str | None = None,
) -> Evaluation:
    """The one kind of figures that the options ask for.

    Args:
        model: of the zoo.
        name: what to call it in the table.
        data: as in `evaluate_folder`, or in `evaluate_languages` where ``between`` is given.
        split: as there.
        folds: as in `evaluate_folder`.
        protocol: as in `evaluate_folder`.
        between: as in `evaluate_languages`.
        sts: a folder of `evaluate_similarity`, instead of ``data``.
        language: as there; "en" by default.
        encoding: as there.

    Raises:
        ConfigError: not exactly one of ``data`` and ``sts``, or an option that belongs to the other.
        EvaluationError: as in the function that is called.
        DataError: likewise.
    """
    if (data is None) == (sts is None):
        found = "neither" if data is None else "both"
        raise ConfigError(f"--data, --sts: found {found}, expected one: a dataset folder, or a folder of STS files.")
    plain = folds == 1 and protocol is None
    if sts is not None:
        if between is not None or not plain:
            raise ConfigError("--between, --folds and --protocol belong to --data: found one of them with --sts.")
        return evaluate_similarity(model, name, sts, language or "en", encoding)
    assert data is not None
    if encoding is not None:
        raise ConfigError("--encoding belongs to --sts: found it with --data, whose text is UTF-8.")
    if language is not None:
        raise ConfigError("--language belongs to --sts: found it with --data, which is evaluated in every language.")
    if between is None:
        return evaluate_folder(model, name, data, split, folds, protocol)
    if not plain:
        raise ConfigError("--folds and --protocol: found one of them with --between, which takes a split as a whole.")
    return evaluate_languages(model, name, data, split, between)


def evaluate_similarity(
    model: Any, name: str, sts: Path, language: str = "en", encoding: str | None = None
) -> Evaluation:
    """How well a model's cosines of sentences follow people's scores (`vse_zoo.evaluation.sts`).

    Args:
        model: of the zoo.
        name: what to call it in the table.
        sts: folder of STS files, or of years.
        language: of these sentences, one of the model's.
        encoding: of files without a byte-order mark that aren't UTF-8.

    Raises:
        EvaluationError: the model doesn't embed sentences of that language.
        DataError: the folder has no STS files, or damaged ones.
    """
    figures = evaluate_sts(sentence_encoder(model, language), sts, encoding)
    return Evaluation(sts_table(figures, f"{name}, {sts}: similarity of sentences"), sts_as_dict(figures, language))


def evaluate_languages(model: Any, name: str, data: Path, split: str, between: str) -> Evaluation:
    """Figures of sentences of one language that search those of another (`vse_zoo.evaluation.sentence_retrieval`).

    Args:
        model: of the zoo.
        name: what to call it in the table.
        data: dataset folder; it needs no features.
        split: its name.
        between: two or more languages, separated by commas.

    Raises:
        EvaluationError: the model doesn't embed sentences of these languages, or no image has captions in two of them.
        DataError: the folder isn't a dataset folder, is damaged, or has no such split or language.
    """
    languages = [language.strip() for language in between.split(",") if language.strip()]
    figures = evaluate_between(model, Dataset.open(data), split, languages)
    title = f"{name}, {split} split of {data}: sentences of one language search another's, in percent"
    return Evaluation(sentences_table(figures, title), sentences_as_dict(figures, split))


def evaluate_folder(
    model: Any, name: str, data: Path, split: str, folds: int = 1, protocol: str | None = None
) -> Evaluation:
    """Figures of a model on a split of a dataset folder or of a two-view folder.

    Args:
        model: of the zoo.
        name: what to call it in the table.
        data: the folder.
        split: its name.
        folds: of a dataset folder, as in `vse_zoo.evaluation.evaluate`.
        protocol: "coco" gives the two kinds of figures that papers report of COCO's 5,000 test images: over all of
            them ("5K"), and the mean of five folds of 1,000, in the dataset's order ("1K").

    Raises:
        EvaluationError: the model is of the other kind, or the split can't be evaluated.
        ConfigError: another protocol, or folds beside one.
        DataError: the folder is neither, or is damaged.
    """
    if protocol not in (None, _COCO) or (protocol and folds != 1):
        raise ConfigError(f"protocol: found {protocol!r} with {folds} folds, expected {_COCO!r} alone, or folds alone.")
    title = f"{name}, {split} split of {data}"
    if TwoViewData.is_at(data):
        if not hasattr(model, "encode_x"):
            problem = f"holds two matrices, and {type(model).__name__} takes pictures and sentences."
            raise EvaluationError(located(data, problem, do="Pass a dataset folder."))
        found = evaluate_correlation(model, TwoViewData.open(data), split)
        return Evaluation(correlation_table(found, title), {"split": split, **found.as_dict()})
    if not model.languages:
        problem = "holds pictures and captions, and the model was made for two matrices."
        raise EvaluationError(located(data, problem, do="Pass a two-view folder."))
    title += ": retrieval in percent"
    if protocol:
        return _coco(model, Dataset.open(data), split, title)
    figures = evaluate(model, Dataset.open(data), split, folds=folds)
    return Evaluation(figures_table(figures, title), figures_as_dict(figures, split))


def _coco(model: Any, dataset: Dataset, split: str, title: str) -> Evaluation:
    for language in (each for each in dataset.languages if each in model.languages):
        images = len(np.unique(dataset.captions(split, language)[1]))
        if images != _COCO_IMAGES:
            problem = f"split {split!r} has {images} images with captions in {language!r}, expected {_COCO_IMAGES}."
            raise EvaluationError(located(dataset.path, problem, do="Use --folds 5 for other splits than COCO's."))
    whole, fifths = evaluate_each(model, dataset, split, folds=(1, 5))
    tables = figures_table(whole, f"{title}, 5K"), figures_table(fifths, f"{title}, 1K: mean of five folds")
    values = {"5K": figures_as_dict(whole, split), "1K": figures_as_dict(fifths, split)}
    return Evaluation(Group(*tables), {"split": split, "protocol": _COCO, **values})
