"""Chapters: the sections of each kind of result, in reading order."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from postil.budgeting.chapter import budget_chapter
from postil.budgeting.result import BudgetResult
from postil.combination.chapter import combine_chapter
from postil.combination.result import CombinationResult
from postil.comparison.preferences_result import PreferencesResult
from postil.comparison.result import Comparison
from postil.correlation.audit_chapter import audit_blocks
from postil.correlation.audit_view import accuracies, accuracy_table
from postil.correlation.result import CorrelationResult
from postil.correlation.verdict import Wording, verdict
from postil.correlation.view import on_severity
from postil.estimation.chapter import estimate_chapter
from postil.estimation.result import EstimateResult
from postil.judging.chapter import judge_chapter
from postil.judging.result import JudgeResult
from postil.meta.coefficients import tied_notes, titled
from postil.meta.parts import CorrelationSettings
from postil.page import pictures, tables
from postil.page.blocks import (
    Block,
    Chapter,
    Collapsed,
    Facts,
    Findings,
    Paragraph,
    Quote,
    Quotes,
    Section,
    collapsed,
    facts,
    first_open,
    sentences,
)
from postil.page.lookup import Lookup
from postil.page.summary import SIGNIFICANTLY, compared, paragraph, scored, weights
from postil.page.words import LEVELS, isolated, left_out
from postil.passages.chapter import gains_chapter
from postil.passages.result import NcgResult
from postil.raters.chapter import agreement_blocks
from postil.results.formats import counted, listed
from postil.results.names import PEOPLE, is_control, reads_weights
from postil.results.numbers import estimate, grade, number
from postil.results.table import Table
from postil.results.views import view_of
from postil.scoring.result import ScoreResult
from postil.scoring.view import scores_table
from postil.studies.chapter import study_chapter
from postil.studies.result import StudyResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from postil.comparison.result import ComparisonSettings
    from postil.meta.parts import DisagreementPair
    from postil.results.base import Result

__all__ = ["TEXT", "chapter"]

TEXT: Final = 1500
"""Number of characters of a text that are shown."""


TITLES: Final[Mapping[str, str]] = {
    "agreement": "Inter-annotator agreement",
    "calibration": "Precision against coverage",
    "commenters": "Commenters against readers",
    "corpus": "A corpus",
    "evaluation": "Ranking of comments",
    "interest-training": "A training of interest",
    "interesting": "Interesting passages",
    "interesting-pages": "Interesting passages of pages",
    "interleaving": "Interleaved suggestions",
    "plan": "An item assignment",
    "preferences": "Paired preferences",
    "ranked-comments": "Ranked comments",
    "statistics": "Statistics of a corpus",
    "dry-run": "Dry run",
    "suggestions": "Suggested comments",
    "summaries": "Summaries of topics",
    "thread-orders": "Orders of threads",
    "training": "A training",
    "vectors": "Word vectors",
    "weights-plan": "References to grade",
    "wmt": "Metrics of a test set",
}
"""Titles of chapters by kind."""


def chapter(result: Result, key: str) -> Chapter:
    """The chapter of a result.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    made = _CHAPTERS.get(type(result), _viewed)(result, key)
    if isinstance(result, CorrelationResult | Comparison) and result.weights:
        return _saying(made, result.weights, result.signatures)
    return made


def _saying(made: Chapter, weights: str, signatures: Mapping[str, str]) -> Chapter:
    """The chapter with the source of weights beside its data and in the caption of each table of weighted metrics."""
    weighted = [name for name, signature in signatures.items() if reads_weights(name, signature)]

    def said(block: Block) -> Block:
        if isinstance(block, Collapsed):
            return replace(block, blocks=tuple(map(said, block.blocks)))
        if isinstance(block, Table) and block.shows(weighted):
            return replace(block, caption=f"{block.caption}; {weights}")
        return block

    parts = tuple(replace(part, blocks=tuple(map(said, part.blocks))) for part in made.parts)
    return replace(made, data=f"{made.data}; {weights}", parts=parts)


def _correlated(result: CorrelationResult, key: str) -> Chapter:
    look = Lookup(result)
    data = result.data
    said = (
        f"{counted(data.texts, 'text')} ({counted(data.items, 'item')}, {counted(data.systems, 'system')}), "
        f"{counted(data.ratings, 'rating')} by {counted(data.annotators, 'annotator')}"
        + (f", {isolated(data.aspect)}" if data.aspect else "")
    )
    parts = [
        Section("correlations", "Correlation with human ratings", (*_correlations(look),)),
        Section("differences", "Differences between metrics", (*_differences(look),)),
        Section("audit", "Could it stand in for a person?", (*audit_blocks(result),)),
        Section("scatters", "Scores against ratings", (*_scatters(look),)),
        Section("systems", "Systems", (tables.systems(look),) if len(result.systems) > 1 else ()),
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
            (*_settings(result.settings, result.notes, result.signatures.items(), result.settings.lower_is_better),),
        ),
    ]
    found = verdict(result, Wording(isolated, estimate))
    conclusion: tuple[Block, ...] = (
        *([Findings(tuple(found))] if found else []),
        Paragraph(paragraph(look)),
        *sentences(tied_notes(accuracies(result), isolated)),
        *sentences(result.warnings),
        *([Paragraph(SIGNIFICANTLY)] if result.differences else []),
    )
    return Chapter(key, "Metrics against human ratings", said, conclusion, tuple(part for part in parts if part.blocks))


def _compared(found: Comparison, key: str) -> Chapter:
    metrics = [name for name in dict.fromkeys(row.metric for row in found.systems) if not is_control(name)]
    systems = len({row.system for row in found.systems})
    shown = (tables.comparison(found), *first_open(pictures.baseline_pictures(found)))
    controls = collapsed(tables.compared_controls(found))
    parts = (
        Section("comparison", "Differences from the baseline", (*shown, *controls)),
        Section("data", "Data", (Facts((*left_out(found.left_out),)),)),
        Section(
            "settings",
            "Settings",
            (*_settings(found.settings, found.notes, found.signatures.items(), found.lower_is_better),),
        ),
    )
    said = f"{counted(systems, 'system')}, {counted(found.items, 'item')}, {counted(len(metrics), 'metric')}"
    conclusion = (Findings(tuple(compared(found))), Paragraph(SIGNIFICANTLY))
    return Chapter(key, f"Systems against {isolated(found.baseline)}", said, conclusion, parts)


def _scored(found: ScoreResult, key: str) -> Chapter:
    signatures = {row.metric: row.signature for row in found.scores}
    systems = len({row.system for row in found.scores})
    said = f"{counted(systems, 'system')}, {counted(len(signatures), 'metric')}"
    parts = (
        Section("scores", "Scores", (scores_table("system", found.scores, n=True),)),
        Section("settings", "Settings", (tables.signatures(signatures.items()),)),
    )
    conclusion = scored(found)
    return Chapter(key, "Scores of systems", said, (Paragraph(conclusion),) if conclusion else (), parts)


def _correlations(look: Lookup) -> Iterator[Block]:
    yield tables.correlations(look)
    absent = look.result.absent
    for reason, several in groupby(sorted(absent, key=lambda row: row.reason), key=lambda row: row.reason):
        rows = list(several)
        names = dict.fromkeys(PEOPLE.get(row.metric) or isolated(row.metric) for row in rows)
        kinds = listed(list(dict.fromkeys(titled(row.coefficient) for row in rows)))
        yield Paragraph(f"No {kinds} of {listed(list(names), most=6)}: {reason}.")
    yield from first_open(pictures.correlations(look))
    if look.result.audit is None and (accuracies := accuracy_table(look.result)):
        yield accuracies


def _differences(look: Lookup) -> Iterator[Block]:
    if not look.result.differences:
        return
    if points := weights(look):
        yield Paragraph("Metrics compared with their unweighted form and their controls:")
        yield Findings(tuple(points))
    yield tables.first_differences(look)
    yield from first_open(pictures.differences(look))
    if matrices := pictures.matrices(look):
        yield Paragraph("All pairs of metrics:")
        yield from first_open(matrices)
    yield from collapsed(tables.all_differences(look))


def _scatters(look: Lookup) -> Iterator[Block]:
    picture, more = pictures.scatters(look)
    if picture:
        yield picture
        if more:
            yield Paragraph(
                f"The {pictures.PANELS} of {more + pictures.PANELS} metrics with the strongest correlations."
            )


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


def _settings(
    settings: CorrelationSettings | ComparisonSettings,
    notes: Sequence[str],
    signatures: Iterable[tuple[str, str]],
    turned: Sequence[str],
) -> Iterator[Block]:
    by = settings.by if isinstance(settings, CorrelationSettings) else ""
    yield facts(
        ("command", settings.command),
        ("correlation", LEVELS.get(by, by)),
        ("lower is better", listed(list(map(isolated, turned)))),
        ("intervals", f"95 % bootstrap, {counted(settings.resamples, 'resample')} of the items"),
        ("tests", f"{counted(settings.permutations, 'permutation')} of the items; Holm’s correction"),
        *(("note", note) for note in notes),
        ("seed", str(settings.seed)),
        ("postil", settings.postil),
    )
    yield from collapsed(tables.signatures(signatures))


def _viewed(result: Result, key: str) -> Chapter:
    """The chapter of another kind of result: the tables of its view."""
    view, kind = view_of(result), str(result.__struct_config__.tag)
    title = TITLES.get(kind, kind)
    several = len(view.grids) > 1
    sheets = [_numbered(kind, title, table, number if several else 0) for number, table in enumerate(view.grids, 1)]
    drawn = pictures.strengths(result) if isinstance(result, PreferencesResult) else ()
    numbers = Section(f"{kind}-numbers", "Numbers", (*drawn, *sheets, *map(Paragraph, view.remarks)))
    return Chapter(key, title, view.head, tuple(map(Paragraph, view.findings)), (numbers,))


def _numbered(kind: str, title: str, table: Table, number: int) -> Table:
    """A table of a view, with a number where there are several."""
    shown = [replace(column, only="") for column in table.columns if column.only != "page"]
    key, caption = (f"{kind}-{number}", f"{title}, table {number}") if number else (kind, title)
    return replace(table, key=key, caption=caption, columns=shown, long=False)


_CHAPTERS: Final[Mapping[type[Result], Callable[[Any, str], Chapter]]] = {
    BudgetResult: budget_chapter,
    CombinationResult: combine_chapter,
    Comparison: _compared,
    CorrelationResult: _correlated,
    EstimateResult: estimate_chapter,
    JudgeResult: judge_chapter,
    NcgResult: gains_chapter,
    ScoreResult: _scored,
    StudyResult: study_chapter,
}
"""Makers of the chapters of the kinds that have more than the tables of their view."""
