"""German captions: a small grammar from meanings to sentences."""

from __future__ import annotations

from vse_zoo.data.scenes.draws import Draws
from vse_zoo.data.scenes.german_forms import ADJECTIVES, Noun, adjective, article, inflected
from vse_zoo.data.scenes.meaning import Meaning, Mention
from vse_zoo.data.scenes.text import Piece, Span, enumerated, sentence

__all__ = ["noun_phrase", "realise"]

# Of several words for one thing the first is the commonest.
NOUNS = {
    None: (Noun("f", "Figur", "Figuren"),),
    "circle": (Noun("m", "Kreis", "Kreise"), Noun("f", "Scheibe", "Scheiben")),
    "square": (Noun("n", "Quadrat", "Quadrate"),),
    "triangle": (Noun("n", "Dreieck", "Dreiecke"),),
    "star": (Noun("m", "Stern", "Sterne"),),
    "heart": (Noun("n", "Herz", "Herzen", dative="Herzen"),),
    "cross": (Noun("n", "Kreuz", "Kreuze"),),
    "ring": (Noun("m", "Ring", "Ringe"),),
    "moon": (Noun("m", "Mond", "Monde"), Noun("f", "Sichel", "Sicheln")),
    "flower": (Noun("f", "Blume", "Blumen"), Noun("f", "Blüte", "Blüten")),
    "diamond": (Noun("f", "Raute", "Rauten"), Noun("m", "Rhombus", "Rhomben")),
}
PATTERNS_AFTER = {"striped": "mit Streifen", "dotted": "mit Punkten"}
NUMERALS = {2: "zwei", 3: "drei", 4: "vier"}
RELATIONS = {"left": "links von", "right": "rechts von", "above": "über", "below": "unter", "beside": "neben"}
PLACES = {
    "top left": ("oben links", "links oben"),
    "top right": ("oben rechts", "rechts oben"),
    "bottom left": ("unten links", "links unten"),
    "bottom right": ("unten rechts", "rechts unten"),
    "top": ("oben",),
    "bottom": ("unten",),
    "left": ("links",),
    "right": ("rechts",),
    "middle": ("in der Mitte",),
}
BACKGROUNDS = {
    None: ("",),
    "grass": ("auf Gras", "auf einer Wiese"),
    "sand": ("auf Sand", "am Strand"),
    "snow": ("im Schnee",),
    "night": ("am Nachthimmel", "bei Nacht"),
    "wood": ("auf Holz", "auf einem Holzboden"),
    "water": ("auf dem Wasser", "auf dem Meer"),
    "bricks": ("an einer Mauer", "vor einer Mauer"),
    "paper": ("auf Papier", "auf kariertem Papier"),
}
# Openings with the case that they ask for; {} is the verb's place: (singular, plural).
OPENINGS = (("", "nom"), ("es gibt", "acc"), ("man sieht", "acc"), ("zu sehen {}", "nom"), ("ein Bild mit", "dat"))
AFTER_BACKGROUND = (("sieht man", "acc"), ("gibt es", "acc"), ("{}", "nom"), ("{} sich", "nom"))
VERBS = {"zu sehen {}": ("ist", "sind"), "{}": ("ist", "sind"), "{} sich": ("befindet", "befinden")}


def realise(meaning: Meaning, draws: Draws) -> tuple[str, list[Span]]:
    """One German sentence that says ``meaning``, with the character span of each mention."""
    background = Piece(draws.preferred(BACKGROUNDS[meaning.background]))
    first = bool(background.text) and draws.chance(0.35)
    if meaning.total is not None:
        told = sum(mention.count for mention in meaning.mentions)
        link = ":" if told == meaning.total else ", darunter"
        head = Piece(f"{NUMERALS[meaning.total]} Figuren")
        return sentence([head, background, Piece(link), *enumerated(_chunks(meaning, "nom", draws), "und")])
    if meaning.mentions[0].definite:
        return sentence(_statement(meaning, background, first, draws))
    opening, case = draws.choice(AFTER_BACKGROUND) if first else draws.choice(OPENINGS, weights=(4, 1, 2, 1, 2))
    chunks = _chunks(meaning, case, draws)
    singular, plural = VERBS.get(opening, ("", ""))
    several = len(chunks) > 1 or meaning.mentions[0].count > 1
    start = Piece(opening.format(plural if several else singular))
    body = enumerated(chunks, "und")
    return sentence([background, start, *body] if first else [start, *body, background])


def noun_phrase(mention: Mention, case: str, draws: Draws) -> str:
    """Article or numeral, adjectives and noun in ``case`` (nom, acc, dat), perhaps with "mit Streifen" after it."""
    said = mention.description
    noun = draws.preferred(NOUNS[said.shape])
    plural = mention.count > 1
    after = PATTERNS_AFTER.get(said.pattern or "", "") if draws.chance(0.3) else ""
    attributes = (said.size, None if after else said.pattern, said.colour)
    stems = [draws.preferred(ADJECTIVES[attribute]) for attribute in attributes if attribute]
    return " ".join(
        [
            NUMERALS[mention.count] if plural else article(noun, case, mention.definite),
            *(adjective(stem, noun, case, mention.definite, plural) for stem in stems),
            inflected(noun, case, plural),
            *([after] if after else []),
        ]
    )


def _statement(meaning: Meaning, background: Piece, first: bool, draws: Draws) -> list[Piece]:
    """As in "der Kreis ist über dem Stern": the verb is second, whether the background comes first or last."""
    subject = Piece(noun_phrase(meaning.mentions[0], "nom", draws), 0)
    other = Piece(noun_phrase(meaning.mentions[1], "dat", draws), 1)
    relation = RELATIONS[meaning.relation or ""]
    if first:
        return [background, Piece("ist"), subject, Piece(relation), other]
    return [subject, Piece("ist"), Piece(relation), other, background]


def _chunks(meaning: Meaning, case: str, draws: Draws) -> list[list[Piece]]:
    """What is enumerated: each mention with its place, and two related ones as one chunk (the second in the dative)."""
    chunks = []
    for number, mention in enumerate(meaning.mentions):
        place = draws.preferred(PLACES[mention.place]) if mention.place else ""
        governed = "dat" if meaning.relation and number == 1 else case
        chunks.append([Piece(noun_phrase(mention, governed, draws), number), Piece(place)])
    if meaning.relation is None:
        return chunks
    pair = [*chunks[0], Piece(RELATIONS[meaning.relation]), *chunks[1]]
    return [pair, *chunks[2:]] if draws.chance(0.5) else [*chunks[2:], pair]
