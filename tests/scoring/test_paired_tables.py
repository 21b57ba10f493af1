"""One table for candidates and references, and references that rows repeat: what counts once, and what does not."""

from __future__ import annotations

import csv
import json
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import postil
from endpoint_stub import StubServer, completion
from postil.data.options import InputOptions
from postil.data.rows import Candidate, Reference
from postil.errors import InvalidInput, UsageError
from postil.judging.calls import judge_rows, open_sources
from postil.messages import COMMAND_LINE
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.weights.calls import WeightsPlanOptions, plan_weights_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from postil.metrics.result import ScoreResult

METRICS = ("rouge-l(over=top-3)", "rouge-l(over=mean)", "cider")
TEXTS = {
    "1": (["the cat sat on a mat"], ("the cat sat on the mat", "a dog", "the mat")),
    "2": (["it rained all day", "rain"], ("rain all day", "no rain", "it rained")),
}
LONG: list[dict[str, Any]] = [
    {"item": item, "system": system, "out": out, "gold": gold, "points": 4}
    for item, (gold, outs) in TEXTS.items()
    for system, out in zip(("a", "b", "c"), outs, strict=True)
]
"""A row per text, with all references of its item."""
FLAT = [{**row, "gold": row["gold"][0]} for row in LONG]
"""A row per text, with the first reference of its item."""
NAMES = {"text": "out", "references.text": "gold"}
KINDS = ("csv", "jsonl", "json", "parquet", "arrow", "xlsx")


def right(rows: Sequence[Mapping[str, Any]]) -> ScoreResult:
    """Scores of the rows of a table, by candidates and references of their own."""
    candidates = [Candidate(row["item"], row["system"], row["out"]) for row in rows]
    golds = dict.fromkeys((row["item"], each) for row in rows for each in _golds(row))
    return postil.score(candidates, [Reference(*each) for each in golds], metrics=METRICS)


def _golds(row: Mapping[str, Any]) -> list[str]:
    gold = row["gold"]
    return gold if isinstance(gold, list) else [gold]


def save(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows in the format that the name of the file tells."""
    table = pd.DataFrame(rows)
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, list(table.columns))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix in {".json", ".jsonl"}:
        lines = [json.dumps(row) for row in rows]
        path.write_text("\n".join(lines) if path.suffix == ".jsonl" else f"[{','.join(lines)}]", encoding="utf-8")
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".arrow":
        table.to_feather(path)
    else:
        pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
        table.to_excel(path, index=False)
    return str(path)


def scored(
    candidates: str, references: str, *columns: str, gold: str = "text", **options: Any
) -> tuple[ScoreResult, list[str]]:
    said: list[str] = []
    chosen: dict[str, Any] = {"metrics": METRICS, **options}
    asked = ScoreOptions(column=("text=out", f"references.{gold}=gold", *columns), **chosen)
    return score_files(candidates, references, asked, said.append), said


def numbers(result: ScoreResult) -> list[tuple[str, str, float, str]]:
    return [(row.system, row.metric, row.score, row.signature) for row in result.scores]


@pytest.mark.parametrize("rows", [FLAT, LONG], ids=["flat", "lists"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_file_with_a_column_called_system(tmp_path: Path, kind: str, rows: list[dict[str, Any]]) -> None:
    """The references are those of the item, once each, whatever the columns of the candidates are called."""
    if rows is LONG and kind == "xlsx":
        rows = [{**row, "gold": json.dumps(row["gold"])} for row in rows]
    gold = "text" if rows is FLAT else "references"
    wanted = numbers(right(FLAT if rows is FLAT else LONG))
    path = save(tmp_path / f"one.{kind}", rows)
    result, said = scored(path, path, gold=gold)
    assert numbers(result) == wanted
    count = 4 if rows is FLAT else 6
    assert f"{path}, references: {count} references that several rows of an item repeat, taken once each" in said
    changed = [{"model" if key == "system" else key: value for key, value in row.items()} for row in rows]
    renamed = save(tmp_path / f"other.{kind}", changed)
    assert numbers(scored(renamed, renamed, "system=model", gold=gold)[0]) == wanted


@pytest.mark.parametrize("change", ["equal", "longer", "shuffled", "only references", "numbered"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_references_are_in_another_file(tmp_path: Path, kind: str, change: str) -> None:
    """A copy of the table, or of its columns, is no more references than the table."""
    rows: list[dict[str, Any]] = [{"id": n, **row} for n, row in enumerate(FLAT)] if change == "numbered" else FLAT
    other = {
        "equal": rows,
        "longer": [{**row, "note": "x"} for row in rows],
        "shuffled": [*rows[1::2], *rows[::2]],
        "only references": [{key: row[key] for key in ("item", "system", "gold")} for row in rows],
        "numbered": [{**row, "note": "x"} for row in rows],
    }[change]
    result, _ = scored(save(tmp_path / f"one.{kind}", rows), save(tmp_path / f"other.{kind}", other))
    assert sorted(numbers(result)) == sorted(numbers(right(FLAT)))


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, list], ids=["pandas", "polars", "list"])
@pytest.mark.parametrize("rows", [FLAT, LONG], ids=["flat", "lists"])
def test_one_table_of_python_and_its_copy(made: Callable[[Any], Any], rows: list[dict[str, Any]]) -> None:
    table, copied = made(rows), made([dict(row) for row in rows])
    several = [(table, table), (table, copied), (table, made([{**row, "id": n} for n, row in enumerate(rows)]))]
    for candidates, references in several:
        with pytest.warns(UserWarning, match="references that several rows of an item repeat, taken once each"):
            result = postil.score(candidates, references, columns=NAMES, metrics=METRICS)
        assert numbers(result) == numbers(right(rows))


def test_a_declared_id_tells_equal_references_apart(tmp_path: Path) -> None:
    gold = [("1", "lol", 4, "c1"), ("1", "lol", 4, "c2"), ("1", "rain today", 4, "c3")]
    candidates = [Candidate("1", "a", "rain")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        several = postil.score(
            candidates, [Reference(i, t, g, id=c) for i, t, g, c in gold], metrics=["rouge-l(over=mean)"]
        )
        graded = postil.score(candidates, [Reference("1", "lol", 4), Reference("1", "lol", 5)], metrics=["rouge-1"])
    assert "|references:3|" in several.signatures["rouge-l(over=mean)"]
    assert "|references:2|" in graded.signatures["rouge-1"]
    advice = r"where they are several, name the column that tells them apart: columns=\{'references.id': COLUMN\}"
    with pytest.warns(UserWarning, match=advice):
        one = postil.score(candidates, [Reference(i, t, g) for i, t, g, _ in gold], metrics=["rouge-l(over=mean)"])
    assert "|references:2|" in one.signatures["rouge-l(over=mean)"]
    assert several.corpus["rouge-l(over=mean)"] == pytest.approx(one.corpus["rouge-l(over=mean)"] * 2 / 3)
    path = save(tmp_path / "r.csv", [{"item": i, "gold": t, "points": g, "comment": c} for i, t, g, c in gold])
    texts = save(
        tmp_path / "c.csv", [{"item": "1", "system": "a", "out": "rain"}, {"item": "1", "system": "b", "out": "x"}]
    )
    for column, size in ((("references.id=comment",), 3), ((), 2)):
        assert f"|references:{size}|" in scored(texts, path, *column, metrics=("rouge-1",))[0].scores[0].signature


def test_a_named_column_of_one_table_counts(tmp_path: Path) -> None:
    """An id that is named is taken, also from a column of the candidates."""
    path = save(tmp_path / "one.csv", FLAT)
    result, said = scored(path, path, "references.id=system")
    assert "|references:3|" in result.scores[0].signature
    assert not any("taken once" in each for each in said)


def test_two_equal_references_in_one_list_are_two() -> None:
    table = [{"item": 1, "system": system, "out": "a b", "gold": ["a", "a", "b"]} for system in "xy"]
    table += [{"item": 2, "system": system, "out": "a b", "gold": ["c"]} for system in "xy"]
    columns = {"text": "out", "references.references": "gold"}
    with pytest.warns(UserWarning, match="references: 4 references that several rows"):
        result = postil.score(table, table, columns=columns, metrics=["rouge-1"])
    assert "|references:1-3|" in result.signatures["rouge-1"]


def test_objects_in_a_list_keep_their_ids() -> None:
    """A list of objects has fields of its own, which are no columns of the candidates."""
    gold = [{"text": "a", "id": 1, "system": "x"}, {"text": "a", "id": 2, "system": "x"}]
    table = [{"item": 1, "system": system, "out": "a b", "gold": gold} for system in "xy"]
    columns = {"text": "out", "references.references": "gold"}
    with pytest.warns(UserWarning, match="references: 2 references that several rows"):
        result = postil.score(table, table, columns=columns, metrics=["rouge-1"])
    assert "|references:2|" in result.signatures["rouge-1"]


@pytest.mark.parametrize("copy", [False, True])
def test_a_grade_that_differs_is_the_candidates(tmp_path: Path, copy: bool) -> None:
    """A column `grade` that nobody named, and that differs where a reference is repeated, is no grade of it."""
    rows = [{**row, "grade": number} for number, row in enumerate(FLAT)]
    path = save(tmp_path / "one.csv", rows)
    other = save(tmp_path / "two.csv", rows) if copy else path
    result, said = scored(path, other)
    assert numbers(result) == numbers(right(FLAT))
    assert any("grade differs from that in row 2, where the same reference stands" in each for each in said)
    with pytest.raises(InvalidInput, match=r"csv:3: grade: differs .*name the column of the references: col") as caught:
        score_files(
            path,
            other,
            ScoreOptions(metrics=("w-rouge-l",), scale=postil.Scale(0, 9), column=("text=out", "references.text=gold")),
            lambda _: None,
        )
    assert caught.value.words(COMMAND_LINE).endswith("references: --column references.grade=COLUMN")
    with pytest.raises(InvalidInput, match=r"references:2: grade: differs .*columns=\{'references.grade': COLUMN\}"):
        postil.score(rows, list(rows), columns=NAMES, metrics=["w-rouge-l"], scale=postil.Scale(0, 9))
    # A grade that is the same for all rows of a reference is its own, and so is one that was named.
    fixed = save(tmp_path / "fixed.csv", [{**row, "grade": row["points"]} for row in FLAT])
    for column in ((), ("references.grade=points",)):
        asked = ScoreOptions(
            metrics=("w-rouge-l",), scale=postil.Scale(0, 5), column=("text=out", "references.text=gold", *column)
        )
        assert "|references:1|" in score_files(fixed, fixed, asked, lambda _: None).scores[0].signature


@pytest.mark.parametrize("columns", [(), ("item=item",), ("references.grade=points",)])
def test_one_column_of_one_file_is_refused(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """Texts that would be scored against themselves."""
    path = save(tmp_path / "one.csv", FLAT)
    options = ScoreOptions(metrics=("rouge-1",), column=columns)
    with pytest.raises(UsageError, match="candidates and references are the same file; name the columns of each"):
        score_files(path, path, options, lambda _: None)


@pytest.mark.parametrize("same", [True, False])
def test_a_judge_keeps_its_examples(tmp_path: Path, same: bool) -> None:
    """References of a table with a column `system` are not by the systems that it names."""
    rows = [row for row in FLAT if row["system"] == "a"]
    path = save(tmp_path / "one.csv", rows)
    other = path if same else save(tmp_path / "two.csv", rows)
    table = rows if same else [dict(row) for row in rows]
    names = {**NAMES, "references.grade": "points"}
    prompts: list[str] = []

    def answer(asked: Any) -> Any:
        prompts.append(asked.prompt)
        return completion("4", tokens={"4": 0.0})

    with StubServer(answer) as stub:
        options = postil.JudgeOptions(endpoint=stub.url, model="m", scale=postil.Scale(1, 5))
        inputs = InputOptions(column=tuple(f"{field}={column}" for field, column in names.items()))
        paths = {"candidates": path, "references": other, "articles": None, "judgements": None}
        judge_rows(open_sources(paths, options, inputs, lambda _: None), options)
        postil.judge(rows, table, options=options, columns=names)
    assert len(prompts) == 2 * len(rows)
    for row in rows:
        assert sum(row["gold"] in prompt for prompt in prompts) == 2


def test_a_plan_has_each_reference_once(tmp_path: Path) -> None:
    path = save(tmp_path / "one.jsonl", [{**row, "grade": number} for number, row in enumerate(FLAT)])
    options = WeightsPlanOptions(budget="2", column=("text=out", "references.text=gold", "references.grade="))
    plan = plan_weights_files(path, path, options, lambda _: None)
    assert sorted((row.item, row.reference) for row in plan.rows) == [("1", 1), ("2", 1)]


def test_consensus_weights_of_a_table_with_repetitions() -> None:
    """A reference that rows repeat is not like itself; each row has the weight of its reference."""
    once = [{"item": "1", "text": text} for text in ("a b", "a c", "d b")]
    weights = postil.consensus_weights(once)
    again = [{**row, "system": system} for row in once for system in "xyz"]
    assert postil.consensus_weights(again) == [weight for weight in weights for _ in "xyz"]
