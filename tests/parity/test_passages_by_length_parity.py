"""Length-stratified nCG and partial Spearman correlations are those of pandas, scipy and a regression."""

from __future__ import annotations

import numpy as np
import pytest

from postil.data.rows import Passage
from postil.passages.calls import PassagesOptions, find_gains

pytestmark = pytest.mark.parity

pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")

WORDS = ["coal", "tide", "rye", "moss", "duck", "barn", "salt", "pond", "flax", "kiln", "oats", "wool"]


def made(seed: int) -> list[Passage]:
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
    result, scored = find_gains(made(seed), options)
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
