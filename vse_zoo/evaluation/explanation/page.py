"""An explanation as one HTML file that needs nothing beside it."""

from __future__ import annotations

from html import escape
from pathlib import Path

from vse_zoo.evaluation.explanation.content import Explanation, numbered_picture, region_crops, word_pictures
from vse_zoo.evaluation.page import html_page, image_tag
from vse_zoo.evaluation.tables import LANGUAGE_NAMES
from vse_zoo.files import write_text

__all__ = ["write_page"]

_WORDS = (
    "Bright: where the transport plan sends the word. All maps have one scale, so that a word that is spread over the "
    "picture, as articles often are, stays dark. The plan spends each region on some word: a bright place needn't be a "
    "good match, as its cosine says."
)
_PLAN = (
    "Each column is a word, each row a region: the share of the word's mass that the region sends, in percent. Columns "
    "sum to 100, and all regions send the same in total. Hover for the cosine."
)
_UNKNOWN = "not in the model's vocabulary"
_STYLE = """<style>
.plan th[scope=col] { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; max-height: 11rem; }
.plan th, .plan td { padding: .1rem .25rem; }
.plan td { min-width: 2.1rem; text-align: center; font-size: .8rem;
  background: color-mix(in srgb, var(--mark) var(--weight), transparent); }
.plan tbody th { display: flex; align-items: center; justify-content: flex-end; gap: .4rem; position: sticky; left: 0;
  background: var(--paper); }
.plan img { border-radius: 3px; flex: none; width: 1.6rem; height: 1.6rem; object-fit: cover; }
.unknown { text-decoration: underline dashed var(--wrong); text-underline-offset: .2em; }
</style>"""


def write_page(explanation: Explanation, path: Path) -> None:
    """Writes the picture with its numbered regions, a heat map of each word, and the plan as a table."""
    words = "".join(_word_figures(explanation))
    facts = {
        "picture": explanation.name,
        "model": explanation.model,
        "language": LANGUAGE_NAMES.get(explanation.language, explanation.language),
        "score": f"{explanation.alignment.score:.4g}",
        "regions": f"{_kind(explanation)}, numbered in the picture",
    }
    if not all(explanation.known):
        facts["unknown"] = f"underlined words are {_UNKNOWN}; to the model they are all the same word"
    parts = [
        ("Words in the picture", _WORDS, f'{_STYLE}<div class="heads">{words}</div>'),
        ("Transport plan", _PLAN, _plan_table(explanation)),
    ]
    write_text(path, html_page(explanation.caption, facts, parts))


def _word_figures(explanation: Explanation) -> list[str]:
    numbered = numbered_picture(explanation)
    alt = f"the picture with its {len(explanation.boxes)} regions numbered"
    figures = [f"<figure>{image_tag(numbered, alt)}<figcaption>the picture and its regions</figcaption></figure>"]
    pictures, shares = word_pictures(explanation), explanation.shares
    for number, (word, picture, best) in enumerate(
        zip(explanation.alignment.words, pictures, explanation.best.tolist(), strict=True)
    ):
        cosine = explanation.alignment.similarity[best, number]
        found = f"most from region {best + 1}: {100 * shares[best, number]:.0f} %, cosine {cosine:.2f}"
        figures.append(
            f"<figure>{image_tag(picture, f'where {word} is seen: {found}')}<figcaption>{_word(explanation, number)} "
            f'<span class="score">{found}</span></figcaption></figure>'
        )
    return figures


def _plan_table(explanation: Explanation) -> str:
    columns = range(len(explanation.alignment.words))
    head = "".join(f'<th scope="col">{_word(explanation, number)}</th>' for number in columns)
    rows = []
    for region, crop in enumerate(region_crops(explanation)):
        cells = "".join(_cell(explanation, region, number) for number in columns)
        rows.append(f'<tr><th scope="row">{region + 1}{image_tag(crop, f"region {region + 1}")}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table class="plan"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(explanation: Explanation, region: int, word: int) -> str:
    level, share = explanation.levels[region, word], 100 * explanation.shares[region, word]
    cosine = float(explanation.alignment.similarity[region, word])
    shown = f"{share:.0f}" if share >= 0.5 else ""
    return f'<td style="--weight:{100 * level:.0f}%" title="{share:.1f} %, cosine {cosine:.2f}">{shown}</td>'


def _word(explanation: Explanation, number: int) -> str:
    word = f'<bdi lang="{escape(explanation.language)}">{escape(explanation.alignment.words[number])}</bdi>'
    return word if explanation.known[number] else f'<span class="unknown" title="{_UNKNOWN}">{word}</span>'


def _kind(explanation: Explanation) -> str:
    if explanation.grid is None:
        return f"{len(explanation.boxes)} detected boxes"
    return f"a grid of {'×'.join(map(str, explanation.grid))}"
