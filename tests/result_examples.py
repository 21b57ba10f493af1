"""Results as JSON objects, for tests."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from postil.app.report import write_report as write_results
from postil.records.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_report(results: Sequence[dict[str, Any] | Result], out: Path) -> list[Path]:
    """The report of results that are decoded, or still JSON."""
    return write_results([each if isinstance(each, Result) else Result.from_dict(each) for each in results], out)


Kind = TypeVar("Kind", bound=Result)


def typed(value: dict[str, Any], kind: type[Kind]) -> Kind:
    found = Result.from_dict(value)
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


SPREAD = {"n": 4, "mean": 2.0, "sd": 1.0} | dict.fromkeys(
    ("min", "p25", "median", "p75", "p90", "p99", "p999", "max"), 2.0
)

SPLIT = {
    "articles": 4,
    "comments": 8,
    "held_out": 0,
    "words": 40,
    "distinct_words": 20,
    "known_share": 0.5,
    "without_content": 0,
    "without_category": 1,
    "without_upvotes": 0,
    "upvotes_zero": 0.25,
    "upvotes_negative": 0.0,
    "top_grade_comments": None,
    "top_grade_articles": None,
    "categories": {"tfidf": 3},
    "dates": {"articles": 1.0, "comments": 0.0, "first_article": "2024-01-02T00:00:00Z"}
    | dict.fromkeys(("last_article", "first_comment", "last_comment")),
} | dict.fromkeys(
    (
        "comments_per_article",
        "upvotes",
        "title_words",
        "content_words",
        "comment_words",
        "title_characters",
        "content_characters",
        "comment_characters",
        "grades",
        "ratings",
    ),
    SPREAD,
)

PROVENANCE = {
    "label": "Machine-generated suggestion",
    "method": "generated",
    "model": "att",
    "model_hash": "0",
    "sources": [],
    "overlap": None,
}

OTHERS: dict[str, dict[str, Any]] = {
    "agreement": {
        "agreement": {
            "texts": 2,
            "ratings": 4,
            "labels": [0, 1],
            "estimates": {"kappa": {"value": 0.5, "low": None, "high": None}},
            "confusion": [[1, 0], [0, 1]],
            "pairs": [
                {
                    "first": "ann",
                    "second": "bob",
                    "n": 2,
                    "agreement": 0.5,
                    "unweighted": 0.5,
                    "linear": None,
                    "quadratic": 0.5,
                }
            ],
            "raters": [{"name": "ann", "n": 2, "mean": 0.5, "severity": None, "histogram": [1, 1]}],
        },
        "reason": "",
        "repeated": [{"annotator": "ann", "n": 2, "equal": 0.5, "apart": 0.5, "above": -0.5}],
        "gold": [],
    },
    "commenters": {
        "scores": [
            {"system": system, "metric": metric, "score": 0.5, "n": 3, "signature": f"{metric}|x"}
            for system in ("tfidf", "b")
            for metric in ("meteor", "cider")
        ],
        "suggestions": [
            {"system": "tfidf", "hash": None, "nothing": 1, "words": 4.5, "distinct_1": 0.5, "distinct_2": None}
        ],
        "articles": 3,
        "left_out": 0,
        "references": {"least": 1, "most": 4, "mean": 2.5},
        "settings": {"split": "test", "weights": "votes", "scale": None, "seed": 1},
        "remarks": ["weights: votes"],
    },
    "corpus": {
        "format": 2,
        "postil": "0",
        "options": {"tokenizer": "words", "vocab_size": 3, "langs": ["en"]},
        "tokenizer": "words",
        "inputs": [{"name": "tfidf", "split": None, "bytes": 9, "blake2b": "0"}],
        "langs": ["en"],
        "seen": {"too short": 2},
        "splits": {name: {"articles": 1, "comments": 2, "files": 1} for name in ("train", "dev", "test")},
        "words": 3,
    },
    "evaluation": {
        "rows": [{"scorer": "tfidf", "measure": "mrr", "value": 0.25, "low": 0.2, "high": 0.3, "n": 9, "comments": 99}],
        "differences": [{"scorer": "x", "minus": "y", "measure": "mrr", "value": 0.1, "low": 0.0, "high": 0.2}],
        "absent": [{"scorer": "ann", "reason": "no training"}],
        "grid": {
            "measure": "mrr",
            "epochs": 2,
            "points": [{"values": {"rate": 0.5, "layers": [1, 2]}, "dev": 0.5, "steps": 9, "chosen": True}],
        },
    },
    "interesting": {
        "measure": "meteor",
        "passages": [
            {"rank": 1, "index": 1, "text": "tfidf", "score": 2.5, "reasons": [{"unit": "ann", "part": 0.5}]},
            {"rank": 2, "index": 0, "text": "ducks", "score": None, "reasons": []},
        ],
    },
    "plan": {
        "texts": 3,
        "annotators_per_item": 2,
        "gold": 1,
        "order_correlation": 0.25,
        "median_gap": None,
        "annotators": [{"annotator": "ann", "texts": 2, "gold": 1, "repeated": 0, "least_shared": 1, "most_shared": 1}],
        "pairs": [{"first": "ann", "second": "bob", "texts": 1}],
    },
    "ranked-comments": {"comments": [{"article": "1", "comment": "2", "rank": 1, "score": 0.5, "text": "tfidf"}]},
    "statistics": {
        "statistics": {"splits": {"test": SPLIT, "all": SPLIT}, "top_grade": None},
        "settings": {"tokenizer": "words", "vocabulary": 30000, "postil": "0"},
    },
    "study": {
        "title": "tfidf",
        "data": "one corpus",
        "conclusion": ["meteor is best"],
        "settings": [["seed", "7"]],
        "parts": [
            {
                "key": "one",
                "title": "One",
                "words": ["some"],
                "tables": [
                    {
                        "key": "table-1",
                        "caption": "Table 1",
                        "head": ["", "meteor", "rater", "n"],
                        "rows": [
                            {"name": "tfidf", "cells": [[0.5, 0.25, 0.75], "ann", 3]},
                            {"name": "others", "kind": "group"},
                            {"name": "b", "cells": [0.5, None, [1.0, None, None]], "kind": "control", "digits": 2},
                        ],
                    }
                ],
                "pictures": [{"title": "Sizes", "caption": "Sizes", "names": ["tfidf", "b"], "counts": [3, 1]}],
            }
        ],
    },
    "suggestions": {
        "suggestions": [
            {
                "article": "x",
                "suggestions": [{"rank": 1, "score": 2.0, "text": "tfidf", "provenance": PROVENANCE}],
                "filtered": [{"text": "ok", "reason": "too short", "source": {"article": "a", "comment": "3"}}],
            }
        ]
    },
    "summaries": {
        "scores": [
            {
                "system": system,
                "measure": "meteor",
                "reference": "passages",
                "mean": mean,
                "low": mean - 0.1,
                "high": mean + 0.1,
                "n": 3,
                "better": "low",
                "signature": "meteor|x",
            }
            for system, mean in (("tfidf", 0.5), ("b", 0.25))
        ],
        "data": {"systems": 2, "topics": 3, "summaries": 6, "cut": 0},
        "notes": [],
        "settings": {"tokenizer": "words", "stem": "none", "stop": "en", "max_words": 100}
        | {"resamples": 100, "seed": 7, "postil": "0.0"},
    },
    "training": {
        "rows": [
            {"step": step, "epoch": 1, "loss": 5.25, "dev": 5.5, "perplexity": 244.7, "best": step == 500}
            for step in (500, 1000)
        ]
    },
    "vectors": {
        "words": 100,
        "dimensions": 8,
        "signature": "tfidf",
        "made": {"seed": 1, "spec": "tfidf", "hashes": {"a": "0"}},
        "nearest": [{"word": "meteor", "near": "ann", "cosine": 0.5}],
        "first": ["tfidf"],
    },
    "wmt": {
        "test_set": "tfidf",
        "language_pair": "en-de",
        "references": ["ann"],
        "human": {"system": "mqm", "segment": "ann"},
        "systems": ["tfidf", "b", "c"],
        "segments": 12,
        "correlations": [row("meteor", 0.75, by="system"), row("meteor", 0.25), row("b", 0.5)],
        "ranks": {"system pearson": {"meteor": 1}, "pool pearson": {"b": 1, "meteor": 2}},
        "absent": [{"metric": "b", "coefficient": "pearson", "by": "system", "reason": "only tfidf"}],
        "left_out": [{"why": "outliers", "n": 1, "examples": ["meteor"]}],
        "settings": {"coefficients": ["pearson"], "lower_is_better": ["meteor"], "postil": "0.0"}
        | {"resamples": 100, "permutations": 100, "seed": 7},
    },
}
"""Small results of the kinds that no function above makes."""

KINDS = ("correlate", "compare", "score", "passages", *OTHERS)


def example(kind: str) -> Result:
    """A small result of each kind, in which users named things meteor, tfidf and ann."""
    made = {"correlate": correlated, "compare": comparison, "score": scores, "passages": gained}
    value = made[kind]() if kind in made else {"schema": 1, "kind": kind, **OTHERS[kind]}
    return Result.from_dict(value)


def renamed(result: Result, name: str) -> Result:
    """The same with another text for each of these names."""
    return Result.from_json(re.sub(r"\b(meteor|tfidf|ann)\b", lambda _: json.dumps(name)[1:-1], result.to_json()))
