"""Candidates and references without items: files of one text per line, and tables whose rows belong together."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest

import postil as package

if TYPE_CHECKING:
    from conftest import Outcome, Postil

OUT = ["The night bus was the only way home.", "Rain, all day.", "", "No bus came."]
ONE = ["The night bus came late.", "It rains all day.", "Snow.", "No bus came today."]
OTHER = ["The night bus was late.", "It rains all day.", "Some snow.", "There was no bus."]
METRICS = ("-m", "bleu-4", "-m", "rouge-l", "-m", "cider-d", "--format", "jsonl")


def lines(path: str, texts: list[str]) -> str:
    Path(path).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines("out.txt", OUT)
    lines("one.txt", ONE)
    lines("other.txt", OTHER)
    with Path("out.jsonl").open("w", encoding="utf-8") as out:
        for item, text in enumerate(OUT, 1):
            out.write(json.dumps({"item": item, "system": "out", "text": text}) + "\n")
    with Path("refs.jsonl").open("w", encoding="utf-8") as out:
        for number, texts in (("1", ONE), ("2", OTHER)):
            for item, text in enumerate(texts, 1):
                out.write(json.dumps({"item": item, "text": text, "id": number}) + "\n")


@pytest.fixture
def rows(postil: Postil, files: None) -> Outcome:
    """The scores of the same texts as rows with items."""
    del files
    return postil("score", "out.jsonl", "-r", "refs.jsonl", *METRICS)


def test_several_files_of_references(postil: Postil, rows: Outcome) -> None:
    found = postil("score", "out.txt", "-r", "one.txt", "-r", "other.txt", *METRICS)
    assert (found.code, found.out) == (0, rows.out), "equal references of two files are two"
    assert found.err.count("read as one text per line") == 3
    assert "out.txt: 1 empty cell in text, taken as empty texts" in found.err
    assert postil("score", "out.txt", "-r", "one.txt", *METRICS).out != rows.out


def test_lines_beside_tables_without_items(postil: Postil, rows: Outcome) -> None:
    Path("both.json").write_text(json.dumps({"predictions": OUT, "references": list(zip(ONE, OTHER, strict=True))}))
    for words in (
        ("score", "both.json", "-r", "both.json", "--column", "system==out"),
        ("score", "out.txt", "-r", "both.json"),
        ("score", "both.json", "-r", "one.txt", "-r", "other.txt", "--column", "system==out"),
        ("score", "out.jsonl", "-r", "one.txt", "-r", "other.txt"),
    ):
        found = postil(*words, *METRICS)
        if words[1] == "out.jsonl":  # its items are the numbers of the lines, by chance
            assert found.code == 0, found.err
        else:
            assert (found.code, found.out) == (0, rows.out), (words, found.err)


def test_lines_beside_items_with_ids(postil: Postil, files: None) -> None:
    """The error says that lines are called by numbers, and names the column that pairs the rows, which does."""
    del files
    for name, texts in (("out", OUT), ("one", ONE)):
        made = (json.dumps({"item": f"d{item}", "system": "out", "text": text}) for item, text in enumerate(texts, 1))
        Path(f"{name}-ids.jsonl").write_text("\n".join(made), encoding="utf-8")
    wanted, order = (
        "item that has references",
        "are the numbers of the rows; where both are in the same order: --column",
    )
    lines_lack = f"out.txt:1: expected an {wanted} (d1, d2, d3 and 1 more), got '1'; the items here"
    ids_lack = (
        f"out-ids.jsonl:1: item: expected an {wanted} (1, 2, 3 and 1 more), got 'd1'; the items of the references"
    )
    for candidates, references, problem, column in (
        ("out.txt", "one-ids.jsonl", lines_lack, "references.item=#"),
        ("out-ids.jsonl", "one.txt", ids_lack, "item=#"),
    ):
        found = postil("score", candidates, "-r", references, *METRICS)
        assert (found.code, found.err.splitlines()[-1]) == (3, f"postil: {problem} {order} '{column}'")
        found = postil("score", candidates, "-r", references, "--column", column, *METRICS)
        assert (found.code, found.out) == (0, postil("score", "out.txt", "-r", "one.txt", *METRICS).out)
    lines("few.txt", ["Too few."])
    found = postil("score", "out.txt", "-r", "few.txt", "--column", "references.item=#", "-m", "bleu-4")
    assert found.err.endswith("out.txt:2: #: expected an item that has references (1), got '2'\n")
    with pytest.raises(package.InvalidInput, match=r"same order: columns=\{'references.item': '#'\}$"), pytest.warns():
        package.score("out.txt", pd.read_json("one-ids.jsonl", lines=True), metrics="rouge-l")


def test_lines_from_standard_input(postil: Postil, rows: Outcome) -> None:
    given = "\n".join(OUT)
    words = ("score", "-", "-r", "one.txt", "-r", "other.txt", "--input-format", "lines", "--column", "system==out")
    found = postil(*words, *METRICS, stdin=given)
    assert (found.code, found.out) == (0, rows.out)
    found = postil(*words, *METRICS, stdin="a\nb\n")
    assert (found.code, found.out) == (3, "")
    assert "stdin: expected as many rows as one.txt has, since row i of both belongs to item i: 4, got 2" in found.err


@pytest.mark.parametrize(
    ("texts", "words", "said"),
    [
        (OUT[:2], (), "out.txt: expected as many rows as one.txt has, since row i of both belongs to item i: 4, got 2"),
        ([*OUT, "x"], (), "out.txt: expected as many rows as one.txt has, since row i of both belongs to item i: 4, g"),
        (OUT, ("-r", "short.txt"), "short.txt: expected as many rows as one.txt has, since row i of both belongs to i"),
    ],
)
def test_files_of_different_length_are_refused(
    postil: Postil, files: None, texts: list[str], words: tuple[str, ...], said: str
) -> None:
    del files
    lines("out.txt", texts)
    lines("short.txt", ONE[:3])
    found = postil("score", "out.txt", "-r", "one.txt", *words, *METRICS, "--items", "items.jsonl")
    assert (found.code, found.out) == (3, "")
    assert found.err.splitlines()[-1].startswith(f"postil: {said}"), found.err
    assert not Path("items.jsonl").exists()


def test_rows_of_several_systems_need_items(postil: Postil, files: None) -> None:
    del files
    Path("out.csv").write_text("system,text\na,x\nb,y\na,z\nb,w\n")
    found = postil("score", "out.csv", "-r", "one.txt", *METRICS)
    assert (found.code, found.out) == (3, "")
    assert "out.csv:1: item: no such column" in found.err


def test_several_tables_of_references(postil: Postil, rows: Outcome) -> None:
    parts = Path("refs.jsonl").read_text().splitlines(keepends=True)
    Path("r1.jsonl").write_text("".join(parts[:4]))
    Path("r2.jsonl").write_text("".join(parts[4:]))
    found = postil("score", "out.jsonl", "-r", "r1.jsonl", "-r", "r2.jsonl", *METRICS)
    assert (found.code, found.out) == (0, rows.out)
    Path("r2.jsonl").write_text('{"item": 1}\n')
    found = postil("score", "out.jsonl", "-r", "r1.jsonl", "-r", "r2.jsonl", *METRICS)
    assert found.code == 3
    assert "r2.jsonl:1: " in found.err, "an error names the file that it is in"
    found = postil("score", "-", "-r", "-", *METRICS, stdin="")
    assert (found.code, found.err.count("\n")) == (2, 1)


def test_python_reads_the_same(files: None) -> None:
    del files
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = package.score("out.txt", Path("one.txt"), metrics=["rouge-l"])
    assert "out.txt: read as one text per line" in [str(each.message) for each in heard]
    assert found.item_names == ("1", "2", "3", "4")
    assert found.corpus == package.score(OUT, [[each] for each in ONE], metrics=["rouge-l"]).corpus


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_python_takes_several_tables_of_references(files: None) -> None:
    del files
    gold = [list(pair) for pair in zip(ONE, OTHER, strict=True)]
    expected = package.score(OUT, gold, metrics=["rouge-l"]).corpus
    one, other = pd.DataFrame({"reference": ONE}), pl.DataFrame({"Gold": OTHER})
    for outputs, references in (
        ("out.txt", ["one.txt", "other.txt"]),
        (Path("out.txt"), (Path("one.txt"), "other.txt")),
        (pd.DataFrame({"prediction": OUT}), ["one.txt", "other.txt"]),
        ([{"mt": text} for text in OUT], [one, other]),
        ("out.txt", [one, "other.txt"]),
        (pd.DataFrame({"prediction": OUT}), pd.DataFrame({"references": gold})),
        (both := pd.DataFrame({"prediction": OUT, "gold": gold}), both),
    ):
        found = package.score(outputs, references, metrics=["rouge-l"])
        assert (found.item_names, found.corpus) == (("1", "2", "3", "4"), expected), references
    with pytest.raises(package.InvalidInput, match=r"^references\[1\]: .* as many rows as one\.txt has.*: 4, got 3"):
        package.score("out.txt", ["one.txt", other[:3]], metrics=["rouge-l"])
    with pytest.raises(package.InvalidInput, match=r"^candidates: expected as many rows as one\.txt has.*: 4, got 2"):
        package.score(pd.DataFrame({"prediction": OUT[:2]}), "one.txt", metrics=["rouge-l"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tables_of_python_with_items_meet_by_them(files: None) -> None:
    del files
    with pytest.raises(package.InvalidInput, match=r"^references: no column 'item'; the columns are: gold; name it: "):
        package.score(pd.DataFrame({"item": [1, 2], "text": OUT[:2]}), pd.DataFrame({"gold": ONE[:2]}))
    with pytest.raises(package.InvalidInput, match=r"^candidates: no column 'item'; the columns are: system, text; "):
        package.score([{"system": "a", "text": "x"}, {"system": "b", "text": "y"}], "one.txt")


def test_references_from_standard_input(postil: Postil, rows: Outcome) -> None:
    words = ("score", "out.txt", "-r", "one.txt", "-r", "-", "--input-format", "references=lines", *METRICS)
    found = postil(*words, stdin="\n".join(OTHER))
    assert (found.code, found.out) == (0, rows.out), found.err


def test_lines_are_texts_to_the_letter(postil: Postil) -> None:
    lines("out.txt", ["'=1+1", "", "NA", " two "])
    lines("one.txt", ["'=1+1", "b", "NA", "two"])
    found = postil("score", "out.txt", "-r", "one.txt", "-m", "chrf", "--items", "items.jsonl")
    assert found.code == 0, found.err
    items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert [each["score"] for each in items] == [1.0, 0.0, 1.0, 1.0]


def test_an_empty_file_says_so(postil: Postil, files: None) -> None:
    del files
    Path("empty.txt").write_text("")
    for words in (("empty.txt", "-r", "one.txt"), ("out.txt", "-r", "empty.txt")):
        found = postil("score", *words, *METRICS)
        assert (found.code, found.out) == (3, "")
        assert found.err.endswith("postil: empty.txt: the file is empty; expected one text per line\n"), found.err
