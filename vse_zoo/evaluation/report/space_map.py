"""Pictures and captions of every language in one map, as HTML with an SVG; its script shows what a mark stands for."""

from __future__ import annotations

import json
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.evaluation.pictures import data_uri
from vse_zoo.evaluation.report.content import SpaceMap, Triple
from vse_zoo.evaluation.tables import LANGUAGE_NAMES

__all__ = ["space_map_script", "space_map_section"]

_SIDE, _MARGIN, _THUMBNAIL = 720, 24, 160
_SHAPES = (
    "M-5-5H5V5H-5Z",  # a square for pictures; then a language each
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "M0-7L6.5,5H-6.5Z",
    "M0-7L6,0L0,7L-6,0Z",
    "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
)


def space_map_script() -> str:
    """The script of the page that holds the map."""
    return Path(__file__).with_name("space_map.js").read_text(encoding="utf-8")


def space_map_section(space: SpaceMap) -> str:
    """The map, what each shape means, a place for the triple that is looked at, and a table of cosines."""
    names = ["picture", *(LANGUAGE_NAMES.get(language, language) for language in space.languages)]
    legend = "".join(
        f'<li><svg viewBox="-9 -9 18 18" aria-hidden="true">{_mark(view)}</svg>{escape(name)}</li>'
        for view, name in enumerate(names)
    )
    places, height = _places(space.points)
    triples = "".join(_triple(number, each, places[:, number]) for number, each in enumerate(space.triples))
    shown = [_details(space, names, number) for number in range(len(space.triples))]
    details = json.dumps(shown, ensure_ascii=False).replace("<", r"\u003c")  # "</script>" in a caption ends nothing
    label = f"map of {len(space.triples)} pictures and their captions"
    return (
        f'<div class="space"><div><ul class="legend">{legend}</ul>'
        f'<svg viewBox="0 0 {_SIDE} {height:.0f}" role="group" aria-label="{label}">{triples}</svg></div>'
        '<div class="shown"><p class="dim">Without JavaScript the map is only a picture.</p></div>'
        f'<script type="application/json">{details}</script></div>{_table(space, names)}'
    )


def _places(points: NDArray[np.floating]) -> tuple[NDArray[np.float64], float]:
    """(V, N, 2) in the drawing, the longer axis of the cloud across, both in one scale; and the drawing's height."""
    flat = np.asarray(points, np.float64).reshape(-1, 2)
    flat = flat - flat.mean(axis=0)
    flat = flat @ np.linalg.svd(flat, full_matrices=False)[2].T
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = (_SIDE - 2 * _MARGIN) / max(float((high - low).max()), 1e-12)
    height = float(2 * _MARGIN + scale * (high - low)[1])
    middle = np.array([_SIDE, height]) / 2
    return (middle + scale * (flat - (low + high) / 2)).reshape(points.shape), height


def _triple(number: int, triple: Triple, places: NDArray[np.float64]) -> str:
    """Lines between all views (V, 2) under their marks; the first triple is the way into the map by Tab."""
    lines = "".join(f"M{a[0]:.1f},{a[1]:.1f}L{b[0]:.1f},{b[1]:.1f}" for a, b in combinations(places.tolist(), 2))
    marks = "".join(f'<g transform="translate({x:.1f} {y:.1f})">{_mark(v)}</g>' for v, (x, y) in enumerate(places))
    label = escape(f"{triple.picture.name}: {'; '.join(triple.captions.values())}")
    start = 0 if number == 0 else -1
    return f'<g class="triple" role="button" tabindex="{start}" aria-label="{label}"><path d="{lines}"/>{marks}</g>'


def _mark(view: int) -> str:
    return f'<path class="mark view-{view % len(_SHAPES)}" d="{_SHAPES[view % len(_SHAPES)]}"/>'


def _details(space: SpaceMap, names: list[str], number: int) -> dict[str, Any]:
    triple = space.triples[number]
    small = triple.picture.thumbnail(_THUMBNAIL)
    cosines = [
        f"{names[i]} and {names[j]} {space.cosines[i, j, number]:.2f}" for i, j in combinations(range(len(names)), 2)
    ]
    return {
        "name": triple.picture.name,
        "image": data_uri(small) if small else None,
        "captions": [
            [language, *pair]
            for language, *pair in zip(triple.captions, names[1:], triple.captions.values(), strict=True)
        ],
        "cosines": "Cosines: " + ", ".join(cosines),
    }


def _table(space: SpaceMap, names: list[str]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(names[i])} and {escape(names[j])}</th>'
        f"<td>{space.cosines[i, j].mean():.2f}</td><td>{space.others[i, j]:.2f}</td></tr>"
        for i, j in combinations(range(len(names)), 2)
    )
    return (
        '<div class="scroll"><table><caption>Mean cosine</caption><thead><tr><td></td><th scope="col">of the same '
        f'picture</th><th scope="col">of different ones</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
