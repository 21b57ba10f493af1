"""Programs whose numbers are asked for by their name: the metrics, parameters and tokenizer that give them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from postil.errors import UnknownName, UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["PROGRAMS", "Program", "as_program"]

DEFAULT: Final = "words"
"""The tokenizer of a run where none is named."""
_SPEC: Final = re.compile(r"\s*(?P<weighted>w-)?(?P<name>[^()\s]+)\s*(?:\((?P<parameters>.*)\)\s*)?", re.DOTALL)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Program:
    """A program and its metrics.

    Args:
        metrics: Names of metrics here, by the names that it or its papers have, in lower case.
        default: The metrics where none is named.
        tokenizer: Tokenizer of the run; empty where its metrics have their own.
        percent: True if it prints scores times 100.
        paper: The paper to cite for it.
        lacking: Reasons why a metric of it is not among them, by name.
    """

    metrics: Mapping[str, str]
    default: tuple[str, ...]
    tokenizer: str
    percent: bool
    paper: str
    lacking: Mapping[str, str] = field(default_factory=dict)


PROGRAMS: Final[Mapping[str, Program]] = MappingProxyType(
    {
        "sacrebleu": Program(
            metrics={"bleu": "bleu", "chrf": "chrf", "chrf++": "chrf++", "ter": "ter"},
            default=("bleu",),
            tokenizer="",
            percent=True,
            paper="Post (2018), A Call for Clarity in Reporting BLEU Scores, https://aclanthology.org/W18-6319",
        ),
        "rouge-score": Program(
            metrics={
                **dict.fromkeys(("rouge1", "rouge-1"), "rouge1"),
                **dict.fromkeys(("rouge2", "rouge-2"), "rouge2"),
                **dict.fromkeys(("rougel", "rouge-l"), "rougeL"),
                **dict.fromkeys(("rougelsum", "rouge-lsum"), "rougeLsum"),
            },
            default=("rouge1", "rouge2", "rougeL", "rougeLsum"),
            tokenizer="",
            percent=False,
            paper="Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, https://aclanthology.org/W04-1013",
        ),
        "pycocoevalcap": Program(
            metrics={
                **{f"bleu{mark}{n}": f"bleu-{n}" for n in range(1, 5) for mark in "-_"},
                **dict.fromkeys(("rouge-l", "rouge_l", "rougel"), "rouge-l"),
                **dict.fromkeys(("cider", "cider-d"), "cider-d"),
            },
            default=("bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"),
            tokenizer="ptb",
            percent=False,
            paper="Chen et al. (2015), Microsoft COCO Captions: Data Collection and Evaluation Server, "
            "https://arxiv.org/abs/1504.00325",
            lacking={"meteor": "its METEOR has a stage of paraphrases, which is not offered; leave it out"},
        ),
    }
)
"""The programs, by name."""


def as_program(name: str | None, metrics: Sequence[T], tokenizer: str) -> tuple[tuple[T | str, ...], str]:
    """Find the metrics and the tokenizer that give the numbers of a program.

    Args:
        name: Name of the program; None for the metrics as they are.
        metrics: Specs by the names of the program or of this package; what is no text stays. None for its default.
        tokenizer: The tokenizer that was asked for.

    Returns:
        Specs, and the tokenizer of the run.

    Raises:
        UnknownName: There is no such program, or it has no such metric.
        UsageError: It has another tokenizer, or its metric of that name cannot be had here.

    >>> as_program("sacrebleu", ["BLEU", "chrF"], "sacrebleu:zh")
    (('bleu(tokenizer=sacrebleu:zh)', 'chrf'), 'sacrebleu:zh')
    >>> as_program("pycocoevalcap", ["w-CIDEr(sigma=4)"], "words")
    (('w-cider-d(sigma=4)',), 'ptb')
    """
    if name is None:
        return tuple(metrics), tokenizer
    UnknownName.check("program", name, PROGRAMS)
    program = PROGRAMS[name]
    if name != "sacrebleu" and tokenizer not in {DEFAULT, program.tokenizer}:
        raise UsageError(
            "{like} has a tokenizer of its own; leave {tokenizer} out",
            like=Setting("like", name),
            tokenizer=Setting("tokenizer", tokenizer),
        )
    own = tokenizer if tokenizer != DEFAULT else ""
    asked = [_of(name, each, own) if isinstance(each, str) else each for each in metrics or program.default]
    return tuple(asked), program.tokenizer or tokenizer


def _of(name: str, spec: str, tokenizer: str) -> str:
    program, match = PROGRAMS[name], _SPEC.fullmatch(spec)
    if match is None:
        return spec  # refused where it is parsed
    asked = match["name"].lower()
    if asked in program.lacking:
        raise UsageError("{like}: {reason}", like=Setting("like", name), reason=program.lacking[asked])
    if asked not in program.metrics:
        raise UnknownName(f"metric of {name}", match["name"], list(dict.fromkeys(program.metrics.values())))
    parameters = match["parameters"] or ""
    if program.metrics[asked] == "bleu" and tokenizer and "tokenizer" not in parameters:
        parameters = ",".join(filter(None, [f"tokenizer={tokenizer}", parameters]))
    found = f"{match['weighted'] or ''}{program.metrics[asked]}"
    return f"{found}({parameters})" if parameters else found
