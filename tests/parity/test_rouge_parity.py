from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import postil

if TYPE_CHECKING:
    from collections.abc import Callable

    from originals import Texts

    from conftest import Record

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]


def test_rouge_l_is_pycocoevalcap_bit_for_bit(texts: Texts, record: Record) -> None:
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge").Rouge()
    items = [
        rouge.calc_score([candidate], references)
        for candidate, references in zip(texts.candidates, texts.references, strict=True)
    ]
    ours = postil.score(texts.candidates, texts.references, metrics=["rouge-l"], tokenizer="space")
    assert ours.items["rouge-l"].tolist() == items
    assert ours.corpus["rouge-l"] == pytest.approx(sum(items) / len(items), rel=1e-14)
    record("rouge-l", "pycocoevalcap", texts, 0.0)


@pytest.mark.parametrize("order", [1, 2])
def test_recall_of_n_grams_is_that_of_rouge_score(
    texts: Texts, order: int, record: Record, largest: Callable[[object, object], float]
) -> None:
    """One reference at a time: rouge-score takes the best of several, Lin's equation pools them."""
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([f"rouge{order}"], tokenizer=_Spaces())
    first = [references[0] for references in texts.references]
    items = [
        scorer.score(reference, candidate)[f"rouge{order}"].recall
        for candidate, reference in zip(texts.candidates, first, strict=True)
    ]
    spec = f"rouge-{order}"
    ours = postil.score(texts.candidates, [[text] for text in first], metrics=[spec], tokenizer="space")
    difference = largest(ours.items[spec], items)
    assert difference < 1e-15
    record(f"{spec}, one reference", "rouge-score", texts, difference)


class _Spaces:
    def tokenize(self, text: str) -> list[str]:
        return text.split(" ")


@pytest.mark.parametrize("order", [1, 2])
def test_recall_of_n_grams_is_that_of_rouge_metric(
    texts: Texts, order: int, record: Record, largest: Callable[[object, object], float]
) -> None:
    """Its mode ``average`` pools matches and lengths over the references, as Lin's equation 1 does."""
    rouge = pytest.importorskip("rouge_metric").PyRouge(
        rouge_n=(order,), rouge_l=False, rouge_w=False, rouge_s=False, rouge_su=False, multi_ref_mode="average"
    )
    spec = f"rouge-{order}"
    items = [
        rouge.evaluate_tokenized([[candidate.split(" ")]], [[[text.split(" ")] for text in references]])[spec]["r"]
        for candidate, references in zip(texts.candidates, texts.references, strict=True)
    ]
    ours = postil.score(texts.candidates, texts.references, metrics=[spec], tokenizer="space")
    difference = largest(ours.items[spec], items)
    assert difference < 1e-15
    record(spec, "rouge-metric", texts, difference)


def test_recall_of_skip_bigrams_is_that_of_rouge_metric(
    texts: Texts, record: Record, largest: Callable[[object, object], float]
) -> None:
    """rouge-metric leaves the last word out of the unigrams, Lin does not.

    An end mark of its own on either side makes that last word the mark, which matches nothing; it adds the pairs of the
    last five words with the mark to a reference's count, and these are taken away again.
    """
    rouge = pytest.importorskip("rouge_metric").PyRouge(
        rouge_n=(), rouge_l=False, rouge_w=False, rouge_s=False, rouge_su=True, skip_gap=4, multi_ref_mode="average"
    )
    items = []
    for candidate, references in zip(texts.candidates, texts.references, strict=True):
        split = [text.split(" ") for text in references]
        marked = [[[*words, "<end of reference>"]] for words in split]
        recall = rouge.evaluate_tokenized([[[*candidate.split(" "), "<end>"]]], [marked])["rouge-su4"]["r"]
        own = sum(_skips(len(words)) for words in split)
        items.append(recall * (own + sum(min(len(words), 5) for words in split)) / own)
    ours = postil.score(texts.candidates, texts.references, metrics=["rouge-su4"], tokenizer="space")
    difference = largest(ours.items["rouge-su4"], items)
    assert difference < 1e-14
    record("rouge-su4", "rouge-metric", texts, difference)


def _skips(n: int) -> int:
    """Words of a text of n words, and its pairs with at most four words between."""
    return n + sum(min(5, n - 1 - at) for at in range(n))
