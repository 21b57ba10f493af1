from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import originals
import pytest
from originals import Texts, summaries

import postil
from postil.kernel import NAME

if TYPE_CHECKING:
    from collections.abc import Callable

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


PARTS = {"p": "precision", "r": "recall", "f": "fmeasure"}
ROUGE_SCORE = {
    "rouge1": "rouge-1(over=max,part={part},stem={stem})",
    "rouge2": "rouge-2(over=max,part={part},stem={stem})",
    "rougeL": "rouge-l(reading=best,beta=1,part={part},stem={stem})",
    "rougeLsum": "rouge-lsum(part={part},stem={stem})",
}


@pytest.mark.parametrize("stem", [False, True])
def test_all_numbers_of_rouge_score(stem: bool, record: Record, largest: Callable[[object, object], float]) -> None:
    """Its tokenizer, stems, sentences and choice among several references; its mean is the corpus score."""
    texts = summaries(2000 if NAME == "compiled" else 100)
    worst = _compare(texts, largest, stem=stem)
    assert worst == 0.0
    record(f"rouge-1, -2, -l, -lsum, P, R and F{', stems' * stem}", "rouge-score", texts, worst, how="its tokenizer")


@pytest.mark.slow
def test_all_numbers_of_rouge_score_on_answers(record: Record, largest: Callable[[object, object], float]) -> None:
    if not originals.DATA.is_dir():
        pytest.skip(f"no data in {originals.DATA}; POSTIL_DATA names the folder")
    texts = originals.mohler().first(300)
    worst = _compare(texts, largest, stem=True)
    assert worst == 0.0
    record("rouge-1, -2, -l, -lsum, P, R and F, stems", "rouge-score", texts, worst, how="its tokenizer")


def _compare(texts: Texts, largest: Callable[[object, object], float], *, stem: bool) -> float:
    theirs = _rouge_score(texts, stem=stem)
    worst = 0.0
    for part, field in PARTS.items():
        specs = {name: spec.format(part=part, stem=str(stem).lower()) for name, spec in ROUGE_SCORE.items()}
        ours = postil.score(texts.candidates, texts.references, metrics=list(specs.values()), tokenizer="rouge")
        for name, spec in specs.items():
            items = [getattr(scores[name], field) for scores in theirs]
            worst = max(worst, largest(ours.items[spec], items))
            assert ours.corpus[spec] == pytest.approx(np.mean(items), rel=1e-12)
    return worst


def _rouge_score(texts: Texts, *, stem: bool) -> list[dict[str, Any]]:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(list(ROUGE_SCORE), use_stemmer=stem)
    if stem:
        scorer._tokenizer._stemmer.stem = cache(scorer._tokenizer._stemmer.stem)  # each word once
    return [
        scorer.score_multi(references, candidate)
        for candidate, references in zip(texts.candidates, texts.references, strict=True)
    ]


def test_the_middle_of_its_bootstrap_is_about_the_corpus_score() -> None:
    """``mid`` is the median of the means of resamples, so that it depends on a seed; the mean does not."""
    scoring = pytest.importorskip("rouge_score.scoring")
    texts = summaries(300)
    aggregator = scoring.BootstrapAggregator()
    for scores in _rouge_score(texts, stem=False):
        aggregator.add_scores(scores)
    np.random.seed(1)  # noqa: NPY002 - what it draws from
    middle = aggregator.aggregate()["rougeL"].mid.fmeasure
    spec = "rouge-l(reading=best,beta=1)"
    ours = postil.score(texts.candidates, texts.references, metrics=[spec], tokenizer="rouge")
    assert abs(middle - ours.corpus[spec]) < 0.2 * ours.items[spec].std() / len(texts) ** 0.5


def test_of_references_with_equal_f_the_first_gives_precision_and_recall() -> None:
    references = ["a b c d e f", "a b"]  # of these P = 1, R = 1/3 and P = 1/3, R = 1 with the candidates below
    for order in (references, references[::-1]):
        texts = Texts("made", ["a b", "a b c d e f"], [order, order])
        assert _compare(texts, lambda a, b: float(np.abs(np.subtract(a, b)).max()), stem=False) == 0.0


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
