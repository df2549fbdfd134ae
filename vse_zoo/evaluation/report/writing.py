"""A run's report as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vse_zoo.evaluation.baselines import Comparison
from vse_zoo.evaluation.explanation.content import Explanation
from vse_zoo.evaluation.page import html_page
from vse_zoo.evaluation.report.attention import attention_section, words_section
from vse_zoo.evaluation.report.content import AttendedImage, ImageQuery, SpaceMap, TextQuery
from vse_zoo.evaluation.report.figures import History, curves_section, figures_section
from vse_zoo.evaluation.report.gallery import captions_section, pictures_section
from vse_zoo.evaluation.report.space_map import space_map_script, space_map_section
from vse_zoo.evaluation.retrieval import RetrievalFigures
from vse_zoo.files import write_text

__all__ = ["write_report"]

_FIGURES = (
    "In percent of the queries. A picture is answered if any of its captions is among the first K; "
    "equal scores count against the query."
)
_CAPTIONS = "Pictures drawn at random, not picked, with the captions that the model ranks first. ✓: written for it."
_PICTURES = (
    "Captions drawn at random, not picked, with the pictures that the model ranks first. ✓ is the picture it describes."
)
_ATTENTION = (
    "Where each head looks in the picture, and below it how the same head weighs the words of one of the picture's "
    "captions in each language. Bright is each head's largest weight: where all regions have about the same, all are "
    "bright."
)
_WORDS = (
    "Bright: where the transport plan sends the word. All maps of a sentence have one scale. The plan spends each "
    "region on some word: a bright place needn't be a good match."
)
_SPACE = (
    "Pictures drawn at random, each with a caption in every language, all laid out by t-SNE of their cosine "
    "distances; lines join what belongs together. Near means alike, but distances between groups and the axes mean "
    "nothing: the table below has the cosines themselves. Point at a mark, tap it, or use Tab and the arrow keys."
)


def write_report(
    path: Path,
    *,
    title: str,
    figures: Mapping[str, RetrievalFigures],
    facts: Mapping[str, str] | None = None,
    comparisons: Sequence[Comparison] = (),
    history: History = (),
    image_queries: Sequence[ImageQuery] = (),
    text_queries: Sequence[TextQuery] = (),
    attention: Sequence[AttendedImage] = (),
    explanations: Sequence[Explanation] = (),
    space: SpaceMap | None = None,
) -> None:
    """Writes the report; parts without content are left out.

    Args:
        path: the HTML file.
        title: its heading.
        figures: of each language.
        facts: what a reader should know about the run (data, split, training time, …), in order.
        comparisons: rows below the model's in each table (chance, untrained, ceiling, …).
        history: an epoch each, with ``epoch``, ``loss`` and ``val_rsum`` (the rows of a run's log.csv).
        image_queries: pictures with the captions found for them.
        text_queries: sentences with the pictures found for them.
        attention: pictures with every head's weights.
        explanations: pictures and sentences with the plan between words and regions.
        space: pictures and captions in one map.
    """
    parts = [
        ("Retrieval", _FIGURES, figures_section(figures, comparisons)),
        ("Training", "", curves_section(history)),
        ("Captions found for a picture", _CAPTIONS, captions_section(image_queries) if image_queries else ""),
        ("Pictures found for a sentence", _PICTURES, pictures_section(text_queries) if text_queries else ""),
        ("Attention", _ATTENTION, attention_section(attention) if attention else ""),
        ("Words in the picture", _WORDS, words_section(explanations) if explanations else ""),
        ("Pictures and captions in one map", _SPACE, space_map_section(space) if space else ""),
    ]
    script = space_map_script() if space else ""
    write_text(path, html_page(title, facts or {}, [part for part in parts if part[2]], script))
