"""PiecePreprocessor against Hugging Face's tokenizers, on odd input, saved, in a graph and in a SavedModel."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # registers ops that a SavedModel needs  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st

from vse_zoo.errors import DataError, PresetError
from vse_zoo.preprocessing import PiecePreprocessor

LETTERS = "abdeghinoprstuvwäöüßéÄÖÜSGC"
PIECES = ["[MASK]", "[PAD]", "[UNK]", "[CLS]", "[SEP]", "dog", "Straße", "stra", "##ße", "##raße", "über", "caf"]
PIECES += ["日", ".", "'", "-", "½", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
TEXTS = [
    "A dog runs.",
    "Straße, Größe und Übung im café",
    "Ein  süßer Hund\u00a0läuft!",
    "日本 dog",
    "Fuß\u00adball naïve ½ dogs",
    "don't stop-dog",
    "🐶 dog",
    "a\x00b\x07d\ufffd dog",
    "x" * 120 + " dog",
    "(dog) [SEP] [UNK]",
    "\tdog\r\n dog\u2028dog\u3000dog",
]


def create(lowercase: bool = False, strip_accents: bool = False, max_length: int = 100) -> PiecePreprocessor:
    return PiecePreprocessor(PIECES, ["en", "de"], lowercase, strip_accents, max_length)


def words(preprocessor: PiecePreprocessor, text: str | bytes) -> list[str]:
    return [piece.decode() for piece in preprocessor.words([text]).to_list()[0]]


def reference(pieces: list[str], lowercase: bool, strip_accents: bool) -> object:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    found = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    found.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    found.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return found


@pytest.mark.parametrize(("lowercase", "strip_accents"), [(False, False), (True, False), (True, True)])
def test_pieces_ids_and_spans_are_those_of_hugging_face(lowercase: bool, strip_accents: bool) -> None:
    preprocessor, other = create(lowercase, strip_accents), reference(PIECES, lowercase, strip_accents)
    ids, spans = preprocessor.ragged(TEXTS, "de"), preprocessor.spans(TEXTS)
    for text, row, found in zip(TEXTS, ids.to_list(), spans, strict=True):
        expected = other.encode(text)
        assert words(preprocessor, text) == expected.tokens
        assert [number - 1 for number in row] == expected.ids
        assert found.tolist() == [list(offset) for offset in expected.offsets]


def test_capitals_accents_and_eszett_survive_in_a_cased_encoder() -> None:
    assert words(create(), "Straße über Ä Über") == ["Straße", "über", "Ä", "Ü", "##b", "##e", "##r"]
    assert words(create(lowercase=True), "STRAße ÜBER café") == ["stra", "##ße", "über", "caf", "##é"]
    # ß isn't folded to ss, nor stripped.
    assert words(create(True, True), "Straße über") == ["stra", "##ße", "u", "##b", "##e", "##r"]


def test_letters_typed_with_combining_accents_are_the_same() -> None:
    found = create().spans(["ein u\u0308ber"])[0].tolist()
    assert words(create(), "u\u0308ber") == ["über"]
    assert found[-1] == [4, 9]


@pytest.mark.parametrize("text", ["", "  ", "\t\n", "\x00", b"\xff", "\u00ad"])
def test_a_text_without_pieces_is_one_unknown_piece(text: str | bytes) -> None:
    assert words(create(), text) == ["[UNK]"]
    assert create()([text, "dog dog"], "en").numpy().tolist() == [[3, 0], [6, 6]]
    if isinstance(text, str):
        assert create().spans([text])[0].tolist() == [[0, 0]]


def test_rows_are_cut_at_the_maximum_length() -> None:
    preprocessor = create(max_length=2)
    assert words(preprocessor, "über dog dog") == ["über", "dog"]
    assert preprocessor.spans(["über dog dog"])[0].tolist() == [[0, 4], [5, 8]]
    assert preprocessor([], "en").shape[0] == 0
    assert preprocessor.spans([]) == []


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=4),
    st.sampled_from([(False, False), (True, False), (True, True)]),
)
@settings(max_examples=25, deadline=None)
def test_spans_stand_for_pieces_in_any_text(texts: list[str], normal: tuple[bool, bool]) -> None:
    preprocessor = create(*normal)
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    for text, row, spans in zip(texts, preprocessor.words(texts).to_list(), preprocessor.spans(texts), strict=True):
        assert len(row) == len(spans)
        assert (spans >= 0).all()
        assert (spans <= len(text)).all()
        assert (np.diff(spans[:, 0]) >= 0).all()
        assert (spans[:, 0] < spans[:, 1]).all() or spans.tolist() == [[0, 0]]


def test_a_language_or_list_that_does_not_fit_is_refused() -> None:
    with pytest.raises(DataError, match="found 'fr', expected one of: en, de"):
        create()(["dog"], "fr")
    with pytest.raises(ValueError, match=r"found no \[CLS\], \[SEP\], expected the list of a BERT tokenizer"):
        PiecePreprocessor(["[UNK]", "dog"], ["en"])


def test_a_preprocessor_survives_saving_and_its_config(tmp_path: Path) -> None:
    preprocessor = PiecePreprocessor([*PIECES, "\u2028", "\x85"], ["de"], True, False, 7)
    preprocessor.save(tmp_path)
    for copy in (PiecePreprocessor.load(tmp_path), PiecePreprocessor.from_config(preprocessor.get_config())):
        assert copy.get_config() == preprocessor.get_config()
        assert copy(TEXTS, "de").numpy().tolist() == preprocessor(TEXTS, "de").numpy().tolist()
    (tmp_path / "assets" / "pieces.txt").unlink()
    with pytest.raises(PresetError, match=r"pieces\.txt"):
        PiecePreprocessor.load(tmp_path)


def test_it_runs_in_a_graph_and_from_a_saved_model(tmp_path: Path) -> None:
    class Served(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.preprocessor = create()

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def ids(self, texts: tf.Tensor) -> tf.Tensor:
            return self.preprocessor(texts, "de")

    tf.saved_model.save(Served(), str(tmp_path / "served"))
    loaded = tf.saved_model.load(str(tmp_path / "served"))
    assert loaded.ids(tf.constant(TEXTS)).numpy().tolist() == create()(TEXTS, "de").numpy().tolist()


def files(folder: Path, **contents: object) -> Path:
    for name, content in contents.items():
        suffix = ".txt" if name == "vocab" else ".json"
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (folder / f"{name}{suffix}").write_text(text, encoding="utf-8")
    return folder


VOCAB = "".join(f"{piece}\n" for piece in PIECES)
MODEL = {"type": "WordPiece", "vocab": {piece: number for number, piece in reversed(list(enumerate(PIECES)))}}


def normalizer(lowercase: bool, strip_accents: bool | None) -> dict[str, object]:
    return {"type": "BertNormalizer", "lowercase": lowercase, "strip_accents": strip_accents}


FOLDERS: dict[str, tuple[dict[str, object], tuple[bool, bool]]] = {
    "uncased": ({"vocab": VOCAB, "tokenizer_config": {"do_lower_case": True, "strip_accents": None}}, (True, True)),
    "cased": ({"vocab": VOCAB, "tokenizer_config": {"do_lower_case": False, "strip_accents": None}}, (False, False)),
    "uncased German": ({"vocab": VOCAB, "tokenizer_config": {"strip_accents": False}}, (True, False)),
    "nothing said": ({"vocab": VOCAB}, (True, True)),
    "fast": ({"tokenizer": {"model": MODEL, "normalizer": normalizer(True, None)}}, (True, True)),
    "fast and cased": ({"tokenizer": {"model": MODEL, "normalizer": normalizer(False, None)}}, (False, False)),
    "both": (
        {"vocab": VOCAB, "tokenizer": {"model": MODEL, "normalizer": normalizer(True, False)}, "tokenizer_config": {}},
        (True, False),
    ),
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_hugging_face_folders_say_how_text_is_normalised(kind: str, tmp_path: Path) -> None:
    contents, (lowercase, strip_accents) = FOLDERS[kind]
    found = PiecePreprocessor.from_encoder(files(tmp_path, **contents), ["de"], 9)
    assert found.get_config() == create(lowercase, strip_accents, 9).get_config() | {"languages": ["de"]}


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = files(tmp_path, tokenizer={"model": {"type": "BPE", "vocab": {}}})
    with pytest.raises(DataError, match=r"tokenizer\.json, field 'model': found 'BPE', expected WordPiece"):
        PiecePreprocessor.from_encoder(folder, ["en"])
    with pytest.raises(DataError, match="found neither a folder with a tokenizer nor a preset of keras_hub"):
        PiecePreprocessor.from_encoder(tmp_path / "none", ["en"])


@pytest.mark.parametrize("kind", ["keras", "hugging_face"])
def test_tiny_folders_keep_german_letters(tiny_bert: dict[str, Path], kind: str) -> None:
    if kind not in tiny_bert:
        pytest.skip("safetensors isn't installed")
    found = PiecePreprocessor.from_encoder(tiny_bert[kind], ["de"])
    assert (found.lowercase, found.strip_accents) == (False, False)
    assert words(found, "grün Straße Über café.") == ["gr", "##ün", "Stra", "##ße", "Über", "caf", "##é", "."]


def test_an_uncased_keras_folder_strips_accents_unless_its_pieces_have_some(tmp_path: Path) -> None:
    keras_hub = pytest.importorskip("keras_hub")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    for name, pieces, expected in (("english", ["u", "ß"], True), ("german", ["ü"], False)):
        tokenizer = keras_hub.models.BertTokenizer([*special, *pieces], lowercase=True)
        tokenizer.save_to_preset(str(tmp_path / name))
        sizes = {"num_layers": 1, "num_heads": 1, "hidden_dim": 2, "intermediate_dim": 2}
        keras_hub.models.BertBackbone(len(pieces) + 5, **sizes).save_to_preset(str(tmp_path / name))
        found = PiecePreprocessor.from_encoder(tmp_path / name, ["en"])
        assert (found.lowercase, found.strip_accents) == (True, expected)
        assert words(found, "Ü") == [pieces[0]]


def test_minilm_cuts_german_as_its_own_tokenizer(minilm: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    other = tokenizers.Tokenizer.from_file(str(minilm / "tokenizer.json"))
    other.no_padding()
    other.no_truncation()
    preprocessor = PiecePreprocessor.from_encoder(minilm, ["en"])
    for text in TEXTS:
        expected = other.encode(text, add_special_tokens=False)
        # Hugging Face takes the names of special pieces in a text for these pieces.
        if "[" not in text:
            assert words(preprocessor, text) == expected.tokens
    assert words(preprocessor, "Straße über café") == ["st", "##raße", "uber", "cafe"]
