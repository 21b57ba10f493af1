"""View of summaries of topics, scored against pooled references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.results.formats import counted, noted
from postil.results.names import signature_lines
from postil.results.table import Count, Interval, Name, Table, Text, crossed
from postil.results.views import View, best

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.meta.parts import Correlation
    from postil.passages.result import SummaryResult, SummaryScore

__all__ = ["measures", "view"]


def view(result: SummaryResult) -> View:
    """Show the systems of each measure, the best first, and the agreement of two references.

    Args:
        result: The result.
    """
    return View(
        line=_line(result),
        rows=result.scores,
        grids=[_scores(result), *([_agreement(result.agreement)] if result.agreement else ())],
        head=_head(result),
        remarks=list(_remarks(result)),
        signatures=list(signature_lines(dict.fromkeys(row.signature for row in result.scores))),
    )


def _head(result: SummaryResult) -> str:
    data = result.data
    return (
        f"{data.summaries:,} summaries of {counted(data.topics, 'topic')} by {counted(data.systems, 'system')}, scored "
        f"against {' and '.join(_references(result))} of each topic; means over topics"
        + (" with 95 % confidence intervals" if any(row.low is not None for row in result.scores) else "")
    )


def _references(result: SummaryResult) -> Iterator[str]:
    names = {"passages": "the informative passages", "articles": "the article"}
    return (names[each] for each in dict.fromkeys(row.reference for row in result.scores))


def _scores(result: SummaryResult) -> Table:
    of_measures = measures(result).values()
    several = len({row.reference for row in result.scores}) > 1
    return Table(
        key="scores",
        rows=[
            row
            for rows in of_measures
            for row in sorted(rows, key=lambda row: row.mean, reverse=rows[0].better == "high")
        ],
        columns=(
            Name("system", "system"),
            Text("measure", "measure"),
            *([Text("reference", "reference")] if several else ()),
            Count("topics", "n", separated=False),
            Interval("mean", "mean"),
        ),
    )


def _agreement(rows: tuple[Correlation, ...]) -> Table:
    return crossed(
        rows,
        Name("passages and articles", "metric"),
        "coefficient",
        Interval("", "value"),
        key="agreement",
        beside=[Count("systems", "n", separated=False)],
    )


def _remarks(result: SummaryResult) -> Iterator[str]:
    settings, data = result.settings, result.data
    yield from (str(each) for each in data.left_out)
    lower = list(dict.fromkeys(row.measure for row in result.scores if row.better == "low"))
    if lower:
        yield f"lower is better: {', '.join(lower)}"
    yield f"cut at {counted(settings.max_words, 'word')}: {data.cut} of {data.summaries}"
    yield from noted(result.notes)
    yield f"seed {settings.seed}, {settings.resamples} resamples of the topics"


def _line(result: SummaryResult) -> str:
    found, data = measures(result), result.data
    means = [(name, row.system, row.mean) for name, rows in found.items() for row in rows]
    falling = [name for name, rows in found.items() if rows[0].better == "low"]
    sizes = map(counted, (data.systems, data.topics), ("system", "topic"))
    return f"{', '.join(sizes)}, {data.summaries:,} summaries; {best(means, falling)}"


def measures(result: SummaryResult) -> dict[str, list[SummaryScore]]:
    """Scores by measure, which has the name of the reference behind it where there are two.

    Args:
        result: The result.
    """
    several = len({row.reference for row in result.scores}) > 1
    found: dict[str, list[SummaryScore]] = {}
    for row in result.scores:
        found.setdefault(f"{row.measure}, {row.reference}" if several else row.measure, []).append(row)
    return found
