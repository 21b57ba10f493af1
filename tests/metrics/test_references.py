from __future__ import annotations

import numpy as np
import pytest

from postil.errors import InvalidInput, UsageError
from postil.metrics.references import References
from postil.metrics.spec import parse_metric
from postil.text.tokens import Tokens, Vocabulary


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary()


@pytest.fixture
def tokens(vocabulary: Vocabulary) -> Tokens:
    return vocabulary.encode_tokens([["a", "b"], ["c"], []])


def test_arrays_become_what_the_kernel_takes(tokens: Tokens) -> None:
    weights = np.array([[0.5, 0.0], [1.0, 0.0], [0.25, 0.0]], dtype=np.float32)[:, 0]
    offsets = np.array([0, 1, 3], dtype=np.int32)
    references = References(tokens, offsets, weights, np.array([4, 4]))  # type: ignore[arg-type]
    kept = (references.offsets, references.weights, references.items)
    assert [array.dtype for array in kept] == [np.int64, np.float64, np.int32]
    assert all(array.flags.c_contiguous for array in kept)


@pytest.mark.parametrize("items", [[2, 1, 0], [1, 1, 0], [0, 2, 2]])
def test_sets_of_an_item_may_come_in_any_order_of_items(tokens: Tokens, items: list[int]) -> None:
    assert len(References(tokens, np.array([0, 1, 2, 3]), items=np.array(items, np.int32))) == 3


@pytest.mark.parametrize(
    ("offsets", "weights", "items", "message"),
    [
        ([0], None, None, "references: expected at least one set of references, got none"),
        ([0, 1, 3], [1.0, 1.0], None, "references: expected 3 weights and 2 items, got (2,) and (2,)"),
        ([0, 1, 3], [[1.0]] * 3, None, "references: expected 3 weights and 2 items, got (3, 1) and (2,)"),
        ([0, 1, 3], None, [0], "references: expected 3 weights and 2 items, got (3,) and (1,)"),
        ([0, 2], None, None, "references: expected offsets from 0 to 3, got 0 to 2"),
        ([1, 3], None, None, "references: expected offsets from 0 to 3, got 1 to 3"),
        ([0, 1, 1, 3], None, None, "references:2: expected at least one reference, got none"),
        ([0, 2, 1, 3], None, None, "references:2: expected at least one reference, got none"),
        ([0, 1, 2, 3], None, [0, 1, 0], "references: items: expected the sets of one item next to one another"),
        ([0, 3], [0.5, 1.5, 1.0], None, "references:2: weight: expected a number from 0 to 1, got 1.5"),
        ([0, 3], [0.5, 1.0, np.nan], None, "references:3: weight: expected a number from 0 to 1, got nan"),
        ([0, 3], [-1.1, 1.0, 1.0], None, "references:1: weight: expected a number from 0 to 1, got -1.1"),
    ],
)
def test_what_does_not_fit(
    tokens: Tokens, offsets: list[int], weights: list[float] | None, items: list[int] | None, message: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        References(
            tokens,
            np.array(offsets),
            None if weights is None else np.array(weights),  # type: ignore[arg-type]
            None if items is None else np.array(items),  # type: ignore[arg-type]
        )
    assert str(caught.value) == message


def test_only_delta_bleu_takes_negative_weights(tokens: Tokens) -> None:
    references = References(tokens, np.array([0, 3]), np.array([-0.5, 1.0, 1.0]))
    parse_metric("delta-bleu").against(references)
    parse_metric("meteor").against(references)  # does not look at weights
    with pytest.raises(InvalidInput, match=r"references: weight: meteor: expected weights from 0 to 1, got -0\.5"):
        parse_metric("w-meteor").against(references)


def test_candidates_must_fit(vocabulary: Vocabulary, tokens: Tokens) -> None:
    references = References(tokens, np.array([0, 1, 3]))
    candidates = vocabulary.branch().encode_tokens([["a"], ["z"]])
    assert len(references.match(candidates, np.array([0, 1]))) == 2
    with pytest.raises(InvalidInput, match="sets: expected 2 set numbers, got 1"):
        references.match(candidates, np.array([0]))
    with pytest.raises(InvalidInput, match="sets:2: expected the number of a set of references, 0 to 1, got 2"):
        references.match(candidates, np.array([0, 2]))
    with pytest.raises(InvalidInput, match=r"sets:1: .* got -1"):
        references.match(candidates, np.array([-1, 0]))
    with pytest.raises(UsageError, match="vocabulary of the references"):
        references.match(Vocabulary().encode_tokens([["a"], ["z"]]), np.array([0, 1]))


def test_candidates_of_the_references_own_vocabulary(vocabulary: Vocabulary, tokens: Tokens) -> None:
    references = References(tokens, np.array([0, 1, 3]))
    again = vocabulary.encode_tokens([["a", "b"], ["c", "d"]])
    scorer = parse_metric("rouge-1").against(references)
    assert scorer.items(scorer.stats(again, np.array([0, 1]))).tolist() == [1.0, 1.0]


def test_references_without_a_word() -> None:
    """A branch of an empty vocabulary is a branch: its base cannot grow and give its ids away again."""
    vocabulary = Vocabulary()
    references = References(vocabulary.encode_tokens([[], []]), np.array([0, 1, 2]))
    candidates = vocabulary.branch().encode_tokens([["a"]])
    for spec in ("rouge-l", "meteor", "cider", "rouge-1", "delta-bleu", "meteor(characters=true)"):
        scorer = parse_metric(spec).against(references)
        assert scorer.items(scorer.stats(candidates, np.array([0]))).tolist() == [0.0], spec
    with pytest.raises(ValueError, match="cannot grow"):
        vocabulary.encode_tokens([["b"]])
    with pytest.raises(ValueError, match="no branches of its own"):
        candidates.vocabulary.branch()
