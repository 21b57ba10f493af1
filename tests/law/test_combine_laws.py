"""Laws of combinations: no text is graded by its own rating, nor by the order of rows, and bounds hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import law

import postil
from postil.combination.calls import fit_rated
from postil.combination.model import open_combination
from postil.combination.options import CombineOptions
from postil.data.row_locations import located
from postil.data.rows import Judgement, Score
from postil.meta.rated import Rated

if TYPE_CHECKING:
    from postil.combination.result import CombinationResult
    from postil.metrics.result import ScoreResult

METRICS = ("control:length", "control:mean-weight(w-m(over=near))", "m", "w-m")


@dataclass(frozen=True)
class Judged:
    """Rows of texts, some of which lack a score or a rating."""

    scores: list[Score]
    judgements: list[Judgement]

    def fit(self, **options: object) -> CombinationResult:
        given = CombineOptions(**{"folds": 3, "resamples": 1, **options})  # type: ignore[arg-type]
        return fit_rated(Rated(located(self.scores, "scores"), located(self.judgements, "judgements")), given)


@st.composite
def judged(draw: st.DrawFn, items: int = 7, per_item: int = 3) -> Judged:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    keys = [(f"i{item}", f"s{system}") for item in range(items) for system in range(per_item)]
    quality = rng.normal(size=len(keys))
    measured = quality + rng.normal(size=(2, len(keys)))
    columns = np.column_stack([rng.integers(1, 30, len(keys)), rng.random(len(keys)), *measured])
    there = rng.random(columns.shape) > draw(st.sampled_from([0.0, 0.05]))
    scores = [
        Score(*key, metric, float(value), f"{metric}|x")
        for key, row, kept in zip(keys, columns, there, strict=True)
        for metric, value, exists in zip(METRICS, row, kept, strict=True)
        if exists
    ]
    rated = rng.random(len(keys)) > draw(st.sampled_from([0.0, 0.1]))
    judgements = [
        Judgement(*key, who, float(round(3 + grade + rng.normal())))
        for key, grade, exists in zip(keys, quality, rated, strict=True)
        if exists
        for who in ("ann", "bob")
    ]
    return Judged(scores, judgements)


def check_no_leak(texts: Judged, which: int, grade: float, options: dict[str, object]) -> None:
    """Change the ratings of an item: its own grades stay, to the last bit, and others follow."""
    before = texts.fit(**options)
    own = before.texts.items[which % len(before.texts.items)]
    changed = [
        Judgement(row.item, row.system, row.annotator, grade) if row.item == own else row for row in texts.judgements
    ]
    after = Judged(texts.scores, changed).fit(**options)
    at = [place for place, item in enumerate(before.texts.items) if item == own]
    for one, other in ((before.texts.grades, after.texts.grades), (before.texts.controls, after.texts.controls)):
        if one:
            assert [one[place] for place in at] == [other[place] for place in at]
    assert before.texts.grades != after.texts.grades or before.texts.ratings == after.texts.ratings


@pytest.mark.parametrize(
    "options",
    [{}, {"monotone": True}, {"method": "isotonic", "metrics": ("w-m",)}, {"penalty": 0.0}],
    ids=["ridge", "monotone", "isotonic", "no-penalty"],
)
@law(15, 5)
@given(judged(), st.integers(0, 2**16), st.floats(-9, 9))
def test_no_rating_counts_for_the_grades_of_its_own_item(
    options: dict[str, object], texts: Judged, which: int, grade: float
) -> None:
    check_no_leak(texts, which, grade, options)


@law(2, 1)
@given(judged(items=42, per_item=4), st.integers(0, 2**16), st.booleans())
def test_no_rating_counts_for_the_grades_of_its_own_item_by_trees(texts: Judged, which: int, monotone: bool) -> None:
    pytest.importorskip("sklearn")
    check_no_leak(texts, which, 9.0, {"method": "boosting", "monotone": monotone})


@law(10, 4)
@given(judged(), st.randoms(use_true_random=False), st.sampled_from([{}, {"monotone": True}]))
def test_the_order_of_rows_changes_no_byte(
    tmp_path_factory: pytest.TempPathFactory, texts: Judged, random: object, options: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    written = []
    for name in ("one", "two"):
        texts.fit(out=str(folder / name), items=str(folder / f"{name}.jsonl"), **options)
        files = [*sorted((folder / name).iterdir()), folder / f"{name}.jsonl"]
        written.append([file.read_bytes() for file in files])
        random.shuffle(texts.scores)  # type: ignore[attr-defined]
        random.shuffle(texts.judgements)  # type: ignore[attr-defined]
    assert written[0] == written[1]
    assert len(written[0]) == 4


@law(15, 5)
@given(judged(), st.floats(0, 9))
def test_raising_what_depends_on_weights_lowers_no_grade(
    tmp_path_factory: pytest.TempPathFactory, texts: Judged, more: float
) -> None:
    folder = tmp_path_factory.mktemp("monotone") / "model"
    fitted = texts.fit(monotone=True, out=str(folder))
    model = open_combination(folder).model
    scores = np.random.default_rng(1).normal(size=(20, 2))
    raised = scores + np.array([0.0, more])
    assert [column.metric for column in fitted.columns] == ["m", "w-m"]
    assert (model.predict(raised) >= model.predict(scores)).all()


@law(8, 3)
@given(st.integers(0, 2**32 - 1))
def test_raising_a_weight_lowers_no_grade(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """From texts to grades: metrics that keep the law, combined with bounds."""
    rng = np.random.default_rng(seed)
    words = np.array(["run", "runs", "the", "of", "cat", "dog", "a"])
    texts = [" ".join(rng.choice(words, rng.integers(1, 7))) for _ in range(24)]
    references = [[" ".join(rng.choice(words, rng.integers(1, 7))) for _ in range(4)] for _ in texts]
    weights = rng.integers(0, 5, (24, 4)) / 4
    specs = ["rouge-l", "w-rouge-l", "w-meteor(over=near)", "w-rouge-l(over=mean)"]

    def scores(weights: np.ndarray) -> ScoreResult:
        items = [str(number) for number in range(24)]
        return postil.score(texts, references, weights=weights.tolist(), metrics=specs, items=items)

    grades = (3 + rng.normal(size=24)).round()
    judgements = [Judgement(str(number), "candidates", "ann", grade) for number, grade in enumerate(grades.tolist())]
    folder = str(tmp_path_factory.mktemp("laws") / "model")
    fitted = postil.fit_combination(
        scores(weights), judgements, options=postil.CombineOptions(monotone=True, folds=2, resamples=1, out=folder)
    )
    raised = np.where(rng.random(weights.shape) < 0.3, np.minimum(1.0, weights + rng.random(weights.shape)), weights)
    before, after = (postil.apply_combination(scores(each), folder).items[fitted.metric] for each in (weights, raised))
    assert (after >= before - 1e-12).all()
