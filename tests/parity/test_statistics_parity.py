"""Strengths, tests and p-values are those of other packages."""

from __future__ import annotations

import itertools
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.comparison.baseline import compare
from postil.comparison.calls import compare_rows
from postil.comparison.options import CompareOptions
from postil.comparison.preferences import LOSS, TIE, WIN, Pairs
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.meta.correlation import differences, system_means
from postil.meta.permutation import _ranks_of_rows, average_ranks
from postil.meta.rated import open_score_files
from postil.meta.resampling import Draws
from postil.meta.significance import holm, student_p, williams_t
from postil.meta.table import Scored, Table, join
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions

pytestmark = pytest.mark.parity

if TYPE_CHECKING:
    from pathlib import Path


SYSTEMS = 6
FIRST, SECOND = np.array(list(combinations(range(SYSTEMS), 2))).T


def drawn(seed: int, ties: int) -> np.ndarray:
    """Numbers of outcomes of 20 preferences and some ties per pair, float64[1, P, 3]."""
    random = np.random.default_rng(seed)
    strengths = random.normal(size=SYSTEMS)
    wins = random.binomial(20, 1 / (1 + np.exp(strengths[SECOND] - strengths[FIRST])))
    return np.stack([wins, random.integers(0, ties + 1, len(FIRST)), 20 - wins], axis=1)[None].astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_without_ties_are_those_of_choix(seed: int) -> None:
    choix = pytest.importorskip("choix")
    counts = drawn(seed, 0)
    won = [
        pair
        for place, (i, j) in enumerate(zip(FIRST.tolist(), SECOND.tolist(), strict=True))
        for outcome, pair in ((WIN, (i, j)), (LOSS, (j, i)))
        for _ in range(int(counts[0, place, outcome]))
    ]
    theirs = choix.ilsr_pairwise(SYSTEMS, won, alpha=0, tol=1e-12)
    ours = Pairs(SYSTEMS, FIRST, SECOND, ties=False).fit(counts).values[0]
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_with_ties_are_those_of_a_minimizer(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    counts = drawn(seed, 9)

    def loss(parameters: np.ndarray) -> float:
        s, log_nu = np.append(parameters[:-1], 0), parameters[-1]
        scores = np.stack([s[FIRST], log_nu + (s[FIRST] + s[SECOND]) / 2, s[SECOND]], axis=1)
        return float(-(counts[0] * (scores - np.logaddexp.reduce(scores, axis=1)[:, None])).sum())

    theirs = optimize.minimize(loss, np.zeros(SYSTEMS), method="BFGS", options={"gtol": 1e-8}).x
    strengths = np.append(theirs[:-1], 0)
    ours = Pairs(SYSTEMS, FIRST, SECOND, ties=True).fit(counts)
    np.testing.assert_allclose(ours.values[0], strengths - strengths.mean(), atol=1e-5)
    assert ours.ties[0] == pytest.approx(np.exp(theirs[-1]), abs=1e-5)
    assert counts[..., TIE].any()


stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 23, 100, 2270, 9997, 10**6])
def test_student_is_that_of_scipy(df: int) -> None:
    t = np.array([-40.0, -3.0, 0.01, 0.3, 1.0, 2.0, 5.0, 12.0, 30.0])
    np.testing.assert_allclose(student_p(t, df), 2 * stats.t.sf(np.abs(t), df), rtol=1e-10)


def test_williams_is_that_of_the_literature() -> None:
    """T2 as Steiger (1980) writes it, with the mean of the two correlations and the determinant of all three."""
    random = np.random.default_rng(0)
    for n in (4, 10, 100, 5000):
        for columns in random.normal(size=(20, n, 3)):
            columns[:, 1:] += columns[:, :1]
            r = np.corrcoef(columns.T)
            r12, r13, r23, mean = r[0, 1], r[0, 2], r[1, 2], (r[0, 1] + r[0, 2]) / 2
            below = 2 * (n - 1) / (n - 3) * np.linalg.det(r) + mean**2 * (1 - r23) ** 3
            t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / below)
            found = williams_t(*np.array([r12, r13, r23]), n)
            assert found == pytest.approx(t, rel=1e-9)
            assert student_p(found, n - 3) == pytest.approx(2 * stats.t.sf(abs(t), n - 3), rel=1e-8)


def test_holm_is_its_definition() -> None:
    """The smallest level at which the step-down procedure rejects, hypothesis by hypothesis."""

    def step_down(p: np.ndarray, level: float) -> set[int]:
        rejected: set[int] = set()
        for step, hypothesis in enumerate(np.argsort(p, kind="stable")):
            if p[hypothesis] > level / (len(p) - step):
                break
            rejected.add(int(hypothesis))
        return rejected

    random = np.random.default_rng(1)
    for size in (1, 2, 5, 20):
        p = random.random(size) ** 3
        corrected = holm(p)
        for hypothesis, level in enumerate(corrected):
            if level < 1:
                assert hypothesis in step_down(p, level * (1 + 1e-12))
            assert hypothesis not in step_down(p, level * (1 - 1e-9))


def test_ranks_are_those_of_scipy() -> None:
    values = np.random.default_rng(2).integers(0, 6, (40, 9)) / 10
    assert average_ranks(values).tolist() == stats.rankdata(values, axis=0).tolist()
    assert _ranks_of_rows(values).tolist() == stats.rankdata(values, axis=1).tolist()


def made(items: int, systems: int) -> Table:
    random = np.random.default_rng(3)
    keys = list(itertools.product(map(str, range(items)), map(str, range(systems))))
    quality = random.normal(size=len(keys))
    scores = [
        Score(item, system, f"m{j}", float(q + j * random.normal()), "")
        for (item, system), q in zip(keys, quality, strict=True)
        for j in range(1, 4)
    ]
    return join(
        scores, [Judgement(*key, "ann", float(q + random.normal())) for key, q in zip(keys, quality, strict=True)]
    )


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
@pytest.mark.parametrize("by", ["pool", "system"])
def test_williams_in_a_table_is_from_correlations_by_scipy(coefficient: str, by: str) -> None:
    table = made(12, 9)
    of = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}[coefficient]
    columns = np.column_stack([table.scores, table.grades])
    if by == "system":
        columns = np.array([columns[table.system == system].mean(axis=0) for system in range(9)])

    def correlation(a: int, b: int) -> float:
        return float(of(columns[:, a], columns[:, b]).statistic)

    rows = differences(table, coefficient, by, draws=Draws(resamples=20)).rows  # type: ignore[arg-type]
    for row, (a, b) in zip(rows, itertools.combinations(range(3), 2), strict=True):
        expected = williams_t(*np.array([correlation(a, 3), correlation(b, 3), correlation(a, b)]), len(columns))
        assert row.value == pytest.approx(correlation(a, 3) - correlation(b, 3), abs=1e-12)
        assert row.p_williams == pytest.approx(student_p(expected, len(columns) - 3), rel=1e-8)


def test_randomisation_is_the_permutation_test_of_scipy() -> None:
    random = np.random.default_rng(4)
    base, other = random.normal(size=10), random.normal(0.5, size=10)
    exact = stats.permutation_test(
        (other, base), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    rows = [
        Score(str(i), name, "m", float(v), "")
        for name, of in (("base", base), ("other", other))
        for i, v in enumerate(of)
    ]
    found = compare(Scored(rows), draws=Draws(permutations=40_000)).systems[1].p_randomisation
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 40_000) ** 0.5)


def test_tau_of_systems_is_that_of_scipy() -> None:
    table = made(3, 12)
    found = system_means(table)
    grades = [row.grade for row in found.rows]
    for metric, tau in found.orders.items():
        means = np.array([row.means[metric] for row in found.rows])
        assert tau == pytest.approx(stats.kendalltau(means, grades).statistic, abs=1e-12)
        assert [row.ranks[metric] for row in found.rows] == stats.rankdata(-means, method="min").tolist()


@pytest.mark.parametrize("close", [0.03, 0.2])
def test_p_values_of_corpus_scores_are_those_of_sacrebleu(
    close: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    significance = pytest.importorskip("sacrebleu.significance")
    metrics = pytest.importorskip("sacrebleu.metrics")
    theirs = {
        "BLEU": metrics.BLEU(tokenize="none", force=True),
        "chrF2": metrics.CHRF(),
        "chrF2++": metrics.CHRF(word_order=2),
    }
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(6)
    vocabulary = np.array([f"w{n}" for n in range(50)])
    references = [random.choice(vocabulary, random.integers(5, 20)) for _ in range(100)]
    systems = {
        name: [
            " ".join(np.where(random.random(len(text)) < noise, random.choice(vocabulary, len(text)), text))
            for text in references
        ]
        for name, noise in (("base", 0.3), ("near", 0.3 - close), ("far", 0.1))
    }
    systems["same"] = systems["base"]
    texts = [" ".join(text) for text in references]
    write("r.jsonl", [Reference(str(i), text) for i, text in enumerate(texts)])
    write("c.jsonl", [Candidate(str(i), name, text) for name, of in systems.items() for i, text in enumerate(of)])
    specs = ("bleu-4(smooth=exp)", "chrf", "chrf++")
    options = ScoreOptions(metrics=specs, tokenizer="space", items="s.jsonl")
    score_files("c.jsonl", "r.jsonl", options, lambda _: None)
    found = compare_rows(
        open_score_files(["s.jsonl"]), CompareOptions(p_values="sacrebleu", seed=12345, resamples=300, permutations=300)
    )
    for kind, field in (("bs", "p_bootstrap"), ("ar", "p_randomisation")):
        test = significance.PairedTest(list(systems.items()), theirs, [texts], test_type=kind, n_samples=300)
        expected = test()[1]
        for spec, name in zip(specs, theirs, strict=True):
            rows = [row for row in found.systems if row.metric == spec]
            for row, result in zip(rows, expected[name], strict=True):
                assert row.mean == pytest.approx(result.score / 100, rel=1e-12)
                assert getattr(row, field) == result.p_value, (row.system, spec, kind)
