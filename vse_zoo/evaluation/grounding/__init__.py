"""Phrase to region: does a model that was trained on whole sentences know what their phrases name in the picture?"""

from vse_zoo.evaluation.grounding.boxes import BOX_CONVENTIONS, box_iou, centres_inside, enclosing_box
from vse_zoo.evaluation.grounding.evaluate import AligningModel, evaluate_grounding
from vse_zoo.evaluation.grounding.figures import GroundingFigures
from vse_zoo.evaluation.grounding.tables import grounding_as_dict, grounding_table

__all__ = [
    "AligningModel",
    "BOX_CONVENTIONS",
    "GroundingFigures",
    "box_iou",
    "centres_inside",
    "enclosing_box",
    "evaluate_grounding",
    "grounding_as_dict",
    "grounding_table",
]
