"""Papers of metrics and signatures of sacreBLEU, for the methods section of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from postil.metrics.bleu import SacreBleu
from postil.metrics.chrf import Chrf
from postil.metrics.meteor import Meteor
from postil.metrics.spec import known_metric
from postil.metrics.ter import Ter
from postil.results.formats import listed
from postil.results.names import display_name
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.metrics.base import Metric

__all__ = ["methods", "sacrebleu_lines", "sacrebleu_signature"]

CHECKED: Final = "2.6.0"
"""Version of sacreBLEU that our own code was compared with."""
_AMOUNT: Final = {"floor": "[0.10]", "add-k": "[1.00]"}


class _Paper(NamedTuple):
    """A paper: its authors, year, and the rest of its entry."""

    authors: str
    year: int
    entry: str

    @property
    def short(self) -> str:
        return f"{self.authors}, {self.year}"


_ANTHOLOGY: Final = "https://aclanthology.org"
_POST: Final = _Paper("Post", 2018, "A Call for Clarity in Reporting BLEU Scores. https://aclanthology.org/W18-6319")
_WEIGHTS: Final = _Paper(
    "Qin et al.", 2018, "Automatic Article Commenting: the Task and Dataset. https://aclanthology.org/P18-2025"
)
_BLEU: Final = _Paper(
    "Papineni et al.",
    2002,
    "BLEU: a Method for Automatic Evaluation of Machine Translation. https://aclanthology.org/P02-1040",
)
_ROUGE: Final = _Paper(
    "Lin", 2004, "ROUGE: A Package for Automatic Evaluation of Summaries. https://aclanthology.org/W04-1013"
)
_CIDER: Final = _Paper(
    "Vedantam et al.", 2015, "CIDEr: Consensus-based Image Description Evaluation. https://arxiv.org/abs/1411.5726"
)
_PAPERS: Final[Mapping[str, _Paper]] = {
    "bertscore": _Paper(
        "Zhang et al.", 2020, "BERTScore: Evaluating Text Generation with BERT. https://arxiv.org/abs/1904.09675"
    ),
    **dict.fromkeys(("bleu", "bleu-1", "bleu-2", "bleu-3", "bleu-4"), _BLEU),
    "chrf": _Paper(
        "Popović", 2015, f"chrF: character n-gram F-score for automatic MT evaluation. {_ANTHOLOGY}/W15-3049"
    ),
    "chrf++": _Paper("Popović", 2017, f"chrF++: words helping character n-grams. {_ANTHOLOGY}/W17-4770"),
    **dict.fromkeys(("cider", "cider-d"), _CIDER),
    "delta-bleu": _Paper(
        "Galley et al.",
        2015,
        "deltaBLEU: A Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets. "
        f"{_ANTHOLOGY}/P15-2073",
    ),
    "meteor": _Paper(
        "Denkowski and Lavie",
        2014,
        f"Meteor Universal: Language Specific Translation Evaluation for Any Target Language. {_ANTHOLOGY}/W14-3348",
    ),
    **dict.fromkeys(("rouge-1", "rouge-2", "rouge-l", "rouge-lsum", "rouge-su4"), _ROUGE),
    **dict.fromkeys(("rouge1", "rouge2", "rougeL", "rougeLsum"), _ROUGE),
    "ter": _Paper(
        "Snover et al.",
        2006,
        f"A Study of Translation Edit Rate with Targeted Human Annotation. {_ANTHOLOGY}/2006.amta-papers.25",
    ),
}
"""Paper of each metric, by name."""
_OLDEST: Final = _Paper(
    "Banerjee and Lavie",
    2005,
    "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human Judgments. "
    "https://aclanthology.org/W05-0909",
)


def sacrebleu_signature(name: str, signature: str) -> str:
    """The signature that sacreBLEU gives to the corpus score of a metric; empty for what it does not compute.

    Args:
        name: Name of the metric.
        signature: Its signature here.

    >>> sacrebleu_signature("bleu", "bleu(tokenizer=13a,smooth=exp)|tokenizer:sacrebleu:13a|references:1-3")
    'nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0'
    """
    metric = known_metric(name, signature)
    facts = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
    if metric is None or metric.weighted or "references" not in facts:
        return ""
    count = facts["references"].split(" ")[0]
    parts, version = [f"nrefs:{count if count.isdecimal() else 'var'}"], CHECKED
    if isinstance(metric, SacreBleu):
        tokenizer = facts.get("tokenizer", "")
        if tokenizer in {"given", "space"}:
            tokenizer = "none"
        elif tokenizer.startswith("sacrebleu"):
            package, _, tokenizer = tokenizer.partition(":")
            version = package.partition("-")[2] or version
        else:
            return ""
        smooth = metric.smooth + _AMOUNT.get(metric.smooth, "")
        parts += ["case:mixed", "eff:no", f"tok:{tokenizer}", f"smooth:{smooth}"]
    elif isinstance(metric, Chrf):
        parts.append(f"case:{'lc' if metric.lowercase else 'mixed'}|eff:{_yes(said=metric.smooth == 'none')}")
        parts.append(f"nc:{metric.order}|nw:{metric.words}|space:{_yes(said=metric.whitespace)}")
    elif isinstance(metric, Ter):
        version = facts.get("sacrebleu", version)
        parts.append(f"case:{metric.case}|tok:tercom|norm:{_yes(said=metric.norm)}")
        parts.append(f"punct:{_yes(said=metric.punct)}|asian:{_yes(said=metric.asian)}")
    else:
        return ""
    return "|".join([*parts, f"version:{version}"])


def _yes(*, said: bool) -> str:
    return "yes" if said else "no"


def methods(signatures: Mapping[str, str]) -> list[str]:
    r"""A sentence for the methods section that names metrics, papers and signatures, and the papers, one line each.

    Args:
        signatures: Signature of each metric, by name.

    >>> print(*methods({"rouge1": "rouge1(tokenizer=rouge,part=f,stem=false)|references:1"}), sep="\n")
    ... # doctest: +ELLIPSIS
    We report ROUGE-1 (Lin, 2004; signature rouge1(tokenizer=rouge,part=f,stem=false)|references:1), computed by ...
    Lin (2004): ROUGE: A Package for Automatic Evaluation of Summaries. https://aclanthology.org/W04-1013
    """
    named, papers = list[str](), dict[_Paper, None]()
    for name, signature in signatures.items():
        metric = known_metric(name, signature)
        theirs = sacrebleu_signature(name, signature)
        title, cited = _cited(metric, name, by_sacrebleu=bool(theirs))
        papers.update(dict.fromkeys(cited))
        what = f"sacreBLEU signature {theirs}" if theirs else f"signature {signature}"
        named.append(f"{title} ({'; '.join([*(each.short for each in cited), what])})")
    if not named:
        return []
    entries = (f"{each.authors} ({each.year}): {each.entry}" for each in papers)
    return [f"We report {listed(named)}, computed by postil {VERSION}.", *entries]


def _cited(metric: Metric | None, name: str, *, by_sacrebleu: bool) -> tuple[str, list[_Paper]]:
    """Name of a metric in papers and what it cites; nothing where it is not of the package."""
    if metric is None or metric.name not in _PAPERS or metric.origin:
        return name, []
    paper = _PAPERS[metric.name]
    if isinstance(metric, Meteor) and metric.params == "2005":
        paper = _OLDEST
    papers = [paper, *([_WEIGHTS] if metric.weighted else []), *([_POST] if by_sacrebleu else [])]
    return display_name(f"w-{metric.name}" if metric.weighted else metric.name), papers


def sacrebleu_lines(signatures: Mapping[str, str], *, like: bool) -> Iterator[str]:
    """Signatures of sacreBLEU for its metrics, one line each.

    Args:
        signatures: Signature of each metric, by name.
        like: True for chrF as well, which is not by a name of its own.
    """
    for name, signature in signatures.items():
        theirs = sacrebleu_signature(name, signature)
        if theirs and (like or not isinstance(known_metric(name, signature), Chrf)):
            yield f"{name}: sacreBLEU {theirs}"
