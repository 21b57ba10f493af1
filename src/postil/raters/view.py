"""View of the result of `postil annotate agreement`."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from postil.data.explain import counted
from postil.errors import Undefined
from postil.meta.parts import STATISTICS
from postil.results.formats import short
from postil.results.table import Count, Figure, Interval, Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.data.parts import Estimate
    from postil.meta.parts import Agreement, PairAgreement, Rater
    from postil.raters.result import AgreementResult

__all__ = ["pairs_table", "raters_table", "remarks", "statistics_table", "view"]


def view(result: AgreementResult) -> View:
    """One row per statistic; grids of statistics, pairs of annotators, annotators, labels and consistency.

    Args:
        result: The result.

    Raises:
        Undefined: There is no agreement.
    """
    found = result.agreement
    if found is None:
        raise Undefined(result.reason)
    return View(
        line=_line(found),
        rows=[{"statistic": name, **asdict(each)} for name, each in found.estimates.items()],
        fields=("statistic", "value", "low", "high"),
        grids=list(_tables(found, result)),
    )


def _tables(found: Agreement, result: AgreementResult) -> Iterator[Table]:
    yield statistics_table(found)
    if found.pairs:
        yield pairs_table(found.pairs)
    if found.raters:
        yield raters_table(found.raters, found.labels if all(rater.histogram for rater in found.raters) else ())
    labels = [f"{label:g}" for label in found.labels]
    if found.confusion is not None:
        counts = (
            Count(label, itemgetter(place), at=itemgetter(1), separated=False) for place, label in enumerate(labels)
        )
        rows = list(zip(labels, found.confusion, strict=True))
        yield Table(key="confusion", rows=rows, columns=(Name("one grade, and another", itemgetter(0)), *counts))
    for title, consistency in (("again, after a while", result.repeated), ("against gold", result.gold)):
        if consistency:
            shares = (Number(head, head, digits=2, zero=True) for head in ("equal", "apart", "above"))
            columns = (Name(title, "annotator"), Count("texts", "n"), *shares)
            yield Table(key=title, rows=consistency, columns=columns)
    if result.revisions:
        columns = (
            Name("revision of the plan", lambda one: f"{one.number}"),
            Text("time", "time"),
            Count("texts", "items"),
            Count("ratings", "ratings"),
        )
        yield Table(key="revisions", rows=result.revisions, columns=columns)
    if result.competence:
        known = Number(f"competence ({result.competence_model})", "competence", digits=2, zero=True)
        yield Table(key="competence", rows=result.competence, columns=(Name("annotator", "annotator"), known))


def statistics_table(found: Agreement) -> Table:
    """The statistics of agreement.

    Args:
        found: The agreement.
    """
    return Table(
        key="agreement",
        caption=f"{counted(found.texts, 'text')}, {counted(found.ratings, 'rating')}; 95 % confidence intervals in "
        "brackets",
        rows=list(found.estimates.items()),
        columns=(
            Name("statistic", itemgetter(0)),
            Interval("value", "value", at=itemgetter(1), only="page"),
            Number("value", "value", at=itemgetter(1), zero=True, only="text"),
            Figure("95 % interval", _around, at=itemgetter(1), only="text"),
            Text("definition", lambda row: STATISTICS.get(row[0], ""), only="page"),
        ),
    )


def _around(each: Estimate) -> str | None:
    if each.low is None or each.high is None:
        return None
    return f"{each.low:.3f} to {each.high:.3f}"


def pairs_table(pairs: Sequence[PairAgreement], caption: str = "") -> Table:
    """Pairs of annotators.

    Args:
        pairs: The pairs.
        caption: The caption.
    """
    reasons = any(pair.reason for pair in pairs)
    return Table(
        key="pairs",
        caption=caption,
        rows=pairs,
        columns=(
            Name("pair", lambda pair: f"{pair.first} and {pair.second}", plain="annotators"),
            Count("texts", "n"),
            Number("agreement", "agreement", plain="equal", zero=True),
            Number("kappa", "unweighted", zero=True),
            Number("linear", "linear", zero=True),
            Number("quadratic", "quadratic", zero=True),
            *([Text("note", "reason", only="page")] if reasons else ()),
        ),
        long=True,
    )


def raters_table(raters: Sequence[Rater], labels: Sequence[float] = (), caption: str = "") -> Table:
    """Annotators; text formats have how often each gave each label.

    Args:
        raters: The annotators.
        labels: The labels.
        caption: The caption.
    """
    notes = any(rater.note for rater in raters)
    bias = attrgetter("severity")
    return Table(
        key="annotators",
        caption=caption,
        rows=raters,
        columns=(
            Name("annotator", "name"),
            Count("ratings", "n", plain="grades"),
            Number("mean", "mean", digits=2, grade=True),
            Interval("bias", "value", at=bias, digits=2, signed=True, only="page"),
            Number("above the others", "value", at=bias, zero=True, only="text"),
            Figure("95 % interval", _around, at=bias, only="text"),
            *(
                Count(f"{label:g}", itemgetter(place), at=attrgetter("histogram"), separated=False, only="text")
                for place, label in enumerate(labels)
            ),
            *([Text("note", "note", only="page")] if notes else ()),
        ),
    )


def remarks(found: Agreement) -> Iterator[str]:
    """Sentences on texts that are left out, on statistics that do not exist, and on the others.

    Args:
        found: The agreement.
    """
    yield from map(str, found.left_out)
    for reason, names in groupby(found.absent, key=found.absent.__getitem__):
        yield f"no {', '.join(names)}: {reason}"
    yield from found.notes


def _line(found: Agreement) -> str:
    sizes = {"text": found.texts, "rating": found.ratings, "annotator": len(found.raters)}
    values = ", ".join(f"{name} {short(each.value)}" for name, each in found.estimates.items())
    return f"{', '.join(counted(size, name) for name, size in sizes.items() if size)}; {values}"
