"""Which image an id means: each rule, their order, and what may be meant in two ways."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vse_zoo.errors import DataError
from vse_zoo.features.precomputed import join

FILE = Path("features.tsv")


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("a.jpg", "a.jpg"),
        ("a.jpg", "a"),
        ("a", "a.PNG"),
        ("sub/a.jpg", "sub/a"),
        ("sub/a.jpg", "a.jpg"),
        ("sub/a.jpg", "a"),
        ("a.jpg", "other/a"),
        ("v1.0.jpg", "v1.0"),
        ("1000092795.jpg", "1000092795"),
        ("1000092795_ab12.jpg", "1000092795"),
        ("1000092795", "1000092795_ab12.jpg"),
        ("val2014/COCO_val2014_000000391895.jpg", "391895"),
        ("val2014/COCO_val2014_000000391895.jpg", "000000391895"),
        ("000000391895.jpg", "391895"),
        ("391895", "COCO_val2014_000000391895.jpg"),
        ("COCO_val2014_000000391895.jpg", "COCO_train2014_000000391895.jpg"),
    ],
)
def test_an_id_means_an_image(image: str, name: str) -> None:
    assert join(FILE, [name, "other", "9_x"], [image, "z.jpg"]) == {image: name}


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("a.jpg", "b"),
        ("2023_beach.jpg", "2023_dog"),
        ("v1.0.jpg", "v1"),
        ("a1.jpg", "1"),
        ("1000092795_ab12.jpg", "01000092795"),
        ("COCO_val2014_000000391895.jpg", "39189"),
    ],
)
def test_what_only_looks_alike_is_no_match(image: str, name: str) -> None:
    message = rf"features.tsv: found ids such as '{name}', expected the dataset's images such as '{image}'. Rename"
    with pytest.raises(DataError, match=message):
        join(FILE, [name], [image])


def test_three_of_each_side_are_shown() -> None:
    with pytest.raises(DataError, match=r"such as 'a', 'b', 'c', expected .* 'w', 'x', 'y'\. "):
        join(FILE, list("abcd"), list("wxyz"))
    with pytest.raises(DataError, match=r"found ids such as none, expected"):
        join(FILE, [], ["a"])


def test_the_exact_name_comes_first() -> None:
    assert join(FILE, ["a", "a.jpg"], ["a.jpg"]) == {"a.jpg": "a.jpg"}
    assert join(FILE, ["7", "07"], ["07.jpg", "7.jpg"]) == {"07.jpg": "07", "7.jpg": "7"}
    assert join(FILE, ["sub/a", "a"], ["sub/a.jpg", "a.jpg"]) == {"sub/a.jpg": "sub/a", "a.jpg": "a"}


@pytest.mark.parametrize(
    ("ids", "images", "reason"),
    [
        (["a"], ["a.jpg", "a.png"], "the id 'a', which may mean 'a.jpg', 'a.png'. Use the images' names"),
        (["a"], ["x/a.jpg", "y/a.jpg"], "the id 'a', which may mean 'x/a.jpg', 'y/a.jpg'"),
        (["12"], ["12_a.jpg", "12_b.jpg"], "the id '12', which may mean '12_a.jpg', '12_b.jpg'"),
        (["12_a", "12"], ["12_a.jpg", "12_b.jpg"], "the id '12', which may mean '12_a.jpg', '12_b.jpg'"),
        (["a.jpg", "a.png"], ["a"], "the ids 'a.jpg', 'a.png', each of which may mean 'a'"),
        (["0391895", "00391895"], ["COCO_val2014_000000391895.jpg"], "the ids '0391895', '00391895', each of which"),
    ],
)
def test_ambiguity_is_an_error(ids: list[str], images: list[str], reason: str) -> None:
    with pytest.raises(DataError, match=rf"features.tsv: found {reason}"):
        join(FILE, ids, images)


NAMES = st.lists(st.text("ab01_./", min_size=1, max_size=6), unique=True, min_size=1, max_size=8)


@given(NAMES, NAMES)
def test_no_id_is_given_to_two_images(ids: list[str], images: list[str]) -> None:
    try:
        joined = join(FILE, ids, images)
    except DataError:
        return
    assert set(joined) <= set(images)
    assert set(joined.values()) <= set(ids)
    assert len(set(joined.values())) == len(joined)
    assert all(joined[name] == name for name in set(ids) & set(images))


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("sub/a.jpg", "sub\\a.jpg"),
        ("sub/a.jpg", "SUB/A.JPG"),
        ("sub/a.jpg", "Sub\\A"),
        ("sub/a.jpg", "A.JPG"),
        ("sub/a.jpg", "C:\\features\\A.npz\\a.PNG"),
        ("größe.jpg", unicodedata.normalize("NFD", "größe.jpg")),
        (unicodedata.normalize("NFD", "é.jpg"), "É"),
    ],
)
def test_an_id_in_another_spelling_is_joined_and_said(image: str, name: str) -> None:
    said: list[str] = []
    assert join(FILE, [name, "other"], [image, "z.jpg"], said.append) == {image: name}
    assert said == [f"1 ids of features.tsv and images are spelt differently and were matched ('{name}' is '{image}')."]


def test_exact_spelling_comes_first_and_is_not_said() -> None:
    said: list[str] = []
    images = ["a.jpg", "A.jpg", "b/c.jpg"]
    assert join(FILE, ["A", "a", "C"], images, said.append) == {"a.jpg": "a", "A.jpg": "A", "b/c.jpg": "C"}
    assert len(said) == 1
    assert join(FILE, ["a", "A", "c"], images, said.append) == {"a.jpg": "a", "A.jpg": "A", "b/c.jpg": "c"}
    assert len(said) == 1


def test_a_spelling_that_may_mean_two_is_an_error() -> None:
    with pytest.raises(DataError, match=r"the id 'AB\.jpg', which may mean 'Ab\.jpg', 'aB\.jpg'"):
        join(FILE, ["AB.jpg"], ["Ab.jpg", "aB.jpg"])
    with pytest.raises(DataError, match=r"the ids 'AB\.jpg', 'ab\.jpg', each of which may mean 'Ab\.jpg'"):
        join(FILE, ["AB.jpg", "ab.jpg"], ["Ab.jpg"])
