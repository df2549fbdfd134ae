"""Phrase localisation: planted plans of known accuracy, ties, several words and boxes, and none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from vse_zoo.data.records import Phrase, Record
from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation.grounding import GroundingFigures, evaluate_grounding, grounding_as_dict, grounding_table
from vse_zoo.evaluation.grounding.areas import map_boxes
from vse_zoo.evaluation.grounding.figures import phrase_outcome, summary
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.sets import ItemSets

GRID = np.array([[x / 4, y / 4, (x + 1) / 4, (y + 1) / 4] for y in range(4) for x in range(4)], np.float32)
Box = tuple[float, float, float, float]


def cell(number: int) -> Box:
    x0, y0, x1, y1 = GRID[number].tolist()
    return x0, y0, x1, y1


class Folder:
    """What grounding reads of a dataset: images of 16 regions, the last with one region fewer."""

    path = Path("folder")
    grid: tuple[int, int] | None = None

    def __init__(self, records: Sequence[Record], languages: tuple[str, ...] = ("en",), boxes: bool = True) -> None:
        self.records = list(records)
        self.languages = languages
        self._boxes = boxes

    def indices(self, split: str) -> NDArray[np.int64]:
        return np.array([row for row, record in enumerate(self.records) if record.split == split])

    def regions(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        mask = np.ones((len(rows), 16), bool)
        mask[rows == len(self.records) - 1, 15] = False
        return np.repeat(rows[:, None, None], 16, axis=1).astype(np.float32), mask

    def boxes(self, row: int) -> NDArray[np.float32] | None:
        return (GRID[:15] if row == len(self.records) - 1 else GRID) if self._boxes else None


class Planted:
    """A model whose plan and cosine of (image, word) are looked up; all other words have none."""

    def __init__(self, plan: dict[tuple[int, str], Any], cosine: dict[tuple[int, str], Any] | None = None) -> None:
        self.tables = (plan, plan if cosine is None else cosine)
        self.preprocessor = TextPreprocessor({"en": [], "de": []}, max_length=8)
        self.languages = ("en", "de")
        self.sentences: list[list[str]] = []
        self.batches: list[int] = []

    def encode_image(self, regions: NDArray[Any], region_mask: NDArray[np.bool_]) -> ItemSets:
        return ItemSets.of(regions, region_mask)

    def encode_text(self, texts: Sequence[str], language: str) -> ItemSets:
        rows = [[word.decode() for word in row] for row in self.preprocessor.words(list(texts)).to_list()]
        self.sentences += rows
        self.batches.append(len(rows))
        start = len(self.sentences) - len(rows)
        counts = np.array([len(row) for row in rows])
        numbers = np.repeat(np.arange(start, start + len(rows)), counts)
        return ItemSets(numbers[:, None].astype(np.float32), counts)

    def align(self, images: ItemSets, texts: ItemSets) -> tuple[NDArray[Any], NDArray[Any]]:
        assert len(images) == len(texts)
        found = np.zeros((2, len(images), 16, texts.counts.max()), np.float32)
        for pair, (image, text) in enumerate(zip(images, texts, strict=True)):
            row, words = int(image[0, 0]), self.sentences[int(text[0, 0])]
            for column, word in enumerate(words):
                for kind, table in enumerate(self.tables):
                    if (row, word) in table:
                        found[kind, pair, :, column] = table[row, word]
        return found[0], found[1]


def peak(*regions: int, rest: float = 0.0) -> NDArray[np.float32]:
    values = np.full(16, rest, np.float32)
    values[list(regions)] = 1
    return values


def record(text: str, phrases: Sequence[tuple[str, tuple[Box, ...]]], split: str = "test") -> Record:
    spans = [(text.index(words), text.index(words) + len(words), boxes) for words, boxes in phrases]
    return Record("x.jpg", split, {"en": [text]}, tuple(Phrase("en", 0, *span) for span in spans))


def test_planted_plans_give_the_planted_accuracy() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 15, 200)
    records = [record(f"a w{n} there", [(f"w{n}", (cell(truth[n]),))]) for n in range(200)]
    ranks = random.integers(1, 13, 200)
    plan, cosine = {}, {}
    for n in range(200):
        others = random.permutation([k for k in range(15) if k != truth[n]])
        order = np.insert(others, ranks[n] - 1, truth[n])
        plan[n, f"w{n}"] = np.zeros(16)
        plan[n, f"w{n}"][order] = np.arange(15, 0, -1)
        cosine[n, f"w{n}"] = peak(truth[n])
    found = evaluate_grounding(Planted(plan, cosine), Folder(records), "test", chunk=7)["en"]
    for depth, value in ((1, found["transport"].r1), (5, found["transport"].r5), (10, found["transport"].r10)):
        assert value == pytest.approx(100 * np.mean(ranks <= depth))
    assert found["transport"].pointing == found["transport"].r1
    assert found["cosine"].r1 == found["cosine"].pointing == found["cosine"].upper_bound == 100
    assert found["cosine"].chance == pytest.approx(100 * (199 / 16 + 1 / 15) / 200)
    assert (found["cosine"].phrases, found["cosine"].without_boxes) == (200, 0)


def test_the_words_of_a_phrase_are_summed_and_no_others() -> None:
    records = [record("the tiny red dog barks", [("tiny red dog", (cell(3),))])]
    plan = {
        (0, "the"): 9 * peak(0),
        (0, "barks"): 9 * peak(0),
        (0, "tiny"): 0.5 * peak(5) + 0.4 * peak(3),
        (0, "red"): 0.5 * peak(6) + 0.4 * peak(3),
        (0, "dog"): 0.5 * peak(7) + 0.4 * peak(3),
    }
    assert evaluate_grounding(Planted(plan), Folder(records), "test")["en"]["transport"].r1 == 100


def test_ties_count_against_the_model() -> None:
    records = [record("dog", [("dog", (cell(3),))])]
    tied = evaluate_grounding(Planted({(0, "dog"): peak(3, 4)}), Folder(records), "test")["en"]["transport"]
    flat = evaluate_grounding(Planted({}), Folder(records), "test")["en"]["transport"]
    assert (tied.r1, tied.r5, tied.pointing) == (0, 100, 0)
    assert (flat.r1, flat.r10, flat.pointing, flat.upper_bound) == (0, 0, 0, 100)


def test_a_tie_between_right_regions_is_a_hit() -> None:
    records = [record("dogs", [("dogs", (cell(3), cell(9)))])]
    found = evaluate_grounding(Planted({(0, "dogs"): peak(3, 9)}), Folder(records), "test")["en"]["transport"]
    assert (found.r1, found.pointing, found.chance) == (100, 100, pytest.approx(100 * 2 / 15))


def test_several_boxes_any_of_them_or_the_box_around_all() -> None:
    records = [record("dogs", [("dogs", (cell(0), cell(2)))])]
    model, folder = Planted({(0, "dogs"): peak(2)}), Folder(records)
    assert evaluate_grounding(model, folder, "test")["en"]["transport"].r1 == 100
    union = evaluate_grounding(model, folder, "test", boxes="union")["en"]["transport"]
    assert (union.r1, union.upper_bound, union.pointing) == (0, 0, 100)
    with pytest.raises(EvaluationError, match="found 'all', expected one of: any, union"):
        evaluate_grounding(model, folder, "test", boxes="all")


def test_phrases_without_boxes_are_left_out_and_those_without_words_are_misses() -> None:
    text = "a b c d e f g h beyond !!"
    phrases: list[tuple[str, tuple[Box, ...]]] = [("a", (cell(1),)), ("b", ()), ("beyond", (cell(1),))]
    records = [record(text, [*phrases, ("!!", (cell(1),))]), record("scene", [("scene", ())])]
    model = Planted({(0, "a"): peak(1), (0, "b"): peak(2)})
    found = evaluate_grounding(model, Folder(records), "test")["en"]["transport"]
    assert (found.phrases, found.without_words, found.without_boxes) == (3, 2, 2)
    assert found.r1 == found.pointing == pytest.approx(100 / 3)
    assert found.upper_bound == 100


@pytest.mark.parametrize(
    ("text", "words", "token"),
    [
        ("Die Straße ist süß", "Straße", "straße"),
        ("Ein Cafe\u0301 hier", "Cafe\u0301", "café"),
        ("Zwei 🐶🐶 am Fluß", "🐶🐶", "🐶"),
        ("Ich \u2764\ufe0f das GRÖẞTE Kreuz", "GRÖẞTE Kreuz", "größte"),
    ],
)
def test_phrases_of_odd_characters_find_their_words(text: str, words: str, token: str) -> None:
    start = text.index(words)
    phrase = Phrase("de", 0, start, start + len(words), (cell(6),))
    records = [Record("x.jpg", "test", {"de": [text]}, (phrase,))]
    model = Planted({(0, token): peak(6), (0, "ist"): peak(2), (0, "hier"): peak(2), (0, "am"): peak(2)})
    found = evaluate_grounding(model, Folder(records, ("en", "de")), "test")
    assert list(found) == ["de"]
    assert found["de"]["cosine"].r1 == 100


def test_grids_too_fine_for_the_objects_still_point() -> None:
    records = [record("dog", [("dog", ((0.0, 0.0, 0.75, 0.75),))])]
    found = evaluate_grounding(Planted({(0, "dog"): peak(5)}), Folder(records), "test")["en"]["transport"]
    assert (found.r1, found.upper_bound, found.chance) == (0, 0, 0)
    assert (found.pointing, found.pointing_upper_bound, found.pointing_chance) == (100, 100, 60)


@pytest.mark.parametrize(("box", "expected"), [((0.25, 0.25, 0.75, 0.5), 100), ((0.5, 0.5, 1, 1), 0)])
def test_the_box_of_a_grids_heat_map(box: Box, expected: float) -> None:
    folder = Folder([record("a dog", [("a dog", (box,))]), record("", [])])
    folder.grid = (4, 4)
    model = Planted({(0, "a"): peak(5), (0, "dog"): peak(6)}, {(0, "dog"): peak(5, 6, rest=0.8) - 0.9})
    found = evaluate_grounding(model, folder, "test")["en"]
    assert found["transport"].map_box == found["cosine"].map_box == expected
    assert found["transport"].r1 == (0 if expected == 0 else 100)


def test_a_phrase_without_words_has_no_right_map() -> None:
    folder = Folder([record("dog !", [("!", ((0.0, 0.0, 1.0, 1.0),))]), record("", [])])
    folder.grid = (4, 4)
    assert evaluate_grounding(Planted({}), folder, "test")["en"]["cosine"].map_box == 0
    folder.grid = None
    assert evaluate_grounding(Planted({}), folder, "test")["en"]["cosine"].map_box is None


def test_boxes_of_maps_against_thresholded_ramps() -> None:
    column = np.array([0, 0, 1, 1, 0, 0, 0, 0.9])  # above half from the middle of cell 1 and 2 to that of 3 and 4
    regions = np.array([[x / 8, 0, (x + 1) / 8, 1] for x in range(8)])
    found = map_boxes(np.stack([column, np.full(8, 3.0), column - 5]), regions, (1, 8))
    np.testing.assert_allclose(found, [[0.25, 0, 0.5, 1], [0, 0, 1, 1], [0.25, 0, 0.5, 1]], atol=0.5 / 84 + 1e-9)


def test_padded_regions_are_never_ranked() -> None:
    records = [record("dog", [("dog", (cell(3),))])]
    model = Planted({(0, "dog"): peak(3) + 2 * peak(15)})
    assert evaluate_grounding(model, Folder(records), "test")["en"]["transport"].r1 == 100


def test_only_captions_with_phrases_are_aligned_in_chunks() -> None:
    records = [record(f"dog {n}", [("dog", (cell(3),) if n % 2 else ())]) for n in range(10)]
    model = Planted({})
    evaluate_grounding(model, Folder([*records, record("cat", [("cat", (cell(1),))], "dev")]), "test", chunk=4)
    assert model.batches == [2, 2, 1]


def test_a_rank_is_counted_as_by_hand() -> None:
    scores, none = np.array([0.5, 0.9, 0.7, 0.1]), np.zeros(4, bool)
    outcome = phrase_outcome(scores, np.array([True, False, False, True]), none)
    assert (outcome.rank, outcome.pointing_rank, outcome.right) == (3, np.inf, 0.5)
    figures = summary([outcome, outcome.missed], 1, 0)
    assert (figures.r1, figures.r5, figures.upper_bound, figures.chance) == (0, 50, 100, 50)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(bad: float) -> None:
    records = [record("dog", [("dog", (cell(3),))])]
    with pytest.raises(EvaluationError, match=r"region 2: found the score (nan|inf)"):
        evaluate_grounding(Planted({(0, "dog"): np.where(np.arange(16) == 2, bad, 0)}), Folder(records), "test")


def test_what_cannot_be_grounded_is_said() -> None:
    records = [record("dog", [("dog", (cell(3),))])]
    with pytest.raises(EvaluationError, match="split 'dev' has no phrases with boxes in: en"):
        evaluate_grounding(Planted({}), Folder(records), "dev")
    with pytest.raises(EvaluationError, match="folder: its regions have no boxes"):
        evaluate_grounding(Planted({}), Folder(records, boxes=False), "test")
    with pytest.raises(EvaluationError, match="object compares whole pictures with whole sentences"):
        evaluate_grounding(object(), Folder(records), "test")


def test_a_model_with_other_words_than_its_preprocessor_is_refused() -> None:
    model = Planted({})
    model.preprocessor.spans = lambda texts: [np.zeros((3, 2), np.int64) for _ in texts]
    with pytest.raises(EvaluationError, match="'dog': the model has 1 words, its preprocessor 3"):
        evaluate_grounding(model, Folder([record("dog", [("dog", (cell(3),))])]), "test")


def test_figures_as_a_table_and_as_numbers() -> None:
    figures = GroundingFigures(12.5, 25, 50, 75, 6.25, 40, 100, 20, 33.3, 1234, 1, 2)
    ways = {"de": {"transport": figures, "cosine": figures}}
    console = Console(width=80)
    with console.capture() as shown:
        console.print(grounding_table(ways))
    shown_figures = ("12.5/25.0/50.0", "1,234", "75.0", "6.2", "33.3")
    for expected in ("German", "transport", "upper bound", *shown_figures):
        assert expected in shown.get()
    plain = grounding_as_dict(ways, "test", "any")
    assert plain["languages"]["de"]["cosine"] == figures.as_dict()
    assert (plain["split"], plain["boxes"]) == ("test", "any")
