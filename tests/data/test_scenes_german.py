"""German agreement, against forms written by hand."""

from __future__ import annotations

import re

import pytest

from vse_zoo.data.scenes import Description, Meaning, Mention, captions, german, sample_scene
from vse_zoo.data.scenes.draws import Draws

# One noun of each gender; nominative, accusative, dative.
PARADIGM = {
    ("star", "one"): ("ein kleiner roter Stern", "einen kleinen roten Stern", "einem kleinen roten Stern"),
    ("star", "the"): ("der kleine rote Stern", "den kleinen roten Stern", "dem kleinen roten Stern"),
    ("star", "two"): ("zwei kleine rote Sterne", "zwei kleine rote Sterne", "zwei kleinen roten Sternen"),
    ("square", "one"): ("ein kleines rotes Quadrat", "ein kleines rotes Quadrat", "einem kleinen roten Quadrat"),
    ("square", "the"): ("das kleine rote Quadrat", "das kleine rote Quadrat", "dem kleinen roten Quadrat"),
    ("square", "two"): ("zwei kleine rote Quadrate", "zwei kleine rote Quadrate", "zwei kleinen roten Quadraten"),
    (None, "one"): ("eine kleine rote Figur", "eine kleine rote Figur", "einer kleinen roten Figur"),
    (None, "the"): ("die kleine rote Figur", "die kleine rote Figur", "der kleinen roten Figur"),
    (None, "two"): ("zwei kleine rote Figuren", "zwei kleine rote Figuren", "zwei kleinen roten Figuren"),
    ("heart", "one"): ("ein kleines rotes Herz", "ein kleines rotes Herz", "einem kleinen roten Herzen"),
    ("heart", "the"): ("das kleine rote Herz", "das kleine rote Herz", "dem kleinen roten Herzen"),
    ("heart", "two"): ("zwei kleine rote Herzen", "zwei kleine rote Herzen", "zwei kleinen roten Herzen"),
}
# Gender; singular in nominative, accusative, dative; plural in the same.
DECLENSION = """
m Kreis Kreis Kreis Kreise Kreise Kreisen
f Scheibe Scheibe Scheibe Scheiben Scheiben Scheiben
n Quadrat Quadrat Quadrat Quadrate Quadrate Quadraten
n Dreieck Dreieck Dreieck Dreiecke Dreiecke Dreiecken
m Stern Stern Stern Sterne Sterne Sternen
n Herz Herz Herzen Herzen Herzen Herzen
n Kreuz Kreuz Kreuz Kreuze Kreuze Kreuzen
m Ring Ring Ring Ringe Ringe Ringen
m Mond Mond Mond Monde Monde Monden
f Sichel Sichel Sichel Sicheln Sicheln Sicheln
f Blume Blume Blume Blumen Blumen Blumen
f Blüte Blüte Blüte Blüten Blüten Blüten
f Raute Raute Raute Rauten Rauten Rauten
m Rhombus Rhombus Rhombus Rhomben Rhomben Rhomben
f Figur Figur Figur Figuren Figuren Figuren
"""
# Article and the ending of every adjective after it, by gender, for nominative, accusative, dative.
SINGULAR = {
    "m": ("ein -er", "einen -en", "einem -en", "der -e", "den -en", "dem -en"),
    "f": ("eine -e", "eine -e", "einer -en", "die -e", "die -e", "der -en"),
    "n": ("ein -es", "ein -es", "einem -en", "das -e", "das -e", "dem -en"),
}
PLURAL = ("-e", "-e", "-en")
CASES = ("nom", "acc", "dat")
STEMS = "rot|orangefarben|gelb|grün|blau|violett|schwarz|klein|groß|einfarbig|gestreift|gepunktet"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("shape", "number"), PARADIGM)
def test_noun_phrases_follow_the_paradigm(shape: str | None, number: str, case: str) -> None:
    mention = Mention(Description(shape, "red", "small"), count=2 if number == "two" else 1, definite=number == "the")
    assert german.noun_phrase(mention, case, Draws("any")) == PARADIGM[shape, number][CASES.index(case)]


def test_lila_and_rosa_are_not_inflected() -> None:
    said = Mention(Description("square", "purple", pattern="striped"))
    texts = {german.noun_phrase(said, "dat", Draws(n)) for n in range(60)}
    assert texts == {
        "einem gestreiften violetten Quadrat",
        "einem gestreiften lila Quadrat",
        "einem violetten Quadrat mit Streifen",
        "einem lila Quadrat mit Streifen",
    }
    assert german.noun_phrase(Mention(Description("star", "pink"), 3), "dat", Draws(0)) == "drei rosa Sternen"


STAR = Mention(Description("star", "red"))
SQUARES = Mention(Description("square", "blue"), count=2)
HEART = Mention(Description("heart", "black", size="large"))


@pytest.mark.parametrize(
    ("meaning", "expected"),
    [
        (
            Meaning((STAR, SQUARES), background="snow"),
            """Ein roter Stern und zwei blaue Quadrate im Schnee.
            Es gibt einen roten Stern und zwei blaue Quadrate im Schnee.
            Man sieht einen roten Stern und zwei blaue Quadrate im Schnee.
            Zu sehen sind ein roter Stern und zwei blaue Quadrate im Schnee.
            Ein Bild mit einem roten Stern und zwei blauen Quadraten im Schnee.
            Im Schnee sieht man einen roten Stern und zwei blaue Quadrate.
            Im Schnee gibt es einen roten Stern und zwei blaue Quadrate.
            Im Schnee sind ein roter Stern und zwei blaue Quadrate.
            Im Schnee befinden sich ein roter Stern und zwei blaue Quadrate.""",
        ),
        (
            Meaning((HEART, STAR), relation="left"),
            """Ein großes schwarzes Herz links von einem roten Stern.
            Es gibt ein großes schwarzes Herz links von einem roten Stern.
            Man sieht ein großes schwarzes Herz links von einem roten Stern.
            Zu sehen ist ein großes schwarzes Herz links von einem roten Stern.
            Ein Bild mit einem großen schwarzen Herzen links von einem roten Stern.""",
        ),
        (
            Meaning(
                (Mention(STAR.description, definite=True), Mention(HEART.description, definite=True)), "below", "snow"
            ),
            """Der rote Stern ist unter dem großen schwarzen Herzen im Schnee.
            Im Schnee ist der rote Stern unter dem großen schwarzen Herzen.""",
        ),
        (Meaning((SQUARES, STAR), total=3), "Drei Figuren: zwei blaue Quadrate und ein roter Stern."),
        (Meaning((STAR,), total=3, background="snow"), "Drei Figuren im Schnee, darunter ein roter Stern."),
        (
            Meaning((STAR, HEART, SQUARES), relation="beside", total=4),
            """Vier Figuren: ein roter Stern neben einem großen schwarzen Herzen, und zwei blaue Quadrate.
            Vier Figuren: zwei blaue Quadrate und ein roter Stern neben einem großen schwarzen Herzen.""",
        ),
    ],
)
def test_sentences_written_by_hand(meaning: Meaning, expected: str) -> None:
    assert {german.realise(meaning, Draws(n))[0] for n in range(300)} == {
        line.strip() for line in expected.splitlines()
    }


def allowed_forms() -> dict[str, set[tuple[str, str, str]]]:
    """For each case the triples (article or "", ending of adjectives, noun) that German allows."""
    forms: dict[str, set[tuple[str, str, str]]] = {case: set() for case in CASES}
    for gender, *nouns in map(str.split, DECLENSION.split("\n")[1:-1]):
        for number, case in enumerate(CASES):
            for pattern in (SINGULAR[gender][number], SINGULAR[gender][number + 3]):
                article, ending = pattern.split(" -")
                forms[case].add((article, ending, nouns[number]))
            forms[case].add(("", PLURAL[number][1:], nouns[number + 3]))
    return forms


def governed_case(before: str) -> str:
    """The case that what stands before a noun phrase asks for."""
    if re.search(r"\b(von|über|unter|neben)$", before) or before.startswith("Ein Bild mit"):
        return "dat"
    return "acc" if re.search(r"([Ee]s gibt|gibt es|[Mm]an sieht|sieht man)", before) else "nom"


def test_every_phrase_of_many_captions_agrees() -> None:
    forms = allowed_forms()
    for index in range(800):
        for caption in captions(sample_scene(3, index), "de"):
            for phrase in caption.phrases:
                words = re.sub(r" mit (Streifen|Punkten)$", "", caption.text[phrase.start : phrase.end]).split()
                article = re.sub("zwei|drei|vier", "", words[0].lower())
                case = governed_case(caption.text[: phrase.start].strip())
                allowed = {ending for a, ending, noun in forms[case] if (a, noun) == (article, words[-1])}
                assert allowed, f"{caption.text}: {words} in {case}"
                for adjective in words[1:-1]:
                    if adjective not in ("lila", "rosa"):
                        match = re.fullmatch(rf"({STEMS})(e[nrs]?)", adjective)
                        assert match is not None, adjective
                        assert match[2] in allowed, f"{caption.text}: {words} in {case}"
