"""Views of `postil passages`: nCG of each ranking, differences from the best, curves; scores of summaries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from msgspec import to_builtins

from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.groups import grouped, nested
from postil.messages import Message
from postil.passages.result import (
    Gain,
    GainByLength,
    GainCurvePoints,
    GainDifference,
    LengthThird,
    NcgResult,
    SummaryResult,
    SummaryScore,
)
from postil.results.formats import noted
from postil.results.page.blocks import first_minus_second
from postil.results.plots.figure import save_vector
from postil.results.plots.lines import Curve, curves
from postil.results.table import Count, Interval, Kind, Name, Number, Table, Text, crossed
from postil.results.views import WHOLE, View, best, signature_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from postil.meta.parts import Correlation

__all__ = [
    "BASELINES",
    "BEST",
    "IN_ONE_PICTURE",
    "SENSES",
    "Ranking",
    "by_cutoff",
    "curve",
    "differences_table",
    "draw_figures",
    "draw_together",
    "gains_table",
    "gather",
    "length_columns",
    "length_tables",
    "lengths_table",
    "measure_family",
    "measures",
    "summaries",
    "undefined_correlations",
    "view",
]

BASELINES: Final = "baselines"
"""Family of the measures that use no reference."""

BEST: Final = "best"
"""Title of the figure with the best of each family."""

IN_ONE_PICTURE: Final = 12
"""Largest number of curves of a figure."""


def measure_family(measure: str) -> str:
    """Family of a measure: its name without units and parameters.

    Args:
        measure: A spec, or the name of a ranking (see `postil.passages.result.Gain.name`).

    >>> [measure_family(name) for name in ("w-f1-sk, without itself", "tf-idf-1", "cosine(vectors=a-b)", "length")]
    ['w-f1', 'tf-idf', 'cosine', 'baselines']
    """
    name = measure.partition(",")[0].partition("(")[0]
    if name in {"length", "random"}:
        return BASELINES
    stem = name.rpartition("-")[0]
    return name if stem in {"", "w"} else stem


def gather(first: Mapping[str, float]) -> dict[str, list[str]]:
    """Group curves into figures: names of curves by title.

    Each family has a figure, with the best baseline in it; another has the best of each family. Leave-one-out rankings
    come last and count as families of their own.

    Args:
        first: nCG of each curve at the first rank cutoff, by the name of the ranking.

    >>> gather({"f1-1": 0.5, "f1-2": 0.7, "length": 0.1, "f1-1, without itself": 0.4})["best"]
    ['f1-2', 'length', 'f1-1, without itself']
    >>> gather({"f1-1": 0.5, "length": 0.1, "f1-1, without itself": 0.4})["f1"]
    ['f1-1', 'length', 'f1-1, without itself']
    """
    groups = grouped(((measure_family(name), name.endswith(Gain.WITHOUT)), name) for name in first)
    best = {group: max(names, key=lambda name: first[name]) for group, names in groups.items()}
    floor = [best[group] for group in best if group[0] == BASELINES]
    pictures: dict[str, list[str]] = {}
    for title, _ in groups:
        inside, outside = (groups.get((title, without), []) for without in (False, True))
        pictures[title] = [*inside, *(floor if title != BASELINES else ()), *outside]
    return {**pictures, BEST: [best[group] for group in sorted(best, key=lambda group: group[1])]}


draw_together: Final = partial(curves, xlabel="passages from the top, k", ylabel="nCG@k", log=True)
"""Draw at most `IN_ONE_PICTURE` curves of nCG over k; see `postil.results.plots.lines.curves`."""


def curve(line: GainCurvePoints, name: str) -> Curve:
    """The nCG of a ranking at many rank cutoffs.

    Args:
        line: The numbers.
        name: Its label.
    """
    low, high = (None if values is None else np.asarray(values, np.float64) for values in (line.low, line.high))
    return Curve(name, np.asarray(line.k, np.float64), np.asarray(line.ncg, np.float64), low, high)


AnyGain = TypeVar("AnyGain", Gain, GainDifference)

LEVEL: Final = 0.05

CORRELATIONS: Final[Mapping[str, str]] = {
    "spearman": "Spearman",
    "partial": "given length",
    "with_length": "with length",
}
"""Labels of rank correlations: of scores with grades, the same given length, of scores with length."""

SENSES: Final[Mapping[str, str]] = {"topic": "informativeness", "others": "interestingness"}
"""Name of what is estimated, by the kind of reference."""


def view(result: NcgResult) -> View:
    """Show rankings of passages.

    Args:
        result: The result.
    """
    rankings = by_cutoff(result.gains, "name")
    sizes = (len(rankings), result.data.passages, result.data.topics)
    highest = best((f"nCG@{row.k}", row.name, row.ncg) for row in result.gains)
    return View(
        line=f"{', '.join(map(counted, sizes, ('ranking', 'passage', 'topic')))}; {highest}",
        rows=list(_rows(result)),
        grids=[gains_table([Ranking(name, name, rows) for name, rows in rankings.items()])],
        details=[*_from_best(rankings, result.differences), *length_tables(result.by_length)],
        head=_head(result),
        remarks=list(_remarks(result)),
        signatures=list(signature_lines(_first(rows).signature for rows in rankings.values())),
    )


def by_cutoff(rows: Iterable[AnyGain], name: str) -> dict[str, dict[int, AnyGain]]:
    """The numbers of each ranking by rank cutoff.

    Args:
        rows: The numbers.
        name: Field with the ranking.
    """
    return nested((getattr(row, name), row.k, row) for row in rows)


def _rows(result: NcgResult) -> Iterator[dict[str, object]]:
    """One row per ranking and rank cutoff; the numbers by length are those of the ranking, the same at each cutoff."""
    by_length = {row.name: length_columns(row) for row in result.by_length}
    for row in result.gains:
        yield to_builtins(row, enc_hook=plain_id) | by_length.get(row.name, {})


def length_columns(row: GainByLength) -> dict[str, object]:
    """The numbers of a ranking by length, as columns.

    Args:
        row: The ranking.
    """
    found: dict[str, object] = {"strata_k": row.k}
    for name, each in (
        ("strata_ncg", row.ncg),
        ("spearman", row.spearman),
        ("partial_spearman", row.partial),
        ("length_spearman", row.with_length),
    ):
        found |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
    return found


def _head(result: NcgResult) -> str:
    settings, data = result.settings, result.data
    rank = "all in one list" if settings.pool == "all" else "one list per topic, the mean of them"
    units = "folds" if settings.reference == "others" and settings.pool == "all" else "topics"
    intervals = f"; 95 % confidence intervals over {units}" if any(row.low is not None for row in result.gains) else ""
    return (
        f"{SENSES[settings.reference]}: {data.passages} passages of {counted(data.topics, 'topic')}, "
        f"{data.informative} with a grade above 0; {rank}{intervals}"
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """A row of a table: a ranking, the difference of two, or the title of a group.

    Args:
        name: Its name on a page.
        full: Its full name.
        rows: The numbers by rank cutoff.
        kind: See `Table`.
        best: The rank cutoffs at which it has the highest number of its group.
        length: The numbers by length.
    """

    name: str
    full: str
    rows: Mapping[int, Gain | GainDifference]
    kind: Kind = ""
    best: Collection[int] = ()
    length: GainByLength | None = None


def gains_table(lines: Sequence[Ranking], caption: str = "", noun: str = "measure") -> Table:
    """The nCG of rankings, one column per rank cutoff.

    Args:
        lines: The rankings.
        caption: The caption.
        noun: Head of the names.
    """
    columns = (
        Interval(f"nCG@{k:,}", "ncg", at=partial(_at, k), plain=f"nCG@{k}", best=partial(_best, k))
        for k in _cuts(lines)
    )
    return Table(key="gains", caption=caption, rows=lines, columns=(_name(noun), *columns), kind=attrgetter("kind"))


def differences_table(
    head: str, lines: Sequence[Ranking], caption: str = "", key: str = "differences", *, alone: str = ""
) -> Table:
    """Differences of nCG, one column per rank cutoff.

    Args:
        head: Head of the names.
        lines: The differences.
        caption: The caption.
        key: The key.
        alone: The head where the table stands alone.
    """
    columns = (
        Interval(
            f"nCG@{k:,}",
            "value",
            at=partial(_at, k),
            plain=f"nCG@{k}",
            signed=True,
            strong=lambda row: row.p_holm < LEVEL,
            unmarked="",
        )
        for k in _cuts(lines)
    )
    return Table(
        key=key,
        caption=caption,
        rows=lines,
        columns=(_name(head, alone), *columns),
        kind=attrgetter("kind"),
        long=key == "all-differences",
    )


def _name(head: str, alone: str = "") -> Name:
    return Name(head, "name", full="full", plain=alone)


def _cuts(lines: Iterable[Ranking]) -> Iterable[int]:
    return dict.fromkeys(k for line in lines for k in line.rows)


def _at(k: int, line: Ranking) -> Gain | GainDifference | None:
    return line.rows.get(k)


def _best(k: int, line: Ranking) -> bool:
    return k in line.best


def _first(rows: Mapping[int, Gain]) -> Gain:
    return next(iter(rows.values()))


def lengths_table(lines: Sequence[Ranking], caption: str = "") -> Table:
    """Each ranking among passages of similar length, and its rank correlations; pages have each third as well.

    Args:
        lines: The rankings.
        caption: The caption.
    """
    first = next(line.length for line in lines if line.length is not None)
    return Table(
        key="by-length",
        caption=caption,
        rows=lines,
        columns=(
            _name("measure", "by length"),
            _length("in thirds", "ncg", plain=f"nCG@{first.k} in thirds"),
            *(
                Number(name, partial(_third, place), at=attrgetter("length.thirds"), only="page")
                for place, name in enumerate(first.THIRDS)
            ),
            *(_length(label, field) for field, label in CORRELATIONS.items()),
        ),
        kind=attrgetter("kind"),
    )


def _length(head: str, field: str, plain: str = "") -> Interval:
    return Interval(head, "value", at=attrgetter(f"length.{field}"), plain=plain)


def _third(place: int, thirds: Sequence[LengthThird]) -> float | None:
    return thirds[place].ncg


def length_tables(rows: Sequence[GainByLength]) -> list[Table]:
    """Each ranking among passages of similar length; no table without rankings.

    Args:
        rows: One row per ranking.
    """
    return [lengths_table([Ranking(row.name, row.name, {}, length=row) for row in rows])] if rows else []


def undefined_correlations(rows: Iterable[GainByLength]) -> Iterator[tuple[str, str]]:
    """Rankings without some rank correlation, and the reason.

    Args:
        rows: The rankings.

    Yields:
        The ranking with the labels of the correlations, or without where none is defined; the reason.
    """
    for row in rows:
        labelled = ((getattr(row, name).reason, label) for name, label in CORRELATIONS.items())
        for reason, labels in grouped(each for each in labelled if each[0] is not None).items():
            some = [] if len(labels) == len(CORRELATIONS) else labels
            yield ", ".join([row.name, *some]), reason


def _from_best(rankings: Mapping[str, Mapping[int, Gain]], differences: Sequence[GainDifference]) -> Iterator[Table]:
    """With passages in their references, then leave-one-out: the best ranking at the first cutoff minus each other."""
    by_pair = {(row.first, row.second, row.k): row for row in differences}
    baselines = {name for name in rankings if measure_family(name) == BASELINES}
    for leave in (False, True):
        some = [name for name, rows in rankings.items() if _first(rows).leave_one_out is leave or name in baselines]
        if not by_pair or baselines.issuperset(some):
            continue
        best = max(some, key=lambda name: _first(rankings[name]).ncg)
        others = [
            Ranking(
                name,
                name,
                {k: row for k in rankings[best] if (row := first_minus_second(by_pair, best, name, k))},
            )
            for name in some
            if name != best
        ]
        if others:
            yield differences_table(f"{best} minus", others, alone=f"{best} minus (* p < .05)")


def _remarks(result: NcgResult) -> Iterator[str]:
    settings = result.settings
    for each in result.data.left_out:
        yield f"note: {each}" if each.kept else f"excluded: {each}"
    yield from noted(result.notes)
    if settings.reference == "topic":
        yield f"a passage is part of its topic's reference; rankings that end in '{Gain.WITHOUT}' are leave-one-out"
    yield from (f"undefined: {which}: {reason}" for which, reason in undefined_correlations(result.by_length))
    if result.differences:
        test = "sign flips of topics" if settings.pool == "topic" else "bootstrap"
        yield Message(
            "* p < .05 by {test}, Holm-adjusted for all pairs at a rank cutoff; all pairs: {whole}",
            test=test,
            whole=WHOLE,
        )
    yield f"ties: expected value; seed {settings.seed}, {settings.resamples} resamples"


def draw_figures(folder: Path, result: NcgResult) -> Iterator[Path]:
    """Draw nCG over k: one figure per family of measures, and one with the best of each family.

    Args:
        folder: Output folder; made where it is missing.
        result: The result, with its lines.

    Yields:
        Paths of the figures.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    first = {name: _first(rows).ncg for name, rows in by_cutoff(result.gains, "name").items()}
    drawn = {line.measure: curve(line, line.measure) for line in result.lines}
    for title, names in gather(first).items():
        figure = draw_together([drawn[name] for name in names[:IN_ONE_PICTURE]])
        folder.mkdir(parents=True, exist_ok=True)
        yield from save_vector(figure, folder / f"{SENSES[result.settings.reference]}-{title}")


def summaries(result: SummaryResult) -> View:
    """Show the systems of each measure, the best first, and the agreement of two references.

    Args:
        result: The result.
    """
    return View(
        line=_line(result),
        rows=result.scores,
        grids=[_scores(result), *([_agreement(result.agreement)] if result.agreement else ())],
        head=_summaries_head(result),
        remarks=list(_summaries_remarks(result)),
        signatures=list(signature_lines(dict.fromkeys(row.signature for row in result.scores))),
    )


def _summaries_head(result: SummaryResult) -> str:
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


def _summaries_remarks(result: SummaryResult) -> Iterator[str]:
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
    return grouped((f"{row.measure}, {row.reference}" if several else row.measure, row) for row in result.scores)
