"""Images to region features, by frozen backbones."""

from . import backbones
from .backbone import Backbone
from .extraction import Extraction, extract_regions
from .picture_encoder import PictureEncoder
from .views import picture_view

__all__ = ["Backbone", "Extraction", "PictureEncoder", "backbones", "extract_regions", "picture_view"]
