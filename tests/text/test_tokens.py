from __future__ import annotations

import numpy as np

from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary


def test_texts_are_kept_beside_their_tokens_if_asked_for() -> None:
    texts = ["A b.", "", "c"]
    for name in ("words", "13a"):
        kept = Vocabulary().encode(texts, tokenizer(name), keep_texts=True)
        assert kept.texts == texts
        assert Vocabulary().encode(texts, tokenizer(name)).texts is None
    assert kept.take(np.array([2, 0, 2])).texts == ["c", "A b.", "c"]
    assert Vocabulary().encode_tokens([["a", "b"], []], keep_texts=True).texts == ["a b", ""]
    assert Vocabulary().encode_tokens([["a"]]).take(np.array([0])).texts is None


def test_take_is_the_texts_one_by_one() -> None:
    tokens = Vocabulary().encode_tokens([["a", "b"], [], ["b", "c", "b"]])
    taken = tokens.take(np.array([2, 1, 0, 2]))
    assert [taken.words(i) for i in range(4)] == [["b", "c", "b"], [], ["a", "b"], ["b", "c", "b"]]
    assert taken.ids.dtype == np.int32
    assert taken.offsets.dtype == np.int64
    assert len(tokens.take(np.array([], dtype=np.int64))) == 0
