"""Evaluation: one assembly for every caller, lazy in its candidates, and the same through copies in other processes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.grades import Scale
from postil.errors import InvalidInput
from postil.metrics.base import Metric, Scorer, mean_of_items
from postil.metrics.controls import ControlOptions
from postil.metrics.evaluation import (
    Batch,
    Evaluation,
    ReferenceTexts,
    SystemTotals,
    bind_references,
    weighting_signature,
)
from postil.metrics.metric_set import parse_all
from postil.metrics.ungraded import similarity_of
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References

TEXTS: list[object] = ["a b", "a c", "d b", "e", "e f"]
OFFSETS = np.array([0, 3, 5])
SPECS = ("bleu-2", "w-meteor", "w-rouge-l(over=near)", "cider")


def evaluation(similarity: Metric | None = None, **changes: object) -> Evaluation:
    references = ReferenceTexts(TEXTS, OFFSETS, np.array([1.0, 0.5, 0.0, 0.25, 1.0]), similarity=similarity)
    return Evaluation(parse_all(SPECS), references, **{"tokenizer": "space", **changes})  # type: ignore[arg-type]


def batches(asked: list[int] | None = None) -> Iterator[Batch]:
    for first in range(0, 6, 2):
        if asked is not None:
            asked.append(first)
        yield Batch(["a b x", "e"], np.array([0, 1], dtype=np.int32), first)


class Copies:
    """An engine that does everything here, through the copies that a worker would get."""

    name = "copies"

    def map(self, function: object, shards: object) -> Iterator[object]:
        work = pickle.loads(pickle.dumps(function))  # noqa: S301
        for shard in shards:  # type: ignore[attr-defined]
            yield pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(shard)))))  # noqa: S301


def test_batches_are_taken_one_at_a_time() -> None:
    asked: list[int] = []
    for n, scored in enumerate(evaluation().measure(batches(asked)), start=1):
        assert (len(asked), scored.batch.first) == (n, 2 * n - 2)


@pytest.mark.parametrize("similarity", [None, similarity_of("consensus(cider)")])
def test_workers_give_the_same_bytes(similarity: Metric | None) -> None:
    bound = evaluation(similarity)
    here = [scored.stats for scored in bound.measure(batches())]
    there = [scored.stats for scored in bound.measure(batches(), engine=Copies())]  # type: ignore[arg-type]
    for one, other in zip(here, there, strict=True):
        assert {spec: stats.tobytes() for spec, stats in one.items()} == {
            spec: stats.tobytes() for spec, stats in other.items()
        }


SEEN: list[list[str]] = []


@dataclass(frozen=True, kw_only=True)
class Texts(Metric):
    """A metric that remembers the texts that its scorers see."""

    reads_texts = True
    reads_tokens = False
    name = "texts"

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:  # noqa: ARG002
        return Reading(self, references)


class Reading(Scorer):
    def measure(self, matches: Matches) -> NDArray[np.float64]:
        SEEN.extend([list(matches.candidates.texts or ()), list(self.references.tokens.texts or ())])
        return np.ones((len(matches), 2))

    def score(self, stats: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_of_items(stats)


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


def test_texts_are_kept_for_metrics_that_read_them() -> None:
    texts = ReferenceTexts(["A b!", "a  c", "d,"], np.array([0, 2, 3]), np.array([1.0, 0.5, 1.0]))
    batch = Batch(["A  C.", "d"], np.array([0, 1], dtype=np.int32))
    for metrics, kept in (({"t": Texts()}, True), (parse_all(["rouge-1"]), False)):
        evaluation = Evaluation(metrics, texts, tokenizer="words")
        list(evaluation.measure([batch]))
        assert (evaluation.references.tokens.texts is not None) == kept
    assert SEEN == [["A  C.", "d"], ["A b!", "a  c", "d,"]]
    assert "tokenizer" in evaluation.metrics.signatures["rouge-1"]

    SEEN.clear()
    weighted = Evaluation({"t": Texts(weighted=True)}, texts, tokenizer="words", controls=ControlOptions(best=1))
    assert "tokenizer" not in weighted.metrics.signatures["t"]
    for scored in weighted.measure([batch]):
        list(scored.control_scores())
    choices = [["A b!", "d,"]]  # the best reference of each set
    assert [seen for seen in SEEN if seen in choices] == choices * 2
    assert ["A  C.", "A  C.", "d"] in SEEN  # a candidate for each of its references
    tokens = ReferenceTexts([["A", "b!"], ["c"]], np.array([0, 2]))
    SEEN.clear()
    joined = Evaluation({"t": Texts()}, tokens, tokenizer="words", tokenized=True)
    list(joined.measure([Batch([["A", "C"]], np.zeros(1, dtype=np.int32))]))
    assert SEEN == [["A C"], ["A b!", "c"]]
    assert "|tokenizer:given|" in joined.metrics.signatures["t"]


def test_texts_are_not_split_where_nothing_reads_tokens() -> None:
    texts = ReferenceTexts(["A b!", "a  c", "d,"], np.array([0, 2, 3]), np.array([1.0, 0.5, 1.0]))
    batch = Batch(["A  C.", "d"], np.array([0, 1], dtype=np.int32), 10)
    for controls, split, words in ((None, False, 0), (None, True, 5), (ControlOptions(draws=1), False, 5)):
        SEEN.clear()
        evaluation = Evaluation({"t": Texts(weighted=True)}, texts, tokenizer="words", controls=controls, split=split)
        assert len(evaluation.references.tokens.ids) == words
        (scored,) = evaluation.measure([batch])
        assert SEEN == [["A  C.", "d"], ["A b!", "a  c", "d,"]]
        assert scored.tokens.words(0) == ["a", "c"]  # when somebody asks
    for wrong in (ReferenceTexts(["a", None], np.array([0, 2])), ReferenceTexts([["a"], "b"], np.array([0, 2]))):
        with pytest.raises(InvalidInput, match=r"references:2: expected a "):
            Evaluation({"t": Texts()}, wrong, tokenizer="words")
    evaluation = Evaluation({"t": Texts()}, texts, tokenizer="words")
    with pytest.raises(InvalidInput, match=r"candidates:12: expected a text, as the first is one, got int"):
        list(evaluation.measure([Batch(["a", 3], batch.sets, 10)]))


def test_consensus_reads_texts_too() -> None:
    texts = ReferenceTexts(["A!", "b", "c"], np.array([0, 3]), similarity=Texts())
    Evaluation(parse_all(["w-rouge-1"]), texts, tokenizer="words")
    assert SEEN[0] == ["A!"] * 3 + ["b"] * 3 + ["c"] * 3


def test_metrics_of_texts_do_not_mind_the_tokenizer() -> None:
    han = "今天天气很好"
    texts = ReferenceTexts([han], np.array([0, 1]))
    evaluation = Evaluation({"t": Texts()}, texts, tokenizer="words")
    list(evaluation.measure([Batch([f"{han}吗"], np.zeros(1, dtype=np.int32))]))
    assert evaluation.remarks == []


def test_consensus_takes_the_place_of_weights() -> None:
    references = ReferenceTexts(TEXTS, OFFSETS, weighting="consensus", similarity=similarity_of("consensus"))
    bound = Evaluation(parse_all(["w-rouge-1"]), references, tokenizer="space")
    assert bound.references.weights.tolist() == [1.0, 0.5, 0.5, 1.0, 1.0]
    assert "|weights:consensus|" in bound.metrics.signatures["w-rouge-1"]
    assert bind_references(references, tokenizer("space")).weights.tolist() == [1.0, 0.5, 0.5, 1.0, 1.0]


def test_han_texts_are_counted_over_all_batches() -> None:
    def some(han: int) -> Iterator[Batch]:
        for first in range(0, 20, 5):
            texts = ["我喜欢这个" if first + i < han else "fine" for i in range(5)]
            yield Batch(texts, np.zeros(5, np.int32), first)

    many = evaluation(tokenizer="words").measure(some(3))
    assert [next(many).batch.first for _ in range(4)] == [0, 5, 10, 15]
    with pytest.raises(InvalidInput, match=r"candidates:1: Han text .*3 of 20 candidates are"):
        next(many)
    bound = evaluation(tokenizer="words")
    assert len(list(bound.measure(some(2)))) == 4
    assert [line for line in bound.remarks if line.startswith("2 of 20 candidates are Han text")]
    assert len(list(evaluation(tokenizer="words", allow_han=True).measure(some(20)))) == 4


def test_totals_are_by_system_in_the_order_of_their_first_candidates() -> None:
    bound = evaluation()
    totals = SystemTotals(bound.metrics)
    for scored in bound.measure(batches()):
        for system in ("b", "a"):
            totals.add(system, scored.stats)
    scores = totals.scores()
    assert [(row.system, row.metric, row.n) for row in scores] == [(s, spec, 6) for s in "ba" for spec in SPECS]
    assert [row.signature for row in scores[:4]] == list(bound.metrics.signatures.values())
    assert [row.score for row in scores[:4]] == [row.score for row in scores[4:]]


def test_weights_methods_have_signatures() -> None:
    assert weighting_signature("score", Scale(1, 5)) == "score|scale:1:5"
    assert weighting_signature("votes", Scale(1, 5)) == "votes"
    assert weighting_signature("consensus", None) == "consensus(rouge-l(reading=max,beta=1,over=max))"
