"""View of the result of `postil annotate agreement`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from postil.errors import Undefined
from postil.render.formats import counted, short
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.records.results import Agreement, AgreementResult, Consistency, Estimate, PairAgreement, Rater
    from postil.render.formats import Grid

__all__ = ["remarks", "summary", "view"]


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
        rows=[{"statistic": name, **asdict(each)} for name, each in found.estimates.items()],
        fields=("statistic", "value", "low", "high"),
        grids=list(_grids(found, result)),
    )


def _grids(found: Agreement, result: AgreementResult) -> Iterator[Grid]:
    yield [["statistic", "value", "95 % interval"], *([name, *_cells(each)] for name, each in found.estimates.items())]
    if found.pairs:
        yield [["annotators", "texts", "equal", "kappa", "linear", "quadratic"], *map(_pair, found.pairs)]
    labels = [f"{label:g}" for label in found.labels]
    shown = labels if all(rater.histogram for rater in found.raters) else []
    if found.raters:
        yield [
            ["annotator", "grades", "mean", "above the others", "95 % interval", *shown],
            *(_rater(rater, counts=bool(shown)) for rater in found.raters),
        ]
    if found.confusion is not None:
        cells = [[label, *map(str, row)] for label, row in zip(labels, found.confusion, strict=True)]
        yield [["one grade, and another", *labels], *cells]
    for title, rows in (("again, after a while", result.repeated), ("against gold", result.gold)):
        if rows:
            yield [[title, "texts", "equal", "apart", "above"], *map(_consistency, rows)]
    if result.revisions:
        cells = [[str(one.number), one.time, f"{one.items:,}", f"{one.ratings:,}"] for one in result.revisions]
        yield [["revision of the plan", "time", "texts", "ratings"], *cells]
    if result.competence:
        known = ([one.annotator, f"{one.competence:.2f}"] for one in result.competence)
        yield [["annotator", f"competence ({result.competence_model})"], *known]


def _pair(pair: PairAgreement) -> list[str]:
    numbers = (pair.agreement, pair.unweighted, pair.linear, pair.quadratic)
    shown = ("-" if value is None else f"{value:.3f}" for value in numbers)
    return [f"{pair.first} and {pair.second}", f"{pair.n:,}", *shown]


def _rater(rater: Rater, *, counts: bool) -> list[str]:
    bias = ("-", "-") if rater.severity is None else _cells(rater.severity)
    histogram = map(str, rater.histogram or ()) if counts else ()
    return [rater.name, f"{rater.n:,}", f"{rater.mean:.2f}", *bias, *histogram]


def _consistency(one: Consistency) -> list[str]:
    return [one.annotator, f"{one.n:,}", *(f"{value:.2f}" for value in (one.equal, one.apart, one.above))]


def _cells(each: Estimate) -> Sequence[str]:
    around = "-" if each.low is None or each.high is None else f"{each.low:.3f} to {each.high:.3f}"
    return f"{each.value:.3f}", around


def remarks(found: Agreement) -> Iterator[str]:
    """Sentences on texts that are left out, on statistics that do not exist, and on the others.

    Args:
        found: The agreement.
    """
    yield from map(str, found.left_out)
    for reason, names in groupby(found.absent, key=found.absent.__getitem__):
        yield f"no {', '.join(names)}: {reason}"
    yield from found.notes


def summary(result: AgreementResult) -> str:
    """Numbers of texts, ratings and annotators, and the first statistics.

    Args:
        result: The result.
    """
    found = result.agreement
    if found is None:
        return result.reason
    sizes = {"text": found.texts, "rating": found.ratings, "annotator": len(found.raters)}
    values = ", ".join(f"{name} {short(each.value)}" for name, each in found.estimates.items())
    return f"{', '.join(counted(size, name) for name, size in sizes.items() if size)}; {values}"
