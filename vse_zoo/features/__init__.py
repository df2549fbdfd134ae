"""Images to region features, by frozen backbones."""

from vse_zoo.features import backbones
from vse_zoo.features.backbone import Backbone
from vse_zoo.features.extraction import Extraction, extract_regions

__all__ = ["Backbone", "Extraction", "backbones", "extract_regions"]
