"""Small XML files, read with the line of each element and without anything that could do harm."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from vse_zoo.errors import DataError, located

__all__ = ["Element", "parse_xml"]

_MOST_BYTES = 2**20


@dataclass
class Element:
    """An element: its tag, the line it begins on, the text in it, the elements in it; attributes are skipped."""

    tag: str
    row: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """The elements of that tag directly below."""
        return [child for child in self.children if child.tag == tag]


def parse_xml(path: Path) -> Element:
    """The root of an XML file.

    A document type is refused, since it can declare entities that grow without end or name other files; so is a file
    above 1 MiB. The standard library's ElementTree would do, but knows no lines.

    Raises:
        DataError: the file is missing, too large, not well-formed, or has a document type.
    """
    if not path.is_file():
        raise DataError(located(path, "no such file."))
    if (size := path.stat().st_size) > _MOST_BYTES:
        raise DataError(located(path, f"found {size} bytes, expected at most {_MOST_BYTES}."))
    parser = expat.ParserCreate()
    top = Element("", 0)
    open_elements = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def text(characters: str) -> None:
        open_elements[-1].text += characters

    def refuse(*declaration: object) -> None:
        problem = "found a document type (<!DOCTYPE), expected elements only."
        raise DataError(located(path, problem, row=parser.CurrentLineNumber))

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(path.read_bytes(), True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the latter two: encodings that Python can't read
        problem = f"not well-formed XML ({error})."
        raise DataError(located(path, problem, row=parser.ErrorLineNumber)) from None
    return top.children[0]
