"""A page to search an index with, and its JSON API: `vse-zoo serve` (docs/search.md)."""

from vse_zoo.search.web.app import create_app
from vse_zoo.search.web.running import serve_index

__all__ = ["create_app", "serve_index"]
