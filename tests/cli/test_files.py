"""Files that cannot be read, in every place of every command: one line that says which and why, and nothing is left."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from command_line import refusal
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Passage, Reference, Score

if TYPE_CHECKING:
    from conftest import Postil

GOOD = b'{"item": "a", "text": "a cat"}\n'
JUDGED = ("--judgements", "j.jsonl")
ENDPOINT = ("--scale", "1:5", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")

PLACES = {
    "score": ("score", "FILE", "-r", "r.jsonl"),
    "score --references": ("score", "c.jsonl", "-r", "FILE"),
    "judge": ("judge", "FILE", "-r", "r.jsonl", *ENDPOINT),
    "judge --references": ("judge", "c.jsonl", "-r", "FILE", *ENDPOINT),
    "weights plan": ("weights", "plan", "FILE", "-r", "r.jsonl", "--budget", "2"),
    "weights plan --references": ("weights", "plan", "c.jsonl", "-r", "FILE", "--budget", "2"),
    "compare": ("compare", "FILE"),
    "compare --preferences": ("compare", "--preferences", "FILE"),
    "compare --interleaved": ("compare", "--interleaved", "FILE"),
    "correlate": ("correlate", "FILE", *JUDGED),
    "correlate --judgements": ("correlate", "s.jsonl", "--judgements", "FILE"),
    "correlate --candidates": ("correlate", "s.jsonl", *JUDGED, "--candidates", "FILE"),
    "estimate": ("estimate", "FILE", *JUDGED),
    "estimate --judgements": ("estimate", "--judgements", "FILE"),
    "budget": ("budget", "FILE", *JUDGED),
    "budget --judgements": ("budget", "s.jsonl", "--judgements", "FILE"),
    "combine fit": ("combine", "fit", "FILE", *JUDGED, "--out", "m"),
    "combine fit --judgements": ("combine", "fit", "s.jsonl", "--judgements", "FILE", "--out", "m"),
    "passages": ("passages", "FILE"),
    "passages --summaries": ("passages", "p.jsonl", "--summaries", "FILE"),
    "rank-comments": ("rank-comments", "FILE", "--by", "votes"),
    "annotate plan": ("annotate", "plan", "FILE", "a.db", "-n", "2"),
    "corpus build": ("corpus", "build", "FILE", "--out", "corpus", "--source", "us", "--license", "none"),
    "vectors train": ("vectors", "train", "FILE", "--out", "v"),
}
"""Commands with a place for a file of rows."""
NEEDS = {"annotate": "sqlalchemy", "corpus": "pyarrow", "vectors": "gensim"}

PROBLEMS: dict[str, tuple[bytes | None, str]] = {
    "none.jsonl": (None, ": no such file"),
    "folder.jsonl": (None, ": a folder, not a file"),
    "empty.jsonl": (b"", ": the file holds no rows"),
    "blank.jsonl": (b"\n \n", ": the file holds no rows"),
    "latin.jsonl": (b'\n{"item": "\xe9"}\n', ":2: byte 0xe9 at offset 10 of the line is not UTF-8"),
    "broken.jsonl": (b'{"item": "a"', ":1: the JSON ends too early; is the line cut off?"),
    "list.jsonl": (b"[1, 2]\n", ":1: expected JSON Lines, one object per line, got a JSON array; convert it with: jq"),
    "cut.jsonl.gz": (gzip.compress(GOOD, mtime=0)[:-9], ": the gzip file ends early after line "),
    "plain.jsonl.gz": (GOOD, ": not a gzip file; if it is not compressed, name it .jsonl"),
    "text.parquet": (GOOD, ": not a Parquet file, or a damaged one"),
}


@pytest.fixture
def files(postil: Postil) -> Postil:
    """Files that can be read, for the other places."""
    texts = [(f"i{n}", system) for n in range(9) for system in "ab"]
    write("s.jsonl", [Score(item, system, "m", float(n * 7 % 5), "m") for n, (item, system) in enumerate(texts)])
    write("j.jsonl", [Judgement(item, system, "ann", float(n % 3)) for n, (item, system) in enumerate(texts)])
    write("p.jsonl", [Passage("t", str(n), f"word {n}", grade=float(n)) for n in range(3)])
    write("c.jsonl", [Candidate("a", "s", "a cat")])
    write("r.jsonl", [Reference("a", "a dog", grade=3.0)])
    return postil


def refused(postil: Postil, place: str, name: str, code: int = 3) -> str:
    """The one line that a command says of a file, behind its name."""
    command, *rest = (name if word == "FILE" else word for word in PLACES[place])
    pytest.importorskip(NEEDS.get(command, "json"))
    said = refusal(postil, command, *rest, code=code)
    assert said.startswith(f"{name}:")
    return said.removeprefix(name)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_cannot_be_read(files: Postil, place: str, name: str) -> None:
    data, said = PROBLEMS[name]
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    if data is not None:
        Path(name).write_bytes(data)
    elif name.startswith("folder"):
        Path(name).mkdir()
    assert refused(files, place, name).startswith(said)


@pytest.mark.parametrize("place", [place for place in PLACES if place != "corpus build"])
def test_an_unknown_kind_of_file(files: Postil, place: str) -> None:
    assert refused(files, place, "rows.doc", code=2).startswith(
        ": unknown kind of file; known endings: .jsonl, .ndjson, .json, .csv"
    )


@pytest.mark.parametrize("place", [place for place, words in PLACES.items() if words[1] == "FILE"])
def test_empty_standard_input(files: Postil, place: str) -> None:
    command = [*("-" if word == "FILE" else word for word in PLACES[place])]
    pytest.importorskip(NEEDS.get(command[0], "json"))
    outcome = files(*command, stdin=b"")
    assert (outcome.code, outcome.out, outcome.err) == (3, "", "postil: stdin: the file holds no rows\n")


@pytest.mark.parametrize(
    ("place", "other"),
    [
        ("compare", ""),
        ("correlate", ""),
        ("correlate", "--judgements"),
        ("correlate", "--candidates"),
        ("estimate", "--judgements"),
        ("budget", "--judgements"),
        ("combine fit", "--judgements"),
        ("score", "-r"),
        ("weights plan", "-r"),
        ("judge", "-r"),
    ],
)
def test_only_one_file_is_standard_input(files: Postil, place: str, other: str) -> None:
    words = ["-" if word == "FILE" else word for word in PLACES[place]]
    outcome = files(*words, *filter(None, [other]), "-")
    assert (outcome.code, outcome.out) == (2, "")
    assert "standard input" in outcome.err


@pytest.mark.parametrize("place", ["score", "judge", "correlate", "estimate", "budget", "combine fit", "passages"])
@pytest.mark.parametrize(
    ("scale", "said"),
    [
        ("high", 'scale "high": expected HIGH or LOW:HIGH, for example 5 or 1:5'),
        ("5:1", "a scale's highest grade is above its lowest, got 5 to 1"),
    ],
)
def test_a_scale_that_is_none(files: Postil, place: str, scale: str, said: str) -> None:
    words = (
        {"passages": "p.jsonl", "score": "c.jsonl"}.get(place, "s.jsonl") if w == "FILE" else w for w in PLACES[place]
    )
    outcome = files(*words, "--scale", scale)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"postil: {said}\n"
