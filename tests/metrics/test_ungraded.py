"""References that nobody has graded: their weights, and the greedy choice of those to grade against its definition."""

from __future__ import annotations

from dataclasses import dataclass

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
from postil.metrics.ungraded import mean_similarities, plan_references, similarity_of
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


@dataclass
class Case:
    similarities: list[np.ndarray]
    """float64[texts, references] of each item."""
    graded: list[np.ndarray]
    rows: np.ndarray
    texts: np.ndarray
    """Item of each text."""

    @property
    def offsets(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.graded)])

    def plan(self, budget: int, each: int = 1) -> tuple[list[int], list[float], list[float]]:
        seen = dict.fromkeys(range(len(self.graded)), 0)
        pairs = []
        for item in self.texts.tolist():
            pairs.append(self.similarities[item][seen[item]])
            seen[item] += 1
        made = plan_references(
            np.concatenate(pairs),
            self.texts.astype(np.int32),
            self.offsets,
            np.concatenate(self.graded),
            budget=budget,
            each=each,
            rows=self.rows,
        )
        return made.order.tolist(), made.gains.tolist(), made.covered.tolist()

    @property
    def open(self) -> list[int]:
        """References that can be planned."""
        scored = set(self.texts.tolist())
        where = np.repeat(np.arange(len(self.graded)), [len(each) for each in self.graded])
        graded = np.concatenate(self.graded)
        return [j for j in range(len(graded)) if not graded[j] and where[j] in scored]

    def value(self, chosen: set[int]) -> float:
        total = 0.0
        for item, (first, table) in enumerate(zip(self.offsets[:-1].tolist(), self.similarities, strict=True)):
            own = [j - first for j in chosen if first <= j < self.offsets[item + 1]]
            total += sum(max((row[j] for j in own), default=0.0) for row in table.tolist())
        return total

    def eager(self, budget: int, each: int = 1) -> list[int]:
        """Every gain anew at every step, in whole numbers so that ties are ties."""
        chosen = set(np.flatnonzero(np.concatenate(self.graded)).tolist())
        where = np.repeat(np.arange(len(self.graded)), [len(one) for one in self.graded])
        order: list[int] = []

        def take(among: list[int]) -> int:
            worth = {j: self.value(chosen | {j}) - self.value(chosen) for j in among}
            return min(among, key=lambda j: (-worth[j], self.rows[j]))

        for count in range(1, each + 1):
            some = [item for item in range(len(self.graded)) if sum(where[j] == item for j in chosen) < count]
            while some and len(order) < budget:
                among = [j for j in self.open if j not in chosen and where[j] in some]
                if not among:
                    break
                best = take(among)
                some.remove(where[best])
                order.append(best)
                chosen.add(best)
        while len(order) < budget:
            best = take([j for j in self.open if j not in chosen])
            order.append(best)
            chosen.add(best)
        return order


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = draw(st.sampled_from([2, 4, 1000]))  # few values: many ties
    sizes = rng.integers(1, 5, rng.integers(1, 6))
    texts = np.concatenate([np.full(rng.integers(0, 4), item) for item in range(len(sizes))]).astype(np.int64)
    texts = rng.permutation(texts) if len(texts) else np.zeros(1, np.int64)
    tables = [rng.integers(0, most, (np.count_nonzero(texts == k), size)) / 1024 for k, size in enumerate(sizes)]
    graded = [rng.random(size) < 0.2 for size in sizes]
    graded[int(texts[0])][0] = False
    items = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))  # rows of a file whose items alternate
    return Case(tables, graded, np.argsort(items, kind="stable"), texts)


@examples(150)
@given(cases(), st.integers(1, 3))
def test_lazy_is_eager(case: Case, each: int) -> None:
    n = len(case.open)
    order, gains, _ = case.plan(n, each)
    assert order == case.eager(n, each)
    start = set(np.flatnonzero(np.concatenate(case.graded)).tolist())
    values = [case.value(start | set(order[:count])) for count in range(n + 1)]
    assert np.diff(values) == pytest.approx(np.array(gains), abs=1e-12)


@examples(60)
@given(cases())
def test_any_beginning_is_a_plan(case: Case) -> None:
    n = len(case.open)
    order, gains, covered = case.plan(n)
    assert sorted(order) == case.open
    assert covered[-1] == pytest.approx(1.0)
    for budget in range(1, n):
        assert case.plan(budget)[:2] == (order[:budget], gains[:budget])


@examples(60)
@given(cases(), st.integers(1, 20))
def test_coverage(case: Case, budget: int) -> None:
    budget = min(budget, len(case.open))
    order, _, covered = case.plan(budget)
    start, every = set(np.flatnonzero(np.concatenate(case.graded)).tolist()), set(range(case.offsets[-1]))
    whole = case.value(every)
    for tenth, share in enumerate(covered, 1):
        known = case.value(start | set(order[: -(-budget * tenth // 10)]))
        assert share == pytest.approx(known / whole if whole else 1.0)
    assert covered == sorted(covered)


def test_within_reach_of_the_best_set() -> None:
    """The greedy bound for one item without a first reference: at least 1 - 1/e of the value of the best set."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        case = Case([rng.random((6, 7)) ** 3], [np.zeros(7, bool)], np.arange(7), np.zeros(6, np.int64))
        order, _, _ = case.plan(3)
        best = max(case.value({a, b, c}) for a in range(7) for b in range(a) for c in range(b))
        assert case.value(set(order)) >= (1 - np.exp(-1)) * best


def test_each_item_comes_first() -> None:
    """A second reference of a large item gains more than the only one of a small item, and comes after it."""
    tables = [np.eye(4), np.array([[0.25, 0.0]])]
    case = Case(tables, [np.zeros(4, bool), np.zeros(2, bool)], np.arange(6), np.array([0, 0, 0, 0, 1]))
    assert case.plan(3)[:2] == ([0, 4, 1], [1.0, 0.25, 1.0])
    assert case.plan(4, each=2)[0] == [0, 4, 1, 5]
    case.graded[1][1] = True  # a graded reference counts as chosen
    assert case.plan(3)[0] == [0, 1, 2]
