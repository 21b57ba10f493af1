"""View of a folder of word vectors: its metadata, and one row per near neighbor."""

from __future__ import annotations

import json

from postil.results.table import Name, Number, Table, Text
from postil.results.views import View
from postil.vectors.result import NearWord, VectorsResult

__all__ = ["view"]


def view(result: VectorsResult) -> View:
    """Make the view of a folder of word vectors.

    Args:
        result: The word vectors.
    """
    columns = (Name("near", "near"), Text("word", "word"), Number("cosine", "cosine", digits=4, zero=True))
    unit, size = "bigrams" if result.made.get("bigrams") else "words", 4e-6 * result.words * result.dimensions
    line = f"{result.words:,} {unit}, {result.dimensions:,} dimensions, {size:,.1f} MB"
    return View(
        line=line,
        rows=result.nearest,
        fields=NearWord.__struct_fields__,
        grids=[Table(key="nearest", rows=result.nearest, columns=columns)] if result.nearest else [],
        head=line,
        remarks=[
            *(f"{name}: {_shown(value)}" for name, value in result.made.items()),
            f"first: {' '.join(result.first)}",
        ],
    )


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
