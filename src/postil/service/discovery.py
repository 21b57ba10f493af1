"""Description of Perspective's form for the client libraries of Google, which make their methods of it.

Samples of the original fetch it from the address of the API (``discovery.build`` in Python, ``google.discoverAPI`` in
Node.js), so that they too change an address and a key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.service.perspective import AnalyzeRequest, SuggestScoreRequest
from postil.web.problems import Problem
from postil.web.routing import Call, Route, reply

if TYPE_CHECKING:
    from starlette.responses import Response

__all__ = ["discovery_route"]

NAME: Final = "commentanalyzer"
VERSION: Final = "v1alpha1"
METHODS: Final = {"analyze": AnalyzeRequest, "suggestscore": SuggestScoreRequest}
PARAMETERS: Final = {
    "key": "A token of the service.",
    "alt": "Not read: responses are JSON.",
    "fields": "Not read: responses are whole.",
}


def discovery_route() -> Route:
    """The route of the description, which needs no key."""

    async def describe(call: Call) -> Response:
        version = call.query_params.get("version", VERSION)
        if version != VERSION:
            raise Problem(404, f"there is no version {version}; expected {VERSION}")
        return reply(_document(str(call.base_url)))

    return Route(
        method="GET",
        path="/$discovery/rest",
        scope=None,
        handler=describe,
        summary="Describe Perspective's form for the client libraries of Google",
        documented=False,
        queue="open",
    )


def _document(root: str) -> dict[str, object]:
    """The document, in Google's format of discovery.

    Args:
        root: Address of the service, which ends with a slash.
    """
    names = ["Response", *(request.__name__ for request in METHODS.values())]
    return {
        "kind": "discovery#restDescription",
        "discoveryVersion": "v1",
        "id": f"{NAME}:{VERSION}",
        "name": NAME,
        "version": VERSION,
        "title": "Comments scored as Perspective does",
        "protocol": "rest",
        "rootUrl": root,
        "baseUrl": root,
        "servicePath": "",
        "basePath": "",
        "parameters": {
            name: {"type": "string", "location": "query", "description": what} for name, what in PARAMETERS.items()
        },
        "schemas": {name: {"id": name, "type": "object"} for name in names},
        "resources": {
            "comments": {
                "methods": {
                    method: {
                        "id": f"{NAME}.comments.{method}",
                        "path": f"{VERSION}/comments:{method}",
                        "httpMethod": "POST",
                        "parameters": {},
                        "parameterOrder": [],
                        "request": {"$ref": request.__name__},
                        "response": {"$ref": "Response"},
                    }
                    for method, request in METHODS.items()
                }
            }
        },
    }
