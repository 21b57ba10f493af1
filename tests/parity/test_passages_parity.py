"""Measures of passages are those of scikit-learn, SciPy and rouge-metric, and of sets."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
import originals
import pytest

from postil.data.rows import Passage
from postil.metrics.passage_measures import measure_passages
from postil.metrics.passage_pools import PassageCollection, informativeness
from postil.metrics.spec import parse_measure
from postil.passages.calls import find_gains
from postil.passages.options import PassagesOptions
from postil.text.tokens import Vocabulary

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from conftest import Record


NEAR = 1e-12


@dataclass(frozen=True)
class Passages:
    """Passages as words, the topic of each and its weight."""

    name: str
    texts: list[list[str]]
    topics: list[int]
    weights: list[float]

    def __len__(self) -> int:
        return len(self.texts)

    def units(self, unit: str) -> list[list[str]]:
        """The units of each passage, written out."""
        parts = {"1": lambda text: text, "2": pairwise, "sk": lambda text: zip(text, text[2:], strict=False)}[unit]
        return [["_".join(each) if unit != "1" else each for each in parts(text)] for text in self.texts]

    def scored(self) -> list[tuple[int, list[int]]]:
        """Each passage of a topic with something informative in it beside the passage, and these others."""
        found = []
        for i, topic in enumerate(self.topics):
            others = [j for j, t in enumerate(self.topics) if t == topic and self.weights[j] > 0 and j != i]
            if others:
                found.append((i, others))
        return found


def made() -> Passages:
    """12 topics of 20 passages of up to 30 words, some frequent and many not."""
    rng = np.random.default_rng(20181)
    chance = 1.0 / np.arange(1, 201)
    texts = [rng.choice(200, size, p=chance / chance.sum()).astype(str).tolist() for size in rng.integers(1, 31, 240)]
    weights = np.where(rng.random(240) < 0.4, rng.integers(1, 4, 240) / 3, 0.0)
    return Passages("made passages", texts, list(np.arange(240) % 12), weights.tolist())


def trivia() -> Passages:
    """Sentences of film pages that somebody found very interesting, and as many others."""
    path = originals.DATA / "passages" / "wikipedia_trivia" / "crowd_judged.tsv"
    if not path.exists():
        pytest.skip(f"no data in {originals.DATA}; POSTIL_DATA names the folder")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))[::9]
    films = list(dict.fromkeys(row["MOVIE"] for row in rows))
    return Passages(
        "Wikipedia trivia",
        [row["TRIVIA"].lower().split() for row in rows],
        [films.index(row["MOVIE"]) for row in rows],
        [int(row["count_veryInteresting"]) / 5 for row in rows],
    )


@pytest.fixture(params=[made, trivia], ids=["made", "trivia"])
def passages(request: pytest.FixtureRequest) -> Passages:
    found: Passages = request.param()
    return found


def ours(passages: Passages, spec: str) -> NDArray[np.float64]:
    """The measure of each passage that `Passages.scored` gives, each without itself in its reference."""
    pools = informativeness(passages.topics, passages.weights)
    measure = parse_measure(spec)
    values = measure_passages([measure], PassageCollection(Vocabulary().encode_tokens(passages.texts)), pools)[measure]
    every = dict(zip(pools.texts.tolist(), values.tolist(), strict=True))
    return np.array([every[i] for i, _ in passages.scored()])


@pytest.mark.parametrize("unit", ["1", "2", "sk"])
def test_tf_idf_is_the_cosine_of_scikit_learn(
    passages: Passages, unit: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    """The reference is one document, its passages' units one after the other; idf is that of the collection."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    units = passages.units(unit)
    vectorizer = text.TfidfVectorizer(analyzer=list).fit(units)
    scored = passages.scored()
    of_texts = vectorizer.transform([units[i] for i, _ in scored])
    of_pools = vectorizer.transform([list(chain.from_iterable(units[j] for j in others)) for _, others in scored])
    theirs = np.asarray(of_texts.multiply(of_pools).sum(axis=1)).ravel()
    difference = largest(ours(passages, f"tf-idf-{unit}"), theirs)
    assert difference < NEAR
    assert theirs.max() > 0.01
    record(f"tf-idf-{unit}", "scikit-learn", passages, difference, how="TfidfVectorizer")


@pytest.mark.parametrize("unit", ["1", "2"])
def test_weighted_tf_idf_is_that_of_weighted_counts(
    passages: Passages, unit: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    counts = text.CountVectorizer(analyzer=list).fit_transform(passages.units(unit))
    transformer = text.TfidfTransformer().fit(counts)
    scored = passages.scored()
    weights = np.zeros((len(scored), len(passages)))
    for row, (_, others) in enumerate(scored):
        weights[row, others] = [passages.weights[j] for j in others]
    of_texts = transformer.transform(counts[[i for i, _ in scored]])
    theirs = np.asarray(of_texts.multiply(transformer.transform(weights @ counts)).sum(axis=1)).ravel()
    difference = largest(ours(passages, f"w-tf-idf-{unit}"), theirs)
    assert difference < NEAR
    record(f"w-tf-idf-{unit}", "scikit-learn", passages, difference, how="TfidfTransformer")


@pytest.mark.parametrize("unit", ["1", "2"])
def test_divergences_are_those_of_scipy(
    passages: Passages, unit: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    """Over all units of the collection: `entropy` of p and the smoothed passage, the square of `jensenshannon`."""
    stats, distance = pytest.importorskip("scipy.stats"), pytest.importorskip("scipy.spatial.distance")
    bags = [Counter(text) for text in passages.units(unit)]
    names = {name: number for number, name in enumerate(dict.fromkeys(chain.from_iterable(bags)))}
    counts = np.zeros((len(bags), len(names)))
    for row, bag in enumerate(bags):
        counts[row, [names[name] for name in bag]] = list(bag.values())
    share = counts.sum(axis=0) / counts.sum()
    theirs, divergent = [], []
    for i, others in passages.scored():
        pooled = counts[others].sum(axis=0)
        theirs.append(stats.entropy(pooled, (counts[i] + share) / (counts[i].sum() + 1)) if bags[i] else np.inf)
        divergent.append(distance.jensenshannon(pooled, counts[i]) ** 2 if bags[i] else np.inf)
    finite = np.isfinite(theirs)
    for spec, values in ((f"kl-{unit}", theirs), (f"js-{unit}", divergent)):
        found = ours(passages, spec)
        assert np.isfinite(found).tolist() == finite.tolist()
        difference = largest(found[finite], np.array(values)[finite])
        assert difference < NEAR
        record(spec, "scipy", passages, difference)


@pytest.mark.parametrize("order", [1, 2])
def test_rouge_is_that_of_rouge_metric(
    passages: Passages, order: int, record: Record, largest: Callable[[object, object], float]
) -> None:
    """Its mode ``average`` pools matches and lengths over the references."""
    rouge = pytest.importorskip("rouge_metric").PyRouge(
        rouge_n=(order,), rouge_l=False, rouge_w=False, rouge_s=False, rouge_su=False, multi_ref_mode="average"
    )
    texts = passages.texts
    theirs = [
        rouge.evaluate_tokenized([[texts[i]]], [[[texts[j]] for j in others]])[f"rouge-{order}"]["r"]
        for i, others in passages.scored()
    ]
    difference = largest(ours(passages, f"rouge-{order}"), theirs)
    assert difference < NEAR
    record(f"rouge-{order}, pooled", "rouge-metric", passages, difference)


pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")

WORDS = ["coal", "tide", "rye", "moss", "duck", "barn", "salt", "pond", "flax", "kiln", "oats", "wool"]


def made_by_length(seed: int) -> list[Passage]:
    rng = np.random.default_rng(seed)
    return [
        Passage(f"t{topic}", f"p{p}", " ".join(rng.choice(WORDS, rng.integers(1, 15))), grade=float(rng.integers(0, 4)))
        for topic in range(6)
        for p in range(int(rng.integers(4, 40)))
    ]


def residual_correlation(table: pd.DataFrame) -> float:
    """Pearson correlation of what a line through the ranks of the lengths leaves of the ranks of the other two."""
    ranks = table[["score", "grade", "words"]].rank()
    design = np.column_stack([np.ones(len(ranks)), ranks["words"]])
    left = [ranks[name] - design @ np.linalg.lstsq(design, ranks[name], rcond=None)[0] for name in ("score", "grade")]
    return float(stats.pearsonr(*left)[0])


def stratified(table: pd.DataFrame, k: int) -> float:
    """The mean over thirds of nCG at k, the mean over many orders of ties."""
    third = np.floor(3 * (table["words"].rank() - 0.5) / len(table))
    found = []
    for _, rows in table.groupby(third):
        best = rows["grade"].nlargest(k).sum()
        if best > 0:
            ranks = rows["score"].rank(method="min", ascending=False) - 1
            taken = rows.groupby(ranks)["grade"].agg(["sum", "size"]).reset_index(names="above")
            share = ((k - taken["above"]) / taken["size"]).clip(0, 1)
            found.append((taken["sum"] * share).sum() / best)
    return float(np.mean(found))


@pytest.mark.parametrize("pool", ["topic", "all"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_ranking(pool: str, seed: int) -> None:
    options = PassagesOptions(
        pool=pool,  # type: ignore[arg-type]
        measures=("f1-1", "logsim-2", "kl-1", "length(inverse=false)"),
        resamples=5,
        strata_k=2,
        stop="en",
    )
    result, scored = find_gains(made_by_length(seed), options)
    for row, ranking in zip(result.by_length, scored.rankings, strict=True):
        whole = pd.DataFrame(
            {
                "topic": [each.topic for each in scored.passages] if pool == "topic" else "all",
                "score": ranking.scores.round(12),
                "grade": [each.grade for each in scored.passages],
                "words": [len(each.text.split()) for each in scored.passages],
            }
        )
        lists = [table for _, table in whole.groupby("topic")]
        assert row.ncg.value == pytest.approx(np.mean([stratified(table, 2) for table in lists]))
        spearman = [stats.spearmanr(table["score"], table["grade"])[0] for table in lists]
        assert (row.spearman.value, row.spearman.lists) == pytest.approx((np.mean(spearman), len(lists)))
        with_length = np.mean([stats.spearmanr(table["score"], table["words"])[0] for table in lists])
        assert row.with_length.value == pytest.approx(with_length)
        if row.measure.startswith("length"):
            assert (with_length, row.partial.reason) == (pytest.approx(1), "scores in the order of the lengths")
        else:
            assert row.partial.value == pytest.approx(np.mean([residual_correlation(table) for table in lists]))
