"""Whole runs in the study of passages: scores against the pool, and their agreement with scores against articles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.rows import Judgement, Score
from postil.messages import Blank, Command, Message, Setting
from postil.meta.coefficients import linear
from postil.meta.correlation import correlations
from postil.meta.resampling import Draws
from postil.meta.table import join
from postil.passages.summaries import SummariesOptions, SummaryFiles, score_summary_files
from postil.results.base import to_json
from postil.results.numbers import number
from postil.studies.papers import PRINTED
from postil.studies.result import StudyPart, StudyRow, StudyTable
from postil.studies.stages import Stage, as_line, settings_of, words_of, write_text

if TYPE_CHECKING:
    from postil.meta.parts import Correlation
    from postil.passages.result import SummaryResult, SummaryScore
    from postil.studies.result import StudyCell

__all__ = ["agreement_words", "summaries_part", "summaries_stage"]

TITLE: Final = "Whole runs (section 3.2)"
NONE: Final = Message(
    "No runs are given: {summaries} (rows of item, the topic, system and text) scores whole summaries of at most 500 "
    "words against the pool, and {articles} (topic, text) against an article of each topic as well.",
    summaries=Setting("summaries", Blank("FILE")),
    articles=Setting("articles", Blank("FILE")),
)
RUNS: Final = (
    "Each summary is cut at {words} words and scored against the informative passages of its topic, pooled; a run has "
    "the mean over its topics."
)
CHECK: Final = (
    "The paper verified its pool on topics that came with an article: the rankings of the runs by pool and by article "
    "had Pearson's r .88, p < .000001; it does not name the measure. Runs that differ greatly, such as random ones "
    "beside good ones, raise r, and so does a pool that is a part of the article."
)
PUBLISHED: Final = 0.88


def summaries_stage(target: Path, files: SummaryFiles, options: SummariesOptions) -> Stage:
    """The stage that scores whole summaries.

    Args:
        target: Output file.
        files: Passages, summaries and articles.
        options: Options.
    """
    settings = settings_of(
        {
            "summaries": files.summaries,
            "articles": files.articles,
            "stop": options.stop,
            "stem": options.stem,
            "tokenizer": options.tokenizer,
            "scale": options.scale,
            "resamples": options.resamples,
            "seed": options.seed,
        }
    )
    command = as_line(Command("passages", (str(files.passages),), (*settings, *settings_of({"format": "json"}))))

    def work() -> None:
        result, _ = score_summary_files(files, options, command=command)
        write_text(target, to_json(result))

    return Stage(
        name="summaries",
        outputs=[target],
        inputs=[Path(path) for path in files.paths],
        request={"flags": words_of(settings)},
        command=command,
        printed=True,
        work=work,
    )


def summaries_part(result: SummaryResult | None) -> StudyPart:
    """The section on whole runs.

    Args:
        result: Their scores; None if no runs were given.
    """
    if result is None:
        return StudyPart(key="runs", title=TITLE, words=(NONE,))
    measures = tuple(dict.fromkeys(row.measure for row in result.scores))
    scores = {(row.system, row.measure): row for row in result.scores if row.reference == "passages"}
    systems = tuple(dict.fromkeys(system for system, _ in scores))
    rows = [
        StudyRow(name=system, cells=tuple(_cell(scores[system, measure]) for measure in measures)) for system in systems
    ]
    lower = [row.measure for row in result.scores if row.better == "low"]
    better = f"; lower is better: {', '.join(dict.fromkeys(lower))}" if lower else ""
    table = StudyTable(
        key="runs",
        caption=f"Runs against the pool, means over {result.data.topics} topics with 95 % confidence intervals{better}",
        head=("run", *measures),
        rows=tuple(rows),
    )
    words = (RUNS.format(words=result.settings.max_words), *result.notes)
    agreement = [_agreement(result)] if result.agreement else []
    return StudyPart(
        key="runs-part", title=TITLE, words=(*words, *((CHECK,) if agreement else ())), tables=(*agreement, table)
    )


def agreement_words(result: SummaryResult | None) -> tuple[str, ...]:
    """The range of Pearson's r between scores by pool and by articles; nothing without articles.

    Args:
        result: Scores of whole runs; None if there are none.
    """
    rows = sorted((row.value, row.metric) for row in (result.agreement if result else ()) if linear([row.coefficient]))
    if result is None or not rows:
        return ()
    (low, first), (high, last) = rows[0], rows[-1]
    said = (
        f"Whole runs: by pool and by article the means of {result.data.systems} runs have Pearson's r from "
        f"{number(low)} ({first}) to {number(high)} ({last}); in the paper {number(PUBLISHED, 2)}."
    )
    return (said,)


def _cell(row: SummaryScore) -> StudyCell:
    return row.mean if row.low is None or row.high is None else (row.mean, row.low, row.high)


def _agreement(result: SummaryResult) -> StudyTable:
    """Correlations of the runs' means by pool and by article, with intervals over topics and over runs."""
    over_topics = {(row.metric, row.coefficient): row for row in result.agreement}
    over_runs = _over_runs(result)
    rows = []
    for measure in dict.fromkeys(row.metric for row in result.agreement):
        pearson, other = over_topics.get((measure, "pearson")), over_runs.get(measure)
        if pearson is None or other is None:
            continue
        rank = over_topics.get((measure, "spearman"))
        cells = (_interval(pearson), _interval(other), None if rank is None else _interval(rank), PUBLISHED)
        rows.append(StudyRow(name=measure, cells=cells))
    return StudyTable(
        key="agreement",
        caption=f"Pool and articles as references: correlations over {result.data.systems} runs, 95 % confidence "
        f"intervals over {result.data.topics} topics, and for Pearson's r over runs as well",
        head=("measure", "Pearson, over topics", "Pearson, over runs", "Spearman, over topics", PRINTED),
        rows=tuple(rows),
    )


def _over_runs(result: SummaryResult) -> dict[str, Correlation]:
    """Pearson's r between the runs' means by both references, with runs in place of items, which are resampled."""
    sides = {
        kind: [
            (row.system, row.measure, -row.mean if row.better == "low" else row.mean)
            for row in result.scores
            if row.reference == kind
        ]
        for kind in ("passages", "articles")
    }
    found = {}
    for measure in dict.fromkeys(row.measure for row in result.scores):
        table = join(
            [Score(run, "mean", measure, mean, "") for run, name, mean in sides["passages"] if name == measure],
            [Judgement(run, "mean", "articles", mean) for run, name, mean in sides["articles"] if name == measure],
        )
        draws = Draws(resamples=result.settings.resamples, seed=result.settings.seed)
        for row in correlations(table, ["pearson"], draws=draws).rows:
            found[measure] = row
    return found


def _interval(row: Correlation) -> StudyCell:
    return row.value if row.low is None or row.high is None else (row.value, row.low, row.high)
