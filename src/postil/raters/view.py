"""View of inter-annotator agreement, and the section of a page on annotators."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from postil.data.explain import counted, shown
from postil.errors import Undefined
from postil.meta.parts import STATISTICS, Agreement, PairAgreement, Rater
from postil.results.formats import short
from postil.results.page.blocks import Block, Numbers, Paragraph, Picture, collapsed, sentences
from postil.results.plots.bars import histograms
from postil.results.plots.heatmaps import confusion
from postil.results.table import Count, Figure, Interval, Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.data.parts import Estimate
    from postil.raters.result import AgreementResult

__all__ = [
    "agreement_blocks",
    "agreement_numbers",
    "pairs_table",
    "pictures",
    "raters_table",
    "remarks",
    "statistics_table",
    "view",
]


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


RATERS: Final = 12
"""Number of annotators that are shown, those with the most ratings."""

PAIRS: Final = 45
"""Number of pairs of annotators that are shown, those with the most shared texts."""

LABELS: Final = 20
"""Largest number of labels that have a confusion matrix."""


def agreement_blocks(found: Agreement) -> Iterator[Block]:
    """Inter-annotator agreement, counts of pairs of ratings, and each annotator.

    Args:
        found: The agreement.
    """
    yield statistics_table(found)
    yield from (Paragraph(f"No {name}: {reason}.") for name, reason in found.absent.items())
    yield from sentences(found.notes)
    drawn = {picture.key: picture for picture in _pictures(found)}
    if "confusion" in drawn:
        yield drawn["confusion"]
    if raters := _most_active(found):
        yield _annotators(raters, len(found.raters))
    if "annotators" in drawn:
        yield drawn["annotators"]
    if len(found.pairs) > 1:
        yield from collapsed(_pairs(found))


def _pictures(found: Agreement) -> Iterator[Picture]:
    yield from filter(None, (_confusions(found), _grades_given(found, _most_active(found))))


def agreement_numbers(found: Agreement) -> Iterator[Numbers]:
    """All numbers of inter-annotator agreement, for the files beside a page.

    Args:
        found: The agreement.
    """
    yield "agreement", [{"statistic": name, **asdict(each)} for name, each in found.estimates.items()]
    yield "pairs", found.pairs
    yield (
        "annotators",
        [
            {
                "annotator": rater.name,
                "n": rater.n,
                "mean": rater.mean,
                "severity": rater.severity and rater.severity.value,
                "low": rater.severity and rater.severity.low,
                "high": rater.severity and rater.severity.high,
                "note": rater.note,
                **{
                    f"grade {label:g}": times
                    for label, times in zip(found.labels, rater.histogram or (), strict=rater.histogram is not None)
                },
            }
            for rater in found.raters
        ],
    )
    counts = found.confusion or ()
    yield (
        "confusion",
        [
            {"grade": label, "other": other, "n": times}
            for label, row in zip(found.labels, counts, strict=bool(counts))
            for other, times in zip(found.labels, row, strict=True)
        ],
    )


def pictures(result: AgreementResult) -> Iterable[Picture]:
    """The pictures of inter-annotator agreement that there are.

    Args:
        result: The result.
    """
    return _pictures(result.agreement) if result.agreement is not None else ()


def _most_active(found: Agreement) -> list[Rater]:
    return sorted(found.raters, key=lambda rater: -rater.n)[:RATERS]


def _annotators(raters: Sequence[Rater], of: int) -> Table:
    """The given annotators, out of a total number."""
    few = f"The {len(raters)} annotators with the most ratings of {of:,}" if len(raters) < of else "Annotators"
    return raters_table(raters, caption=few)


def _pairs(found: Agreement) -> Table:
    """Pairs of annotators, those with the most shared texts first."""
    shown = sorted(found.pairs, key=lambda pair: -pair.n)[:PAIRS]
    few = f"The {len(shown)} pairs of annotators with the most shared texts, of {len(found.pairs):,}"
    return pairs_table(shown, few if len(shown) < len(found.pairs) else "Pairs of annotators")


def _confusions(found: Agreement) -> Picture | None:
    """The confusion matrix of two annotators; None where there are too many labels."""
    if found.confusion is None or not 2 <= len(found.labels) <= LABELS:
        return None
    label = "Counts of every two ratings of one text by two annotators"
    title, caption = "Ratings of one text by two annotators", "Every two ratings of one text, in both orders"
    return Picture("confusion", title, caption, label, partial(confusion, _labels(found), found.confusion))


def _grades_given(found: Agreement, raters: Sequence[Rater]) -> Picture | None:
    """Histograms of the ratings of some annotators."""
    rows = [(rater.name, rater.histogram) for rater in raters if rater.histogram is not None]
    if not rows:
        return None
    draw = partial(histograms, [name for name, _ in rows], _labels(found), [counts for _, counts in rows])
    label = "Counts of ratings by annotator: " + "; ".join(name for name, _ in rows)
    caption = "Share of each rating among those of each annotator"
    return Picture("annotators", "Ratings by annotator", caption, label, draw)


def _labels(found: Agreement) -> list[str]:
    return [shown(label) for label in found.labels]
