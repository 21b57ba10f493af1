"""The table of scores and grades, and its matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.combination.model import judged_texts
from postil.data.frames import SYSTEM
from postil.data.grades import Scale
from postil.data.parts import Excluded
from postil.data.row_locations import LocatedRows, RowLocations, located
from postil.data.rows import Judgement, Score
from postil.errors import InvalidInput, Undefined, UnknownName
from postil.meta.estimation import outputs_of
from postil.meta.table import Judged, Scored, Table, join, united


def scores_of(*texts: str, metric: str = "m", signature: str = "", start: float = 0.0) -> list[Score]:
    """A score of each text, an item and a system in two letters: 0, 1, 2 …"""
    return [Score(text[0], text[1], metric, start + number, signature) for number, text in enumerate(texts)]


def judgements_of(*texts: str, annotator: str = "ann", grade: float = 3.0, **more: Any) -> list[Judgement]:
    return [Judgement(text[0], text[1], annotator, grade, **more) for text in texts]


def texts(table: Table) -> list[str]:
    return [
        table.items[item] + table.systems[system]
        for item, system in zip(table.item.tolist(), table.system.tolist(), strict=True)
    ]


# ---- what joins ------------------------------------------------------------------------------------------------------


def test_rows_stand_by_item_in_the_order_of_the_scores() -> None:
    table = join(scores_of("2b", "1b", "2a", "3c", "1a"), judgements_of("1a", "1b", "2a", "2b", "3c"))
    assert texts(table) == ["2b", "2a", "1b", "1a", "3c"]
    assert table.items == ("2", "1", "3")
    assert table.systems == ("b", "a", "c")
    assert table.item.tolist() == [0, 0, 1, 1, 2]
    assert table.item.dtype == table.system.dtype == np.int32
    assert table.starts.tolist() == [0, 2, 4]
    assert table.scores[:, 0].tolist() == [0, 2, 1, 4, 3]
    assert len(table) == 5
    assert table.left_out == ()


def test_items_and_systems_are_numbered_among_those_that_joined() -> None:
    table = join(scores_of("1x", "2a", "3a"), judgements_of("3a", "2a"))
    assert (table.items, table.systems) == (("2", "3"), ("a",))


@given(
    st.lists(st.tuples(st.sampled_from("12345"), st.sampled_from("ab")), unique=True, min_size=1),
    st.lists(st.tuples(st.sampled_from("12345"), st.sampled_from("ab")), unique=True, min_size=1),
)
def test_what_joins_is_the_intersection(scored: list[tuple[str, str]], judged: list[tuple[str, str]]) -> None:
    scores, judgements = scores_of(*map("".join, scored)), judgements_of(*map("".join, judged))
    common = {*scored} & {*judged}
    if not common:
        with pytest.raises(Undefined, match="no text has both scores and judgements"):
            join(scores, judgements)
        return
    table = join(scores, judgements)
    assert sorted(texts(table)) == sorted(map("".join, common))
    assert np.all(np.diff(table.item) >= 0)
    assert table.item.max() + 1 == len(table.items) == len({item for item, _ in common})
    number = {text: place for place, text in enumerate(map("".join, scored))}
    assert table.scores[:, 0].tolist() == [number[text] for text in texts(table)]
    counts = {left.why: left.n for left in table.left_out}
    assert counts.get("scored but not judged", 0) == len({*scored} - common)
    assert counts.get("judged but not scored", 0) == len({*judged} - common)


def test_what_does_not_join_is_counted_and_named() -> None:
    table = join(
        [*scores_of("1a", "2a", "3a", "4a", "5a", "6a", "7a", "8a"), *scores_of("1a", "3a", metric="n")],
        judgements_of("1a", "2a", "9z"),
    )
    assert texts(table) == ["1a"]
    assert table.left_out == (
        Excluded(
            why="scored but not judged",
            n=6,
            examples=("item 3 by a", "item 4 by a", "item 5 by a", "item 6 by a", "item 7 by a"),
        ),
        Excluded(why="judged but not scored", n=1, examples=("item 9 by z",)),
        Excluded(why="not scored by every metric", n=1, examples=("item 2 by a",)),
    )
    assert (
        str(table.left_out[0])
        == "scored but not judged: 6 (item 3 by a, item 4 by a, item 5 by a, item 6 by a, item 7 by a and 1 more)"
    )
    assert str(table.left_out[2]) == "not scored by every metric: 1 (item 2 by a)"


def test_texts_without_systems_are_those_of_the_one_system_of_the_other_side() -> None:
    scored = Scored([Score("1", "gpt", "m", 0.5, "", equal_references=1)])
    judged = Judged([Judgement("1", SYSTEM, "ann", grade) for grade in (2.0, 4.0)])
    scores, ratings = united(scored, judged)
    assert (list(scores.rows), scores.copies) == ([("1", "gpt")], {("1", "gpt")})
    assert (list(ratings.rows), list(ratings.repeated)) == ([("1", "gpt")], [("1", "gpt")])
    assert ratings.of([("1", "gpt")]).grades.tolist() == [3.0]
    assert outputs_of(scored, judged).systems == judged_texts(scored, judged).systems == ("gpt",)
    assert (list(judged.rows), list(judged.repeated)) == ([("1", SYSTEM)], [("1", SYSTEM)])  # as they were


def test_a_metric_that_was_not_asked_for_leaves_nothing_out() -> None:
    scores = [*scores_of("1a", "2a"), *scores_of("1a", metric="n")]
    assert len(join(scores, judgements_of("1a", "2a"))) == 1
    assert len(join(scores, judgements_of("1a", "2a"), metrics=["m"])) == 2


def test_nothing_joins() -> None:
    with pytest.raises(Undefined) as error:
        join(scores_of("1a", "2a"), judgements_of("1b"))
    assert str(error.value) == (
        "no text has both scores and judgements: 2 scored (such as item 1 by a), 1 judged (such as item 1 by b), 0 "
        "judged but not scored by every metric; they meet on item and system"
    )
    with pytest.raises(Undefined, match="1 judged but not scored by every metric"):
        join([*scores_of("1a"), *scores_of("2a", metric="n")], judgements_of("1a"))


# ---- scores ----------------------------------------------------------------------------------------------------------


def test_metrics_in_the_order_asked_for() -> None:
    scores = [*scores_of("1a", "2a"), *scores_of("1a", "2a", metric="n", signature="n|v1", start=5)]
    judgements = judgements_of("1a", "2a")
    table = join(scores, judgements)
    assert (table.metrics, table.signatures) == (("m", "n"), ("", "n|v1"))
    assert table.scores.tolist() == [[0, 5], [1, 6]]
    table = join(scores, judgements, metrics=["n", "m", "n"])
    assert (table.metrics, table.signatures) == (("n", "m"), ("n|v1", ""))
    assert table.scores.tolist() == [[5, 0], [6, 1]]
    assert [table.column(name) for name in ("n", "m")] == [0, 1]
    with pytest.raises(UnknownName, match=r"unknown metric 'o'\. Known: "):
        table.column("o")
    with pytest.raises(UnknownName, match="unknown metric 'mm'; did you mean 'm'"):
        join(scores, judgements, metrics=["mm"])


def test_low_is_good() -> None:
    scores = [*scores_of("1a", "2a"), *scores_of("1a", "2a", metric="n", start=5)]
    table = join(scores, judgements_of("1a", "2a"), lower_is_better={"n"})
    assert table.lower_is_better.tolist() == [False, True]
    assert table.scores.tolist() == [[0, 5], [1, 6]]
    assert table.oriented.tolist() == [[0, -5], [1, -6]]
    with pytest.raises(UnknownName, match="unknown metric 'kl'"):
        join(scores, judgements_of("1a"), lower_is_better={"kl"})


def test_a_signature_says_that_lower_is_better() -> None:
    edits = scores_of("1a", "2a", metric="edits", signature="edits|better:low|references:1", start=5)
    name = "control:nearest(edits)"  # a weight, not a number of edits
    nearest = scores_of("1a", "2a", metric=name, signature=f"{edits[0].signature}|control:nearest")
    table = join([*scores_of("1a", "2a"), *edits, *nearest], judgements_of("1a", "2a"))
    assert table.lower_is_better.tolist() == [False, True, False]


def test_corpus_scores_are_passed_over() -> None:
    corpus = Score(None, "a", "m", 9.0, "another signature")
    table = join([corpus, *scores_of("1a"), corpus], judgements_of("1a"))
    assert table.scores.tolist() == [[0]]
    with pytest.raises(
        InvalidInput, match=r"^scores: expected item scores .* got 2 corpus scores, which have no item$"
    ):
        join([corpus, corpus], judgements_of("1a"))


def test_no_scores() -> None:
    with pytest.raises(InvalidInput, match=r"^s.jsonl: expected item scores .*, got no rows$"):
        join(located([], "s.jsonl"), judgements_of("1a"))


def test_a_second_score_of_a_text_by_a_metric() -> None:
    corpus = Score(None, "a", "m", 9.0, "")
    scores = [corpus, *scores_of("1a", "2a"), corpus, *scores_of("1a")]
    message = 'a second score of item "1" by system "a" for one metric: m; keep one of them'
    with pytest.raises(InvalidInput) as error:
        join(scores, judgements_of("1a"))
    assert str(error.value) == f"scores:5: metric: {message}"
    places = RowLocations("s.jsonl")
    places.skip(1)
    with pytest.raises(InvalidInput) as error:
        join(LocatedRows(iter(scores), places), judgements_of("1a"))
    assert str(error.value) == f"s.jsonl:6: metric: {message}"


def test_one_metric_with_two_signatures() -> None:
    scores = [*scores_of("1a", signature="m|v1"), *scores_of("2a", metric="n", signature="x")]
    with pytest.raises(InvalidInput) as error:
        join(located([*scores, *scores_of("2a", signature="m|v2")], "s.jsonl"), judgements_of("1a"))
    assert str(error.value) == (
        "s.jsonl:3: signature: m has two signatures, so its numbers cannot be compared: m|v1 and m|v2; give the "
        "scores of one run at a time"
    )


def test_draws_of_a_control_are_gathered_in_their_order() -> None:
    name = "control:shuffled(w-rouge-l(reading=union),draw={})"
    scores = [
        *scores_of("1a", "2a"),
        *scores_of("1a", "2a", metric=name.format(10), start=10),
        *scores_of("1a", "2a", metric=name.format(2), start=2),
        *scores_of("1a", "2a", metric="control:nearest(m)"),
    ]
    table = join(scores, judgements_of("1a", "2a"))
    assert table.metrics == ("m", "control:nearest(m)")
    assert {control: draws.tolist() for control, draws in table.draws.items()} == {
        "control:shuffled(w-rouge-l(reading=union))": [[2, 10], [3, 11]]
    }
    with pytest.raises(UnknownName, match="unknown metric"):
        join(scores, judgements_of("1a"), metrics=[name.format(2)])


def test_a_text_without_every_draw_is_left_out() -> None:
    scores = [
        *scores_of("1a", "2a"),
        *scores_of("1a", "2a", metric="control:shuffled(m,draw=1)"),
        *scores_of("1a", metric="control:shuffled(m,draw=2)"),
    ]
    table = join(scores, judgements_of("1a", "2a"))
    assert texts(table) == ["1a"]
    assert [str(left) for left in table.left_out] == ["not scored by every metric: 1 (item 2 by a)"]


def test_draws_go_with_their_metric() -> None:
    shuffled = "control:shuffled({},draw={})"
    scores = [
        *scores_of("1a", "2a", metric="w-m"),
        *scores_of("1a", "2a", metric="w-n(order=2)", start=4),
        *scores_of("1a", "2a", metric=shuffled.format("w-m", 1), start=2),
        *scores_of("1a", metric=shuffled.format("w-n(order=2)", 1)),  # the second text lacks it
        *scores_of("1a", metric=shuffled.format("gone", 1)),
    ]
    judgements = judgements_of("1a", "2a")
    table = join(scores, judgements, metrics=["w-m"])
    assert {control: draws.tolist() for control, draws in table.draws.items()} == {"control:shuffled(w-m)": [[2], [3]]}
    assert table.left_out == ()
    table = join(scores, judgements, metrics=["w-n(order=2)"])
    assert list(table.draws) == ["control:shuffled(w-n(order=2))"]
    assert [str(left) for left in table.left_out] == ["not scored by every metric: 1 (item 2 by a)"]
    assert len(join(scores, judgements).draws) == 3


def test_controls_go_with_their_metric_and_point_its_way() -> None:
    names = ["w-m", "n", "control:top(w-m)", "control:nearest(w-m)", "control:top(w-n)", "control:length"]
    scores = [
        score for name in [*names, "control:shuffled(w-m,draw=0)"] for score in scores_of("1a", "2a", metric=name)
    ]
    table = join(scores, judgements_of("1a", "2a"), metrics=["w-m"], lower_is_better={"w-m"})
    assert table.metrics == ("w-m", "control:top(w-m)", "control:nearest(w-m)")
    assert table.lower_is_better.tolist() == [True, True, False]  # what is nearest carries a weight, high is good
    assert table.draws["control:shuffled(w-m)"].tolist() == [[0], [-1]]


def test_a_mean_weight_is_high_where_it_is_good_whichever_way_its_metric_points() -> None:
    scores = [*scores_of("1a", "2a", metric="w-m"), *scores_of("1a", "2a", metric="control:mean-weight(w-m)")]
    assert join(scores, judgements_of("1a", "2a"), lower_is_better={"w-m"}).lower_is_better.tolist() == [True, False]


def test_only_some_metrics() -> None:
    names = ["a", "b", "c", "control:shuffled(c,draw=0)"]
    scores = [Score("1", "s", name, float(place), f"{name} signed") for place, name in enumerate(names)]
    table = join(scores, [Judgement("1", "s", "ann", 3)], lower_is_better={"c"}).only(["c", "a"])
    assert (table.metrics, table.signatures) == (("c", "a"), ("c signed", "a signed"))
    assert (table.scores.tolist(), table.oriented.tolist()) == ([[2, 0]], [[-2, 0]])
    assert not table.draws
    with pytest.raises(UnknownName, match="'d'"):
        table.only(["d"])


def test_nothing_but_draws() -> None:
    name = "control:shuffled(m,draw=1)"
    with pytest.raises(InvalidInput) as error:
        join(located(scores_of("1a", metric=name), "s.jsonl"), judgements_of("1a"))
    assert str(error.value) == (
        f"s.jsonl: expected item scores of a metric, got nothing but draws of random controls, such as {name}"
    )


# ---- judgements ------------------------------------------------------------------------------------------------------


def test_ratings_stand_with_their_texts() -> None:
    judgements = [
        Judgement("2", "a", "cyd", 5),
        Judgement("1", "a", "bob", 2),
        Judgement("1", "a", "ann", 4),
        Judgement("1", "a", "cyd", 4),
        Judgement("9", "a", "zoe", 1),
    ]
    table = join(scores_of("1a", "2a"), judgements)
    ratings = table.ratings
    assert ratings.names == ("ann", "bob", "cyd")  # those of the texts that joined
    assert ratings.offsets.tolist() == [0, 3, 4]
    assert ratings.counts.tolist() == [3, 1]
    assert ratings.annotators.tolist() == [0, 1, 2, 2]
    assert ratings.grades.tolist() == [4, 2, 4, 5]
    assert table.grades.tolist() == [10 / 3, 5]


def test_several_grades_by_one_annotator_are_their_mean() -> None:
    judgements = [*judgements_of("1a", grade=1), *judgements_of("1a", annotator="bob", grade=5)]
    table = join(scores_of("1a", "2a"), [*judgements, *judgements_of("1a", "2a", grade=2)])
    assert table.ratings.grades.tolist() == [1.5, 5, 2]  # ann twice, bob, ann
    assert table.grades.tolist() == [3.25, 2]
    assert [str(left) for left in table.left_out] == [
        "graded more than once by one annotator, the mean taken: 1 (item 1 by a)"
    ]
    # Only what joined counts.
    table = join(scores_of("2a"), [*judgements, *judgements_of("1a", "2a", grade=2)])
    assert [str(left) for left in table.left_out] == ["judged but not scored: 1 (item 1 by a)"]


@given(st.permutations(range(6)))
def test_the_order_of_the_judgements_changes_nothing(order: list[int]) -> None:
    judgements = [
        Judgement(item, "a", who, grade)
        for item, who, grade in zip("112223", ["ann", "bob"] * 3, [0.1, 0.2, 0.7, 4, 0.3, 1], strict=True)
    ]
    scores = scores_of("1a", "2a", "3a")
    one, other = join(scores, judgements), join(scores, [judgements[place] for place in order])
    assert one.grades.tolist() == other.grades.tolist()
    assert one.ratings.grades.tolist() == other.ratings.grades.tolist()
    assert one.ratings.annotators.tolist() == other.ratings.annotators.tolist()


def test_one_aspect_of_several() -> None:
    judgements = [*judgements_of("1a", grade=1, aspect="wit"), *judgements_of("1a", grade=5, aspect="truth")]
    table = join(scores_of("1a"), judgements, aspect="truth")
    assert (table.aspect, table.grades.tolist(), table.left_out) == ("truth", [5], ())
    assert join(scores_of("1a"), judgements[:1]).aspect == "wit"
    assert join(scores_of("1a"), judgements_of("1a")).aspect is None
    with pytest.raises(InvalidInput) as error:
        join(scores_of("1a"), located(judgements, "j.jsonl"))
    assert str(error.value) == (
        'j.jsonl:2: aspect: judgements of more than one aspect ("wit" and "truth", perhaps more); choose one: '
        "aspect=NAME"
    )
    with pytest.raises(InvalidInput, match='"wit" and none'):
        join(scores_of("1a"), [*judgements[:1], *judgements_of("1a")])
    with pytest.raises(UnknownName, match="unknown aspect 'troth'; did you mean 'truth'"):
        join(scores_of("1a"), judgements, aspect="troth")


def test_a_grade_off_the_scale() -> None:
    scale = Scale(1, 5)
    assert join(scores_of("1a"), judgements_of("1a", grade=5), scale=scale).scale is scale
    judgements = [*judgements_of("1a"), *judgements_of("2a", grade=0, aspect="wit"), *judgements_of("3a", grade=7)]
    with pytest.raises(InvalidInput) as error:
        join(scores_of("1a"), located([judgements[0], judgements[2]], "j.jsonl"), scale=scale)
    assert str(error.value) == "j.jsonl:2: grade: expected a number from 1 to 5, got 7"
    with pytest.raises(InvalidInput, match=r"^judgements:2: grade: expected a number from 1 to 5, got 7"):
        join(scores_of("1a"), [judgements[0], judgements[2]], scale=scale)
    # Grades of another question may be on another scale.
    table = join(scores_of("1a"), [*judgements[1:2], *judgements_of("1a", aspect="truth")], scale=scale, aspect="truth")
    assert table.grades.tolist() == [3]


def test_no_judgements() -> None:
    with pytest.raises(InvalidInput, match=r"^judgements: expected judgements, got no rows$"):
        join(scores_of("1a"), [])
    with pytest.raises(InvalidInput, match=r"^j.jsonl: expected judgements, got no rows$"):
        join(scores_of("1a"), located([], "j.jsonl"))


ROWS = st.lists(st.tuples(*(st.sampled_from(names) for names in ("123", "ab", "zyx")), st.floats(0, 9)), min_size=1)


@given(ROWS, st.randoms(use_true_random=False))
def test_ratings_are_the_means_of_each_annotator(rows: list[tuple[str, str, str, float]], random) -> None:
    by_hand: dict[tuple[str, str], dict[str, list[float]]] = {}
    for item, system, annotator, grade in rows:
        by_hand.setdefault((item, system), {}).setdefault(annotator, []).append(grade)
    rated = Judged(Judgement(*row) for row in rows)
    assert list(rated.rows) == list(by_hand)
    assert list(rated.repeated) == [key for key, by in by_hand.items() if max(map(len, by.values())) > 1]
    keys = random.sample(list(by_hand), random.randint(1, len(by_hand)))
    found = rated.of(keys)
    assert found.names == tuple(sorted({name for key in keys for name in by_hand[key]}))
    assert found.counts.tolist() == [len(by_hand[key]) for key in keys]
    assert [(found.names[who], grade) for who, grade in zip(found.annotators, found.grades.tolist(), strict=True)] == [
        (name, math.fsum(several) / len(several)) for key in keys for name, several in sorted(by_hand[key].items())
    ]
