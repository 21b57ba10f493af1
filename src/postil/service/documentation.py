"""Description of the service, made from its routes: its OpenAPI document, and the page that shows it."""

from __future__ import annotations

import json
import re
import shlex
from functools import cached_property
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import inspect
from starlette.responses import HTMLResponse, Response

from postil.options import descriptions
from postil.version import VERSION
from postil.web.pages import static_files, templates
from postil.web.problems import KINDS, MEDIA_TYPE, ProblemDocument
from postil.web.routing import JSON_LINES, Call, Route, reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


__all__ = ["EXAMPLES", "DocsPage", "openapi_document", "type_words"]

SCHEMAS: Final = "#/components/schemas/"
PARTS: Final = ("fields", "types", "type", "item_type", "item_types", "value_type")
"""Attributes of a type, or of a field, that are types."""

MARKS: Final = re.compile(r"`+(?:postil\.[\w.]*?(?=\w+`))?")

ABOUT: Final = (
    "Suggestions of comments, ranked and screened comments, scores and interesting passages, by the models of this "
    "service. Bodies are JSON in UTF-8; unknown fields are ignored. Every response has the header X-Request-Id, and "
    "every refusal is a problem document, but at the addresses of Perspective's form, which have its form of errors."
)

_ARTICLE: Final = {"title": "Rain in the north", "content": "It rained all week, and the river rose."}
_THREAD: Final = (
    {"id": "c1", "text": "Bring a boat.", "upvotes": 12},
    {"id": "c2", "text": "It was dry in the south.", "upvotes": 3},
)
EXAMPLES: Final[Mapping[str, Mapping[str, object]]] = {
    "POST /v1/suggest": {"article": _ARTICLE, "k": 3},
    "POST /v1/rank": {"article": {**_ARTICLE, "comments": _THREAD}, "by": {"relevance": 1, "votes": 1}},
    "POST /v1/screen": {"text": "Bring a boat.", "article": _ARTICLE},
    "POST /v1/score": {
        "candidates": [{"item": "1", "system": "a", "text": "Bring a boat."}],
        "references": [{"item": "1", "text": "Bring boats.", "weight": 1}, {"item": "1", "text": "A boat, quick."}],
        "metrics": ["rouge-l"],
    },
    "POST /v1/interesting": {"text": "It rained all week. The river rose by two metres. Nobody was hurt.", "k": 2},
    "POST /v1/article": {"html": "<html><title>Rain in the north</title><p>It rained all week.</p></html>"},
    "POST /v1/hooks/article": {"id": "n1", **_ARTICLE},
    "POST /v1/labels": {"labels": [{"id": "l1", "article": "a1", "text": "Bring a boat.", "show": True}]},
    "DELETE /v1/labels": {"ids": ["l1"]},
    "POST /v1/decisions": {
        "decisions": [{"article": "a1", "id": "c1", "text": "Buy boats!", "decision": "hold", "reason": "spam"}]
    },
    "DELETE /v1/decisions": {"comments": [{"article": "a1", "id": "c1"}]},
    "POST /v1/outcomes": {"outcomes": [{"impression": "0123456789abcdef", "event": "clicked", "rank": 1}]},
    "POST /v1/calibrate": {"model": "news"},
    "POST /v1/forget": {"comments": [{"article": "a1", "comment": "c1"}]},
    "POST /v1alpha1/comments:analyze": {
        "comment": {"text": "Bring a boat."},
        "requestedAttributes": {"TOXICITY": {}},
        "languages": ["en"],
        "doNotStore": True,
    },
    "POST /v1alpha1/comments:suggestscore": {
        "comment": {"text": "Bring a boat."},
        "attributeScores": {"APPROVED": {"summaryScore": {"value": 1}}},
        "context": {"entries": [{"text": '{"article": "a1", "id": "c1"}'}]},
    },
    "POST /integrations/coral": {
        "action": "NEW",
        "comment": {"body": "Bring a boat."},
        "story": {"id": "s1", "url": "https://news.example/rain"},
    },
}
"""An example of the body of each request."""


def openapi_document(routes: Iterable[Route]) -> dict[str, Any]:
    """The OpenAPI document (version 3.1) of routes.

    Args:
        routes: The routes; those that are not documented are left out.
    """
    routes = [route for route in routes if route.documented]
    types = [each for route in routes for each in (route.request, route.response) if each is not None]
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    problem = {
        "description": "The reason why there is no other response",
        "content": {MEDIA_TYPE: {"schema": _reference(ProblemDocument)}},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "postil", "version": VERSION, "description": ABOUT},
        "paths": paths,
        "components": {
            "schemas": _schemas([*types, ProblemDocument]),
            "responses": {"Problem": problem},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token of the service: postil_…"}
            },
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": route.summary,
        "operationId": re.sub(r"\W+", "-", f"{route.method.lower()}{route.path}").strip("-"),
        "security": [] if route.scope is None else [{"token": [route.scope]}],
    }
    if route.request is not None:
        content: dict[str, Any] = {"schema": _reference(route.request)}
        example = EXAMPLES.get(f"{route.method} {route.path}")
        if example is not None:
            content["example"] = example
        found["requestBody"] = {"required": True, "content": {"application/json": content}}
    response: dict[str, Any] = {"description": "One object per line" if route.media_type == JSON_LINES else "Success"}
    if route.response is not None:
        response["content"] = {route.media_type: {"schema": _reference(route.response)}}
    elif route.status != 204:
        response["content"] = {route.media_type.partition(";")[0]: {}}
    found["responses"] = {f"{route.status}": response, "default": {"$ref": "#/components/responses/Problem"}}
    return found


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": f"{SCHEMAS}{kind.__name__}"}


def _schemas(types: Sequence[type]) -> dict[str, Any]:
    """Schemas of structs and of those within them, described by their docstrings.

    Raises:
        ValueError: Two structs have one name.
    """
    _, schemas = msgspec.json.schema_components(types, ref_template=f"{SCHEMAS}{{name}}")
    known: dict[str, type] = {}
    for each in types:
        _collect(inspect.type_info(each), known)
    for name, schema in schemas.items():
        if name not in known:
            raise ValueError(f"{name}: two structs of the service have one name")
        summary = cleandoc(known[name].__doc__ or "").partition("\n\n")[0].rstrip(".")
        schema["description"] = f"{_plain(summary.partition(';')[0])}."  # behind it are references to Python
        described = descriptions(known[name])
        of_fields = {each.encode_name: described.get(each.name, "") for each in msgspec.structs.fields(known[name])}
        for field, content in schema.get("properties", {}).items():
            if of_fields.get(field):
                content["description"] = of_fields[field]
    return schemas


def _plain(text: str) -> str:
    return MARKS.sub("", " ".join(text.split()))


def _collect(info: object, known: dict[str, type]) -> None:
    """Collect the structs within a type, by name."""
    if isinstance(info, inspect.StructType):
        if info.cls.__name__ in known:
            return
        known[info.cls.__name__] = info.cls
    for name in PARTS:
        found = getattr(info, name, ())
        for each in found if isinstance(found, tuple) else (found,):
            _collect(each, known)


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
            route("/docs/{name}", static_files(STATIC), "Give a file of the description"),
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

    async def _page(self, call: Call) -> Response:  # noqa: ARG002
        return HTMLResponse(self.html)

    async def _openapi(self, call: Call) -> Response:  # noqa: ARG002
        return reply(self.document)


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
