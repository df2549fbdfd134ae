"""The commands of photo search."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vse_zoo.cli import completion
from vse_zoo.cli.console import say
from vse_zoo.errors import ConfigError
from vse_zoo.registry import SEARCH_PRESET

if TYPE_CHECKING:
    from vse_zoo.search import Answer

__all__ = ["index", "search", "serve"]

_LISTED = 20
_WIDEST = 10_000
_SERVING = ("fastapi", "uvicorn", "python_multipart")


def index(
    photos: Annotated[Path, typer.Argument(help="Folder of photos; folders in it are searched too.")],
    out: Annotated[Path, typer.Option(help="Folder of the index; made, or brought up to date.")],
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"Built-in name, preset or run folder; {SEARCH_PRESET} for a new index.",
            autocompletion=completion.models,
        ),
    ] = None,
    qdrant: Annotated[
        str | None, typer.Option(help="Keep the vectors in Qdrant: a server's address, or 'local' for a folder.")
    ] = None,
) -> None:
    """Make a folder of photos searchable; run it again after changes. Example: vse-zoo index ~/Photos --out photos"""
    from vse_zoo.search.answers import readable
    from vse_zoo.workflow.index import index_photos

    try:
        done = index_photos(photos, out, preset, qdrant)
    except KeyboardInterrupt:
        say("Interrupted; what was done is kept. Run the same command to go on.")
        raise SystemExit(130) from None
    for path, reason in list(done.unreadable.items())[:_LISTED]:
        say(f"- left out {readable(Path(path))}: {reason}")
    if len(done.unreadable) > _LISTED:
        say(f"- … and {len(done.unreadable) - _LISTED:,} more left out")
    copies = f", {done.photos - done.contents:,} of them copies" if done.photos > done.contents else ""
    say(f"{done.photos:,} photos{copies}: {done.new:,} new, {done.changed:,} changed, {done.gone:,} gone.")
    say(f'Next: vse-zoo search {out} "a dog on the beach"')


def search(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="Folder that vse-zoo index made.")],
    query: Annotated[str | None, typer.Argument(help="What is in the photo.")] = None,
    language: Annotated[str | None, typer.Option(help="Of the query, such as de; else found by its words.")] = None,
    image: Annotated[Path | None, typer.Option(help="Instead of a query: a picture to find similar photos of.")] = None,
    k: Annotated[int, typer.Option("-k", help="Photos to show.")] = 10,
    min_confidence: Annotated[float | None, typer.Option(help="Leave out results less often right, 0 to 1.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with the photos there.")] = None,
) -> None:
    """Find photos by a sentence, or by a picture. Example: vse-zoo search photos "ein Hund am Strand" """
    if (query is None) == (image is None):
        raise ConfigError("search: expected a query, or a picture with --image.")
    from vse_zoo.search.index import Index

    with Index.open(folder) as opened:
        if image is not None:
            answer = opened.search_image(image, k)
        else:
            answer = opened.search_text(query or "", language, k, min_confidence)
    if html is not None:
        from vse_zoo.search.page import write_page  # brings matplotlib

        write_page(answer, html)
    if as_json:
        print(json.dumps(answer.as_json(), indent=2, ensure_ascii=False))
        return
    if notice := answer.notice(str(folder)):
        say(notice)
    _show(answer)
    if html is not None:
        say(f"Open {html}")


def serve(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="Folder that vse-zoo index made.")],
    port: Annotated[int, typer.Option(help="Port of the page; 0: any that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen at; others can reach 0.0.0.0.")] = "127.0.0.1",
) -> None:
    """Search on a page in your browser, and by a JSON API. Example: vse-zoo serve photos"""
    if not all(map(find_spec, _SERVING)):
        raise ConfigError("serve: needs FastAPI, which isn't installed. Run: pip install 'vse-zoo[serve]'.")
    from vse_zoo.search.web import serve_index  # optional

    serve_index(folder, host, port, say)


def _show(answer: Answer) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from vse_zoo.search.answers import readable

    if answer.unknown:
        say(f"Words that the model doesn't know ({answer.language}): {', '.join(answer.unknown)}")
    if not answer.results:
        say("Nothing found." if answer.photos else "The index is empty.")
        return
    table = Table(box=None, header_style="bold")
    measured = any(result.confidence is not None for result in answer.results)
    for name in ("", "score", "right" if measured else "", "photo"):
        table.add_column(name, justify="left" if name == "photo" else "right", no_wrap=True)
    for number, result in enumerate(answer.results, 1):
        right = "" if result.confidence is None else f"{result.confidence:.0%}" + (" weak" if result.weak else "")
        link = Text(readable(result.path), style=f"link {result.path.as_uri()}")
        more = f" (+{len(result.copies)} copies)" if result.copies else ""
        style = "dim" if result.weak else ""
        table.add_row(str(number), f"{result.score:.3f}", right, link + Text(more), style=style)
    # As wide as its content: a path that is broken in two can't be copied.
    Console(width=_WIDEST).print(table)
    language = f" ({answer.language})" if answer.language else ""
    say(f"{answer.photos:,} photos searched{language}.")
