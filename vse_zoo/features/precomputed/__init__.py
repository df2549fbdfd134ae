"""Region features that another program computed: one reader per format, the joining of ids, and the writing."""

from vse_zoo.features.precomputed.entries import Entry, ImageRegions, Place
from vse_zoo.features.precomputed.joining import join
from vse_zoo.features.precomputed.opening import open_entries, reads
from vse_zoo.features.precomputed.writing import RegionsWriter, Written

__all__ = ["Entry", "ImageRegions", "Place", "RegionsWriter", "Written", "join", "open_entries", "reads"]
