"""Text formats of `postil annotate agreement`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from postil.errors import Undefined
from postil.records.results import to_json
from postil.render.formats import grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.app.annotating.agreement import CampaignAgreement, Check
    from postil.metaeval.agreement import Agreement
    from postil.metaeval.resampling import Estimate
    from postil.render.formats import Format, Grid

__all__ = ["agreement_as", "agreement_json"]


def agreement_json(found: Agreement) -> dict[str, object]:
    """Agreement as JSON.

    Args:
        found: How far annotators agree.
    """
    return {
        "texts": found.texts,
        "ratings": found.ratings,
        "labels": list(found.labels),
        "estimates": {name: asdict(each) for name, each in found.estimates.items()},
        "absent": dict(found.absent),
        "left_out": [asdict(each) for each in found.left_out],
        "confusion": None if found.confusion is None else found.confusion.tolist(),
        "pairs": [asdict(pair) for pair in found.pairs],
        "raters": [asdict(rater) for rater in found.raters],
        "notes": list(found.notes),
    }


def agreement_as(form: Format, found: CampaignAgreement) -> str:
    """Agreement: all of it as JSON, the statistics as rows, or everything as tables.

    Args:
        form: How.
        found: How far the annotators agree.

    Raises:
        Undefined: There is none, and the format has no place to say so.
    """
    of = found.agreement
    if form == "json":
        checks = {"repeated": [asdict(one) for one in found.repeated], "gold": [asdict(one) for one in found.gold]}
        return to_json({"schema": 1, "agreement": of and agreement_json(of), "reason": found.reason, **checks})
    if of is None:
        raise Undefined(found.reason)
    rows = [{"statistic": name, **asdict(each)} for name, each in of.estimates.items()]
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows, ("statistic", "value", "low", "high"))
    return "\n".join(grid_as(form, grid) for grid in _grids(of, found))


def _grids(of: Agreement, found: CampaignAgreement) -> Iterable[Grid]:
    told = [[name, *_with_interval(each)] for name, each in of.estimates.items()]
    yield [["statistic", "value", "95 % interval"], *told]
    yield [
        ["annotators", "texts", "equal", "kappa", "linear", "quadratic"],
        *(
            [
                f"{pair.first} and {pair.second}",
                f"{pair.n:,}",
                *(_number(value) for value in (pair.agreement, pair.unweighted, pair.linear, pair.quadratic)),
            ]
            for pair in of.pairs
        ),
    ]
    labels = [f"{label:g}" for label in of.labels]
    counts = all(rater.histogram for rater in of.raters)
    yield [
        ["annotator", "grades", "mean", "above the others", "95 % interval", *(labels if counts else [])],
        *(
            [
                rater.name,
                f"{rater.n:,}",
                f"{rater.mean:.2f}",
                *(("-", "-") if rater.severity is None else _with_interval(rater.severity)),
                *(map(str, rater.histogram or ()) if counts else ()),
            ]
            for rater in of.raters
        ),
    ]
    if of.confusion is not None:
        cells = [[label, *map(str, row)] for label, row in zip(labels, of.confusion.tolist(), strict=True)]
        yield [["one grade, and another", *labels], *cells]
    for title, checks in (("again, after a while", found.repeated), ("against gold", found.gold)):
        if checks:
            yield [[title, "texts", "equal", "apart", "above"], *map(_check, checks)]


def _check(one: Check) -> list[str]:
    return [one.annotator, f"{one.n:,}", *(f"{value:.2f}" for value in (one.equal, one.apart, one.above))]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _with_interval(each: Estimate) -> Sequence[str]:
    around = "-" if each.low is None or each.high is None else f"{each.low:.3f} to {each.high:.3f}"
    return f"{each.value:.3f}", around
