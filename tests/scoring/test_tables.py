"""Tables of other programs, scored: candidates and references apart, in one table, and in rows that repeat."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import postil
from endpoint_stub import StubServer, completion
from postil.data.options import InputOptions
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Reference
from postil.errors import InvalidInput, UsageError
from postil.judging.calls import judge_rows, open_sources
from postil.messages import COMMAND_LINE
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.weights.calls import plan_weights_files
from postil.weights.options import WeightsPlanOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conftest import Outcome, Postil
    from postil.metrics.result import ScoreResult


METRICS = ("--scale", "1:5", "-m", "w-meteor", "-m", "rouge-l", "--format", "jsonl")
NAMES = ("--column", "item=id", "--column", "text=prediction", "--column", "system=model")
OTHERS = ("--column", "references.item=id", "--column", "references.text=gold", "--column", "references.grade=stars")


def table(path: str, head: Iterable[str], rows: Iterable[Iterable[object]], delimiter: str = ",") -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerow(head)
        writer.writerows(rows)


def grade(row: Reference) -> object:
    return "" if row.mean_grade is None else row.mean_grade


@pytest.fixture
def plain(postil: Postil) -> Outcome:
    """Scores of the rows as JSON Lines; the same rows stand in `c.csv` and `r.tsv` under other names."""
    candidates, references = list(read("c.jsonl", Candidate)), list(read("r.jsonl", Reference))
    table("c.csv", ("id", "model", "prediction", "n"), [(row.item, row.system, row.text, 1) for row in candidates], ";")
    table("r.tsv", ("id", "gold", "stars"), [(row.item, row.text, grade(row)) for row in references], "\t")
    return postil("score", "c.jsonl", "-r", "r.jsonl", *METRICS)


def test_csv_under_other_names(postil: Postil, plain: Outcome) -> None:
    found = postil("score", "c.csv", "-r", "r.tsv", *NAMES, *OTHERS, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert found.err == "c.csv: read with ';' between columns; columns not read: n\n"


def test_standard_input(postil: Postil, plain: Outcome) -> None:
    given = Path("c.csv").read_bytes()
    found = postil("score", "-", "-r", "r.tsv", "--input-format", "csv", *NAMES, *OTHERS, *METRICS, stdin=given)
    assert (found.out, found.code) == (plain.out, 0)
    found = postil("score", "-", "-r", "r.tsv", "--input-format", "parquet", *NAMES, *OTHERS, *METRICS, stdin=given)
    assert (found.code, found.err) == (
        2,
        "postil: a file of format 'parquet' is not read from standard input; give its name\n",
    )


def test_json_with_all_references_of_an_item(postil: Postil, plain: Outcome) -> None:
    items: dict[str, list[object]] = {}
    for row in read("r.jsonl", Reference):
        items.setdefault(row.item, []).append({"gold": row.text, "stars": row.mean_grade})
    Path("r.json").write_text(json.dumps({"rows": [{"id": item, "all": each} for item, each in items.items()]}))
    names = (*OTHERS, "--column", "references.references=all")
    found = postil("score", "c.csv", "-r", "r.json", *NAMES, *names, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert "r.json: rows taken from 'rows'\n" in found.err


def test_one_workbook_for_both(postil: Postil, plain: Outcome) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for page, path, between in ((book.active, "c.csv", ";"), (book.create_sheet("Gold"), "r.tsv", "\t")):
        with Path(path).open(encoding="utf-8", newline="") as lines:
            for row in csv.reader(lines, delimiter=between):
                page.append(row)
    book.save("all.xlsx")
    sheets = ("--sheet", "Sheet", "--sheet", "references=Gold")
    found = postil("score", "all.xlsx", "-r", "all.xlsx", *sheets, *NAMES, *OTHERS, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert found.err == (
        "all.xlsx, references: read from sheet 'Gold'\n"
        "all.xlsx, candidates: read from sheet 'Sheet'; columns not read: n\n"
    )
    found = postil("score", "all.xlsx", "-r", "r.tsv", *NAMES, *OTHERS, *METRICS)
    assert (found.out, found.code) == (plain.out, 0)
    assert "all.xlsx: read from sheet 'Sheet'; columns not read: n\n" in found.err
    gone = ("--column", "item=number", "--column", "text=answer")
    found = postil("score", "all.xlsx", "-r", "r.tsv", *gone, *OTHERS, *METRICS)
    assert (found.code, found.err) == (
        2,
        "postil: all.xlsx: 2 sheets have rows: Sheet, Gold; choose one with --sheet NAME\n",
    )


def test_a_system_of_the_name_of_its_file(postil: Postil, plain: Outcome) -> None:
    del plain
    rows = [row for row in read("c.jsonl", Candidate) if row.system == "plain"]
    table("my-bot.csv", ("item", "text"), [(row.item, row.text) for row in rows])
    found = postil("score", "my-bot.csv", "-r", "r.jsonl", "-m", "rouge-l", "--format", "jsonl")
    assert {system for system, _ in found.scores} == {"my-bot"}
    assert "no column system; the system is called 'my-bot' (another name: --column system==NAME)" in found.err
    found = postil(
        "score", "my-bot.csv", "-r", "r.jsonl", "-m", "rouge-l", "--column", "system==x=y", "--format", "jsonl"
    )
    assert {system for system, _ in found.scores} == {"x=y"}


def test_item_scores_as_csv(postil: Postil, plain: Outcome) -> None:
    for name in ("s.csv", "s.csv.gz", "s.jsonl"):
        found = postil("score", "c.jsonl", "-r", "r.jsonl", *METRICS, "--items", name)
        assert (found.out, found.code) == (plain.out, 0)
    compared = [postil("compare", name, "--format", "jsonl") for name in ("s.jsonl", "s.csv", "s.csv.gz")]
    assert compared[0].code == 0
    assert compared[0].out == compared[1].out == compared[2].out


ASKED = [
    (("--column", "txt=prediction"), 2, "unknown field of candidates 'txt'; did you mean 'text'? Known: item, "),
    (("--column", "refs.text=a"), 2, "unknown file of this command 'refs'; did you mean 'references'? Known: "),
    (("--input-format", "xml"), 2, "unknown input format 'xml'; did you mean "),
    (("--encoding", "utf-9"), 2, "unknown encoding 'utf-9'; for example"),
    (("--delimiter", ";;"), 2, 'one character stands between columns, or the word tab; got ";;"'),
    ((), 3, "c.csv:4: id: expected one candidate for each item and system, got a second for 'a' by 'c'; leave one out"),
    (NAMES[:2], 3, "c.csv:4: id: expected one candidate for each item and system, got a second for 'a' by 'c'"),
    (("--column", "item=id", "--column", "text=answer"), 3, "c.csv:1: answer: no such column; the file has: id, model"),
    (("--column", "item=idd", *NAMES[2:]), 3, "c.csv:1: idd: no such column; did you mean 'id'? The file has: "),
    (
        (*NAMES, "--delimiter", "candidates=,"),
        3,
        'c.csv:1: id: no such column; the file has: id;model;prediction;n; is ";" between the columns? --delimiter ";"',
    ),
]


@pytest.mark.parametrize(("words", "code", "said"), ASKED)
def test_what_is_asked_for_and_is_not_there(
    postil: Postil, plain: Outcome, words: tuple[str, ...], code: int, said: str
) -> None:
    del plain
    found = postil("score", "c.csv", "-r", "r.tsv", "-m", "rouge-l", *OTHERS, *words)
    assert (found.code, found.out) == (code, "")
    assert found.err.startswith(f"postil: {said}"), found.err
    assert found.err.count("\n") == 1


def test_the_error_names_the_column_of_the_file(postil: Postil, plain: Outcome) -> None:
    del plain
    given = Path("c.csv").read_bytes()
    Path("c.csv").write_bytes(given.replace(b"\r\n", b"\r\nnobody;plain;x;1\r\n", 1))
    found = postil("score", "c.csv", "-r", "r.tsv", *NAMES, *OTHERS, *METRICS)
    assert found.err == "postil: c.csv:2: id: expected an item that has references (a, b), got 'nobody'\n"
    assert found.code == 3


def test_items_that_have_words_around_what_a_star_stands_for(postil: Postil) -> None:
    Path("c.csv").write_text("pupil,A1,A2\nann,a b,c d\n", encoding="utf-8")
    Path("k.csv").write_text("item,text\nQuestion 1,a b\nQuestion 2,c d\n", encoding="utf-8")
    wide = ("score", "c.csv", "-r", "k.csv", "--column", "system=pupil", "--column", "text=A*", "-m", "rouge-l")
    refused = postil(*wide, "--column", "item=*")
    assert refused.code == 3
    assert refused.err.endswith(
        "expected an item that has references (Question 1, Question 2), got '1'; with words before it: "
        "--column 'item==Question *'\n"
    )
    scored = postil(*wide, "--column", "item==Question *", "--format", "jsonl")
    assert scored.scores == {("ann", "rouge-l"): 1.0}
    Path("k.csv").write_text("item,text\n11,a b\n12,c d\n", encoding="utf-8")
    assert postil(*wide, "--column", "item=*").err.endswith("expected an item that has references (11, 12), got '1'\n")


SURVEY = """\
Response,Model,Answer,Gold,Other gold
7,big,The bus is late,The night bus is late,A late bus
7,small,Bus,The night bus is late,A late bus
8,big,It rains,Rain,
8,small,Snow,Rain,
"""


def test_one_table_with_a_row_per_text(postil: Postil) -> None:
    """References need no column of the item of their own, and count once, however many systems repeat them."""
    Path("survey.csv").write_text(SURVEY, encoding="utf-8")
    names = ("--column", "item=Response", "--column", "system=Model", "--column", "text=Answer")
    found = postil(
        *("score", "survey.csv", "-r", "survey.csv", *names, "--column", "references.text=Gold|Other gold"),
        *("-m", "rouge-l", "--format", "json"),
    )
    assert found.code == 0, found.err
    assert "survey.csv, references: 3 references that several rows of an item repeat, taken once each\n" in found.err
    write(
        "c.jsonl",
        [
            Candidate("7", "big", "The bus is late"),
            Candidate("7", "small", "Bus"),
            Candidate("8", "big", "It rains"),
            Candidate("8", "small", "Snow"),
        ],
    )
    write("r.jsonl", [Reference("7", "The night bus is late"), Reference("7", "A late bus"), Reference("8", "Rain")])
    assert found.out == postil("score", "c.jsonl", "-r", "r.jsonl", "-m", "rouge-l", "--format", "json").out


PAIRED = ("rouge-l(over=top-3)", "rouge-l(over=mean)", "cider")
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
BY_NAME = {"text": "out", "references.text": "gold"}
KINDS = ("csv", "jsonl", "json", "parquet", "arrow", "xlsx")


def right(rows: Sequence[Mapping[str, Any]]) -> ScoreResult:
    """Scores of the rows of a table, by candidates and references of their own."""
    candidates = [Candidate(row["item"], row["system"], row["out"]) for row in rows]
    golds = dict.fromkeys((row["item"], each) for row in rows for each in _golds(row))
    return postil.score(candidates, [Reference(*each) for each in golds], metrics=PAIRED)


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
    chosen: dict[str, Any] = {"metrics": PAIRED, **options}
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
            result = postil.score(candidates, references, columns=BY_NAME, metrics=PAIRED)
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
        postil.score(rows, list(rows), columns=BY_NAME, metrics=["w-rouge-l"], scale=postil.Scale(0, 9))
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
    names = {**BY_NAME, "references.grade": "points"}
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


TWO = ("a.jsonl", "b.csv")
"""Files of one system each, without a column of systems."""


@pytest.fixture
def of_systems(postil: Postil) -> Outcome:
    """Scores of two systems in one file; each has files of its own under its name, in several formats."""
    texts: dict[str, list[tuple[str, str]]] = {"a": [], "b": []}
    with Path("both.jsonl").open("w", encoding="utf-8") as out:
        for system, (first, second) in {"a": ("the cat sat", "a dog barked"), "b": ("A cat!", "dogs bark")}.items():
            for item, text in (("1", first), ("2", second)):
                texts[system].append((item, text))
                out.write(json.dumps({"item": item, "system": system, "text": text}) + "\n")
    for system, rows in texts.items():
        objects = [{"item": int(item), "text": text} for item, text in rows]
        Path(f"{system}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in objects))
        Path(f"{system}.json").write_text(json.dumps(objects))
        table(f"{system}.csv", ("item", "prediction"), rows)
        pd.DataFrame(objects).to_parquet(f"{system}.parquet")
        pd.DataFrame(objects).to_excel(f"{system}.xlsx", index=False)
        Path(f"{system}.txt").write_text("".join(f"{text}\n" for _, text in rows))
        Path(f"folder/{system}").mkdir(parents=True)
        Path(f"folder/{system}/part.jsonl").write_text(Path(f"{system}.jsonl").read_text())
        table(f"{system}.own.csv", ("item", "system", "text"), [(item, system, text) for item, text in rows])
    table("refs.csv", ("item", "text", "grade"), [(1, "the cat sat down", 4), (2, "dogs bark", 5), (1, "a cat", 2)])
    Path("refs.txt").write_text("the cat sat down\ndogs bark\n")
    return postil("score", "both.jsonl", "-r", "refs.csv", *METRICS)


@pytest.mark.parametrize(
    "files",
    [
        TWO,
        ("a.txt", "b.json"),
        ("a.parquet", "b.xlsx"),
        ("a.csv", "folder/b"),
        ("folder/a/", "b.txt"),
        ("a.own.csv", "b.txt"),
        ("a.jsonl", "b.own.csv"),
    ],
)
def test_a_file_for_each_system(postil: Postil, of_systems: Outcome, files: tuple[str, ...]) -> None:
    found = postil("score", *files, "-r", "refs.csv", *METRICS)
    assert (found.code, found.out) == (0, of_systems.out), found.err
    said = "no column system; all rows are of '{}' (if there is one: --column system=COLUMN)"
    named = [f"{file}: {said.format(system)}" for file, system in zip(files, "ab", strict=True) if "own" not in file]
    assert [line for line in found.err.splitlines() if "no column system" in line] == named


def test_a_file_for_each_system_has_all_that_one_file_has(postil: Postil, of_systems: Outcome) -> None:
    words = ("-r", "refs.csv", "--scale", "1:5", "-m", "rouge-l", "-m", "w-meteor")
    assert of_systems.code == 0
    for more in (
        ("--items", "i.jsonl"),
        ("--layout", "systems"),
        ("--format", "csv"),
        ("--controls", "--items", "i.csv"),
    ):
        one = postil("score", "both.jsonl", *words, *more)
        written = [Path(each).read_text() for each in more if each.startswith("i.")]
        several = postil("score", *TWO, *words, *more)
        assert (several.code, several.out) == (0, one.out)
        assert [Path(each).read_text() for each in more if each.startswith("i.")] == written
    alone = postil("score", "a.csv", "-r", "refs.csv", *METRICS)
    assert "a.csv: no column system; the system is called 'a' (another name: --column system==NAME)" in alone.err
    assert alone.scores == {key: value for key, value in of_systems.scores.items() if key[0] == "a"}


def test_files_of_lines_belong_together_row_by_row(postil: Postil, of_systems: Outcome) -> None:
    assert of_systems.code == 0
    found = postil("score", "a.txt", "b.txt", "-r", "refs.txt", *METRICS[4:])
    assert found.scores == postil("score", "both.jsonl", "-r", "refs.txt", *METRICS[4:]).scores
    Path("b.txt").write_text("A cat!\n")
    found = postil("score", "a.txt", "b.txt", "-r", "refs.txt", *METRICS[4:])
    assert found.code == 3
    assert found.err.splitlines()[-1] == (
        "postil: b.txt: expected as many rows as refs.txt has, since row i of both belongs to item i: 2, got 1"
    )


def test_one_of_the_files_is_standard_input(postil: Postil, of_systems: Outcome) -> None:
    found = postil("score", "-", "b.csv", "-r", "refs.csv", *METRICS, stdin=Path("a.jsonl").read_bytes())
    assert found.scores == {(key[0].replace("a", "stdin"), key[1]): of for key, of in of_systems.scores.items()}
    found = postil("score", "-", "-", "-r", "refs.csv", *METRICS, stdin=b"")
    assert (found.code, found.err) == (2, "postil: only one of the files can be standard input\n")


def test_references_beside_the_texts_of_one_of_the_files(postil: Postil, of_systems: Outcome) -> None:
    table("a.csv", ("item", "output", "reference"), [(1, "the cat sat", "the cat"), (2, "a dog barked", "dogs bark")])
    found = postil("score", "b.txt", "a.csv", "-r", "a.csv", *METRICS[4:])
    table("gold.csv", ("item", "text"), [(1, "the cat"), (2, "dogs bark")])
    assert found.scores == postil("score", "both.jsonl", "-r", "gold.csv", *METRICS[4:]).scores != of_systems.scores


def test_columns_of_systems_beside_one_another(postil: Postil, of_systems: Outcome) -> None:
    table("one.csv", ("item", "b_out", "c_out"), [(1, "A cat!", "x"), (2, "dogs bark", "y")])
    table("two.csv", ("item", "a_out"), [(1, "the cat sat"), (2, "a dog barked")])
    found = postil("score", "one.csv", "two.csv", "-r", "refs.csv", *METRICS, "--column", "text=*_out")
    assert list(dict.fromkeys(system for system, _ in found.scores)) == ["b", "c", "a"]
    assert {key: value for key, value in found.scores.items() if key[0] != "c"} == of_systems.scores


TWICE = (
    "b.csv:2: item: expected one candidate for each item and system, got a second for '1' by '{system}' (the first is "
    "in {file}); leave one out, or name the column of the system: --column system=COLUMN"
)
SAME = (
    "folder/a: no column system, so the system is called 'a' like the file, and so is that of a.txt; rename one of the "
    "two files, or give their rows a column system"
)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("both.jsonl", "b.csv"), 3, TWICE.format(system="b", file="both.jsonl")),
        (("a.txt", "b.csv", "--column", "system==mine"), 3, TWICE.format(system="mine", file="a.txt")),
        (("a.txt", "folder/a"), 2, SAME),
        (("a.txt", "b.txt", "a.txt"), 2, "a.txt: expected each file of candidates once, got it twice"),
        (("a.txt", "none.txt"), 3, "none.txt: no such file"),
        (("a.jsonl", "b"), 2, "b: unknown kind of file"),
        (("a.txt", "b.csv", "--items", "b.csv"), 2, "b.csv: would be written over b.csv, which is read; name another"),
    ],
)
def test_files_of_systems_that_do_not_go_together(
    postil: Postil, of_systems: Outcome, words: tuple[str, ...], code: int, said: str
) -> None:
    assert of_systems.code == 0
    found = postil("score", *words, "-r", "refs.csv", "-m", "rouge-l")
    assert (found.code, found.out) == (code, "")
    assert found.err.splitlines()[-1].startswith(f"postil: {said}"), found.err


APART = (
    "; where the files of candidates have other columns each, score each by itself, with its own --column FIELD=COLUMN "
    "and --items FILE: postil compare and postil correlate take several files of item scores"
)
NAMED_APART = {"bart": ("fname", "generated_summary"), "t5": ("dialogue_id", "pred"), "pegasus": ("id", "hyp")}


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def named_apart(postil: Postil, request: pytest.FixtureRequest) -> list[str]:  # noqa: ARG001 - its folder
    """Files of candidates whose columns have other names each, and a file of references."""
    texts = ["the cat sat", "a dog ran", "rain fell"]
    table("refs.csv", ("id", "text"), [(f"d{i}", f"{text} here") for i, text in enumerate(texts)])
    for name, (item, column) in NAMED_APART.items():
        rows = [{item: f"d{i}", column: text} for i, text in enumerate(texts)]
        if request.param == "jsonl":
            Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif request.param == "parquet":
            pl.DataFrame(rows).write_parquet(f"{name}.parquet")
        else:
            table(f"{name}.csv", (item, column), [row.values() for row in rows])
    return [f"{name}.{request.param}" for name in NAMED_APART]


def test_files_of_systems_with_columns_of_their_own_are_scored_apart(postil: Postil, named_apart: list[str]) -> None:
    files = named_apart
    for words in ((), ("--column", "text=pred"), ("--column", "text=pred|hyp"), ("--column", "bart.text=pred")):
        wrong = postil("score", *files, "-r", "refs.csv", "-m", "rouge-l", *words)
        assert (wrong.code, wrong.out) == (2 if "bart.text=pred" in words else 3, "")
        assert wrong.err.endswith(f"{APART}\n"), wrong.err
    for words in ((files[0],), (files[0], "--column", "text=pred"), (*files, "--column", "reference.text=pred")):
        wrong = postil("score", *words, "-r", "refs.csv", "-m", "rouge-l")
        assert wrong.code in {2, 3}
        assert APART not in wrong.err
    for file, (name, (item, text)) in zip(files, NAMED_APART.items(), strict=True):
        columns = ("--column", f"item={item}", "--column", f"text={text}")
        done = postil("score", file, "-r", "refs.csv", "-m", "rouge-l", *columns, "--items", f"{name}.items.jsonl")
        assert done.code == 0, done.err
    compared = postil("compare", *(f"{name}.items.jsonl" for name in NAMED_APART), "--format", "json")
    assert [row["system"] for row in json.loads(compared.out)["systems"]] == list(NAMED_APART)


def test_a_row_without_a_text_is_no_file_without_the_column(postil: Postil) -> None:
    Path("a.jsonl").write_text('{"item": 1, "text": "a"}\n{"item": 2}\n')
    Path("b.jsonl").write_text('{"item": 1, "text": "a"}\n{"item": 2, "text": "b"}\n')
    Path("r.jsonl").write_text('{"item": 1, "text": "a"}\n{"item": 2, "text": "b"}\n')
    wrong = postil("score", "a.jsonl", "b.jsonl", "-r", "r.jsonl", "-m", "rouge-l")
    assert (wrong.code, wrong.out) == (3, "")
    assert "a.jsonl:2: text: missing; " in wrong.err
    assert APART not in wrong.err


def test_more_files_than_a_byte_can_number(
    postil: Postil, of_systems: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert of_systems.code == 0
    monkeypatch.setattr("postil.scoring.graded.OTHER_FILES", 3)
    names = [f"s{number}.txt" for number in range(5)]
    for name in names:
        Path(name).write_text("a\nb\n")
    found = postil("score", *names, "-r", "refs.csv", *METRICS[4:])
    assert [system for system, _ in found.scores] == ["s0", "s1", "s2", "s3", "s4"]
    for system, said in (("s1", "'s1' (the first is in s1.txt); leave"), ("s3", "'s3'; leave")):
        Path("twice.jsonl").write_text(f'{{"item": 1, "system": "{system}", "text": "a"}}\n')
        found = postil("score", *names, "twice.jsonl", "-r", "refs.csv", "-m", "bleu-1")
        assert (found.code, "twice.jsonl:1: item: expected one candidate for each" in found.err) == (3, True)
        assert f"got a second for '1' by {said}" in found.err
