"""Problems of a file, in the words of the command line and of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.data.reading import Reading, readings
from postil.data.row_files import read
from postil.data.rows import Candidate, Judgement
from postil.errors import PostilError
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from pathlib import Path

    from postil.data.rows import Row

READ = "list(postil.data.row_files.read(PATH, ROW, Reading("
HEAD = "item,system,text\n"

WORDS: dict[str, tuple[str, str | bytes, type[Row], str, str]] = {
    "columns": (
        "t.csv",
        "nr,system,answer\n1,a,x\n",
        Candidate,
        "--column references.item=COLUMN --column references.text=COLUMN",
        "columns={'references.item': COLUMN, 'references.text': COLUMN}",
    ),
    "wide": (
        "t.csv",
        "item,system,Ann,grade\n1,a,3,4\n",
        Judgement,
        "--column references.annotator=COLUMN; or, where each annotator has a column: --annotator-columns NAME,NAME",
        'where each annotator has a column: annotator_columns=["NAME", "NAME"]',
    ),
    "a field of one row": (
        "t.jsonl",
        '{"item": 1, "system": "a", "text": "x"}\n{"item": 2, "system": "a"}\n',
        Candidate,
        "; this row has: item, system",
        "; this row has: item, system",
    ),
    "decimal": (
        "t.csv",
        "item;system;annotator;grade\n1;a;x;1.000\n2;a;x;999\n",
        Judgement,
        "say which is: --decimal . or --decimal ,",
        f'say which is: {READ}decimal="."))) or decimal=","',
    ),
    "encoding": (
        "t.csv",
        (HEAD + "a,s,é\n").encode() + b"b,s,\xe9\n",
        Candidate,
        "name the encoding with --encoding",
        f"name the encoding with {READ}encoding=NAME)))",
    ),
    "quotes": (
        "t.csv",
        HEAD + 'a,s,"x\n',
        Candidate,
        "A table without quoting: --no-quotes",
        f"A table without quoting: {READ}quotes=False)))",
    ),
    "missing": (
        "t.csv",
        "item,system,annotator,grade\n1,a,x,n/a\n",
        Judgement,
        'name what stands there: --missing "n/a"',
        'name what stands there: missing=["n/a"]',
    ),
    "merged": (
        "t.csv",
        HEAD + "a,s,x\n,s,y\n",
        Candidate,
        "as merged cells do: --fill-down",
        f"as merged cells do: {READ}fill_down=True)))",
    ),
    "sheet": (
        "t.json",
        '{"a": [{"item": 1}], "b": [{"item": 2}]}',
        Candidate,
        "got several: a, b; choose one with --sheet",
        f"got several: a, b; choose one with {READ}sheet=NAME)))",
    ),
    "format": ("t.foo", "", Candidate, "name the format with --input-format", f"{READ}format=NAME)))"),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_is_wrong_with_a_file_in_both_faces(tmp_path: Path, name: str) -> None:
    file, data, row_type, flags, arguments = WORDS[name]
    path = tmp_path / file
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(PostilError) as caught:
        list(read(path, row_type, Reading(role="references")))
    assert flags in caught.value.words(COMMAND_LINE)
    assert arguments in str(caught.value)
    assert "--" not in str(caught.value)


def test_what_is_guessed_in_both_faces(tmp_path: Path) -> None:
    """A problem of a folder is said once, and with the role where one file has several."""
    for number in range(2):
        (tmp_path / f"test-{number}.csv").write_text(f"item,text,grade\n{number},n/a,1\n", encoding="utf-8")
    said: list[str] = []
    options = Reading(say=said.append, part="candidates", missing=frozenset({"n/a"}))
    assert [row.system for row in read(tmp_path, Candidate, options)] == [tmp_path.name] * 2
    guess = f"{tmp_path}, candidates: no column system; the system is called '{tmp_path.name}' (another name: "
    assert said[0] == guess + "columns={'system': '=NAME'})"
    assert COMMAND_LINE.words(said[0]) == guess + "--column system==NAME)"
    assert said.count(said[0]) == 1
    named = [(line, COMMAND_LINE.words(line)) for line in said if "names, taken" in line]
    assert [(line.count(" missing "), words.count(" --missing ")) for line, words in named] == [(1, 1)]


def test_options_of_files_in_both_faces() -> None:
    with pytest.raises(PostilError) as caught:
        readings({"candidates": Candidate}, print, sheet=["a", "b"])
    assert caught.value.words(COMMAND_LINE) == "--sheet takes one value, or ROLE=VALUE for each file; got 'b'"
    assert str(caught.value) == "sheet takes one value, or ROLE=VALUE for each file; got 'b'"
