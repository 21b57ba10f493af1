"""Weights of references that nobody has graded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import postil
from exploration import examples
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.metrics import reference_aggregation as over_module
from postil.metrics.background import DocumentFrequencies
from postil.metrics.references import References
from postil.metrics.ungraded import mean_similarities, similarity_of
from postil.text.tokens import Vocabulary

TEXTS = st.lists(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=5), min_size=1, max_size=4
)


def brute(rows: list[list[list[str]]], metric: str) -> list[list[float]]:
    """Every text against the others of its row, one pair at a time."""

    def like(one: list[str], other: list[str]) -> float:
        return postil.score([one], [[other]], metrics=[metric]).corpus[metric]

    weights = []
    for row in rows:
        means = [sum(like(one, other) for i, other in enumerate(row) if i != j) for j, one in enumerate(row)]
        weights.append([mean / max(means) if max(means) else 1.0 for mean in means])
    return weights


def flat(rows: list[list[float]]) -> list[float]:
    return [weight for row in rows for weight in row]


@examples(25)
@given(TEXTS, st.sampled_from(["rouge-l(beta=1)", "meteor", "bleu-1(smooth=none)"]))
def test_the_definition(rows: list[list[list[str]]], metric: str) -> None:
    found = postil.consensus_weights(rows, metric=metric)
    assert [len(row) for row in found] == [len(row) for row in rows]
    assert flat(found) == pytest.approx(flat(brute(rows, metric)))


@pytest.mark.parametrize("metric", ["rouge-l", "bleu-1", "bleu-4", "meteor"])
def test_where_none_is_like_another_all_count(metric: str) -> None:
    """Smoothed BLEU, too, whose scores are above 0 there."""
    assert postil.consensus_weights([["a b", "c", "d"], ["", ""], ["", "a"]], metric=metric) == [
        [1.0] * 3,
        [1.0] * 2,
        [1.0] * 2,
    ]


@pytest.mark.parametrize("metric", ["cider-d", "cider"])
def test_a_metric_with_document_frequencies_takes_those_of_all_references(metric: str) -> None:
    rows = [["a b c d", "a b c d", "a b c e"], ["f g h i", "f g h j"], ["k"]]
    vocabulary = Vocabulary()
    tokens = vocabulary.encode_tokens([text.split() for row in rows for text in row])
    references = References(tokens, np.array([0, 3, 5, 6]))
    found = postil.consensus_weights(rows, metric=metric)
    assert found[0][0] == found[0][1] == 1.0 > found[0][2] > 0.0
    assert found[1:] == [[1.0, 1.0], [1.0]]
    # The same as pairs scored with these frequencies.
    other = Vocabulary()
    again = References(other.encode_tokens([text.split() for text in rows[0]]), np.array([0, 1, 2, 3]))
    scorer = similarity_of(f"consensus({metric})").against_unweighted(
        again, DocumentFrequencies.of(references, "space")
    )
    candidate = other.branch().encode_tokens([rows[0][0].split()] * 2)
    values = scorer.items(scorer.stats(candidate, np.array([1, 2], np.int32)))
    assert mean_similarities(references, similarity_of(f"consensus({metric})"))[0] == pytest.approx(values.mean())


@pytest.mark.parametrize("block", [1, 2, 7])
@pytest.mark.parametrize("jobs", [1, 2])
def test_blocks_and_jobs_change_no_bit(block: int, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = [
        [["abcdefgh"[i] for i in rng.integers(0, 8, rng.integers(0, 9))] for _ in range(rng.integers(1, 9))]
        for _ in range(20)
    ]
    whole = postil.consensus_weights(rows)
    monkeypatch.setattr(over_module, "BLOCK", block)
    assert postil.consensus_weights(rows, jobs=jobs) == whole


def test_a_list_may_come_twice() -> None:
    row = ["a b", "a c", "b"]
    assert postil.consensus_weights([row, ["z"], row]) == [FOUND, [1.0], FOUND]


FOUND = postil.consensus_weights([["a b", "a c", "b"]])[0]


def test_no_rows() -> None:
    assert postil.consensus_weights([]) == []


@pytest.mark.parametrize("metric", ["w-rouge-l", "delta-bleu"])
def test_a_metric_that_reads_weights_is_refused(metric: str) -> None:
    with pytest.raises(UsageError, match=f"consensus: expected a metric that reads no weights, got '{metric}'"):
        postil.consensus_weights([["a"]], metric=metric)


def test_what_cannot_be_weighed() -> None:
    with pytest.raises(UnknownName, match="did you mean 'rouge-l'"):
        postil.consensus_weights([["a"]], metric="rouge-k")
    with pytest.raises(InvalidInput, match="references:2: expected at least one reference, got none"):
        postil.consensus_weights([["a"], []])
    with pytest.raises(InvalidInput, match="references:2: Han text"):
        postil.consensus_weights([["a", "b"], ["c", "北京欢迎你"]])
    with pytest.raises(InvalidInput, match="references:1: expected a list or a column, got str"):
        postil.consensus_weights(["a"])
    with pytest.raises(Undefined, match="CIDEr needs document frequencies"):
        postil.consensus_weights([["a", "b"]], metric="cider")
