"""Views of `postil passages`: nCG of each ranking, differences from the best, curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from postil.messages import Message
from postil.plots import save
from postil.records.ids import plain_id
from postil.records.results import Gain, GainDifference, NcgResult
from postil.render.formats import counted, noted, value_with_interval
from postil.render.gain_curves import BASELINES, IN_ONE_PICTURE, curve, draw_together, gather, measure_family
from postil.render.views import WHOLE, View, best

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from postil.records.results import Estimate, GainByLength, ListCorrelation
    from postil.render.formats import Grid

__all__ = [
    "CORRELATIONS",
    "SENSES",
    "draw_figures",
    "length_columns",
    "signature_lines",
    "summary",
    "undefined_correlations",
    "view",
]

LEVEL: Final = 0.05

NONE: Final = "-"
"""Text of a cell without a number."""

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
    rankings: dict[str, list[Gain]] = {}
    for row in result.gains:
        rankings.setdefault(row.name, []).append(row)
    return View(
        rows=list(_rows(result)),
        grids=[_gains(rankings)],
        details=[*_from_best(rankings, result.differences), *length_grids(result.by_length)],
        head=_head(result),
        remarks=list(_remarks(result)),
        signatures=list(signature_lines(rows[0].signature for rows in rankings.values())),
    )


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


def _gains(rankings: Mapping[str, Sequence[Gain]]) -> Grid:
    first = next(iter(rankings.values()), ())
    return [
        ["measure", *(f"nCG@{row.k}" for row in first)],
        *([name, *map(_cell, rows)] for name, rows in rankings.items()),
    ]


def _cell(row: Gain | GainDifference, sign: int = 1) -> str:
    """A value with its interval; without one the value alone."""
    number = sign * row.value if isinstance(row, GainDifference) else row.ncg
    if row.low is None or row.high is None:
        return value_with_interval(number, number, number).partition(" ")[0]
    low, high = sorted((sign * row.low, sign * row.high))
    return value_with_interval(number, low, high)


def length_grids(rows: Sequence[GainByLength]) -> Iterator[Grid]:
    """Each ranking among passages of similar length, and its rank correlations.

    Args:
        rows: One row per ranking; without any there is no table.
    """
    if not rows:
        return
    yield [
        ["by length", f"nCG@{rows[0].k} in thirds", *CORRELATIONS.values()],
        *(
            [row.name, *(_estimate(each) for each in (row.ncg, row.spearman, row.partial, row.with_length))]
            for row in rows
        ),
    ]


def _estimate(found: Estimate | ListCorrelation) -> str:
    return NONE if found.value is None else value_with_interval(found.value, found.low, found.high)


def undefined_correlations(rows: Iterable[GainByLength]) -> Iterator[tuple[str, str]]:
    """Rankings without some rank correlation, and the reason.

    Args:
        rows: The rankings.

    Yields:
        The ranking with the labels of the correlations, or without where none is defined; the reason.
    """
    for row in rows:
        reasons: dict[str, list[str]] = {}
        for name, label in CORRELATIONS.items():
            found: ListCorrelation = getattr(row, name)
            if found.reason is not None:
                reasons.setdefault(found.reason, []).append(label)
        for reason, labels in reasons.items():
            some = [] if len(labels) == len(CORRELATIONS) else labels
            yield ", ".join([row.name, *some]), reason


def _from_best(rankings: Mapping[str, Sequence[Gain]], differences: Sequence[GainDifference]) -> Iterator[Grid]:
    """With passages in their references, then leave-one-out: the best ranking at the first cutoff minus each other."""
    by_pair = {(row.first, row.second, row.k): row for row in differences}
    baselines = {name for name in rankings if measure_family(name) == BASELINES}
    for leave in (False, True):
        some = [name for name, rows in rankings.items() if rows[0].leave_one_out is leave or name in baselines]
        if not by_pair or baselines.issuperset(some):
            continue
        best = max(some, key=lambda name: rankings[name][0].ncg)
        ks = [row.k for row in rankings[best]]
        others = [[name, *(_difference(by_pair, best, name, k) for k in ks)] for name in some if name != best]
        if others:
            yield [[f"{best} minus (* p < .05)", *(f"nCG@{k}" for k in ks)], *others]


def _difference(by_pair: Mapping[tuple[str, str, int], GainDifference], best: str, other: str, k: int) -> str:
    row, sign = by_pair.get((best, other, k)), 1
    if row is None:
        row, sign = by_pair[other, best, k], -1
    return _cell(row, sign) + ("*" if row.p_holm < LEVEL else "")


def _remarks(result: NcgResult) -> Iterator[str]:
    settings = result.settings
    for each in result.data.left_out:
        yield f"note: {each}" if "ranked last" in each.why else f"excluded: {each}"
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


def signature_lines(signatures: Iterable[str]) -> Iterator[str]:
    """Signatures that are alike but for their first part, together.

    Args:
        signatures: The signatures.
    """
    alike: dict[str, list[str]] = {}
    for signature in signatures:
        spec, _, rest = signature.partition("|")
        alike.setdefault(rest, []).append(spec)
    for rest, specs in alike.items():
        yield f"signatures: {' '.join(specs)}"
        yield f"  each with |{rest}"


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
    folder.mkdir(parents=True, exist_ok=True)
    first: dict[str, float] = {}
    for row in result.gains:
        first.setdefault(row.name, row.ncg)
    drawn = {line.measure: curve(line, line.measure) for line in result.lines}
    for title, names in gather(first).items():
        path = folder / f"{SENSES[result.settings.reference]}-{title}.svg"
        save(draw_together([drawn[name] for name in names[:IN_ONE_PICTURE]]), path)
        yield path


def summary(result: NcgResult) -> str:
    """Numbers of rankings, passages and topics, and the best nCG at each rank cutoff.

    Args:
        result: The result.
    """
    values: dict[str, dict[str, float]] = {}
    for row in result.gains:
        values.setdefault(f"nCG@{row.k}", {})[row.name] = row.ncg
    rankings = len({row.name for row in result.gains})
    sizes = (rankings, result.data.passages, result.data.topics)
    return f"{', '.join(map(counted, sizes, ('ranking', 'passage', 'topic')))}; {best(values)}"
