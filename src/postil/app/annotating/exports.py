"""The files of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from postil.annotation.export import codebook, long_table, passages, references, resolved_table
from postil.app.annotating.agreement import judgements_of
from postil.errors import InvalidInput
from postil.records.atomic_file import Replacement
from postil.records.results import to_json
from postil.records.row_files import Writer
from postil.render.formats import rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.annotation.store import Store
    from postil.records.rows import Row

__all__ = ["TABLES", "exported", "write_rows"]

TABLES: Final = ("csv", "jsonl", "parquet")
"""The kinds of file for tables."""


def exported(store: Store, *, table: str = "csv", timed: bool = False) -> dict[str, Sequence[Row] | str]:
    """The files of an export by name: rows, or the text of the codebook. Files without rows are left out.

    Args:
        store: Where the campaign lives.
        table: The kind of file of the two tables.
        timed: Say when each grade was given, and how long it took.

    Raises:
        InvalidInput: Nothing was graded yet.
    """
    campaign, rubric, items = store.campaign(), store.rubric(), store.items()
    ratings, adjudications = store.results.ratings(), store.results.adjudications()
    if not ratings:
        raise InvalidInput("nothing was graded yet", where=store.where)
    resolved = list(resolved_table(items, ratings, adjudications, rubric))
    files: dict[str, Sequence[Row]] = {
        f"ratings.{table}": list(long_table(ratings, timed=timed)),
        f"resolved.{table}": resolved,
        "judgements.jsonl": list(judgements_of(ratings)),
    }
    if campaign.what == "comments":
        files["references.jsonl"] = list(references(items, ratings, adjudications))
    if campaign.what == "passages":
        files["passages.jsonl"] = list(passages(items, resolved))
    counts = {
        "texts": len(items),
        "graded texts": len(resolved),
        "grades": len(ratings),
        "annotators": len({rating.annotator for rating in ratings}),
        "adjudicated texts": len({one.number for one in adjudications}),
    }
    made = {name: rows for name, rows in files.items() if rows}
    return {**made, "codebook.json": to_json(codebook(campaign, rubric, counts))}


def write_rows(path: str, rows: Sequence[Row] | str) -> None:
    """Write a file of an export, whole or not at all.

    Args:
        path: The file; its ending says its kind.
        rows: Rows of one type, or a text.
    """
    if isinstance(rows, str) or path.endswith(".csv"):
        text = rows if isinstance(rows, str) else rows_as_csv([msgspec.structs.asdict(row) for row in rows])
        with Replacement(path) as stream:
            stream.write(text.encode())
        return
    with Writer(path, type(rows[0])) as out:
        for row in rows:
            out.write(row)
