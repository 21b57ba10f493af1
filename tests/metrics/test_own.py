"""Own metrics: functions and classes that are metrics like others, and what is said of those that are not."""

# ruff: noqa: ARG001, ARG002, ARG005
from __future__ import annotations

import math
import re
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import postil
from postil.errors import PostilError, UnknownName, UsageError
from postil.metrics.base import Metric, Scorer
from postil.metrics.own import MetricFailed, define
from postil.metrics.spec import METRICS, known_metric, parse_metric, register_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")

CANDIDATES = ["Yes!", "a b", "no"]
REFERENCES = [["yes", "Yes!"], ["a b"], ["a", "b", "no"]]
WEIGHTS = [[1.0, 0.5], [0.25], [0.0, 0.5, 0.75]]


def equal(candidate: str, references: list[str]) -> bool:
    return candidate in references


def best_equal(candidate: str, references: list[str], weights: list[float]) -> float:
    return max(weight * (candidate == text) for text, weight in zip(references, weights, strict=True))


def score(*metrics: object, weighted: bool = False, **more: Any) -> postil.ScoreResult:
    weights = WEIGHTS if weighted else None
    return postil.score(CANDIDATES, REFERENCES, weights=weights, metrics=metrics, **more)  # type: ignore[arg-type]


def test_a_function_is_a_metric_under_its_name() -> None:
    found = score("rouge-1", equal, best_equal)
    assert list(found.corpus) == ["rouge-1", "equal", "best_equal"]
    assert found.items["equal"].tolist() == found.items["best_equal"].tolist() == [1.0, 1.0, 1.0]
    assert re.fullmatch(r"equal\|source:[0-9a-f]{12}\|references:1-3\|postil:.*", found.signatures["equal"])
    alone = postil.score(CANDIDATES, REFERENCES, metrics=equal)  # as one spec may stand alone
    assert alone.corpus == {"equal": 1.0}


def test_it_gets_the_texts_as_they_are() -> None:
    seen: list[object] = []

    def see(candidate: str, references: list[str], weights: list[float]) -> float:
        seen.append((candidate, list(references), weights))
        references.clear()  # which is nobody's loss
        return 0.0

    score(see, tokenizer="words")
    score(see, weighted=True)
    rows = list(zip(CANDIDATES, REFERENCES, strict=True))
    expected = [(text, texts, [1.0] * len(texts)) for text, texts in rows]
    assert seen == expected + [(text, texts, row) for (text, texts), row in zip(rows, WEIGHTS, strict=True)]
    seen.clear()
    found = postil.score([["A", "b"]], [[["C", "d"], ["e"]]], metrics=[see])
    assert seen == [("A b", ["C d", "e"], [1.0, 1.0])]
    assert "|tokenizer:given|" in found.signatures["see"]


def test_weights_are_those_of_the_call_and_of_the_spec() -> None:
    with_weights, without = [0.5, 0.25, 0.75], [1.0, 1.0, 1.0]
    found = score(best_equal, weighted=True)
    assert found.items["best_equal"].tolist() == with_weights
    assert found.signatures["best_equal"].startswith("w-best_equal|source:")
    register_metric(best_equal)
    found = score("best_equal", "w-best_equal", weighted=True)
    assert [found.items[name].tolist() for name in ("best_equal", "w-best_equal")] == [without, with_weights]
    with pytest.raises(postil.InvalidInput, match="weights: missing; a w- metric needs a weight"):
        score("w-best_equal")
    register_metric(equal)
    with pytest.raises(UsageError, match=r"^w-equal: equal reads no weights; give its function a third argument, w"):
        parse_metric("w-equal")


def test_weights_are_those_of_a_table() -> None:
    texts = [{"item": i, "text": text} for i, text in enumerate(CANDIDATES)]
    rows = [
        {"item": i, "text": text, "weight": weight, "grade": 5 * weight}
        for i, row in enumerate(zip(REFERENCES, WEIGHTS, strict=True))
        for text, weight in zip(*row, strict=True)
    ]
    without = [{key: row[key] for key in ("item", "text", "grade")} for row in rows]
    weighted = [{key: row[key] for key in ("item", "text", "weight")} for row in rows]
    expected = [0.5, 0.25, 0.75]
    assert postil.score(texts, weighted, metrics=[best_equal]).items["best_equal"].tolist() == expected
    assert postil.score(texts, without, metrics=[best_equal]).items["best_equal"].tolist() == [1.0, 1.0, 1.0]
    graded = postil.score(texts, without, metrics=best_equal, scale=postil.Scale(0, 5), weights="score")
    assert graded.items["best_equal"].tolist() == expected


def keyword(candidate: str, references: list[str], *, weights: list[float], scale: float = 1) -> float:
    return best_equal(candidate, references, weights) * scale


def later(candidate: str, references: list[str], scale: float = 1, weights: list[float] | None = None) -> float:
    return best_equal(candidate, references, weights or []) * scale


def unnamed(a: str, b: list[str], c: list[float], /) -> float:
    return best_equal(a, b, c)


@pytest.mark.parametrize("function", [keyword, later, unnamed])
def test_weights_are_found_wherever_they_stand(function: Callable[..., float]) -> None:
    assert score(function, weighted=True).items[function.__name__].tolist() == [0.5, 0.25, 0.75]
    (made,) = (define(function),)
    assert str(made(weighted=True)) == f"w-{function.__name__}" + ("(scale=1)" if function is not unnamed else "")


def test_parameters_are_those_of_specs() -> None:
    @register_metric(name="my-metric", low=0, high=10, version="2")
    def made(
        candidate: str,
        references: list[str],
        alpha: float = 2,
        k: int = 1,
        kind: Literal["a", "b"] = "a",
        *,
        lower: bool = False,
        model: str | None = None,
        untyped=0.5,  # type: ignore[no-untyped-def]
        pair: tuple[int, int] = (3, 4),
    ) -> float:
        return alpha + k + (kind == "b") + lower + bool(model) + untyped + pair[0] + len(candidate) * 0

    metric = parse_metric("my-metric(alpha=.5,lower=true,kind=b,model=x y/z)")
    assert str(metric) == "my-metric(alpha=0.5,k=1,kind=b,lower=true,model=x y/z,untyped=0.5)"
    assert parse_metric(str(metric)) == metric != parse_metric("my-metric")
    assert hash(parse_metric(str(metric))) == hash(metric)
    assert score("my-metric").corpus == {"my-metric": 6.5}
    assert score(str(metric)).corpus == {str(metric): 8.0}
    assert (
        score("my-metric")
        .signatures["my-metric"]
        .startswith("my-metric(alpha=2,k=1,kind=a,lower=false,untyped=0.5)|version:2|references:1-3|")
    )
    for wrong, told in (
        ("my-metric(pair=3)", "unknown parameter of my-metric 'pair'. Known: "),
        ("my-metric(k=1.5)", "k: expected a whole number, got '1.5'"),
        ("my-metric(kind=c)", "unknown value of kind 'c'"),
        ("my-metrik", "unknown metric 'my-metrik'; did you mean 'my-metric'"),
    ):
        with pytest.raises(UsageError, match=re.escape(told)):
            parse_metric(wrong)


@pytest.mark.parametrize("batched", [False, True])
def test_a_class_is_made_when_it_is_needed_and_once(batched: bool) -> None:
    made: list[object] = []

    @register_metric(name="model", batched=batched)
    class Model:
        def __init__(self, size: int = 1) -> None:
            made.append(size)
            self.size = size

        def __call__(self, candidates: Any, references: Any) -> Any:
            return [self.size] * len(candidates) if batched else self.size

    assert parse_metric("model(size=3)") == parse_metric("model(size=3)")
    assert made == []
    assert score("model(size=3)", "model").corpus == {"model(size=3)": 3.0, "model": 1.0}
    score("model(size=3)")
    assert made == [3, 1]


def test_references_with_a_default_are_references() -> None:
    def known(candidate: str, references: object = "") -> int:
        return len(references)  # type: ignore[arg-type]  # whatever it is

    assert postil.score(["a"], [["b", "c"]], metrics=[known]).items["known"].tolist() == [2.0]


def test_a_dataclass_has_its_fields_as_parameters() -> None:
    @dataclass
    class Longer:
        than: int = 3
        lower: bool = False

        def __call__(self, candidate: str, references: list[str], weights: list[float]) -> bool:
            return len(candidate) > self.than

    register_metric(name="longer", version="1")(Longer)
    assert str(parse_metric("w-longer(than=2)")) == "w-longer(than=2,lower=false)"
    assert score("longer(than=2)").items["longer(than=2)"].tolist() == [1, 1, 0]
    assert list(score(Longer).corpus) == ["longer"]  # it is registered under that name


def test_a_function_of_the_candidate_alone_needs_no_references() -> None:
    def marks(candidate: str, mark: str = "!") -> int:  # with the default of a parameter, it is none of references
        return candidate.count(mark)

    def optional(candidate: str, references: list[str] | None = None) -> int:
        return len(references or [])

    found = postil.score(CANDIDATES, metrics=[marks, len], items=[1, 2, 2], systems=["a", "a", "b"])
    assert found.items["marks"].tolist() == [1.0, 0.0, 0.0]
    assert found.items["len"].tolist() == [4.0, 3.0, 2.0]
    assert (found.item_names, found.system_names) == (("1", "2", "2"), ("a", "a", "b"))
    assert re.fullmatch(r"marks\(mark=!\)\|source:[0-9a-f]{12}\|postil:.*", found.signatures["marks"])
    assert not found.equal_references
    both = score(marks, optional)
    assert (both.items["marks"].tolist(), both.signatures["marks"]) == ([1.0, 0.0, 0.0], found.signatures["marks"])
    assert both.items["optional"].tolist() == [2.0, 1.0, 3.0]


def test_batches_and_tables_without_references() -> None:
    @register_metric(batched=True, batch_size=2)
    class Lengths:
        def __call__(self, candidates: list[str]) -> list[int]:
            return list(map(len, candidates))

    rows = [{"item": "1", "text": "a b"}, {"item": "2", "text": "."}, {"item": "3", "text": "c"}]
    found = postil.score(rows, metrics=["Lengths"], controls=postil.ControlOptions())
    assert {name: values.tolist() for name, values in found.items.items()} == {
        "Lengths": [3.0, 1.0, 1.0],
        "control:length": [2.0, 0.0, 1.0],
    }
    assert not found.equal_references
    tokens = postil.score([["a", "b"], ["c"]], metrics="Lengths")
    assert tokens.items["Lengths"].tolist() == [3.0, 1.0]


def test_what_needs_references_says_so() -> None:
    def marks(candidate: str) -> int:
        return candidate.count("!")

    with pytest.raises(
        UsageError, match=r"expected references \(references=…\), which rouge-1 and equal read; a metric"
    ):
        postil.score(CANDIDATES, metrics=["rouge-1", marks, equal])
    with pytest.raises(UsageError, match="which bleu-4, meteor, rouge-l and cider-d read"):
        postil.score(CANDIDATES)
    with pytest.raises(UsageError, match="weights is of references, and there are none"):
        postil.score(CANDIDATES, metrics=marks, weights=WEIGHTS)
    rows = [{"item": 1, "text": "a"}]
    with pytest.raises(UsageError, match="scale is of references, and there are none"):
        postil.score(rows, metrics=marks, scale=postil.Scale(1, 5))
    with pytest.raises(UsageError, match="w-marks: marks reads no weights"):
        define(marks)(weighted=True)
    register_metric(low=0)(marks)
    with pytest.raises(UsageError, match="consensus: expected a metric that compares texts, got 'marks'"):
        postil.consensus_weights([["a", "b"]], metric="marks")


def test_batches() -> None:
    sizes: list[int] = []

    @register_metric(batched=True, batch_size=2, name="batch")
    def many(candidates: list[str], references: list[list[str]], weights: list[list[float]]) -> NDArray[np.float32]:
        sizes.append(len(candidates))
        rows = zip(candidates, references, weights, strict=True)
        return np.array([best_equal(*row) for row in rows], dtype=np.float32)

    assert score("w-batch", weighted=True).items["w-batch"].tolist() == [0.5, 0.25, 0.75]
    assert score("batch").items["batch"].tolist() == [1, 1, 1]
    assert sizes == [2, 1, 2, 1]


@pytest.mark.parametrize("returns", [tuple, iter, np.array, lambda values: np.array(values, dtype=object)])
def test_what_a_batch_may_return(returns: Callable[[list[float]], object]) -> None:
    @register_metric(batched=True)
    def batch(candidates: Sequence[str], references: Sequence[list[str]], *, weights: Sequence[list[float]]) -> object:
        return returns([best_equal(*row) for row in zip(candidates, references, weights, strict=True)])

    assert score("w-batch", weighted=True).items["w-batch"].tolist() == [0.5, 0.25, 0.75]


def test_controls_are_computed_with_the_function() -> None:
    options = postil.ControlOptions(draws=2, best=1)
    with_function = score("w-rouge-1", best_equal, weighted=True, controls=options)
    expected = {"control:best-1(best_equal)": [0.0, 1.0, 1.0], "control:nearest(best_equal)": [0.5, 0.25, 0.75]}
    for name, values in expected.items():
        assert with_function.items[name].tolist() == values
    drawn = [values[1] for name, values in with_function.items.items() if name.startswith("control:shuffled(best_")]
    assert drawn == [0.25, 0.25]  # with one reference nothing is shuffled
    assert [*score(equal, controls=options).items] == ["equal", "control:length"]


def test_where_lower_is_better_the_nearest_is_the_lowest() -> None:
    @register_metric(better="low", low=0)
    def difference(candidate: str, references: list[str], weights: list[float]) -> float:
        return float(min(abs(len(candidate) - len(text)) for text in references))

    result = postil.score(
        ["aaa"], [["aa", "a"]], weights=[[0.5, 1]], metrics=["w-difference"], controls=postil.ControlOptions(draws=1)
    )
    assert result.items["control:nearest(w-difference)"].tolist() == [0.5]
    assert "|better:low|" in result.signatures["w-difference"]
    again = postil.correlate(
        {"difference": [0, 1, 2, 3]}, [4, 3, 3, 1], signatures={"difference": result.signatures["w-difference"]}
    )
    assert again.correlations[0].value > 0.9


def test_consensus_may_take_a_function() -> None:
    register_metric(name="same-start", low=0, high=1)(lambda candidate, references: candidate[0] == references[0][0])
    assert postil.consensus_weights([["a b", "a c", "d"]], metric="same-start") == [[1.0, 1.0, 0.0]]
    register_metric(name="minus")(lambda candidate, references: -1.0)
    with pytest.raises(UsageError, match="consensus: expected a metric from 0 up where higher is better, got 'minus'"):
        postil.consensus_weights([["a", "b"]], metric="minus")


@dataclass(frozen=True, kw_only=True)
class Ratio(Metric):
    """A metric whose corpus score is a ratio of sums."""

    wrong: str = ""
    name = "ratio"

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        if self.wrong == "bind":
            raise ValueError("no such model")
        return RatioScorer(self, references)


class RatioScorer(Scorer):
    metric: Ratio

    def measure(self, matches: Matches) -> NDArray[np.float64]:
        lengths = np.diff(matches.candidates.offsets).astype(np.float64)
        if self.metric.wrong == "raise":
            raise RuntimeError("out of memory")
        if self.metric.wrong == "shape":
            return lengths
        top = np.full(len(lengths), np.nan) if self.metric.wrong == "nan" else np.ones(len(lengths))
        return np.stack([top, lengths], axis=1)


def test_a_metric_class_has_statistics_of_its_own() -> None:
    register_metric(version="7")(Ratio)
    try:
        found = score("ratio")
        assert found.corpus["ratio"] == 3 / 4
        assert found.items["ratio"].tolist() == [1.0, 0.5, 1.0]
        assert found.signatures["ratio"].startswith("ratio(wrong=)|version:7|tokenizer:words-2|")
        for wrong, told in (
            ("bind", "ratio raised ValueError: no such model"),
            ("raise", "ratio raised RuntimeError: out of memory"),
            ("shape", "ratio measured an array of shape (3,); expected float64[3, 2], with 2 the metric's width"),
            ("nan", "ratio measured statistics that are not finite"),
        ):
            with pytest.raises(MetricFailed, match=re.escape(told)):
                score(f"ratio(wrong={wrong})")
    finally:
        Ratio.origin = ""


def test_classes_that_are_no_metrics() -> None:
    class Bare(Metric):
        pass

    @dataclass(frozen=True, kw_only=True)
    class Abstract(Metric):
        pass

    @dataclass
    class NoCall:
        pass

    for given, told in (
        (Bare, "metric Bare: expected a dataclass: @dataclass(frozen=True, kw_only=True)"),
        (Abstract, "metric Abstract: expected a class that can be made without arguments: Can't instantiate"),
        (
            NoCall,
            "metric NoCall: expected a function of (candidate), (candidate, references) or (candidate, references",
        ),
    ):
        with pytest.raises(UsageError, match=re.escape(told)):
            register_metric(given)
    with pytest.raises(UsageError, match="metric other: expected the name that the class has itself, 'ratio'"):
        register_metric(name="other")(Ratio)
    with pytest.raises(UsageError, match="metric Ratio: better, low and high are attributes of the class; set them"):
        register_metric(low=0)(Ratio)


def raises(candidate: str, references: list[str]) -> float:
    return 1 / (len(candidate) - 3)


def returns(value: object) -> Callable[[str, list[str]], object]:
    def given(candidate: str, references: list[str]) -> object:
        return value if candidate == "a b" else 0.5

    return given


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            raises,
            (
                "candidates:2: raises raised ZeroDivisionError: division by zero, "
                f'line {raises.__code__.co_firstlineno + 1} of test_own.py (candidate "a b"'
            ),
        ),
        (returns(None), 'candidates:2: given returned None; expected a finite number (candidate "a b")'),
        (returns(math.nan), "given returned nan; expected a finite number"),
        (returns(math.inf), "given returned inf; expected a finite number"),
        (returns(10**400), "expected a finite number"),
        (returns("0.5"), 'given returned "0.5"; expected a finite number'),
        (returns(np.array([1.0])), 'given returned ndarray "array([1.])"; expected a finite number'),
        (returns(np.array(1.0)), "given returned ndarray"),
        (returns([1.0]), 'given returned list "[1.0]"; expected'),
        (returns(1j), "given returned complex"),
    ],
)
def test_what_a_function_does_wrong(function: Callable[..., object], told: str) -> None:
    with pytest.raises(PostilError, match=re.escape(told)) as caught:
        score("rouge-1", function)
    assert caught.value.exit_code == 1
    assert isinstance(caught.value.__cause__, ZeroDivisionError) == (function is raises)


@pytest.mark.parametrize("value", [True, np.float32(1), np.int8(1), np.True_, 1])
def test_numbers_of_all_kinds(value: object) -> None:
    assert score(returns(value)).items["given"].tolist() == [0.5, 1.0, 0.5]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "batch returned None; expected 2 numbers (2 candidates at once, the first of them"),
        (0.5, "batch returned 0.5; expected 2 numbers"),
        ("ab", 'batch returned "ab"; expected 2 numbers'),
        ({"a": 1, "b": 2}, "batch returned dict"),
        ([0.5], "batch returned 1 scores; expected 2 numbers"),
        (
            np.ones((2, 2)),
            'candidates:1: batch returned list "[1.0, 1.0]"; expected a finite number (candidate "Yes!")',
        ),
        ([0.5, None], 'candidates:2: batch returned None; expected a finite number (candidate "a b")'),
        ((1 / each for each in (1, 0)), "candidates:1: batch raised ZeroDivisionError"),
    ],
)
def test_what_a_batched_function_does_wrong(value: object, told: str) -> None:
    @register_metric(batched=True, batch_size=2)
    def batch(candidates: list[str], references: list[list[str]]) -> object:
        return value

    with pytest.raises(MetricFailed, match=re.escape(told)):
        postil.score(CANDIDATES[:2], REFERENCES[:2], metrics=["batch"])


def test_a_score_out_of_the_range_is_refused() -> None:
    @register_metric(low=-1, high=1)
    def ranged(candidate: str, references: list[str], *, value: float = 0) -> float:
        return value

    assert score("ranged(value=1)", "ranged(value=1.0000001)", "ranged(value=-1)").corpus["ranged(value=-1)"] == -1
    for value in (1.01, -2):
        with pytest.raises(MetricFailed, match=f"ranged returned {value}; expected a number from -1 to 1, the range"):
            score(f"ranged(value={value})")


def test_an_error_within_a_control_has_the_text() -> None:
    @register_metric
    def two(candidate: str, references: list[str], weights: list[float]) -> float:
        return 1.0 if len(references) == 2 else 1 / 0

    with pytest.raises(MetricFailed, match=r"two raised ZeroDivisionError.*\(candidate \"a\"\)"):
        postil.score(["a"], [["b", "c"]], weights=[[1, 0]], metrics=["w-two"], controls=postil.ControlOptions(draws=1))


@pytest.mark.parametrize(
    "given",
    [
        lambda: 1,
        lambda candidate, *, alpha: 1,
        lambda candidate, *, weights: 1,
        lambda candidate, references, weights, more: 1,
        lambda candidate, references, *, needed: 1,
        lambda *everything: 1,
        int,
    ],
)
def test_other_signatures_are_refused(given: Callable[..., object]) -> None:
    with pytest.raises(UsageError, match=r"^metric x: expected a function of \(candidate\), \(candidate, ref.*; got "):
        register_metric(name="x")(given)


def test_what_else_is_no_metric() -> None:
    async def waits(candidate: str, references: list[str]) -> float:
        return 1.0

    def taken(candidate: str, references: list[str], *, better: str = "high") -> float:
        return 1.0

    for given, told in (
        (waits, "metric waits: expected a function of (candidate), (candidate, references)"),
        (taken, "metric taken: every metric has a 'better' of its own; rename the parameter"),
        (lambda candidate, references: 1, "metric <lambda>: expected a name of letters, digits"),
    ):
        with pytest.raises(UsageError, match=re.escape(told)):
            score(given)
    for name in ("w-x", "a b", "a(b)", "", "control:x", "3x", "a,b", "a=b"):
        with pytest.raises(UsageError, match=re.escape(f"metric '{name}': expected a name of letters, digits")):
            register_metric(name=name)(equal)
    for options, told in (
        ({"better": "up"}, "metric equal: better: expected high or low, got up"),
        ({"low": 1, "high": 1}, "metric equal: expected low below high, got 1 and 1"),
        ({"batched": True, "batch_size": 0}, "metric equal: batch_size: expected at least 1, and batched=True, got 0"),
        ({"batch_size": 8}, "metric equal: batch_size: expected at least 1, and batched=True, got 8"),
        ({"version": "a|b"}, "version: expected text without blanks and |, got 'a|b'"),
        ({"low": "0"}, 'low: expected a number or None, got "0"'),
    ):
        with pytest.raises(UsageError, match=re.escape(told)):
            register_metric(**options)(equal)  # type: ignore[call-overload]


def test_names_are_those_of_one_metric() -> None:
    for name in METRICS:
        with pytest.raises(UsageError, match=re.escape(f"metric {name}: the package has one of that name")):
            register_metric(name=name)(equal)
    register_metric(name="mine")(equal)
    register_metric(name="mine")(equal)  # as a cell of a notebook that runs again
    again = types.FunctionType(equal.__code__, {"__name__": "another_name_of_the_module"}, "equal")
    register_metric(name="mine")(again)
    register_metric(name="mine")(equal)
    with pytest.raises(UsageError, match=r"metric mine: two have this name, .*\.equal and .*\.best_equal; register_"):
        register_metric(name="mine")(best_equal)

    def mine(candidate: str, references: list[str]) -> float:
        return 0.0

    with pytest.raises(UsageError, match="metric mine: two have this name"):
        score(mine)
    with pytest.raises(UsageError, match="metrics: two are called given;"):
        score(returns(1), returns(2))
    one = returns(1)
    assert list(score(one, one, "mine", equal).corpus) == ["given", "mine"]


def test_names_may_have_underscores_and_other_letters() -> None:
    for name in ("my_metric", "Ähnlich", "f++", "v1.2", "_x"):
        register_metric(name=name, version="1")(equal)
        assert str(parse_metric(name)) == name
    assert known_metric("my_metric(alpha=1)") is None
    assert known_metric("nobody") is None
    with pytest.raises(UnknownName, match=r"Known: .*meteor.*, my_metric, Ähnlich"):
        parse_metric("my-metrics")


def test_source_is_hashed_where_there_is_one() -> None:
    assert define(equal).origin == define(equal).origin != define(best_equal).origin
    spaces: dict[str, Any] = {}
    exec("def typed(candidate, references): return 1", spaces)  # noqa: S102
    assert define(spaces["typed"]).origin == "source:unknown"
