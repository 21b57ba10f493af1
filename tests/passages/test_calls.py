"""`postil passages` in Python: gains, differences, notes, curves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.grades import Scale
from postil.data.rows import Passage
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.passages.calls import MEASURES, find_gains
from postil.passages.options import PassagesOptions
from postil.passages.result import Gain, GainDifference, smallest_p

if TYPE_CHECKING:
    from postil.passages.gain import PassageRanking

QUICK = PassagesOptions(resamples=20, pool="topic", measures=("f1-1",), k=(1, 2, 3))

# "ducks": R is {a, b, c}; F1 of p1 to p4 is 1, 2/4, 0 and 6/7. "bread": R is {m}; F1 is 1 and 0.
ROWS = """
ducks p1 1 a b c
ducks p2 2 a
ducks p3 0 x
ducks p4 0 a b c d
bread q1 1 m
bread q2 0 n
"""


def passages(rows: str = ROWS) -> list[Passage]:
    """A passage a line: topic, id, grade, words."""
    found = []
    for line in filter(None, rows.splitlines()):
        topic, name, grade, *words = line.split()
        found.append(Passage(topic, name, " ".join(words), grade=float(grade)))
    return found


class Found:
    """A result and its scores."""

    def __init__(self, rows: list[Passage], options: PassagesOptions) -> None:
        self.result, self.scored = find_gains(rows, options)
        self.notes, self.left_out = self.result.notes, self.result.data.left_out
        self.differences: tuple[GainDifference, ...] = self.result.differences
        self.names = list(dict.fromkeys(row.name for row in self.result.gains))
        self.k = tuple(dict.fromkeys(row.k for row in self.result.gains))

    def rows(self, name: str) -> list[Gain]:
        return [row for row in self.result.gains if row.name == name]


def asked(rows: str | list[Passage] = ROWS, **options: object) -> Found:
    given = passages(rows) if isinstance(rows, str) else rows
    return Found(given, replace(QUICK, **options))  # type: ignore[arg-type]


def ranking(found: Found, name: str) -> PassageRanking:
    (one,) = (each for each in found.scored.rankings if each.name == name)
    return one


def gains(found: Found, name: str = "f1-1") -> list[float]:
    return [row.ncg for row in found.rows(name)]


def values(found: Found, name: str) -> dict[str, float]:
    return dict(zip((row.id for row in found.scored.passages), ranking(found, name).values.tolist(), strict=True))


def test_gains_of_each_topic_by_hand() -> None:
    # ducks from the top: p1 p4 p2 p3, so 1/2, 1/3 and 3/3; bread: q1 q2, so 1 throughout
    found = asked()
    assert gains(found) == pytest.approx([(1 / 2 + 1) / 2, (1 / 3 + 1) / 2, 1.0])
    assert values(found, "f1-1") == pytest.approx({"p1": 1, "p2": 2 / 4, "p3": 0, "p4": 6 / 7, "q1": 1, "q2": 0})
    data = found.result.data
    assert (data.topics, data.informative, data.passages, len(found.scored.passages)) == (2, 3, 6, 6)


def test_gains_of_one_list_by_hand() -> None:
    # p1 and q1 share the first place, then p4, then p2: 1/2, 2/3, 2/4, 4/4
    assert gains(asked(pool="all", k=(1, 2, 3, 4))) == pytest.approx([1 / 2, 2 / 3, 2 / 4, 1.0])


def test_gains_without_itself_by_hand() -> None:
    # R of p1 is {a}, so 2/4, R of p2 {a, b, c}, so 2/4 as well; nothing is left for q1
    found = asked(leave_one_out=True)
    name = "f1-1, without itself"
    assert values(found, name)["q1"] is not None
    assert math.isnan(values(found, name).pop("q1"))
    assert values(found, name) | {"q1": 0.0} == pytest.approx(
        {"p1": 2 / 4, "p2": 2 / 4, "p3": 0, "p4": 6 / 7, "q1": 0, "q2": 0}
    )
    # ducks: p4, then p1 and p2 tied: 0/2, 1.5/3, 3/3; bread: q2 before q1: 0, 1
    assert gains(found, name) == pytest.approx([0.0, (1 / 2 + 1) / 2, 1.0])
    assert "passages with nothing left in their reference without themselves, ranked last: 1" in found.notes
    assert gains(found) == gains(asked())


def test_a_divergence_ranks_small_numbers_first() -> None:
    found = asked(measures=("kl-1", "js-1"))
    for name in ("kl-1", "js-1"):
        one = ranking(found, name)
        assert one.scores.tolist() == [-value for value in one.values]
        assert gains(found, name)[0] == pytest.approx(3 / 4)


def test_the_scales_of_grades_and_weights() -> None:
    """Gains are sums of grades, weights are shares of the highest: of the scale, or the highest there is."""
    usual, wide = (asked(measures=("w-f1-1", "w-kl-1"), scale=scale) for scale in (None, Scale(0, 4)))
    assert (usual.result.data.scale, wide.result.data.scale) == ("0:2", "0:4")
    f1, kl = ("w-f1-1, without itself", "w-kl-1, without itself")
    for passage, value in values(usual, f1).items():
        assert values(wide, f1)[passage] == pytest.approx(value / 2, nan_ok=True)
    assert values(wide, kl) == pytest.approx(values(usual, kl), nan_ok=True)
    assert gains(wide, f1) == gains(usual, f1)
    assert "|scale:0:4|" in ranking(wide, f1).signature
    # d of p4 is outside; a, b, c weigh 1/2 of p1 and a weighs 2/2 of p2
    assert values(usual, f1)["p4"] == pytest.approx(2 * (1 + 1 / 2 + 1 / 2) / 7)


def test_what_is_computed_where_nothing_is_named() -> None:
    found = asked(measures=(), leave_one_out=True)
    weighted = [f"w-{name}, without itself" for name in MEASURES[:3]]
    assert len(MEASURES) == 9
    assert found.names == [
        *MEASURES,
        "length",
        "random",
        *(f"{name}, without itself" for name in MEASURES),
        *weighted,
    ]
    assert asked(measures=()).names == [*MEASURES, "length", "random", *weighted]
    assert not any(each.leave_one_out for each in found.scored.rankings if each.is_baseline)


@pytest.mark.parametrize(
    ("pool", "n", "k"),
    [("all", 6, (1,)), ("all", 150, (10, 100)), ("all", 100, (10,)), ("topic", 21, (5, 10, 20)), ("topic", 3, (1,))],
)
def test_cutoffs_where_none_are_named(pool: str, n: int, k: tuple[int, ...]) -> None:
    """None takes a whole list: that gains everything, whatever the measure."""
    rows = [Passage("t", str(i), f"w{i % 7}", grade=i % 2) for i in range(n)]
    assert asked(rows, pool=pool, k=()).k == k


def test_cutoffs_are_sorted_and_none_is_shown_twice() -> None:
    assert asked(k=(3, 1, 3)).k == (1, 3)


def test_a_cutoff_beyond_the_list_takes_all_of_it() -> None:
    assert gains(asked(k=(6, 1000), pool="all")) == [1.0, 1.0]


def test_a_topic_without_informative_passages() -> None:
    found = asked(f"{ROWS}\nmoss r1 0 a\nmoss r2 0 b")
    assert gains(found) == gains(asked())
    (left,) = found.left_out
    assert str(left) == "topics without a passage above grade 0, not ranked: 1 (moss)"
    assert {row.topic for row in found.scored.passages} == {"ducks", "bread"}


def test_a_topic_without_informative_passages_among_others() -> None:
    """Its passages are scored by those of other topics; as a list of its own it has no gain."""
    rows = f"{ROWS}\nmoss r1 0 a\nmoss r2 0 b"
    together, apart = (asked(rows, reference="others", pool=pool) for pool in ("all", "topic"))
    assert together.left_out == ()
    assert together.result.data.passages == apart.result.data.passages == 8
    assert [str(left) for left in apart.left_out] == ["topics without a passage above grade 0, not ranked: 1 (moss)"]


def test_passages_without_units_rank_last_and_are_named() -> None:
    found = asked(f"{ROWS}\nducks p5 0 ...\nducks p6 1 ,", measures=("kl-1", "f1-2", "f1-sk(upto=true)"))
    assert values(found, "kl-1")["p5"] == values(found, "kl-1")["p6"] == math.inf
    named = "p2 of ducks, p3 of ducks, p5 of ducks, p6 of ducks, q1 of bread and 1 more"
    assert [str(left) for left in found.left_out] == [
        "passages without a unit of 1, ranked last: 2 (p5 of ducks, p6 of ducks)",
        f"passages without a unit of 2, ranked last: 6 ({named})",
        f"passages without a unit of sk, ranked last: 6 ({named})",
    ]


def test_one_topic_has_gains_and_no_intervals() -> None:
    found = asked([row for row in passages() if row.topic == "ducks"], measures=("f1-1", "kl-1"))
    assert gains(found) == pytest.approx([1 / 2, 1 / 3, 1.0])
    assert found.result.gains[0].low is None
    assert found.differences == ()
    assert found.notes[0] == "one topic: no intervals and no tests"


# Interestingness


OTHERS = """
ducks p1 1 a b
ducks p2 0 c d
bread q1 1 c d
bread q2 0 a b
moss r1 1 c x
"""


def test_the_reference_is_of_other_topics() -> None:
    found = asked(OTHERS, reference="others")
    assert found.names == ["f1-1, without itself"]
    assert values(found, "f1-1, without itself") == pytest.approx(
        {
            "p1": 0.0,  # of {c, d, x}: q1 and r1
            "p2": 2 * 1 / (2 + 2),  # of {c, x}, since q1 says the same as p2
            "q1": 2 * 1 / (2 + 4),  # of {a, b, c, x}: p1 and r1
            "q2": 0.0,  # of {c, x}, since p1 says the same
            "r1": 2 * 1 / (2 + 4),  # of {a, b, c, d}
        }
    )
    assert gains(found, "f1-1, without itself") == pytest.approx([2 / 3, 1.0, 1.0])


def test_equal_texts_may_stay_in_the_reference() -> None:
    found = asked(OTHERS, reference="others", equal_texts="stay", measures=("f1-1", "w-f1-1", "length"))
    assert found.names == ["f1-1", "w-f1-1", "length"]
    assert values(found, "f1-1") == pytest.approx(
        {
            "p1": 0.0,  # of {c, d, x}: q1 and r1
            "p2": 2 * 2 / (2 + 3),  # of {c, d, x}: q1 says the same as p2
            "q1": 2 * 1 / (2 + 4),
            "q2": 2 * 2 / (2 + 4),  # of {a, b, c, x}: p1 says the same
            "r1": 2 * 1 / (2 + 4),
        }
    )
    assert "|itself:in|" in found.rows("f1-1")[0].signature
    both = asked(OTHERS, reference="others", equal_texts="stay", leave_one_out=True)
    assert both.names == ["f1-1", "f1-1, without itself"]
    assert values(both, "f1-1, without itself") == values(asked(OTHERS, reference="others"), "f1-1, without itself")


def test_repeated_texts_may_count_once() -> None:
    rows = f"{OTHERS}\nlake s1 2 c d\nlake s2 1 y"
    each, once = (asked(rows, reference="others", repeated_texts=how, measures=("kl-1",)) for how in ("each", "once"))
    # Of r1 the reference is a b, c d, c d, y; or a b, c d, y.
    name = "kl-1, without itself"
    assert values(each, name)["r1"] != values(once, name)["r1"]
    alone = "\n".join(line for line in rows.splitlines() if not line.startswith("bread q1"))
    assert "|repeated-texts:once|" in once.rows(name)[0].signature
    assert "repeated-texts" not in each.rows(name)[0].signature
    same = asked(alone, reference="others", repeated_texts="once", measures=("f1-1",))
    f1 = "f1-1, without itself"
    assert values(same, f1)["r1"] == pytest.approx(
        values(asked(rows, reference="others", repeated_texts="once", measures=("f1-1",)), f1)["r1"]
    )


def test_texts_are_equal_whose_words_are() -> None:
    rows = passages(OTHERS)
    rows[1] = Passage("ducks", "p2", "C, D!", grade=0)
    assert gains(asked(rows, reference="others"), "f1-1, without itself") == gains(
        asked(OTHERS, reference="others"), "f1-1, without itself"
    )


def test_texts_with_the_same_anchors_may_differ() -> None:
    """They stay in one another's reference; a copy with another mark or space does not."""
    rows = [
        Passage("ducks", "p1", "Ducks moult.", ("duck",), 1),
        Passage("bread", "q1", "We feed ducks.", ("Duck",), 1),
        Passage("moss", "r1", "ducks  moult.", ("duck",), 0),
        Passage("moss", "r2", "Stones.", (), 0),
    ]
    found = asked(rows, reference="others", anchors=True, measures=("f1-1", "kl-1"))
    assert values(found, "f1-1, without itself") == {"p1": 1.0, "q1": 1.0, "r1": 1.0, "r2": 0.0}
    assert values(found, "kl-1, without itself")["r2"] == math.inf
    only = asked(
        [row for row in rows if row.id != "q1"] + [Passage("tea", "s1", "Tea.", (), 1)],
        reference="others",
        anchors=True,
    )
    assert math.isnan(values(only, "f1-1, without itself")["r1"])


def test_intervals_of_one_list_are_over_folds() -> None:
    rows = [Passage(f"t{i % 9}", str(i), f"w{i % 5} v{i % 7}", grade=i % 3) for i in range(90)]
    one_list, lists = (asked(rows, reference="others", folds=3, pool=pool).scored for pool in ("all", "topic"))
    assert len(np.unique(one_list.groups)) == 3
    assert len(np.unique(lists.groups)) == 9
    folds = dict(zip((row.topic for row in one_list.passages), one_list.groups.tolist(), strict=True))
    ordered = asked(rows, reference="others", folds=3, pool="all", folds_by="order").scored
    assert dict(zip((row.topic for row in ordered.passages), ordered.groups.tolist(), strict=True)) == {
        f"t{i}": i % 3 for i in range(9)
    }
    assert sorted(folds.values()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert "|folds:3|folds-by:seed|seed:20181|" in one_list.rankings[0].signature
    assert "|folds" not in asked(rows).result.gains[0].signature


# Words


def test_stop_words_go_and_stems_are_taken() -> None:
    rows = [Passage("t", "1", "The duck swims", grade=1), Passage("t", "2", "ducks swimming, the", grade=0)]
    plain = values(asked(rows), "f1-1")["2"]
    stopped = values(asked(rows, stop="en"), "f1-1")["2"]
    stemmed = values(asked(rows, stop="en", stem="porter"), "f1-1")["2"]
    assert (plain, stopped, stemmed) == (pytest.approx(2 * 1 / 6), 0.0, 1.0)
    signature = asked(rows, stop="en", stem="porter").result.gains[0].signature
    assert "|words:words-2|stop:en-" in signature
    assert "|stem:porter-" in signature


def test_pairs_close_over_stop_words() -> None:
    rows = [Passage("t", "1", "eclipse of the drake", grade=1), Passage("t", "2", "eclipse drake", grade=0)]
    assert values(asked(rows, measures=("f1-2",)), "f1-2")["2"] == 0.0
    assert values(asked(rows, measures=("f1-2",), stop="en"), "f1-2")["2"] == 1.0


def test_anchors_are_words_in_lower_case_with_single_spaces() -> None:
    rows = [Passage("t", "1", "x", ("Water  Bird", "duck"), 1), Passage("t", "2", "y", ("water bird",), 0)]
    found = asked(rows, anchors=True)
    assert values(found, "f1-1")["2"] == pytest.approx(2 / 3)
    assert "|words:anchors|" in found.result.gains[0].signature
    with pytest.raises(UsageError, match=r"^anchors: no passage has any"):
        asked(anchors=True)


def test_han_text_wants_another_tokenizer() -> None:
    rows = [*passages(), Passage("ducks", "zh", "鸭子是鸟", grade=0)]
    with pytest.raises(InvalidInput, match=r"passages:7: text: .*jieba"):
        asked(rows)
    assert values(asked(rows, tokenizer="characters"), "f1-1")["zh"] == 0.0
    many = [*passages(), *(Passage("ducks", f"more {n}", "a duck", grade=0) for n in range(4)), rows[-1]]
    found = asked(many)
    assert found.notes[0].startswith("1 of 11 passages is Han text, which the tokenizer words does not split")
    assert values(found, "f1-1")["zh"] == 0.0


# Differences


def test_rankings_of_one_protocol_are_compared() -> None:
    found = asked(measures=("f1-1", "kl-1", "w-f1-1", "length"), leave_one_out=True, k=(1,))
    inside = {"f1-1", "kl-1"}
    outside = {f"{name}, without itself" for name in ("f1-1", "kl-1", "w-f1-1")}
    pairs = {frozenset((row.first, row.second)) for row in found.differences}
    assert pairs == {
        frozenset(pair)
        for some in (inside | {"length"}, outside | {"length"})
        for pair in ((a, b) for a in some for b in some if a != b)
    }
    for row in found.differences:
        assert row.value == pytest.approx(gains(found, row.first)[0] - gains(found, row.second)[0])
        assert row.test == "sign-flip"
    assert {row.test for row in asked(measures=("f1-1", "kl-1"), pool="all").differences} == {"bootstrap"}


def test_one_measure_is_compared_with_nothing() -> None:
    assert asked().differences == ()


def many(topics: int) -> list[Passage]:
    return [Passage(f"t{i % topics}", str(i), f"w{i % 5} v{i % 7}", grade=i // topics % 3) for i in range(10 * topics)]


def unlike(topics: int) -> list[Passage]:
    """In every topic the longest passage is the informative one."""
    texts = (("a b c", 1), ("a", 0))
    return [Passage(f"t{t}", str(i), text, grade=grade) for t in range(topics) for i, (text, grade) in enumerate(texts)]


def test_too_few_resamples_to_show_anything_are_noted() -> None:
    """The smallest p of 20 resamples is 2 / 21."""
    one_list = {"measures": ("f1-1", "kl-1"), "pool": "all"}
    (note,) = asked(many(7), **one_list).notes
    assert note == (
        "20 resamples cannot show a difference after Holm's correction for 1 pair; look at the intervals, or rank by "
        'pool="topic", which has a test by sign flips'
    )
    # 2 / 40 is .05 and not below it
    assert asked(many(7), **one_list, resamples=39).notes == (note.replace("20", "39"),)
    assert asked(many(7), **one_list, resamples=40).notes == ()
    (note,) = asked(many(7), measures=("f1-1", "kl-1", "js-1"), pool="all", resamples=100).notes
    assert 'for 3 pairs; look at the intervals, or name fewer measures, or rank by pool="topic"' in note


def test_too_few_topics_for_sign_flips_are_noted() -> None:
    """2 / 2**5 is above .05, 2 / 2**6 is below, and 3 times that is not."""
    two, three = ("f1-1", "kl-1"), ("f1-1", "kl-1", "js-1")
    said = "sign flips of {} topics cannot show a difference after Holm's correction for {}; look at the intervals"
    assert asked(many(5), measures=two).notes == (said.format(5, "1 pair"),)
    assert asked(many(6), measures=two).notes == ()
    assert asked(many(6), measures=three).notes == (f"{said.format(6, '3 pairs')}, or name fewer measures",)
    for topics in range(2, 9):
        found = asked(unlike(topics), measures=("length", "length(inverse=false)"), k=(1,))
        assert [row.p for row in found.differences] == [smallest_p(topics, None)]


def test_topics_that_are_not_ranked_are_not_flipped() -> None:
    poor = [Passage(f"poor{i}", "1", "w1 v1", grade=0) for i in range(3)]
    for reference in ("topic", "others"):
        notes = asked([*many(5), *poor], measures=("f1-1", "kl-1"), reference=reference).notes
        assert any(note.startswith("sign flips of 5 topics cannot show") for note in notes), reference


def test_too_many_pairs_for_the_drawn_sign_flips_are_noted() -> None:
    """1 / 10,001 times 496 pairs is below .05, times 528 it is not."""
    measures = tuple(f"f1-1(beta={n})" for n in range(1, 34))
    assert asked(many(14), measures=measures[:32], k=(1,)).notes == ()
    (note,) = asked(many(14), measures=measures, k=(1,)).notes
    assert note == (
        "10,000 sign flips cannot show a difference after Holm's correction for 528 pairs; look at the intervals, or "
        "name fewer measures"
    )


def test_a_bootstrap_over_a_handful_is_noted() -> None:
    few = "a bootstrap over {}: its intervals are too narrow"
    assert asked(many(4)).notes == (few.format("4 topics"),)
    assert asked(many(5)).notes == ()
    stars = ", and its stars mean little"
    two = {"measures": ("f1-1", "kl-1"), "pool": "all", "resamples": 50}
    assert asked(many(4), **two).notes == (few.format("4 topics") + stars,)
    assert asked(many(9), **two, reference="others", folds=4).notes == (few.format("4 folds") + stars,)
    assert asked(many(9), **two, reference="others", folds=5).notes == ()
    assert asked(many(4), measures=("f1-1", "kl-1")).notes[0] == few.format("4 topics")


# Lines, jobs, seeds


def test_lines_go_from_the_first_passage_to_all() -> None:
    rows = [Passage(f"t{i % 4}", str(i), f"w{i % 5} v{i % 11}", grade=i % 3) for i in range(400)]
    found = asked(rows, pool="all", measures=("f1-1", "length"))
    assert [line.measure for line in found.result.lines] == found.names
    for line in found.result.lines:
        assert (line.k[0], line.k[-1]) == (1, 400)
        assert list(line.k) == sorted(set(line.k))
        assert line.ncg[-1] == pytest.approx(1.0)
        assert line.ncg[0] == gains(found, line.measure)[0]


def test_jobs_change_no_bit() -> None:
    rng = np.random.default_rng(1)
    rows = [
        Passage(f"t{i % 5}", str(i), " ".join(f"w{w}" for w in rng.integers(0, 40, 12)), grade=int(rng.integers(0, 3)))
        for i in range(200)
    ]
    for reference in ("topic", "others"):
        one, three = (asked(rows, measures=(), leave_one_out=True, reference=reference, jobs=j) for j in (1, 3))
        for a, b in zip(one.scored.rankings, three.scored.rankings, strict=True):
            assert a.name == b.name
            assert a.values.tobytes() == b.values.tobytes()
        assert one.result == three.result


def test_the_order_of_rows_does_not_matter() -> None:
    rows = passages()
    assert gains(asked(rows[::-1], leave_one_out=True)) == pytest.approx(gains(asked(rows, leave_one_out=True)))
    assert values(asked(rows[::-1]), "f1-1") == pytest.approx(values(asked(rows), "f1-1"))


def test_a_measure_asked_for_twice_is_shown_once() -> None:
    assert asked(measures=("f1-1", "kl-1", "f1-1")).names == ["f1-1", "kl-1"]


# What cannot be


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"reference": "other"}, UnknownName, "unknown reference 'other'; did you mean 'others'?"),
        ({"pool": "topics"}, UnknownName, "unknown pool 'topics'; did you mean 'topic'?"),
        ({"folds_by": "sed"}, UnknownName, "unknown way to make folds 'sed'; did you mean 'seed'?"),
        ({"repeated_texts": "one"}, UnknownName, "unknown way to pool repeated texts 'one'; did you mean 'once'?"),
        ({"equal_texts": "say"}, UnknownName, "unknown way with equal texts 'say'; did you mean 'stay'?"),
        ({"k": (0,)}, UsageError, "k: expected at least 1, got 0"),
        ({"resamples": 0}, UsageError, "resamples: expected at least 1, got 0"),
        ({"strata_k": 0}, UsageError, "strata_k: expected at least 1, got 0"),
        ({"folds": 1}, UsageError, "folds: expected at least 2, got 1"),
        ({"measures": ("f1",)}, UnknownName, "unknown measure 'f1'"),
        ({"stem": "portr"}, UnknownName, "unknown stemmer 'portr'; did you mean 'porter'?"),
        ({"stop": "english"}, UnknownName, "unknown stop list 'english'"),
        ({"tokenizer": "word"}, UnknownName, "unknown tokenizer 'word'; did you mean 'words'?"),
    ],
)
def test_requests_that_cannot_be(options: dict[str, object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        asked(**options)
    assert str(caught.value).startswith(message)


def graded(grade: float | None, name: str = "p9") -> Passage:
    return Passage("ducks", name, "a", grade=grade)


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (graded(None), {}, "passages:7: grade: expected a grade, got none; gains are sums of grades"),
        (graded(-1), {}, "passages:7: grade: expected a number of at least 0, and at most 1e+100, got -1"),
        (graded(1e200), {}, "passages:7: grade: expected a number of at least 0, and at most 1e+100, got 1e+200"),
        (graded(3), {"scale": Scale(0, 2)}, "passages:7: grade: expected a number from 0 to 2, got 3"),
        (graded(0), {"scale": Scale(0, 1)}, "passages:2: grade: expected a number from 0 to 1, got 2"),
        (graded(1, "p1"), {}, 'passages:7: id: a second passage "p1" of topic "ducks"; ids are unique in a topic'),
    ],
)
def test_passages_that_cannot_be(row: Passage, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked([*passages(), row], **options)
    assert str(caught.value).startswith(message)


def test_the_same_id_in_two_topics_is_two_passages() -> None:
    assert len(asked("ducks 1 1 a\nbread 1 1 b").scored.passages) == 2


def test_numbers_that_do_not_exist() -> None:
    with pytest.raises(InvalidInput, match="expected passages, got none"):
        asked([])
    with pytest.raises(Undefined, match="every grade is 0, so there is nothing to gain"):
        asked("ducks 1 0 a\nbread 1 0 b")
    with pytest.raises(Undefined, match="two topics at least, and there is one"):
        asked("ducks 1 1 a\nducks 2 0 b", reference="others")
    with pytest.raises(Undefined, match='in the fold of "bread", so its passages have no reference'):
        asked("ducks 1 0 a\nbread 2 1 b", reference="others")
