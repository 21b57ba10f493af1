"""Whatever is given to a public function is taken, or refused with the argument's name; no other error comes out."""

from __future__ import annotations

import dataclasses
import inspect
import runpy
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import postil
from postil.comments.options import EvaluateOptions
from postil.data.rows import Judgement, Passage, Rating, Reference
from result_examples import example

if TYPE_CHECKING:
    from collections.abc import Callable

NAN, INF = float("nan"), float("inf")
TEXTS = ["a b", "a c"]
REFERENCES = [["a b", "c"], ["a", "b c"]]
RESULTS = {"CorrelationResult", "RankedPassage", "Result", "ScoreResult"}  # made by postil alone
OTHER = {"__version__", "DocumentFrequencies", "Corpus", "report"}  # report takes results, see test_report
SCORES = example("score")
ERRORS = {"InvalidInput", "PostilError", "Undefined", "UsageError"}
ITEM_SCORES = [{"item": i, "system": s, "metric": "m", "score": i + len(s)} for i in (1, 2, 3) for s in ("a", "bb")]
IMPRESSIONS = [
    {"impression": i, "article": i, "models": ["a", "b"], "teams": [0, 1], "clicked": [rank]}
    for i, rank in enumerate((1, 2, 1))
]
PREFERENCES = [
    {"item": i, "system_a": "a", "system_b": "b", "annotator": "ann", "preference": choice}
    for i, choice in enumerate("aba")
]
RATINGS = [{"item": i, "annotator": a, "grade": i} for i in (1, 2, 3) for a in "ab"]
CALLS: dict[str, dict[str, Any]] = {
    "AgreementOptions": {},
    "Article": {"id": "a", "title": "t", "comments": ()},
    "BuildOptions": {"source": "s", "license": "l"},
    "CalibrateOptions": {},
    "Comment": {"id": "c", "text": "t"},
    "ApplyOptions": {},
    "CombineOptions": {},
    "CompareOptions": {},
    "ControlOptions": {},
    "CorrelateOptions": {},
    "DecodingOptions": {},
    "BudgetOptions": {},
    "EstimateOptions": {},
    "ForgetOptions": {},
    "InterestingOptions": {},
    "JudgeOptions": {"model": "m", "scale": postil.Scale(1, 5)},
    "Scale": {"low": 1, "high": 5},
    "agreement": {"judgements": RATINGS},
    "build_corpus": {"articles": ["none.jsonl"], "out": "corpus", "options": None},
    "calibrate": {"model": "none", "labels": [{"article": "a", "text": "t", "show": True}]},
    "compare": {"scores": ITEM_SCORES},
    "compare_interleaved": {"log": IMPRESSIONS},
    "compare_preferences": {"preferences": PREFERENCES},
    "consensus_weights": {"references": REFERENCES},
    "correlate": {"scores": {"m": [1, 2, 4]}, "grades": [1, 2, 3]},
    "budget": {"scores": {"m": [*range(12)]}, "grades": [*range(1, 10), None, None, None]},
    "apply_combination": {"scores": {"m": [1, 2, 4]}, "model": "none"},
    "fit_combination": {"scores": {"m": [*range(12)]}, "grades": [i % 7 for i in range(12)]},
    "estimate": {"scores": {"m": [1, 2, 4]}, "grades": [1, 2, None]},
    "estimate_mean": {"grades": [1, 2, 4], "scores_graded": [1, 2, 3], "scores_ungraded": [2, 3]},
    "evaluate_commenters": {"commenters": ["none"], "corpus": "none"},
    "forget": {"models": ["none"], "options": postil.ForgetOptions(comments=("a:c",))},
    "highlight": {"result": example("interesting"), "path": "none"},
    "interesting": {"source": "none"},
    "judge": {"candidates": "none", "options": None},
    "judge_pairs": {"candidates": "none", "options": None},
    "results_schema": {},
    "load_commenter": {"folder": "none"},
    "parse_metric": {"spec": "meteor"},
    "rank_passages": {"passages": TEXTS, "reference": ["a"], "weights": [1.0]},
    "register_metric": {"name": "mine"},
    "read_result": {"path": "none"},
    "score": {
        "candidates": TEXTS,
        "references": REFERENCES,
        "weights": [[1, 0.5], [0, 1]],
        "metrics": ["rouge-l", "w-rouge-l"],
    },
    "tokenizer": {"name": "words"},
    "update_model": {"model": "none", "corpus": "none"},
}
FUNCTIONS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    **{name: (getattr(postil, name), given) for name, given in CALLS.items()},
    "DocumentFrequencies.load": (postil.DocumentFrequencies.load, {"folder": "none"}),
    "Corpus.open": (postil.Corpus.open, {"path": "none"}),
    "EvaluateOptions": (EvaluateOptions, {}),
    "Judgement": (Judgement, {"item": "a", "system": "s", "annotator": "p", "grade": 1}),
    "Passage": (Passage, {"topic": "a", "id": "s", "text": "t"}),
    "Rating": (Rating, {"annotator": "a", "grade": 1}),
    "Reference": (Reference, {"item": "a", "text": "t"}),
    "Result.from_json": (postil.Result.from_json, {"text": SCORES.to_json()}),
    "Result.plot": (SCORES.plot, {"name": "meteor"}),
    "Result.save": (SCORES.save, {"path": "none"}),
    "Result.to_frame": (SCORES.to_frame, {"backend": "pandas"}),
    "Scale.parse": (postil.Scale.parse, {"text": "1:5"}),
    "Scale.weights": (postil.Scale(1, 5).weights, {"grades": [[1, 2], [3]]}),
}


def named(name: str) -> list[str]:
    """The parameters of a function, and the fields of its options, unless the call above has an options object."""
    call, given = FUNCTIONS[name]
    fields = [each for each in inspect.signature(call).parameters if each != "keywords"]
    if "options" in fields and "options" not in given:
        fields += keywords_of(call)
    return fields


def keywords_of(function: Any) -> list[str]:
    """Fields of the options of a function, and the keywords by which it reads its data."""
    given = inspect.signature(function).parameters
    options = getattr(inspect.getmodule(function), str(given["options"].annotation).split(" | ")[0])
    names = [each.name for each in dataclasses.fields(options) if each.name not in given]
    reading = READING.get(function.__name__)
    return list(dict.fromkeys([*(() if reading is None else reading.__annotations__), *names]))


READING = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "write_stub.py"))["READING"]
PARAMETERS = [(name, field) for name in FUNCTIONS for field in named(name)]
WRONG = (
    10**400,
    "2",
    "",
    b"x",
    2,
    0,
    -1,
    0.5,
    NAN,
    INF,
    None,
    True,
    [],
    [None],
    ["0.5"],
    [[]],
    [[None]],
    {},
    {"a": 1},
    {1: 2},
)


def call(name: str, /, **change: object) -> object:
    function, given = FUNCTIONS[name]
    if name == "build_corpus":
        given = given | {"options": postil.BuildOptions(source="s", license="l")}
    if name in {"judge", "judge_pairs"}:
        given = given | {"options": postil.JudgeOptions(model="m", scale=postil.Scale(1, 5), anchors="none")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**given | change)


def test_every_public_name_is_called() -> None:
    assert set(CALLS) == set(postil.__all__) - RESULTS - ERRORS - OTHER
    for name, (_, given) in FUNCTIONS.items():
        if not {"none", "corpus"} & set(map(str, given.values())) and name not in {"build_corpus", "forget"}:
            call(name)


@pytest.mark.parametrize(("name", "field"), PARAMETERS)
def test_no_argument_ends_in_another_error(
    name: str, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(postil.PostilError) as caught:
        call(name, **{field: object()})
    assert field in str(caught.value) or name in str(caught.value)
    assert "expected " in str(caught.value) or "Known: " in str(caught.value)
    for wrong in WRONG:
        try:
            call(name, **{field: wrong})
        except postil.PostilError as error:
            assert len(str(error)) < 1_000  # noqa: PT017 - most are taken by some and refused by others


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("score", {"jobs": "2"}, 'jobs: expected a whole number from 1 up, got "2"'),
        ("score", {"jobs": 0}, "jobs: expected a whole number from 1 up, got 0"),
        ("score", {"jobs": True}, "jobs: expected a whole number from 1 up, got True"),
        ("score", {"metrics": 3}, "metrics: expected a list of texts or functions or None, got 3"),
        ("score", {"metrics": ["rouge-l", None]}, "metrics: expected a list of texts or functions or None, got ['rou"),
        ("score", {"references": "a b"}, "references: expected a list or a column, got str"),
        ("score", {"references": ["a", "b"]}, "references:1: expected a list or a column, got str"),
        ("score", {"references": [["a", "b"], ["a", None]]}, "references:2: expected a text, as the first is one, go"),
        ("score", {"candidates": ["a", None]}, "candidates:2: expected a text, as the first is one, got NoneType"),
        ("score", {"items": ["a", None]}, "items:2: expected text or a number, got null"),
        ("score", {"items": ["a", NAN]}, "items:2: expected text or a number, got NaN"),
        ("score", {"background": "idf"}, 'background: expected a DocumentFrequencies or None, got "idf"'),
        ("score", {"controls": 3}, "controls: expected a ControlOptions or None, got 3"),
        ("score", {"weights": "0.5"}, "weights: expected a list or a column, got str"),
        ("score", {"weights": ["0.5", "1"]}, "weights:1: expected a list or a column, got str"),
        ("rank_passages", {"weights": ["0.5"]}, 'weights:1: expected a number from 0 to 1, got "0.5"'),
        ("rank_passages", {"weights": [True]}, "weights:1: expected a number from 0 to 1, got true"),
        ("rank_passages", {"k": "3"}, 'k: expected a whole number from 0 up or None, got "3"'),
        ("correlate", {"scores": {"m": ["1", "2", "3"]}}, 'm:1: expected a number, got "1"'),
        ("correlate", {"scores": [1, 2, 3]}, "scores: expected columns by name, got [1, 2, 3]"),
        ("correlate", {"scores": {3: [1, 2, 3]}}, "scores: expected columns by name, got {3: [1, 2, 3]}"),
        ("correlate", {"options": {"by": "item"}}, "options: expected a CorrelateOptions or None, got {'by': 'item'}"),
        ("build_corpus", {"articles": "a.jsonl"}, "articles: expected a list of paths or a data frame or a list of"),
        ("build_corpus", {"articles": []}, "articles: expected at least one file, got none"),
        ("build_corpus", {"jobs": "2"}, 'jobs: expected a whole number from 1 up or None, got "2"'),
        ("build_corpus", {"jobs": 2.0}, "jobs: expected a whole number from 1 up or None, got 2.0"),
        ("load_commenter", {"folder": None}, "folder: expected a path, got None"),
        ("Scale", {"low": "1"}, 'low: expected a number, got "1"'),
        ("DecodingOptions", {"beam_size": "5"}, 'beam_size: expected a whole number, got "5"'),
        ("ControlOptions", {"draws": None}, "draws: expected a whole number, got None"),
        ("BuildOptions", {"mask": "emails"}, 'mask: expected a list of texts, got "emails"'),
        ("parse_metric", {"spec": None}, "spec: expected text, got None"),
        ("tokenizer", {"name": 3}, "unknown tokenizer '3'; did you mean '13a'? Known: "),
    ],
)
def test_what_a_refusal_says(name: str, change: dict[str, object], told: str) -> None:
    with pytest.raises(postil.PostilError) as caught:
        call(name, **change)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("weight", ["0.5", None, True, 10**400, NAN, INF, -INF, -1.5, 1.5, [0.5], "x", object()])
@pytest.mark.parametrize("beside", [1.0, 1, "1"])
def test_weights_are_numbers(weight: object, beside: object) -> None:
    wrong = weight if beside != "1" else beside
    with pytest.raises(postil.InvalidInput) as caught:
        call("score", weights=[[1, 0.5], [beside, weight]])
    shape = isinstance(wrong, list)
    assert str(caught.value).startswith("weights:2: expected a ")
    assert shape or "expected a number from 0 to 1, got " in str(caught.value)
