"""Options of `postil score`, apart from its function so that help does not load the metrics."""

from __future__ import annotations

from typing import Annotated, Final

from postil.data.arguments import check_fields
from postil.data.grades import Scale
from postil.data.options import EngineOptions, InputOptions, PluginOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Listed, Setting
from postil.options import Flag, options

__all__ = ["ScoreOptions"]

UNGRADED: Final = ("error", "drop")
"""Ways of handling ungraded references."""


@options
class ScoreOptions(PluginOptions, EngineOptions, InputOptions):
    """Options of `postil score`.

    Args:
        metrics: Metric, such as meteor or w-rouge-l(reading=union); repeatable. By default bleu-4, meteor, rouge-l and
            cider-d, and their w- forms where the references have weights.
        tokenizer: space, words, characters, 13a, ptb (pycocoevalcap's), rouge (rouge-score's), jieba or rjieba (the
            same words as jieba, faster); by the package sacrebleu sacrebleu:13a, sacrebleu:intl, sacrebleu:zh,
            sacrebleu:char, sacrebleu:ja-mecab, sacrebleu:ko-mecab, sacrebleu:flores101, sacrebleu:flores200 and
            sacrebleu:spm. With words at most a tenth of the texts may be Chinese. A metric may have its own, as in
            bleu-4(tokenizer=13a).
        like: Program whose numbers are wanted: sacrebleu, rouge-score or pycocoevalcap. Its metrics (all of them where
            none is named; of sacrebleu bleu alone) get its parameters and tokenizer, and tables its factor of 100.
        cite: Add a sentence for the methods section of a paper: metrics, papers and signatures; escaped where the
            tables are LaTeX, Markdown or HTML.
        scale: Scale of reference grades: HIGH (from 0) or LOW:HIGH.
        weights: Source of the references' weights: grades (score, which is grade/high, minmax, item-max or signed),
            votes, consensus among them, or given, the rows' own; by default score, or given without grades.
        as_grade: Print scores with over=kernel as grades on the scale: low + score (high - low). With minmax alone.
        background: Saved document frequencies for CIDEr.
        save_background: Save the references' document frequencies here.
        items: Write the score of every candidate here: .jsonl, .csv, .xlsx or .parquet.
        controls: Write controls to --items too, which postil correlate shows beside the metrics: length, shuffled
            weights, best references and others.
        control_draws: Number of times that --controls shuffles the weights.
        seed: Seed of --controls.
        ungraded: Handling of references without the grade, weight or upvotes that their weights are made of: error, or
            drop, which excludes them, and with their candidates the items that have no others.
        allow_han: True to let words split more than a tenth of the texts in Han characters.
    """

    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="SPEC", first=True)] = ()
    tokenizer: Annotated[str, Flag(metavar="NAME", group="Metrics")] = "words"
    like: Annotated[str | None, Flag(metavar="NAME", group="Metrics")] = None
    cite: Annotated[bool, Flag(group="Metrics")] = False
    scale: Annotated[Scale | None, Flag(metavar="SCALE", first=True)] = None
    weights: Annotated[str | None, Flag(metavar="METHOD", first=True)] = None
    as_grade: Annotated[bool, Flag(group="Weights and controls")] = False
    background: Annotated[str | None, Flag(metavar="FOLDER", group="Metrics")] = None
    save_background: Annotated[str | None, Flag(metavar="FOLDER", group="Metrics")] = None
    items: Annotated[str | None, Flag(metavar="FILE", first=True)] = None
    controls: Annotated[bool, Flag(first=True)] = False
    control_draws: Annotated[int, Flag("control-draws", other="draws", min=1, group="Weights and controls")] = 100
    seed: Annotated[int, Flag(min=0, group="Weights and controls")] = 20181
    ungraded: Annotated[str, Flag(metavar="NAME", group="Weights and controls")] = "error"
    allow_han: Annotated[bool, Flag(hidden=True)] = False

    def __post_init__(self) -> None:
        check_fields(self)
        UnknownName.check("handling of ungraded references", self.ungraded, UNGRADED)
        for spec in self.metrics:
            if "," in spec.partition("(")[0]:
                raise UsageError(
                    "{metric} takes one metric, got '{spec}'; repeat it: {each}",
                    metric=Setting("metrics"),
                    spec=spec,
                    each=Listed([Setting("metrics", each) for each in spec.split(",")], last=" ", between=" "),
                )
        if self.like is not None:
            from postil.scoring.programs import as_program  # noqa: PLC0415 - help does without it

            metrics, tokenizer = as_program(self.like, self.metrics, self.tokenizer)
            object.__setattr__(self, "metrics", metrics)
            object.__setattr__(self, "tokenizer", tokenizer)
