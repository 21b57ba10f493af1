from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.errors import Undefined, UsageError
from postil.metrics import background
from postil.metrics.background import DocumentFrequencies, ExternalFrequencies
from postil.metrics.references import References
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path


def table(counted: DocumentFrequencies) -> dict[tuple[str, ...], int]:
    return {
        tuple(counted.words[i] for i in gram): count
        for grams, df in zip(counted.grams, counted.df, strict=True)
        for gram, count in zip(grams.tolist(), df.tolist(), strict=True)
    }


@pytest.mark.parametrize("words", [2, 5, 60])
@pytest.mark.parametrize("order", [1, 2, 4, 9])
@pytest.mark.parametrize("bits", [None, 62])
def test_the_counts_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: int, order: int, bits: int | None
) -> None:
    if bits:  # keys that leave room for four items or places at a time
        monkeypatch.setattr(background._Keys, "of", lambda *_: background._Keys(31, bits))
    draw = random.Random(words)  # noqa: S311 - texts
    items = [
        [" ".join(f"w{draw.randrange(words)}" for _ in range(draw.randrange(12))) for _ in range(draw.randint(1, 3))]
        for _ in range(60)
    ]
    split = tokenizer("space")
    external = ExternalFrequencies(str(tmp_path), split, order)
    for begin in range(0, 60, 7):
        block = items[begin : begin + 7]
        external.add([each for item in block for each in item], [len(item) for item in block])
    external.count(lambda _: None)
    texts = [each for item in items for each in item]
    offsets = np.cumsum([0, *map(len, items)])
    whole = DocumentFrequencies.of(References(Vocabulary().encode(texts, split), offsets), "space", order)
    found = external.of(["w0 w0 zoo", "", *texts])
    assert table(found) == table(whole)
    assert (found.items, found.order, found.tokenizer, found.signature) == (60, order, "space", "references/60")
    own = postil.score([item[0] for item in items], items, metrics=["cider"], tokenizer=split.signature)
    assert f"|background:references/60|documents:{found.documents}|" in own.signatures["cider"]
    part = table(external.of([texts[0], "w1 zoo w0"]))
    assert part.items() <= table(whole).items()
    # no vocabulary of an earlier call stays
    assert table(external.of([texts[0], "w1 zoo w0"])) == part


def test_texts_without_words(tmp_path: Path) -> None:
    counted = ExternalFrequencies(str(tmp_path), tokenizer("space"), 4)
    counted.add(["", ""], [1, 1])
    counted.count(lambda _: None)
    assert table(counted.of(["", "a b"])) == {}


def test_one_item_or_an_order_out_of_range(tmp_path: Path) -> None:
    counted = ExternalFrequencies(str(tmp_path), tokenizer("space"), 2)
    counted.add(["a b", "a"], [2])
    with pytest.raises(Undefined, match="at least two items, got one"):
        counted.count(lambda _: None)
    with pytest.raises(UsageError, match="expected 1 to 9, got 10"):
        ExternalFrequencies(str(tmp_path), tokenizer("space"), 10)
