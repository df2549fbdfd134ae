"""A dataset's pictures for a report: one that can't be opened is named and doesn't stop the report."""

from __future__ import annotations

from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import ImageError
from vse_zoo.evaluation.report.content import Picture

__all__ = ["Pictures"]


class Pictures:
    """Opens pictures by row, and remembers what went wrong.

    Args:
        dataset: with pictures or without.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.problems: dict[str, str] = {}

    def open(self, row: int, description: str | None = None) -> Picture:
        """The picture of a row; described by its first caption, or as given."""
        record = self._dataset.records[row]
        if description is None:
            description = next((texts[0] for texts in record.captions.values() if texts), "")
        if not self._dataset.has_pictures:
            return Picture(None, record.image, description)
        try:
            return Picture(self._dataset.open_image(row), record.image, description)
        except ImageError as error:
            self.problems[record.image] = str(error)
            return Picture(None, record.image, description)

    @property
    def note(self) -> str | None:
        """What a reader should know about the pictures; None if all could be opened."""
        if not self._dataset.has_pictures:
            return "none, the dataset holds features only: no examples are shown"
        if not self.problems:
            return None
        number, first = len(self.problems), next(iter(self.problems.values()))
        return f"{number} can't be opened, and {'is' if number == 1 else 'are'} shown by name; the first: {first}"
