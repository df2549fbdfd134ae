"""From a run, a picture and a caption to a page or a picture that shows how the model aligned the two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vse_zoo import models, presets
from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError, DataError, EvaluationError, PresetError, located
from vse_zoo.evaluation.explanation import Explanation, write_figure, write_page
from vse_zoo.images import load_image
from vse_zoo.preprocessing.text import UNKNOWN

__all__ = ["explain_picture"]

_WRITERS: dict[str, Callable[[Explanation, Path], None]] = {".html": write_page, ".png": write_figure}
_Regions = tuple[NDArray[np.floating], NDArray[np.floating], tuple[int, ...] | None]
"""Features (R, D), boxes (R, 4), and the grid if they are one."""


def explain_picture(
    run: str, image: str, caption: str, out: Path, *, language: str = "en", data: Path | None = None
) -> Explanation:
    """Writes what `Explanation` holds to ``out``.

    Args:
        run: run folder, preset folder or built-in name, of a model that compares regions with words.
        image: a picture file, whose regions the model's backbone computes; with ``data`` the name of its image.
        caption: a sentence.
        language: the caption's.
        data: dataset folder with regions and boxes, from any backbone or detector.
        out: the .html or .png file.

    Raises:
        ConfigError: ``out`` is of another kind.
        DataError: the picture can't be read, the caption has no word, the model doesn't know the language, or the
            regions don't fit the model.
        EvaluationError: the model compares whole pictures with whole sentences.
        PresetError: there is no such model, or its regions can't be computed from a picture.
    """
    if out.suffix not in _WRITERS:
        raise ConfigError(f"out: found {str(out)!r}, expected a file name that ends with {' or '.join(_WRITERS)}.")
    picture, regions = _from_dataset(Dataset.open(data), image) if data else (load_image(image), None)
    model = presets.load(run)
    if not hasattr(model, "explain"):
        problem = f"{type(model).__name__} compares whole pictures with whole sentences, not their parts."
        raise EvaluationError(located(run, problem, do=f"Models that can be explained: {', '.join(_explained())}."))
    _check_caption(model, caption, language)
    features, boxes, grid = regions or _from_picture(run, model, image)
    if features.shape[1] != model.region_dim:
        problem = f"found regions of {features.shape[1]} numbers, the model was trained on {model.region_dim}."
        raise DataError(located(data or image, problem))
    known = model.preprocessor.ragged([caption], language)[0].numpy() != UNKNOWN
    alignment = model.explain(features.astype(np.float32), caption, language)
    found = Explanation(picture, boxes, grid, caption, language, alignment, known.tolist(), image, run)
    _WRITERS[out.suffix](found, out)
    return found


def _explained() -> list[str]:
    """The zoo's models, without the classes they share, that compare regions with words."""
    kinds = [(name, getattr(models, name)) for name in models.__all__ if hasattr(getattr(models, name), "explain")]
    return [name for name, kind in kinds if keras.saving.get_registered_name(kind) != name]


def _check_caption(model: Any, caption: str, language: str) -> None:
    model.preprocessor.check_language(language)
    try:
        caption.encode()
    except UnicodeEncodeError:
        raise DataError(f"caption: found {caption!r}, which isn't valid Unicode.") from None
    if not model.preprocessor.spans([caption])[0].any():
        raise DataError(f"caption: found {caption!r}, which has no word.")


def _from_picture(run: str, model: Any, image: str) -> _Regions:
    """Regions of a picture by the backbone that the model was trained on."""
    try:
        encoder = model.picture_encoder()
    except PresetError as error:
        do = "Or name a dataset folder with such regions with --data, and one of its images with --image."
        raise PresetError(located(run, str(error), do=do)) from error
    return model.picture_regions(image), encoder.boxes, encoder.grid


def _from_dataset(dataset: Dataset, name: str) -> tuple[Image.Image, _Regions]:
    """An image of a dataset and its regions."""
    if name not in dataset.image_names:
        raise DataError(located(dataset.path, f"image: found {name!r}, expected a name as in captions.jsonl."))
    if name in dataset.left_out:
        raise DataError(located(dataset.path, f"image {name!r} has no regions: {dataset.left_out[name]}"))
    row = dataset.image_names.index(name)
    features, mask = dataset.regions(np.array([row]))
    boxes = dataset.boxes(row)
    if boxes is None:
        raise DataError(located(dataset.path, "its regions have no boxes, and can't be shown in the picture."))
    return dataset.open_image(row), (features[0][mask[0]], boxes, dataset.grid)
