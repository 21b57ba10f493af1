"""`postil study` as a command: where words go, and what is refused before anything is done."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.data.row_files import write
from postil.data.rows import Passage

if TYPE_CHECKING:
    from conftest import Postil


@pytest.mark.parametrize("name", ["comments", "passages", "uses"])
def test_help(postil: Postil, name: str) -> None:
    outcome = postil("study", name, "--help-all")
    assert outcome.code == 0
    assert "--stage" in outcome.out


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["comments"], 2, "expected --corpus DIR, or --tencent DIR"),
        (["comments", "--corpus", "c", "--tencent", "d"], 2, "expected --corpus DIR, or --tencent DIR"),
        (["comments", "--corpus", "c", "--model", "att"], 2, "--model takes NAME=VALUE"),
        (["comments", "--corpus", "c", "--systems", "att,atc"], 2, "atc"),
        (["comments", "--corpus", "c", "-m", "meteorr"], 2, "meteorr"),
        (["comments", "--corpus", "c", "--systems", ""], 2, "expected --systems, --model or --candidates"),
        (["comments", "--tencent", "d"], 3, "d: no such folder"),
        (["passages", "--collection", "nowhere"], 3, "expected one of passages.jsonl"),
        (["passages", "--collection", "c", "--vectors", "x"], 2, "--vectors takes NAME=VALUE"),
        (["uses", "--corpus", "nowhere"], 3, "nowhere: no such folder"),
    ],
)
@pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report")
def test_what_makes_no_sense(postil: Postil, words: list[str], code: int, problem: str) -> None:
    outcome = postil("study", *words)
    assert outcome.code == code
    assert problem in outcome.err
    assert outcome.err.count("\n") == 1
    assert not outcome.out


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report")
def test_words_go_to_standard_error(postil: Postil) -> None:
    texts = ("moon and tide", "rye and bread", "the drake", "the pond")
    rows = [
        Passage(f"t{t}", f"p{n}", f"{text} {t}", grade=float(n % 2)) for t in range(3) for n, text in enumerate(texts)
    ]
    Path("ponds").mkdir()
    write("ponds/passages.jsonl", rows)
    words = ["study", "passages", "--collection", "ponds", "--out", "out", "--no-train", "--resamples", 5]
    outcome = postil(*words, "--stage", "informativeness")
    assert outcome.code == 0
    assert outcome.out == ""
    assert outcome.err.startswith("informativeness: postil passages ponds/passages.jsonl ")
    assert postil(*words, "--stage", "informativeness").err == "informativeness: done before\n"
    assert "report" in postil(*words, "--stage", "reports").err
