"""Judges: the anchors that are chosen, what controls say, and results that other functions take."""

from __future__ import annotations

import math

import numpy as np
import pytest

import postil
from endpoint_stub import Asked, Reply, StubServer, completion
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Candidate, Reference
from postil.judging.judge import Anchor, Case
from postil.judging.options import JudgeOptions
from postil.judging.run import ItemMeans, control_of, length_correlation, self_preference, trials_of
from postil.judging.texts import choose_anchors

SCALE = postil.Scale(1, 5)
MIXED = [
    ("rain is coming today", 4.0),
    ("rain is coming", 4.0),
    ("no rain at all", 2.5),
    ("it will rain", 3.0),
    ("snow", 1.0),
]


def anchors(
    text: str,
    references: list[tuple[str, float | None]],
    *,
    choice: str = "nearest",
    per_grade: int = 1,
    writers: tuple[str | None, ...] = (),
) -> list[tuple[str, float]]:
    rows = [
        Reference("1", reference, grade, system=writers[place] if writers else None)
        for place, (reference, grade) in enumerate(references)
    ]
    found, _, _ = choose_anchors(
        LocatedRows(iter([Candidate("1", "a", text)]), RowLocations("candidates")),
        LocatedRows(iter(rows), RowLocations("references")),
        JudgeOptions(model="m", scale=SCALE, anchors=choice, anchors_per_grade=per_grade, jobs=1),
    )
    return [(anchor.text, anchor.grade) for anchor in found[0]]


def test_the_nearest_reference_of_each_rounded_grade_is_an_anchor_and_of_equals_the_first() -> None:
    assert anchors("rain is coming now", MIXED) == [("snow", 1), ("it will rain", 3), ("rain is coming", 4)]
    assert anchors("a", [("b", 2.5), ("c", 3.49), ("d", 4.5)]) == [("b", 3), ("d", 5)]
    assert anchors("rain", [("x y", 4.0), ("y x", 4.0)]) == [("x y", 4)]
    assert anchors("rain", [("y x", 4.0), ("x y", 4.0)]) == [("y x", 4)]


def test_the_text_itself_and_its_own_system_are_no_anchors() -> None:
    same = [("RAIN  is\tcoming", 4.0), ("ｒain is coming", 4.0), ("rain comes", 4.0)]
    assert anchors("rain is coming", same) == [("rain comes", 4)]
    assert anchors("rain", [("rain a", 4.0), ("rain b", 4.0)], writers=("a", None)) == [("rain b", 4)]
    assert anchors("rain", [("rain", 4.0), ("snow", None)]) == []


def test_anchors_of_median_length_are_the_same_for_every_text() -> None:
    several: list[tuple[str, float | None]] = [("a b c d e", 4.0), ("a", 4.0), ("a b c", 4.0), ("x y", 2.0), ("x", 2.0)]
    for text in ("a", "a b c d"):
        assert anchors(text, several[2:], choice="spread") == [("x", 2), ("a b c", 4)]
    assert anchors("z", several, choice="spread") == [("x", 2), ("a b c", 4)]
    assert anchors("z", several, choice="spread", per_grade=2) == [("x", 2), ("x y", 2), ("a", 4), ("a b c", 4)]


@pytest.mark.parametrize(
    ("references", "problem"),
    [
        ([("a", 7.0)], "references:1: grade: expected a number from 1 to 5, got 7"),
        ([("a", None)], "references:1: grade: missing; anchors are references with a grade"),
    ],
)
def test_references_without_good_grades_are_refused(references: list[tuple[str, float | None]], problem: str) -> None:
    with pytest.raises(postil.InvalidInput, match=problem):
        anchors("b", references)


def test_trials_change_one_thing_each() -> None:
    case = Case("a", None, tuple(Anchor(text, grade) for text, grade in (("b", 1.0), ("c", 3.0), ("d", 5.0))))
    trials = trials_of(case, 1, "item", "system")
    shuffled = trials["shuffled"].case.anchors
    assert [anchor.text for anchor in shuffled] == ["b", "c", "d"]
    assert sorted(anchor.grade for anchor in shuffled) == [1, 3, 5]
    assert [anchor.grade for anchor in shuffled] != [1, 3, 5]
    assert trials["falling"].case.anchors == case.anchors[::-1]
    assert trials["repeat"].case == case
    assert trials["repeat"].again
    assert trials_of(case, 1, "item", "system") == trials
    assert any(trials_of(case, seed, "item", "system") != trials for seed in range(2, 9))


def test_a_control_is_compared_on_the_texts_that_have_both_grades() -> None:
    means = ItemMeans(["1", "1", "2"], 1)
    found = control_of("falling", np.array([1.0, 3.0, 5.0]), np.array([2.0, np.nan, 5.0]), means)
    assert (found.n, found.mean, found.equal, found.difference.value) == (2, 3.5, 0.5, 0.5)
    assert found.difference.low == 0.0
    assert found.difference.high == 1.0


def test_length_is_taken_out_of_both() -> None:
    grades, words, human = (np.array(each, float) for each in ([1, 2, 4, 3], [2, 4, 6, 8], [2, 1, 4, 2]))
    found = length_correlation(grades, words, human)
    assert found.words == pytest.approx(0.8)
    r_gh, r_gl, r_hl = found.human, 0.8, float(np.corrcoef(human, words)[0, 1])
    expected = (r_gh - r_gl * r_hl) / math.sqrt((1 - r_gl**2) * (1 - r_hl**2))
    assert found.human_partial == pytest.approx(expected)
    line = length_correlation(words, words, human)
    assert (line.words, line.human_partial) == (pytest.approx(1.0), None)
    assert length_correlation(grades, words, human * np.nan).human is None


def test_own_texts_are_compared_with_people_and_with_others() -> None:
    means = ItemMeans(["1", "1", "2", "2"], 1)
    found = self_preference(["gpt", "x", "GPT", "x"], ["gpt"], np.array([1.0, 0.0, 2.0, np.nan]), means)
    assert found is not None
    assert (found.system, found.n, found.own.value) == ("gpt", 2, 1.5)
    assert found.others is not None
    assert found.preference is not None
    assert (found.others.value, found.preference.value) == (0.0, 1.5)
    assert self_preference(["x"], ["gpt"], np.array([1.0]), ItemMeans(["1"], 1)) is None


def by_words(asked: Asked) -> Reply:
    """The number of words of the candidate, at most 5, with some doubt."""
    text = asked.prompt.rpartition("<candidate>")[2].partition("</candidate>")[0]
    grade = min(5, len(text.split()))
    return completion(str(grade), tokens={str(grade): math.log(0.9), "1": math.log(0.05)})


CANDIDATES = [
    {"item": item, "system": system, "text": text}
    for item in (1, 2, 3)
    for system, text in (("short", "rain" + " now" * (item - 1)), ("long", "it will rain here" + " now" * (item == 3)))
]
REFERENCES = [{"item": item, "text": text, "grade": grade} for item in (1, 2, 3) for text, grade in MIXED]
RATINGS = [
    {"item": row["item"], "system": row["system"], "annotator": "ann", "grade": 1 + len(str(row["text"])) % 5}
    for row in CANDIDATES
]


def test_controls_are_rows_that_correlate_shows_beside_the_judge() -> None:
    with StubServer(by_words) as stub:
        options = postil.JudgeOptions(endpoint=stub.url, model="m", scale=SCALE, controls=True)
        found = postil.judge(CANDIDATES, REFERENCES, options=options, judgements=RATINGS)
    names = {row.metric for row in found.rows}
    kinds = ("falling", "order", "shuffled", "no-anchors", "repeat", "length")
    assert names == {"judge(m)", *(f"control:{kind}(judge(m))" for kind in kinds)}
    assert len(found.rows) == 7 * len(CANDIDATES)
    assert len({row.signature for row in found.rows}) == 7
    assert {row.control: row.equal for row in found.controls} == dict.fromkeys(kinds[:-1], 1.0)
    assert found.length is not None
    assert found.length.human_n == 6
    correlated = postil.correlate(found.rows, RATINGS)
    assert "control:falling(judge(m))" in {row.metric for row in correlated.correlations}


def test_without_references_and_articles_the_text_stands_alone() -> None:
    with StubServer(by_words) as stub:
        options = postil.JudgeOptions(endpoint=stub.url, model="m", scale=SCALE, anchors="none")
        found = postil.judge(CANDIDATES, options=options)
        assert "<example" not in stub.asked[0].prompt
        assert "<article>" not in stub.asked[0].prompt
    assert found.rows[0].signature == (
        "judge(model=m,served=stub-1,anchors=none,samples=5,temperature=0.7)|prompt:ca6578fe0f56|rubric:none|"
        f"scale:1:5|article:none|seed:20181|postil:{postil.__version__}"
    )


def test_controls_that_change_no_prompt_are_left_out() -> None:
    with StubServer(by_words) as stub:
        options = postil.JudgeOptions(endpoint=stub.url, model="x/long", scale=SCALE, anchors="none", controls=True)
        found = postil.judge(CANDIDATES, options=options, judgements=RATINGS)
    assert [row.control for row in found.controls] == ["repeat"]
    assert found.self_preference is not None
    assert (found.self_preference.system, found.self_preference.n) == ("long", 3)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"options": {"anchors": "near"}}, "unknown choice of anchors 'near'; did you mean 'nearest'"),
        ({"options": {"samples": 0}}, "samples: expected at least 1, got 0"),
        ({"options": {"temperature": -1.0}}, "temperature: expected 0 or more, got -1"),
        ({"options": {"anchor_metric": "w-rouge-l"}}, "anchor_metric: expected a metric that reads no weights"),
        ({"options": {"dry_run": True}}, "dry_run: only the command has it"),
        ({"options": {"rubric": "none.txt"}}, "none.txt: cannot be read: No such file"),
        ({"judgements": RATINGS}, "judgements are for the controls"),
        ({"references": None}, 'anchors are graded references: give references, or anchors="none"'),
        ({"candidates": [*CANDIDATES, CANDIDATES[0]]}, "expected one candidate for each item and system"),
        ({"candidates": [{"item": 9, "text": "a"}]}, "expected an item that has references"),
        ({"articles": [{"id": 1, "title": "t"}]}, "candidates:3: item: expected an item that is the id of"),
        (
            {
                "articles": [{"id": "a", "title": "t"}],
                "columns": {"item": "#"},
                "references": None,
                "options": {"anchors": "none"},
            },
            r"^candidates:1: expected an item that is .*got '1'; .* same order: columns=\{'articles.id': '#'\}$",
        ),
        ({"articles": [{"id": 1, "title": "t"}] * 2}, "articles:2: id: expected an id that no other article has"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_call(change: dict[str, object], problem: str) -> None:
    with StubServer(by_words) as stub:
        given: dict[str, object] = {"candidates": CANDIDATES, "references": REFERENCES, **change}
        several = {"endpoint": stub.url, "model": "m", "scale": SCALE, **given.pop("options", {})}  # type: ignore[dict-item]
        with pytest.raises(postil.PostilError, match=problem):
            postil.judge(**given, options=postil.JudgeOptions(**several))  # type: ignore[arg-type]
        assert stub.asked == []


def test_a_judge_has_another_name_if_it_is_given_one() -> None:
    def misnamed(_: Asked) -> Reply:
        return completion("3", tokens={"3": -0.1}, model="new|better:low model")

    with StubServer(misnamed) as stub:
        options = postil.JudgeOptions(endpoint=stub.url, model="m", name="plain", scale=SCALE, anchors="none")
        found = postil.judge(CANDIDATES, options=options)
    assert {row.metric for row in found.rows} == {"judge(plain)"}
    assert "judge(model=m,served=new_better:low_model,anchors=none" in found.rows[0].signature
    assert "better:low" not in found.rows[0].signature.split("|")
