"""Models of interest fitted to ratings."""

from __future__ import annotations

import numpy as np
import pytest

from postil.errors import Undefined
from postil.interest.model import page_scores
from postil.interest.training import RatedPages

PAGES = 4
TEXTS = [
    text
    for page in range(PAGES)
    for text in (
        f"The dragon of place {page} burned the old mill.",
        f"A dragon slept in place {page}.",
        f"Flour was sold in place {page} on market days.",
        f"Rent in place {page} was paid in flour.",
        f"Bread was sold as well in place {page}, and so was beer, for all who came.",
    )
]
PAGE = np.repeat(np.arange(PAGES), 5)
GRADES = np.tile([2.0, 2.0, 0.0, 0.0, 0.0], PAGES) + PAGE  # readers of later pages are kinder


def test_a_fit_finds_what_readers_like_within_pages() -> None:
    model = RatedPages.of(TEXTS, GRADES, PAGE).fit(penalty=1.0, min_count=2)
    assert max(model.words, key=lambda unit: model.words[unit]) == "dragon"
    assert model.words["flour"] < 0
    assert "old mill" in model.words
    assert "in place" in model.words
    assert not {"3", "place 3"} & set(model.words)  # a word of every passage of its page says nothing
    rarer = RatedPages.of(TEXTS, GRADES, PAGE).fit(penalty=1.0, min_count=9)
    assert "old mill" not in rarer.words
    assert set(rarer.words) < set(model.words)


def test_predictions_are_the_scores_of_the_page_but_for_a_constant() -> None:
    rated = RatedPages.of(TEXTS, GRADES, PAGE)
    model = rated.fit(1.0, 2)
    predicted = rated.predicted(model, PAGE == 2)
    assert not predicted[PAGE != 2].any()
    scores = page_scores([TEXTS[row] for row in np.flatnonzero(PAGE == 2)], model).scores
    away = predicted[PAGE == 2] - scores
    assert away == pytest.approx(away[0])


def test_a_cross_fit_never_sees_the_grades_of_the_page() -> None:
    rated = RatedPages.of(TEXTS, GRADES, PAGE)
    folds = np.arange(PAGES, dtype=np.int32)
    before = rated.cross_fitted(folds, 1.0, 2)
    changed = np.where(PAGE == 1, 5.0 - GRADES, GRADES)
    after = RatedPages.of(TEXTS, changed, PAGE).cross_fitted(folds, 1.0, 2)
    np.testing.assert_array_equal(before[PAGE == 1], after[PAGE == 1])
    assert (before[PAGE == 0] != after[PAGE == 0]).any()


def test_equal_grades_teach_nothing() -> None:
    with pytest.raises(Undefined, match="no page has passages of different grades"):
        RatedPages.of(TEXTS, PAGE.astype(np.float64), PAGE).fit(1.0, 2)


def test_a_strong_penalty_leaves_the_cues_that_were_added() -> None:
    rated = RatedPages.of(TEXTS, GRADES, PAGE)
    model = rated.fit(1e8, 2, cues=0.5)
    assert {name for name, weight in model.features.items() if abs(weight) > 1e-3} == {"cues"}
    assert model.features["cues"] == pytest.approx(0.5, abs=1e-3)
    assert not any(abs(weight) > 1e-3 for weight in model.words.values())
    assert not any(abs(weight) > 1e-3 for weight in rated.fit(1e8, 2).features.values())


def test_words_of_few_pages_have_no_weight() -> None:
    texts = [f"{text} Peat." if row < 2 else text for row, text in enumerate(TEXTS)]
    rated = RatedPages.of(texts, GRADES, PAGE)
    assert "peat" in rated.fit(1.0, 2).words
    common = rated.fit(1.0, 2, min_pages=2).words
    assert "peat" not in common
    assert "dragon" in common
    assert not rated.fit(1.0, 2, np.arange(len(PAGE)) >= 5, min_pages=2).words
