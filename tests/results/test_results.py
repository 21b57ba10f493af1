"""Results: their JSON and its mistakes, and how they show themselves: one line, a table, frames, formats, pictures."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import msgspec
import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from msgspec.structs import replace

import postil
from postil.capabilities import capabilities, load
from postil.correlation.chapter import first_differences
from postil.correlation.result import CorrelationResult
from postil.correlation.view import Lookup
from postil.errors import InvalidInput, MissingExtra, UnknownName, UsageError
from postil.meta.parts import HumanAgreement
from postil.metrics.result import ScoreResult, SystemScore
from postil.results.base import Result, to_json
from postil.results.table_options import TableOptions
from postil.results.views import LONGEST, SHOWN, show
from result_examples import EXAMPLES, KINDS, correlated, difference, example, gained, renamed, typed, write_report

if TYPE_CHECKING:
    from pathlib import Path


def of_meteor(value: float = 0.5) -> ScoreResult:
    row = SystemScore(system="a", metric="meteor", score=value, n=2, signature="s")
    return ScoreResult(scores=(row,), aggregation="corpus", items={"meteor": np.array([0.25, value])})


def test_scores_compare_by_their_numbers() -> None:
    assert of_meteor() == of_meteor()
    assert hash(of_meteor()) == hash(of_meteor())
    assert of_meteor() != of_meteor(0.75)
    assert of_meteor() != "scores"


def test_json_begins_with_schema_and_kind() -> None:
    said = json.loads(to_json(of_meteor()))
    assert list(said)[:2] == ["schema", "kind"]
    assert said["items"] == {"meteor": [0.25, 0.5]}
    assert "name" not in said


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(of_meteor(float("nan")))


def test_unknown_fields_are_ignored() -> None:
    read = msgspec.convert({"reason": "one rating each", "more": 1}, HumanAgreement)
    assert read == HumanAgreement(reason="one rating each")


WARNINGS = [
    "near(x): the mean weight of the references falls (pearson -.4 [-.6, -.2]); over=near follows that mean",
    "1 of 20 candidates is a reference of its own item, so a metric compares it with itself",
    "few outliers rule pearson by pool of x: other items may have outliers that these have not",
]


def older(value: Any) -> Any:
    """The JSON of a result without the fields that were added where sentences told the same."""
    if isinstance(value, dict):
        return {name: older(each) for name, each in value.items() if name not in {"kept", "warnings", "unused"}}
    return [older(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", EXAMPLES)
def test_results_of_earlier_versions_have_the_facts_of_their_sentences(kind: str) -> None:
    unused = "scores not used: 5 graded items (8 needed); the results are those of the ratings alone"
    more: dict[str, object] = {
        "correlate": {"notes": ["another note", *WARNINGS], "warnings": WARNINGS},
        "estimate": {"notes": ["another note", unused], "unused": unused},
    }.get(kind, {})
    value = json.loads(example(kind).to_json()) | more
    assert Result.from_dict(older(value)) == Result.from_dict(value)


def changed(place: str, value: Any, result: dict[str, Any] | None = None) -> dict[str, Any]:
    found = result or correlated()
    inner: Any = found
    *way, last = place.split(".")
    for key in way:
        inner = inner[int(key) if key.isdigit() else key]
    inner[last] = value
    return found


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (5, "expected an object in braces, got 5"),
        ({}, "schema: expected 1, got none"),
        ({"schema": 2, "kind": "compare"}, "schema: expected 1, got 2"),
        ({"schema": 1}, "kind: expected one of score, judge,"),
        ({"schema": 1, "kind": "demo"}, ', got "demo"'),
        ({"schema": 1, "kind": []}, ", got an array"),
        (changed("correlations.1.value", float("nan")), "correlations[1].value: expected a finite number, got NaN"),
        (changed("correlations.1.value", float("inf")), "correlations[1].value: expected a finite number"),
        (changed("correlations.1.value", "much"), "correlations[1].value: expected a number"),
        (changed("correlations.1.low", None), "expected an interval from low to high, got None and 0.6"),
        (changed("correlations.1.low", 0.9), "expected an interval from low to high, got 0.9 and 0.6"),
        (changed("systems.0.system", "a\ud800"), "systems[0].system: expected text"),
        (changed("agreement.confusion", [[1]]), "expected counts for each of 2 labels"),
        (changed("points.scores", {"meteor": [1.0]}), "points: expected a score for each of 3 grades"),
        (changed("data", None), "data: expected an object"),
        (changed("gains.0.ncg", "high", gained()), "gains[0].ncg: expected a number, got text"),
        (changed("gains.0.k", 1.5, gained()), "gains[0].k: expected an integer"),
        (changed("gains.0.low", 0.9, gained()), "gains[0]: expected an interval from low to high"),
        (changed("gains.0.leave_one_out", "no", gained()), "gains[0].leave_one_out: expected true or false, got text"),
        (changed("differences.3.p_holm", None, gained()), "differences[3].p_holm: expected a number, got null"),
        (changed("lines.1.k", [1, 5, 5], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.k", [0, 5, 9], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.k", [], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.ncg", [0.5], gained()), "lines[1]: expected a number for each of 3 rank cutoffs"),
        (changed("lines.1.low", None, gained()), "lines[1]: expected a band with two edges"),
        (changed("settings.reference", "both", gained()), 'settings.reference: expected others or topic, got "both"'),
        (changed("settings.pool", "each", gained()), 'settings.pool: expected all or topic, got "each"'),
        (changed("data.topics", "many", gained()), "data.topics: expected an integer, got text"),
    ],
)
def test_what_no_command_makes(result: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_report([result], tmp_path / "r.html")
    assert problem in str(caught.value)
    assert "`" not in str(caught.value)
    assert not list(tmp_path.iterdir())


HOSTILE = "<script>alert('1')</script>\"&amp;' onload=x ]]> \\input{x}_%$#&{}~^ \n\x1b[31m\u202e"


PICTURES = {
    "audit": [
        *("pearson", "acc-eq", "differences-pearson", "pairs-pearson", "scores"),
        *("alt-test", "reliability", "reliability-linear", "raters"),
    ],
    "budget": ["power", "widths"],
    "agreement": ["confusion", "annotators"],
    "combine": ["grades", "calibration"],
    "calibration": ["precision"],
    "screen-training": ["precision"],
    "commenters": ["scores", "meteor", "cider"],
    "compare": ["meteor"],
    "correlate": ["pearson", "differences-pearson", "pairs-pearson", "scores"],
    "estimate": ["estimates", "widths", "difference-widths", "differences"],
    "evaluation": ["mrr"],
    "interleaving": ["preferences"],
    "judge": ["grades", "controls"],
    "judge-pairs": ["strengths"],
    "passages": ["best", "f1", "kl", "baselines", "w-f1"],
    "preferences": ["strengths"],
    "score": ["scores", "bleu-1", "meteor"],
    "statistics": ["categories"],
    "study": ["Sizes"],
    "summaries": ["meteor"],
    "thread-orders": ["pairwise"],
    "training": ["losses"],
    "weights-plan": ["coverage"],
    "wmt": ["system-pearson", "pool-pearson"],
}
"""Names of the pictures by kind; the other kinds have none."""


def scored(*systems: str) -> postil.ScoreResult:
    rows = [SystemScore(system=name, metric="rouge-l", score=0.5, n=2, signature="rouge-l|postil") for name in systems]
    return postil.ScoreResult(scores=tuple(rows), aggregation="corpus", items={"rouge-l": np.zeros(1000)})


class Tags(HTMLParser):
    """The tags of a text, which must be closed in order, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_kind_has_an_example_and_a_view() -> None:
    known = {name: load(each, kind.struct) for each in capabilities() for name, kind in each.kinds.items()}
    assert {str(cls.__struct_config__.tag) for cls in known.values()} == set(KINDS) == set(known)
    assert set(known.values()) == set(Result.__subclasses__())
    for capability in capabilities():
        for found in capability.kinds.values():
            assert callable(load(capability, found.view))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_repr_is_one_short_line(kind: str) -> None:
    for result in (example(kind), renamed(example(kind), HOSTILE * 20), replace(example(kind), name="x" * 200)):
        line = repr(result)
        assert line.isprintable()
        assert len(line) <= LONGEST
        assert line.startswith(f"{type(result).__name__}(")
        assert line.endswith(")")


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("score", "ScoreResult(2 systems, 2 metrics, 6 texts; best bleu-1 .500 (b), meteor .750)"),
        (
            "compare",
            "Comparison(4 systems, 2 metrics, 9 items; significantly different from tfidf: 2 of 3 by meteor)",
        ),
        (
            "correlate",
            (
                "CorrelationResult(3 metrics, 40 texts, 2 annotators; best pearson .500 (w-meteor); "
                "control:top(w-meteor) .550)"
            ),
        ),
        ("summaries", "SummaryResult(2 systems, 3 topics, 6 summaries; best meteor .250 (b))"),  # lower is better
        ("training", "TrainingResult(2 dev evaluations; best perplexity 244.7 at step 500)"),
    ],
)
def test_repr_says_what_matters(kind: str, line: str) -> None:
    assert repr(example(kind)) == line


WHOLE = "The tram to the harbor comes every nine minutes, the bus never, and nobody on the night shift knows why."


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        ("interesting", ""),
        ("ranked-comments", "1 · 2 · 0.5000 · a question"),
        ("screening", "1 · hold · .900 · "),
        ("suggestions", ""),
        ("weights-plan", "reference 1 · gain "),
    ],
)
def test_where_eighty_columns_are_too_few_texts_are_whole_below_each_other(kind: str, about: str) -> None:
    found = Result.from_json(re.sub(r'"text":\s*"[^"]*"', f'"text": "{WHOLE}"', example(kind).to_json()))
    lines = show("table", found, width=80).split("\n\n\n")[0].splitlines()
    said = " ".join(" ".join(lines).split())
    assert WHOLE in said
    assert about in said
    assert max(len(line) for line in lines if line.startswith(("1. ", "   "))) <= 80
    assert WHOLE not in show("table", found)


def test_the_best_is_the_lowest_where_lower_is_better() -> None:
    def scores(signature: str) -> postil.ScoreResult:
        rows = [
            SystemScore(system=name, metric="ter", score=score, n=1, signature=signature)
            for name, score in zip("ab", (1, 2), strict=True)
        ]
        return postil.ScoreResult(scores=tuple(rows), aggregation="corpus")

    assert repr(scores("ter|better:low")) == "ScoreResult(2 systems, 1 metric, 2 texts; best ter 1.000 (a))"
    assert repr(scores("ter")) == "ScoreResult(2 systems, 1 metric, 2 texts; best ter 2.000 (b))"


def test_measures_of_two_references_are_told_apart() -> None:
    result = example("summaries")
    others = [replace(row, reference="articles", mean=row.mean + 1) for row in result.scores]
    line = repr(replace(result, scores=(*result.scores, *others)))
    assert line.endswith("best meteor, passages .250 (b), meteor, articles 1.250 (b))")


@pytest.mark.parametrize(
    ("value", "p", "mark"),
    [(0.08, 0.01, "*"), (0.08, 0.06, ""), (0.03, 0.01, ""), (-0.08, 0.01, "*"), (0.08, None, "")],
    ids=["both", "interval alone", "test alone", "both, below", "no test"],
)
def test_a_difference_is_marked_where_test_and_interval_say_so(value: float, p: float | None, mark: str) -> None:
    rows = [difference("w-meteor", "meteor", value, p)]
    result = typed(correlated(differences=rows), CorrelationResult)
    (line,) = (line for line in show("table", result).splitlines() if line.startswith("w-meteor - meteor"))
    assert line.endswith(f"]{mark}" if mark else "]")
    assert first_differences(Lookup(result)).lines[0].cells[0].strong is bool(mark)
    without = replace(result.differences[0], low=None, high=None)
    assert not without.significant


def test_repr_of_agreement_that_does_not_exist() -> None:
    found = replace(example("agreement"), agreement=None, reason="no text has two ratings")
    assert repr(found) == "AgreementResult(no text has two ratings)"
    assert found._repr_html_() == "<p>no text has two ratings</p>"


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_notebook_gets_escaped_html(kind: str) -> None:
    plain, hostile = (Tags(result._repr_html_()) for result in (example(kind), renamed(example(kind), HOSTILE)))
    assert "table" in plain.seen
    assert ("svg" in plain.seen) is (kind in PICTURES)
    assert hostile.seen == plain.seen
    assert hostile.attributes == plain.attributes


def test_long_tables_are_truncated_in_notebooks() -> None:
    systems = [f"system-{place:03}" for place in range(SHOWN + 30)]
    text = Tags(scored(*systems)._repr_html_().partition("<figure>")[0]).text
    assert systems[SHOWN - 1] in text
    assert systems[SHOWN] not in text
    assert "… 30 more rows" in text


def test_a_notebook_shows_the_table_alone_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for kind in EXAMPLES:
        seen = Tags(example(kind)._repr_html_()).seen
        assert "table" in seen
        assert "svg" not in seen


@pytest.mark.parametrize("kind", PICTURES)
def test_plot_draws_each_picture(kind: str) -> None:
    result = example(kind)
    with pytest.raises(UnknownName, match="unknown picture 'no such picture'") as error:
        result.plot("no such picture")
    assert list(error.value.known) == PICTURES[kind]
    first = _texts(result.plot())
    assert first == _texts(result.plot(PICTURES[kind][0]))
    assert first != _texts(result.plot(PICTURES[kind][-1])) or len(PICTURES[kind]) == 1


def _texts(figure: Any) -> list[str]:
    """Texts of a picture, and its size."""
    return [*(each.get_text() for each in figure.findobj(Text)), str(figure.get_size_inches())]


def test_what_cannot_be_drawn_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"VectorsResult has no picture; these have: AgreementResult, .*, ScoreResult"):
        example("vectors").plot()
    empty = replace(example("agreement"), agreement=None, reason="one rating each")
    with pytest.raises(UsageError, match=r"nothing to draw in AgreementResult\(one rating each\)"):
        empty.plot()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"a picture needs an optional package: pip install 'postil\[report\]'"):
        example("score").plot()


def test_scores_on_one_axis_only_where_it_fits() -> None:
    result = example("score")
    assert isinstance(result, postil.ScoreResult)
    rows = (*result.scores[:-1], replace(result.scores[-1], score=80.0))
    with pytest.raises(UnknownName, match="Known: bleu-1, meteor"):
        replace(result, scores=rows).plot("scores")
    many = scored(*(f"system-{place:03}" for place in range(100)))
    assert len(many.plot("rouge-l").findobj(Text)) < 150
    assert "the first 60 of 100 systems" in many._repr_html_()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_data_frame_has_the_rows(kind: str, backend: Any) -> None:
    result = example(kind)
    frame = nw.from_native(result.to_frame(backend))
    rows = result.to_rows()
    assert frame.shape == (len(rows), len({name: 0 for row in rows for name in row}))
    numbers = {name for name, value in rows[0].items() if isinstance(value, float)}
    if kind != "statistics":  # numbers and dates in one column
        assert all(frame[name].dtype.is_numeric() for name in numbers)
        assert all(frame[name].to_list()[0] == rows[0][name] for name in numbers)


def test_a_data_frame_of_the_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    result = example("score")
    assert type(result.to_frame()).__module__.startswith("pandas")
    there = {"polars"}
    monkeypatch.setattr("postil.results.views.find_spec", lambda name: there & {name})
    assert type(result.to_frame()).__module__.startswith("polars")
    with pytest.raises(UsageError, match="a data frame needs pandas, not installed: pip install pandas"):
        result.to_frame("pandas")
    there.clear()
    with pytest.raises(UsageError, match="needs pandas or polars or pyarrow, not installed"):
        result.to_frame()
    with pytest.raises(UnknownName, match="unknown library of data frames 'panda'; did you mean 'pandas'"):
        result.to_frame("panda")  # type: ignore[arg-type]


def test_a_data_frame_without_rows_has_its_columns() -> None:
    frame = postil.ScoreResult(scores=(), aggregation="corpus").to_frame("polars")
    assert frame.columns == ["system", "metric", "score", "n", "signature"]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_texts_are_those_of_the_command(kind: str) -> None:
    result = renamed(example(kind), HOSTILE)
    latex = result.to_latex()
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") >= 1
    assert "\\input{" not in latex
    assert "<script>" not in result.to_markdown()
    assert "table" in Tags(result.to_html()).seen <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert "\x1b" not in latex + result.to_markdown()
    assert result.to_csv().splitlines()


@pytest.mark.parametrize("kind", ["score", "compare", "commenters"])
@pytest.mark.parametrize("form", ["csv", "markdown", "latex", "html"])
def test_options_of_tables_are_those_of_the_command(kind: str, form: Any) -> None:
    result = renamed(example(kind), HOSTILE)
    method = getattr(result, f"to_{form}")
    for fields in ({}, {"layout": "systems"}, {"layout": "systems", "percent": True, "digits": 1}):
        assert method(**fields) == str(show(form, result, table=TableOptions(**fields)))
    assert method(layout="systems") != method()


def test_options_of_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match='layout="systems" is for scores of systems'):
        example("plan").to_latex(layout="systems")
    with pytest.raises(UnknownName, match="unknown layout 'system'; did you mean 'systems'"):
        example("score").to_latex(layout="system")
    with pytest.raises(UsageError, match='digits: expected a whole number or None, got "2"'):
        example("score").to_html(layout="systems", digits="2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'digit'"):
        example("score").to_markdown(digit=2)  # type: ignore[call-arg]


def test_statistics_of_a_split_without_articles_or_comments() -> None:
    made: Any = example("statistics").to_dict()
    every, of_test = (made["statistics"]["splits"][name] for name in ("all", "test"))
    every["articles"], of_test["comments"] = 0, 0
    every["upvotes"]["n"] = every["comments"] - 1
    assert "| comments | 0 |" in Result.from_dict(made).to_markdown()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_result_with_nothing_in_it_shows_that(kind: str) -> None:
    result = example(kind)
    for name in result.__struct_fields__:
        if getattr(result, name) and isinstance(getattr(result, name), tuple):
            empty = replace(result, **{name: ()})
            assert len(repr(empty)) <= LONGEST
            assert Tags(empty._repr_html_()).text
            assert empty.to_frame().columns is not None
            assert empty.to_csv() + empty.to_latex() + empty.to_markdown() is not None


@pytest.mark.parametrize("kind", EXAMPLES)
def test_json_reads_back(kind: str, tmp_path: Path) -> None:
    for result in (example(kind), renamed(example(kind), HOSTILE), replace(example(kind), name="x")):
        text = result.to_json()
        assert text == to_json(result)
        assert Result.from_json(text) == type(result).from_json(text.encode()) == result
        assert Result.from_dict(json.loads(text, parse_constant=pytest.fail)) == result
        result.save(tmp_path / "r.json")
        assert (tmp_path / "r.json").read_text(encoding="utf-8") == text
        assert postil.read_result(tmp_path / "r.json") == result


def with_number(value: Any, number: float) -> Any:
    """The same with one number in place of every float, so that no interval ends before it begins."""
    if isinstance(value, dict):
        return {name: with_number(each, number) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_number(each, number) for each in value]
    return number if isinstance(value, float) else value


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(EXAMPLES))
def test_json_keeps_every_digit(number: float, kind: str) -> None:
    result = Result.from_dict(with_number(example(kind).to_dict(), number))
    assert Result.from_json(result.to_json()) == result
    floats = str(with_number(result.to_dict(), 0.5)) != str(result.to_dict())
    assert floats or number == 0.5 or kind in {"corpus", "forget", "update"}  # which have none


@pytest.mark.parametrize(
    ("kind", "path", "value", "message"),
    [
        ("wmt", ("ranks",), {}, "expected a rank of "),
        ("statistics", ("statistics", "splits"), {}, "expected the split all"),
        ("evaluation", ("grid", "points"), [], "expected combinations of the same options, one of them chosen"),
        ("correlate", ("settings", "by"), "texts", 'expected item or pool or system or within-system, got "texts"'),
        ("correlate", ("settings", "coefficients"), [], "expected at least one coefficient"),
    ],
)
def test_json_that_contradicts_itself_is_refused(kind: str, path: tuple[str, ...], value: object, message: str) -> None:
    made = example(kind).to_dict()
    inner: Any = made
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    with pytest.raises(InvalidInput, match=message):
        Result.from_dict(made)


def test_json_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match='result: kind: expected score, got "compare"'):
        postil.ScoreResult.from_json(example("compare").to_json())
    with pytest.raises(InvalidInput, match=r'mine: kind: expected one of score, .*, got "other"'):
        Result.from_json('{"schema": 1, "kind": "other"}', "mine")
    with pytest.raises(InvalidInput, match="result: not JSON: the file is empty"):
        Result.from_json("")
    with pytest.raises(InvalidInput, match="result:1: not JSON: not UTF-8"):
        Result.from_json('{"name": "\ud800"}')


def test_a_file_of_several_results_is_not_one(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    both = [example("score").to_dict(), example("compare").to_dict()]
    path.write_text(json.dumps({"schema": 1, "kind": "report", "results": both}), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"r\.json: results: expected one result, got 2"):
        postil.read_result(path)


def test_views_are_loaded_at_the_first_use() -> None:
    code = (
        "import sys, postil; r = postil.score(['a b'], [['a b']], metrics=['rouge-l']);"
        "assert 'postil.results.views' not in sys.modules; assert r.to_rows()[0]['score'] == 1; repr(r);"
        "assert not {'matplotlib', 'narwhals', 'pandas', 'jinja2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)  # noqa: S603 - our own code


def test_every_library_of_data_frames_is_here() -> None:
    """Else the tests above would say nothing of it."""
    assert all(map(importlib.util.find_spec, ("pandas", "polars", "pyarrow")))
