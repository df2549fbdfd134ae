"""Images to region features, by frozen backbones."""

from vse_zoo.features import backbones
from vse_zoo.features.backbone import Backbone
from vse_zoo.features.extraction import Extraction, extract_regions
from vse_zoo.features.picture_encoder import PictureEncoder
from vse_zoo.features.views import picture_view

__all__ = ["Backbone", "Extraction", "PictureEncoder", "backbones", "extract_regions", "picture_view"]
