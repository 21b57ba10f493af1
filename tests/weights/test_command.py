"""`postil weights plan`, and what its rows are for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil as package
from command_line import put
from postil.campaigns.store import Store
from postil.data.row_files import write
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Candidate, Reference
from postil.errors import UsageError
from postil.weights.calls import plan_weights
from postil.weights.options import WeightsPlanOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Postil
    from postil.weights.calls import WeightsPlanResult

TEXTS = [("a", "s1", "the night bus"), ("a", "s2", "the night bus runs"), ("b", "s1", "rain"), ("b", "s2", "no rain")]
REFERENCES = [("a", "the bus"), ("b", "sun"), ("a", "the night bus runs"), ("b", "rain"), ("a", "lol"), ("c", "alone")]


def planned(
    texts: Sequence[tuple[str, str, str]], references: Sequence[Reference], budget: str, **options: object
) -> WeightsPlanResult:
    return plan_weights(
        LocatedRows(iter([Candidate(*row) for row in texts]), RowLocations("c")),
        LocatedRows(iter(references), RowLocations("r")),
        WeightsPlanOptions(budget=budget, **options),  # type: ignore[arg-type]
    )


@pytest.fixture
def files(postil: Postil) -> Postil:
    write("c.jsonl", [Candidate(*row) for row in TEXTS])
    write("r.jsonl", [Reference(*row) for row in REFERENCES])
    return postil


def test_json(files: Postil) -> None:
    outcome = files("weights", "plan", "c.jsonl", "-r", "r.jsonl", "--budget", 3, "--format", "json")
    assert not outcome.err
    found = json.loads(outcome.out)
    assert list(found) == ["schema", "kind", "budget", "rows", "covered", "notes"]
    assert (found["kind"], found["budget"]) == ("weights-plan", 3)
    assert [list(row.values())[:4] for row in found["rows"]] == [
        ["a", 2, "the night bus runs", 1],
        ["b", 2, "rain", 2],
        ["a", 1, "the bus", 3],
    ]
    scores = package.score([text for _, _, text in TEXTS[:2]], [["the night bus runs"]] * 2, metrics=["rouge-l"])
    assert found["rows"][0]["gain"] == pytest.approx(scores.items["rouge-l"].sum())
    assert found["covered"][-1] == pytest.approx(1.0)
    assert found["notes"] == [
        "6 references of 3 items, none graded; 4 texts to be scored; similarity rouge-l",
        "1 item without candidates: none of their references is planned",
    ]


def test_table(files: Postil) -> None:
    outcome = files("weights", "plan", "c.jsonl", "-r", "r.jsonl", "--budget", "60%")
    head, _, columns, _, first, *_ = outcome.out.splitlines()
    assert head.startswith("3 references to grade, 100.0 % of the value")
    assert columns.split() == ["order", "item", "reference", "gain", "text"]
    assert first.split(maxsplit=4)[:3] == ["1", "a", "2"]
    assert outcome.out.split("covered\n")[1].splitlines()[3].split() == ["3", "100.0", "%"]
    outcome = files("weights", "plan", "c.jsonl", "-r", "r.jsonl", "--budget", 1)
    assert (
        "note: the budget is below one reference per item (2 items have no graded one): weighted metrics then gain "
        "little or nothing, however the references are chosen\n" in outcome.out
    )


def test_graded_references_count_as_chosen() -> None:
    graded = [Reference(item, text, grade=4 if text == "rain" else None) for item, text in REFERENCES]
    result = planned(TEXTS, graded, "100%")
    assert result.budget == 4
    assert [(row.item, row.reference) for row in result.rows[:2]] == [("a", 2), ("a", 1)]
    assert result.covered[0] > 0.5
    weighted = [Reference(item, text, weight=0.5 if text == "rain" else None) for item, text in REFERENCES]
    assert planned(TEXTS, weighted, "100%").rows == result.rows


def test_a_share_is_of_those_that_can_be_planned() -> None:
    rows = [Reference(*row) for row in REFERENCES]
    assert [planned(TEXTS, rows, budget).budget for budget in ("20%", "50 %", "1%", "100%", "5", "99.9%")] == [
        1,
        3,
        1,
        5,
        5,
        5,
    ]


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--budget", "0"), "budget: expected at least one reference, got '0'", 2),
        (("--budget", "0%"), "budget: expected at least one reference, got '0%'", 2),
        (("--budget", "101%"), "budget: expected a share of at most 100%, got '101%'", 2),
        (("--budget", "%20"), "expected a number of references such as 100, or a share such as 20%, got '%20'", 2),
        (("--budget", "-5"), "expected a number of references such as 100", 2),
        (("--budget", ".2"), "got '.2'; for a share of them: 20%", 2),
        (("--budget", "6"), "--budget: expected at most 5, as many references have no grade, got 6", 2),
        (("--budget", "1", "-m", "meteoor"), "unknown metric 'meteoor'; did you mean 'meteor'?", 2),
        (("--budget", "1", "-m", "w-meteor"), "--metric: expected a metric that reads no weights, got 'w-meteor'", 2),
        (("--budget", "1", "--each", "0"), "--each", 2),
        (("--budget", "1", "--out", "r.jsonl"), "r.jsonl", 2),
        (("--budget", "1", "--out", "plan.txt"), "plan.txt: unknown kind of file", 2),
        ((), "--budget", 2),
    ],
)
def test_wrong_words(files: Postil, words: tuple[str, ...], said: str, code: int) -> None:
    outcome = files("weights", "plan", "c.jsonl", "-r", "r.jsonl", *words)
    assert said in outcome.err
    assert outcome.code == code


def test_wrong_files(files: Postil) -> None:
    write("x.jsonl", [Candidate("a", "s", "the bus"), Candidate("x", "s", "the bus")])
    outcome = files("weights", "plan", "x.jsonl", "-r", "r.jsonl", "--budget", 1)
    assert "x.jsonl:2: item: expected an item that has references (a, b, c), got 'x'" in outcome.err
    outcome = files("weights", "plan", "r.jsonl", "-r", "r.jsonl", "--budget", 1)
    assert "candidates and references are the same file; name the columns of each" in outcome.err
    outcome = files("weights", "plan", "-", "-r", "-", "--budget", 1)
    assert "candidates and references cannot both come from standard input" in outcome.err
    with pytest.raises(UsageError, match="there is nothing to plan: every reference of an item with candidates has"):
        planned(TEXTS, [Reference(item, text, grade=3) for item, text in REFERENCES], "20%")


def test_articles_beside_the_references(files: Postil) -> None:
    pytest.importorskip("sqlalchemy")
    files("weights", "plan", "c.jsonl", "-r", "r.jsonl", "--budget", 2, "--out", "rows.jsonl")
    articles = [{"id": name, "title": f"On {name}", "comments": [], "content": "…"} for name in "ab"]
    put("articles.jsonl", articles)
    command = ("annotate", "plan", "rows.jsonl", "one.db", "--annotators", 1, "-k", 1, "--articles", "articles.jsonl")
    assert files(*command).code == 0
    with Store.open("one.db") as store:
        assert [item.title for item in store.items()] == ["On a", "On b"]
        assert store.campaign().item_type == "comment"
    Path("articles.jsonl").write_text(json.dumps(articles[0]) + "\n", encoding="utf-8")
    outcome = files(*(part if part != "one.db" else "two.db" for part in command))
    assert "rows.jsonl:2: item: there is no article 'b' in articles.jsonl" in outcome.err


def test_candidates_with_a_column_of_that_name_are_no_plan(files: Postil) -> None:
    pytest.importorskip("sqlalchemy")
    Path("mine.csv").write_text("item,text,reference\na,bus,the bus\n", encoding="utf-8")
    Path("articles.jsonl").write_text('{"id": "a", "title": "A", "comments": []}\n', encoding="utf-8")
    command = ("annotate", "plan", "mine.csv", "one.db", "--annotators", 1, "-k", 1, "--articles", "articles.jsonl")
    assert files(*command).code == 0
    with Store.open("one.db") as store:
        assert [(item.system, store.campaign().item_type) for item in store.items()] == [("mine", "comment")]


@pytest.mark.usefixtures("nothing_stays_registered")
def test_own_metrics(files: Postil) -> None:
    body = "def same(candidate, references):\n    return float(candidate in references)\n"
    Path("own.py").write_text(f"import postil\n\n@postil.register_metric(low=0)\n{body}", encoding="utf-8")
    command = ("weights", "plan", "c.jsonl", "-r", "r.jsonl", "--budget", 2, "--format", "jsonl")
    outcome = files(*command, "--plugin", "own.py", "-m", "same")
    assert [json.loads(line)["text"] for line in outcome.out.splitlines()] == ["the night bus runs", "rain"]


def test_the_picture() -> None:
    pytest.importorskip("matplotlib")
    result = planned(TEXTS, [Reference(*row) for row in REFERENCES], "100%")
    assert result.plot().axes[0].lines[0].get_ydata()[-1] == pytest.approx(1.0)
    assert repr(result) == "WeightsPlanResult(5 references to grade, 100.0 % of the value of all references)"
