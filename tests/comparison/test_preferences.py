"""Systems by paired preferences: numbers of small tables, coverage of intervals, the command."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil as package
from postil.comparison.preferences import preferred_systems
from postil.comparison.result import PreferencesResult
from postil.data.row_files import write
from postil.data.rows import PairPreference
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import Postil


STRENGTHS = {"x": 0.8, "y": 0.0, "z": -0.8}


def rows(choices: str, a: str = "base", b: str = "new", first: int = 0) -> list[PairPreference]:
    """One preference per letter (t for a tie), each of an item of its own."""
    of = {"a": "a", "b": "b", "t": "tie"}
    return [
        PairPreference(str(first + n), a, b, "ann", of[choice])  # type: ignore[arg-type]
        for n, choice in enumerate(choices)
    ]


def simulated(random: np.random.Generator, items: int, strengths: Mapping[str, float]) -> list[PairPreference]:
    found = []
    for item in range(items):
        for a, b in combinations(strengths, 2):
            odds = np.exp([strengths[a], (strengths[a] + strengths[b]) / 2 - 1, strengths[b]])
            choice = ["a", "tie", "b"][random.choice(3, p=odds / odds.sum())]
            found.append(PairPreference(str(item), a, b, "ann", choice))  # type: ignore[arg-type]
    return found


def by_name(found: PreferencesResult) -> dict[str, float]:
    return {row.system: row.strength for row in found.systems}


def test_two_systems_by_hand() -> None:
    found = preferred_systems(rows("aaabattab" + "a" * 12))
    best, other = found.systems
    assert (best.system, best.wins, best.ties, best.losses, best.n) == ("base", 17, 2, 2, 21)
    assert (other.wins, other.ties, other.losses) == (2, 2, 17)
    assert best.win_rate == 18 / 21
    pair = found.pairs[0]
    assert pair.difference == pytest.approx(math.log(17 / 2))
    assert best.strength == pytest.approx(-other.strength)
    assert found.tie_parameter == pytest.approx(2 / math.sqrt(17 * 2))
    assert pair.expected == pytest.approx(pair.win_rate)
    assert pair.p_fit is None  # two systems always fit
    assert (best.rank_low, best.rank_high, best.letters, other.letters) == (1, 1, "a", "b")
    assert found.left is None


def test_turned_rows_and_their_order_change_nothing() -> None:
    some = simulated(np.random.default_rng(1), 30, STRENGTHS)
    turned = [
        PairPreference(row.item, row.system_b, row.system_a, "ann", {"a": "b", "b": "a", "tie": "tie"}[row.preference])
        for row in some
    ]
    one, other = (by_name(preferred_systems(each, draws=Draws(resamples=5))) for each in (some, turned[::-1]))
    assert one == pytest.approx(other)


def test_a_baseline_has_strength_0() -> None:
    some = simulated(np.random.default_rng(1), 30, STRENGTHS)
    found = preferred_systems(some, "y", draws=Draws(resamples=20))
    base = next(row for row in found.systems if row.system == "y")
    assert (base.strength, base.low, base.high) == (0.0, 0.0, 0.0)
    plain = by_name(preferred_systems(some, draws=Draws(resamples=20)))
    assert by_name(found) == pytest.approx({name: value - plain["y"] for name, value in plain.items()})


def test_a_system_that_always_wins_has_a_finite_strength_and_an_honest_interval() -> None:
    few, many = (preferred_systems(rows("a" * n), draws=Draws(resamples=50)) for n in (2, 40))
    for found in (few, many):
        assert found.separated
        assert "go by win rates" in found.notes[0]
        assert all(map(math.isfinite, (found.pairs[0].difference, found.pairs[0].low or 0, found.pairs[0].high or 0)))
    assert few.pairs[0].p > 0.2  # two of two prove nothing, although all resamples are alike
    assert many.pairs[0].p < 0.01
    assert many.systems[0].win_rate == 1.0


def test_ties_alone_are_no_difference() -> None:
    found = preferred_systems(rows("tttt"), draws=Draws(resamples=20))
    assert [row.strength for row in found.systems] == pytest.approx([0, 0], abs=1e-9)
    assert (found.systems[0].letters, found.pairs[0].p) == ("a", pytest.approx(1))


def test_one_item_has_no_interval() -> None:
    found = preferred_systems([PairPreference("1", "a", "b", f"A{n}", "ab"[n % 2]) for n in range(4)])  # type: ignore[arg-type]
    assert (found.systems[0].low, found.systems[0].win_low, found.pairs[0].p, found.pairs[0].p_holm) == (None,) * 4
    assert "an interval needs preferences for two items" in found.notes


def test_a_cycle_does_not_fit() -> None:
    some = [*rows("a" * 25 + "b" * 5, "x", "y"), *rows("a" * 25 + "b" * 5, "y", "z", 30)]
    found = preferred_systems([*some, *rows("b" * 25 + "a" * 5, "x", "z", 60)], draws=Draws(resamples=100))
    assert [row.strength for row in found.systems] == pytest.approx([0, 0, 0], abs=1e-8)
    assert sum("no single order of the systems explains" in note for note in found.notes) == 3
    fits = preferred_systems(simulated(np.random.default_rng(2), 100, STRENGTHS), draws=Draws(resamples=100))
    assert fits.notes == ()


def test_pairs_that_were_not_compared_are_named() -> None:
    found = preferred_systems([*rows("aab" * 9, "x", "y"), *rows("aab" * 9, "y", "z", 50)], draws=Draws(resamples=50))
    far = next(row for row in found.pairs if (row.first, row.second) == ("x", "z"))
    assert (far.n, far.win_rate, far.p_fit) == (0, None, None)
    assert far.difference == pytest.approx(2 * math.log(2))
    assert "pairs without a preference, whose difference rests on other pairs: 1 (x and z)" in found.notes


def test_the_side_is_that_of_decided_preferences() -> None:
    sides = [("a", "a"), ("b", "b"), ("a", "b"), ("tie", "a"), ("b", None)]
    found = preferred_systems(
        [
            PairPreference(str(n), "x", "y", "ann", choice, left)  # type: ignore[arg-type]
            for n, (choice, left) in enumerate(sides)
        ]
    )
    assert found.left.value == pytest.approx(2 / 3)


def test_intervals_cover_the_strengths_that_rows_are_drawn_with() -> None:
    random = np.random.default_rng(5)
    covered = []
    for _ in range(60):
        found = preferred_systems(simulated(random, 40, STRENGTHS), draws=Draws(resamples=100))
        covered += [(row.low or 0) <= STRENGTHS[row.system] <= (row.high or 0) for row in found.systems]
    assert np.mean(covered) > 0.88


def test_equal_systems_are_seldom_told_apart() -> None:
    random = np.random.default_rng(6)
    equal = dict.fromkeys("xyz", 0.0)
    found = [preferred_systems(simulated(random, 30, equal), draws=Draws(resamples=60)) for _ in range(60)]
    assert sum(len({row.letters for row in each.systems}) > 1 for each in found) <= 7


def test_refused() -> None:
    with pytest.raises(Undefined, match="no preference connects x, y with v, w, so their strengths cannot be"):
        preferred_systems([*rows("ab", "x", "y"), *rows("ab", "v", "w", 5)])
    with pytest.raises(Undefined, match="there is no preference"):
        preferred_systems([])
    with pytest.raises(UnknownName, match="unknown system 'nw'"):
        preferred_systems(rows("ab"), "nw")
    with pytest.raises(UsageError, match="at least one resample"):
        preferred_systems(rows("ab"), draws=Draws(resamples=0))
    again = PairPreference("0", "new", "base", "ann", "b")
    with pytest.raises(InvalidInput, match=r":3: expected one preference of ann for new and base of item 0, got"):
        preferred_systems([*rows("ab"), again])


COMMAND = ("compare", "--preferences", "pairs.jsonl", "--resamples", "100")
CHOICES = {"human new": "aaaatabaaaab", "human old": "aaaaabaatbaa", "new old": "abataabaabaa"}


def pairs() -> None:
    """Twelve preferences of each pair of three systems, with the sides of the texts."""
    of = {"a": "a", "b": "b", "t": "tie"}
    rows = [
        PairPreference(str(n), *names.split(), "A1", of[choice], "ab"[n % 2])  # type: ignore[arg-type, call-arg, misc]
        for names, choices in CHOICES.items()
        for n, choice in enumerate(choices)
    ]
    write("pairs.jsonl", rows)


TABLE = """\
human has the highest strength, and no system is significantly below it

36 preferences of 1 annotator for 12 items; strengths are natural logarithms, their mean is 0

system               strength           win rate  wins  ties  losses  rank  group
------  ---------------------  -----------------  ----  ----  ------  ----  -----
human     1.020 [.561, 2.221]  .792 [.688, .928]    18     2       4   1-3      a
new       -.149 [-.680, .365]  .458 [.311, .594]    10     2      12   1-3      a
old     -.871 [-2.115, -.161]  .250 [.083, .448]     5     2      17   1-3      a

system  against  wins  ties  losses  win rate  by strengths  difference of strengths  p (Holm)
------  -------  ----  ----  ------  --------  ------------  -----------------------  --------
human       new     9     1       2      .792          .740      1.168 [.470, 2.404]    0.0950
human       old     9     1       2      .792          .843      1.891 [.754, 4.230]    0.0822
new         old     8     1       3      .708          .657      .722 [-.298, 2.297]    0.2973

0 of 3 differences are significant (Holm-adjusted p < .05)
ties: two equal systems tie in 10 % of cases by the model of Davidson
text on the left preferred: .576 [.358, .825] of those decided
note: intervals of fewer than 20 items are too narrow
seed 20181, 100 resamples of the items; Holm-adjusted for pairs of systems
"""


def test_table(postil: Postil) -> None:
    pairs()
    outcome = postil(*COMMAND)
    assert outcome.code == 0, outcome.err
    assert outcome.out == TABLE


def test_python_and_the_command_say_the_same(postil: Postil) -> None:
    pairs()
    outcome = postil(*COMMAND, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = PreferencesResult.from_json(outcome.out)
    assert found.settings.command == f"postil {' '.join(COMMAND)} --format json"
    rows = [json.loads(line) for line in Path("pairs.jsonl").read_text("utf-8").splitlines()]
    same = package.compare_preferences(rows, options=package.CompareOptions(resamples=100))
    assert (same.systems, same.pairs, same.left) == (found.systems, found.pairs, found.left)
    assert "seed 20181, 100 resamples of the items" in postil(*COMMAND, "--format", "csv").err


def test_a_file_from_standard_input_under_other_names_with_a_baseline(postil: Postil) -> None:
    pairs()
    data = Path("pairs.jsonl").read_bytes().replace(b'"preference"', b'"winner"')
    rest = ("--column", "preference=winner", "--format", "jsonl", "--resamples", "9", "--baseline", "old")
    outcome = postil("compare", "--preferences", "-", *rest, stdin=data)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out.splitlines()[-1]) | {"strength": 0.0} == json.loads(outcome.out.splitlines()[-1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("s.jsonl", "--preferences", "pairs.jsonl"), "--preferences FILE takes the place of SCORES; give one of them"),
        (
            ("--interleaved", "log.jsonl", "--preferences", "pairs.jsonl"),
            "--preferences FILE takes the place of --interleaved LOG; give one of them",
        ),
        (
            ("--preferences", "pairs.jsonl", "--item-means"),
            "--preferences: only --baseline, --resamples, --seed and options of reading files go with it",
        ),
        (
            ("--preferences", "pairs.jsonl", "--metric-columns", "a"),
            "--metric-columns goes with files of scores, not with --preferences",
        ),
        (("--preferences", "pairs.jsonl", "--baseline", "od"), "unknown system 'od'; did you mean 'old'?"),
    ],
)
def test_what_does_not_go_together(postil: Postil, words: tuple[str, ...], said: str) -> None:
    pairs()
    outcome = postil("compare", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"postil: {said}")


def test_what_cannot_be_compared_is_said(postil: Postil) -> None:
    pairs()
    first = Path("pairs.jsonl").read_text("utf-8").splitlines()[0]
    Path("pairs.jsonl").write_text(f"{first}\n\n{first}\n")
    outcome = postil(*COMMAND)
    problem = "expected one preference of A1 for human and new of item 0, got another one on line 1"
    assert (outcome.code, outcome.err) == (3, f"postil: pairs.jsonl:3: annotator: {problem}\n")
    write("pairs.jsonl", [PairPreference("1", *"ab", "A1", "a"), PairPreference("1", *"cd", "A1", "a")])
    assert "pairs.jsonl: no preference connects a, b with c, d" in postil(*COMMAND).err


def test_a_report_has_the_tables_and_the_picture(postil: Postil) -> None:
    pairs()
    Path("found.json").write_text(postil(*COMMAND, "--format", "json").out)
    outcome = postil("report", "found.json", "--out", "report.html")
    assert outcome.code == 0, outcome.err
    page = Path("report.html").read_text("utf-8")
    assert "Paired preferences" in page
    assert "Strengths of systems by paired preferences" in page
