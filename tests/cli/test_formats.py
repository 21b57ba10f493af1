"""Formats of files and of output: any kind of file says the same, JSON reads back, and the rest is printed from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.conversion import convert
from postil.data.row_files import write
from postil.data.rows import Judgement, PairPreference, Passage, Score
from postil.data.suggestions import Impression
from postil.messages import COMMAND_LINE, INTERFACE
from postil.results.base import Result
from postil.results.formats import FORMATS
from postil.results.views import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Postil

JUDGED = ("s.jsonl", "--judgements", "j.jsonl")
FEW = ("--resamples", "20")
TESTED = (*FEW, "--permutations", "20")

COMMANDS = {
    "score": ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "5"),
    "compare": ("compare", "s.jsonl", *TESTED),
    "compare --interleaved": ("compare", "--interleaved", "log.jsonl", *FEW),
    "compare --preferences": ("compare", "--preferences", "pairs.jsonl", *FEW),
    "correlate": ("correlate", *JUDGED, *TESTED),
    "correlate --audit": ("correlate", *JUDGED, *TESTED, "--audit"),
    "estimate": ("estimate", *JUDGED),
    "budget": ("budget", *JUDGED, *FEW),
    "combine fit": ("combine", "fit", *JUDGED, *FEW, "--folds", "3"),
    "passages": ("passages", "p.jsonl", "-m", "f1-1", *FEW),
    "interesting": ("interesting", "p.jsonl"),
}


@pytest.fixture
def files(postil: Postil) -> Postil:
    texts = [(f"i{n}", system) for n in range(12) for system in "ab"]
    write(
        "s.jsonl",
        [Score(*of, m, float((n * 7 + k) % 5), m) for n, of in enumerate(texts) for k, m in enumerate(("x", "y"))],
    )
    write(
        "j.jsonl",
        [Judgement(*of, who, float((n * 3 + k) % 4)) for n, of in enumerate(texts) for k, who in enumerate("12")],
    )
    topics = [(topic, n) for topic in ("ducks", "bread") for n in range(4)]
    write("p.jsonl", [Passage(topic, str(n), f"{topic} word {n}", grade=float(n % 3)) for topic, n in topics])
    write("log.jsonl", [Impression(f"i{n}", f"a{n}", ("base", "new"), (0, 1), (1 + n % 2,)) for n in range(12)])
    write("pairs.jsonl", [PairPreference(str(n), "x", "y", "ann", "ab"[n % 2]) for n in range(12)])  # type: ignore[arg-type]
    return postil


@pytest.fixture
def command_line() -> Iterator[None]:
    before = INTERFACE.set(COMMAND_LINE)
    yield
    INTERFACE.reset(before)


@pytest.mark.usefixtures("command_line")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_format_prints_the_result_of_json(files: Postil, name: str) -> None:
    out = {form: files(*COMMANDS[name], "--format", form) for form in FORMATS}
    assert {outcome.code for outcome in out.values()} == {0}
    result = Result.from_json(out["json"].out)
    assert result.to_json() == out["json"].out
    for form in FORMATS:
        if form == "table":  # which may have lines more
            assert out[form].out.startswith(show(form, result).splitlines()[0])
            assert out[form].out == files(*COMMANDS[name]).out
        else:
            assert out[form].out == show(form, result)


@pytest.mark.parametrize("kind", ["jsonl.gz", "parquet", "-"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_kind_of_file_says_the_same(files: Postil, name: str, kind: str) -> None:
    """Each file of a command in turn, compressed, as Parquet and from standard input."""
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    if (name, kind) == ("interesting", "-"):
        return  # what comes from there is a document
    command = (*COMMANDS[name], "--format", "jsonl")
    straight = files(*command)
    for file in filter(lambda word: word.endswith(".jsonl"), command):
        other = kind if kind == "-" else file.replace("jsonl", kind)
        if kind != "-":
            convert(file, other)
        words = [other if word == file else word for word in command]
        assert files(*words, stdin=Path(file).read_bytes() if kind == "-" else None) == straight
