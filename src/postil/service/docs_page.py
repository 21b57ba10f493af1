"""Page that describes the service, and its OpenAPI document."""

from __future__ import annotations

import json
import shlex
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.service.openapi import openapi_document
from postil.web.problems import KINDS, Problem
from postil.web.routing import Reply, Route
from postil.web.static_files import StaticFiles, templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.web.routing import Call, Handler

__all__ = ["DocsPage", "static_handler", "type_words"]

STATIC: Final = ("docs.css", "icon.svg", "postil.css")
HTML: Final = "text/html; charset=utf-8"


class DocsPage:
    """The description of a service.

    Args:
        routes: The routes to describe.
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        self._described = routes

    def routes(self) -> list[Route]:
        """The routes of the description."""

        def route(path: str, handler: Any, summary: str, media_type: str = HTML) -> Route:
            return Route(
                method="GET",
                path=path,
                scope=None,
                handler=handler,
                summary=summary,
                media_type=media_type,
                documented=False,
                queue="open",
            )

        return [
            route("/docs", self._page, "Describe the service"),
            route("/docs/{name}", static_handler(STATIC), "Give a file of the description"),
            route("/openapi.json", self._openapi, "Describe the service for programs", "application/json"),
        ]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return openapi_document(self._described)

    @cached_property
    def html(self) -> str:
        """The page."""
        operations = [
            {"method": method.upper(), "path": path, "curl": _curl(method, path, operation), **operation}
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        ]
        return (
            templates()
            .get_template("docs.html")
            .render(
                document=self.document,
                operations=operations,
                schemas=self.document["components"]["schemas"],
                problems=KINDS,
                type_words=type_words,
            )
        )

    async def _page(self, call: Call) -> Reply:  # noqa: ARG002
        return Reply(self.html.encode(), media_type=HTML)

    async def _openapi(self, call: Call) -> Reply:  # noqa: ARG002
        return Reply(msgspec.json.encode(self.document))


def static_handler(names: Sequence[str]) -> Handler:
    """Make the handler of static files.

    Args:
        names: Names of the files; no others are served.
    """
    files = StaticFiles(names)

    async def answer(call: Call) -> Reply:
        found = files.find(call.name, call.headers.get(b"if-none-match", b"").decode("latin-1"))
        if found is None:
            raise Problem(404, f"there is nothing at {call.path}; /docs lists the addresses")
        return Reply(found.content, found.status, found.media_type, found.headers)

    return answer


def type_words(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Words for a type, each with the name of the schema that it refers to, or empty.

    Args:
        schema: A schema.

    >>> type_words({"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Label"}}, {"type": "null"}]})
    [('list of ', ''), ('Label', 'Label'), (' or null', '')]
    >>> type_words({"type": "integer", "minimum": 1, "maximum": 100})
    [('integer from 1 to 100', '')]
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return [(name, name)]
    if "anyOf" in schema:
        words: list[tuple[str, str]] = []
        for each in schema["anyOf"]:
            more = type_words(each)
            words += [(f" or {more[0][0]}", more[0][1]), *more[1:]] if words and not more[0][1] else more
        return words
    if "enum" in schema:
        return [(" or ".join(json.dumps(each) for each in schema["enum"]), "")]
    kind = schema.get("type", "any")
    if kind == "array":
        return [("list of ", ""), *type_words(schema.get("prefixItems", [schema.get("items")])[0] or {})]
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return [("object of ", ""), *type_words(schema["additionalProperties"])]
    return [(f"{kind}{_range(schema)}", "")]


def _range(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if low is None and high is None:
        return ""
    above = "above" if "exclusiveMinimum" in schema else "from"
    return f" up to {high}" if low is None else f" {above} {low}" + (f" to {high}" if high is not None else "")


def _curl(method: str, path: str, operation: dict[str, Any]) -> str:
    """The command that sends the example of a request."""
    words = ["curl", f'"$SERVICE{path}"']
    if operation["security"]:
        words.append('-H "Authorization: Bearer $TOKEN"')
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "example" in content:
        words.append(f"-d {shlex.quote(json.dumps(content['example'], ensure_ascii=False))}")
    elif method == "post":
        words.append("-X POST")
    return " ".join(words)
