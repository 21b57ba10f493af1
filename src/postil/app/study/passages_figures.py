"""The six figures of the paper on interestingness, with their numbers, and what it says held against what is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.app.study.stages import paper
from postil.records.results import Gain, StudyResult
from postil.render.formats import listed
from postil.render.numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Result = Mapping[str, Any]

__all__ = ["Model", "passages_study"]

UNITS: Final = ("1", "2", "sk")
FAMILIES: Final = tuple(f"{family}-{unit}" for family in ("f1", "kl", "logsim") for unit in UNITS)
SENSES: Final = {"topic": "informativeness", "others": "interestingness"}
ENTITIES: Final = " of anchors"
QUESTIONS: Final = (
    "Informativeness (Figures 1 to 3): which measure finds what is informative for a topic, given all that is. "
    "Interestingness (4 to 6): which one finds it given what is informative for other topics."
)
CAUTION: Final = (
    "In the paper a passage stands in its own reference where informativeness is measured, which helps it; the chapter "
    "on informativeness has every measure without that as well."
)


@dataclass(frozen=True, slots=True)
class Model:
    """Word vectors.

    Args:
        name: What they are called here.
        spec: The measure that uses them.
        vectors: How many there are.
        pairs: Whether they are of pairs of words.
    """

    name: str
    spec: str
    vectors: int
    pairs: bool


def passages_study(name: str, found: Mapping[str, Result], models: Sequence[Model]) -> StudyResult:
    """The study as a result that `postil report` takes.

    Args:
        name: What the collection is called.
        found: What `postil passages` printed: ``informativeness``, ``interestingness``, and the same of ``-anchors``.
        models: The word vectors.
    """
    printed = paper("passages")
    data = found["informativeness"]["data"]
    settings = found["informativeness"]["settings"]
    lists = "all in one list" if settings["pool"] == "all" else "a list a topic, the mean of them"
    parts = [_vectors(models, printed)] if models else []
    for place, sense in enumerate(SENSES.values()):
        parts += [
            _vectors_figure(3 * place + 1, found[sense], models, sense),
            _families_figure(3 * place + 2, found[sense], sense),
            _anchors_figure(3 * place + 3, found, sense),
        ]
    made = {
        "kind": "study",
        "name": name,
        "title": "Interestingness of passages, figure by figure",
        "data": f"{_count(data)}; {lists}",
        "conclusion": [QUESTIONS, *(_highest(sense, found[sense]) for sense in SENSES.values()), CAUTION],
        "parts": [*parts, _claims(found, models, printed)],
        "settings": [
            ["words", f"{settings['tokenizer']}; stop words: {settings['stop']}; stems: {settings['stem']}"],
            ["the paper", printed["source"]],
            ["its data", printed["of"]],
        ],
    }
    return msgspec.convert(made, StudyResult)


def _highest(sense: str, result: Result) -> str:
    """Which of the paper's discrete measures has the highest nCG at which cut."""
    best: dict[str, list[str]] = {}
    for k in dict.fromkeys(row["k"] for row in result["gains"]):
        rows = [row for row in result["gains"] if row["k"] == k and row["measure"] in FAMILIES]
        top = max((row for row in rows if _is_of_figures(row, result)), key=lambda row: row["ncg"])
        best.setdefault(top["measure"], []).append(f"{number(top['ncg'])} at k = {k:,}")
    return (
        f"Highest of F1, KL and LogSim for {sense}: {'; '.join(f'{name}, {listed(at)}' for name, at in best.items())}."
    )


def _is_of_figures(row: Mapping[str, Any], result: Result) -> bool:
    return bool(row["leave_one_out"] == _ranking(result, row["measure"]).endswith(Gain.WITHOUT))


def _count(data: Mapping[str, Any]) -> str:
    return f"{data['passages']:,} passages of {data['topics']:,} topics, {data['informative']:,} with a grade above 0"


def _ranking(result: Result, measure: str) -> str:
    """What a ranking is called: where others are the reference, no passage is in its own, and names say so."""
    names = {line["measure"] for line in result["lines"]}
    return measure if measure in names else measure + Gain.WITHOUT


def _vectors(models: Sequence[Model], printed: Mapping[str, Any]) -> dict[str, Any]:
    """Table 2 of the paper."""
    rows: list[dict[str, Any]] = [
        {"name": model.name, "cells": [model.vectors, "pairs of words" if model.pairs else "words"]} for model in models
    ]
    for each in printed["vectors"]:
        name, _, unit = each["model"].partition(", ")
        rows.append({"name": f"in the paper: {name}", "cells": [each["vectors"], unit], "kind": "control"})
    table = {"key": "vectors", "caption": "Table 2: word vectors", "head": ["model", "vectors", "of"], "rows": rows}
    return {"key": "vectors", "title": "Word vectors (Table 2)", "tables": [table]}


def _vectors_figure(number: int, result: Result, models: Sequence[Model], sense: str) -> dict[str, Any]:
    measures = [f"f1-{unit}" for unit in UNITS] + [model.spec for model in models] + ["length"]
    names = {model.spec: model.name for model in models}
    words = [] if models else ["No word vectors were given or trained, so that F1 stands alone."]
    title = f"Figure {number}: {sense}, F1 and word vectors"
    return _figure(number, title, [(result, measure, names.get(measure, measure)) for measure in measures], words)


def _families_figure(number: int, result: Result, sense: str) -> dict[str, Any]:
    title = f"Figure {number}: {sense}, F1, KL and LogSim"
    return _figure(number, title, [(result, measure, measure) for measure in FAMILIES], [])


def _anchors_figure(number: int, found: Mapping[str, Result], sense: str) -> dict[str, Any]:
    title = f"Figure {number}: {sense}, whole passages and their anchors alone"
    if f"{sense}-anchors" not in found:
        return {
            "key": f"figure-{number}",
            "title": title,
            "words": ["No passage has anchors (links), so there is none."],
        }
    measures = [f"{family}-{unit}" for family in ("f1", "logsim") for unit in UNITS]
    series = [(found[sense], measure, measure) for measure in measures]
    series += [(found[f"{sense}-anchors"], measure, f"{measure}{ENTITIES}") for measure in measures]
    return _figure(number, title, series, [])


def _figure(number: int, title: str, series: Sequence[tuple[Result, str, str]], words: Sequence[str]) -> dict[str, Any]:
    """Curves, and their numbers at the cuts."""
    lines = [
        {**line, "measure": name}
        for result, measure, name in series
        for line in result["lines"]
        if line["measure"] == _ranking(result, measure)
    ]
    cuts = list(dict.fromkeys(row["k"] for result, _, _ in series for row in result["gains"]))
    rows = []
    for result, measure, name in series:
        at = {row["k"]: row for row in result["gains"] if row["measure"] == measure and _is_of_figures(row, result)}
        cells = [[at[k]["ncg"], at[k]["low"], at[k]["high"]] if k in at else None for k in cuts]
        rows.append({"name": name, "cells": cells})
    over = "folds" if series[0][0]["settings"]["reference"] == "others" else "topics"
    caption = f"{title}: nCG at each cut, 95 % intervals over {over} in brackets"
    table = {
        "key": f"figure-{number}",
        "caption": caption,
        "head": ["measure", *(f"@{k:,}" for k in cuts)],
        "rows": rows,
    }
    picture: dict[str, Any] = {"title": title, "caption": f"{title}; nCG over k, bands: 95 % intervals"}
    picture |= {"xlabel": "passages from the top, k", "ylabel": "nCG@k", "curves": lines}
    return {
        "key": f"figure-{number}-part",
        "title": title,
        "words": list(words),
        "pictures": [picture] if lines else [],
        "tables": [table],
    }


def _claims(found: Mapping[str, Result], models: Sequence[Model], printed: Mapping[str, Any]) -> dict[str, Any]:
    """Each comparison that the paper speaks of, as a difference found here."""
    words = next((model for model in models if not model.pairs), None)
    rows = list(_claimed(found, words, printed))
    cuts = list(dict.fromkeys(row["k"] for row in found["informativeness"]["gains"]))
    table = {
        "key": "claims",
        "caption": "What the paper says, and nCG of the first minus that of the second here, with 95 % intervals",
        "head": ["figure", "in the paper", "here", *(f"@{k:,}" for k in cuts)],
        "rows": rows,
    }
    return {"key": "claims", "title": "What the paper says", "tables": [table]}


def _claimed(found: Mapping[str, Result], model: Model | None, printed: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for claim in printed["claims"]:
        result = found[SENSES[claim["reference"]]]
        names = [claim["first"], claim["second"]]
        if "w2v" in names and model is None:
            continue
        first, second = (_ranking(result, model.spec if name == "w2v" and model else name) for name in names)
        pairs = {(row["first"], row["second"], row["k"]): row for row in result["differences"]}
        cells: list[Any] = []
        for k in dict.fromkeys(row["k"] for row in found["informativeness"]["gains"]):
            row, turned = pairs.get((first, second, k)), pairs.get((second, first, k))
            if row:
                cells.append([row["value"], row["low"], row["high"]])
            else:
                cells.append([0.0 - turned[end] for end in ("value", "high", "low")] if turned else None)
        shown = [model.name if name == "w2v" and model else name for name in names]
        yield {"name": f"Figure {claim['figure']}", "cells": [claim["claim"], " − ".join(shown), *cells]}
