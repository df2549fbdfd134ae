"""Photos that two datasets share: what one trains on, the other may hold out.

Multi30K, Flickr30k Entities and Flickr8k divide photos of the same site differently: of the 1,000 test photos of
Flickr30k Entities 903 are in Multi30K's training split. Figures of a model that has seen the photos it is tested on
are too good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from vse_zoo.data.records import Record

__all__ = ["flickr_id", "overlap_notes"]

_TRAIN = "train"


def flickr_id(name: str) -> str:
    """The Flickr id of a photo: the digits that begin its name, or all of the name up to "." where it has none."""
    stem = name.rpartition("/")[2].partition(".")[0]
    first = stem.partition("_")[0]
    return first if first.isdecimal() else stem


def overlap_notes(records: Iterable[Record], others: Mapping[str, Record], name: str) -> list[str]:
    """A sentence for each held-out split, of either dataset, with photos that the other one trains on.

    Args:
        records: the images of a dataset.
        others: those of another, by `flickr_id`.
        name: what to call the other.
    """
    sizes: Counter[str] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    for record in records:
        sizes[record.split] += 1
        other = others.get(flickr_id(record.image))
        if other is not None:
            shared[record.split, other.split] += 1
    held_out = Counter(other.split for other in others.values())
    notes = []
    for (here, there), count in sorted(shared.items()):
        if here != _TRAIN and there == _TRAIN:
            which = f"{count:,} of the {sizes[here]:,} images of the {here} split are in {name}'s training split"
            notes.append(f"{which}: a model trained on {name} has seen them, so don't evaluate it on this split.")
        if here == _TRAIN and there != _TRAIN:
            which = f"{count:,} of the {held_out[there]:,} images of {name}'s {there} split are in the training split"
            notes.append(f"{which} here: a model trained here has seen them, so don't evaluate it on that split.")
    return notes
