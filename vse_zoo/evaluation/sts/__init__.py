"""Semantic textual similarity: how well the cosine of two sentences' embeddings follows people's judgement.

SemEval's tasks of 2012–2015 (Agirre et al.), as Huang et al., EMNLP 2019, use them: no STS data in training.
"""

from vse_zoo.evaluation.sts.evaluate import Encode, STSFigures, evaluate_sts, sentence_encoder
from vse_zoo.evaluation.sts.files import STSPairs, read_sts
from vse_zoo.evaluation.sts.tables import mean_of, sts_as_dict, sts_table

__all__ = [
    "Encode",
    "STSFigures",
    "STSPairs",
    "evaluate_sts",
    "mean_of",
    "read_sts",
    "sentence_encoder",
    "sts_as_dict",
    "sts_table",
]
