"""BLEU, chrF, CIDEr and ROUGE are those of the originals."""

from __future__ import annotations

import itertools
import logging
import math
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import originals
import pytest
from originals import Texts, summaries

import postil
from postil.kernel import NAME

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Record


ORDERS = ["bleu-1", "bleu-2", "bleu-3", "bleu-4"]


def test_coco_smoothing_is_pycocoevalcap_bit_for_bit(texts: Texts, record: Record) -> None:
    coco = pytest.importorskip("pycocoevalcap.bleu.bleu")
    numbers = range(len(texts))
    corpus, items = coco.Bleu(4).compute_score(
        dict(zip(numbers, texts.references, strict=True)),
        {number: [text] for number, text in enumerate(texts.candidates)},
        verbose=0,
    )
    ours = postil.score(texts.candidates, texts.references, metrics=ORDERS, tokenizer="space")
    for order, spec in enumerate(ORDERS):
        assert ours.items[spec].tolist() == items[order]
        assert ours.corpus[spec] == corpus[order]
    record("bleu-1..4", "pycocoevalcap", texts, 0.0)


@pytest.mark.parametrize("smooth", ["none", "exp", "floor", "add-k"])
def test_smoothings_are_those_of_sacrebleu(
    texts: Texts, smooth: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it recommends effective_order for every item
    orders = (1, 2, 3, 4) if texts.name == "made" else (4,)  # sacrebleu is slow with many references
    deepest = max(map(len, texts.references))
    streams = [[row[at] if at < len(row) else None for row in texts.references] for at in range(deepest)]
    worst = 0.0
    for order, effective in itertools.product(orders, (False, True)):
        spec = f"bleu-{order}(smooth={smooth},effective={str(effective).lower()})"
        theirs = bleu(
            tokenize="none", force=True, smooth_method=smooth, max_ngram_order=order, effective_order=effective
        )
        ours = postil.score(texts.candidates, texts.references, metrics=[spec], tokenizer="space")
        pairs = zip(texts.candidates, texts.references, strict=True)
        items = [theirs.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
        corpus = theirs.corpus_score(texts.candidates, streams).score / 100
        worst = max(worst, largest(ours.items[spec], items), abs(ours.corpus[spec] - corpus))
    assert worst < 1e-14
    name = "bleu-1..4" if len(orders) > 1 else "bleu-4"
    record(f"{name}(smooth={smooth}), with and without effective", "sacrebleu", texts, worst)


def test_method0_is_nltk(texts: Texts, record: Record, largest: Callable[[object, object], float]) -> None:
    nltk = pytest.importorskip("nltk.translate.bleu_score")
    specs = [f"{order}(smooth=method0)" for order in ORDERS]
    weights = [(1.0,), (0.5, 0.5), (1 / 3, 1 / 3, 1 / 3), (0.25, 0.25, 0.25, 0.25)]
    ours = postil.score(texts.candidates, texts.references, metrics=specs, tokenizer="space")
    candidates = [text.split(" ") for text in texts.candidates]
    references = [[text.split(" ") for text in row] for row in texts.references]
    items = [nltk.sentence_bleu(row, text, weights) for text, row in zip(candidates, references, strict=True)]
    corpus = nltk.corpus_bleu(references, candidates, weights)
    worst = 0.0
    for order, spec in enumerate(specs):
        worst = max(worst, largest(ours.items[spec], [item[order] for item in items]))
        worst = max(worst, abs(ours.corpus[spec] - corpus[order]))
    assert worst < 1e-14
    record("bleu-1..4(smooth=method0)", "nltk", texts, worst)


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
    worst = _compare_chrf(texts, spec, largest)
    assert worst < 1e-14
    record(spec, "sacrebleu", texts, worst)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["chrf", "chrf++"])
def test_chrf_of_2000_texts_is_that_of_sacrebleu(
    texts: Texts, spec: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    some = texts.first(2000 if texts.name == "made" else 200)
    worst = _compare_chrf(some, spec, largest)
    assert worst < 1e-14
    record(spec, "sacrebleu", some, worst)


def _compare_chrf(texts: Texts, spec: str, largest: Callable[[object, object], float]) -> float:
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    theirs = pytest.importorskip("sacrebleu.metrics").CHRF(**VARIANTS[spec])
    deepest = max(map(len, texts.references))
    streams = [[row[at] if at < len(row) else None for row in texts.references] for at in range(deepest)]
    pairs = zip(texts.candidates, texts.references, strict=True)
    items = [theirs.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
    corpus = theirs.corpus_score(texts.candidates, streams).score / 100
    ours = postil.score(texts.candidates, texts.references, metrics=[spec])
    return max(largest(ours.items[spec], items), abs(ours.corpus[spec] - corpus))


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
    worst = _compare_rouge(texts, largest, stem=stem)
    assert worst == 0.0
    record(f"rouge-1, -2, -l, -lsum, P, R and F{', stems' * stem}", "rouge-score", texts, worst, how="its tokenizer")


@pytest.mark.slow
def test_all_numbers_of_rouge_score_on_answers(record: Record, largest: Callable[[object, object], float]) -> None:
    if not originals.DATA.is_dir():
        pytest.skip(f"no data in {originals.DATA}; POSTIL_DATA names the folder")
    texts = originals.mohler().first(300)
    worst = _compare_rouge(texts, largest, stem=True)
    assert worst == 0.0
    record("rouge-1, -2, -l, -lsum, P, R and F, stems", "rouge-score", texts, worst, how="its tokenizer")


def _compare_rouge(texts: Texts, largest: Callable[[object, object], float], *, stem: bool) -> float:
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
        assert _compare_rouge(texts, lambda a, b: float(np.abs(np.subtract(a, b)).max()), stem=False) == 0.0


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
