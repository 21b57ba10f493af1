from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import originals
import pytest
from originals import summaries

import postil
from postil.kernel import NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from originals import Texts

    from conftest import Record

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

VARIANTS: dict[str, dict[str, Any]] = {
    "chrf": {},
    "chrf++": {"word_order": 2},
    "chrf(order=4,words=1,beta=3)": {"char_order": 4, "word_order": 1, "beta": 3},
    "chrf(lowercase=true)": {"lowercase": True},
    "chrf++(lowercase=true,whitespace=true)": {"word_order": 2, "lowercase": True, "whitespace": True},
    "chrf(smooth=eps)": {"eps_smoothing": True},
    "chrf++(smooth=eps,beta=1)": {"word_order": 2, "eps_smoothing": True, "beta": 1},
}


@pytest.mark.parametrize("spec", VARIANTS)
@pytest.mark.parametrize("name", ["made", "summaries"])
def test_chrf_is_that_of_sacrebleu(
    name: str, spec: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    n = 1 if NAME == "compiled" else 5
    texts = originals.made(300 // n) if name == "made" else summaries(100 // n)
    worst = _compare(texts, spec, largest)
    assert worst < 1e-14
    record(spec, "sacrebleu", texts, worst)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["chrf", "chrf++"])
def test_chrf_of_2000_texts_is_that_of_sacrebleu(
    texts: Texts, spec: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    some = texts.first(2000 if texts.name == "made" else 200)
    worst = _compare(some, spec, largest)
    assert worst < 1e-14
    record(spec, "sacrebleu", some, worst)


def _compare(texts: Texts, spec: str, largest: Callable[[object, object], float]) -> float:
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    theirs = pytest.importorskip("sacrebleu.metrics").CHRF(**VARIANTS[spec])
    deepest = max(map(len, texts.references))
    streams = [[row[at] if at < len(row) else None for row in texts.references] for at in range(deepest)]
    pairs = zip(texts.candidates, texts.references, strict=True)
    items = [theirs.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
    corpus = theirs.corpus_score(texts.candidates, streams).score / 100
    ours = postil.score(texts.candidates, texts.references, metrics=[spec])
    return max(largest(ours.items[spec], items), abs(ours.corpus[spec] - corpus))
