"""Remarks on metrics that go by the names of papers, and so have a tokenizer of their own and no weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.groups import grouped
from postil.metrics.bleu import SacreBleu
from postil.metrics.rouge import RougeScoreL, RougeScoreLsum, RougeScoreN
from postil.metrics.ter import Ter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.metrics.base import Metric
    from postil.text.tokenizers import Tokenizer

__all__ = ["paper_remarks"]

SPLITTING = (SacreBleu, RougeScoreN, RougeScoreL, RougeScoreLsum)
"""Those whose tokenizer is that of their program, where none is named."""


def paper_remarks(metrics: Mapping[str, Metric], tokenizer: Tokenizer, *, weighted: bool) -> Iterator[str]:
    """Say what such metrics do not read that the run gives: its tokenizer, and the weights of the references.

    Args:
        metrics: Metrics by the spec that the user wrote.
        tokenizer: The tokenizer of the run.
        weighted: True if the references have weights.

    >>> from postil.metrics.metric_set import parse_all
    >>> from postil.text.tokenizers import tokenizer
    >>> list(paper_remarks(parse_all(["bleu"]), tokenizer("jieba"), weighted=True))  # doctest: +NORMALIZE_WHITESPACE
    ['bleu splits texts by 13a, whatever the tokenizer of the run; bleu(tokenizer=jieba) takes that',
    'the references have weights, and bleu reads none; w-bleu does']
    """
    if tokenizer.name != "words-2":
        named = {spec: each for spec, each in metrics.items() if isinstance(each, SPLITTING)}
        own = grouped((each.tokenizer, spec) for spec, each in named.items() if _by_default(each, tokenizer))
        for name, specs in own.items():
            split = "splits" if len(specs) == 1 else "split"
            yield (
                f"{', '.join(specs)} {split} texts by {name}, whatever the tokenizer of the run; "
                f"{metrics[specs[0]].name}(tokenizer={tokenizer.name}) takes that"
            )
    if weighted and not any(metric.needs_weights for metric in metrics.values()):
        unread = [spec for spec, metric in metrics.items() if isinstance(metric, (*SPLITTING, Ter))]
        if unread:
            takes = next((f"w-{spec}" for spec in unread if not isinstance(metrics[spec], Ter)), "w-bleu")
            read = "reads" if len(unread) == 1 else "read"
            yield f"the references have weights, and {', '.join(unread)} {read} none; {takes} does"


def _by_default(metric: SacreBleu | RougeScoreN | RougeScoreL | RougeScoreLsum, tokenizer: Tokenizer) -> bool:
    """True if a metric has the tokenizer of its program, which is another than that of the run."""
    program = type(metric).__dataclass_fields__["tokenizer"].default
    return metric.tokenizer == program and tokenizer.name not in {program, f"sacrebleu:{program}"}
