"""Results as JSON objects, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from postil.app.report import write_report as write_results
from postil.records.result_files import decoded
from postil.records.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_report(results: Sequence[dict[str, Any] | Result], out: Path) -> list[Path]:
    """The report of results that are decoded, or still JSON."""
    return write_results([each if isinstance(each, Result) else decoded(each) for each in results], out)


Kind = TypeVar("Kind", bound=Result)


def typed(value: dict[str, Any], kind: type[Kind]) -> Kind:
    found = decoded(value)
    assert isinstance(found, kind)
    return found


def row(metric: str, value: float, coefficient: str = "pearson", **more: Any) -> dict[str, Any]:
    """A correlation with an interval of .1 to each side."""
    return {
        "metric": metric,
        "coefficient": coefficient,
        "by": "pool",
        "value": value,
        "low": value - 0.1,
        "high": value + 0.1,
        "p": 0.01,
        "n": 40,
        "dropped": 0,
        **more,
    }


def difference(first: str, second: str, value: float, p: float | None, coefficient: str = "pearson") -> dict[str, Any]:
    """A difference with an interval of .05 to each side."""
    return {
        "first": first,
        "second": second,
        "coefficient": coefficient,
        "by": "pool",
        "value": value,
        "low": value - 0.05,
        "high": value + 0.05,
        "n": 40,
        "p_bootstrap": 0.02,
        "p_williams": None,
        "p_permutation": p,
        "p": p,
        "p_holm": p,
    }


def correlated(**changes: Any) -> dict[str, Any]:
    """A plain and a weighted metric with two controls, the length of the text, and two annotators."""
    return {
        "schema": 1,
        "kind": "correlate",
        "correlations": [
            row("meteor", 0.4),
            row("w-meteor", 0.5),
            row("control:top(w-meteor)", 0.55),
            row("control:shuffled(w-meteor)", 0.42, sd=0.01),
            row("control:length", 0.1),
        ],
        "absent": [{"metric": "flat", "coefficient": "pearson", "by": "pool", "reason": "all 40 scores are 1"}],
        "human": {
            "rows": [row("human:halves", 0.8), row("human:one", 0.7)],
            "reliability": 0.6,
            "rule": "annotators",
            "pairs": 1,
            "k": 2.0,
            "ceiling": 0.866,
            "n": 40,
            "left_out": 0,
        },
        "differences": [
            difference("meteor", "w-meteor", -0.1, 0.001),
            difference("w-meteor", "control:top(w-meteor)", -0.05, 0.4),
            difference("w-meteor", "control:shuffled(w-meteor)", 0.08, 0.02),
            difference("meteor", "control:length", 0.3, 0.001),
            difference("w-meteor", "control:length", 0.4, 0.001),
        ],
        "notes": [],
        "agreement": {
            "texts": 40,
            "ratings": 80,
            "labels": [1.0, 2.0],
            "estimates": {"agreement": {"value": 0.75, "low": 0.6, "high": 0.9}},
            "absent": {"kappa-linear-pairs": "one label only"},
            "confusion": [[20, 10], [10, 40]],
            "pairs": [],
            "raters": [
                {"name": "ann", "n": 40, "mean": 1.5, "severity": None, "histogram": [20, 20], "note": "seldom here"},
                {"name": "bob", "n": 40, "mean": 1.75, "severity": None, "histogram": [10, 30], "note": ""},
            ],
            "notes": ["ann gave one label only"],
        },
        "systems": [
            {
                "system": name,
                "n": 20,
                "grade": 3.0 - rank,
                "rank": rank,
                "means": {"meteor": 0.3 / rank, "w-meteor": 0.2},
                "ranks": {"meteor": rank, "w-meteor": 1},
            }
            for name, rank in (("tfidf", 2), ("seq2seq", 1))
        ],
        "orders": {"meteor": 1.0, "w-meteor": None},
        "disagreements": [
            {
                "first": "w-meteor",
                "second": "meteor",
                "texts": [
                    {
                        "row": 0,
                        "item": item,
                        "system": "tfidf",
                        "grade": 1.0,
                        "scores": [0.1, 0.9],
                        "normalised": [1.2, 4.5],
                        "difference": -3.3,
                        "text": text,
                    }
                    for item, text in (("a", "lol"), ("b", "lol"), ("c", "x" * 2000))
                ],
            }
        ],
        "data": {
            "texts": 40,
            "items": 20,
            "systems": 2,
            "annotators": 2,
            "ratings": 80,
            "aspect": None,
            "scale": "1:5",
            "mean": 1.625,
            "sd": 0.4,
            "left_out": [
                {"why": "scored but not judged", "n": 7, "examples": ["9 by tfidf"]},
                {"why": "graded more than once by one annotator, the mean taken", "n": 1, "examples": ["8 by tfidf"]},
            ],
        },
        "signatures": {"meteor": "meteor|postil:0", "w-meteor": "w-meteor|postil:0", "flat": "flat|postil:0"},
        "settings": {
            "by": "pool",
            "coefficients": ["pearson"],
            "lower_is_better": [],
            "resamples": 100,
            "permutations": 200,
            "seed": 7,
            "postil": "0.0",
            "command": "postil correlate s.jsonl",
        },
        "points": {"grades": [1.0, 2.0, 1.5], "scores": {"meteor": [0.1, 0.2, 0.3], "w-meteor": [0.1, 0.3, 0.2]}},
        **changes,
    }


def comparison() -> dict[str, Any]:
    def system(name: str, metric: str, mean: float, apart: float | None, p: float) -> dict[str, Any]:
        tests = dict.fromkeys(("p_bootstrap", "p_randomisation", "p_holm"), None if apart is None else p)
        ends = (None, None) if apart is None else (apart - 0.1, apart + 0.1)
        around = {"low": mean - 0.1, "high": mean + 0.1, "difference_low": ends[0], "difference_high": ends[1]}
        return {"metric": metric, "system": name, "n": 9, "mean": mean, "difference": apart, **around, **tests}

    return {
        "schema": 1,
        "kind": "compare",
        "aggregation": "item mean",
        "baseline": "tfidf",
        "items": 9,
        "systems": [
            system("tfidf", "meteor", 0.3, None, 1),
            system("seq2seq", "meteor", 0.6, 0.3, 0.01),
            system("att", "meteor", 0.35, 0.05, 0.5),
            system("copy", "meteor", 0.1, -0.2, 0.04),
            system("tfidf", "control:length", 3, None, 1),
            system("copy", "control:length", 1e50, 1e50, 0.04),
        ],
        "lower_is_better": [],
        "left_out": [],
        "notes": [],
        "settings": {"resamples": 100, "permutations": 200, "seed": 7, "postil": "0.0"},
    }


def scores() -> dict[str, Any]:
    values = {("a", "bleu-1"): 0.25, ("b", "bleu-1"): 0.5, ("a", "meteor"): 0.75}
    rows = [
        {"system": system, "metric": metric, "score": value, "n": 3, "signature": f"{metric}|x"}
        for (system, metric), value in values.items()
    ]
    return {"schema": 1, "scores": rows}


ITSELF = ", without itself"


NCG = {
    # inside their references f1-2 is first at 5 and kl-1 at 10, without themselves w-f1-2 is
    "f1-2": (0.7, 0.8),
    "kl-1": (0.6, 0.9),
    "length": (0.1, 0.2),
    f"f1-2{ITSELF}": (0.5, 0.7),
    f"kl-1{ITSELF}": (0.55, 0.65),
    f"w-f1-2{ITSELF}": (0.65, 0.75),
}


CUTS = (5, 10)


def gained(ncg: dict[str, tuple[float, ...]] | None = None, **changes: Any) -> dict[str, Any]:
    """Two plain measures, inside their references and without, a weighted one and a baseline.

    Differences from .1 are tested and found: f1-2 and kl-1 differ at both cuts, w-f1-2 from f1-2 at 5 only.
    """
    ncg = ncg or NCG
    settings = {"reference": "topic", "pool": "topic", "leave_one_out": True, "folds": 12, "folds_by": "seed"}
    gains = [
        {
            "measure": name.removesuffix(ITSELF),
            "k": k,
            "ncg": value,
            "low": value - 0.04,
            "high": value + 0.04,
            "reference": "topic",
            "pool": "topic",
            "leave_one_out": name.endswith(ITSELF),
            "signature": f"{name}|sig",
        }
        for name, values in ncg.items()
        for k, value in zip(CUTS, values, strict=True)
    ]
    protocols = [
        [name for name in ncg if name == "length" or name.endswith(ITSELF) is leave] for leave in (False, True)
    ]
    pairs = {(a, b) for names in protocols for a in names for b in names if names.index(a) < names.index(b)}
    differences = [
        {
            "first": a,
            "second": b,
            "k": k,
            "value": ncg[a][place] - ncg[b][place],
            "low": ncg[a][place] - ncg[b][place] - 0.04,
            "high": ncg[a][place] - ncg[b][place] + 0.04,
            "p": 0.001,
            "p_holm": 0.01 if abs(ncg[a][place] - ncg[b][place]) > 0.099 else 0.3,
            "test": "sign-flip",
        }
        for a, b in sorted(pairs)
        for place, k in enumerate(CUTS)
    ]
    lines = [
        {"measure": name, "k": [1, 5, 20], "ncg": [0.1, *values], "low": [0.0, 0.1, 0.2], "high": [0.2, 0.9, 1.0]}
        for name, values in ncg.items()
    ]
    return {
        "schema": 1,
        "kind": "passages",
        "gains": gains,
        "differences": differences,
        "lines": lines,
        "data": {
            "passages": 1200,
            "topics": 20,
            "informative": 300,
            "scale": "0:3",
            "left_out": [{"why": "passages without a unit of sk, ranked last", "n": 2, "examples": ["p1 of ducks"]}],
        },
        "notes": ["passages with nothing left: 3"],
        "settings": {
            **settings,
            "anchors": False,
            "resamples": 1000,
            "line_resamples": 200,
            "seed": 7,
            "tokenizer": "words",
            "stop": "en",
            "stem": "none",
            "postil": "0.0",
            "command": "postil passages p.jsonl",
        },
        **changes,
    }
