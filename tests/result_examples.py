"""Results as JSON objects, for tests."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from postil.results.base import Result
from postil.results.page.report import write_report as write_results
from postil.results.views import show

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
    return (
        {"metric": metric, "coefficient": coefficient, "by": "pool", "value": value, "low": value - 0.1}
        | {"high": value + 0.1, "p": 0.01, "n": 40, "dropped": 0}
        | more
    )


def difference(first: str, second: str, value: float, p: float | None, coefficient: str = "pearson") -> dict[str, Any]:
    """A difference with an interval of .05 to each side."""
    return (
        {"first": first, "second": second, "coefficient": coefficient, "by": "pool", "value": value}
        | {"low": value - 0.05, "high": value + 0.05, "n": 40, "p_bootstrap": 0.02, "p_williams": None}
        | {"p_permutation": p, "p": p, "p_holm": p}
    )


def correlated(**changes: Any) -> dict[str, Any]:
    """A plain and a weighted metric with two controls, the length of the text, and two annotators."""
    return (
        {
            "correlations": [
                row("meteor", 0.4),
                row("w-meteor", 0.5),
                row("control:top(w-meteor)", 0.55),
                row("control:shuffled(w-meteor)", 0.42, sd=0.01),
                row("control:length", 0.1),
            ],
            "absent": [{"metric": "flat", "coefficient": "pearson", "by": "pool", "reason": "all 40 scores are 1"}],
            "human": {"rows": [row("human:halves", 0.8), row("human:one", 0.7)], "reliability": 0.6}
            | {"rule": "annotators", "pairs": 1, "k": 2.0, "ceiling": 0.866, "n": 40, "left_out": 0},
            "differences": [
                difference("meteor", "w-meteor", -0.1, 0.001),
                difference("w-meteor", "control:top(w-meteor)", -0.05, 0.4),
                difference("w-meteor", "control:shuffled(w-meteor)", 0.08, 0.02),
                difference("meteor", "control:length", 0.3, 0.001),
                difference("w-meteor", "control:length", 0.4, 0.001),
            ],
            "agreement": {
                "raters": [
                    {"name": "ann", "n": 40, "mean": 1.5, "severity": None, "histogram": [20, 20]}
                    | {"note": "seldom here"},
                    {"name": "bob", "n": 40, "mean": 1.75, "severity": None, "histogram": [10, 30]} | {"note": ""},
                ],
            }
            | {"texts": 40, "ratings": 80, "labels": [1.0, 2.0]}
            | {"estimates": {"agreement": {"value": 0.75, "low": 0.6, "high": 0.9}}}
            | {"absent": {"kappa-linear-pairs": "one label only"}, "confusion": [[20, 10], [10, 40]]}
            | {"pairs": [], "notes": ["ann gave one label only"]},
            "systems": [
                {"system": name, "n": 20, "grade": 3.0 - rank, "rank": rank}
                | {"means": {"meteor": 0.3 / rank, "w-meteor": 0.2}}
                | {"ranks": {"meteor": rank, "w-meteor": 1}}
                for name, rank in (("tfidf", 2), ("seq2seq", 1))
            ],
            "disagreements": [
                {
                    "texts": [
                        {"row": 0, "item": item, "system": "tfidf", "grade": 1.0}
                        | {"scores": [0.1, 0.9], "normalised": [1.2, 4.5], "difference": -3.3}
                        | {"text": text}
                        for item, text in (("a", "lol"), ("b", "lol"), ("c", "x" * 2000))
                    ],
                    "first": "w-meteor",
                    "second": "meteor",
                },
            ],
            "data": {
                "left_out": [
                    {"why": "scored but not judged", "n": 7, "examples": ["9 by tfidf"]},
                    {"why": "graded more than once by one annotator, the mean taken", "n": 1}
                    | {"examples": ["8 by tfidf"], "kept": True},
                ],
            }
            | {"texts": 40, "items": 20, "systems": 2, "annotators": 2, "ratings": 80, "aspect": None}
            | {"scale": "1:5", "mean": 1.625, "sd": 0.4},
            "settings": {"by": "pool", "coefficients": ["pearson"], "lower_is_better": [], "resamples": 100}
            | {"permutations": 200, "seed": 7, "postil": "0.0", "command": "postil correlate s.jsonl"},
            "points": {"grades": [1.0, 2.0, 1.5], "scores": {"meteor": [0.1, 0.2, 0.3], "w-meteor": [0.1, 0.3, 0.2]}},
        }
        | {"schema": 1, "kind": "correlate", "notes": [], "orders": {"meteor": 1.0, "w-meteor": None}}
        | {"signatures": {"meteor": "meteor|postil:0", "w-meteor": "w-meteor|postil:0", "flat": "flat|postil:0"}}
        | changes
    )


def accuracy(metric: str, value: float, coefficient: str = "acc-eq", **more: Any) -> dict[str, Any]:
    """An accuracy with chance around .45 for texts, and .5 for systems."""
    of_texts = {"epsilon": 0.125, "plain": value - 0.01, "ties": 0.014, "chance_fixed": 0.44}
    of_texts |= {"chance_low": 0.4, "chance_high": 0.5, "chance": 0.45}
    of_systems = {"chance": 0.5, "exact": True}
    fields = {"by": "item", "n": 20, "pairs": 100, "draws": 100, "p": 0.0099, **of_texts}
    if coefficient != "acc-eq":
        fields = {"by": "system", "n": 5, "pairs": 10, "draws": 120, "p": 0.0083, **of_systems}
    return row(metric, value, coefficient, **fields | more)


def margin(first: str, second: str, value: float, half: float, coefficient: str = "acc-eq") -> dict[str, Any]:
    """A difference of accuracies by bootstrap alone."""
    tests = dict.fromkeys(("p_williams", "p_permutation", "p", "p_holm", "p_both"))
    ends = {"low": value - half, "high": value + half, "by": "item" if coefficient == "acc-eq" else "system"}
    return {**difference(first, second, value, 0.1, coefficient), **tests, **ends}


def ranking(
    of: str, values: dict[str, float], leads: dict[str, tuple[float, float]], **more: dict[str, Any]
) -> dict[str, Any]:
    """A ranking of texts or systems: values by metric, margins of the first over others and over the lengths."""
    best, coefficient = next(iter(values), ""), "acc-eq" if of == "texts" else "spa"
    return (
        {"of": of, "coefficient": coefficient, "by": "item" if of == "texts" else "system"}
        | {"rows": [accuracy(name, value, coefficient, **more.get(name, {})) for name, value in values.items()]}
        | {"absent": []}
        | {"margins": [margin(best, other, *lead, coefficient) for other, lead in leads.items()]}
    )


def alt_row(metric: str, mapping: str, rho: float, *, wins: int = 0) -> dict[str, Any]:
    """A row of the alternative annotator test against ann and bob, with an interval of .05 to each side."""
    annotators = [
        {"annotator": name, "n": 40, "advantage": rho, "human": 0.8, "p": 0.01 if place < wins else 0.4}
        | {"wins": place < wins}
        for place, name in enumerate(("ann", "bob"))
    ]
    numbers = {"omega": wins / 2, "rho": rho, "low": rho - 0.05, "high": rho + 0.05, "passed": wins > 0}
    skipped = [{"annotator": "cid", "n": 12}]
    return {"metric": metric, "mapping": mapping, **numbers, "annotators": annotators, "skipped": skipped}


def audit(**changes: Any) -> dict[str, Any]:
    """An audit: w-meteor ranks best, but meteor cannot be told apart from it in ranking texts; w-meteor passes."""
    bins = [{"n": 15, "predicted": 1.4, "grade": 1.2}, {"n": 25, "predicted": 2.6, "grade": 2.8}]
    quartiles = [
        {"n": 10, "from": 5.0 * place, "to": 5.0 * place + 4, "value": value, "reason": reason}
        for place, (value, reason) in enumerate([(0.4, None), (0.3, None), (None, "all 10 grades are 1"), (0.2, None)])
    ]
    ceilings = {1: 0.7, 2: 0.8, 3: 0.85, 5: 0.93, 10: 0.96}
    growth = [{"k": k, "g": 0.6, "phi": 0.5, "ceiling": ceiling} for k, ceiling in ceilings.items()]
    return (
        {
            "alt_test": {
                "rows": [
                    alt_row("w-meteor", "none", 0.91, wins=2),
                    alt_row("meteor", "rounded", 0.6),
                    alt_row("w-meteor", "rounded", 0.84, wins=1),
                    alt_row("control:constant", "rounded", 0.53),
                    alt_row("meteor", "isotonic", 0.4),
                    alt_row("w-meteor", "isotonic", 0.45),
                    alt_row("control:constant", "isotonic", 0.35),
                ],
                "absent": [{"metric": "meteor", "mapping": "none", "reason": "scores from -.2 to .9, scale 1 to 5"}],
            }
            | {"epsilon": 0.2, "q": 0.05}
            | {"notes": ["the t-test takes texts for independent; 20 of 20 items have several"]},
            "calibration": [
                {"metric": name, "mapping": mapping, "mae": mae, "rmse": mae + 0.1, "bias": -0.05}
                | {"ece": 0.25, "n": 40}
                | {"bins": bins, "mae_low": mae - 0.1, "mae_high": mae + 0.1, "ece_low": 0.2, "ece_high": 0.3}
                for mapping in ("isotonic", "linear")
                for name, mae in (("meteor", 0.68), ("w-meteor", 0.49), ("control:constant", 1.01))
                if (name, mapping) != ("control:constant", "linear")
            ],
            "length": {
                "rows": [
                    {"metric": name, "coefficient": coefficient, "plain": 0.5, "with_length": 0.7}
                    | {"low": 0.1, "high": 0.3}
                    | {"grades_with_length": 0.6, "partial": 0.2, "quartiles": quartiles}
                    for name in ("meteor", "w-meteor")
                    for coefficient in ("pearson", "spearman")
                ],
            }
            | {"lengths": "control:length", "n": 39, "left_out": 1}
            | {"absent": [{"metric": "flat", "reason": "all 40 scores are 1"}]},
            "raters": {
                "components": [
                    {"component": "item", "estimate": 0.5, "share": 0.5},
                    {"component": "item:rater", "estimate": -0.1, "share": 0.0},
                    {"component": "residual", "estimate": 0.5, "share": 0.5},
                ],
                "levels": [
                    {"by": "pool", "k": 2.0, "g": 0.7, "phi": 0.6, "ceiling": 0.8, "growth": growth},
                    {"by": "system", "k": 2.0, "g": None, "phi": None, "ceiling": 0.9, "growth": growth}
                    | {"reason": "the variance of the systems is 0"},
                ],
                "design": "item x system x rater",
            },
            "rankings": [
                ranking(
                    "texts",
                    {"w-meteor": 0.77, "meteor": 0.75, "control:length": 0.6},
                    {"meteor": (0.02, 0.05), "control:length": (0.17, 0.06)},
                ),
                ranking("systems", {"w-meteor": 0.91, "meteor": 0.6}, {"meteor": (0.31, 0.2)}, meteor={"p": 0.3}),
            ],
        }
        | {"uncalibrated": [{"metric": "flat", "mapping": "linear", "reason": "all 40 scores are 1"}]}
        | changes
    )


def audited(**changes: Any) -> dict[str, Any]:
    """The same result with accuracies and an audit."""
    made = correlated()
    accuracies = [accuracy("meteor", 0.7), accuracy("w-meteor", 0.75), accuracy("control:length", 0.6)]
    settings = made["settings"] | {"by": "item", "coefficients": ["pearson", "acc-eq"], "alt_epsilon": 0.2}
    return {
        **made,
        "data": made["data"] | {"systems": 8},  # enough to rank them
        "correlations": [*made["correlations"], *accuracies],
        "settings": settings | {"lengths": "control:length", "folds": 5},
        "audit": audit(**changes),
    }


def comparison() -> dict[str, Any]:
    def system(name: str, metric: str, mean: float, apart: float | None, p: float) -> dict[str, Any]:
        tests = dict.fromkeys(("p_bootstrap", "p_randomisation", "p_holm"), None if apart is None else p)
        ends = (None, None) if apart is None else (apart - 0.1, apart + 0.1)
        around = {"low": mean - 0.1, "high": mean + 0.1, "difference_low": ends[0], "difference_high": ends[1]}
        return {"metric": metric, "system": name, "n": 9, "mean": mean, "difference": apart, **around, **tests}

    return (
        {
            "systems": [
                system("tfidf", "meteor", 0.3, None, 1),
                system("seq2seq", "meteor", 0.6, 0.3, 0.01),
                system("att", "meteor", 0.35, 0.05, 0.5),
                system("copy", "meteor", 0.1, -0.2, 0.04),
                system("tfidf", "control:length", 3, None, 1),
                system("copy", "control:length", 1e50, 1e50, 0.04),
            ],
        }
        | {"schema": 1, "kind": "compare", "aggregation": "item mean", "baseline": "tfidf", "items": 9}
        | {"lower_is_better": [], "left_out": [], "notes": []}
        | {"settings": {"resamples": 100, "permutations": 200, "seed": 7, "postil": "0.0"}}
    )


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
    """Gains of two plain measures, inside their references and without, a weighted one and a baseline.

    Differences from .1 are tested and found: f1-2 and kl-1 differ at both cuts, w-f1-2 from f1-2 at 5 only.
    """
    ncg = ncg or NCG
    settings = {"reference": "topic", "pool": "topic", "leave_one_out": True, "folds": 12, "folds_by": "seed"}
    gains = [
        {"measure": name.removesuffix(ITSELF), "k": k, "ncg": value, "low": value - 0.04}
        | {"high": value + 0.04, "reference": "topic", "pool": "topic", "leave_one_out": name.endswith(ITSELF)}
        | {"signature": f"{name}|sig"}
        for name, values in ncg.items()
        for k, value in zip(CUTS, values, strict=True)
    ]
    protocols = [
        [name for name in ncg if name == "length" or name.endswith(ITSELF) is leave] for leave in (False, True)
    ]
    pairs = {(a, b) for names in protocols for a in names for b in names if names.index(a) < names.index(b)}
    differences = [
        {"first": a, "second": b, "k": k, "value": ncg[a][place] - ncg[b][place]}
        | {"low": ncg[a][place] - ncg[b][place] - 0.04, "high": ncg[a][place] - ncg[b][place] + 0.04}
        | {"p": 0.001, "p_holm": 0.01 if abs(ncg[a][place] - ncg[b][place]) > 0.099 else 0.3}
        | {"test": "sign-flip"}
        for a, b in sorted(pairs)
        for place, k in enumerate(CUTS)
    ]
    lines = [
        {"measure": name, "k": [1, 5, 20], "ncg": [0.1, *values], "low": [0.0, 0.1, 0.2], "high": [0.2, 0.9, 1.0]}
        for name, values in ncg.items()
    ]
    return (
        {
            "data": {
                "left_out": [
                    {"why": "passages without a unit of sk, ranked last", "n": 2}
                    | {"examples": ["p1 of ducks"], "kept": True},
                ],
            }
            | {"passages": 1200, "topics": 20, "informative": 300, "scale": "0:3"},
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
        }
        | {"schema": 1, "kind": "passages", "gains": gains, "differences": differences, "lines": lines}
        | {"notes": ["passages with nothing left: 3"]}
        | changes
    )


SPREAD = {"n": 4, "mean": 2.0, "sd": 1.0} | dict.fromkeys(
    ("min", "p25", "median", "p75", "p90", "p99", "p999", "max"), 2.0
)

SPLIT = (
    {
        "dates": {"articles": 1.0, "comments": 0.0, "first_article": "2024-01-02T00:00:00Z"}
        | dict.fromkeys(("last_article", "first_comment", "last_comment")),
    }
    | {"articles": 4, "comments": 8, "held_out": 0, "words": 40, "distinct_words": 20, "known_share": 0.5}
    | {"without_content": 0, "without_category": 1, "without_upvotes": 0, "upvotes_zero": 0.25}
    | {"upvotes_negative": 0.0, "top_grade_comments": None, "top_grade_articles": None}
    | {"categories": {"tfidf": 3}}
    | dict.fromkeys(
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
)

SOURCE = {"article": "a", "comment": "3", "title": "Rain", "date": "2017-03-30T02:56:13Z", "upvotes": 1200}

PROVENANCE = {"label": "Machine-generated suggestion", "method": "generated", "model": "att"} | {
    "model_hash": "0",
    "sources": [],
    "overlap": None,
}


def system_estimate(system: str, mean: float, ranks: tuple[int, int], letters: str) -> dict[str, Any]:
    """A mean with an interval of .2 to each side, and of .3 from the grades alone."""
    return (
        {"system": system, "n": 24, "ratings": 48, "mean": mean, "low": mean - 0.2, "high": mean + 0.2}
        | {"human_mean": mean + 0.1, "human_low": mean - 0.2, "human_high": mean + 0.4, "slope": 0.5}
        | {"rank_low": ranks[0], "rank_high": ranks[1], "letters": letters}
    )


def system_difference(first: str, second: str, value: float, p: float) -> dict[str, Any]:
    return {"first": first, "second": second, "value": value, "low": value - 0.25, "high": value + 0.25} | {
        "p": p / 3,
        "p_holm": p,
    }


def budget_facet(component: str, estimate: float) -> dict[str, Any]:
    return {"component": component, "estimate": estimate, "low": estimate / 2, "high": 2 * estimate} | {
        "share": estimate,
        "absent": estimate < 0.05,
    }


def budget_row(items: int, raters: int, layout: str = "item") -> dict[str, Any]:
    return (
        {"items": items, "raters": raters, "ratings": 3 * items * raters, "hours": items * raters / 30}
        | {"mean_width": 2 / items**0.5, "difference_width": 2.5 / items**0.5}
        | {"human_difference_width": 3 / items**0.5, "human_mean_width": 2.25 / items**0.5}
        | {"power": 1 - 4 / items, "power_all": 1 - 8 / items, "layout": layout}
    )


def estimated(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.125, "high": value + 0.125}


def combination_fit(columns: list[str], value: float) -> dict[str, Any]:
    return {"columns": columns, "pool": estimated(value), "item": estimated(value / 2), "rmse": 1 - value}


PREFERENCES: dict[str, Any] = (
    {
        "systems": [
            {"system": system, "n": 9, "wins": wins, "ties": 2, "losses": 7 - wins}
            | {"win_rate": (wins + 1) / 9}
            | {"win_low": (wins - 1) / 9, "win_high": (wins + 3) / 9, "strength": (2 * wins - 7) / 5}
            | {"low": (2 * wins - 9) / 5, "high": (2 * wins - 5) / 5, "rank_low": 1}
            | {"rank_high": 2, "letters": "a"}
            for system, wins in (("meteor", 5), ("tfidf", 2))
        ],
        "pairs": [
            {"first": "meteor", "second": "tfidf", "n": 9, "wins": 5, "ties": 2}
            | {"losses": 2, "win_rate": 6 / 9}
            | {"expected": 6 / 9, "p_fit": None, "difference": 1.2, "low": -0.1, "high": 2.5}
            | {"p": 0.07, "p_holm": 0.07},
        ],
    }
    | {"preferences": 9, "items": 6, "annotators": 2, "tie_parameter": 0.6}
    | {"left": {"value": 0.4, "low": 0.2, "high": 0.6}, "separated": False, "baseline": "tfidf"}
    | {"notes": ["intervals of fewer than 20 items are too narrow"]}
    | {"settings": {"resamples": 100, "seed": 7, "postil": "0.0"}}
)

OTHERS: dict[str, dict[str, Any]] = {
    "quality": {
        "annotators": [
            {
                "concerns": [
                    {"kind": "gold", "value": 0.25, "usual": 0.875, "n": 8},
                    {"kind": "severity", "value": -0.75, "usual": None, "n": 30},
                ],
                "windows": [
                    {"first": 1, "n": 15, "apart": 1.0, "above": -0.5, "seconds": 7.0},
                    {"first": 16, "n": 15, "apart": 1.5, "above": -1.0, "seconds": None},
                ],
            }
            | {"annotator": "A2", "ratings": 40}
            | {"gold": {"annotator": "A2", "n": 8, "equal": 0.25, "apart": 1.5, "above": -0.5}}
            | {"attention": 2, "passed": 1, "seconds": 6.5, "timed": 40, "fast": 0.125}
            | {"shared": 30, "apart": 1.25, "above": -0.75, "correlation": 0.25}
            | {"drift": {"value": -0.25, "low": -0.5, "high": 0.0}, "competence": 0.375},
            {"annotator": "A1", "ratings": 12},
        ],
        "ratings": 52,
        "model": "one-factor",
    },
    "agreement": {
        "agreement": {
            "pairs": [
                {"first": "ann", "second": "bob", "n": 2, "agreement": 0.5}
                | {"unweighted": 0.5, "linear": None, "quadratic": 0.5},
            ],
        }
        | {"texts": 2, "ratings": 4, "labels": [0, 1]}
        | {"estimates": {"kappa": {"value": 0.5, "low": None, "high": None}}}
        | {"confusion": [[1, 0], [0, 1]]}
        | {"raters": [{"name": "ann", "n": 2, "mean": 0.5, "severity": None, "histogram": [1, 1]}]},
        "revisions": [
            {"number": 1, "time": "2026-03-01 08:00 UTC", "items": 2, "known": 0, "ratings": 4},
            {"number": 2, "time": "2026-03-09 08:00 UTC", "items": 1, "known": 2, "ratings": 0},
        ],
    }
    | {"reason": ""}
    | {"repeated": [{"annotator": "ann", "n": 2, "equal": 0.5, "apart": 0.5, "above": -0.5}]}
    | {"gold": []},
    "budget": {
        "components": {"rater_variance": 0.5, "total": {"mean": 0.5, "difference": 0.375}}
        | {"residual": {"mean": 0.25, "difference": 0.125}}
        | {"facets": [budget_facet("item", 0.5), budget_facet("item:rater", 0.03125)]}
        | {"raters_by_item": {"mean": 0.5, "difference": 0.25}}
        | {"raters_by_output": {"mean": 0.5, "difference": 0.5}},
        "rows": [
            budget_row(items, raters, layout)
            for layout in ("item", "output")
            for raters in (1, 2)
            for items in (10, 20, 40, 80)
        ],
        "settings": {"items": 100, "systems": 3, "target": "population", "raters": [1, 2]}
        | {"seconds_per_rating": 40.0, "seconds_per_item": 0.0, "postil": "0", "pilot": 12}
        | {"scores_used": True, "annotators": 4, "resamples": 100, "seed": 3, "r_squared": 0.5}
        | {"difference": 0.5, "power": 0.8},
    }
    | {"cheapest": budget_row(50, 1), "notes": ["one rater on more items beats more raters on fewer"]}
    | {"excluded": [{"why": "judged but not scored", "n": 1, "examples": ["9 by ann"]}]},
    "combine": {
        "columns": [
            {"metric": "meteor", "signature": "meteor|x", "pool": estimated(0.5), "item": None} | {"weight": -0.25},
            {"metric": "w-meteor", "signature": "w-meteor|x", "pool": estimated(0.5)}
            | {"item": estimated(0.5), "weight": 0.75, "gain": 1.0},
        ],
        "texts": {"items": [str(item) for item in range(12)], "systems": ["tfidf"] * 12}
        | {"ratings": [item % 5 for item in range(12)]}
        | {"grades": [item % 4 + 0.5 for item in range(12)], "controls": [2.0] * 11 + [3.0]},
        "settings": {"method": "boosting", "folds": 2, "resamples": 1000, "seed": 1, "data": "1"}
        | {"postil": "0", "penalty": 0.01, "monotone": True, "scale": "0:4"},
    }
    | {"metric": "combine(0)", "signature": "combine(0)|out-of-fold:2|data:1|postil:0", "items": 12}
    | {"systems": 1, "combination": combination_fit(["meteor", "w-meteor"], 0.625)}
    | {"controls": combination_fit(["control:length"], 0.25)}
    | {"difference": {"pool": estimated(0.375), "item": None}}
    | {"excluded": [{"why": "scored but not judged", "n": 1, "examples": ["9 by ann"]}]}
    | {"notes": ["not every text has the control mean weight"]},
    "commenters": {
        "scores": [
            {"system": system, "metric": metric, "score": 0.5, "n": 3, "signature": f"{metric}|x"}
            for system in ("tfidf", "b")
            for metric in ("meteor", "cider")
        ],
        "suggestions": [
            {"system": "tfidf", "hash": None, "nothing": 1, "words": 4.5, "distinct_1": 0.5}
            | {"distinct_2": None, "age": 12.5, "dated": 2, "later": 1},
        ],
        "training": [
            {"system": "tfidf", "articles": 9, "undated": 1}
            | {"first": "2023-01-01T00:00:00Z", "last": "2023-12-31T00:00:00Z", "dated": 3}
            | {"earlier": 1, "shared": 0},
        ],
        "periods": [
            {"system": "tfidf", "period": "2024-Q1", "first": "2024-01-01T00:00:00Z"}
            | {"last": "2024-03-01T00:00:00Z", "articles": 3, "days": 31.0}
            | {"scores": {"meteor": 0.5}},
        ],
    }
    | {"articles": 3, "left_out": 0, "references": {"least": 1, "most": 4, "mean": 2.5}}
    | {"settings": {"split": "test", "weights": "votes", "scale": None, "seed": 1}}
    | {"remarks": ["weights: votes"]},
    "corpus": {"format": 2, "postil": "0"}
    | {"options": {"tokenizer": "words", "vocab_size": 3, "langs": ["en"]}, "tokenizer": "words"}
    | {"inputs": [{"name": "tfidf", "split": None, "bytes": 9, "blake2b": "0"}], "langs": ["en"]}
    | {"seen": {"too short": 2}}
    | {"splits": {name: {"articles": 1, "comments": 2, "files": 1} for name in ("train", "dev", "test")}}
    | {"words": 3},
    "estimate": {
        "systems": [
            system_estimate("tfidf", 4.0, (1, 1), "a"),
            system_estimate("b", 3.5, (2, 3), "b"),
            system_estimate("c", 3.25, (2, 3), "b"),
        ],
        "differences": [
            system_difference("tfidf", "b", 0.5, 0.003),
            system_difference("tfidf", "c", 0.75, 0.001),
            system_difference("b", "c", 0.25, 0.06),
        ],
        "curve": [
            {"graded": n, "mean_width": 2 / n**0.5, "difference_width": 2.5 / n**0.5}
            | {"human_mean_width": 3 / n**0.5, "human_difference_width": 3.5 / n**0.5}
            for n in (8, 10, 15, 20, 30, 40, 60, 80, 100)
        ],
    }
    | {"target": "population", "method": "crossed", "items": 100, "graded": 24, "annotators": 3}
    | {"scores_used": True, "crossed": True}
    | {"scores": [{"metric": "meteor", "weight": 0.5, "balance_z": -0.5}], "common_slope": 1.0}
    | {"item_slope": 0.75, "r_squared": 0.5, "rater_variance": 0.25}
    | {"relative_efficiency": {"means": 1.5, "differences": 1.25}, "undefined": []}
    | {"excluded": [{"why": "judged but not scored", "n": 1, "examples": ["9 by ann"]}]}
    | {"notes": ["most grades of tfidf are 5: its CI may cover less than 95 %"]}
    | {"signatures": {"meteor": "meteor|x"}, "settings": {"postil": "0", "aspect": "ann"}},
    "evaluation": {
        "rows": [
            {"scorer": "tfidf", "measure": "mrr", "value": 0.25, "low": 0.2, "high": 0.3} | {"n": 9, "comments": 99},
        ],
        "differences": [{"scorer": "x", "minus": "y", "measure": "mrr", "value": 0.1, "low": 0.0, "high": 0.2}],
        "grid": {
            "points": [{"values": {"rate": 0.5, "layers": [1, 2]}, "dev": 0.5, "steps": 9, "chosen": True}],
            "measure": "mrr",
            "epochs": 2,
        },
    }
    | {"absent": [{"scorer": "ann", "reason": "no training"}]},
    "audit-log": {
        "files": [
            {"file": "audit.jsonl.1", "lines": 1200, "lost": 0, "first": "", "last": "8d0c"},
            {"file": "audit.jsonl", "lines": 17, "lost": 2, "first": "8d0c", "last": "1f3a"},
        ],
    },
    "tokens": {
        "tokens": [
            {"name": "cms", "state": "valid", "scopes": ["suggest", "rank"]} | {"created": "2026-03-01T09:00:00Z"},
            {"name": "desk", "state": "revoked", "scopes": ["desk"]}
            | {"created": "2026-03-01T09:00:00Z", "rate": 600, "expires": "2026-09-01T09:00:00Z"}
            | {"revoked": "2026-04-01T09:00:00Z"},
        ],
    },
    "forget": {
        "folders": [
            {"folder": "model", "content": "ir-tc", "comments": 2, "articles": 1, "words": 3}
            | {"same_text": [["a1", "c2"]], "quoting": [["a4", "c1"]], "network": True}
            | {"files": ["comments/texts.data.npy", "words.txt"], "hash_before": "8d0c"}
            | {"hash": "1f3a"},
            {"folder": "answers", "content": "answers", "comments": 0, "articles": 0}
            | {"words": 0, "same_text": [], "quoting": [], "network": False, "files": []}
            | {"hash_before": None, "hash": None},
        ],
    }
    | {"comments": 1, "articles": 1, "dry_run": False},
    "update": {"articles": 3, "comments": 40, "updated": 2, "kept_out": 1, "held_out": 5, "words": 12}
    | {"total_articles": 103, "total_comments": 2040, "segments": 2, "ranker": "tf-idf"}
    | {"ranker_articles": 100, "hash_before": "8d0c", "hash": "1f3a"},
    "dry-run": {"calls": 12, "cached": 3, "prompt_tokens": 4000, "completion_tokens": 12, "cost": 0.0025}
    | {"seconds": 12.0},
    "judge": {
        "systems": [
            {"system": "tfidf", "n": 1, "absent": 1}
            | {"mean": {"value": 4.25, "low": None, "high": None}, "mass": 0.95, "sampled": 0},
            {"system": "b", "n": 0, "absent": 2, "mean": None, "mass": None, "sampled": 0},
        ],
        "controls": [
            {"control": "falling", "n": 1, "mean": 4.0}
            | {"difference": {"value": -0.25, "low": -0.5, "high": 0.0}, "equal": 0.5},
        ],
        "self_preference": {"system": "tfidf", "n": 1, "own": {"value": 0.5, "low": 0.25, "high": 0.75}}
        | {"others": {"value": 0.0, "low": -0.25, "high": 0.25}}
        | {"preference": {"value": 0.5, "low": 0.0, "high": 1.0}},
        "rows": [
            {"item": "1", "system": "tfidf", "metric": "judge(m)", "score": 4.25}
            | {"signature": "judge(model=m)|seed:1"}
            | {"mass": 0.95, "calls": 1},
        ],
        "absent": [{"why": "timeout", "n": 3, "examples": ["2 by tfidf", "1 by b", "2 by b"], "reason": "failed"}],
        "settings": {"postil": "0.3.0", "command": "", "model": "m", "scale": "1:5", "anchors": "nearest"}
        | {"seed": 20181},
    }
    | {"metric": "judge(m)"}
    | {"length": {"n": 1, "words": 0.5, "human_n": 1, "human": 0.6, "human_partial": 0.55}}
    | {"usage": {"calls": 2, "prompt_tokens": 400, "completion_tokens": 2, "cost": 0.0025}}
    | {"not_sent": ["seed"], "notes": ["3 of 4 texts without a grade: timeout"]}
    | {"signatures": {"judge(m)": "judge(model=m)|seed:1"}},
    "judge-pairs": {
        "pairs": [
            {"first": "meteor", "second": "tfidf", "n": 9, "absent": 3, "wins": 5, "ties": 2, "losses": 2}
            | {"win_rate": {"value": 6 / 9, "low": 0.4, "high": 0.9}}
            | {"score": {"value": 0.6, "low": 0.4, "high": 0.8}, "changed": 2},
            {"first": "meteor", "second": "b", "n": 0, "absent": 1, "wins": 0, "ties": 0, "losses": 0}
            | {"win_rate": None, "score": None, "changed": 0},
        ],
        "strengths": {"kind": "preferences", **PREFERENCES},
        "position": {"n": 9, "changed": {"value": 2 / 9, "low": 0.0, "high": 0.5}}
        | {"first": {"value": 0.6, "low": 0.5, "high": 0.7}},
        "people": {"pairs": 2, "unmatched": 1}
        | {"judge": {"n": 4, "share": {"value": 0.5, "low": 0.25, "high": 0.75}, "decided_n": 0, "decided": None}}
        | {
            "people": {"n": 2, "share": {"value": 0.5, "low": 0.0, "high": 1.0}, "decided_n": 1}
            | {"decided": {"value": 1.0, "low": None, "high": None}}
        },
        "rows": [
            {"item": "1", "system_a": "meteor", "system_b": "other", "annotator": "judge(m)", "preference": "a"}
            | {"score": 0.75, "score_first": 1.0, "mass": 0.95, "calls": 2, "signature": "judge-pairs(model=m)|seed:1"},
        ],
        "absent": [{"why": "timeout", "n": 3, "examples": ["2: meteor and tfidf", "1 by b", "2"], "reason": "failed"}],
        "settings": {"postil": "0.3.0", "model": "m", "anchors": "none", "seed": 20181},
    }
    | {"judge": "judge(m)", "longer": {"value": 0.6, "low": 0.5, "high": 0.7}}
    | {"usage": {"calls": 18, "prompt_tokens": 400, "completion_tokens": 18, "cost": 0.0025}}
    | {"not_sent": ["seed"], "notes": ["3 of 12 pairs without a verdict: timeout"]}
    | {"signatures": {"judge(m)": "judge-pairs(model=m)|seed:1"}},
    "interest-training": {
        "gains": [
            {"measure": name, "k": 10, "ncg": ncg, "low": 0.25, "high": 0.75}
            | {"reference": "topic", "pool": "topic"}
            | {"leave_one_out": False, "signature": f"interest({name})"}
            for name, ncg in (("trained", 0.5), ("meteor", 0.375))
        ],
        "differences": [
            {"first": "trained", "second": "meteor", "k": 10, "value": 0.125}
            | {"low": 0.0, "high": 0.25}
            | {"p": 0.5, "p_holm": 0.5, "test": "sign-flip"},
        ],
        "weights": [
            {"kind": "feature", "unit": "cues", "weight": 0.25},
            {"kind": "word", "unit": "tfidf", "weight": 0.125},
            {"kind": "pair", "unit": "ann lee", "weight": -0.125},
        ],
        "settings": {"penalty": 100.0, "min_count": 5, "folds": 3, "seed": 7, "resamples": 9} | {"postil": "0"},
    }
    | {"model": "tfidf", "words": 12}
    | {"data": {"passages": 9, "topics": 3, "informative": 6, "scale": "0:2"}}
    | {"notes": ["tfidf"]},
    "interesting": {
        "measure": "meteor",
        "passages": [
            {"rank": 1, "index": 1, "text": "tfidf", "score": 2.5, "reasons": [{"unit": "ann", "part": 0.5}]}
            | {"start": 12, "end": 17, "page": 2, "link": "https://example.org/tea#:~:text=tfidf"},
            {"rank": 2, "index": 0, "text": "ducks", "score": None, "reasons": []},
        ],
        "goal": "topic",
        "lang": "en",
        "signature": "meteor|stop:en",
        "document": {
            "blocks": [
                {"kind": "heading", "start": 0, "end": 3, "level": 1},
                {"kind": "paragraph", "start": 5, "end": 26, "page": 2},
            ],
        }
        | {"text": "Tea\n\nducks, ponds and rain", "source": "tfidf", "title": "ann", "lang": "en"}
        | {"date": "2024-05-01", "url": "https://example.org/tea"},
        "notes": ["tfidf"],
    },
    "interesting-pages": {
        "pages": [
            {
                "passages": [
                    {"rank": 1, "index": 1, "text": "ann", "score": 2.5} | {"reasons": [{"unit": "ann", "part": 0.5}]},
                    {"rank": 2, "index": 0, "text": "ducks", "score": None, "reasons": []},
                ],
            }
            | {"source": "tfidf", "title": "ann", "url": "https://example.org/tea"}
            | {"date": "2024-05-01", "lang": "en", "file": "tea.html"}
            | {"notes": ["tfidf"]},
            {"source": "ponds.md", "passages": []},
        ],
    }
    | {"measure": "meteor"}
    | {"failed": [{"source": "meteor", "problem": "there is no text in it"}]}
    | {"goal": "interest", "signature": "meteor|stop:en", "notes": ["tfidf"]},
    "interleaving": {
        "pairs": [
            {"model": "meteor", "baseline": "tfidf", "impressions": 9, "shown": 8}
            | {"outcomes": 6, "articles": 7, "needed": 900, "detectable": 0.05}
            | {"balanced": True},
        ],
        "rows": [
            {"model": "meteor", "baseline": "tfidf", "measure": measure}
            | {"model_events": 5, "baseline_events": 1, "impressions": 6, "wins": 5}
            | {"ties": 0, "losses": 1, "preference": 1 / 3, "low": 0.0, "high": 0.5}
            | {"share": 5 / 6, "p_sign": 0.21875, "p_articles": 0.21875, "p_holm": 0.21875}
            for measure in ("credit", "clicked")
        ],
        "ranks": [
            {"model": "meteor", "baseline": "tfidf", "rank": rank, "of_model": 8 - of}
            | {"of_baseline": of}
            | {"p_balance": 0.727, "model_clicked": 4 - rank, "baseline_clicked": 1}
            | {"model_answered": 0, "baseline_answered": 0, "model_hidden": 1, "baseline_hidden": 0}
            for rank, of in ((1, 3), (2, 5), (3, 0))
        ],
    }
    | {"baseline": "tfidf", "impressions": 9}
    | {"left_out": [{"why": "not shown", "n": 1, "examples": ["ann"]}]}
    | {"notes": ["2 events at suggestions of neither model are not counted"]}
    | {"settings": {"resamples": 100, "seed": 7, "postil": "0.0"}},
    "plan": {
        "annotators": [{"annotator": "ann", "texts": 2, "gold": 1, "repeated": 0, "least_shared": 1, "most_shared": 1}],
        "balance": {"most": "ann", "most_items": 5, "fewest": "bob", "fewest_items": 2, "tolerance": 1}
        | {"missing": 4, "least_shared": 0, "most_shared": 2, "short": 1},
    }
    | {"texts": 3, "annotators_per_item": 2, "gold": 1, "order_correlation": 0.25, "median_gap": None}
    | {"pairs": [{"first": "ann", "second": "bob", "texts": 1}], "overlapping": 1, "by_item": True}
    | {"sampled": 2, "sampled_from": 9},
    "preferences": PREFERENCES,
    "thread-orders": {
        "rows": [
            {"scorer": "quality", "measure": "pairwise", "value": 0.5, "low": 0.4}
            | {"high": 0.6, "n": 9, "comments": 99},
        ],
        "differences": [
            {"scorer": "quality", "minus": "length", "measure": "pairwise", "value": 0.1} | {"low": 0.0, "high": 0.2},
        ],
        "weights": [{"feature": "length", "weight": 0.05, "low": 0.04, "high": 0.06, "predicts": True}],
        "settings": {"target": "votes", "split": "train", "folds": 5, "seed": 1, "resamples": 9}
        | {"tokenizer": "words"},
    }
    | {"excluded": [{"why": "fewer than two comments", "n": 2, "examples": ["a1"]}]}
    | {"remarks": ["quality: tfidf"]},
    "screen-training": {"decisions": 99, "held": 33, "split": "author", "predicted": 99, "base_rate": 0.5}
    | {"auc": {"value": 0.8, "low": 0.7, "high": 0.9}, "threshold": 0.6, "goal": 0.9}
    | {
        "points": [
            {"goal": goal, "threshold": goal, "held": 20, "texts": 99}
            | {
                "precision": {"value": goal, "low": 0.5, "high": 1.0},
                "recall": {"value": 1 - goal, "low": 0.0, "high": 1.0},
            }
            for goal in (0.8, 0.9)
        ],
        "taken_over": {"goal": 0.99, "low": 0.1, "high": None, "share": 0.5, "holds": 0, "keeps": 49, "waiting": 50}
        | {"right": {"value": 0.99, "low": 0.9, "high": 1.0}},
        "groups": [
            {"by": "language", "name": "en", "texts": 99, "base_rate": 0.5, "auc": None}
            | {"precision": None, "recall": None},
        ],
        "reasons": [{"name": "ann", "texts": 33, "learned": False}],
        "attributes": {"TOXICITY": "hold"},
        "fairness": [
            {"by": "all", "name": "", "texts": 30, "others": 36, "probability": 0.3, "others_probability": 0.2}
            | {"base_rate": 0.4, "others_base_rate": 0.3}
            | {
                "held": {"value": 0.1, "low": 0.03, "high": 0.25},
                "others_held": {"value": 0.05, "low": 0.02, "high": 0.15},
                "difference": {"value": 0.05, "low": -0.07, "high": 0.2},
            },
            {"by": "kind", "name": "ann", "texts": 7, "others": 36, "probability": None, "others_probability": None}
            | {"held": None, "others_held": None, "difference": None, "base_rate": None, "others_base_rate": None},
        ],
        "disagreements": [{"text": "tfidf", "decision": "keep", "probability": 0.9, "reason": "meteor"}],
        "notes": ["meteor"],
    },
    "screening": {
        "rows": [
            {"id": "1", "probability": 0.9, "decision": "hold", "reasons": {"ann": 0.8}, "text": "tfidf"},
        ],
        "threshold": 0.5,
        "model": "0123456789abcdef",
    },
    "ranked-comments": {
        "comments": [
            {"article": "1", "comment": "2", "rank": 1, "score": 0.5, "text": "tfidf"}
            | {"reasons": ["a question"], "same_as": None},
        ],
    },
    "statistics": {
        "statistics": {"splits": {"test": SPLIT, "all": SPLIT}, "top_grade": None},
        "settings": {"tokenizer": "words", "vocabulary": 30000, "postil": "0"},
    },
    "study": {
        "parts": [
            {
                "tables": [
                    {
                        "rows": [
                            {"name": "tfidf", "cells": [[0.5, 0.25, 0.75], "ann", 3]},
                            {"name": "others", "kind": "group"},
                            {"name": "b", "cells": [0.5, None, [1.0, None, None]]} | {"kind": "control", "digits": 2},
                        ],
                    }
                    | {"key": "table-1", "caption": "Table 1"}
                    | {"head": ["", "meteor", "rater", "n"]},
                ],
                "pictures": [{"title": "Sizes", "caption": "Sizes", "names": ["tfidf", "b"], "counts": [3, 1]}],
            }
            | {"key": "one", "title": "One", "words": ["some"]},
        ],
    }
    | {"title": "tfidf", "data": "one corpus", "conclusion": ["meteor is best"]}
    | {"settings": [["seed", "7"]]},
    "suggestions": {
        "suggestions": [
            {
                "suggestions": [
                    {"rank": 1, "score": 2.0, "text": "tfidf", "provenance": PROVENANCE},
                    {"rank": 2, "score": 1.0, "text": "b"} | {"provenance": PROVENANCE | {"sources": [SOURCE]}},
                ],
                "filtered": [
                    {
                        "text": "ok",
                        "reason": "too short",
                        "source": {"article": "a", "comment": "3"},
                    },
                ],
                "article": "x",
            },
        ],
    },
    "summaries": {
        "scores": [
            {"system": system, "measure": "meteor", "reference": "passages", "mean": mean}
            | {"low": mean - 0.1, "high": mean + 0.1, "n": 3, "better": "low"}
            | {"signature": "meteor|x"}
            for system, mean in (("tfidf", 0.5), ("b", 0.25))
        ],
        "settings": {"tokenizer": "words", "stem": "none", "stop": "en", "max_words": 100}
        | {"resamples": 100, "seed": 7, "postil": "0.0"},
    }
    | {"data": {"systems": 2, "topics": 3, "summaries": 6, "cut": 0}, "notes": []},
    "training": {
        "rows": [
            {"step": step, "epoch": 1, "loss": 5.25, "dev": 5.5, "perplexity": 244.7} | {"best": step == 500}
            for step in (500, 1000)
        ],
    },
    "vectors": {"words": 100, "dimensions": 8, "signature": "tfidf"}
    | {"made": {"seed": 1, "spec": "tfidf", "hashes": {"a": "0"}}}
    | {"nearest": [{"word": "meteor", "near": "ann", "cosine": 0.5}], "first": ["tfidf"]},
    "calibration": {
        "labels": 60,
        "articles": 20,
        "shown": 24,
        "labels_hash": "0123456789abcdef",
        "excluded": [{"why": "text that as many would show as would not", "n": 1, "examples": ["ann: meteor"]}],
        "resamples": 100,
        "seed": 7,
        "depth": 3,
        "filter": "learned",
        "penalty": 30.0,
        **{name: {"value": 0.5, "low": 0.25, "high": 0.75} for name in ("base_rate", "first_rate", "auc")},
        "ranker_auc": {"value": 0.5, "low": None, "high": None},
        "comparisons": [
            {"measure": "auc"}
            | {name: {"value": 0.5, "low": 0.25, "high": 0.75} for name in ("learned", "score", "difference")}
        ],
        "points": [
            {"coverage": 0.5, "threshold": 0.5, "precision": 0.75, "low": 0.5, "high": 1.0}
            | {"pooled": 0.75, "articles": 10},
            {"coverage": 1.0, "threshold": 0.0, "precision": 0.5, "low": 0.25, "high": 0.75}
            | {"pooled": 0.5, "articles": 20},
        ],
        "columns": [{"name": "meteor", "weight": -0.5}],
        "notes": ["tfidf"],
    },
    "weights-plan": {
        "rows": [
            {"item": "tfidf", "reference": 2, "text": "meteor", "order": 1, "gain": 1.75},
            {"item": "b", "reference": 1, "text": "ann", "order": 2, "gain": 0.5},
            {"item": "b", "reference": 2, "text": "other", "order": 3, "gain": 0.0},
        ],
    }
    | {"budget": 3, "covered": [0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75]}
    | {"notes": ["5 references of 2 items, none graded; 4 texts to be scored; similarity meteor"]},
    "wmt": {
        "settings": {"coefficients": ["pearson"], "lower_is_better": ["meteor"], "postil": "0.0"}
        | {"resamples": 100, "permutations": 100, "seed": 7},
    }
    | {"test_set": "tfidf", "language_pair": "en-de", "references": ["ann"]}
    | {"human": {"system": "mqm", "segment": "ann"}, "systems": ["tfidf", "b", "c"], "segments": 12}
    | {"correlations": [row("meteor", 0.75, by="system"), row("meteor", 0.25), row("b", 0.5)]}
    | {"ranks": {"system pearson": {"meteor": 1}, "pool pearson": {"b": 1, "meteor": 2}}}
    | {"absent": [{"metric": "b", "coefficient": "pearson", "by": "system", "reason": "only tfidf"}]}
    | {"left_out": [{"why": "outliers", "n": 1, "examples": ["meteor"]}]},
}
"""Small results of the kinds that no function above makes."""

KINDS = ("correlate", "compare", "score", "passages", *OTHERS)

EXAMPLES = ("audit", *KINDS)
"""The kinds, and what a result of a kind may have besides."""


def example(kind: str) -> Result:
    """A small result, one of `EXAMPLES`, in which users named things meteor, tfidf and ann."""
    made = {"audit": audited, "correlate": correlated, "compare": comparison, "score": scores, "passages": gained}
    value = made[kind]() if kind in made else {"schema": 1, "kind": kind, **OTHERS[kind]}
    return Result.from_dict(value)


def terminal(result: Result, width: int) -> str:
    """A result on a terminal with this number of columns."""
    return show("table", result, width=width)


def renamed(result: Result, name: str) -> Result:
    """The same with another text for each of these names."""
    return Result.from_json(re.sub(r"\b(meteor|tfidf|ann)\b", lambda _: json.dumps(name)[1:-1], result.to_json()))
