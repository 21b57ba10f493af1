"""Models by what readers did with their suggestions: preferences by hand, by definition, by command."""

from __future__ import annotations

import json
from itertools import product
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import postil as package
from postil.comparison.interleaved import LEAST_P, interleaved_preferences, sign_flip_p, sign_test
from postil.comparison.result import InterleavingResult
from postil.data.row_files import write
from postil.data.row_locations import RowLocations
from postil.data.suggestions import Impression
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Outcome, Postil
    from postil.comparison.result import Preference


BOTH = ("base", "new")


def rows_of(*rows: tuple[str, Sequence[int | None], dict[str, tuple[int, ...]]]) -> list[Impression]:
    return [
        Impression(str(number), article, BOTH, tuple(teams), **{"clicked": (), **events})
        for number, (article, teams, events) in enumerate(rows)
    ]


BY_HAND = rows_of(
    ("a", (0, 1), {"clicked": (2,)}),  # new wins
    ("a", (1, 0), {"clicked": (1,), "answered": (1,)}),  # new wins, by two
    ("b", (1, 0), {"clicked": (2,)}),  # base wins
    ("b", (0, 1), {"clicked": (1, 2)}),  # a tie
    ("c", (0, 1), {"hidden": (1,)}),  # new wins: base is hidden
    ("c", (1, 0), {"clicked": (1,), "hidden": (1,)}),  # a tie: nobody has credit
    ("d", (0, 1), {}),  # nothing was done
    ("d", (0, 1, None), {"clicked": (3,)}),  # at a suggestion of neither
)


def by_measure(rows: Sequence[Preference]) -> dict[str, Preference]:
    return {row.measure: row for row in rows}


def test_credit_by_hand() -> None:
    found = interleaved_preferences(BY_HAND, "base")
    rows = by_measure(found.rows)
    counts = {name: (row.impressions, row.wins, row.ties, row.losses) for name, row in rows.items()}
    assert counts == {"credit": (6, 3, 2, 1), "clicked": (5, 3, 1, 1), "answered": (1, 1, 0, 0), "hidden": (2, 1, 0, 1)}
    events = {name: (row.model_events, row.baseline_events) for name, row in rows.items()}
    # New: 4 clicks, an answer, one hidden. Base: 2 clicks, one hidden.
    assert events == {"credit": (4, 1), "clicked": (4, 2), "answered": (1, 0), "hidden": (1, 1)}
    credit = rows["credit"]
    assert (credit.model, credit.baseline) == ("new", "base")
    assert credit.preference == pytest.approx((3 + 2 / 2) / 6 - 0.5)
    assert credit.share == 3 / 4
    assert credit.p_sign == pytest.approx(0.625)  # 2 (1 + 4) / 2^4
    # Wins less losses are 2, -1 and 1, in all 2; of the signs of 2, 1 and 1 six in eight sum up to 2 or more.
    assert credit.p_articles == pytest.approx(0.75)
    assert (rows["answered"].low, rows["answered"].high) == (None, None)
    (pair,) = found.pairs
    assert (pair.impressions, pair.shown, pair.outcomes, pair.articles) == (8, 8, 6, 4)
    assert pair.balanced
    assert found.notes == (
        "events at suggestions of neither model, not counted: 1",
        "an interval needs impressions with an event of two articles",
        "new against base: intervals of fewer than 20 articles are too narrow; p (articles) holds",
    )
    ranks = [(row.rank, row.of_model, row.of_baseline, row.model_clicked, row.baseline_clicked) for row in found.ranks]
    assert ranks == [(1, 3, 5, 2, 1), (2, 5, 3, 2, 1)]
    assert found.ranks[0].p_balance == 1.0  # only the article d has one model more often than the other


def test_the_other_baseline_turns_all_numbers() -> None:
    ahead, back = (interleaved_preferences(BY_HAND, name) for name in BOTH)
    for one, other in zip(ahead.rows, back.rows, strict=True):
        assert (one.model, one.baseline) == (other.baseline, other.model)
        assert (one.wins, one.losses, one.preference) == (other.losses, other.wins, pytest.approx(-other.preference))
        assert (one.model_events, one.p_sign, one.p_articles) == (other.baseline_events, other.p_sign, other.p_articles)
    for first, second in zip(ahead.ranks, back.ranks, strict=True):
        assert (first.of_model, first.model_hidden) == (second.of_baseline, second.baseline_hidden)


def test_models_in_either_order_are_one_pair() -> None:
    turned = [
        Impression(
            f"t{row.impression}", row.article, BOTH[::-1], _turned(row), row.clicked, True, row.answered, row.hidden
        )
        for row in BY_HAND
    ]
    twice = interleaved_preferences([*BY_HAND, *turned])
    once = interleaved_preferences(BY_HAND)
    assert [row.preference for row in twice.rows] == [row.preference for row in once.rows]
    assert [row.wins for row in twice.rows] == [2 * row.wins for row in once.rows]
    assert [row.of_model for row in twice.ranks] == [2 * row.of_model for row in once.ranks]


def _turned(row: Impression) -> tuple[int | None, ...]:
    return tuple(None if team is None else 1 - team for team in row.teams)


def test_pairs_are_corrected_for_their_number() -> None:
    rows = [
        Impression(f"{other}{n}", str(n), ("base", other), (n % 2, 1 - n % 2), (2 - n % 2,))
        for other in ("new", "newer")
        for n in range(6)
    ]
    found = interleaved_preferences([*rows, Impression("x", "x", ("newer", "new"), (0, 1), (1,))])
    assert [(row.model, row.baseline) for row in found.pairs] == [("new", "base"), ("newer", "base"), ("new", "newer")]
    p = [(row.p_articles, row.p_holm) for row in found.rows if row.measure == "clicked"]
    assert p == [(0.03125, 0.09375), (0.03125, 0.09375), (1.0, 1.0)]


def test_impressions_that_are_not_shown() -> None:
    rows = [
        *BY_HAND,
        Impression("n", "a", BOTH, (0, 1), (), shown=False),
        Impression("m", "a", BOTH, (0, 1), (1,), shown=False),
    ]
    found = interleaved_preferences(rows)
    assert [str(each) for each in found.left_out] == ["not shown: 1 (n)"]
    assert found.notes[0] == "impressions with an event that are not marked as shown, counted as shown: 1"
    assert (found.pairs[0].impressions, found.pairs[0].shown) == (10, 9)


def test_a_coin_that_is_not_fair_shows() -> None:
    rows = [Impression(str(n), str(n), BOTH, (int(n % 5 == 0), int(n % 5 != 0)), (1,)) for n in range(100)]
    found = interleaved_preferences(rows)
    assert not found.pairs[0].balanced
    assert found.notes[0].startswith("rank 1 has 20 suggestions of new and 80 of base (p 1.1e-09), which a fair coin")


def test_articles_that_always_have_the_same_list() -> None:
    """A coin per article is fair, although one model is first in far more impressions."""
    coins = [0] * 12 + [1] * 8
    rows = [Impression(f"{n}-{a}", str(a), BOTH, (c, 1 - c), (1,)) for n in range(50) for a, c in enumerate(coins)]
    found = interleaved_preferences(rows)
    assert (found.ranks[0].of_model, found.ranks[0].of_baseline) == (400, 600)
    assert found.ranks[0].p_balance == pytest.approx(0.5034, abs=1e-4)  # 2 P(X <= 8) of 20
    assert found.pairs[0].balanced
    assert found.rows[0].p_sign == pytest.approx(0, abs=1e-8)
    assert found.rows[0].p_articles == found.ranks[0].p_balance


def test_a_preference_is_significant_by_interval_and_holm() -> None:
    [row, *_] = interleaved_preferences(BY_HAND, "base").rows
    cases = list(product((-0.1, 0.1), (None, 0.04, 0.2)))
    assert [(low, p) for low, p in cases if replace(row, low=low, high=0.4, p_holm=p).significant] == [(0.1, 0.04)]


def test_the_impressions_that_are_needed_where_all_say_the_same() -> None:
    rows = rows_of(*[(str(n), (0, 1), {"clicked": (2,)}) for n in range(6)])
    assert interleaved_preferences(rows, "base").pairs[0].needed == 785  # (2.8016 / .05)^2 / 4


def test_what_is_no_log() -> None:
    with pytest.raises(Undefined, match=r"^log: no suggestion of either model was clicked"):
        interleaved_preferences([Impression("1", "a", BOTH, (0, 1), ())], places=RowLocations("log"))
    with pytest.raises(UnknownName, match=r"unknown model 'nw'; did you mean 'new'\? Known: base, new"):
        interleaved_preferences(BY_HAND, "nw")
    with pytest.raises(UsageError, match="expected at least one resample, got 0"):
        interleaved_preferences(BY_HAND, Draws(resamples=0))
    with pytest.raises(InvalidInput, match=r"impressions:9: impression: expected one row per .*'0' of line 1 again"):
        interleaved_preferences([*BY_HAND, BY_HAND[0]])


def simulated(random: np.random.Generator, articles: int, tilt: float, spread: float = 0.0) -> list[Impression]:
    """Four impressions per article, of readers who click less at lower ranks and like a model by a tilt."""
    ranks, shape = 4, (articles, 4)
    coins = random.integers(0, 2, (*shape, ranks // 2))
    teams = np.stack([coins, 1 - coins], axis=-1).reshape(*shape, ranks)
    liking = tilt + spread * random.standard_normal((articles, 1, 1))
    clicked = random.random(teams.shape) < 0.3 * 0.6 ** np.arange(ranks) * np.exp((teams - 0.5) * liking)
    return [
        Impression(
            f"{a}-{n}", str(a), BOTH, tuple(teams[a, n].tolist()), tuple((1 + np.flatnonzero(clicked[a, n])).tolist())
        )
        for a, n in np.ndindex(shape)
    ]


@pytest.mark.parametrize(("spread", "sign"), [(0.0, (0.0, 0.10)), (1.5, (0.08, 0.4))])
def test_a_reader_without_a_preference(spread: float, sign: tuple[float, float]) -> None:
    """The test by articles and the interval hold; where articles differ, the sign test does not."""
    random = np.random.default_rng(1)
    found = [
        interleaved_preferences(simulated(random, 40, 0, spread), "base", Draws(resamples=200)).rows[0]
        for _ in range(150)
    ]
    p = np.array([(row.p_sign, row.p_articles) for row in found], np.float64)
    wrong = (p < 0.05).mean(axis=0)
    assert sign[0] <= wrong[0] <= sign[1]
    assert wrong[1] <= 0.10
    covered = [row.low is not None and row.high is not None and row.low <= 0 <= row.high for row in found]
    assert np.mean(covered) >= 0.89


def test_a_preference_is_found_with_the_impressions_that_are_needed() -> None:
    random = np.random.default_rng(2)
    large = interleaved_preferences(simulated(random, 4000, 0.185), "base", Draws(resamples=2))
    assert large.rows[0].preference == pytest.approx(0.05, abs=0.01)
    needed = large.pairs[0].needed
    rows = [
        interleaved_preferences(simulated(random, needed // 4, 0.185), "base", Draws(resamples=2)).rows[0]
        for _ in range(60)
    ]
    assert 0.65 <= np.mean([row.p_articles is not None and row.p_articles < 0.05 for row in rows]) <= 0.93


@given(st.lists(st.integers(-9, 9), max_size=9))
def test_all_patterns_of_signs(values: list[int]) -> None:
    terms = [value for value in values if value]
    sums = [abs(sum(sign * value for sign, value in zip(signs, terms, strict=True))) for signs in _signs(len(terms))]
    expected = sum(each >= abs(sum(terms)) for each in sums) / len(sums) if terms else None
    assert sign_flip_p(values) == (None if expected is None else pytest.approx(expected, abs=1e-9))


def _signs(n: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=n))


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (9, 2), (300, 250), (1000, 1090)])
def test_the_sign_test_is_binomial(wins: int, losses: int) -> None:
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1))
    assert sign_test(wins, losses) == pytest.approx(min(1.0, 2 * tail / 2**n), abs=2e-10)


def test_no_p_value_is_zero_or_above_one() -> None:
    assert sign_test(50_000, 20_000) == LEAST_P
    assert sign_test(500, 500) == 1.0
    assert sign_test(0, 0) is None


COMMAND = ("compare", "--interleaved", "log.jsonl", "--resamples", "100")


def log(*more: Impression) -> None:
    """Impressions of twelve articles: new wins eight, loses one, one is a tie, and in two nothing was done."""
    rows = []
    for n in range(12):
        of_new = 1 + n % 2
        clicked = {9: (3 - of_new,), 10: (), 11: ()}.get(n, (of_new,))
        hidden = (3 - of_new,) if n == 0 else (of_new,) if n == 8 else ()
        teams = (1, 0) if of_new == 1 else (0, 1)
        rows.append(Impression(f"i{n}", f"a{n}", ("base", "new"), teams, clicked, hidden=hidden))
    write("log.jsonl", [*rows, *more])


TABLE = """\
new helps more than base: it wins 8 of 9 impressions with a winner

13 impressions; preferences from -.5 to .5, above 0 for the model

model  against  measure  impressions  wins  ties  losses          preference  p (sign test)  p (articles)  p (Holm)
-----  -------  -------  -----------  ----  ----  ------  ------------------  -------------  ------------  --------
new       base   credit           10     8     1       1   .350 [.124, .500]         0.0391        0.0391    0.0391
new       base  clicked           10     9     0       1   .400 [.148, .500]         0.0215        0.0215    0.0215
new       base   hidden            2     1     0       1  .000 [-.500, .500]         1.0000        1.0000    1.0000

model  against  rank  suggestions  p (balance)      clicked     answered       hidden
-----  -------  ----  -----------  -----------  -----------  -----------  -----------
new       base     1        6 : 6       1.0000  .833 : .167  .000 : .000  .167 : .000
new       base     2        6 : 6       1.0000  .667 : .000  .000 : .000  .000 : .167

new against base: 12 of 13 impressions shown, 12 articles; 10 with an event
new against base: to find a preference of 0.05 with power .8, show 848 like these
excluded: not shown: 1 (n)
note: new against base: intervals of fewer than 20 articles are too narrow; p (articles) holds
credit is clicks and answers less hidden suggestions; by hidden, the model with fewer of them wins
at ranks, pairs of numbers are of the model and of the one it is against
seed 20181, 100 resamples of the articles; Holm-adjusted for pairs of models
"""


def test_table(postil: Postil) -> None:
    log(Impression("n", "a0", ("base", "new"), (0, 1), (), shown=False))
    outcome = postil(*COMMAND)
    assert outcome.code == 0, outcome.err
    assert outcome.out == TABLE


def test_python_and_the_command_say_the_same(postil: Postil) -> None:
    log()
    outcome = postil(*COMMAND, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = InterleavingResult.from_json(outcome.out)
    assert found.settings.command == f"postil {' '.join(COMMAND)} --format json"
    rows = [json.loads(line) for line in Path("log.jsonl").read_text("utf-8").splitlines()]
    same = package.compare_interleaved(rows, "base", options=package.CompareOptions(resamples=100))
    assert (same.rows, same.ranks, same.pairs) == (found.rows, found.ranks, found.pairs)
    assert (
        "to find a preference of 0.05 with power .8, show 848 like these\n" in postil(*COMMAND, "--format", "csv").err
    )


def test_a_log_from_standard_input_under_other_names(postil: Postil) -> None:
    log()
    straight = postil(*COMMAND, "--format", "jsonl").out
    data = Path("log.jsonl").read_bytes().replace(b'"clicked"', b'"opened"')
    rest = ("--column", "clicked=opened", "--format", "jsonl", "--resamples", "100")
    assert postil("compare", "--interleaved", "-", *rest, stdin=data).out == straight


NOTHING = (
    "expected files of item scores (SCORES), a log of interleaved suggestions (--interleaved LOG), or paired "
    "preferences (--preferences FILE)"
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), NOTHING),
        (("s.jsonl", "--interleaved", "log.jsonl"), "--interleaved LOG takes the place of SCORES; give one of them"),
        *(
            (
                ("--interleaved", "log.jsonl", *more),
                "--interleaved: only --baseline, --resamples, --seed and options of reading files go with it",
            )
            for more in (("--intersect",), ("--permutations", "9"), ("--item-means",), ("--p-values", "sacrebleu"))
        ),
        (
            ("--interleaved", "log.jsonl", "--metric-columns", "a"),
            "--metric-columns goes with files of scores, not with --interleaved",
        ),
        (("--interleaved", "log.jsonl", "--baseline", "old"), "unknown model 'old'. Known: base, new"),
        (
            ("--interleaved", "log.jsonl", "--layout", "systems"),
            "--layout systems is for scores of systems (score, compare, evaluate, wmt), not for interleaving",
        ),
    ],
)
def test_what_does_not_go_together(postil: Postil, words: tuple[str, ...], said: str) -> None:
    log()
    outcome = postil("compare", *words)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"postil: {said}\n")


def test_a_file_that_is_no_log(postil: Postil) -> None:
    def refused(*lines: str) -> str:
        Path("log.jsonl").write_text("".join(f"{line}\n" for line in lines))
        outcome: Outcome = postil(*COMMAND)
        assert (outcome.code, outcome.out) == (3, "")
        return outcome.err

    log()
    first = Path("log.jsonl").read_text("utf-8").splitlines()[0]
    problem = "impression: expected one row per impression, got 'i0' of line 1 again"
    assert refused(first, "", first) == f"postil: log.jsonl:3: {problem}\n"
    assert refused(first.replace('"new"', '"base"')).startswith(
        "postil: log.jsonl:1: models: expected the names of two"
    )
    problem = "no suggestion of either model was clicked, answered or hidden; there is no preference"
    assert refused(first.replace("[1]", "[]").replace("[2]", "[]")) == f"postil: log.jsonl: {problem}\n"
    assert refused() == "postil: log.jsonl: the file holds no rows\n"


def test_what_cannot_be_said_is_not_said(postil: Postil) -> None:
    rows = [Impression(f"i{n}", str(n), ("base", "new"), (0, 1), (n % 2 + 1,)) for n in range(60)]
    write("log.jsonl", [*rows, Impression("x", "x", ("base", "other"), (0, 1), ())])
    said = postil(*COMMAND).out
    assert "new and base: nothing can be said, since a fair coin did not make these lists; see the notes\n" in said
    assert "other and base: no suggestion was clicked, answered or hidden, so nothing can be said\n" in said
    write("log.jsonl", [Impression(f"i{n}", str(n), ("base", "new"), (n % 2, 1 - n % 2), (1,)) for n in range(60)])
    said = postil(*COMMAND).out
    needed = "a preference of 0.05 needs about 725 more impressions"
    assert f"new and base cannot be told apart: new wins 30 of 60 impressions with a winner; {needed}\n" in said
