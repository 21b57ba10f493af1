"""Fields of every type of row that files hold: what each takes and refuses, and the words for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from postil.data.row_files import Writer, read, write
from postil.data.rows import Article, Candidate, Decision, Judgement, PairPreference, Passage, Reference, Score
from postil.data.suggestions import (
    LABEL,
    Filtered,
    Impression,
    Label,
    Overlap,
    Provenance,
    Selecting,
    Source,
    Suggestion,
    Suggestions,
)
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path


Row = dict[str, Any]

ROWS: dict[type, tuple[Row, str, dict[str, str]]] = {
    Candidate: (
        {"item": "a", "system": "s", "text": "t"},
        "a candidate needs item, system, text",
        {"item": "id", "system": "id", "text": "text"},
    ),
    Reference: (
        {"item": "a", "text": "t"},
        "a reference needs item, text",
        {"item": "id", "text": "text", "grade": "number?", "weight": "number?", "upvotes": "integer?", "id": "id?"},
    ),
    Judgement: (
        {"item": "a", "system": "s", "annotator": "ann", "grade": 3},
        "a judgement needs item, system, annotator, grade",
        {"item": "id", "system": "id", "annotator": "id", "grade": "number", "aspect": "text?"},
    ),
    Score: (
        {"item": "a", "system": "s", "metric": "m", "score": 0.5},
        "a score needs item, system, metric, score",
        {"item": "id?", "system": "id", "metric": "text", "score": "number"},
    ),
    Passage: (
        {"topic": "t", "id": 1, "text": "t"},
        "a passage needs topic, id, text",
        {"topic": "id", "id": "id", "text": "text", "grade": "number?", "anchors": "texts?"},
    ),
    Article: (
        {"id": 1, "title": "t", "comments": []},
        "an article needs id, title, comments",
        {"id": "id", "title": "text", "category": "text?", "comments": "array"},
    ),
    Decision: (
        {"text": "t", "decision": "hold"},
        "a decision needs text, decision",
        {"text": "text", "reason": "text?", "article": "id?", "author": "id?", "id": "id?", "lang": "text?"},
    ),
    Label: (
        {"article": "a", "text": "t", "show": True},
        "a label needs article, text, show",
        {"article": "id", "text": "text", "annotator": "id?"},
    ),
    Impression: (
        {"impression": 1, "article": "a", "models": ["a", "b"], "teams": [0, 1], "clicked": [2]},
        "an impression needs impression, article, models, teams, clicked",
        {"impression": "id", "article": "id", "clicked": "array"},
    ),
    PairPreference: (
        {"item": 1, "system_a": "x", "system_b": "y", "annotator": 7, "preference": "tie"},
        "a pair preference needs item, system_a, system_b, annotator, preference",
        {"item": "id", "system_a": "id", "system_b": "id", "annotator": "id"},
    ),
}
"""For each type a good row, what it needs, and of which kind its fields are; with ? they may be null or absent."""

ID = "expected text or an integer, got "
WRONG: dict[str, list[tuple[str, str]]] = {
    "id": [("null", f"{ID}null"), ('["i0"]', f"{ID}an array"), ("true", f"{ID}true"), ('"\\ud800"', f'{ID}"\\ud800"')],
    "text": [("null", "expected text, got null"), ("7", "expected text, got 7")],
    "number": [
        ("null", "expected a number, got null"),
        ('"3"', 'expected a number, got "3"; write it without quotes'),
        ('"good"', 'expected a number, got "good"'),
        ('""', 'expected a number, got ""'),
        ("true", "expected a number, got true"),
        ("[1, 2]", "expected a number, got an array"),
        ('{"a": 1}', "expected a number, got an object"),
        ("NaN", "NaN is not JSON; write null, or leave the field out"),
        ("Infinity", "Infinity is not JSON; write null, or leave the field out"),
        ("-Infinity", "-Infinity is not JSON; write null, or leave the field out"),
    ],
    "integer": [("0.5", "expected an integer"), ('"3"', "expected an integer"), ("true", "expected an integer")],
    "array": [('"duck"', "expected an array"), ("1", "expected an array, got 1")],
}
WRONG["texts"] = WRONG["array"]
CASES = [
    pytest.param(kind, field, value, said, id=f"{kind.__name__}-{field}-{value}")
    for kind, (_, _, fields) in ROWS.items()
    for field, of in fields.items()
    for value, said in WRONG[of.rstrip("?")]
    if not (value == "null" and of.endswith("?"))
]


def _read(tmp_path: Path, kind: type[Any], *lines: str) -> list[Any]:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return list(read(path, kind))


def refusal(tmp_path: Path, kind: type, *lines: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        _read(tmp_path, kind, *lines)
    return str(caught.value).removeprefix(f"{tmp_path / 'rows.jsonl'}:")


@pytest.mark.parametrize(("kind", "field", "value", "said"), CASES)
def test_a_wrong_value(tmp_path: Path, kind: type, field: str, value: str, said: str) -> None:
    """Blank lines count."""
    good = ROWS[kind][0]
    line = json.dumps(good | {field: "HERE"}).replace('"HERE"', value)
    assert refusal(tmp_path, kind, json.dumps(good), " ", line).startswith(f"3: {field}: {said}")


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_what_a_row_needs(tmp_path: Path, kind: type) -> None:
    good, needs, fields = ROWS[kind]
    for field in good:
        if fields.get(field, "").endswith("?"):
            continue
        rest = {name: value for name, value in good.items() if name != field}
        if (kind, field) == (Candidate, "system"):  # that of the file, as of every table
            assert [row.system for row in _read(tmp_path, kind, json.dumps(rest))] == ["rows"]
            continue
        there = f"1: {field}: missing; {needs}; this row has: {', '.join(rest)}"
        assert refusal(tmp_path, kind, json.dumps(rest)) == f"{there}; for another name: columns={{'{field}': COLUMN}}"
        line = json.dumps(rest)  # of a later row it is no matter of names
        assert refusal(tmp_path, kind, json.dumps(good), line) == there.replace("1:", "2:", 1)
    lacking = refusal(tmp_path, kind, '{"other": 1}')
    assert f": missing; {needs}; this row has: other; for other names: columns={{" in lacking


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_what_a_row_may_lack(tmp_path: Path, kind: type) -> None:
    good, _, fields = ROWS[kind]
    null = dict.fromkeys(field for field, of in fields.items() if of.endswith("?"))
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(good)}\n{json.dumps(good | null | {'more': 1})}\n", encoding="utf-8")
    if kind is not Score:  # without an item it is the score of a corpus
        one, other = read(path, kind)
        assert one == other


def test_ranks_are_distinct_and_ids_text(tmp_path: Path) -> None:
    row = ROWS[Impression][0] | {"teams": [0, 1, None], "clicked": [2, 1, 2]}
    full = row | {"shown": True, "answered": None, "hidden": []}
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(full)}\n\n{json.dumps(row | {'liked': [9]})}\n")
    expected = Impression("1", "a", ("a", "b"), (0, 1, None), (1, 2), shown=True, answered=(), hidden=())
    assert list(read(str(tmp_path / "log.jsonl"), Impression)) == [expected, expected]


MODELS = "models: expected the names of two models that differ, got "
OTHER: list[tuple[type, dict[str, object], str]] = [
    (Impression, {"clicked": [4]}, "clicked: expected ranks from 1 to 2, got 4"),
    (Impression, {"hidden": [0]}, "hidden: expected ranks from 1 to 2, got 0"),
    (Impression, {"answered": [True]}, "answered[0]: expected an integer, got true"),
    (Impression, {"teams": []}, "clicked: expected no rank where teams is empty, got 2"),
    (Impression, {"teams": [2]}, "teams: expected 0, 1 or null for each rank, got 2"),
    (Impression, {"models": ["a", "a"]}, f'{MODELS}"a", "a"'),
    (Impression, {"models": ["a"]}, f'{MODELS}"a"'),
    (Impression, {"models": []}, f"{MODELS}none"),
    (Impression, {"shown": 1}, "shown: expected true or false, got 1"),
    (Label, {"show": "maybe"}, "show: expected true or false, show or hide, 1 or 0"),
    (Label, {"show": 2}, "show: expected true or false"),
    (Label, {"show": [1]}, "show: expected"),
    (Label, {"text": " "}, "text: expected the text of a suggestion, got an empty one"),
    (Label, {"rank": 0}, "rank: expected a rank from 1, got 0"),
    (Decision, {"decision": "approved"}, 'decision: expected keep or hold, got "approved"'),
    (Decision, {"decision": None}, "decision: expected"),
    (Decision, {"date": "soon"}, "date: expected a date"),
    (PairPreference, {"preference": "c"}, 'preference: expected a, tie or b, got "c"'),
    (PairPreference, {"preference": 1}, "preference: expected"),
    (PairPreference, {"left": "c"}, 'left: expected a or b, got "c"'),
    (PairPreference, {"system_b": "x"}, 'system_b: expected a system other than system_a, got "x" for both'),
]
"""Refusals of rows other than of values of another kind."""


@pytest.mark.parametrize(("kind", "change", "said"), OTHER)
def test_what_makes_no_sense_in_a_row(tmp_path: Path, kind: type, change: dict[str, object], said: str) -> None:
    good = ROWS[kind][0]
    assert refusal(tmp_path, kind, json.dumps(good), "", json.dumps(good | change)).startswith(f"3: {said}")


def test_rows_made_in_python_are_checked_too() -> None:
    with pytest.raises(InvalidInput, match=r'teams: expected 0, 1 or null for each rank, got "x"'):
        Impression("1", "a", ("a", "b"), ("x",), ())  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="shown: expected true or false, got null"):
        Impression("1", "a", ("a", "b"), (0,), (), shown=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("shown", ["true", "1", '"show"', '"YES"', "1.0"])
@pytest.mark.parametrize("hidden", ["false", "0", '"hide"', '"do not show"'])
def test_json_says_in_many_ways_whether_to_show(tmp_path: Path, shown: str, hidden: str) -> None:
    file = tmp_path / "l.jsonl"
    file.write_text("".join(f'{{"article": 1, "text": "a b", "show": {show}}}\n' for show in (shown, hidden)))
    assert [row.show for row in read(str(file), Label)] == [True, False]


def test_tables_say_in_words_of_their_language_whether_to_show(tmp_path: Path) -> None:
    file = tmp_path / "l.csv"
    file.write_text("article,text,show,rank,reason\n7,Bring a coat.,TRUE,1,\n7,lol,hide,2,unkind\n8,hm,0,,\n")
    found = [(row.article, row.show, row.rank, row.reason) for row in read(str(file), Label)]
    assert found == [("7", True, 1, None), ("7", False, 2, "unkind"), ("8", False, None, None)]
    file.write_text("article;text;show\n1;a;WAHR\n1;b;FALSCH\n1;c;vrai\n1;d;Show\n1;e;1.0\n", encoding="utf-8")
    assert [row.show for row in read(str(file), Label)] == [True, False, True, True, True]
    head = "impression,article,models,teams,clicked,shown"
    rows = [f'{n},a,"[""m"", ""n""]","[0, 1]",[],{word}' for n, word in enumerate(("WAHR", "0", ""))]
    file.write_text("\n".join([head, *rows]), encoding="utf-8")
    assert [row.shown for row in read(str(file), Impression)] == [True, False, True]


def test_preferences_are_read_as_they_are_written(tmp_path: Path) -> None:
    row = ROWS[PairPreference][0]
    (tmp_path / "in.jsonl").write_text(
        f"{json.dumps(row | {'left': None})}\n{json.dumps(row | {'left': 'b', 'more': 1})}"
    )
    found = list(read(str(tmp_path / "in.jsonl"), PairPreference))
    assert found == [PairPreference("1", "x", "y", "7", "tie"), PairPreference("1", "x", "y", "7", "tie", "b")]
    write(tmp_path / "out.jsonl", found)
    assert list(read(str(tmp_path / "out.jsonl"), PairPreference)) == found


DECISIONS = [
    Decision("Buy watches!\n=1+1", "hold", "spam", "2020-03-21T10:00:00Z", "a1", "5f0c", "7", "en"),
    Decision("带上外套。", "keep"),
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "csv", "csv.gz", "parquet"])
def test_decisions_come_back_from_a_file(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"decisions.{ending}"
    with Writer(path, Decision) as out:
        for row in DECISIONS:
            out.write(row)
    assert list(read(path, Decision)) == DECISIONS


def test_decisions_settle_themselves(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"text": "t", "decision": "hold", "reason": " ", "date": 1584784800, "id": 7, "author": 3}\n')
    assert list(read(path, Decision)) == [Decision("t", "hold", None, "2020-03-21T10:00:00Z", None, "3", "7")]


FOUND = Provenance.retrieved("ir-tc", "8d0c", [Source("a7", "3"), Source("a9", "12")])
WRITTEN = Provenance.generated("att", "77aa", Overlap("带上外套", 2, Source("a7", "3")))
SUGGESTIONS = [
    Suggestions("a1", (Suggestion("Bring a coat.", 2.5, 1, FOUND),), (Filtered("ok", "too short", Source("a7", "5")),)),
    Suggestions("a2", (Suggestion("带上外套。", -1.0, 1, WRITTEN), Suggestion("😂", -2.0, 2, WRITTEN))),
    Suggestions("a3", ()),
    Suggestions("a4", (Suggestion("Bring a hat.", 1.0, 1, FOUND.selected(Selecting("big-2", "1f3a", "empty"))),)),
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_rows_come_back_from_a_file(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"suggestions.{ending}"
    with Writer(path, Suggestions) as out:
        for row in SUGGESTIONS:
            out.write(row)
    assert list(read(path, Suggestions)) == SUGGESTIONS


def test_what_stands_in_a_file() -> None:
    assert msgspec.json.encode(SUGGESTIONS[0]).decode() == (
        '{"article":"a1","suggestions":[{"text":"Bring a coat.","score":2.5,"rank":1,"provenance":{"label":'
        '"Machine-generated suggestion: a reader\'s comment found under another article","method":"retrieved",'
        '"model":"ir-tc","model_hash":"8d0c","sources":[{"article":"a7","comment":"3"},{"article":"a9","comment":"12"}],'
        '"overlap":null,"prompting":null},"probability":null}],'
        '"filtered":[{"text":"ok","reason":"too short","source":{"article":"a7","comment":"5"},"overlap":null}],'
        '"reason":null}'
    )
    assert msgspec.json.encode(SUGGESTIONS[2]) == b'{"article":"a3","suggestions":[],"filtered":[],"reason":null}'


@pytest.mark.parametrize("provenance", [FOUND, WRITTEN, FOUND.selected(Selecting("big-2", "1f3a"))])
def test_every_label_begins_with_the_words(provenance: Provenance) -> None:
    assert provenance.label.startswith(LABEL)
    assert LABEL == "Machine-generated suggestion"


def test_a_row_without_a_label_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "suggestions.jsonl"
    path.write_text(msgspec.json.encode(SUGGESTIONS[0]).decode().replace('"label"', '"words"'))
    with pytest.raises(InvalidInput, match=r"suggestions\.jsonl:1: .*label"):
        list(read(path, Suggestions))


def test_rows_settle_themselves() -> None:
    row = Suggestions(7, [Suggestion("x", 1, 1, FOUND)], None)  # type: ignore[arg-type]
    assert (row.article, row.suggestions[0].score, row.filtered) == ("7", 1.0, ())
    assert Source(7, 3) == Source("7", "3")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="score: expected a number, got NaN"):
        Suggestion("x", float("nan"), 1, FOUND)
