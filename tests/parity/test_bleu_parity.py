from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING

import pytest

import postil

if TYPE_CHECKING:
    from collections.abc import Callable

    from originals import Texts

    from conftest import Record

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

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


def test_the_test_can_fail() -> None:
    """The smoothings differ on a candidate without a common 4-gram, so the tests above tell them apart."""
    specs = [f"bleu-4(smooth={smooth})" for smooth in ("coco", "none", "exp", "floor", "add-k", "method0")]
    result = postil.score(["a b c d e"], [["a b c x e"]], metrics=specs, tokenizer="space")
    assert len({result.corpus[spec] for spec in specs}) == len(specs)
