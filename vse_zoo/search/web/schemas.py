"""What the page's JSON API answers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

__all__ = ["Found", "Head", "Language", "Looked", "Problem", "Searched", "Summary", "Word"]


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


class Language(BaseModel):
    """A language of queries."""

    code: str
    name: str


class Summary(BaseModel):
    """An index."""

    photos: int = Field(description="Different photos; copies count once.")
    preset: str
    languages: list[Language]
    calibrated: bool = Field(description="Whether results have a confidence.")
    explains: bool = Field(description="Whether /api/explain can show where words are seen.")


class Found(BaseModel):
    """A photo that was found."""

    id: int = Field(description="For /api/thumbnail, /api/photo and /api/explain.")
    path: str
    score: float
    confidence: float | None = Field(description="How often a result at this score was right, where it was measured.")
    weak: bool = Field(description="More likely wrong than worth a look.")
    copies: list[str] = Field(description="Other files with the same content.")


class Searched(BaseModel):
    """Photos, best first."""

    query: str | None = Field(description="The sentence; null of a picture.")
    language: str | None = Field(description="Of the sentence, as given or found; null of a picture.")
    unknown_words: list[str] = Field(description="Words that the model doesn't know; if it knows none, no results.")
    photos: int = Field(description="How many different ones were searched.")
    notice: str | None = Field(description="What to do about photos that are no longer there; null where all are.")
    results: list[Found]


class Word(BaseModel):
    """A word of a query, over a photo's regions."""

    text: str
    known: bool
    part: float = Field(description="What it adds to the score; all words together are the score.")
    weights: list[float] = Field(description="Share of each region; they sum to 1, or are all 0.")


class Head(BaseModel):
    """What an attention head looks at, whatever the other side is."""

    regions: list[float] = Field(description="Weights of the regions; they sum to 1.")
    words: list[float] = Field(description="Weights of the words; they sum to 1.")


class Looked(BaseModel):
    """Why a photo fits a query: where in it each word is seen."""

    photo: int
    query: str
    language: str
    method: Literal["attention", "transport"]
    grid: tuple[int, int] = Field(description="Rows and columns of the regions, row by row from the top left.")
    score: float
    words: list[Word]
    heads: list[Head] = Field(description='Only of the method "attention".')
