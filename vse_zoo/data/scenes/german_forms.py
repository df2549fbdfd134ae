"""German inflection for the words of the captions: articles, adjective endings and nouns in three cases."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ADJECTIVES", "Noun", "adjective", "article", "inflected"]

ADJECTIVES = {
    "red": ("rot",),
    "orange": ("orangefarben",),
    "yellow": ("gelb",),
    "green": ("grün",),
    "blue": ("blau",),
    "purple": ("violett", "lila"),
    "pink": ("rosa",),
    "black": ("schwarz",),
    "small": ("klein",),
    "large": ("groß",),
    "solid": ("einfarbig",),
    "striped": ("gestreift",),
    "dotted": ("gepunktet",),
}
INDECLINABLE = ("lila", "rosa")

# Nominative, accusative, dative for masculine, feminine, neuter.
DEFINITE = {"nom": ("der", "die", "das"), "acc": ("den", "die", "das"), "dat": ("dem", "der", "dem")}
INDEFINITE = {"nom": ("ein", "eine", "ein"), "acc": ("einen", "eine", "ein"), "dat": ("einem", "einer", "einem")}
WEAK = {"nom": ("e", "e", "e"), "acc": ("en", "e", "e"), "dat": ("en", "en", "en")}
MIXED = {"nom": ("er", "e", "es"), "acc": ("en", "e", "es"), "dat": ("en", "en", "en")}
STRONG_PLURAL = {"nom": "e", "acc": "e", "dat": "en"}


class Noun(NamedTuple):
    """A noun's gender (m, f, n), its nominative in both numbers, and its dative where that differs."""

    gender: str
    singular: str
    plural: str
    dative: str | None = None


def article(noun: Noun, case: str, definite: bool) -> str:
    """The singular article: "der", "einem", …; ``case`` is nom, acc or dat."""
    return (DEFINITE if definite else INDEFINITE)[case]["mfn".index(noun.gender)]


def adjective(stem: str, noun: Noun, case: str, definite: bool, plural: bool) -> str:
    """An adjective after "der" (weak), after "ein" (mixed) or, in the plural, after a bare numeral (strong)."""
    if stem in INDECLINABLE:
        return stem
    if plural:
        return stem + STRONG_PLURAL[case]
    return stem + (WEAK if definite else MIXED)[case]["mfn".index(noun.gender)]


def inflected(noun: Noun, case: str, plural: bool) -> str:
    """The noun itself; the dative plural ends in n."""
    if plural:
        return noun.plural + ("n" if case == "dat" and not noun.plural.endswith("n") else "")
    return noun.dative if case == "dat" and noun.dative else noun.singular
