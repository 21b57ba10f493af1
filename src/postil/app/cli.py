"""The command line: flags, exit codes, nothing else. Each command is told in its own file of this room."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from postil.app.cli_annotate import annotate
from postil.app.cli_comment import comment, evaluate, rank_comments
from postil.app.cli_corpus import corpus
from postil.app.cli_options import (
    AddressOption,
    EngineOption,
    FormatOption,
    JobsOption,
    SeedOption,
    StemOption,
    StopOption,
)
from postil.app.cli_study import study
from postil.app.cli_train_generators import train_app
from postil.app.cli_vectors import vectors
from postil.app.exits import Root, command_line, exits, say
from postil.errors import UnknownName, UsageError
from postil.version import VERSION

__all__ = ["app", "main"]

app = typer.Typer(
    name="postil",
    cls=Root,
    help="Grade texts against graded references, and judge the grades against people.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.add_typer(annotate)
app.add_typer(corpus)
app.add_typer(study)
app.add_typer(vectors)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    if wanted:
        typer.echo(f"postil {VERSION}")
        raise typer.Exit


def _tell(form: str, remarks: list[str]) -> None:
    """What tables and JSON say beside the numbers goes to standard error where a format has no place for it."""
    for line in remarks if form not in {"table", "json"} else ():
        say(line)


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Grade texts against graded references, and judge the grades against people."""


@app.command()
@exits
def score(
    candidates: Annotated[
        str,
        typer.Argument(metavar="CANDIDATES", help="Candidates (item, system, text): .jsonl, .jsonl.gz, .parquet or -."),
    ],
    *,
    references: Annotated[
        str,
        typer.Option(
            "--references", "-r", metavar="FILE", help="References (item, text, and grade, ratings or weight)."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="SPEC",
            help="A metric, such as meteor or w-rouge-l(reading=union); may be repeated. Without it bleu-4, meteor, "
            "rouge-l and cider-d, and their w- forms where the references have weights.",
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="space, words, characters, 13a, jieba or rjieba (the same words as jieba, faster)."
        ),
    ] = "words",
    scale: Annotated[
        str | None, typer.Option(metavar="SCALE", help="Scale of the references' grades: HIGH (from 0) or LOW:HIGH.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Where weights come from. Grades: score (grade/high), minmax, item-max, signed. Upvotes: votes. The "
            "rows' own weight: given. Without it score, or given where the rows have a weight and no grade.",
        ),
    ] = None,
    background: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Saved document frequencies for CIDEr.")
    ] = None,
    save_background: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Save the references' document frequencies here.")
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the score of every candidate here: .jsonl, .jsonl.gz or .parquet."),
    ] = None,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls",
            help="Write controls of the w- metrics to --items too: shuffled weights, best references, the nearest "
            "reference's weight, length. postil correlate shows them beside the metrics.",
        ),
    ] = False,
    draws: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many times --controls shuffles the weights.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of --controls.")] = 20181,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Score systems against graded references.

    Metrics: bleu-1 to bleu-4, meteor, rouge-l, rouge-1, rouge-2, rouge-su4, cider, cider-d, delta-bleu. With w- in
    front the references' weights count; without it they are all 1.

    Example: postil score systems.jsonl -r references.jsonl --scale 1:5 -m meteor -m w-meteor
    """
    from postil.app.output import FORMATS  # noqa: PLC0415
    from postil.app.scoring import ScoringOptions, score_files  # noqa: PLC0415
    from postil.app.scoring_output import scores_as  # noqa: PLC0415
    from postil.metrics.controls import ControlOptions  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    for spec in metric or ():
        if "," in spec.partition("(")[0]:
            raise UsageError(f"--metric takes one metric, got '{spec}'; repeat it: -m {' -m '.join(spec.split(','))}")
    options = ScoringOptions(
        metrics=tuple(metric or ()),
        tokenizer=tokenizer,
        scale=Scale.parse(scale) if scale else None,
        weights=weights,
        background=background,
        save_background=save_background,
        items=items,
        controls=ControlOptions(draws=draws, seed=seed) if controls else None,
        jobs=jobs,
        engine=engine,
        address=address,
    )
    typer.echo(scores_as(format, score_files(candidates, references, options, say)), nl=False)


@app.command()
@exits
def correlate(
    context: typer.Context,
    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES", help="Item scores (item, system, metric, score, signature), from score --items."
        ),
    ],
    *,
    judgements: Annotated[
        str, typer.Option("--judgements", metavar="FILE", help="Judgements (item, system, annotator, grade).")
    ],
    by: Annotated[
        str,
        typer.Option(metavar="LEVEL", help="pool (all texts), item (mean over items) or system (means)."),
    ] = "pool",
    coefficient: Annotated[
        list[str] | None,
        typer.Option(
            "--coefficient",
            "-c",
            metavar="NAME",
            help="pearson, spearman, kendall-b or kendall-c; may be repeated. Without it the first three.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", metavar="NAME", help="A metric to keep; may be repeated. Without it all."),
    ] = None,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric whose small numbers are good ones; may be repeated."),
    ] = None,
    aspect: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which question, where judgements answer more than one.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(metavar="SCALE", help="Scale of the grades, to check them by: HIGH or LOW:HIGH.")
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(metavar="FILE", help="Candidates, for the texts of the worst disagreements.")
    ] = None,
    disagree: Annotated[
        tuple[str, str] | None, typer.Option(metavar="NAME NAME", help="Two metrics whose disagreements are listed.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, metavar="N", help="How many disagreements.")] = 10,
    resamples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Resamples of the items, for intervals; Kendall takes 200 at most.")
    ] = 1000,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="Permutations, for tests.")] = 10_000,
    seed: SeedOption = 20181,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with everything here, CSV and LaTeX beside it.")
    ] = None,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Hold metrics against people's grades.

    Correlations with intervals, the human ceiling beside them, and tests of differences.

    Scores and judgements meet on item and system; what does not meet is counted and named. Controls that score
    --controls wrote stand beside their metrics.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --report report.html
    """
    from postil.app.correlating import CorrelateOptions, correlate_files  # noqa: PLC0415
    from postil.app.correlating_output import as_json, findings_as, remarks  # noqa: PLC0415
    from postil.app.output import FORMATS  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    options = CorrelateOptions(
        **({"coefficients": tuple(coefficient)} if coefficient else {}),  # type: ignore[arg-type]  # checked inside
        by=by,  # type: ignore[arg-type]  # checked inside
        metrics=tuple(metric or ()),
        lower_is_better=tuple(lower_is_better or ()),
        aspect=aspect,
        scale=Scale.parse(scale) if scale else None,
        disagree=disagree,
        worst=worst,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        jobs=jobs,
        engine=engine,
        address=address,
    )
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415

        check_report(report)  # before the work is done
    found = correlate_files(scores, judgements, options, candidates)
    if report:
        for path in write_report([as_json(found, points=True, command=command_line(context))], report):
            say(f"written: {path}")
    typer.echo(findings_as(format, found, command_line(context)), nl=False)
    _tell(format, remarks(found))


@app.command()
@exits
def compare(
    context: typer.Context,
    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES", help="Item scores (item, system, metric, score, signature), from score --items."
        ),
    ],
    *,
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="The system to compare with; by default the first.")
    ] = None,
    intersect: Annotated[
        bool, typer.Option("--intersect", help="Compare on shared items, where systems cover different ones.")
    ] = False,
    lower_is_better: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric whose small numbers are good ones; may be repeated."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, metavar="N", help="Resamples of the items, for intervals.")] = 1000,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="Draws of approximate randomisation.")] = 10_000,
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Compare systems with a baseline on each metric.

    Example: postil compare scores.jsonl --baseline seq2seq
    """
    from postil.app.comparing import CompareOptions, compare_files, comparison_as, remarks  # noqa: PLC0415
    from postil.app.output import FORMATS  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    options = CompareOptions(
        baseline=baseline,
        intersect=intersect,
        lower_is_better=tuple(lower_is_better or ()),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    found = compare_files(scores, options)
    typer.echo(comparison_as(format, found, command_line(context)), nl=False)
    _tell(format, remarks(found))


@app.command()
@exits
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS", help="What --format json of other commands printed.")
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page.")] = Path("report.html"),
) -> None:
    """Write one page from the JSON of other commands.

    It opens from disk, and has CSV and LaTeX tables beside it.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --format json > c.json; postil report c.json
    """
    from postil.app.report import read_results, write_report  # noqa: PLC0415

    for path in write_report(read_results(results), out):
        say(f"written: {path}")


@app.command()
@exits
def passages(
    context: typer.Context,
    passages: Annotated[
        str, typer.Argument(metavar="PASSAGES", help="Rows (topic, id, text, [anchors], grade), or - for stdin.")
    ],
    *,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="SPEC", help="Such as f1-2, w-logsim-1 or kl-sk; may be repeated."),
    ] = None,
    reference: Annotated[
        str,
        typer.Option(
            metavar="WHAT", help="topic: informativeness; others: interestingness, by passages of other topics."
        ),
    ] = "topic",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Score passages without themselves in their reference as well.")
    ] = False,
    pool: Annotated[
        str, typer.Option(metavar="HOW", help="all: one list; topic: a list a topic, and the mean of them.")
    ] = "all",
    k: Annotated[list[int] | None, typer.Option("--k", "-k", min=1, help="A cut; may be repeated.")] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds of topics, for --reference others.")] = 12,
    folds_by: Annotated[
        str, typer.Option(metavar="HOW", help="seed: topics at random; order: topic i in fold i modulo their number.")
    ] = "seed",
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How text is split.")] = "words",
    stem: StemOption = "none",
    stop: StopOption = "none",
    anchors: Annotated[bool, typer.Option("--anchors", help="Take the passages' anchors for their words.")] = False,
    scale: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Scale of the grades; by default 0 to the highest.")
    ] = None,
    scores: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the measures of every passage (item: topic, system: id).")
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write every ranking but random as a TREC run, a list a topic."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Draw the curves.")] = None,
    resamples: Annotated[int, typer.Option(min=1, metavar="N", help="Resamples of the topics, for intervals.")] = 1000,
    seed: SeedOption = 20181,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with everything here, CSV and LaTeX beside it.")
    ] = None,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Find which measure ranks the best passages first.

    Informativeness or interestingness, as nCG at cuts with intervals and tests.

    Example: postil passages passages.jsonl --stop en --stem porter --leave-one-out --pool topic -k 10 -k 50
    """
    from postil.app.output import FORMATS  # noqa: PLC0415
    from postil.app.passages import PassagesOptions, gains_of_file  # noqa: PLC0415
    from postil.app.passages_output import as_json, draw_gains, gains_as, remarks, write_scores  # noqa: PLC0415
    from postil.app.passages_runs import write_runs  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    options = PassagesOptions(
        measures=tuple(measure or ()),
        reference=reference,  # type: ignore[arg-type]  # checked inside
        leave_one_out=leave_one_out,
        pool=pool,  # type: ignore[arg-type]  # checked inside
        ks=tuple(k or ()),
        folds=folds,
        folds_by=folds_by,  # type: ignore[arg-type]  # checked inside
        tokenizer=tokenizer,
        stem=stem,
        stop=stop,
        anchors=anchors,
        scale=Scale.parse(scale) if scale else None,
        resamples=resamples,
        seed=seed,
        jobs=jobs,
    )
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415

        check_report(report)  # before the work is done
    found = gains_of_file(passages, options)
    if scores:
        write_scores(scores, found)
    if runs:
        write_runs(runs, found, say)
    if figures:
        for path in draw_gains(figures, found):
            say(f"written: {path}")
    if report:
        for path in write_report([as_json(found, command=command_line(context))], report):
            say(f"written: {path}")
    typer.echo(gains_as(format, found, command_line(context)), nl=False)
    _tell(format, remarks(found))


@app.command()
@exits
def interesting(
    page: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A text, or passage rows (.jsonl, .parquet), or - for stdin."),
    ],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, metavar="N", help="How many passages.")] = 5,
    reference: Annotated[
        str | None,
        typer.Option("--reference", "-r", metavar="FILE", help="Interesting passages; else the rest of the page."),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="SPEC", help="Such as logsim-1, f1-2 or tf-idf-1.")
    ] = "logsim-1",
    split: Annotated[
        str, typer.Option(metavar="WHAT", help="What a passage of a text is: paragraphs, sentences or lines.")
    ] = "paragraphs",
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How text is split into words.")] = "words",
    stem: StemOption = "none",
    stop: StopOption = "none",
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Show the most interesting passages of a page, and why.

    Best with --stop, and with passages of other pages that readers found interesting as --reference.

    Example: postil interesting page.txt -k 3 --split sentences --stop en
    """
    from postil.app.interesting import doubts, passages_of, rank_passages, ranked_as, references_of  # noqa: PLC0415
    from postil.app.output import FORMATS  # noqa: PLC0415

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if page == reference == "-":
        raise UsageError("only one of the files can be standard input")
    known, weights = references_of(reference, split) if reference else (None, None)  # type: ignore[arg-type]
    found = rank_passages(
        passages_of(page, split),  # type: ignore[arg-type]  # checked inside
        known,
        weights=weights,
        k=k,
        measure=measure,
        tokenizer=tokenizer,
        stem=stem,
        stop=stop,
    )
    typer.echo(ranked_as(format, found, measure), nl=False)
    for doubt in doubts(measure, referenced=reference is not None):
        say(doubt)


app.add_typer(train_app)
app.command()(comment)
app.command("rank-comments")(rank_comments)
app.command()(evaluate)


@app.command()
@exits
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the sample's files, to go on with.")] = Path("demo"),
    jobs: JobsOption = 1,
) -> None:
    """Score the bundled sample and judge the metrics.

    Four commenters on 24 articles, with readers' comments, grades, and two annotators.
    """
    from postil.app.demo import run_demo  # noqa: PLC0415

    run_demo(out, jobs, typer.echo, say)


def main() -> None:
    """The entry point of the ``postil`` command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # the same bytes wherever it runs
    if sys.stdin is None:  # closed by whoever started it
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    app()
