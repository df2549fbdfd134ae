"""One picture and one sentence explained: where each word is seen, and the transport plan between words and regions."""

from vse_zoo.evaluation.explanation.content import Explanation
from vse_zoo.evaluation.explanation.figure import write_figure
from vse_zoo.evaluation.explanation.page import write_page

__all__ = ["Explanation", "write_figure", "write_page"]
