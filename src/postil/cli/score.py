"""`postil score`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import AddressOption, EngineOption, FormatOption, JobsOption
from postil.errors import UsageError

__all__ = ["score"]


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
            metavar="NAME",
            help="space, words, characters, 13a, jieba or rjieba (the same words as jieba, faster). With words at most "
            "a tenth of the texts may be Chinese.",
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
            "reference's weight, with over=near the mean weight, length. postil correlate shows them beside the "
            "metrics.",
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
    from postil.app.score_files import ScoringOptions, notes, score_files  # noqa: PLC0415
    from postil.metrics.controls import ControlOptions  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415
    from postil.render.views import show  # noqa: PLC0415

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
    result = score_files(candidates, references, options, say)
    emit(show(format, result, remarks=notes(result)), format)
