"""What stands for the words of a sentence, made ready by a configuration's [text] section."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError, located
from vse_zoo.features.word_vectors import read_word_vectors, word_vector_dim
from vse_zoo.files import write_text
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training.configs import ContextAttentionConfig

__all__ = ["TextInputs"]

_WORD_DIM = 300


@dataclass(frozen=True)
class TextInputs:
    """The preprocessor of a run, and what its model is told of words.

    Args:
        preprocessor: with the languages that are trained on.
        arguments: those of `ContextAttentionVSE` that say what stands for words.
        vectors: for each language the file of its word vectors; none where they are random.
        seed: of the vectors that a file lacks.
    """

    preprocessor: TextPreprocessor
    arguments: dict[str, Any]
    vectors: dict[str, Path]
    seed: int

    @classmethod
    def prepare(cls, config: ContextAttentionConfig, dataset: Dataset, folder: Path) -> TextInputs:
        """Makes ready what ``config`` describes, its relative paths starting at ``folder``.

        Raises:
            ConfigError: a language lacks a file, or sizes don't fit one another.
            DataError: a file is missing, or no word-vector file.
        """
        languages = config.train.languages_of(dataset)
        given = config.text.vectors or {}
        if config.text.kind == "vectors" and (lacking := [name for name in languages if name not in given]):
            problem = f"found no file for {lacking[0]!r}, expected one for each of: {', '.join(languages)}."
            raise ConfigError(f"field 'text.vectors': {problem}")
        vectors = {name: folder / given[name] for name in languages if name in given}
        dim = _word_dim(config, vectors)
        arguments = {"word_dim": dim, "train_words": config.text.trains}
        return cls(config.train.vocabulary(dataset), arguments, vectors, config.train.seed)

    def start(self, model: ContextAttentionVSE, dataset: Dataset, run: Path) -> None:
        """Gives a new model the vectors of the files, prints how many words have one, and lists the others.

        A word without one gets a random one of the same scale. ``run`` gets ``missing_words.<language>.txt``, a word
        a line, most frequent first.
        """
        for language, path in self.vectors.items():
            words = ["", "", *self.preprocessor.vocabulary(language)[2:]]
            found = read_word_vectors(path, words)
            ids = self.preprocessor.ragged(dataset.captions("train", language)[0], language)
            counts = np.bincount(ids.flat_values.numpy(), minlength=len(words))
            if not found.found.any():
                do = "Name a file of this language."
                raise ConfigError(located(path, f"holds none of the {len(words) - 2:,} words of {language!r}.", do=do))
            print(f"{language}: {found.coverage(words, counts)}")
            write_text(run / f"missing_words.{language}.txt", "".join(f"{word}\n" for word in found.missing(words)))
            model.set_word_vectors(language, found.filled(self.seed))


def _word_dim(config: ContextAttentionConfig, vectors: dict[str, Path]) -> int:
    """Length of the word vectors: the one given, or that of all files, which must fit it."""
    units, dim = config.model.units, config.model.word_dim
    for path in vectors.values():
        found = word_vector_dim(path)
        if found != (dim or found):
            given = "[model] word_dim is" if config.model.word_dim else "those of another language have"
            raise ConfigError(located(path, f"found vectors of {found} numbers, {given} {dim}."))
        dim = found
    dim = dim or _WORD_DIM
    if config.model.word_skip and dim != units:
        problem = f"found words of {dim} numbers and units of {units}, expected equal numbers"
        raise ConfigError(f"field 'model.word_skip': {problem}; it adds words to the LSTM's states.")
    return dim
