"""Models of interest: scores of a page, folders, and how they are fitted to ratings."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import InvalidInput, UsageError
from postil.interest.features import FEATURES
from postil.interest.model import (
    UNTRAINED,
    InterestModel,
    chosen_model,
    named,
    open_model,
    page_scores,
    save_model,
    shipped_model,
)
from postil.interest.training import RatedPages

if TYPE_CHECKING:
    from pathlib import Path


PAGE = [
    "The mill at Sutton is the oldest in the county.",
    "It was the first mill to burn peat, and the only one that never stopped.",
    "The mill burned peat in winter.",
    "Flour was sold on Fridays.",
    "...",
]
TRAINED = InterestModel(
    {"cues": 0.3, "names": -0.2, "overlap": 0.1, "length": 0.5},
    {"peat": 0.4, "mill": -0.1, "burned peat": 0.25, "burn": 0.2, "unseen": 9.0, "oldest mill": 9.0},
    "trained",
)


@pytest.mark.parametrize("model", [UNTRAINED, TRAINED])
def test_contributions_and_the_constant_add_up(model: InterestModel) -> None:
    found = page_scores(PAGE, model)
    for index, score in enumerate(found.scores[:-1].tolist()):
        reasons = found.reasons(index)
        assert math.fsum(each.part for each in reasons) + found.constant == pytest.approx(score)
        assert [each.part for each in reasons] == sorted((each.part for each in reasons), reverse=True)
    assert found.scores[-1] == -math.inf
    assert found.reasons(4) == ()
    assert found.scores[:-1].mean() == pytest.approx(0)


def test_the_untrained_sum_puts_cues_and_names_first() -> None:
    found = page_scores(PAGE)
    assert np.argsort(-found.scores)[:2].tolist() == [0, 1]
    assert [each.unit for each in found.reasons(0, 2)] == ["name: Sutton", "superlative: oldest"]


def test_words_and_pairs_have_their_weights_whatever_the_page() -> None:
    reasons = {each.unit: each.part for each in page_scores(PAGE, TRAINED).reasons(2)}
    assert {unit: reasons[unit] for unit in ("peat", "mill", "burned peat")} == {
        "peat": 0.4,
        "mill": -0.1,
        "burned peat": 0.25,
    }


@pytest.mark.parametrize("model", [UNTRAINED, TRAINED])
@pytest.mark.parametrize(
    "page",
    [[], [""], ["The oldest mill."], ["The oldest mill."] * 3, ["磨坊是最古老的。", "面粉在星期五出售。"], ["", "..."]],
)
def test_pages_without_differences(page: list[str], model: InterestModel) -> None:
    found = page_scores(page, model)
    assert len(found.scores) == len(page)
    assert not np.isnan(found.scores).any()
    for index, score in enumerate(found.scores.tolist()):
        assert math.fsum(each.part for each in found.reasons(index)) + found.constant == pytest.approx(score) or (
            score == -math.inf
        )


@given(st.permutations(range(4)))
def test_the_order_of_the_passages_changes_nothing(order: list[int]) -> None:
    found = page_scores([PAGE[at] for at in order], TRAINED).scores
    np.testing.assert_allclose(found, page_scores(PAGE[:4], TRAINED).scores[order], atol=1e-12)


def test_stop_words_are_one_reason() -> None:
    words = {"the": 0.25, "of the": 0.5, "the mill": 0.125}
    found = page_scores(["Peat burned.", "The peat of the mill."], InterestModel({}, words))
    reasons = {each.unit: each.part for each in found.reasons(1)}
    assert reasons == {"common words": 0.75, "the mill": 0.125}


MODEL = named(
    {"cues": 0.5, "names": 0.25, "overlap": -0.125, "length": 0.0}, {"mill": -0.25, "old mill": 0.5, "rye": 0.5}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "m", MODEL, {"pages": 3})
    return tmp_path / "m"


def test_a_model_is_the_same_after_it_was_saved(folder: Path) -> None:
    found = open_model(folder)
    assert (found.features, found.words, found.name) == (MODEL.features, MODEL.words, MODEL.name)
    about = json.loads((folder / "model.json").read_text())
    assert about["weights"] == MODEL.name
    assert about["pages"] == 3
    assert about["features"] == dict(FEATURES)


def test_the_table_is_in_the_order_of_the_weights(folder: Path) -> None:
    assert (folder / "weights.csv").read_text().splitlines() == [
        "kind,unit,weight",
        "feature,cues,0.500000",
        "feature,names,0.250000",
        "feature,overlap,-0.125000",
        "feature,length,0.000000",
        "pair,old mill,0.500000",
        "word,rye,0.500000",
        "word,mill,-0.250000",
    ]


def test_a_user_names_a_folder_or_the_untrained_sum_or_nothing(folder: Path) -> None:
    assert chosen_model(str(folder)).name == MODEL.name
    assert chosen_model("untrained") is UNTRAINED
    assert chosen_model(None) is shipped_model()
    assert len(shipped_model().words) > 2000
    assert set(shipped_model().features) == set(FEATURES)


def test_an_edited_table_is_another_model(folder: Path) -> None:
    table = folder / "weights.csv"
    table.write_text(table.read_text().replace("word,mill,-0.250000\n", "") + "word,peat,1\n")
    found = open_model(folder)
    assert found.words == {"old mill": 0.5, "rye": 0.5, "peat": 1.0}
    assert found.name != MODEL.name


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("weights.csv", b"unit,weight\n", "weights.csv:1: expected the columns kind, unit, weight"),
        ("weights.csv", b"kind,unit,weight\nword,mill\n", ":2: expected 3 cells, got 2"),
        ("weights.csv", b"kind,unit,weight\nword,mill,nan\n", ':2: weight: expected a number, got "nan"'),
        ("weights.csv", b"kind,unit,weight\nword,old mill,1\n", "expected a feature, a word or a pair"),
        ("weights.csv", b"kind,unit,weight\ncue,mill,1\n", 'got the cue "mill"'),
        ("weights.csv", b"kind,unit,weight\nfeature,name,1\n", "unknown feature 'name'; did you mean 'names'?"),
        ("weights.csv", b"kind,unit,weight\nword,a,1\nword,a,2\n", ':3: unit: "a" stands twice'),
        ("weights.csv", b'kind,unit,weight\nword,"a\n', "not readable as CSV in UTF-8"),
        ("weights.csv", b"\xff\xfe", "not readable as CSV in UTF-8"),
        ("model.json", b"{", "model.json: not JSON"),
        ("model.json", b'{"kind": "quality", "format": 1}', 'expected a model of interest, got "quality"'),
        ("model.json", b"[]", "model.json: expected a JSON object"),
    ],
)
def test_damaged_models_are_refused(folder: Path, name: str, content: bytes, problem: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        open_model(folder)
    assert problem in str(caught.value)


def test_a_folder_without_a_model_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no model\.json in this folder; expected a model of interest"):
        open_model(tmp_path)
    (folder / "weights.csv").unlink()
    with pytest.raises(InvalidInput, match="csv: missing; was the folder copied whole"):
        open_model(folder)
    (folder / "thesis.txt").write_text("")
    with pytest.raises(UsageError):
        save_model(folder, MODEL, {})


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
RATED_PAGE = np.repeat(np.arange(PAGES), 5)
GRADES = np.tile([2.0, 2.0, 0.0, 0.0, 0.0], PAGES) + RATED_PAGE  # readers of later pages are kinder


def test_a_fit_finds_what_readers_like_within_pages() -> None:
    model = RatedPages.of(TEXTS, GRADES, RATED_PAGE).fit(penalty=1.0, min_count=2)
    assert max(model.words, key=lambda unit: model.words[unit]) == "dragon"
    assert model.words["flour"] < 0
    assert "old mill" in model.words
    assert "in place" in model.words
    assert not {"3", "place 3"} & set(model.words)  # a word of every passage of its page says nothing
    rarer = RatedPages.of(TEXTS, GRADES, RATED_PAGE).fit(penalty=1.0, min_count=9)
    assert "old mill" not in rarer.words
    assert set(rarer.words) < set(model.words)


def test_predictions_are_the_scores_of_the_page_but_for_a_constant() -> None:
    rated = RatedPages.of(TEXTS, GRADES, RATED_PAGE)
    model = rated.fit(1.0, 2)
    predicted = rated.predicted(model, RATED_PAGE == 2)
    assert not predicted[RATED_PAGE != 2].any()
    scores = page_scores([TEXTS[row] for row in np.flatnonzero(RATED_PAGE == 2)], model).scores
    away = predicted[RATED_PAGE == 2] - scores
    assert away == pytest.approx(away[0])


def test_a_cross_fit_never_sees_the_grades_of_the_page() -> None:
    rated = RatedPages.of(TEXTS, GRADES, RATED_PAGE)
    folds = np.arange(PAGES, dtype=np.int32)
    before = rated.cross_fitted(folds, 1.0, 2)
    changed = np.where(RATED_PAGE == 1, 5.0 - GRADES, GRADES)
    after = RatedPages.of(TEXTS, changed, RATED_PAGE).cross_fitted(folds, 1.0, 2)
    np.testing.assert_array_equal(before[RATED_PAGE == 1], after[RATED_PAGE == 1])
    assert (before[RATED_PAGE == 0] != after[RATED_PAGE == 0]).any()


def test_a_strong_penalty_leaves_the_cues_that_were_added() -> None:
    rated = RatedPages.of(TEXTS, GRADES, RATED_PAGE)
    model = rated.fit(1e8, 2, cues=0.5)
    assert {name for name, weight in model.features.items() if abs(weight) > 1e-3} == {"cues"}
    assert model.features["cues"] == pytest.approx(0.5, abs=1e-3)
    assert not any(abs(weight) > 1e-3 for weight in model.words.values())
    assert not any(abs(weight) > 1e-3 for weight in rated.fit(1e8, 2).features.values())


def test_words_of_few_pages_have_no_weight() -> None:
    texts = [f"{text} Peat." if row < 2 else text for row, text in enumerate(TEXTS)]
    rated = RatedPages.of(texts, GRADES, RATED_PAGE)
    assert "peat" in rated.fit(1.0, 2).words
    common = rated.fit(1.0, 2, min_pages=2).words
    assert "peat" not in common
    assert "dragon" in common
    assert not rated.fit(1.0, 2, np.arange(len(RATED_PAGE)) >= 5, min_pages=2).words
