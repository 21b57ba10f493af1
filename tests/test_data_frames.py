"""Tables in Python: data frames of every library, rows and files give the same numbers as columns and the commands."""

from __future__ import annotations

import math
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import postil
from endpoint_stub import StubServer, completion
from postil.data.options import InputOptions
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = ["1", "2", "3", "1", "2", "3"]
SYSTEMS = ["old"] * 3 + ["new"] * 3
TEXTS = ["the cat sat", "a dog barked", "rain", "the cat lay there", "dogs bark", "it rains today"]
GOLD = {"1": ["the cat sat on a mat", "the cat lay there"], "2": ["a dog barked", "dogs bark"], "3": ["it rains"]}
GRADES = {"1": [5, 3], "2": [4, 2], "3": [5]}
METRICS = ["bleu-2", "w-meteor", "rouge-l", "w-cider"]
SCALE = postil.Scale(1, 5)
FEW = postil.CorrelateOptions(resamples=50, permutations=50)

Table = dict[str, list[Any]]
CANDIDATES: Table = {"item": ITEMS, "system": SYSTEMS, "text": TEXTS}
REFERENCES: Table = {
    "item": [item for item in GOLD for _ in GOLD[item]],
    "text": [text for texts in GOLD.values() for text in texts],
    "grade": [grade for grades in GRADES.values() for grade in grades],
}
RATINGS: Table = {
    "item": ITEMS * 2,
    "system": SYSTEMS * 2,
    "annotator": ["ann"] * 6 + ["bob"] * 6,
    "grade": [3.0, 4.0, 1.0, 4.0, 3.0, 5.0, 2.0, 4.0, 2.0, 5.0, 3.0, 4.0],
}


class Other:
    """A frame of a library that narwhals alone knows."""

    def __init__(self, table: Table) -> None:
        self._frame = nw.from_native(pa.table(table))

    def __narwhals_dataframe__(self) -> object:
        return self._frame.__dict__["_compliant_frame"]


def rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


MAKES: dict[str, Callable[[Table], Any]] = {
    "pandas": pd.DataFrame,
    "pandas-arrow": lambda table: pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars-lazy": lambda table: pl.DataFrame(table).lazy(),
    "pyarrow": pa.table,
    "narwhals": lambda table: nw.from_native(pl.DataFrame(table)),
    "other": Other,
    "dictionaries": rows,
}
every_make = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)


def columns_form() -> postil.ScoreResult:
    return postil.score(
        TEXTS,
        [GOLD[item] for item in ITEMS],
        weights=SCALE.weights([GRADES[item] for item in ITEMS]),
        items=ITEMS,
        systems=SYSTEMS,
        metrics=METRICS,
    )


def assert_same(one: postil.ScoreResult, other: postil.ScoreResult) -> None:
    assert one.by_system == other.by_system
    for spec in METRICS:
        np.testing.assert_array_equal(one.items[spec], other.items[spec])
    assert (one.item_names, one.system_names) == (other.item_names, other.system_names)


@every_make
def test_frames_score_as_columns_do(make: Callable[[Table], Any]) -> None:
    result = postil.score(make(CANDIDATES), make(REFERENCES), metrics=METRICS, scale=SCALE)
    assert_same(result, columns_form())


def test_frames_score_as_the_command_does(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("c.jsonl", "r.jsonl", "i.jsonl")]
    write(files[0], [Candidate(*values) for values in zip(*CANDIDATES.values(), strict=True)])
    write(files[1], [Reference(*values) for values in zip(*REFERENCES.values(), strict=True)])
    options = ScoreOptions(metrics=tuple(METRICS), scale=SCALE, items=files[2])
    command = score_files(files[0], files[1], options, print)
    result = postil.score(pd.DataFrame(CANDIDATES), pd.DataFrame(REFERENCES), metrics=METRICS, scale=SCALE)
    assert result.scores == command.scores
    assert list(result.score_rows()) == list(read(files[2], Score))
    assert_same(postil.score(files[0], files[1], metrics=METRICS, scale=SCALE), result)


def test_files_of_any_kind_are_tables(tmp_path: Path) -> None:
    pd.DataFrame({"id": ITEMS, "model": SYSTEMS, "answer": TEXTS, "note": ""}).to_csv(tmp_path / "c.csv", index=False)
    pd.DataFrame(REFERENCES).rename(columns={"item": "id"}).to_parquet(tmp_path / "r.parquet")
    with pytest.warns(UserWarning, match="columns not read: note"):
        result = postil.score(
            tmp_path / "c.csv",
            tmp_path / "r.parquet",
            item="id",
            system="model",
            columns={"text": "answer"},
            metrics=METRICS,
            scale=SCALE,
        )
    assert_same(result, columns_form())
    pd.DataFrame(item_scores()).to_csv(tmp_path / "s.csv", index=False)
    assert (
        postil.compare(tmp_path / "s.csv", "old").systems == postil.compare(pd.DataFrame(item_scores()), "old").systems
    )


@every_make
def test_a_constant_stands_for_a_column(make: Callable[[Table], Any]) -> None:
    table = {"item": ITEMS[:3], "text": TEXTS[:3]}
    result = postil.score(make(table), make(REFERENCES), columns={"system": "=mine"}, metrics="rouge-l")
    assert set(result.by_system) == {"mine"}


@every_make
def test_columns_may_have_other_names(make: Callable[[Table], Any]) -> None:
    outputs = make({"id": ITEMS, "model": SYSTEMS, "answer": TEXTS})
    gold = make({"id": REFERENCES["item"], "gold": REFERENCES["text"], "stars": REFERENCES["grade"]})
    named = {"references.text": "gold", "references.grade": "stars"}
    result = postil.score(
        outputs, gold, item="id", system="model", text="answer", columns=named, metrics=METRICS, scale=SCALE
    )
    assert_same(result, columns_form())


@pytest.mark.parametrize("nested", ["texts", "objects", "lists beside"])
@every_make
def test_one_row_per_item(make: Callable[[Table], Any], nested: str) -> None:
    objects = [
        [{"text": text, "grade": grade} for text, grade in zip(GOLD[item], GRADES[item], strict=True)] for item in GOLD
    ]
    table: Table = {"item": list(GOLD), "references": objects if nested == "objects" else list(GOLD.values())}
    if nested == "lists beside":
        table["grade"] = list(GRADES.values())
    metrics = ["bleu-2", "rouge-l"] if nested == "texts" else METRICS
    result = postil.score(make(CANDIDATES), make(table), metrics=metrics, scale=None if nested == "texts" else SCALE)
    same = columns_form()
    for spec in metrics:
        np.testing.assert_array_equal(result.items[spec], same.items[spec])


@every_make
def test_a_missing_text_is_what_an_empty_cell_is(make: Callable[[Table], Any], tmp_path: Path) -> None:
    gaps = {**CANDIDATES, "text": [TEXTS[0], None, *TEXTS[2:]]}
    pd.DataFrame(gaps).to_csv(tmp_path / "c.csv", index=False)
    pd.DataFrame(REFERENCES).to_csv(tmp_path / "r.csv", index=False)
    said = r"1 empty cell in text, taken as empty texts$"
    with pytest.warns(UserWarning, match=said):
        of_files = postil.score(tmp_path / "c.csv", tmp_path / "r.csv", metrics=METRICS, scale=SCALE)
    with pytest.warns(UserWarning, match=f"^candidates: {said}"):
        assert_same(postil.score(make(gaps), make(REFERENCES), metrics=METRICS, scale=SCALE), of_files)


@pytest.mark.parametrize("column", [pd.Series(["a b", None, np.nan]), pl.Series(["a b", None, None])])
def test_a_missing_text_of_a_column_is_empty(column: Any) -> None:
    with pytest.warns(UserWarning, match=r"^candidates: 2 missing texts \(row 2, 3\), taken as empty$"):
        found = postil.score(column, [["a b"]] * 3, metrics=["rouge-l"])
    assert found.items["rouge-l"].tolist() == [1, 0, 0]


def test_missing_tokens_of_a_column_are_no_tokens() -> None:
    with pytest.warns(UserWarning, match="1 missing text "):
        found = postil.score(pd.Series([["a", "b"], None]), [[["a", "b"]]] * 2, metrics=["rouge-l"])
    assert found.items["rouge-l"].tolist() == [1, 0]


@every_make
def test_texts_that_may_be_none_are_said(make: Callable[[Table], Any]) -> None:
    texts = ["", "N/A", *TEXTS[2:]]
    said = r"^candidates: 1 empty cell in text, taken as empty texts; 1 cell in text is 'N/A', taken as a text; missing"
    with pytest.warns(UserWarning, match=said + r'=\["N/A"\] takes it as empty$'):
        postil.score(make({**CANDIDATES, "text": texts}), make(REFERENCES), metrics="rouge-l")


@every_make
def test_what_holds_no_value_in_one_table(make: Callable[[Table], Any]) -> None:
    texts = ["k. A.", *TEXTS[1:]]
    with pytest.warns(UserWarning, match="^candidates: 1 cell that missing names, taken as empty") as said:
        postil.score(
            make({**CANDIDATES, "text": texts, "note": ["k. A."] * len(texts)}),
            make({**REFERENCES, "text": [*REFERENCES["text"][:-1], "k. A."]}),
            missing=["candidates=k. A."],
            metrics="rouge-l",
        )
    assert not [line for line in map(str, said) if "references: 1 cell" in line]


@every_make
def test_what_says_that_there_is_no_value(make: Callable[[Table], Any]) -> None:
    texts = ["k. A.", *TEXTS[1:]]
    gold = {**REFERENCES, "item": [*REFERENCES["item"][:4], "k. A."]}
    with pytest.warns(UserWarning, match="^candidates: 1 cell that missing names, taken as empty; 1 empty cell in tex"):
        found = postil.score(make({**CANDIDATES, "text": texts}), make(REFERENCES), missing="k. A.", metrics="rouge-l")
    assert found.items["rouge-l"][0] == 0
    with pytest.raises(postil.InvalidInput, match=r"^references:5: item: expected text or an integer, got null; the v"):
        postil.score(make(CANDIDATES), make(gold), missing=["k. A."], metrics="rouge-l")
    ratings = [{"item": i, "ann": 1 + i % 3, "bob": "n/a" if i == 2 else 1 + i % 2} for i in range(9)]
    with pytest.warns(UserWarning, match=r"empty cells, taken as no grade: 1 in bob|1 cell that missing names"):
        wide = postil.agreement(ratings, annotator_columns=["ann", "bob"], missing=["n/a"]).agreement
    assert wide is not None
    assert wide.ratings == 17


SCORED = [{"item": i // 2, "system": "ab"[i % 2], "m": (i * 7) % 5, "n": "-" if i == 3 else i % 7} for i in range(24)]
RATED = [{"item": i // 2, "system": "ab"[i % 2], "grade": "-" if i == 5 else 1 + (i * 2) % 5} for i in range(24)]
VOTES = [{"item": i, "system_a": "a", "system_b": "b", "annotator": "ann", "preference": "ab"[i % 2]} for i in range(6)]
READ: dict[str, Callable[[dict[str, Any]], object]] = {
    "agreement": lambda given: postil.agreement(RATED, **given),
    "budget": lambda given: postil.budget(SCORED, RATED, metric_columns=["m"], resamples=20, **given),
    "compare": lambda given: postil.compare(SCORED, metric_columns=["m", "n"], intersect=True, resamples=20, **given),
    "compare_preferences": lambda given: postil.compare_preferences([{**VOTES[0], "annotator": "-"}, *VOTES], **given),
    "consensus_weights": lambda given: postil.consensus_weights([{"id": 1, "text": "-"}], item="id", **given),
    "correlate": lambda given: postil.correlate(SCORED, RATED, metric_columns=["m", "n"], options=FEW, **given),
    "estimate": lambda given: postil.estimate(SCORED, RATED, metric_columns=["m"], **given),
    "fit_combination": lambda given: postil.fit_combination(SCORED, RATED, metric_columns=["m"], resamples=20, **given),
    "rank_passages": lambda given: postil.rank_passages([{"text": "-"}, {"text": "Coffee."}], **given),
    "score": lambda given: postil.score([{"item": 1, "text": "-"}], [{"item": 1, "text": "a"}], **given),
}


@pytest.mark.parametrize("name", READ)
def test_every_call_that_reads_tables_takes_what_is_missing(name: str) -> None:
    problem = ""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            READ[name]({"missing": "-"})
        except postil.PostilError as error:
            problem = str(error)
    named = any("1 cell that missing names, taken as empty" in str(each.message) for each in said)
    assert named or "1: annotator: expected text or an integer, got null" in problem


LOG = [{"impression": i, "article": i % 5, "models": ["x", "y"], "teams": [0, 1], "clicked": [1]} for i in range(20)]
TWO = [{"item": i, "a": f"rain {i}", "b": f"a lot of rain {i}"} for i in (1, 2)]
COMMENTS = [{"id": i, "text": f"comment number {i}"} for i in range(9)]
ARTICLES = [{"id": i, "title": f"t{i}", "comments": COMMENTS} for i in range(20)]
Made: TypeAlias = "Callable[[list[dict[str, Any]]], Any]"
HELD: dict[str, Callable[[Made, object, dict[str, Any], str], object]] = {
    "judge": lambda make, hole, given, url: postil.judge(
        make([{**TWO[0], "a": hole}, TWO[1]]), text=["a", "b"], endpoint=url, model="m", scale=SCALE, anchors="none",
        logprobs=False, **given,
    ).systems,
    "judge, ratings": lambda make, hole, given, url: postil.judge(
        TWO, judgements=make([{"item": i, "system": "a", "annotator": 1, "grade": [hole, 3][i - 1]} for i in (1, 2)]),
        text=["a", "b"], endpoint=url, model="m", scale=SCALE, anchors="none", logprobs=False, controls=True, **given,
    ).length,
    "judge_pairs": lambda make, hole, given, url: postil.judge_pairs(
        make([{**TWO[0], "a": hole}, TWO[1]]), text=["a", "b"], endpoint=url, model="m", logprobs=False, **given
    ).pairs,
    "judge_pairs, preferences": lambda make, hole, given, url: postil.judge_pairs(
        TWO, preferences=make([{**VOTES[1], "preference": hole}]), text=["a", "b"], endpoint=url, model="m", **given
    ).pairs,
    "compare_interleaved": lambda make, hole, given, _: postil.compare_interleaved(
        make([{**LOG[0], "shown": hole}, *({**row, "shown": True} for row in LOG[1:])]), resamples=20, **given
    ).rows,
    "compare_interleaved, ids": lambda make, hole, given, _: postil.compare_interleaved(
        make([{**LOG[0], "article": hole}, *LOG[1:]]), resamples=20, **given
    ).rows,
    "apply_combination": lambda make, hole, given, _: postil.apply_combination(
        make([{**SCORED[0], "m": hole}, *SCORED[4:]]), "model", metric_columns=["m", "n"], **given
    ).scores,
    "build_corpus": lambda make, hole, given, _: postil.build_corpus(
        pd.DataFrame(make([{**ARTICLES[0], "title": hole}, *ARTICLES[1:]])), tempfile.mkdtemp(dir=".") + "/c",
        source="s", license="l", **given,
    ).metadata,
}  # fmt: skip


@pytest.mark.parametrize("make", [pd.DataFrame, list], ids=["frame", "dictionaries"])
@pytest.mark.parametrize("name", HELD)
def test_holes_of_every_kind_are_one(name: str, make: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "apply_combination":
            known = [row for row in SCORED if row["n"] != "-"]
            columns = {"metric_columns": ["m", "n"], "missing": "-", "resamples": 20, "folds": 2, "out": "model"}
            postil.fit_combination(known, RATED, **columns)
        with StubServer(lambda asked: completion("A" if 'name="A"' in asked.prompt else "Grade: 3")) as stub:
            found = []
            for hole, missing in ((None, ()), (math.nan, ()), ("k. A.", "k. A."), ("", [""])):
                try:
                    found.append(str(HELD[name](make, hole, {"missing": missing} if missing else {}, stub.url)))
                except postil.PostilError as error:
                    found.append(str(error))
    assert len(set(found)) == 1, found
    held = {
        "judge_pairs, preferences": "preferences:1: preference: expected a, tie or b, got null; the value is missing"
    }
    held["compare_interleaved, ids"] = "log:1: article: expected text or an integer, got null; the value is missing"
    assert found[0].startswith(held.get(name, found[0] if ": expected" not in found[0] else "a result"))


def test_what_stands_for_no_number_is_named() -> None:
    for hole in ("", "n/a"):
        rated = [*RATED[:5], {**RATED[5], "grade": hole}]
        with pytest.raises(
            postil.InvalidInput, match=rf'^judgements:6: grade: .* what stands there: missing=\["{hole}"\]$'
        ):
            postil.agreement(rated, missing=["other"])


@pytest.mark.parametrize("given", [{"item": "id"}, {"missing": "-"}])
def test_arguments_of_tables_do_not_go_with_lists_of_references(given: dict[str, Any]) -> None:
    with pytest.raises(postil.UsageError, match=f"^{next(iter(given))}: only for tables"):
        postil.consensus_weights([["a", "-"]], **given)


@every_make
def test_texts_of_several_columns_are_of_a_system_each(make: Callable[[Table], Any]) -> None:
    table = make({"id": [*GOLD], "old": TEXTS[:3], "new": TEXTS[3:]})
    gold = make({"id": REFERENCES["item"], "text": REFERENCES["text"], "grade": REFERENCES["grade"]})
    found = postil.score(table, gold, item="id", text=["old", "new"], metrics=METRICS, scale=SCALE)
    assert found.by_system == columns_form().by_system


def test_the_names_of_other_programs() -> None:
    references = [GOLD[item] for item in ITEMS[:3]]
    named = postil.score(predictions=TEXTS[:3], references=references, metrics="rouge-l")
    assert named == postil.score(TEXTS[:3], references, metrics="rouge-l")
    tables = postil.score(predictions=pd.DataFrame(CANDIDATES), references=pd.DataFrame(REFERENCES), metrics="rouge-l")
    assert tables.by_system == postil.score(rows(CANDIDATES), rows(REFERENCES), metrics="rouge-l").by_system


def test_default_metrics_are_those_of_the_command() -> None:
    weighted = postil.score(pd.DataFrame(CANDIDATES), pd.DataFrame(REFERENCES), scale=SCALE)
    assert list(weighted.items)[:2] == ["bleu-4", "w-bleu-4"]
    with pytest.warns(UserWarning, match=r"the references have grades: with scale=postil\.Scale\(LOW, HIGH\) the w-"):
        assert list(postil.score(pd.DataFrame(CANDIDATES), pd.DataFrame(REFERENCES)).items)[1] == "meteor"


def test_messages_name_arguments() -> None:
    one, gold = [{"item": 1, "text": "a b"}], [{"item": 1, "text": "a b"}]
    with pytest.raises(postil.UsageError, match=r"the grades need a scale .*: scale=postil\.Scale\(LOW, HIGH\)$"):
        postil.score(pd.DataFrame(CANDIDATES), pd.DataFrame(REFERENCES), metrics="w-meteor")
    with pytest.raises(postil.Undefined, match=r": background=postil\.DocumentFrequencies\.load\(FOLDER\)$"):
        postil.score(one, gold, metrics="cider")
    with pytest.raises(postil.UsageError, match="unknown weights method 'vote'"):
        postil.score(one, gold, metrics="w-meteor", weights="vote")
    with pytest.raises(postil.UsageError, match=r"are the same table; name .*: columns={'text': COLUMN, 'references\."):
        postil.score(one, one, metrics="meteor")


def test_a_table_without_systems_is_of_one() -> None:
    outputs = pd.DataFrame(CANDIDATES)[:3].drop(columns="system")
    result = postil.score(outputs, pd.DataFrame(REFERENCES), metrics=["rouge-l"])
    assert result.corpus == {"rouge-l": result.by_system["candidates"]["rouge-l"]}


def test_ids_and_counts_that_pandas_makes_floats_are_whole() -> None:
    gold = pd.DataFrame({"item": [1.0, 1.0, 2.0], "text": ["a", "b", "c"], "upvotes": [3, np.nan, 2]})
    outputs = pd.DataFrame({"item": [1, 2], "text": ["a", "c"]})
    assert postil.score(outputs, gold, metrics=["rouge-l"]).item_names == ("1", "2")
    with pytest.raises(postil.InvalidInput, match=r"^references:2: upvotes: missing"):
        postil.score(outputs, gold, metrics=["w-rouge-l"], weights="votes")


def test_several_systems_have_scores_of_their_own() -> None:
    both = columns_form()
    for system in ("old", "new"):
        alone = [i for i, name in enumerate(SYSTEMS) if name == system]
        one = postil.score(
            [TEXTS[i] for i in alone],
            [GOLD[ITEMS[i]] for i in alone],
            weights=SCALE.weights([GRADES[ITEMS[i]] for i in alone]),
            metrics=METRICS,
        )
        assert both.by_system[system] == one.corpus
    with pytest.raises(postil.UsageError, match="take by_system or scores"):
        both.corpus  # noqa: B018


def test_names_and_statistics_of_a_result() -> None:
    result = columns_form()
    assert set(result.statistics) == {"bleu-2", "w-meteor"}
    assert "statistics" not in result.to_dict()
    assert postil.ScoreResult.from_json(result.to_json()) == result
    assert [(row.item, row.system) for row in result.score_rows() if row.metric == "rouge-l"] == list(
        zip(ITEMS, SYSTEMS, strict=True)
    )
    nameless = postil.score(TEXTS[:2], [["a"], ["b"]], metrics=["rouge-l"])
    assert "item_names" not in nameless.to_dict()
    assert [(row.item, row.system) for row in nameless.score_rows()] == [("0", "candidates"), ("1", "candidates")]


def test_a_result_with_names_of_another_length_is_no_rows() -> None:
    broken = postil.ScoreResult.from_dict({**columns_form().to_dict(), "item_names": ["1"]})
    with pytest.raises(postil.UsageError, match="several lengths"):
        postil.compare(broken)


def test_scores_without_items_are_no_rows() -> None:
    printed = postil.ScoreResult(scores=columns_form().scores, aggregation="corpus")
    with pytest.raises(postil.UsageError, match="no item scores"):
        postil.compare(printed)


def item_scores() -> Table:
    each = list(columns_form().score_rows())
    return {
        "item": [row.item for row in each],
        "system": [row.system for row in each],
        "metric": [row.metric for row in each],
        "score": [row.score for row in each],
        "signature": [row.signature for row in each],
    }


def wide_scores() -> Table:
    result = columns_form()
    return {"item": ITEMS, "system": SYSTEMS, **{spec: values.tolist() for spec, values in result.items.items()}}


MEANS = ["rouge-l", "w-cider"]


@every_make
def test_comparisons_of_results_frames_and_files_are_one(make: Callable[[Table], Any], tmp_path: Path) -> None:
    of_result = [row for row in postil.compare(columns_form(), baseline="old").systems if row.metric in MEANS]
    of_frame = [row for row in postil.compare(make(item_scores()), baseline="old").systems if row.metric in MEANS]
    wide = postil.compare(make(wide_scores()), baseline="old", metric_columns=METRICS)
    assert of_result == of_frame == [row for row in wide.systems if row.metric in MEANS]
    write(tmp_path / "s.jsonl", columns_form().score_rows())
    whole = postil.compare(columns_form(), "old")
    scores = {(row.system, row.metric): row.score for row in columns_form().scores}
    assert {(row.system, row.metric): row.mean for row in whole.systems} == pytest.approx(scores, rel=1e-12)
    for files in (tmp_path / "s.jsonl", [tmp_path / "s.jsonl"]):
        assert postil.compare(files, "old").systems == whole.systems
    assert whole.baseline == "old"
    assert postil.compare(columns_form(), options=postil.CompareOptions(baseline="new")).baseline == "new"


@every_make
def test_correlations_of_results_frames_and_columns_are_one(make: Callable[[Table], Any]) -> None:
    result = columns_form()
    of_columns = postil.correlate(
        result.items,
        list(zip(RATINGS["grade"][:6], RATINGS["grade"][6:], strict=True)),
        items=ITEMS,
        systems=SYSTEMS,
        signatures=result.signatures,
        options=FEW,
    )
    ratings = make(RATINGS)
    of_result = postil.correlate(result, ratings, options=FEW)
    of_frame = postil.correlate(make(item_scores()), judgements=ratings, options=FEW)
    assert of_result.correlations == of_frame.correlations == of_columns.correlations
    assert of_result.differences == of_columns.differences


@pytest.mark.parametrize("column", [list, np.array, pd.Series, pl.Series])
def test_grades_in_the_order_of_the_texts_of_a_result(column: Callable[[list[float]], Any]) -> None:
    grades = RATINGS["grade"][:6]
    result = columns_form()
    of_table = postil.correlate(result, rows(RATINGS)[:6], options=FEW)
    of_column = postil.correlate(result, column(grades), options=FEW)
    assert of_column.correlations == of_table.correlations
    assert of_column.differences == of_table.differences
    texts = rows(CANDIDATES)
    shown = postil.correlate(result, column(grades), candidates=texts, options=FEW)
    assert {row.text for pair in shown.disagreements for row in pair.texts} <= set(TEXTS)
    nameless = postil.score(TEXTS, [GOLD[item] for item in ITEMS], metrics="rouge-l")
    assert postil.correlate(nameless, column(grades), options=FEW).data.texts == 6
    assert postil.estimate(result, column(grades), metrics="rouge-l").graded == 3


def test_grades_that_are_not_those_of_the_texts() -> None:
    result, grades = columns_form(), pd.Series(RATINGS["grade"][:6])
    for call, problem in (
        (
            lambda: postil.correlate(result, grades[:5]),
            "grades: expected a grade for each of the 6 texts of the result,",
        ),
        (lambda: postil.correlate(result, grades, items=ITEMS), "items: scores are a result, whose texts have names"),
        (lambda: postil.correlate(result, grades, aspect="a"), "aspect: the grades are of one question"),
        (
            lambda: postil.correlate(result, judgements=grades),
            "judgements: expected a table: a data frame, a path, or a",
        ),
        (
            lambda: postil.correlate(rows(wide_scores()), grades),
            "judgements: expected a table: a data frame, a path, o",
        ),
        (lambda: postil.correlate(result, [None] * 6), "grades: expected at least one grade, got none"),
    ):
        with pytest.raises(postil.PostilError) as error:
            call()
        assert str(error.value).startswith(problem)


def test_texts_of_disagreements_come_from_a_table() -> None:
    outputs = pd.DataFrame({"id": ITEMS, "system": SYSTEMS, "answer": TEXTS})
    found = postil.correlate(
        columns_form(),
        pd.DataFrame(RATINGS).rename(columns={"item": "id"}),
        candidates=outputs,
        item="id",
        columns={"candidates.text": "answer"},
        options=FEW,
    )
    assert {row.text for pair in found.disagreements for row in pair.texts} <= set(TEXTS)


@every_make
def test_a_missing_rating_is_counted(make: Callable[[Table], Any]) -> None:
    grades = [None, *RATINGS["grade"][1:]]
    with pytest.warns(UserWarning, match=r"judgements left out: no grade: 1 \(row 1\)"):
        found = postil.correlate(columns_form(), make({**RATINGS, "grade": grades}), options=FEW)
    assert [str(each) for each in found.data.left_out] == ["no grade: 1 (row 1)"]
    assert found.data.ratings == 11


def test_a_rating_that_is_nan_is_missing_in_columns_too() -> None:
    scores = {"m": [0.1, 0.3, 0.2, 0.5]}
    none, nan = (postil.correlate(scores, [[1, 2], missing, [3, 2], [5, 4]], options=FEW) for missing in (None, np.nan))
    assert nan == none


@every_make
def test_agreement_of_frames_and_files_is_one(make: Callable[[Table], Any], tmp_path: Path) -> None:
    ratings = {name: [*values, *values] for name, values in RATINGS.items()}
    ratings["item"] = [*ITEMS * 2, *(f"{item} again" for item in ITEMS * 2)]
    write(tmp_path / "j.jsonl", [Judgement(*values) for values in zip(*ratings.values(), strict=True)])
    of_file = postil.agreement(str(tmp_path / "j.jsonl"), scale=SCALE)
    ann, bob = RATINGS["grade"][:6], RATINGS["grade"][6:]
    wide = {"text": list(range(12)), "ann": ann * 2, "bob": bob * 2}
    of_wide = postil.agreement(make(wide), columns={"item": "text"}, annotator_columns=["ann", "bob"])
    assert postil.agreement(make(ratings)) == of_file
    assert of_file.agreement is not None
    assert of_wide.agreement is not None
    assert of_wide.agreement.confusion == of_file.agreement.confusion
    assert of_wide.agreement.estimates["alpha-interval"].value == of_file.agreement.estimates["alpha-interval"].value


def test_agreement_of_one_annotator_says_why_there_is_none() -> None:
    found = postil.agreement(pd.DataFrame(RATINGS)[:6])
    assert found.agreement is None
    assert found.reason == "agreement needs two annotators, and all grades are by ann"


@every_make
def test_consensus_of_frames_is_that_of_lists(make: Callable[[Table], Any]) -> None:
    weights = postil.consensus_weights(make(REFERENCES))
    assert weights == [weight for of_item in postil.consensus_weights(list(GOLD.values())) for weight in of_item]


def test_a_report_of_results_and_files(tmp_path: Path) -> None:
    comparison = postil.compare(columns_form())
    columns_form().save(tmp_path / "scores.json")
    page = postil.report(tmp_path / "scores.json", comparison, path=tmp_path / "page.html")
    assert page == tmp_path / "page.html"
    assert "new" in page.read_text()
    with pytest.raises(postil.UsageError, match="expected results or paths of JSON files, got dict"):
        postil.report({}, path=tmp_path / "page.html")  # type: ignore[arg-type]
    with pytest.raises(postil.PostilError, match=r"ends in \.html"):
        postil.report(comparison, path=tmp_path / "page.pdf")


def test_warnings_are_of_the_line_that_called(tmp_path: Path) -> None:
    ratings = [{"item": i, "ann": i % 3, "bob": i % 2 if i else None} for i in range(9)]
    with pytest.warns(UserWarning, match="judgements: empty cells, taken as no grade: 1 in bob") as caught:
        postil.agreement(ratings, annotator_columns=["ann", "bob"])
    (tmp_path / "r.csv").write_text("item;text\na;Rain\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="';' between columns") as more:
        postil.consensus_weights(tmp_path / "r.csv")
    assert {each.filename for each in (*caught, *more)} == {__file__}


NO_ITEM = ["1", None, *ITEMS[2:]]


def changed(table: Table, **columns: list[Any]) -> Table:
    return {**table, **columns}


NESTED = {"item": ["1"], "references": [["a"]], "grade": [[1, 2]]}
FOURTH = changed(REFERENCES, item=["1", "1", "2", "2", "4"])


@pytest.mark.parametrize(
    ("candidates", "references", "given", "problem"),
    [
        (
            changed(CANDIDATES, item=NO_ITEM),
            REFERENCES,
            {},
            "candidates:2: item: expected text or an integer, got null",
        ),
        (CANDIDATES, REFERENCES, {"text": []}, "text: expected at least one column, got an empty list"),
        (CANDIDATES, REFERENCES, {"text": ["text", "txt"]}, "candidates: txt: no such column; did you mean 'text'?"),
        (CANDIDATES, REFERENCES, {"predictions": TEXTS}, "predictions: another name of candidates, which are given"),
        ({"item": ITEMS, "txt": TEXTS}, REFERENCES, {}, "candidates: no column 'text'; did you mean 'txt'? the colum"),
        (CANDIDATES, changed(REFERENCES, weight=[0.5, 1, 2, 0, 1]), {"weights": "given"}, "references:3: weight: exp"),
        ({"nr": ITEMS, "answer": TEXTS}, REFERENCES, {}, "candidates: no columns 'item', 'text'; the columns are: nr"),
        (CANDIDATES, REFERENCES, {"item": "itme"}, "candidates: no column 'itme'; did you mean 'item'?"),
        (CANDIDATES, REFERENCES, {"columns": {"txt": "text"}}, "unknown field of candidates 'txt'; did you mean"),
        (CANDIDATES, REFERENCES, {"columns": {"refs.text": "t"}}, "unknown file of this command 'refs'; did you"),
        (CANDIDATES, REFERENCES, {"items": ITEMS}, "items: candidates are a table, so name its columns"),
        (CANDIDATES, REFERENCES, {"weights": [[1]]}, "weights: candidates are a table, so expected the name of a"),
        (CANDIDATES, changed(REFERENCES, grade=[*"53425"]), {}, "references:1: grade: expected a number, got"),
        (CANDIDATES, changed(REFERENCES, item=["1", "1", "2", "2", None]), {}, "references:5: item: expected text or"),
        (CANDIDATES, FOURTH, {}, "candidates:3: item: expected an item"),
        (changed(CANDIDATES, item=["1"] * 6), REFERENCES, {}, "candidates:2: item: expected one candidate for each i"),
        (CANDIDATES, NESTED, {}, "references:1: grade: expected 1 values, one per"),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, rows], ids=["pandas", "polars", "dictionaries"])
def test_bad_tables_say_where(
    make: Callable[[Table], Any], candidates: Table, references: Table, given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(postil.PostilError) as error:
        postil.score(make(candidates), make(references), metrics=["w-rouge-l"], scale=SCALE, **given)
    assert str(error.value).startswith(problem)


@pytest.mark.parametrize("make", [pd.DataFrame, rows], ids=["pandas", "dictionaries"])
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([*TEXTS[:5], 7], "candidates:6: text: expected text, got 7"),
        ([["a"], *TEXTS[1:]], "candidates:1: text: expected text, got an array of texts; name what is the text: col"),
        ([*TEXTS[:2], True, *TEXTS[3:]], "candidates:3: text: expected text, got true"),
    ],
)
def test_mixed_types_say_where(make: Callable[[Table], Any], values: list[object], problem: str) -> None:
    with pytest.raises(postil.InvalidInput) as error:
        postil.score(make({**CANDIDATES, "text": values}), make(REFERENCES), metrics=["rouge-l"])
    assert str(error.value).startswith(problem)


GOLDEN = pd.DataFrame(REFERENCES)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((pd.DataFrame(CANDIDATES), [["a"]] * 6), "references: expected a table like the candidates"),
        ((TEXTS, GOLDEN), "references: expected a list or a column, got the frame DataFrame"),
        ((pa.record_batch(CANDIDATES), GOLDEN), "candidates: expected a data frame (pandas, Polars"),
        ((pl.DataFrame(CANDIDATES).clear(), GOLDEN), "candidates: expected rows, got none"),
        (("none.jsonl", "none.jsonl"), "none.jsonl: no such file"),
        (([Candidate("1", "a", "b"), "c"], GOLDEN), "candidates:2: expected a Candidate"),
        (([{"item": 1, "text": "b"}, "c"], GOLDEN), "candidates:2: expected a dictionary"),
        ((pd.DataFrame([[1, 2]], columns=["a", "a"]), GOLDEN), "candidates: two columns"),
    ],
)
def test_what_is_no_table_is_refused(arguments: tuple[Any, Any], problem: str) -> None:
    with pytest.raises(postil.PostilError) as error:
        postil.score(*arguments, metrics=["rouge-l"])
    assert str(error.value).startswith(problem)


@pytest.mark.parametrize(
    ("name", "given"),
    [("item", "id"), ("columns", {"item": "id"}), ("scale", SCALE), ("system", "model"), ("missing", "-")],
)
def test_arguments_of_tables_do_not_go_with_columns(name: str, given: object) -> None:
    with pytest.raises(postil.UsageError, match=f"^{name}: only for tables"):
        postil.score(TEXTS[:1], [["a"]], **{name: given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"systems": SYSTEMS}, "systems: scores are a table; name its columns"),
        ({"judgements": [[1]]}, "judgements: expected a table: a data frame"),
        ({"columns": {"judgements.grade": "stars"}}, "judgements: no column 'stars'; the columns are: item, system"),
        ({"columns": {"scores.item": "id"}}, "columns: scores are a result"),
    ],
)
def test_correlate_refuses_what_does_not_go_together(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(postil.PostilError) as error:
        postil.correlate(columns_form(), **{"judgements": pd.DataFrame(RATINGS), **change})
    assert str(error.value).startswith(problem)


@every_make
def test_passages_of_frames_rank_as_texts_do(make: Callable[[Table], Any], tmp_path: Path) -> None:
    page = ["Coffee was first roasted in Yemen.", "Prices rose.", "A goat herd found coffee in Yemen first."]
    known, grades = ["Goats found coffee.", "Coffee is roasted in Yemen.", "no"], [4, 2, 0]
    plain = postil.rank_passages(page, known[:2], weights=[1.0, 0.5], measure="w-f1-1")
    named = {"text": "sentence", "reference.text": "kept"}
    frames = make({"sentence": page}), make({"kept": known, "grade": grades})
    assert postil.rank_passages(*frames, columns=named, measure="w-f1-1") == plain
    (tmp_path / "page.txt").write_text("\n\n".join(page))
    assert postil.rank_passages(tmp_path / "page.txt", known[:2]) == postil.rank_passages(page, known[:2])
    with pytest.raises(postil.InvalidInput, match=r"^reference:2: grade: expected a number of at least 0"):
        postil.rank_passages(page, make({"text": known, "grade": [1, -1, 0]}))


def test_a_corpus_of_a_frame_is_that_of_a_file(tmp_path: Path) -> None:
    texts = [[f"comment {k} on article {i}" for k in range(3)] for i in range(6)]
    comments = [[{"id": str(k), "text": text, "upvotes": k} for k, text in enumerate(each)] for each in texts]
    titles = [f"headline {i}" for i in range(6)]
    articles = [
        postil.Article(str(i), titles[i], tuple(postil.Comment(**each) for each in comments[i])) for i in range(6)
    ]
    write(tmp_path / "articles.jsonl", articles)
    options = postil.BuildOptions(source="s", license="l", min_comments=1, min_content_words=0)
    of_file = postil.build_corpus([tmp_path / "articles.jsonl"], tmp_path / "one", options)
    frame = pl.DataFrame({"id": list(range(6)), "headline": titles, "comments": comments})
    of_frame = postil.build_corpus(frame, tmp_path / "two", options, columns={"title": "headline"})
    of_rows = postil.build_corpus(articles, tmp_path / "three", options)
    assert of_file.metadata == of_frame.metadata == of_rows.metadata
    with pytest.raises(postil.InvalidInput, match=r"^articles: no column 'title'; the columns are"):
        postil.build_corpus(frame, tmp_path / "four", options)
    frame.write_ndjson(tmp_path / "articles.jsonl")
    found = postil.build_corpus(
        [tmp_path / "articles.jsonl"], tmp_path / "five", options, columns={"title": "headline"}, inputs=InputOptions()
    )
    assert found.metadata.splits == of_file.metadata.splits
