"""The chapter of correlations: sections, tables, pictures, the audit, and the numbers in full."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.correlation.audit_view import (
    MAPPINGS,
    Wording,
    accuracies,
    accuracy_table,
    annotator_table,
    audit_notes,
    audit_tables,
    row_label,
    verdict,
)
from postil.correlation.view import (
    Line,
    Lookup,
    Pair,
    ceilings,
    correlation_table,
    difference_table,
    metric_lines,
    on_severity,
    paragraph,
    weights,
)
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.meta.coefficients import TABLE, tied_notes, titled
from postil.meta.parts import CEILING, HALVES, PEOPLE, Points, RaterVariance, SystemMean
from postil.raters.view import agreement_blocks, agreement_numbers
from postil.results.formats import listed, plain_rows
from postil.results.names import LENGTH, control, is_control
from postil.results.numbers import estimate, grade, number
from postil.results.page.blocks import (
    SIGNIFICANTLY,
    UNCLEAR,
    Block,
    Chapter,
    Collapsed,
    Facts,
    Findings,
    Heading,
    Numbers,
    Paragraph,
    Picture,
    Quote,
    Quotes,
    Rows,
    Section,
    capital,
    collapsed,
    facts,
    first_open,
    isolated,
    left_out,
    sentences,
)
from postil.results.page.chapters import resampled, signature_rows, with_weights
from postil.results.plots.forest import IntervalRow, Landmark, intervals
from postil.results.plots.heatmaps import matrix
from postil.results.plots.lines import Curve, curves
from postil.results.plots.points import ScatterPanel, scatter
from postil.results.table import Count, Interval, Name, Number, PValue, Table, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.correlation.result import AltTest, Audit, Calibration, CorrelationResult, DisagreementPair

__all__ = ["chapter", "first_differences", "pictures"]

PANELS: Final = 12
"""Number of metrics that are drawn against ratings."""

PAIRED: Final = 40
"""Number of metrics in the matrix of all pairs."""

DRAWN: Final = 60
"""Number of rows of the alternative annotator test that are drawn."""

CURVES: Final = 12
"""Number of metrics with a reliability curve."""

MEANINGS: Final[Mapping[str, str]] = {
    "none": "none (scores as they are)",
    "rounded": "rounded (to a rating)",
}

TEXT: Final = 1500
"""Number of characters of a text that are shown."""

LEVELS: Final[Mapping[str, str]] = {
    "pool": "over all texts together",
    "item": "within each item, then the mean over items",
    "system": "over the means of the systems",
    "within-system": "within each system, then the mean over systems",
}
"""Levels of correlations, in words."""

WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "accuracies": (
        "Ranking texts and systems",
        (
            "Each pair of texts, or of systems, is ranked by people and by a metric. A metric is worth something where "
            "it is above chance, and above what length and a constant get."
        ),
    ),
    "alt-test": (
        "Alternative annotator test",
        (
            "A metric wins against an annotator where it is as close to the ratings of the others as the annotator is, "
            "but for an advantage epsilon; it may replace an annotator where it wins against half of them or more. "
            "Real numbers cannot tie with an annotator, and ratings can: compare rows of one mapping, and first with "
            "the constant, which knows nothing about single texts."
        ),
    ),
    "calibration": (
        "On the scale of the ratings",
        (
            "Scores are mapped to the scale of the ratings by a fit on other items. A metric is calibrated where the "
            "texts to which it gives a rating have that rating on average."
        ),
    ),
    "length": (
        "Length of the text",
        "A correlation that falls where length is held fixed is in part a correlation with length.",
    ),
    "raters": (
        "The raters",
        (
            "The variance of single ratings by source, and how reliable their means are: the ceiling is what anything "
            "that sees the same texts can be expected to correlate with the mean rating."
        ),
    ),
}
"""Headings above the tables that begin a part, and sentences below them."""


def pictures(result: CorrelationResult) -> Iterator[Picture]:
    """The pictures of a result.

    Args:
        result: The result.
    """
    look = Lookup(result)
    yield from correlations(look)
    yield from differences(look)
    yield from matrices(look)
    yield from (each for each in scatters(look) if isinstance(each, Picture))
    if result.audit is not None:
        yield from alternative_test(result.audit.alt_test)
        yield from reliability(result.audit.calibration)
        yield from raters(result.audit.raters)


def correlations(look: Lookup) -> Iterator[Picture]:
    """A forest of metrics, with their controls, for each coefficient."""
    grouped = any(look.controls.values()) or any(len(members) > 1 for members in look.families.values())
    groups = {"": "without a metric"} | ({} if grouped else dict.fromkeys(look.families, ""))
    for coefficient in look.coefficients:
        rows = [
            IntervalRow(line.name, row.value, row.low, row.high, groups.get(family, family), line.kind == "control")
            for family, line in metric_lines(look)
            if (row := line.rows.get(coefficient))
        ]
        if not rows:
            continue
        marks = []
        halves = look.people.get((HALVES, coefficient))
        if halves and halves.by == look.result.settings.by:
            marks.append(Landmark(PEOPLE[HALVES], halves.value))
        ceiling = look.result.human.ceiling
        if TABLE[coefficient].linear and ceiling is not None and look.result.settings.by == "pool":
            marks.append(Landmark("ceiling", ceiling))
        title = titled(coefficient)
        label = f"{title} of each metric with human ratings, 95 % confidence intervals; numbers are in the table above"
        gray = "; controls in gray" if any(row.control for row in rows) else ""
        caption = f"{title} with human ratings, 95 % confidence intervals{gray}"
        draw = partial(intervals, rows, landmarks=marks, xlabel=title)
        yield Picture(coefficient, title, caption, label, draw)


def differences(look: Lookup) -> Iterator[Picture]:
    """A forest of each weighted metric minus its unweighted form and its controls, for each coefficient."""
    for coefficient in look.coefficients:
        rows = []
        for name in look.metrics:
            for other in look.against(name):
                if row := look.difference(name, other, coefficient):
                    title = f"− {control(other) if other.startswith('control:') else f'unweighted {other}'}"
                    rows.append(IntervalRow(title, row.value, row.low, row.high, name))
        if rows:
            title = titled(coefficient)
            caption = f"{title} of metrics minus their unweighted forms and controls, 95 % confidence intervals"
            draw = partial(intervals, rows, xlabel=f"difference of {title}")
            yield Picture(f"differences-{coefficient}", title, caption, caption, draw)


def matrices(look: Lookup) -> list[Picture]:
    """The differences of all pairs of metrics, for each coefficient; none for two metrics."""
    names = [*look.metrics, *(name for name in look.loose if name == LENGTH)]
    if len(names) < 3:
        return []
    made = []
    for coefficient in look.coefficients:
        there = _strongest([name for name in names if (name, coefficient) in look.rows], look, coefficient, PAIRED)
        values = np.full((len(there), len(there)), np.nan)
        marks = np.zeros(values.shape, np.bool_)
        for at in np.ndindex(values.shape):
            row = look.difference(there[at[0]], there[at[1]], coefficient) if at[0] != at[1] else None
            if row is None:
                continue
            values[at] = row.value
            marks[at] = look.verdict(row) != UNCLEAR
        if np.isnan(values).all():
            continue
        note = f"interval excludes 0, {'Holm-adjusted p < .05' if coefficient in look.tested else 'no test'}"
        shown_names = [control(name) if name == LENGTH else name for name in there]
        title = titled(coefficient)
        label = f"Differences of {title} between all pairs of metrics; the numbers are in the tables of this section"
        which = (
            "all pairs of metrics" if len(there) < PAIRED else f"the {PAIRED} metrics with the strongest correlations"
        )
        caption = f"Differences of {title} between {which}"
        draw = partial(matrix, shown_names, values, marks, mark_note=note)
        made.append(Picture(f"pairs-{coefficient}", title, caption, label, draw))
    return made


def scatters(look: Lookup) -> Iterator[Picture | Paragraph]:
    """Draw scores against ratings, one panel per metric: what the coefficients above the panels are over."""
    by = look.result.settings.by
    points = _system_points(look) if by == "system" else look.result.points
    names = [name for name in look.metrics if points and name in points.scores]
    if not points or not names or not points.grades:
        return
    chosen = _strongest(names, look, look.main, PANELS)
    grades = np.asarray(points.grades, np.float64)
    panels = []
    for name in chosen:
        rows = [(each, look.rows.get((name, each))) for each in look.coefficients[:2]]
        within = {"item": " within items", "within-system": " within systems"}.get(by, "")
        said = [f"{titled(each)}{within} {number(row.value)}" for each, row in rows if row]
        note = ", ".join(said + ["lower is better"] * (name in look.result.settings.lower_is_better))
        panels.append(ScatterPanel(name, np.asarray(points.scores[name], np.float64), grades, note))
    count = f"{len(grades):,} {'system means' if by == 'system' else 'texts'}"
    label = f"Score against mean human rating for {len(panels)} metrics, {count}, with a least-squares line"
    together = "Each text’s score and mean rating, with the least-squares line of all texts together; coefficients are "
    caption = {
        "system": "Each system’s mean score and mean rating, with the least-squares line",
        "item": f"{together}means over items, not those of the points; ratings with few values are jittered",
        "within-system": f"{together}means over systems, not those of the points; ratings with few values are jittered",
        "pool": "Each text’s score and mean rating, with the least-squares line; ratings with few values are jittered",
    }.get(by, "Each text’s score and mean rating")
    draw = partial(scatter, panels, noise=0.0) if by == "system" else partial(scatter, panels)
    yield Picture("scores", "Scores against ratings", caption, label, draw)
    if len(names) > PANELS:
        yield Paragraph(f"The {PANELS} of {len(names)} metrics with the strongest correlations.")


def _system_points(look: Lookup) -> Points:
    """The systems' means as points."""
    systems = look.result.systems
    return Points(
        grades=tuple(row.grade for row in systems),
        scores={
            name: tuple(row.means[name] for row in systems)
            for name in look.metrics
            if all(name in row.means for row in systems)
        },
    )


def _strongest(names: Sequence[str], look: Lookup, coefficient: str, most: int) -> list[str]:
    """The metrics with the strongest correlations, in the order in which they came."""

    def strength(name: str) -> float:
        row = look.rows.get((name, coefficient))
        return abs(row.value) if row else -1

    chosen = set(sorted(names, key=strength, reverse=True)[:most])
    return [name for name in names if name in chosen]


def alternative_test(test: AltTest) -> Iterator[Picture]:
    """The average advantage probability of each metric and control, by mapping."""
    rows = [
        IntervalRow(
            f"{row_label(row.metric)}, passed" if row.passed else row_label(row.metric),
            row.rho,
            row.low,
            row.high,
            MEANINGS.get(mapping, mapping),
            is_control(row.metric),
        )
        for mapping in MAPPINGS
        for row in test.rows
        if row.mapping == mapping
    ]
    if not rows:
        return
    few = f", the first {DRAWN} of {len(rows):,}" if len(rows) > DRAWN else ""
    caption = (
        "Average advantage probability rho: share of texts on which a metric is at least as close to the other "
        f"annotators as an annotator is; 95 % confidence intervals{few}; controls in gray"
    )
    label = f"{caption}; the numbers are in the table below"
    draw = partial(intervals, rows[:DRAWN], xlabel="average advantage probability rho")
    yield Picture("alt-test", "Alternative annotator test", caption, label, draw)


def reliability(found: Sequence[Calibration]) -> Iterator[Picture]:
    """Reliability curves of the metrics, one picture per mapping."""
    for mapping in ("isotonic", "none", "linear", "rounded"):
        rows = [row for row in found if row.mapping == mapping and row.bins and not is_control(row.metric)]
        if not rows:
            continue
        title = MEANINGS.get(mapping, mapping)
        few = f", the first {CURVES} of {len(rows):,} metrics" if len(rows) > CURVES else ""
        lines = [
            Curve(
                row.metric,
                np.array([each.predicted for each in row.bins]),
                np.array([each.grade for each in row.bins]),
                sizes=np.array([each.n for each in row.bins], np.float64),
            )
            for row in rows[:CURVES]
        ]
        caption = (
            f"Mean rating of the texts to which a metric gives a rating, mapping {title}; on the dotted "
            f"line it is calibrated, and the area of a point is the number of texts{few}"
        )
        draw = partial(curves, lines, xlabel="predicted rating", ylabel="mean rating", diagonal=True)
        key = "reliability" if mapping == "isotonic" else f"reliability-{mapping}"
        yield Picture(key, title, caption, f"Reliability curves, mapping {mapping}", draw)


def raters(found: RaterVariance) -> Iterator[Picture]:
    """The ceiling and the dependability with more raters."""
    lines = []
    for level in found.levels:
        for name in ("ceiling", "phi"):
            points = [(each.k, value) for each in level.growth if (value := getattr(each, name)) is not None]
            if points:
                k, values = np.array(points).T
                lines.append(Curve(f"{name} by {level.by}", k, values))
    if lines:
        title = "Gain from more raters"
        caption = f"{title}: ceiling of Pearson’s coefficient, and dependability phi of the mean rating"
        draw = partial(curves, lines, log=True, xlabel="raters per text", ylabel="reliability")
        yield Picture("raters", title, caption, f"{caption}; the numbers are in the table below", draw)


def chapter(result: CorrelationResult, key: str) -> Chapter:
    """The chapter of correlations.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    look = Lookup(result)
    data, settings = result.data, result.settings
    by = LEVELS.get(settings.by, settings.by)
    said = (
        f"{counted(data.texts, 'text')} ({counted(data.items, 'item')}, {counted(data.systems, 'system')}), "
        f"{counted(data.ratings, 'rating')} by {counted(data.annotators, 'annotator')}"
        + (f", {isolated(data.aspect)}" if data.aspect else "")
    )
    parts = [
        Section("correlations", "Correlation with human ratings", (*_correlations(look),)),
        Section("differences", "Differences between metrics", (*_differences(look),)),
        Section("audit", "Could it stand in for a person?", (*_audit(result),)),
        Section("scatters", "Scores against ratings", (*scatters(look),)),
        Section("systems", "Systems", (_systems(look),) if len(result.systems) > 1 else ()),
        Section("disagreements", "Worst disagreements", (*_disagreements(look),)),
        Section(
            "agreement",
            "Inter-annotator agreement",
            (*agreement_blocks(result.agreement),) if result.agreement else (),
        ),
        Section("data", "Data", (_data(result),)),
        Section(
            "settings",
            "Settings",
            (*resampled(settings, result.notes, result.signatures, settings.lower_is_better, by),),
        ),
    ]
    found = verdict(result, Wording(isolated, estimate))
    conclusion: tuple[Block, ...] = (
        *([Findings(tuple(found))] if found else []),
        Paragraph(paragraph(look)),
        *sentences(tied_notes(accuracies(result), isolated)),
        *sentences(dict.fromkeys([*result.few_remarks(), *result.warnings])),
        *([Paragraph(SIGNIFICANTLY)] if result.differences else []),
    )
    made = Chapter(
        key,
        "Metrics against human ratings",
        said,
        conclusion,
        tuple(part for part in parts if part.blocks),
        tuple(_numbers(result)),
    )
    return with_weights(made, result.weights, result.signatures)


def _correlations(look: Lookup) -> Iterator[Block]:
    yield _correlation_table(look)
    absent = look.result.absent
    for reason, several in groupby(sorted(absent, key=lambda row: row.reason), key=lambda row: row.reason):
        rows = list(several)
        names = dict.fromkeys(PEOPLE.get(row.metric) or isolated(row.metric) for row in rows)
        kinds = listed(list(dict.fromkeys(titled(row.coefficient) for row in rows)))
        yield Paragraph(f"No {kinds} of {listed(list(names), most=6)}: {reason}.")
    yield from first_open(correlations(look))
    if look.result.audit is None and (accuracies := accuracy_table(look.result)):
        yield accuracies


def _correlation_table(look: Lookup) -> Table:
    """Correlations by coefficient: metrics, each followed by its controls, and human reference points."""
    result = look.result
    counts = {(row.n, row.dropped) for row in result.correlations}
    row = attrgetter("counts")
    unit = {"pool": "texts", "item": "items"}.get(result.settings.by, "systems")
    more = (Count(unit, "n", at=row), Count("excluded", "dropped", at=row))
    n = f", n = {next(iter(counts))[0]:,}" if len(counts) == 1 else ""
    by = LEVELS.get(result.settings.by, result.settings.by)
    caption = f"{capital(by)}{n}; 95 % confidence intervals in brackets"
    lines = (*(line for _, line in metric_lines(look)), *_people(look))
    return correlation_table(lines, look.coefficients, *(more if len(counts) > 1 else ()), caption=caption)


def _people(look: Lookup) -> Iterator[Line]:
    by, human = look.result.settings.by, look.result.human
    for kind, label in PEOPLE.items():
        people = {each: row for each in look.coefficients if (row := look.people.get((kind, each)))}
        if people:
            over = f" ({LEVELS['pool']})" if next(iter(people.values())).by != by else ""
            yield Line(label + over, people, "people")
    if by == "pool" and (bounded := ceilings(human, look.coefficients)):
        yield Line(PEOPLE[CEILING], bounded, "people")


def _differences(look: Lookup) -> Iterator[Block]:
    if not look.result.differences:
        return
    if points := weights(look):
        yield Paragraph("Metrics compared with their unweighted form and their controls:")
        yield Findings(tuple(points))
    yield first_differences(look)
    yield from first_open(differences(look))
    if pairs := matrices(look):
        yield Paragraph("All pairs of metrics:")
        yield from first_open(pairs)
    yield from collapsed(_all_differences(look.result))


def first_differences(look: Lookup) -> Table:
    """The first differences to look at.

    Args:
        look: The numbers.
    """
    pairs = []
    for first, second in look.first_pairs():
        rows = {each: row for each in look.coefficients if (row := look.difference(first, second, each))}
        pairs += [Pair(first, second, rows)] if rows else []
    caption = "Differences of correlations with 95 % confidence intervals (* Holm-adjusted p < .05, interval without 0)"
    return difference_table(pairs, look.coefficients, look.tested, caption, strong=look.result.is_significant)


def _all_differences(result: CorrelationResult) -> Table:
    """All differences, with every test."""
    rows = result.differences
    tests = {
        "p_bootstrap": "bootstrap",
        "p_williams": "Williams",
        "p_permutation": "permutation",
        "p_both": "PERM-BOTH",
        "p_holm": "Holm",
    }
    there = [name for name in tests if any(getattr(row, name) is not None for row in rows)]
    return Table(
        key="all-differences",
        caption=f"All {counted(len(rows), 'difference')} of correlations",
        rows=rows,
        columns=(
            Name("difference", lambda row: (row_label(row.first), row_label(row.second, row.first))),
            Text("coefficient", lambda row: titled(row.coefficient)),
            Interval("value", "value", signed=True, strong=result.is_significant),
            *(PValue(f"p ({tests[name]})", name) for name in there),
        ),
        long=True,
    )


@dataclass(frozen=True, slots=True)
class _System:
    """Mean scores of a system with their ranks; or rank correlations with the ratings, which have no rank."""

    name: str
    means: Mapping[str, tuple[float, int | None]]
    row: SystemMean | None = None


def _systems(look: Lookup) -> Table:
    """Mean scores of several systems beside mean ratings, the highest rating first."""
    result = look.result
    rows = [
        _System(
            row.system, {name: (mean, row.ranks[name]) for name, mean in row.means.items() if name in row.ranks}, row
        )
        for row in sorted(result.systems, key=lambda row: row.rank)
    ]
    orders = {name: (value, None) for name in look.metrics if (value := result.orders.get(name)) is not None}
    if orders:
        rows.append(_System("τ-b with human ratings", orders))
    return Table(
        key="systems",
        caption="Mean rating and mean scores of each system, rank in brackets",
        rows=rows,
        columns=(
            Name("system", "name"),
            Count("texts", "n", at=attrgetter("row"), dash=""),
            Number("human", "grade", at=attrgetter("row"), grade=True, rank="rank", dash=""),
            *(Number(name, partial(_part, name, 0), rank=partial(_part, name, 1)) for name in look.metrics),
        ),
        kind=lambda row: "" if row.row else "people",
    )


def _part(metric: str, place: int, row: _System) -> float | None:
    return row.means[metric][place] if metric in row.means else None


def _disagreements(look: Lookup) -> Iterator[Block]:
    shown = [each for each in look.result.disagreements if each.texts]
    if shown:
        yield Paragraph(
            "Scores are rescaled to the mean and variance of the ratings, then clipped to the scale; original scores "
            "are in brackets."
        )
    for each in shown:
        title = f"{isolated(each.first)} against {isolated(each.second)}"
        block = Quotes(title, tuple(_quotes(each)))
        yield block if each is shown[0] else Collapsed(title, (block,))


def _quotes(each: DisagreementPair) -> Iterator[Quote]:
    """The texts; those that differ in the item alone are merged."""
    names = (each.first, each.second)
    items: dict[tuple[str, str | None, tuple[tuple[str, str, str], ...]], list[str]] = {}
    for row in each.texts:
        scores = zip(names, row.normalised, row.scores, strict=False)  # human raters have no score
        opinions = (("human", grade(row.grade), ""), *((name, grade(x), number(score)) for name, x, score in scores))
        text = row.text if row.text is None or len(row.text) <= TEXT else f"{row.text[:TEXT]}…"
        items.setdefault((row.system, text, opinions), []).append(isolated(row.item))
    for (system, text, opinions), several in items.items():
        yield Quote(f"{listed(several)}, {isolated(system)}", text, opinions)


def _data(result: CorrelationResult) -> Facts:
    data = result.data
    spread = f"mean {grade(data.mean)}, standard deviation {grade(data.sd)}, of the mean rating of each text"
    human = result.human
    reliable = (
        f"Pearson correlation of two single ratings of a text {number(human.reliability)}; with {human.k:.3g} "
        "ratings per text it gives the reliability ceiling"
        if human.reliability is not None
        else ""
    )
    alone = f"{counted(human.left_out, 'text')} with a single rating, in no human reference point"
    return facts(
        ("texts", f"{data.texts:,}, of {counted(data.items, 'item')} by {counted(data.systems, 'system')}"),
        ("ratings", f"{data.ratings:,} by {counted(data.annotators, 'annotator')}; {spread}"),
        ("question", data.aspect or ""),
        ("scale", data.scale or ""),
        *left_out(data.left_out),
        ("reliability", reliable),
        *(("severity", said) for said in on_severity(result)),
        ("human", alone if human.left_out else ""),
    )


def _audit(result: CorrelationResult) -> Iterator[Block]:
    """The parts of an audit, each with words, pictures and tables, then the notes."""
    audit = result.audit
    if audit is None:
        return
    drawn = {
        "alt-test": list(alternative_test(audit.alt_test)),
        "calibration": list(reliability(audit.calibration)),
        "ceilings": list(raters(audit.raters)),
    }
    for table in (*filter(None, [accuracy_table(result)]), *audit_tables(audit)):
        if table.key in WORDS:
            heading, words = WORDS[table.key]
            yield from (Heading(heading), Paragraph(words))
        yield from first_open(drawn.get(table.key, ()))
        yield table
        if table.key == "alt-test":
            yield from collapsed(annotator_table(audit.alt_test))
    if notes := list(audit_notes(audit, isolated)):
        yield Facts(tuple(("note", f"{capital(note)}.") for note in notes))


def _numbers(result: CorrelationResult) -> Iterator[Numbers]:
    """The rows of the files beside the page."""
    yield "correlations", result.to_rows()
    both = any(row.p_both is not None for row in result.differences)
    yield "differences", _kept(result.differences, lambda name, _: both or name != "p_both")
    yield (
        "systems",
        [
            {"system": row.system, "n": row.n, "metric": name, "mean": mean, "rank": rank}
            for row in result.systems
            for name, mean, rank in (
                ("people", row.grade, row.rank),
                *((name, mean, row.ranks.get(name)) for name, mean in row.means.items()),
            )
        ],
    )
    yield (
        "disagreements",
        [
            {
                "first": each.first,
                "second": each.second,
                "item": text.item,
                "system": text.system,
                "grade": text.grade,
                "score_first": text.scores[0],
                "score_second": text.scores[1] if text.scores[1:] else None,
                "normalised_first": text.normalised[0],
                "normalised_second": text.normalised[1] if text.scores[1:] else None,
                "difference": text.difference,
                "text": text.text,
            }
            for each in result.disagreements
            for text in each.texts
        ],
    )
    yield signature_rows("metric", result.signatures)
    yield "accuracies", _kept(accuracies(result), _there)
    if result.audit is not None:
        yield from _audited(result.audit)
    if result.agreement is not None:
        yield from agreement_numbers(result.agreement)


def _audited(audit: Audit) -> Iterator[Numbers]:
    """The parts of an audit; a part within a row is a file of its own."""
    yield "margins", _kept([row for each in audit.rankings for row in each.margins], _there)
    test = {"epsilon": audit.alt_test.epsilon, "q": audit.alt_test.q}
    tested = audit.alt_test.rows
    yield "alt-test", [{**row, **test} for row in _kept(tested, _whole)]
    names = ("metric", "mapping")
    yield "alt-test-annotators", _inner(tested, names, "annotators")
    yield "calibration", _kept(audit.calibration, _whole)
    yield "reliability", _inner(audit.calibration, names, "bins")
    length = {"lengths": audit.length.lengths, "n": audit.length.n, "left_out": audit.length.left_out}
    yield "length", [{**row, **length} for row in _kept(audit.length.rows, _whole)]
    yield "length-quarters", _inner(audit.length.rows, ("metric", "coefficient"), "quartiles")
    yield "raters", audit.raters.components
    yield "ceilings", _kept(audit.raters.levels, _whole)
    yield "raters-growth", _inner(audit.raters.levels, ("by",), "growth")


def _inner(structs: Sequence[msgspec.Struct], names: Sequence[str], field: str) -> Rows:
    """The parts in a field of structs, each with the names of the struct that it is in."""
    return [
        {**{name: getattr(struct, name) for name in names}, **row}
        for struct in structs
        for row in msgspec.to_builtins(getattr(struct, field), enc_hook=plain_id)
    ]


def _kept(rows: Rows, keep: Callable[[str, object], bool]) -> list[dict[str, object]]:
    """Rows with the fields alone whose name and value a function is true for."""
    return [{name: value for name, value in row.items() if keep(name, value)} for row in plain_rows(rows)]


def _there(_: str, value: object) -> bool:
    return value is not None


def _whole(_: str, value: object) -> bool:
    """True for a number, not for parts that are structs themselves."""
    return not isinstance(value, tuple)
