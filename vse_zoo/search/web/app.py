"""The page and its JSON API as an ASGI application."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, File, HTTPException, Query, Request, Response, UploadFile
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.routing import Match, Route

from vse_zoo.errors import VSEZooError
from vse_zoo.search.index import Index
from vse_zoo.search.web.guard import Guard, trusted_names
from vse_zoo.search.web.schemas import Looked, Problem, Searched, Summary
from vse_zoo.search.web.service import Service

__all__ = ["create_app"]

_STATIC = Path(__file__).with_name("static")
_FOR_GOOD = {"Cache-Control": "private, max-age=86400"}
"""A key never gets another content."""


def _service(request: Request) -> Service:
    return request.app.state.service


def _refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem} for status in statuses}


_SENTENCES = ["a dog on the beach", "ein Hund am Strand"]
Asked = Annotated[Service, Depends(_service)]
Sentence = Annotated[str, Query(min_length=1, max_length=500, description="What is in the photo.", examples=_SENTENCES)]
Tongue = Annotated[str | None, Query(max_length=35, description="Of the sentence, such as de; else found.")]
Number = Annotated[int, Query(ge=1, le=200, description="Photos wanted.")]
Least = Annotated[float | None, Query(ge=0, le=1, description="Leave out results less often right.")]
_ID: dict[str, Any] = {"ge": 1, "le": 2**63 - 1, "description": "The id of a result.", "examples": [1]}
Key = Annotated[int, InPath(**_ID)]
Picture = Annotated[UploadFile, File(description="A picture file of at most 20 MB.")]

router = APIRouter()
_PICTURE: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}


def create_app(index: Index, host: str = "127.0.0.1") -> FastAPI:
    """The application that searches an index.

    Args:
        index: an opened index; who opened it closes it.
        host: the address or name at which the application will be reached.
    """

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.service.close()

    app = FastAPI(
        title="Photo search",
        description="Photos of one folder, by a sentence or by a picture.",
        version="1",
        openapi_url="/api/openapi.json",
        docs_url=None,  # their scripts would come from another site
        redoc_url=None,
        lifespan=running,
        responses=_refusals(400, 403, 413),  # the guard's, of any request
    )
    app.state.service = Service(index)
    app.include_router(router)
    app.add_exception_handler(VSEZooError, _bad_request)
    app.add_exception_handler(RequestValidationError, _impossible)
    app.add_exception_handler(405, _other_methods)
    app.add_middleware(Guard, names=trusted_names(host))
    return app


async def _bad_request(request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": _sendable(str(error))}, 400)


async def _impossible(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = (f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
    return JSONResponse({"detail": _sendable("; ".join(problems))}, 422)


async def _other_methods(request: Request, error: Exception) -> Response:
    """Names those of all routes of an address; Starlette would name the first one's."""
    routes = (route for route in (*request.app.routes, *router.routes) if isinstance(route, Route))
    found = (route.methods or () for route in routes if route.matches(request.scope)[0] != Match.NONE)
    allowed = ", ".join(sorted(set().union(*found)))
    return JSONResponse({"detail": f"{request.method}: expected {allowed}."}, 405, {"Allow": allowed})


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@router.get("/api/index", responses=_refusals(429))
async def index_summary(service: Asked) -> Summary:
    """What is searched."""
    return await service.summary()


@router.get("/api/search", responses=_refusals(422, 429))
async def search(
    service: Asked, q: Sentence, language: Tongue = None, k: Number = 30, min_confidence: Least = None
) -> Searched:
    """Photos that fit a sentence."""
    return await service.sentences.run(service.search, q, language or None, k, min_confidence)


@router.post("/api/search", responses=_refusals(422, 429))
async def search_by_picture(service: Asked, picture: Picture, k: Number = 30) -> Searched:
    """Photos that look like a picture."""
    return await service.search_picture(await picture.read(), k)


@router.get("/api/explain", responses=_refusals(404, 410, 422, 429))
async def explain(
    service: Asked,
    photo: Annotated[int, Query(**_ID)],
    q: Sentence,
    language: Tongue = None,
) -> Looked:
    """Where in a photo the words of a sentence are seen."""
    return await service.explain(photo, q, language or None)


@router.get("/api/thumbnail/{photo}", response_class=Response, responses={**_refusals(404, 410, 422, 429), **_PICTURE})
async def thumbnail(service: Asked, photo: Key) -> Response:
    """A photo, at most 360 pixels wide and high."""
    content = await service.pictures.run(service.photos.thumbnail, photo)
    return Response(content, media_type="image/jpeg", headers=_FOR_GOOD)


@router.get("/api/photo/{photo}", response_class=Response, responses={**_refusals(404, 410, 422, 429), **_PICTURE})
async def photo(service: Asked, photo: Key) -> Response:
    """A photo, at most 1600 pixels wide and high."""
    content = await service.pictures.run(service.photos.photo, photo)
    return Response(content, media_type="image/jpeg", headers=_FOR_GOOD)


@router.get("/", include_in_schema=False)
async def page() -> Response:
    """The page."""
    return _static("index.html")


@router.get("/static/{name}", include_in_schema=False)
async def static(name: str) -> Response:
    """A part of the page."""
    return _static(name)


def _static(name: str) -> Response:
    files = _static_files()
    if name not in files:
        raise HTTPException(404, "There is no such page.")
    media_type = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
    return Response(files[name], media_type=media_type, headers={"Cache-Control": "no-cache"})


@cache
def _static_files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.is_file()}
