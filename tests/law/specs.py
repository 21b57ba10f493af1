"""The metrics under the laws: every name with several sets of parameters, plain and weighted."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from postil.metrics.rouge import RougeL, RougeLsum, RougeN
from postil.metrics.spec import parse_metric, register_metric

if TYPE_CHECKING:
    from postil.metrics.base import Metric


@register_metric(name="own-overlap", version="1", low=0, high=1)
def overlap(candidate: str, references: list[str], weights: list[float], *, power: int = 1) -> float:
    """Share of common words with the best reference."""
    words = Counter(candidate.split())
    found = [Counter(text.split()) for text in references]
    shares = [(words & text).total() / max(1, words.total(), text.total()) for text in found]
    return max(weight * share**power for weight, share in zip(weights, shares, strict=True))


@register_metric(name="own-batches", version="1", low=0, high=1, batched=True, batch_size=2)
def overlaps(candidates: list[str], references: list[list[str]], weights: list[list[float]]) -> list[float]:
    """The same of many candidates."""
    return [overlap(*row) for row in zip(candidates, references, weights, strict=True)]


VECTORS = Path(__file__).with_name("vectors")
"""Vectors in five dimensions of the words of the laws. By ``weigh=idf`` a score depends on all references."""

PARAMETERS = {
    "bertscore": ["(model=m,layer=1)", "(model=m,layer=2,part=r)", "(model=m,layer=1,over=near)"],
    "bleu": ["", "(smooth=add-k)"],
    "bleu-1": ["", "(smooth=none)", "(smooth=method0)"],
    "bleu-2": ["(smooth=exp)", "(smooth=floor,effective=true)"],
    "bleu-3": ["(smooth=add-k)", "(smooth=exp,effective=true)"],
    "bleu-4": [
        "",
        "(smooth=none)",
        "(smooth=none,effective=true)",
        "(smooth=exp)",
        "(smooth=floor)",
        "(smooth=add-k)",
        "(smooth=method0)",
    ],
    "chrf": ["", "(order=3,words=1,beta=1,lowercase=true,whitespace=true)"],
    "chrf++": ["(smooth=eps)"],
    "cider": ["", "(order=2)"],
    "cider-d": ["", "(order=3,sigma=2.5)"],
    "delta-bleu": ["", "(order=2)"],
    "meteor": [
        "",
        "(params=other,stages=exact)",
        "(params=2005,corpus=mean)",
        "(corpus=chosen)",
        "(penalty=outside)",
        "(penalty=outside,corpus=mean,params=2005)",
        "(penalty=outside,corpus=chosen,characters=true,params=other)",
        "(characters=true,params=other)",
        "(over=mean)",
        "(over=top-2)",
        "(over=near)",
        "(over=mean,characters=true,params=other)",
        "(params=2005,alignment=2005,stages=exact)",
    ],
    "rouge-1": [
        "",
        "(over=max)",
        "(corpus=pooled)",
        "(part=f)",
        "(part=p)",
        "(part=f,over=pooled,corpus=pooled,stem=true)",
    ],
    "rouge-2": ["", "(corpus=pooled)", "(part=f,corpus=pooled)"],
    "rouge-l": [
        "",
        "(reading=union)",
        "(reading=union,beta=1)",
        "(beta=3)",
        "(over=mean)",
        "(over=top-2)",
        "(over=near)",
        "(part=p,stem=true)",
        "(reading=best,beta=1)",
    ],
    "rouge-lsum": ["", "(part=r,stem=true)"],
    "rouge-su4": ["", "(corpus=pooled)"],
    "rouge1": ["", "(stem=true)"],
    "rouge2": [""],
    "rougeL": ["", "(part=r)"],
    "rougeLsum": [""],
    "sentence-cosine": ["(model=m)", "(model=m,prefix=the,baseline=0.1,over=top-2)"],
    "vector-cosine": [f"(vectors={VECTORS})", f"(vectors={VECTORS},weigh=norm,baseline=0.1,over=top-2)"],
    "vector-f1": [
        f"(vectors={VECTORS})",
        f"(vectors={VECTORS},weigh=norm,part=r)",
        f"(vectors={VECTORS},weigh=norm,baseline=0.2,over=near)",
    ],
    "own-overlap": ["", "(power=2)"],
    "own-batches": [""],
}
OTHERS = {"ter"}
"""Metrics of another package, which has no weights and no direction upwards; compared with it in tests/parity."""
MEANING = ("bertscore", "sentence-cosine", "vector-cosine", "vector-f1")
OWN = {"own-overlap", "own-batches"}
"""Registered above; the laws hold for the functions that they are."""
PLAIN = [name + text for name, texts in PARAMETERS.items() for text in texts]
WEIGHTED = [*(f"w-{spec}" for spec in PLAIN), "w-meteor(over=kernel)", "w-rouge-l(part=r,over=kernel,tau=0.3)"]
SPECS = PLAIN + WEIGHTED


def of(*names: str, specs: list[str] = SPECS) -> list[str]:
    """The specs of some metrics."""
    return [spec for spec in specs if parse_metric(spec).name in names]


OVER = [
    "meteor",
    "meteor(params=other,stages=exact)",
    "meteor(characters=true,params=other)",
    "rouge-l(beta=1,stem=true)",
    "rouge-l(part=p)",
    f"vector-f1(vectors={VECTORS},weigh=norm)",
    f"vector-cosine(vectors={VECTORS},baseline=0.1)",
    "bertscore(model=m,layer=1)",
    "bertscore(model=m,layer=2,part=p)",
    "sentence-cosine(model=m)",
]
"""Metrics with ``over``, without it; see test_over_laws."""

BLEU = ("bleu", "bleu-1", "bleu-2", "bleu-3", "bleu-4")
COCO = [spec for spec in of(*BLEU) if "smooth=coco" in str(parse_metric(spec))]
MEAN = [
    *(spec for spec in SPECS if "corpus=mean" in str(parse_metric(spec))),
    *of("rouge-l", "rouge-lsum", "cider", "cider-d", *MEANING, *OWN),
]
AVERAGES = [spec for spec in of("meteor", "rouge-l", *MEANING) if "over=max" not in str(parse_metric(spec))]
OUTSIDE = [spec for spec in of("meteor") if "penalty=outside" in spec]
EPS = [spec for spec in of("chrf", "chrf++") if "smooth=eps" in spec]


def _chooses(metric: Metric) -> bool:
    if isinstance(metric, RougeN):
        return metric.over == "max" or (metric.over == "by-part" and metric.part != "r")
    return isinstance(metric, RougeLsum) or (isinstance(metric, RougeL) and metric.reading == "best")


BEST = [spec for spec in SPECS if _chooses(parse_metric(spec))]
"""ROUGE of one reference, which the highest F chooses."""
SIDES = [spec for spec in BEST if re.search("part=[pr]", str(parse_metric(spec))) or "over=max" in spec]
"""Its precision and recall."""
CHOOSES_ONE = [
    *(spec for spec in of("meteor") if "corpus=mean" not in str(parse_metric(spec))),
    *of("chrf", "chrf++"),
    *(spec for spec in BEST if "corpus=pooled" in spec),
    *SIDES,
]


def without(specs: list[str], exempt: list[str]) -> list[str]:
    return [spec for spec in specs if spec not in exempt]
