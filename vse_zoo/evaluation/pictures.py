"""Pictures of a report: attention over an image, curves of a training run, and both as parts of one HTML file."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

from vse_zoo.evaluation.heat import heat_maps

__all__ = ["attention_maps", "curve_svg", "data_uri", "heated", "thumbnail"]

_INK = "#010203"
"""Stands for the page's text colour in a drawing: SVG inside the page then follows light and dark mode."""
_CANVAS = 64


def thumbnail(image: Image.Image, side: int = 320) -> Image.Image:
    """A copy whose longer side is at most ``side`` pixels."""
    copy = image.convert("RGB")
    copy.thumbnail((side, side), Image.Resampling.LANCZOS)
    return copy


def data_uri(image: Image.Image) -> str:
    """The picture as a JPEG ``data:`` address."""
    stream = io.BytesIO()
    image.convert("RGB").save(stream, "JPEG", quality=82, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()


def attention_maps(
    image: Image.Image,
    weights: NDArray[np.floating],
    boxes: NDArray[np.floating],
    grid: Sequence[int] | None = None,
) -> list[Image.Image]:
    """The picture in grey with each head's attention in colour, brightest at the head's largest weight.

    Args:
        image: the picture.
        weights: (K, R), each row one head's weights over the regions.
        boxes: (R, 4) relative (x0, y0, x1, y1); where boxes overlap their weights, spread over their areas, add up.
        grid: (rows, columns) if the boxes are a grid: attention is then linear between the cells' centres.

    Returns:
        K pictures of the same size.
    """
    if grid:
        densities = heat_maps(weights, boxes, grid)
    else:
        densities = _densities(np.asarray(weights, np.float64), np.asarray(boxes, np.float64))
    largest = np.maximum(densities.max(axis=(1, 2), keepdims=True), 1e-12)
    return [heated(image, density) for density in densities / largest]


def heated(image: Image.Image, heat: NDArray[np.floating]) -> Image.Image:
    """The picture in grey under a map (H, W) of any size in colour, 0 dark and 1 bright."""
    grey = np.asarray(image.convert("L"), np.float32)[..., None] / 255
    spread = Image.fromarray(heat.astype(np.float32)).resize(image.size, Image.Resampling.BICUBIC)
    level = np.clip(np.asarray(spread), 0, 1)
    colour = matplotlib.colormaps["inferno"](0.2 + 0.75 * level)[..., :3]
    opacity = 0.08 + 0.62 * level[..., None]
    blended = (1 - opacity) * grey * 0.85 + opacity * colour
    return Image.fromarray((255 * np.clip(blended, 0, 1)).astype(np.uint8))


def _densities(weights: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """(K, 64, 64): attention per area, softened at the boxes' edges."""
    edges = np.linspace(0, 1, _CANVAS + 1)
    low, high = edges[:-1], edges[1:]
    across = np.clip(np.minimum(high, boxes[:, 2:3]) - np.maximum(low, boxes[:, 0:1]), 0, None)  # (R, columns)
    down = np.clip(np.minimum(high, boxes[:, 3:4]) - np.maximum(low, boxes[:, 1:2]), 0, None)  # (R, rows)
    areas = np.maximum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), 1e-6)
    return gaussian_filter(np.einsum("kr,ry,rx->kyx", weights / areas, down, across), sigma=(0, 2, 2))


def curve_svg(epochs: Sequence[float], values: Sequence[float], label: str, mark: str | None = None) -> str:
    """One curve over the epochs as an ``<svg>`` element in the page's text colour.

    Args:
        epochs: x, in order.
        values: y.
        label: what y is, for the title and for readers of the page by ear.
        mark: "min" or "max": ring that value and print it.
    """
    settings = {"svg.fonttype": "none", "svg.hashsalt": label, "font.family": "sans-serif", "font.size": 11}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(4.6, 2.6), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(epochs, values, color="#3b7dd8", linewidth=2, marker="o", markersize=3.5)
        if mark and len(values):
            best = int(np.argmin(values) if mark == "min" else np.argmax(values))
            axes.plot(epochs[best], values[best], "o", color="#d9772b", markersize=7)
            axes.set_title(f"{label}: best {values[best]:.4g} in epoch {epochs[best]:g}", color=_INK, fontsize=11)
        else:
            axes.set_title(label, color=_INK, fontsize=11)
        axes.set_xlabel("epoch", color=_INK)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(colors=_INK)
        axes.grid(alpha=0.25, color="#888888")
        for name, spine in axes.spines.items():
            spine.set_visible(name in ("left", "bottom"))
            spine.set_color(_INK)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    spoken = f"{label} by epoch, from {values[0]:.4g} to {values[-1]:.4g}" if len(values) else label
    return svg[svg.index("<svg") :].replace(_INK, "currentColor").replace("<svg", _named(spoken), 1)


def _named(label: str) -> str:
    return f'<svg role="img" aria-label="{escape(label)}"'
