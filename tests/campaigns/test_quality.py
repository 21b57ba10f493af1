"""Quality of annotators: who needs attention, and who does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.campaigns.calls import agreement_of
from postil.campaigns.models import Purpose, Rating
from postil.campaigns.quality import annotator_quality, inferred_grades, reading_length
from postil.campaigns.rubric import Rubric
from postil.meta.parts import STATISTICS
from postil.raters.calls import AgreementOptions
from postil.web.pages import page_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.raters.result import CompetenceModel

RUBRIC = Rubric.default()


def rating(number: int, who: str, grade: float, **more: object) -> Rating:
    fixed: dict[str, object] = {"item": f"a{number}", "system": "s", "round": 1, "order": number, "time": float(number)}
    return Rating(number=number, annotator=who, grade=grade, **(fixed | more))  # type: ignore[arg-type]


def honest(seed: int = 1, texts: int = 80, names: str = "ABC") -> list[Rating]:
    """Annotators who rate near one truth, in about five seconds."""
    made = np.random.default_rng(seed)
    rows = []
    for number in range(texts):
        truth = int(made.integers(1, 6))
        for who in names:
            grade = min(5, max(1, truth + int(made.choice([-1, 0, 0, 0, 1]))))
            rows.append(rating(number, who, grade, seconds=made.uniform(3, 8)))
    return rows


def kinds(rows: list[Rating], **more: object) -> dict[str, list[str]]:
    """Concerns about each annotator."""
    lengths = {one.number: 200.0 for one in rows}
    found = annotator_quality(rows, lengths, RUBRIC, **more)  # type: ignore[arg-type]
    return {one.annotator: [each.kind for each in one.concerns] for one in found}


def test_honest_annotators_raise_no_concern() -> None:
    for seed in range(10):
        assert kinds(honest(seed)) == {"A": [], "B": [], "C": []}


def test_who_hurries_is_told_by_the_length_of_texts() -> None:
    rows = [*honest(), *(rating(number, "D", 3, seconds=0.9) for number in range(80))]
    found = annotator_quality(rows, dict.fromkeys(range(80), 200.0), RUBRIC)
    assert found[0].annotator == "D"
    assert found[0].fast == 1
    assert "fast" in [each.kind for each in found[0].concerns]
    assert all(one.fast == 0 for one in found[1:])
    short = annotator_quality(rows[-80:], dict.fromkeys(range(80), 20.0), RUBRIC)
    assert short[0].fast == 0  # 0.9 s are enough for 20 characters, and nobody else says what is usual


@pytest.mark.parametrize(("before", "after", "kind"), [(-2, -2, "severity"), (0, -1, "drift")])
def test_bias_and_its_drift(before: int, after: int, kind: str) -> None:
    base = honest(names="ABCDEFGH")
    rows = [one for one in base if one.annotator != "D"]
    rows += [
        rating(one.number, "D", min(5, max(1, one.grade + (before if one.number < 40 else after))), seconds=5.0)
        for one in base
        if one.annotator == "D"
    ]
    concerns = kinds(rows)
    assert kind in concerns.pop("D")
    assert not {name for each in concerns.values() for name in each} & {"drift", "apart"}


def test_a_guesser_is_far_from_the_others() -> None:
    made = np.random.default_rng(3)
    rows = [*honest(names="ABCE"), *(rating(n, "D", int(made.integers(1, 6)), seconds=5.0) for n in range(80))]
    competence = {"A": 0.8, "B": 0.7, "C": 0.9, "D": 0.1, "E": 0.75}
    assert kinds(rows, competence=competence) == {"D": ["competence", "apart"], "A": [], "B": [], "C": [], "E": []}


def test_competence_that_few_ratings_give_is_no_concern() -> None:
    flagged = 0
    for seed in range(40):
        rows = [one for one in honest(seed, 20, "ABCD") if one.number % 2 == ("ABCD".index(one.annotator) % 2)]
        found = inferred_grades(rows, RUBRIC)
        flagged += sum("competence" in each for each in kinds(rows, competence=found.competence).values())
    assert flagged <= 1  # of 160 annotators, of whom 39 have less than half of the usual competence


def gold(purpose: Purpose, hits: dict[str, int], n: int = 12) -> list[Rating]:
    return [
        rating(1000 + number, who, 4 if number < hit else 2, gold=4.0, purpose=purpose)
        for who, hit in hits.items()
        for number in range(n)
    ]


def guessing(seed: int, *more: Rating) -> list[Rating]:
    """Ratings of texts with true grades from 3 to 5, each by two of five annotators in turn; E guesses."""
    made = np.random.default_rng(seed)
    rows = list(more)
    for number in range(200):
        truth = made.uniform(3, 5)
        for who in (("A", "B", "C", "D", "E")[(number + step) % 5] for step in (0, 1 + number % 2)):
            grade = made.integers(1, 6) if who == "E" else np.clip(np.rint(truth + made.normal(0, 0.4)), 1, 5)
            rows.append(rating(number, who, float(grade)))
    return rows


def test_a_guesser_who_misses_attention_checks_has_no_competence() -> None:
    for seed in range(20):
        checks = [rating(900, who, 2.0 if who != "E" else 4.0, gold=2.0, purpose="attention") for who in "ABCDE"]
        found = inferred_grades(guessing(seed, *checks), RUBRIC)
        assert not found.reason
        assert found.competence["E"] == min(found.competence.values()) < 0.2
        assert 900 not in found.weighted
        assert 900 not in found.expected


@pytest.mark.parametrize("model", ["one-factor", "mace", "dawid-skene"])
def test_attention_checks_bound_competence(model: CompetenceModel) -> None:
    """One half remains of one check that was missed, and a quarter of three."""
    rows = honest(names="ABCD")
    whole = inferred_grades(rows, RUBRIC, model).competence
    missed = [rating(900 + n, "B", 5.0, gold=1.0, purpose="attention") for n in range(1)]
    missed += [rating(900 + n, "C", 5.0, gold=1.0, purpose="attention") for n in range(3)]
    passed = [rating(900 + n, who, 1.0, gold=1.0, purpose="attention") for n in range(3) for who in "AD"]
    found = inferred_grades([*rows, *missed, *passed], RUBRIC, model).competence
    assert found["B"] == pytest.approx(min(0.5, whole["B"]), abs=0.1)
    assert found["B"] <= 0.5
    assert found["C"] <= 0.25
    assert min(found["A"], found["D"]) > 0.6


@pytest.mark.parametrize("model", ["one-factor", "mace", "dawid-skene"])
def test_gold_items_inform_competence_and_training_does_not(model: CompetenceModel) -> None:
    rows = honest(names="ABCD")
    before = inferred_grades(rows, RUBRIC, model).competence

    def beside(purpose: Purpose) -> Mapping[str, float]:
        wrong = [
            rating(900 + n, who, float(1 + n % 5 if who != "B" else 5 - n % 5), gold=float(1 + n % 5), purpose=purpose)
            for n in range(40)
            for who in "ABCD"
        ]
        return inferred_grades([*rows, *wrong], RUBRIC, model).competence

    assert beside("")["B"] < before["B"] - 0.1
    assert beside("training") == before


def test_gold_items_are_compared_with_the_other_annotators() -> None:
    rows = [*honest(), *gold("", {"A": 11, "B": 4, "C": 10})]
    assert kinds(rows) == {"B": ["gold"], "A": [], "C": []}
    assert kinds([*honest(), *gold("", {"A": 4, "B": 4, "C": 5})]) == {"A": [], "B": [], "C": []}  # hard for everybody


def test_a_missed_attention_check_is_a_concern_and_training_is_none() -> None:
    rows = [*honest(), *gold("attention", {"A": 2, "B": 1}, n=2), *gold("training", {"C": 0}, n=5)]
    found = annotator_quality(rows, {}, RUBRIC)
    assert [(one.annotator, one.attention, one.passed) for one in found] == [("B", 2, 1), ("A", 2, 2), ("C", 0, 0)]
    assert [each.kind for each in found[0].concerns] == ["attention"]
    last = found[2]
    assert last.gold is None
    assert last.training is not None
    assert (last.training.n, last.training.equal, last.training.above) == (5, 0, -2)


def test_repeated_items_are_compared_with_the_other_annotators() -> None:
    rows = honest()
    again = [
        rating(one.number, one.annotator, one.grade if one.annotator != "C" else one.grade % 5 + 1, round=2)
        for one in rows
        if one.number < 20
    ]
    assert kinds([*rows, *again]) == {"C": ["repeated"], "A": [], "B": []}


def test_windows_are_in_order_of_time_and_leave_the_annotator_out() -> None:
    rows = [rating(n, "A", 5 if n < 15 else 2, time=float(100 - n)) for n in range(30)]
    rows += [rating(n, who, grade) for n in range(30) for who, grade in (("B", 1), ("C", 3))]
    one = next(each for each in annotator_quality(rows, {}, RUBRIC) if each.annotator == "A")
    assert [(each.first, each.n, each.above) for each in one.windows] == [(1, 10, 0), (11, 10, 1.5), (21, 10, 3)]
    assert (one.shared, one.apart, one.above, one.seconds) == (30, 1.5, 1.5, None)
    assert one.drift is not None
    assert (one.drift.value, one.drift.low, one.drift.high) == (3, 3, 3)


def test_marks_are_on_a_scale_of_shares() -> None:
    rows = [rating(n, who, 0.5 + 0.3 * (who == "A") + 0.01 * (n % 3)) for n in range(40) for who in "ABC"]
    found = annotator_quality(rows, {}, Rubric.default("en", "spans"))
    assert (found[0].annotator, [each.kind for each in found[0].concerns]) == ("A", ["apart", "severity"])


def test_chinese_takes_longer_per_character() -> None:
    assert reading_length("a游泳b") == 10


def test_marks_have_every_statistic_by_bins_of_shares() -> None:
    made = np.random.default_rng(2)
    rows = [
        rating(number, who, float(np.clip(share + made.normal(0, 0.1), 0, 1)))
        for number, share in enumerate(made.random(80))
        for who in "ABC"
    ]
    found = agreement_of(rows, Rubric.default("en", "spans"), AgreementOptions(resamples=2)).agreement
    assert found is not None
    assert list(found.estimates) == list(STATISTICS)
    assert (found.bins[0], found.bins[1], found.bins[-1]) == (0, 0.1, 1)
    note = page_in("zh").words(found.notes[0])
    assert "从 0 到 1 等宽的 10 个区间" in note
