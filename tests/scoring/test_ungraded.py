"""`postil score --ungraded drop`, and the same in Python: as if ungraded references were not there."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import postil as package
from command_line import put
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from conftest import Postil

ITEMS = {
    "a": [("bring back the night bus", 5), ("the bus is late", None), ("buses at night", 2)],
    "b": [("rain again", None), ("no umbrella today", 3), ("it rains", None), ("sun tomorrow", None)],
    "c": [("nobody rated this", None)],
}
TEXTS = {"a": ("the night bus is late", "buses"), "b": ("rain tomorrow", "umbrella"), "c": ("rated", "this")}
CANDIDATES = [{"item": item, "system": f"s{k}", "text": texts[k]} for k in (0, 1) for item, texts in TEXTS.items()]
REFERENCES = [{"item": item, "text": text, "grade": grade} for item, rows in ITEMS.items() for text, grade in rows]
GRADED = [row for row in REFERENCES if row["grade"] is not None]
KNOWN = [row for row in CANDIDATES if row["item"] != "c"]
METRICS = ("rouge-l", "w-rouge-l", "w-meteor", "cider-d")
ASKED = [part for metric in METRICS for part in ("-m", metric)]


@pytest.fixture
def files(postil: Postil) -> Postil:
    put("c.jsonl", CANDIDATES)
    put("r.jsonl", REFERENCES)
    put("known.jsonl", KNOWN)
    put("graded.jsonl", GRADED)
    return postil


def test_as_if_they_were_not_there(files: Postil) -> None:
    dropped = files(
        *("score", "c.jsonl", "-r", "r.jsonl", "--scale", "1:5", *ASKED, "--ungraded", "drop"),
        *("--format", "jsonl", "--items", "items.jsonl"),
    )
    only = files("score", "known.jsonl", "-r", "graded.jsonl", "--scale", "1:5", *ASKED, "--format", "jsonl")
    assert dropped.scores == only.scores
    assert {json.loads(line)["item"] for line in Path("items.jsonl").read_text().splitlines()} == {"a", "b"}
    signatures = [json.loads(line)["signature"] for line in dropped.out.splitlines()]
    assert all("|references:1-2 of 3-4|" in signature for signature in signatures)
    assert "5 of 8 references have no grade: excluded\n" in dropped.err
    assert "1 of 3 items has no graded reference: excluded with their 2 candidates\n" in dropped.err


@pytest.mark.parametrize("name", ["w.jsonl", "w.csv"])
def test_given_weights(files: Postil, name: str) -> None:
    weighted = [
        {"item": row["item"], "text": row["text"], "weight": row["grade"] and row["grade"] / 5} for row in REFERENCES
    ]
    if name == "w.csv":
        rows = [f"{row['item']},{row['text']},{row['weight'] or ''}" for row in weighted]
        Path(name).write_text("\n".join(["item,text,weight", *rows]) + "\n", encoding="utf-8")
    else:
        put(name, weighted)
    outcome = files("score", "c.jsonl", "-r", name, "-m", "w-rouge-l", "--ungraded", "drop", "--format", "jsonl")
    grades = files("score", "c.jsonl", "-r", "r.jsonl", "--scale", "1:5", "-m", "w-rouge-l", "--ungraded", "drop",
                   "--format", "jsonl")  # fmt: skip
    assert outcome.scores == grades.scores
    assert "weights:given|references:1-2 of 3-4|" in outcome.out


def test_by_default_it_is_an_error_that_names_the_way_out(files: Postil) -> None:
    outcome = files("score", "c.jsonl", "-r", "r.jsonl", "--scale", "1:5", "-m", "w-rouge-l")
    assert outcome.code == 3
    assert outcome.err == (
        "postil: r.jsonl:2: grade: missing; a w- metric needs a grade, ratings or a weight on every reference, and 5 "
        "of 8 have none; --ungraded drop excludes those, and postil weights plan chooses which to "
        "grade\n"
    )


def test_lines_in_messages_are_those_of_the_files(files: Postil) -> None:
    put("r.jsonl", [*REFERENCES, {"item": "b", "text": "again", "grade": 9}])
    command = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "1:5", "-m", "w-rouge-l", "--ungraded", "drop")
    assert files(*command).err.startswith("postil: r.jsonl:9: grade: expected a number from 1 to 5, got 9")
    put("r.jsonl", REFERENCES)
    put("c.jsonl", [*CANDIDATES, {"item": "x", "system": "s0", "text": "t"}])
    assert files(*command).err.startswith(
        "postil: c.jsonl:7: item: expected an item that has references (a, b), got 'x'"
    )


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--ungraded", "dorp"), "unknown handling of ungraded references 'dorp'; did you mean 'drop'?", 2),
        (("--ungraded", "drop", "--weights", "consensus"), "the weights method 'consensus' reads no grades", 2),
        (("--ungraded", "drop", "--weights", "votes"), "r.jsonl: no reference has a grade, so none is left", 3),
        (("--ungraded", "drop", "--weights", "vots"), "unknown weights method 'vots'", 2),
    ],
)
def test_wrong_words(files: Postil, words: tuple[str, ...], said: str, code: int) -> None:
    outcome = files("score", "c.jsonl", "-r", "r.jsonl", "-m", "w-rouge-l", *words)
    assert said in outcome.err
    assert outcome.code == code


def test_large_files_too(files: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "1:5", *ASKED[:4], "--ungraded", "drop")
    small = files(*command)
    monkeypatch.setattr("postil.scoring.files.SMALLEST", 0)
    assert files(*command) == small


def test_tables_in_python() -> None:
    scale = package.Scale(1, 5)
    with pytest.warns(UserWarning, match="excluded") as warned:
        result = package.score(CANDIDATES, REFERENCES, scale=scale, weights="score", metrics=METRICS, ungraded="drop")
    only = package.score(KNOWN, GRADED, scale=scale, weights="score", metrics=METRICS)
    assert result.by_system == only.by_system
    assert result.item_names == ("a", "b", "a", "b")
    assert len(warned) == 2
    with pytest.raises(InvalidInput, match=r'references:2: grade: missing; .* and 5 of 8 have none; ungraded="drop"'):
        package.score(CANDIDATES, REFERENCES, scale=scale, metrics=METRICS)


def columns() -> tuple[list[str], list[list[str]], list[list[float | None]], list[str]]:
    texts = {item: [text for text, _ in rows] for item, rows in ITEMS.items()}
    weights = {item: [grade and grade / 5 for _, grade in rows] for item, rows in ITEMS.items()}
    return (
        [str(row["text"]) for row in CANDIDATES],
        [texts[str(row["item"])] for row in CANDIDATES],
        [weights[str(row["item"])] for row in CANDIDATES],
        [str(row["item"]) for row in CANDIDATES],
    )


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("missing", [None, math.nan])
def test_columns_in_python(named: bool, missing: float | None) -> None:
    texts, references, weights, items = columns()
    known = {id(row): [missing if value is None else value for value in row] for row in weights}
    systems = [str(row["system"]) for row in CANDIDATES]
    names = {"items": items} if named else {}
    with pytest.warns(UserWarning, match="2 of 6 candidates have no graded reference: excluded"):
        result = package.score(
            texts,
            references,
            weights=[known[id(row)] for row in weights],
            systems=systems,
            metrics=METRICS,
            ungraded="drop",
            **names,  # type: ignore[arg-type]
        )
    only = package.score(KNOWN, GRADED, scale=package.Scale(1, 5), weights="score", metrics=METRICS)
    assert result.by_system == only.by_system
    assert result.item_names == (("a", "b", "a", "b") if named else ())
    assert "references:1-2 of 3-4" in result.signatures["w-rouge-l"]


@pytest.mark.parametrize(
    ("weights", "options", "problem"),
    [
        ("own", {}, r"weights:1: expected .* got null; ungraded='drop' excludes references"),
        (None, {"ungraded": "drop"}, "ungraded='drop': expected weights, with None for each"),
        ("own", {"ungraded": "keep"}, "unknown handling of ungraded references 'keep'"),
        ("none", {"ungraded": "drop"}, "weights: no reference has a weight, so none is left"),
        ([[None]] * 6, {"ungraded": "drop"}, "weights:1: expected a weight for each of 3 references, got 1"),
    ],
)
def test_wrong_columns(weights: object, options: dict[str, Any], problem: str) -> None:
    texts, references, own, _ = columns()
    given = {"own": own, "none": [[None] * len(row) for row in own]}.get(str(weights), weights)
    with pytest.raises(PostilError, match=problem):
        package.score(texts, references, weights=given, **options)  # type: ignore[arg-type]


def test_wrong_columns_are_named_by_their_own_rows() -> None:
    drop: dict[str, Any] = {"metrics": "w-rouge-l", "ungraded": "drop"}
    with pytest.raises(InvalidInput, match="weights:2: expected a number from 0 to 1, got 3"):
        package.score(["a", "b"], [["a"], ["b"]], weights=[[None], [3.0]], **drop)
    with (
        pytest.warns(UserWarning, match="1 of 2 candidates has no graded reference"),
        pytest.raises(InvalidInput, match="candidates:2: Han text"),
    ):
        package.score(["a", "好好"], [["a"], ["b"]], weights=[[None], [1]], **drop)


def test_weights_that_are_all_0_are_said(postil: Postil) -> None:
    Path("t.csv").write_text("item,system,text\n1,a,x y\n2,a,z\n")
    said = "all references have the weight 0, so metrics of weighted references are 0 for any text\n"
    for weight, metric, told in ((0, "w-bleu", True), (0, "bleu", False), (0.1, "w-bleu", False)):
        Path("r.csv").write_text(f"item,text,weight\n1,x y,{weight}\n2,q,0\n")
        found = postil("score", "t.csv", "-r", "r.csv", "-m", metric)
        assert (found.code, said in found.err) == (0, told), found.err
