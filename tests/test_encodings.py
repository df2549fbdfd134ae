"""Bytes to text: Python's own codecs on the other side."""

from __future__ import annotations

from pathlib import Path

import pytest

from vse_zoo.encodings import decode_text, read_text
from vse_zoo.errors import ConfigError, DataError

PATH = Path("list.txt")
GERMAN = "ein Mädchen läuft über die Straße\nzwei Männer grüßen\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_comes_before_the_named_encoding(encoding: str) -> None:
    assert decode_text(PATH, GERMAN.encode(encoding), "windows-1252").text == GERMAN


def test_text_that_is_utf8_is_read_so_whatever_is_named() -> None:
    assert decode_text(PATH, GERMAN.encode(), "windows-1252") == (GERMAN, "UTF-8")


@pytest.mark.parametrize("encoding", ["windows-1252", "cp850", "mac-roman", "utf-16-le", "utf-16-be", "utf-8"])
def test_the_named_encoding(encoding: str) -> None:
    assert decode_text(PATH, GERMAN.encode(encoding), encoding).text == GERMAN


@pytest.mark.parametrize("encoding", ["iso-2022-jp", "utf-16-le", "utf-16-be"])
def test_named_encodings_whose_bytes_are_all_ascii(encoding: str) -> None:
    text = "犬が走る\n" if encoding == "iso-2022-jp" else "a dog runs\n"
    assert text.encode(encoding).isascii()
    assert decode_text(PATH, text.encode(encoding), encoding) == (text, encoding)


# A stated language as its common encoding of Windows, a Mac or DOS holds it.
LOOKS = {
    "windows-1252": GERMAN,
    "windows-1250": "chłopiec biegnie po plaży\ndziewczyna w różowej sukience się śmieje\n",
    "windows-1251": "мальчик бежит по пляжу\nсобака играет с мячом\n",
    "windows-1253": "ένα κορίτσι τρέχει στην παραλία\n",
    "cp932": "犬が浜辺を走っている\n赤い服の少女\n",
    "gb18030": "一只狗在海滩上奔跑\n两个女孩穿着粉色的裙子\n",
    "big5": "一隻狗在海灘上奔跑\n兩個女孩穿著粉色的裙子\n",
    "cp949": "개가 해변을 달린다\n분홍색 드레스를 입은 두 소녀\n",
    "mac-roman": GERMAN,
    "cp850": GERMAN,
    "utf-16-le": GERMAN,
    "utf-16-be": "a dog\n",
}


@pytest.mark.parametrize("encoding", LOOKS)
@pytest.mark.parametrize("before", ["", "a.jpg a dog\n" * 20_000])
def test_the_message_says_what_it_looks_like(encoding: str, before: str) -> None:
    content = (before + LOOKS[encoding]).encode(encoding)
    with pytest.raises(DataError) as caught:
        decode_text(PATH, content, option="--encoding")
    advice = f"It looks like {encoding}. Name the encoding with --encoding {encoding}, or save the file as UTF-8."
    assert advice in str(caught.value)
    with pytest.raises(DataError, match=rf"It looks like {encoding}\. Save the file as UTF-8"):
        decode_text(PATH, content)


def test_the_message_says_where() -> None:
    for content, line in ((b"a\nb\xe4\nc", 2), (b"\xff\xfea\0\n\0b", 2), ("a\n上\n上".encode("utf-16") + b"\0", 3)):
        with pytest.raises(DataError, match=rf"list\.txt, line {line}: found the byte"):
            decode_text(PATH, content)


def test_bytes_that_are_no_text_look_like_nothing() -> None:
    with pytest.raises(DataError, match=r"expected UTF-8 text\. Name the encoding with --encoding NAME, or save"):
        decode_text(PATH, b"PK\x03\x04" + bytes(range(256)) * 40, option="--encoding")


def test_a_named_encoding_that_does_not_fit() -> None:
    with pytest.raises(DataError, match=r"line 1: found the byte 0xe4, expected ascii text\. It looks like windows-12"):
        decode_text(PATH, GERMAN.encode("cp1252"), "ascii")
    with pytest.raises(DataError, match=r"found the byte 0x00, expected latin-1 text\. It looks like utf-16-le"):
        decode_text(PATH, GERMAN.encode("utf-16-le"), "latin-1")


@pytest.mark.parametrize("encoding", ["windows-9", "hex", "idna", "", "a\0b"])
def test_a_name_of_no_encoding(encoding: str) -> None:
    with pytest.raises(ConfigError, match=r"^encoding: found '.*', expected the name of an encoding of text"):
        decode_text(PATH, b"a", encoding)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(GERMAN.encode("utf-16"))
    assert read_text(tmp_path / "a.txt") == (GERMAN, "UTF-16")
    with pytest.raises(DataError, match=r"b\.txt: no such file"):
        read_text(tmp_path / "b.txt")
    with pytest.raises(DataError, match=r"can't be read \(Is a directory\)"):
        read_text(tmp_path)
