"""English captions: a small grammar from meanings to sentences."""

from __future__ import annotations

from vse_zoo.data.scenes.draws import Draws
from vse_zoo.data.scenes.meaning import Description, Meaning, Mention
from vse_zoo.data.scenes.text import Piece, Span, enumerated, sentence

__all__ = ["noun_phrase", "realise"]

# Of several words for one thing the first is the commonest.
NOUNS = {
    None: ("shape",),
    "circle": ("circle", "disc"),
    "square": ("square",),
    "triangle": ("triangle",),
    "star": ("star",),
    "heart": ("heart",),
    "cross": ("cross",),
    "ring": ("ring",),
    "moon": ("moon", "crescent"),
    "flower": ("flower", "blossom"),
    "diamond": ("diamond", "rhombus"),
}
PLURALS = {"cross": "crosses", "rhombus": "rhombuses"}
COLOURS = {"purple": ("purple", "violet")}
SIZES = {"small": ("small", "little"), "large": ("large", "big")}
PATTERNS = {"solid": ("plain",), "striped": ("striped", "with stripes"), "dotted": ("dotted", "with dots")}
NUMERALS = {2: "two", 3: "three", 4: "four"}
RELATIONS = {
    "left": ("to the left of", "left of"),
    "right": ("to the right of", "right of"),
    "above": ("above", "over"),
    "below": ("below", "under"),
    "beside": ("next to", "beside"),
}
PLACES = {
    "top left": ("in the top left corner", "at the top left"),
    "top right": ("in the top right corner", "at the top right"),
    "bottom left": ("in the bottom left corner", "at the bottom left"),
    "bottom right": ("in the bottom right corner", "at the bottom right"),
    "top": ("at the top",),
    "bottom": ("at the bottom",),
    "left": ("on the left",),
    "right": ("on the right",),
    "middle": ("in the middle", "in the centre"),
}
BACKGROUNDS = {
    None: ("",),
    "grass": ("on grass", "on a lawn"),
    "sand": ("on sand", "on a beach"),
    "snow": ("in the snow",),
    "night": ("in the night sky", "at night"),
    "wood": ("on wood", "on a wooden floor"),
    "water": ("on water", "on the sea"),
    "bricks": ("on a brick wall", "in front of a wall"),
    "paper": ("on paper", "on squared paper"),
}


def realise(meaning: Meaning, draws: Draws) -> tuple[str, list[Span]]:
    """One English sentence that says ``meaning``, with the character span of each mention."""
    background = Piece(draws.preferred(BACKGROUNDS[meaning.background]))
    first = bool(background.text) and draws.chance(0.35)
    chunks = _chunks(meaning, draws)
    if meaning.total is not None:
        told = sum(mention.count for mention in meaning.mentions)
        link = ":" if told == meaning.total else ", among them"
        head = Piece(f"{NUMERALS[meaning.total]} shapes")
        return sentence([head, background, Piece(link), *enumerated(chunks, "and")])
    if meaning.mentions[0].definite:
        return sentence([background, Piece(","), *chunks[0]] if first else [*chunks[0], background])
    opening = _opening(meaning, chunks, draws)
    if first:
        opening = opening if opening.startswith(("there", "you")) else ","
        return sentence([background, Piece(opening), *enumerated(chunks, "and")])
    return sentence([Piece(opening), *enumerated(chunks, "and"), background])


def noun_phrase(mention: Mention, draws: Draws) -> str:
    """Article or numeral, adjectives, noun and perhaps "with stripes": "a small red star with dots"."""
    description = mention.description
    adjectives, after = _modifiers(description, draws)
    noun = draws.preferred(NOUNS[description.shape])
    noun = PLURALS.get(noun, noun + "s") if mention.count > 1 else noun
    words = [*adjectives, noun, *after]
    if mention.count > 1:
        return " ".join([NUMERALS[mention.count], *words])
    return " ".join(["the" if mention.definite else "an" if words[0][0] in "aeiou" else "a", *words])


def _modifiers(description: Description, draws: Draws) -> tuple[list[str], list[str]]:
    """Size, pattern, colour in this order; a pattern may follow the noun instead."""
    size = [draws.preferred(SIZES[description.size])] if description.size else []
    pattern = [draws.preferred(PATTERNS[description.pattern])] if description.pattern else []
    colour = [draws.preferred(COLOURS.get(description.colour, (description.colour,)))] if description.colour else []
    if pattern and pattern[0].startswith("with"):
        return size + colour, pattern
    return size + pattern + colour, []


def _chunks(meaning: Meaning, draws: Draws) -> list[list[Piece]]:
    """What is enumerated: each mention with its place, and two related ones as one chunk."""
    chunks = []
    for number, mention in enumerate(meaning.mentions):
        place = draws.preferred(PLACES[mention.place]) if mention.place else ""
        chunks.append([Piece(noun_phrase(mention, draws), number), Piece(place)])
    if meaning.relation is None:
        return chunks
    verb = "is " if meaning.mentions[0].definite else ""
    relation = Piece(verb + draws.preferred(RELATIONS[meaning.relation]))
    pair = [*chunks[0], relation, *chunks[1]]
    return [pair, *chunks[2:]] if draws.chance(0.5) else [*chunks[2:], pair]


def _opening(meaning: Meaning, chunks: list[list[Piece]], draws: Draws) -> str:
    """What comes before the enumeration; the verb agrees with its first item."""
    first = chunks[0][0].mention
    verb = "are" if first is not None and meaning.mentions[first].count > 1 else "is"
    return draws.choice(("", f"there {verb}", "you can see", "a picture of"), weights=(4, 2, 2, 2))
