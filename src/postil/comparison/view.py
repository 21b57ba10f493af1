"""Views, chapters and pictures of `postil compare`: systems beside a baseline, paired preferences, interleaving."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from postil.comparison.result import (
    Comparison,
    InterleavedPair,
    InterleavedRank,
    InterleavingResult,
    Preference,
    PreferencesResult,
    PreferredSystem,
    SystemComparison,
)
from postil.data.explain import counted
from postil.data.groups import grouped
from postil.messages import Message
from postil.results.formats import listed, noted, short, value_with_interval
from postil.results.names import is_control
from postil.results.numbers import interval, number, signed
from postil.results.page.blocks import (
    SIGNIFICANTLY,
    VERDICTS,
    Chapter,
    Facts,
    Findings,
    Paragraph,
    Picture,
    Point,
    Section,
    capital,
    collapsed,
    finding,
    first_open,
    isolated,
    left_out,
)
from postil.results.page.chapters import DRAWN, resampled, viewed, with_weights
from postil.results.plots.forest import IntervalRow, intervals
from postil.results.systems_table import SystemsTable
from postil.results.table import Count, Figure, Interval, Name, Number, PValue, Table, Text, crossed
from postil.results.views import WHOLE, View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


__all__ = [
    "chapter",
    "compared",
    "interleaved",
    "interleaved_pictures",
    "pictures",
    "preferences",
    "preferences_chapter",
    "strengths",
    "view",
]

LEVEL: Final = 0.05

CREDIT: Final = "credit"
"""Name of the measure that has all events."""

MOST: Final = 45
"""Largest number of pairs in the table: those of ten systems."""

FEW: Final = 4
"""Largest number of systems that a sentence names."""

_OUTCOMES: Final = tuple(Count(name, name) for name in ("wins", "ties", "losses"))

SYSTEMS: Final = 20
"""Number of systems that a sentence names."""


def view(result: Comparison) -> View:
    """One row per system and metric.

    Args:
        result: The result.
    """
    metrics = _metrics(result)
    shown = [name for name in metrics if not is_control(name)] or metrics
    scores = "corpus scores" if result.summed else "means of item scores"
    return View(
        line=_line(result),
        rows=[{**asdict(row), "significant": None if row.p_holm is None else _differs(row)} for row in result.systems],
        grids=[compared_table(result, shown)],
        head=f"{counted(result.items, 'item')}, {scores}, against {result.baseline}",
        remarks=list(_remarks(result, len(metrics) - len(shown))),
        systems=_systems(result, shown, scores),
    )


def compared_table(result: Comparison, metrics: Collection[str], key: str = "comparison", caption: str = "") -> Table:
    """Systems against the baseline, one row per system and metric.

    Args:
        result: The result.
        metrics: The metrics that are shown.
        key: Key of the table.
        caption: Its caption.
    """
    return Table(
        key=key,
        caption=caption,
        rows=[row for row in result.systems if row.metric in metrics],
        columns=(
            Name("system", "system"),
            Text("metric", "metric"),
            Interval("score" if result.summed else "mean", "mean"),
            Interval(
                f"minus {result.baseline}",
                "difference",
                plain="difference",
                low="difference_low",
                high="difference_high",
                signed=True,
                strong=_differs,
            ),
            PValue("p (bootstrap)", "p_bootstrap"),
            PValue("p (randomization)", "p_randomisation", plain="p (permutation)"),
            PValue("p (Holm)", "p_holm"),
        ),
        long=key != "comparison",
    )


def _differs(row: SystemComparison) -> bool:
    return row.p_holm is not None and row.p_holm < LEVEL


def _systems(result: Comparison, metrics: Sequence[str], scores: str) -> SystemsTable:
    """The scores as a table of systems, with those that differ significantly from the baseline."""
    table = crossed(
        [row for row in result.systems if row.metric in metrics],
        Name("system", "system"),
        "metric",
        Interval("", "mean"),
        key="systems",
        beside=[Count("items", lambda _: result.items)],
    )
    settings = result.settings
    rule = "" if settings.p_values == "postil" else f" as in {settings.p_values}"
    test = f"approximate randomization{rule}, {settings.permutations:,} permutations, Holm-adjusted p < .05"
    return SystemsTable(
        table=table,
        unit="item",
        lower_is_better=frozenset(result.lower_is_better),
        different=_differs,
        tested=f"significantly different from {result.baseline} ({test})" if len(table.rows) > 1 else "",
        intervals=f"95 % confidence intervals, bootstrap over items, {settings.resamples:,} resamples",
        notes=[f"{scores[:1].upper()}{scores[1:]}."],
        signatures=result.signatures,
    )


def _metrics(result: Comparison) -> list[str]:
    return list(dict.fromkeys(row.metric for row in result.systems))


def _remarks(result: Comparison, hidden: int) -> Iterator[str]:
    if hidden:
        yield Message(
            "{count} control not shown; {whole} has them all",
            "{count:,} controls not shown; {whole} has them all",
            count=hidden,
            whole=WHOLE,
        )
    if result.lower_is_better:
        yield f"lower is better, so a system below the baseline is better: {', '.join(result.lower_is_better)}"
    yield from (f"excluded: {each}" for each in result.left_out)
    yield from noted(result.notes)
    settings = result.settings
    yield (
        f"seed {settings.seed}, {settings.resamples} resamples, {settings.permutations} permutations; "
        "Holm-adjusted within a metric"
        f"{'' if settings.p_values == 'postil' else f'; p-values as in {settings.p_values}'}"
    )


def _line(result: Comparison) -> str:
    metrics = _metrics(result)
    differ = [f"{_differing(result, metric)} by {metric}" for metric in metrics if not is_control(metric)]
    systems = counted(len({row.system for row in result.systems}), "system")
    size = f"{systems}, {counted(len(metrics), 'metric')}, {counted(result.items, 'item')}"
    return f"{size}; significantly different from {result.baseline}: {', '.join(differ)}"


def _differing(result: Comparison, metric: str) -> str:
    tested = [row.p_holm for row in result.systems if row.metric == metric and row.p_holm is not None]
    return f"{sum(p < LEVEL for p in tested)} of {len(tested)}"


def interleaved(result: InterleavingResult) -> View:
    """One row per pair of models and measure.

    Args:
        result: The result.
    """
    found = [row for row in result.rows if row.measure == CREDIT]
    said = [
        f"{row.model} over {row.baseline} {value_with_interval(row.preference, row.low, row.high)}" for row in found
    ]
    return View(
        line=f"{counted(result.impressions, 'impression')}; {', '.join(said)}",
        rows=result.rows,
        fields=Preference.__struct_fields__,
        grids=[
            Table(
                rows=result.rows,
                columns=(
                    Name("model", "model"),
                    Text("against", "baseline"),
                    Text("measure", "measure"),
                    *(Count(name, name) for name in ("impressions", "wins", "ties", "losses")),
                    Interval("preference", "preference"),
                    PValue("p (sign test)", "p_sign", least=True),
                    PValue("p (articles)", "p_articles", least=True),
                    PValue("p (Holm)", "p_holm", least=True),
                ),
            ),
            Table(
                rows=result.ranks,
                columns=(
                    Name("model", "model"),
                    Text("against", "baseline"),
                    Count("rank", "rank", separated=False),
                    Figure("suggestions", lambda row: f"{row.of_model:,} : {row.of_baseline:,}"),
                    PValue("p (balance)", "p_balance", least=True),
                    *(Figure(event, partial(_shares, event)) for event in ("clicked", "answered", "hidden")),
                ),
            ),
        ],
        findings=[_interleaved_finding(pair, result) for pair in result.pairs],
        head=f"{counted(result.impressions, 'impression')}; preferences from -.5 to .5, above 0 for the model",
        remarks=list(_interleaved_remarks(result)),
    )


def _shares(event: str, row: InterleavedRank) -> str:
    """Shares of the suggestions at a rank that have an event: of the model, and of the baseline."""
    sides = ((getattr(row, f"{side}_{event}"), getattr(row, f"of_{side}")) for side in ("model", "baseline"))
    return " : ".join(short(n / of) if of else "-" for n, of in sides)


def _interleaved_finding(pair: InterleavedPair, result: InterleavingResult) -> str:
    """The answer in a sentence."""
    names = f"{pair.model} and {pair.baseline}"
    of = pair.model, pair.baseline, CREDIT
    row = next((row for row in result.rows if (row.model, row.baseline, row.measure) == of), None)
    if row is None:
        return f"{names}: no suggestion was clicked, answered or hidden, so nothing can be said"
    if not pair.balanced:
        return f"{names}: nothing can be said, since a fair coin did not make these lists; see the notes"
    decided = counted(row.wins + row.losses, "impression")
    if row.significant:
        better, worse = (pair.model, pair.baseline) if row.preference > 0 else (pair.baseline, pair.model)
        return f"{better} helps more than {worse}: it wins {max(row.wins, row.losses):,} of {decided} with a winner"
    said = f"{names} cannot be told apart: {pair.model} wins {row.wins:,} of {decided} with a winner"
    more = 0 if pair.needed is None else pair.needed - pair.shown
    return said + (f"; a preference of {pair.detectable:g} needs about {more:,} more impressions" if more > 0 else "")


def _interleaved_remarks(result: InterleavingResult) -> Iterator[str]:
    for pair in result.pairs:
        names = f"{pair.model} against {pair.baseline}"
        shown = f"{pair.shown:,} of {counted(pair.impressions, 'impression')} shown"
        yield f"{names}: {shown}, {counted(pair.articles, 'article')}; {pair.outcomes:,} with an event"
        if pair.needed is not None:
            yield f"{names}: to find a preference of {pair.detectable:g} with power .8, show {pair.needed:,} like these"
    yield from (f"excluded: {each}" for each in result.left_out)
    yield from noted(result.notes)
    settings = result.settings
    yield "credit is clicks and answers less hidden suggestions; by hidden, the model with fewer of them wins"
    yield "at ranks, pairs of numbers are of the model and of the one it is against"
    yield f"seed {settings.seed}, {settings.resamples} resamples of the articles; Holm-adjusted for pairs of models"


def preferences(result: PreferencesResult) -> View:
    """One row per system, the strongest first, and one per pair.

    Args:
        result: The result.
    """
    origin = "their mean is 0" if result.baseline is None else f"that of {result.baseline} is 0"
    best = ", ".join(
        f"{row.system} {value_with_interval(row.strength, row.low, row.high)}" for row in result.systems[:2]
    )
    return View(
        line=f"{counted(result.preferences, 'preference')}; {best}",
        rows=result.systems,
        fields=PreferredSystem.__struct_fields__,
        grids=[
            Table(
                rows=result.systems,
                columns=(
                    Name("system", "system"),
                    Interval("strength", "strength"),
                    Interval("win rate", "win_rate", low="win_low", high="win_high"),
                    *_OUTCOMES,
                    Figure("rank", lambda row: "-".join(dict.fromkeys(map(str, (row.rank_low, row.rank_high))))),
                    Text("group", "letters"),
                ),
            ),
            Table(
                rows=result.pairs[:MOST],
                columns=(
                    Name("system", "first"),
                    Text("against", "second"),
                    *_OUTCOMES,
                    Number("win rate", "win_rate"),
                    Number("by strengths", "expected"),
                    Interval("difference of strengths", "difference"),
                    PValue("p (Holm)", "p_holm", least=True),
                ),
            ),
        ],
        findings=[_preferences_finding(result)],
        head=(
            f"{counted(result.preferences, 'preference')} of {counted(result.annotators, 'annotator')} for "
            f"{counted(result.items, 'item')}; strengths are natural logarithms, {origin}"
        ),
        remarks=list(_preferences_remarks(result)),
    )


def _preferences_finding(result: PreferencesResult) -> str:
    """The answer in a sentence."""
    if not result.systems:
        return "there is no system"
    best = result.systems[0]
    tested = [row for row in result.pairs if row.first == best.system and row.p_holm is not None]
    below = [row.second for row in tested if (row.p_holm or 0.0) < LEVEL]
    if not below:
        return f"{best.system} has the highest strength, and no system is significantly below it"
    everyone = len(below) == len(result.systems) - 1 > 1
    return f"{best.system} is preferred to {'all others' if everyone else listed(below, most=FEW)}"


def _preferences_remarks(result: PreferencesResult) -> Iterator[str]:
    if len(result.pairs) > MOST:
        yield f"{len(result.pairs) - MOST:,} more pairs are in the JSON"
    tested = [row for row in result.pairs if row.p_holm is not None]
    if tested:
        several = sum(row.p_holm is not None and row.p_holm < LEVEL for row in tested)
        are = "difference is" if len(tested) == 1 else "differences are"
        yield f"{several} of {len(tested)} {are} significant (Holm-adjusted p < .05)"
    if result.tie_parameter is not None:
        share = result.tie_parameter / (2 + result.tie_parameter)
        yield f"ties: two equal systems tie in {100 * share:.0f} % of cases by the model of Davidson"
    if result.left is not None:
        left = result.left
        yield f"text on the left preferred: {value_with_interval(left.value, left.low, left.high)} of those decided"
    yield from noted(result.notes)
    settings = result.settings
    yield f"seed {settings.seed}, {settings.resamples} resamples of the items; Holm-adjusted for pairs of systems"


def chapter(found: Comparison, key: str) -> Chapter:
    """The chapter of systems against a baseline.

    Args:
        found: The comparison.
        key: Prefix of the chapter's ids.
    """
    every = _metrics(found)
    metrics, controls = ([name for name in every if is_control(name) is wanted] for wanted in (False, True))
    systems, items = counted(len({row.system for row in found.systems}), "system"), counted(found.items, "item")
    kind = "corpus scores" if found.summed else "means"
    caption = (
        f"Systems against {isolated(found.baseline)}, {kind} over {items}; 95 % confidence intervals in brackets "
        "(* Holm-adjusted p < .05)"
    )
    shown = (compared_table(found, metrics, caption=caption), *first_open(pictures(found)))
    beside = collapsed(compared_table(found, controls, "compared-controls", "The same by controls"))
    parts = (
        Section("comparison", "Differences from the baseline", (*shown, *beside)),
        Section("data", "Data", (Facts((*left_out(found.left_out),)),)),
        Section(
            "settings",
            "Settings",
            (*resampled(found.settings, found.notes, found.signatures, found.lower_is_better),),
        ),
    )
    said = f"{systems}, {items}, {counted(len(metrics), 'metric')}"
    conclusion = (Findings(tuple(compared(found))), Paragraph(SIGNIFICANTLY))
    made = Chapter(
        key, f"Systems against {isolated(found.baseline)}", said, conclusion, parts, (("comparison", found.systems),)
    )
    return with_weights(made, found.weights, found.signatures)


def compared(found: Comparison) -> list[Point]:
    """Findings of each metric on the systems, compared with the baseline.

    Args:
        found: The comparison.
    """
    points = []
    for name in _metrics(found):
        rows = [row for row in found.systems if row.metric == name and row.difference is not None]
        if is_control(name) or not rows:
            continue
        sides = (finding(row.difference or 0, row.difference_low, row.difference_high, row.p_holm) for row in rows)
        systems = (f"{isolated(row.system)} ({signed(row.difference or 0)})" for row in rows)
        groups = grouped(zip(sides, systems, strict=True))
        said = "; ".join(
            f"{side} {isolated(found.baseline)}: {listed(groups[side], most=SYSTEMS)}"
            for side in VERDICTS
            if side in groups
        )
        low = ". Lower is better here" if name in found.lower_is_better else ""
        points.append((name, f"{capital(said)}{low}."))
    return points


def pictures(found: Comparison) -> Iterator[Picture]:
    """The difference of each system from the baseline, for each metric that is no control.

    Args:
        found: The comparison.
    """
    differences = grouped((row.metric, row) for row in found.systems if not is_control(row.metric))
    for metric, rows in differences.items():
        drawn = [
            IntervalRow(row.system, row.difference, row.difference_low, row.difference_high)
            for row in rows
            if row.difference is not None
        ]
        if drawn:
            yield _against_baseline(metric, drawn, found.baseline)


def _against_baseline(metric: str, drawn: Sequence[IntervalRow], baseline: str) -> Picture:
    """Each system's score minus the baseline's, by one metric."""
    few = f", the first {DRAWN} of {len(drawn):,} systems" if len(drawn) > DRAWN else ""
    drawn = drawn[:DRAWN]
    said = "; ".join(f"{row.name} {number(row.value)} {interval(row.low, row.high)}" for row in drawn)
    draw = partial(intervals, drawn, xlabel=f"{metric} minus that of {baseline}")
    caption = f"{isolated(metric)} minus that of {isolated(baseline)}, 95 % confidence intervals{few}"
    return Picture(metric, metric, caption, f"Difference of {metric} from {baseline}: {said}", draw)


def preferences_chapter(result: PreferencesResult, key: str) -> Chapter:
    """The chapter of paired preferences.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    return viewed(result, key, *strengths(result))


def strengths(result: PreferencesResult) -> Iterator[Picture]:
    """The strengths of systems by paired preferences.

    Args:
        result: The result.
    """
    if result.systems:
        title = "Strengths of systems by paired preferences, 95 % confidence intervals"
        rows = [IntervalRow(row.system, row.strength, row.low, row.high) for row in result.systems[:DRAWN]]
        said = "; ".join(f"{row.name} {number(row.value)}" for row in rows)
        yield Picture("strengths", "strengths", title, f"{title}: {said}", partial(intervals, rows, xlabel="strength"))


def interleaved_pictures(result: InterleavingResult) -> Iterator[Picture]:
    """The preferences of readers.

    Args:
        result: The result.
    """
    title = "Preferences of readers, 95 % confidence intervals"
    rows = [
        IntervalRow(row.measure, row.preference, row.low, row.high, f"{row.model} over {row.baseline}")
        for row in result.rows
    ]
    said = "; ".join(f"{row.group} by {row.name} {number(row.value)}" for row in rows)
    yield Picture(
        "preferences", "preferences", title, f"{title}: {said}", partial(intervals, rows, xlabel="preference")
    )
