"""What stands for the words of a sentence, made ready by a configuration's [text] section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.data import Dataset
from vse_zoo.errors import ConfigError, located
from vse_zoo.features.word_vectors import read_word_vectors, word_vector_dim
from vse_zoo.files import write_text
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.models.context_attention import ContextualWords, precomputed_states
from vse_zoo.preprocessing import PiecePreprocessor, TextPreprocessor
from vse_zoo.training.configs import ContextAttentionConfig

__all__ = ["TextInputs"]

_WORD_DIM = 300


@dataclass(frozen=True)
class TextInputs:
    """The preprocessor of a run, and what its model is told of words.

    Args:
        preprocessor: with the languages that are trained on.
        arguments: those of `ContextAttentionVSE` that say what stands for words.
        vectors: for each language the file of its word vectors, if they come from files.
        states: for each language the file of its captions' states, if they are computed before.
        seed: of the vectors that a file lacks.
    """

    preprocessor: TextPreprocessor | PiecePreprocessor
    arguments: dict[str, Any]
    vectors: dict[str, Path]
    states: dict[str, Path]
    seed: int

    @classmethod
    def prepare(cls, config: ContextAttentionConfig, dataset: Dataset, folder: Path) -> TextInputs:
        """Makes ready what ``config`` describes, its relative paths starting at ``folder``.

        Word vectors that aren't there are looked for in the dataset's folder.

        Raises:
            ConfigError: a language lacks a file, or sizes don't fit one another.
            DataError: a file is missing, or no word-vector file.
        """
        if config.text.kind == "contextual":
            return cls._contextual(config, dataset, folder)
        vectors = _vector_files(config, dataset, folder)
        dim = _word_dim(config, {path: word_vector_dim(path) for path in vectors.values()})
        arguments = {"word_dim": dim, "train_words": config.text.trains}
        return cls(config.train.vocabulary(dataset), arguments, vectors, {}, config.train.seed)

    @classmethod
    def _contextual(cls, config: ContextAttentionConfig, dataset: Dataset, folder: Path) -> TextInputs:
        encoder = str(config.text.encoder)
        encoder = str(folder / encoder) if (folder / encoder).is_dir() else encoder
        train = config.train
        preprocessor = PiecePreprocessor.from_encoder(encoder, train.languages_of(dataset), train.max_length)
        contextual = ContextualWords.from_encoder(encoder, preprocessor.special_pieces, trainable=config.text.trains)
        if contextual.max_length is not None and train.max_length > contextual.max_length:
            problem = f"found {train.max_length}, {encoder} takes {contextual.max_length} pieces at most."
            raise ConfigError(f"field 'train.max_length': {problem}")
        arguments = {"word_dim": _word_dim(config, {encoder: contextual.dim}), "contextual": contextual}
        states = {}
        if config.text.precomputed:
            states = {
                language: precomputed_states(dataset, "train", language, preprocessor, contextual)
                for language in preprocessor.languages
                if dataset.captions("train", language)[0]
            }
        return cls(preprocessor, arguments, {}, states, train.seed)

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


def _vector_files(config: ContextAttentionConfig, dataset: Dataset, folder: Path) -> dict[str, Path]:
    given = config.text.vectors or {}
    languages = config.train.languages_of(dataset)
    if config.text.kind == "vectors" and (lacking := [name for name in languages if name not in given]):
        problem = f"found no file for {lacking[0]!r}, expected one for each of: {', '.join(languages)}."
        raise ConfigError(f"field 'text.vectors': {problem}")
    return {name: _found(given[name], folder, dataset.path) for name in languages if name in given}


def _found(name: str, folder: Path, data: Path) -> Path:
    return data / name if not (folder / name).exists() and (data / name).exists() else folder / name


def _word_dim(config: ContextAttentionConfig, sources: Mapping[Path | str, int]) -> int:
    """Length of the word vectors: the one given, or that of all files or of the encoder, which must fit it."""
    dim = config.model.word_dim
    for source, found in sources.items():
        if found != (dim or found):
            given = "[model] word_dim is" if config.model.word_dim else "those of another language have"
            raise ConfigError(located(source, f"found vectors of {found} numbers, {given} {dim}."))
        dim = found
    dim = dim or _WORD_DIM
    if config.model.word_skip and dim != config.model.units:
        problem = f"found words of {dim} numbers and units of {config.model.units}, expected equal numbers"
        raise ConfigError(f"field 'model.word_skip': {problem}; it adds words to the LSTM's states.")
    return dim
