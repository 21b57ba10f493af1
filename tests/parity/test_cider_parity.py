from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import postil

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from originals import Texts

    from conftest import Record

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]


def _every_row_an_item(texts: Texts, spec: str) -> postil.ScoreResult:
    """The originals count each candidate's references in the document frequencies, shared or not."""
    return postil.score(
        texts.candidates, texts.references, items=list(range(len(texts))), metrics=[spec], tokenizer="space"
    )


def test_cider_d_is_pycocoevalcap(texts: Texts, record: Record, largest: Callable[[object, object], float]) -> None:
    coco = pytest.importorskip("pycocoevalcap.cider.cider")
    corpus, items = coco.Cider().compute_score(
        dict(enumerate(texts.references)), {number: [text] for number, text in enumerate(texts.candidates)}
    )
    ours = _every_row_an_item(texts, "cider-d")
    difference = max(largest(ours.items["cider-d"], items), abs(ours.corpus["cider-d"] - float(corpus)))
    assert difference < 1e-14
    record("cider-d", "pycocoevalcap", texts, difference)


Grams = dict[tuple[str, ...], float]


def _counts(text: str, order: int) -> Counter[tuple[str, ...]]:
    words = text.split(" ")
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def _cosine(one: Grams, other: Grams) -> float:
    norms = math.hypot(*one.values()) * math.hypot(*other.values())
    return math.fsum(value * other.get(gram, 0.0) for gram, value in one.items()) / norms if norms else 0.0


def paper_cider(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Vedantam et al. 2015, equations 1 to 4, without stemming: the mean cosine of tf-idf vectors over orders 1 to 4.

    Its term frequency divides a count by the text's length; the cosine does not see that.
    """
    scores = [0.0] * len(candidates)
    for order in (1, 2, 3, 4):
        counts = [[_counts(text, order) for text in texts] for texts in references]
        frequency = Counter(gram for item in counts for gram in set().union(*item))

        def vector(grams: Counter[tuple[str, ...]], frequency: Counter[tuple[str, ...]] = frequency) -> Grams:
            return {gram: n * math.log(len(candidates) / max(1, frequency[gram])) for gram, n in grams.items()}

        for item, candidate in enumerate(candidates):
            own = vector(_counts(candidate, order))
            cosines = [_cosine(own, vector(other)) for other in counts[item]]
            scores[item] += math.fsum(cosines) / len(cosines) / 4
    return scores


def test_cider_is_the_papers(texts: Texts, largest: Callable[[object, object], float]) -> None:
    """The original has no package; its formula is restated above, in plain dictionaries."""
    some = texts.first(500)
    ours = _every_row_an_item(some, "cider")
    items = paper_cider(some.candidates, some.references)
    assert largest(ours.items["cider"], items) < 1e-14
    assert ours.corpus["cider"] == pytest.approx(math.fsum(items) / len(items), abs=1e-14)


def test_the_restated_formula_on_numbers_worked_out_by_hand() -> None:
    """The items are two, ``a b`` against ``a c`` and ``d`` against ``d``.

    Every gram is in one item's references or none, so every idf is log 2. Item 1: unigrams (1, 1, 0) and (1, 0, 1),
    cosine 1/2; bigrams differ. Item 2: cosine 1 for unigrams, no bigrams. Divided by four orders: 1/8 and 1/4.
    """
    assert paper_cider(["a b", "d"], [["a c"], ["d"]]) == pytest.approx([1 / 8, 1 / 4], abs=1e-15)
