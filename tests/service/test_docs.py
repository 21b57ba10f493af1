"""The OpenAPI document, and the page that describes the service."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from postil.service.bodies import Request, decoded
from postil.service.documentation import EXAMPLES, DocsPage, openapi_document
from postil.service.options import ServiceOptions
from postil.service.server import Service
from postil.web.problems import KINDS
from postil.web.routing import Route

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Make = Any


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Route]]:
    """All routes that a service can have."""
    folder: Path = tmp_path_factory.mktemp("docs")
    (folder / "coral").write_text("secret-of-thirty-two-characters-x")
    (folder / "hook").write_text("whsec_" + "A" * 32)
    options = ServiceOptions(
        coral_secret=str(folder / "coral"),
        data=str(folder / "data"),
        webhook="https://hooks.example/",
        webhook_secret=str(folder / "hook"),
    )
    service = Service(["a"], options)
    yield service.routes()
    service.close()


def test_each_request_has_an_example_that_is_accepted(routes: list[Route]) -> None:
    documented = {f"{route.method} {route.path}": route for route in routes if route.request is not None}
    assert set(EXAMPLES) == set(documented)
    for name, example in EXAMPLES.items():
        body, kind = json.dumps(example).encode(), documented[name].request
        assert kind is not None
        _ = decoded(body, kind) if issubclass(kind, Request) else msgspec.json.decode(body, type=kind)


def test_the_document_is_whole(routes: list[Route]) -> None:
    document = openapi_document(routes)
    schemas = document["components"]["schemas"]
    text = json.dumps(document)
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) <= set(schemas)
    for name, schema in schemas.items():
        assert schema["description"].endswith("."), name
        assert "`" not in json.dumps(schema), name
        bare = [field for field, content in schema["properties"].items() if "description" not in content]
        assert bare in ([], ["kind"]), name
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    suggest = document["paths"]["/v1/suggest"]["post"]
    assert suggest["security"] == [{"token": ["suggest"]}]
    assert document["paths"]["/healthz"]["get"]["security"] == []
    assert schemas["SuggestRequest"]["required"] == ["article"]
    assert "/docs" not in document["paths"]


def test_structs_of_one_name_are_told() -> None:
    async def none(_: object) -> Any:
        raise NotImplementedError

    kinds = [msgspec.defstruct("Same", [("a", int)], module=module) for module in ("one", "two")]
    routes = [
        Route(method="GET", path=f"/{number}", scope=None, handler=none, summary="", response=kind)
        for number, kind in enumerate(kinds)
    ]
    with pytest.raises(ValueError, match="two structs of the service have one name"):
        openapi_document(routes)


def test_links_of_the_page_lead_somewhere(routes: list[Route]) -> None:
    html = DocsPage(routes).html
    anchors = re.findall(r'id="([^"]+)"', html)
    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(anchors)
    assert {kind for kind, _ in KINDS.values()} <= set(anchors)
    assert not re.search(r"<script|<style|style=| on\w+=", html)
    assert "from 1 to 100" in html


def test_it_is_served(served: Make) -> None:
    page = served.client.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in set(re.findall(r'href="(/[^"]+)"', page.text)):
        assert served.client.get(path).status_code == 200, path
    style = served.client.get("/docs/docs.css")
    known = {"if-none-match": style.headers["etag"]}
    assert served.client.get("/docs/docs.css", headers=known).status_code == 304
    assert served.client.get("/docs/none.css").status_code == 404
    assert served.client.get("/openapi.json").json()["openapi"] == "3.1.0"
