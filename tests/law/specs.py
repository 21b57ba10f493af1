"""The metrics under the laws: every name with several sets of parameters, plain and weighted."""

from __future__ import annotations

from postil.metrics import parse_metric

PARAMETERS = {
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
    ],
    "rouge-1": ["", "(corpus=pooled)"],
    "rouge-2": ["", "(corpus=pooled)"],
    "rouge-l": [
        "",
        "(reading=union)",
        "(reading=union,beta=1)",
        "(beta=3)",
        "(over=mean)",
        "(over=top-2)",
        "(over=near)",
    ],
    "rouge-su4": ["", "(corpus=pooled)"],
}
PLAIN = [name + text for name, texts in PARAMETERS.items() for text in texts]
WEIGHTED = [f"w-{spec}" for spec in PLAIN]
SPECS = PLAIN + WEIGHTED


def of(*names: str, specs: list[str] = SPECS) -> list[str]:
    """The specs of some metrics."""
    return [spec for spec in specs if parse_metric(spec).name in names]


BLEU = ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
COCO = [spec for spec in of(*BLEU) if "smooth=coco" in str(parse_metric(spec))]
MEAN = [spec for spec in SPECS if "corpus=mean" in str(parse_metric(spec))] + of("rouge-l", "cider", "cider-d")
AVERAGES = [spec for spec in of("meteor", "rouge-l") if "over=max" not in str(parse_metric(spec))]
OUTSIDE = [spec for spec in of("meteor") if "penalty=outside" in spec]
CHOOSES_ONE = [spec for spec in of("meteor") if "corpus=mean" not in str(parse_metric(spec))]


def without(specs: list[str], exempt: list[str]) -> list[str]:
    return [spec for spec in specs if spec not in exempt]
