"""Files as people have them, each with the one command that the page on formats shows."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from conftest import Postil

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
BUS, RAIN = "The night bus was late.", "Rain all day"
GOLD = ["The night bus came late.", "It rains all day."]
SCORES = "item,system,metric,score\n" + "".join(
    f"{item},{system},bleu,{score}\n"
    for item, scores in enumerate(((0.1, 0.4), (0.3, 0.2), (0.5, 0.6), (0.2, 0.9)), 1)
    for system, score in zip(("Ours", "Theirs"), scores, strict=True)
)


class Case(NamedTuple):
    command: str
    files: dict[str, str]
    printed: tuple[str, ...]
    """Parts of what it prints, each in one line."""


def lines(*records: object) -> str:
    return "".join(json.dumps(each) + "\n" for each in records)


CASES = {
    "plain text": Case(
        "postil score out.txt -r ref.txt -r ref2.txt -m rouge-l",
        {"out.txt": f"{BUS}\n{RAIN}\n", "ref.txt": "\n".join(GOLD), "ref2.txt": f"{BUS}\nSun\n"},
        ("out     2   0.7785", "references:2"),
    ),
    "a file per system": Case(
        "postil score gpt.jsonl llama.txt mt.csv -r ref.csv -m rouge-l",
        {
            "gpt.jsonl": lines({"item": 1, "text": BUS}, {"item": 2, "text": RAIN}),
            "llama.txt": f"{RAIN}\n{RAIN}\n",
            "mt.csv": f"item,text\n1,{BUS}\n2,{GOLD[1]}\n",
            "ref.csv": f"item,text\n1,{GOLD[0]}\n2,{GOLD[1]}\n",
        },
        ("gpt     2   0.6785", "llama   2   0.2785", "mt      2   0.9000"),
    ),
    "a sheet of answers": Case(
        "postil score sheet.csv -r sheet.csv -m rouge-l",
        {"sheet.csv": f"Item,Prediction,Reference\nq1,{BUS},{GOLD[0]}\nq2,{RAIN},{GOLD[1]}\n"},
        ("sheet   2   0.6785",),
    ),
    "texts of machine translation": Case(
        "postil score mt.tsv -r mt.tsv --column item=segment_id -m rouge-l",
        {"mt.tsv": f"system\tsegment_id\tmt\tref\nA\t1\t{BUS}\t{GOLD[0]}\nB\t1\t{RAIN}\t{GOLD[0]}\n"},
        ("A       1   0.8000", "B       1   0.0000"),
    ),
    "predictions and references": Case(
        "postil score hf.json -r hf.json -m rouge-l",
        {"hf.json": json.dumps({"predictions": [BUS, RAIN], "references": [[GOLD[0], BUS], [GOLD[1]]]})},
        ("hf      2   0.7785", "references:1-2"),
    ),
    "outputs of systems by name": Case(
        "postil score runs.json -r runs.json --column item=id --column 'text=outputs.*' -m rouge-l",
        {
            "runs.json": json.dumps(
                [
                    {"id": 1, "outputs": {"gpt": BUS, "llama": RAIN}, "gold": GOLD[:1]},
                    {"id": 2, "outputs": {"gpt": RAIN, "llama": RAIN}, "gold": GOLD[1:]},
                ]
            )
        },
        ("gpt     2   0.6785", "llama   2   0.2785"),
    ),
    "outputs of systems as objects": Case(
        "postil score objects.json -r objects.json --column 'text=outputs.*.text' -m rouge-l",
        {
            "objects.json": json.dumps(
                [
                    {"id": 1, "outputs": {"gpt": {"text": BUS}, "llama": {"text": RAIN, "cost": 1}}, "gold": GOLD[:1]},
                    {"id": 2, "outputs": {"gpt": {"text": RAIN}, "llama": {"text": RAIN}}, "gold": GOLD[1:]},
                ]
            )
        },
        ("gpt     2   0.6785", "llama   2   0.2785", "candidates: columns read by other names: id as item (others: "),
    ),
    "lists of models and outputs": Case(
        "postil score runs.jsonl -r runs.jsonl --column item=id --column text=runs.output --column system=runs.model "
        "-m rouge-l",
        {
            "runs.jsonl": lines(
                {
                    "id": 1,
                    "target": GOLD[0],
                    "runs": [{"model": "gpt", "output": BUS}, {"model": "llama", "output": "x"}],
                },
                {"id": 2, "target": GOLD[1], "runs": [{"model": "gpt", "output": RAIN}]},
                {"id": 3, "target": GOLD[1], "runs": []},
            )
        },
        ("gpt     2   0.6785", "llama   1   0.0000", "1 empty list, taken as no candidate"),
    ),
    "a column per rater": Case(
        "postil agreement raters.csv --annotator-columns 'Rater *'",
        {"raters.csv": "Item,Rater Ann,Rater Bob\n1,4,5\n2,2,2\n3,1,\n"},
        ("agreement  0.500", "Ann and Bob      2  0.500"),
    ),
    "a spreadsheet in German": Case(
        "postil agreement umfrage.csv --column item=Nr --column annotator=Wer --column grade=Note --missing 'k. A.'",
        {"umfrage.csv": "Nr;Wer;Note\n1;Ann;2,5\n1;Bob;2,5\n2;Ann;1,0\n2;Bob;k. A.\n3;Ann;1,5\n3;Bob;3,5\n"},
        ("agreement  0.500", "1 row without a number, left out", "decimal commas in Note"),
    ),
    "a column per system and rater": Case(
        "postil correlate scores.csv --judgements both.csv --annotator-columns 'Ours R*,Theirs R*'",
        {
            "scores.csv": SCORES,
            "both.csv": "item,Ours R1,Ours R2,Theirs R1,Theirs R2\n1,1,2,4,3\n2,3,3,2,1\n3,5,4,5,5\n4,2,2,5,5\n",
        },
        (
            "bleu",
            "8 texts (4 items, 2 systems), 16 grades by 2 annotators",
            'Theirs R2 (annotator "2", system "Theirs")',
        ),
    ),
    "mean ratings": Case(
        "postil correlate scores.csv --judgements means.csv",
        {
            "scores.csv": SCORES,
            "means.csv": "item,system,grade\n"
            + "".join(f"{i},{s},{i * 0.5 + (s == 'Ours')}\n" for i in range(1, 5) for s in ("Ours", "Theirs")),
        },
        ("bleu", "means.csv: no column annotator; all rows are of 'annotator'"),
    ),
    "long and wide files of scores": Case(
        "postil correlate scores.csv comet.csv --metric-columns comet,metricx --judgements means.csv",
        {
            "scores.csv": SCORES,
            "comet.csv": "item,system,comet,metricx\n"
            + "".join(f"{i},{s},{i * 0.1},{3 - i + (s == 'Ours')}\n" for i in range(1, 5) for s in ("Ours", "Theirs")),
            "means.csv": "item,system,grade\n"
            + "".join(f"{i},{s},{i * 0.5 + (s == 'Ours')}\n" for i in range(1, 5) for s in ("Ours", "Theirs")),
        },
        ("bleu", "comet", "metricx"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_command_reads_the_file(postil: Postil, name: str) -> None:
    case = CASES[name]
    for path, text in case.files.items():
        Path(path).write_text(text, encoding="utf-8")
    found = postil(*shlex.split(case.command)[1:])
    assert found.code == 0, found.err
    for part in case.printed:
        assert part in found.out + found.err, f"{found.out}\n{found.err}"
    if "gold" in str(case.files) or "mt" in case.files:
        assert "columns read by other names: " in found.err


def test_the_page_shows_each_command() -> None:
    page = PAGE.read_text(encoding="utf-8").replace("\\|", "|")
    missing = [case.command for case in CASES.values() if f"`{case.command.removesuffix(' -m rouge-l')}`" not in page]
    assert not missing


REFUSED = {
    "a list whose element has no output": (
        "score t.jsonl -r t.jsonl --column item=id --column text=runs.output --column system=runs.model",
        {"id": 1, "gold": "a", "runs": [{"model": "gpt", "output": "a"}, {"model": "llama"}]},
        "t.jsonl:1: runs.output: expected a value in each element of the list, which have model, output; got none in ",
    ),
    "a name within a list that is not there": (
        "score t.jsonl -r t.jsonl --column item=id --column text=runs.answer --column system=runs.model",
        {"id": 1, "gold": "a", "runs": [{"model": "gpt", "output": "a"}]},
        "t.jsonl:1: runs.answer: expected a value in each element of the list, which have model, output; got none in ",
    ),
    "a name within an object that is not there": (
        "score t.jsonl -r t.jsonl --column item=id --column text=outputs.gtp",
        {"id": 1, "gold": "a", "outputs": {"gpt": "a"}},
        "t.jsonl:1: outputs.gtp: missing; a candidate needs item, system, text; this row has: id, gold, outputs.gpt",
    ),
    "a pattern within an object that matches nothing": (
        "score t.jsonl -r t.jsonl --column item=id --column text=outputs.llama*",
        {"id": 1, "gold": "a", "outputs": {"gpt": "a"}},
        "t.jsonl: outputs.llama*: no such column; the file has: id, gold, outputs.gpt",
    ),
    "a pattern in a field that is not there": (
        "score t.jsonl -r t.jsonl --column item=id --column text=output.*",
        {"id": 1, "gold": "a", "outputs": {"gpt": "a"}},
        "t.jsonl: output.*: no such column; the file has: id, gold, outputs",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nested_names_that_match_nothing(postil: Postil, name: str) -> None:
    command, record, said = REFUSED[name]
    Path("t.jsonl").write_text(lines(record))
    found = postil(*command.split(), "-m", "rouge-l")
    assert (found.code, found.out) == (3, "")
    assert found.err.splitlines()[-1].startswith(f"postil: {said}"), found.err
    if "runs" in command:
        assert "leave the element out where there is none, or write an empty text" in found.err


@pytest.mark.parametrize(
    ("outputs", "got", "ways"),
    [
        (
            {"gpt": "a", "llama": "b"},
            "an object with gpt, llama",
            ("'text=outputs.*' (a system each)", "text=outputs.gpt"),
        ),
        ({"gpt": {"text": "a", "cost": 1}}, "an object with gpt", ("'text=outputs.*.text' (a system each)",)),
        ({"tokens": 3, "note": "x", "answer": "a"}, "an object with tokens, note, answer", ("text=outputs.answer",)),
        (
            [{"model": "gpt", "output": "a"}],
            "an array of objects with model, output",
            ("text=outputs.output --column system=outputs.model",),
        ),
        (["a", "b"], "an array of texts", ("text=outputs.0",)),
        ({}, "an object; write an empty text where there is none", ()),
        (None, "null; the value is missing: fill it, or drop the row", ()),
    ],
)
def test_where_the_text_is_within_an_object(postil: Postil, outputs: object, got: str, ways: tuple[str, ...]) -> None:
    said = got + "; name what is the text: " * bool(ways) + " or ".join(f"--column {way}" for way in ways)
    Path("r.csv").write_text("item,text\n1,a\n")
    Path("t.jsonl").write_text(lines({"id": 1, "outputs": outputs}))
    found = postil("score", "t.jsonl", "-r", "r.csv", "-m", "rouge-l")
    assert (found.code, found.out) == (3, "")
    assert found.err == f"postil: t.jsonl:1: outputs: expected text, got {said}\n"
    for way in ways:
        named = shlex.split(f"--column {way.removesuffix(' (a system each)')}")
        found = postil("score", "t.jsonl", "-r", "r.csv", "-m", "rouge-l", *named)
        assert (found.code, "1.0000" in found.out) == (0, True), found.err
    Path("t.jsonl").write_text(lines({"item": 1, "system": "a", "text": outputs}))
    found = postil("score", "t.jsonl", "-r", "r.csv", "-m", "rouge-l")
    assert found.err == f"postil: t.jsonl:1: text: expected text, got {said.replace('=outputs', '=text')}\n"


@pytest.mark.parametrize("head", ["id,system,mt,ref", "ID,System,MT,Ref"])
def test_id_is_the_item_where_no_other_column_is(postil: Postil, head: str) -> None:
    Path("t.csv").write_text(f"{head}\n7,x,a b,a c\n8,x,c,d\n")
    Path("r.csv").write_text("id,gold\n8,d\n7,a c\n")
    for references in ("t.csv", "r.csv"):
        found = postil("score", "t.csv", "-r", references, "-m", "rouge-l", "--items", "s.csv")
        assert found.code == 0, found.err
        rows = [line.split(",")[:4] for line in Path("s.csv").read_text().splitlines()[1:]]
        assert rows == [["7", "x", "rouge-l", "0.5"], ["8", "x", "rouge-l", "0.0"]]
        assert f"{head[:2]} as item (others: --column " in found.err
    Path("r.csv").write_text("id,item,gold\n1,8,d\n2,7,a c\n")
    found = postil("score", "t.csv", "-r", "r.csv", "-m", "rouge-l")
    assert (found.code, "r.csv: columns read by other names: gold as text (" in found.err) == (0, True), found.err
    Path("t.csv").write_text("id,prediction\n7,a b\n8,c\n")
    Path("r.txt").write_text("a c\nd\n")
    found = postil("score", "t.csv", "-r", "r.txt", "-m", "rouge-l")
    assert (found.code, "id as item" in found.err) == (0, False), "lines have no ids, so the rows belong together"
    Path("t.csv").write_text("id,ID,prediction\n7,1,a b\n")
    found = postil("score", "t.csv", "-r", "r.csv", "-m", "rouge-l")
    assert (found.code, "t.csv:1: item: no such column; the file has: id, ID, prediction" in found.err) == (3, True)


def test_a_system_that_no_column_says(postil: Postil) -> None:
    Path("t.csv").write_text("id,engine,mt,ref\n7,x,a,b\n7,y,b,b\n")
    found = postil("score", "t.csv", "-r", "t.csv", "-m", "rouge-l")
    assert (found.code, found.out) == (3, "")
    assert found.err.endswith("leave one out, or name the column of the system: --column system=COLUMN\n")


def test_a_system_without_an_output_is_refused_wherever_it_comes(postil: Postil) -> None:
    words = ("score", "t.jsonl", "-r", "t.jsonl", "--column", "item=id", "--column", "text=out.*", "-m", "rouge-l")
    rows = [{"id": number, "gold": "a", "out": {"a": "a", "b": "b"}} for number in range(5000)]
    Path("t.jsonl").write_text(lines(*rows, {"id": "x", "gold": "a", "out": {"a": "a"}}))
    found = postil(*words)
    assert found.code == 3
    assert "t.jsonl:5001: out.b: missing; " in found.err
    assert "where a system has no text for an item, write an empty one" in found.err
    Path("t.jsonl").write_text(lines(*rows, {"id": "x", "gold": "a", "out": {"a": "a", "b": "b", "c": "c"}}))
    found = postil(*words)
    assert found.code == 3
    assert "t.jsonl:5001: out.c: the rows before have no such field, which out.* names" in found.err


def test_lists_of_ratings(postil: Postil) -> None:
    Path("t.jsonl").write_text(
        lines(
            {"item": 1, "ratings": [{"who": "a", "stars": 3}, {"who": "b", "stars": 4}]},
            {"item": 2, "ratings": [{"who": "a", "stars": 3}, {"who": "b", "stars": 3}]},
        )
    )
    named = ("--column", "annotator=ratings.who", "--column", "grade=ratings.stars", "--format", "csv")
    found = postil("agreement", "t.jsonl", *named)
    assert (found.code, found.out.splitlines()[1]) == (0, "agreement,0.5,0.0,1.0")
    Path("t.jsonl").write_text(lines({"item": 1, "ratings": [{"who": "a", "stars": 3}, {"who": "b", "stars": "x"}]}))
    found = postil("agreement", "t.jsonl", *named)
    assert found.code == 3
    assert "t.jsonl:1: ratings.stars: expected " in found.err


def test_raters_of_several_systems_with_one_name(postil: Postil) -> None:
    Path("t.csv").write_text("item,A R1,A R2,B R1,B R2\n1,1,2,3,4\n2,2,2,3,3\n")
    ways = [
        postil("agreement", "t.csv", "--annotator-columns", each, "--format", "csv") for each in ("A R*,B R*", "* R*")
    ]
    assert [each.code for each in ways] == [0, 0]
    assert ways[0].out == ways[1].out
    found = postil("agreement", "t.csv", "--annotator-columns", "A *,B *")
    assert found.code == 3
    assert 'two columns have the name "R1": "A R1" and "B R1"; two stars are system and annotator: \'* *\'' in found.err
    Path("t.csv").write_text("item,system,My R1,My R2\n1,x,1,2\n")
    found = postil("agreement", "t.csv", "--annotator-columns", "My R*")
    assert 'My R1 (annotator "1"), My R2 (annotator "2")' in found.err, "a column of systems says which"
