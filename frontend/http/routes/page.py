"""Routes of the page at `/`: its files, outside the API."""

from __future__ import annotations

from frontend.http import page
from frontend.http.routes.route import Route
from frontend.serving.access.rules import Access

PAGE: tuple[Route, ...] = (
    Route("get", "/", Access.OPEN, lambda _: page.index),
    Route("get", "/static/{name}", Access.OPEN, lambda _: page.static),
    Route("get", "/favicon.ico", Access.OPEN, lambda _: page.favicon),
)
