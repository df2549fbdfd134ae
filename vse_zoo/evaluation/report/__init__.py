"""The report of a run: one HTML file with its figures, curves, a gallery, attention, and a map of its space."""

from vse_zoo.evaluation.report.run import report_run
from vse_zoo.evaluation.report.writing import write_report

__all__ = ["report_run", "write_report"]
