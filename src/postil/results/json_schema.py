"""The JSON Schema of all results."""

from __future__ import annotations

from typing import Final, TypeAlias, cast

import msgspec

from postil.capabilities import capabilities, load
from postil.options import documented
from postil.results.base import REPORT, Result
from postil.results.result_json import SCHEMA

__all__ = ["results_schema"]

Schema: TypeAlias = dict[str, object]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def results_schema() -> Schema:
    """Make the JSON Schema of all results: what `Result.save` and ``--format json`` write, one result or several.

    The ``kind`` of a result says which of the schemas in ``$defs`` it follows. Later versions of postil add fields, and
    no schema forbids them; a field that is required stays so as long as ``schema`` is 1.

    Returns:
        The schema, of the draft 2020-12, as a JSON object.

    >>> schema = results_schema()
    >>> schema["$defs"]["SystemScore"]["properties"]["n"]
    {'type': 'integer', 'description': 'Number of candidates.'}
    """
    structs = [load(each, kind.struct) for each in capabilities() for kind in each.kinds.values()]
    references, definitions = msgspec.json.schema_components(structs, schema_hook=_of_other_types)
    of_all = documented(Result.__doc__ or "")
    version: Schema = {"const": SCHEMA, "description": "Version of the JSON of all results."}
    one: Schema = {
        "title": "One result",
        "type": "object",
        "properties": {"schema": version},
        "required": ["schema", "kind"],
        "oneOf": list(references),
    }
    several: Schema = {
        "title": "Several results",
        "type": "object",
        "properties": {
            "schema": version,
            "kind": {"const": REPORT},
            "results": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/one"}},
        },
        "required": ["schema", "kind", "results"],
    }
    described = {name: _described(each, of_all) for name, each in definitions.items()}
    whole = {
        "$schema": DIALECT,
        "title": "Results of postil",
        "oneOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/several"}],
        "$defs": {"one": one, "several": several, **described},
    }
    return cast("Schema", msgspec.json.decode(msgspec.json.encode(whole)))  # lists in place of tuples


def _of_other_types(kind: type) -> Schema:
    """Schema of what msgspec does not know: columns of numbers, and values of any type."""
    return {"description": "A JSON value."} if kind is object else {"type": "array", "items": {"type": "number"}}


def _described(schema: Schema, of_all: dict[str, str]) -> Schema:
    """A schema with the descriptions of its fields beside them, where the docstring has them all together."""
    text = str(schema.get("description", ""))
    fields = {**of_all, **documented(text)}
    properties = cast("dict[str, Schema]", schema["properties"])
    return {
        **schema,
        "description": " ".join(text.partition("Args:\n")[0].split()),
        "properties": {
            name: {**each, **({"description": fields[name]} if name in fields else {})}
            for name, each in properties.items()
        },
    }
