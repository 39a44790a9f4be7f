"""The page: one HTML file, its modules and its styles, served from the package."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

PATHS = ("/", "/doc", "/ask", "/sources", "/health", "/evaluations", "/memory", "/settings")
"""Addresses that show the page; what stands there is drawn by its modules."""
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
}


def _static() -> dict[str, bytes]:
    """Every file by its name; they are few and small, and a name that is not among them is none."""
    folder = files("kebab.web") / "static"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


def missing() -> Response:
    """What a person meets at an address that shows nothing."""
    body = (files("kebab.web") / "static" / "missing.html").read_bytes()
    return Response(body, status_code=404, media_type=TYPES[".html"])


def routes() -> list[BaseRoute]:
    held = _static()

    async def shell(request: Request) -> Response:
        return Response(held["index.html"], media_type=TYPES[".html"], headers={"cache-control": "no-cache"})

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        suffix = name[name.rfind(".") :]
        if name not in held or suffix not in TYPES:
            return Response("not found", status_code=404, media_type="text/plain")
        return Response(held[name], media_type=TYPES[suffix], headers={"cache-control": "no-cache"})

    shells: list[BaseRoute] = [Route(path, shell, methods=["GET"]) for path in PATHS]
    return [*shells, Route("/static/{name:path}", static, methods=["GET"])]
