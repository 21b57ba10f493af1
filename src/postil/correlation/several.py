"""Several correlation results, of aspects or levels, as one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.correlation.metrics_table import metrics_table
from postil.correlation.view import view
from postil.results.base import replace, several_json
from postil.results.formats import plain_rows, rows_as_cells, rows_as_jsonl
from postil.results.systems_table import show_systems
from postil.results.views import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.correlation.result import CorrelationResult
    from postil.results.formats import Cells, Format
    from postil.results.table_options import TableOptions

__all__ = ["show_several"]


def show_several(form: Format, results: Sequence[CorrelationResult], table: TableOptions) -> str | Cells:
    """Lay the results of several aspects or levels out.

    Args:
        form: ``json`` is a file of several results, which commands that read results take; ``csv`` and ``jsonl`` have a
            column ``aspect``; the other formats have the tables of each result, or in the layout of metrics one table.
        results: The results, each with a name.
        table: Layout of the tables.

    Raises:
        UsageError: The format or the results have no such layout.
    """
    if table.layout == "metrics":
        return show_systems(form, metrics_table(results), table)
    if form == "json":
        return several_json([replace(result, points=None) for result in results])
    if form in {"csv", "jsonl"}:
        views = [(result, view(result)) for result in results]
        fields = dict.fromkeys(["aspect", *(field for _, each in views for field in each.fields)])
        rows = [{"aspect": result.data.aspect, **row} for result, each in views for row in plain_rows(each.rows)]
        return rows_as_cells(rows, list(fields), views[0][1].digits) if form == "csv" else rows_as_jsonl(rows)
    titled = form in {"table", "markdown"}
    return "\n".join(f"{result.name}\n\n" * titled + str(show(form, result, table=table)) for result in results)
