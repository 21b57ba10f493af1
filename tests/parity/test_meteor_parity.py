from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import originals
import pytest

import postil
from postil.kernel import NAME
from postil.metrics.meteor import Meteor

if TYPE_CHECKING:
    from collections.abc import Callable

    from originals import Texts

    from conftest import Record

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("java")]

ROOT = Path(__file__).parents[2]
TOLD_OF = {"mohler": "student answers", "dstc7": "answers in web threads"}
"""The English texts of people for which the documents say how far the list of the package is from the program's."""


@pytest.fixture(autouse=True)
def _program() -> None:
    pytest.importorskip("pycocoevalcap")


@pytest.fixture
def function_words(tmp_path: Path) -> Path:
    """The program's own list, from the installed jar."""
    path = tmp_path / "words.txt"
    path.write_text(originals.jar_function_words(), "utf-8")
    return path


def check(texts: Texts, spec: str, options: list[str], largest: Callable[[object, object], float]) -> float:
    """The largest difference between postil and the program, over item scores and the corpus score."""
    return compare(texts, spec, originals.jar_scores(texts, *options), largest)


def compare(
    texts: Texts, spec: str, program: tuple[float, list[float]], largest: Callable[[object, object], float]
) -> float:
    corpus, items = program
    ours = postil.score(texts.candidates, texts.references, metrics=[spec], tokenizer="space")
    return max(largest(ours.items[spec], items), abs(ours.corpus[spec] - corpus))


def test_english_exact(
    texts: Texts, function_words: Path, record: Record, largest: Callable[[object, object], float]
) -> None:
    texts = originals.without_collisions(texts)
    spec = f"meteor(params=en,stages=exact,function_words={function_words})"
    difference = check(texts, spec, ["-l", "en", "-m", "exact", "-w", "1.0"], largest)
    assert difference < 1e-12
    record("meteor(params=en,stages=exact)", "pycocoevalcap", texts, difference, how="METEOR 1.5 -l en -m exact")


def test_english_exact_and_stem(
    texts: Texts, function_words: Path, record: Record, largest: Callable[[object, object], float]
) -> None:
    texts = originals.without_collisions(texts)
    program = originals.jar_scores(texts, "-l", "en", "-m", "exact stem", "-w", "1.0 0.6")
    spec = f"meteor(params=en,stages=exact+stem,function_words={function_words})"
    difference = compare(texts, spec, program, largest)
    assert difference < 1e-12
    record(
        "meteor(params=en,stages=exact+stem)",
        "pycocoevalcap",
        texts,
        difference,
        how="METEOR 1.5 -l en -m 'exact stem'",
    )
    if texts.name in TOLD_OF:
        assert_as_documented(texts, program[1])


def assert_as_documented(texts: Texts, program: list[float]) -> None:
    """Differences from METEOR 1.5 that pages and docstring state for the package's function words."""
    ours = postil.score(texts.candidates, texts.references, metrics=["meteor"], tokenizer="space").items["meteor"]
    gaps = np.abs(ours - program)
    measured = (
        f"{np.count_nonzero(gaps > 1e-12):,} of {len(texts):,} {TOLD_OF[texts.name]} differ, "
        f"by {gaps.mean():.4f} in the mean and {gaps.max():.4f} at most"
    ).replace(" 0.", " .")
    for where, text in {
        "research/validation.md": (ROOT / "research/validation.md").read_text("utf-8"),
        "Meteor's docstring": str(Meteor.__doc__),
    }.items():
        assert measured in " ".join(text.split()), f"{where} should say: {measured}"


def test_other(texts: Texts, record: Record, largest: Callable[[object, object], float]) -> None:
    texts = originals.without_collisions(texts)
    difference = check(texts, "meteor(params=other,stages=exact)", ["-l", "other"], largest)
    assert difference < 1e-12
    record("meteor(params=other,stages=exact)", "pycocoevalcap", texts, difference, how="METEOR 1.5 -l other")


def test_2005(texts: Texts, record: Record, largest: Callable[[object, object], float]) -> None:
    texts = originals.without_collisions(texts)
    options = ["-l", "other", "-m", "exact", "-w", "1.0", "-p", "0.9 3.0 0.5 0.5"]
    difference = check(texts, "meteor(params=2005,stages=exact)", options, largest)
    assert difference < 1e-12
    record(
        "meteor(params=2005,stages=exact)", "pycocoevalcap", texts, difference, how="METEOR 1.5 -p '0.9 3.0 0.5 0.5'"
    )


def test_characters_are_what_norm_makes_of_chinese(
    function_words: Path, record: Record, largest: Callable[[object, object], float]
) -> None:
    if not originals.DATA.is_dir():
        pytest.skip(f"no data in {originals.DATA}; POSTIL_DATA names the folder")
    texts = originals.without_collisions(originals.chinese(250 if NAME == "compiled" else 10))
    spec = f"meteor(params=en,stages=exact,characters=true,function_words={function_words})"
    difference = check(texts, spec, ["-l", "en", "-norm", "-m", "exact", "-w", "1.0"], largest)
    assert difference < 1e-12
    record("meteor(characters=true)", "pycocoevalcap", texts, difference, how="METEOR 1.5 -l en -norm -m exact")
