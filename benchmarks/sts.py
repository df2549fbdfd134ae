"""r on SemEval's STS files: a model of the zoo beside bags of words and a general sentence encoder, in one run.

    python benchmarks/sts.py MODEL DIR [--data DATASET] [--vectors FILE ...]

MODEL is a run folder, a preset folder or a built-in name; DIR holds a year's STS files, or years. Bags of words are
means of word vectors: the model's own; with ``--data`` those learned from its training captions; those of each file
(word2vec, fastText, GloVe). They leave out words without a vector. TF-IDF takes its frequencies from the sentences of
DIR. MiniLM takes part where it is installed (``benchmarks/peers/minilm.py`` says how).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import minilm
from sklearn.feature_extraction.text import TfidfVectorizer

import vse_zoo
from vse_zoo.data import Dataset
from vse_zoo.evaluation.sts import Encode, evaluate_sts, mean_of, read_sts, sentence_encoder
from vse_zoo.evaluation.tables import markdown_table
from vse_zoo.features.word_vectors import learn_word_vectors, read_word_vectors
from vse_zoo.preprocessing import TextPreprocessor

SPECIAL = 2
"""Padding and the unknown word: ids that no bag holds."""


def bag(preprocessor: TextPreprocessor, vectors: NDArray[Any], language: str) -> Encode:
    """The mean vector of a sentence's known words."""

    def encode(sentences: Sequence[str]) -> NDArray[Any]:
        ids = preprocessor(list(sentences), language).numpy()
        known = ids >= SPECIAL
        return (vectors[ids] * known[..., None]).sum(axis=1) / np.maximum(1, known.sum(axis=1, keepdims=True))

    return encode


def learned(captions: Sequence[str], language: str) -> Encode:
    preprocessor = TextPreprocessor.from_captions({language: captions})
    ids = preprocessor.ragged(captions, language).to_list()
    vectors = learn_word_vectors(ids, len(preprocessor.vocabulary(language))).vectors
    return bag(preprocessor, vectors, language)


def from_file(path: Path, sentences: Sequence[str], language: str) -> Encode:
    preprocessor = TextPreprocessor.from_captions({language: sentences}, minimum_count=1)
    words = ("",) * SPECIAL + preprocessor.vocabulary(language)[SPECIAL:]
    found = read_word_vectors(path, words)
    print(f"{path.name}: {found.coverage(words)}", flush=True)
    return bag(preprocessor, found.vectors, language)


def tf_idf(sentences: Sequence[str]) -> Encode:
    vectorizer = TfidfVectorizer().fit(sentences)
    return lambda some: vectorizer.transform(some).toarray()


def encoders(args: argparse.Namespace, sentences: Sequence[str]) -> dict[str, Encode]:
    model = vse_zoo.load(args.model)
    found = {f"**{args.model}**": sentence_encoder(model, args.language)}
    # TwoWayNet and models of a contextual encoder's states have no word vectors of their own.
    own = getattr(getattr(model, "text_encoders", {}).get(args.language), "words", None)
    if own is not None:
        found["mean of its own word vectors"] = bag(model.preprocessor, own.get_weights()[0], args.language)
    if args.data:
        captions = Dataset.open(args.data).captions("train", args.language)[0]
        same = {caption.lower().rstrip(" .") for caption in captions} & {
            each.lower().rstrip(" .") for each in sentences
        }
        print(f"{len(same)} of {len(sentences)} sentences are training captions of {args.data.name}.", flush=True)
        found["mean of word vectors learned from the training captions"] = learned(captions, args.language)
    for path in args.vectors:
        found[f"mean of word vectors of {path.name}"] = from_file(path, sentences, args.language)
    found["TF-IDF"] = tf_idf(sentences)
    if path := minilm.folder():
        found["all-MiniLM-L6-v2"] = minilm.encoder(path)
    else:
        print(f"all-MiniLM-L6-v2 is left out. To compare with it: {minilm.HOW_TO_GET_IT}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--language", default="en")
    parser.add_argument("--data", type=Path, help="dataset folder whose training captions to learn word vectors from")
    parser.add_argument("--vectors", type=Path, nargs="*", default=[], metavar="FILE")
    args = parser.parse_args()
    sentences = sorted({each for pairs in read_sts(args.folder) for each in (*pairs.first, *pairs.second)})
    rows, header = [], [""]
    for name, encode in encoders(args, sentences).items():
        figures = evaluate_sts(encode, args.folder)
        header = ["Pearson r (Spearman ρ)", *figures, "mean"]
        each = [*figures.values(), mean_of(figures)]
        rows.append([name, *(f"{value.pearson:.3f} ({value.spearman:.3f})" for value in each)])
    print(markdown_table(header, rows))


if __name__ == "__main__":
    main()
