"""`postil budget`: plans from assumptions and from a pilot, what it refuses, formats, Python."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import postil as package
from postil.budgeting.result import BudgetResult
from postil.data.row_files import write
from postil.data.rows import Judgement, Score
from postil.errors import Undefined, UsageError

if TYPE_CHECKING:
    from conftest import Postil

WORKED = ("budget", "--items", "200", "--sd", "1", "--systems", "4", "--r-squared", ".25", "--difference", ".5")
PILOT = ("budget", "s.jsonl", "--judgements", "j.jsonl")


def quality(item: int, system: int) -> int:
    return (item * 7 + system * 3) % 5


def scores(items: int = 40) -> list[Score]:
    return [
        Score(f"i{item}", system, "judge", quality(item, place) + 0.25 * ((item * 5 + place) % 3), "judge|by hand")
        for item in range(items)
        for place, system in enumerate("ab")
    ]


def ratings(items: int = 10, raters: int = 2) -> list[Judgement]:
    return [
        Judgement(f"i{item}", system, f"r{rater}", float(1 + quality(item, place) + (item + place + rater) % 2))
        for item in range(items)
        for place, system in enumerate("ab")
        for rater in range(raters)
    ]


@pytest.fixture
def files(postil: Postil) -> Postil:
    write("s.jsonl", scores())
    write("j.jsonl", ratings())
    return postil


def said(postil: Postil, *arguments: str) -> dict[str, Any]:
    done = postil(*arguments, "--format", "json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_worked_values(postil: Postil) -> None:
    found = said(postil, *WORKED, "--graded", "40", "--graded", "20", "--raters", "2", "--raters", "1")
    rows = {(row["items"], row["raters"]): row for row in found["rows"]}
    assert list(rows) == [(20, 1), (40, 1), (20, 2), (40, 2)]
    fields = ("mean_width", "difference_width", "power", "power_all")
    assert [rows[40, 2][field] for field in fields] == pytest.approx([0.515687, 0.658540, 0.849681, 0.616361], abs=1e-6)
    assert [rows[20, 1][field] for field in fields] == pytest.approx([0.881807, 1.162524, 0.401220, 0.159056], abs=1e-6)
    assert rows[40, 2]["ratings"] == 320
    assert rows[40, 2]["hours"] == pytest.approx(320 * 40 / 3600)


def test_the_cheapest_plan_and_the_command_to_run(postil: Postil) -> None:
    done = postil(*WORKED)
    assert done.code == 0
    assert "cheapest plan: 81 items by 1 rater each (324 ratings, 3.6 hours) finds a difference of 0.5" in done.out
    assert "--items 81 --annotators 3 --annotators-per-item 1 --overlap 0.2" in done.out
    best = said(postil, *WORKED)["cheapest"]
    assert best["power_all"] >= 0.8
    assert (best["items"], best["raters"]) == (81, 1)


def test_columns_without_scores_appear_where_scores_are_used(postil: Postil) -> None:
    assumed = ("budget", "--items", "30", "--sd", "1")
    assert "scores" not in postil(*assumed).out.split("\n", 1)[1]
    done = postil(*assumed, "--r-squared", ".2").out
    assert "without scores" in done
    assert "… left by scores" in done


def test_two_raters_need_no_overlap(postil: Postil) -> None:
    done = postil(*WORKED, "--raters", "2")
    assert "--annotators-per-item 2\n" in done.out


def test_a_width_is_wanted(postil: Postil) -> None:
    found = said(postil, "budget", "--items", "500", "--sd", "1", "--width", ".4")
    assert found["cheapest"]["difference_width"] <= 0.4
    assert found["cheapest"]["power"] is None
    one = said(postil, "budget", "--items", "500", "--sd", "1", "--width", ".4", "--systems", "1")
    assert one["cheapest"]["mean_width"] <= 0.4
    assert one["cheapest"]["difference_width"] is None


def test_nothing_is_enough(postil: Postil) -> None:
    found = said(postil, *WORKED[:-1], ".05", "--width", ".1")
    assert found["cheapest"] is None
    assert any(
        note.startswith("even all 200 items by 3 raters give a power of 0.0") and "the least difference found" in note
        for note in found["notes"]
    )
    assert any("give intervals of differences of width" in note for note in found["notes"])


def test_so_few_items_are_no_plan(postil: Postil) -> None:
    found = said(postil, "budget", "--items", "7", "--sd", "1", "--systems", "2", "--width", "9")
    assert found["cheapest"] is None
    assert "a plan has at least 8 items" in found["notes"]
    assert said(postil, "budget", "--items", "8", "--sd", "1", "--systems", "2", "--width", "9")["cheapest"]


def test_a_pilot_tells_the_components(files: Postil) -> None:
    found = said(files, *PILOT, "--difference", ".5")
    assert found["settings"]["pilot"] == 10
    assert found["settings"]["items"] == 40
    assert found["settings"]["scores_used"] is True
    of = found["components"]
    assert of["rater_variance"] == 0.5
    assert 0 <= of["residual"]["difference"] < of["total"]["difference"]
    assert any("the 10 graded items of the pilot are part of the plan" in note for note in found["notes"])


def test_a_pilot_without_scores(files: Postil) -> None:
    done = files("budget", "--judgements", "j.jsonl")
    assert done.code == 2
    assert "without scores the number of items is unknown: --items N, 10 of which are graded" in done.err
    found = said(files, "budget", "--judgements", "j.jsonl", "--items", "100")
    assert found["components"]["total"] == found["components"]["residual"]


def test_one_rating_per_output_plans_one_rater(postil: Postil) -> None:
    write("s.jsonl", scores())
    write("j.jsonl", ratings(raters=1))
    found = said(postil, *PILOT)
    assert found["components"]["rater_variance"] is None
    assert {row["raters"] for row in found["rows"]} == {1}
    assert any("only one rater is planned" in note for note in found["notes"])


def test_a_pilot_that_is_too_small(postil: Postil) -> None:
    write("s.jsonl", scores())
    write("j.jsonl", ratings(items=7))
    done = postil(*PILOT)
    assert done.code != 0
    assert "a pilot needs at least 8 graded items, and there are 7" in done.err


def test_a_pilot_of_equal_grades(postil: Postil) -> None:
    write("s.jsonl", scores())
    write("j.jsonl", [Judgement(each.item, each.system, each.annotator, 5.0) for each in ratings()])
    done = postil(*PILOT, "--width", ".1")
    assert done.code != 0
    assert "all grades of each system in the pilot are equal" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["budget"], "without a pilot (--judgements FILE) --items is needed"),
        (["budget", "--items", "9"], "without a pilot (--judgements FILE) --sd is needed"),
        (["budget", "--items", "9", "--sd", "0"], "--sd: expected more than 0"),
        (["budget", "--items", "9", "--sd", "1", "-m", "judge"], "--metric is for a pilot"),
        (["budget", "--items", "9", "--sd", "1", "--maxima", "m.jsonl"], "--maxima is for a pilot"),
        (["budget", "--items", "9", "--sd", "1", "--graded", "10"], "--graded: expected at most the 9 items, got 10"),
        (["budget", "--items", "9", "--sd", "1", "--power", "1"], "--power: expected more than 0 and less than 1"),
        (["budget", "--items", "9", "--sd", "1", "--systems", "1", "--difference", "1"], "needs two systems"),
        (["budget", "s.jsonl"], "scores without ratings tell nothing of people"),
        ([*PILOT, "--sd", "1"], "--sd is an assumption, and the pilot tells it"),
        ([*PILOT, "--systems", "3"], "--systems is an assumption"),
        ([*PILOT, "--items", "9"], "--items: expected at least the 10 graded ones, got 9"),
        ([*PILOT, "--method", "ppi"], "--method ppi has no plans"),
        ([*PILOT, "-m", "juge"], "juge"),
        ([*PILOT, "--raters", "3", "--annotators", "2"], "--raters: expected at most the 2 of --annotators, got 3"),
        ([*PILOT, "--severity", "drop"], "drop"),
    ],
)
def test_what_is_refused(files: Postil, arguments: list[str], message: str) -> None:
    done = files(*arguments)
    assert done.code == 2
    assert message in done.err
    assert not done.out


def lenient(items: int = 24, raters: int = 4, each: int = 2) -> list[Judgement]:
    """Ratings whose annotators differ by up to three grades and, by items, in what they like."""
    return [
        Judgement(f"i{item}", system, f"r{rater}", float(quality(item, place) + rater + (item * rater + rater) % 3))
        for item in range(items)
        for place, system in enumerate("ab")
        for rater in ((item + step) % raters for step in range(each))
    ]


def test_a_pilot_plans_two_layouts(postil: Postil) -> None:
    write("j.jsonl", lenient())
    pilot = ("budget", "--judgements", "j.jsonl", "--items", "100", "--difference", "1", "--graded", "30")
    found = said(postil, *pilot, "--severity", "keep")
    assert [(row["layout"], row["raters"]) for row in found["rows"]] == [
        (layout, raters) for layout in ("item", "output") for raters in (1, 2, 3)
    ]
    widths = {(row["layout"], row["raters"]): row["difference_width"] for row in found["rows"]}
    assert widths["item", 1] < widths["output", 1]
    of = found["components"]
    assert {row["component"] for row in of["facets"]} == {
        *("item", "system", "rater", "item:system", "item:rater", "system:rater", "residual")
    }
    assert of["raters_by_item"]["difference"] < of["raters_by_output"]["difference"]
    assert of["raters_by_item"]["mean"] == of["raters_by_output"]["mean"]
    shown = postil(*pilot, "--severity", "keep").out
    assert re.findall(r"^(raters\S*(?: by \w+)?) ", shown, re.MULTILINE) == ["raters, by item", "raters, by output"]
    assert all(row["low"] <= row["high"] for row in of["facets"])
    total = sum(max(0, row["estimate"]) for row in of["facets"])
    assert all(row["absent"] == (row["high"] < 0.1 * total) for row in of["facets"])
    assert found["settings"]["annotators"] == 4
    assert found["cheapest"]["layout"] == "item"
    (note,) = [note for note in found["notes"] if "--by-item" in note]
    assert f"is {widths['item', 1]:.2f} wide, against {widths['output', 1]:.2f} where raters are drawn" in note
    done = postil(*pilot, "--severity", "keep").out
    assert "--annotators 4 --annotators-per-item 1 --overlap 0.2 --by-item\n" in done
    assert re.search(r"^by output +30 ", done, re.MULTILINE)
    assert re.search(r"^residual .* (absent|[0-9]+ %)$", done, re.MULTILINE)


def test_severities_that_will_be_removed_are_no_noise(postil: Postil) -> None:
    write("j.jsonl", lenient())
    pilot = ("budget", "--judgements", "j.jsonl", "--items", "100", "--graded", "30", "--raters", "1", "--raters", "2")

    def noise(*flags: str) -> dict[str, float]:
        found = said(postil, *pilot, *flags)
        return {row["raters"]: row["difference_width"] for row in found["rows"] if row["layout"] == "output"}

    kept, removed, apart = noise("--severity", "keep"), noise(), noise("--overlap", "0")
    assert removed[1] < kept[1]
    assert removed[2] < kept[2]
    assert apart[1] > removed[1]  # one rater each tells no severity
    assert apart[2] == removed[2]
    found = said(postil, *pilot)
    assert found["severity"]["removed"] is True
    assert "annotators use the scale differently: r0 grades" in postil(*pilot).out
    assert "kept" in postil(*pilot, "--severity", "keep").out


def test_a_constant_of_an_annotator_changes_no_plan(postil: Postil) -> None:
    plans, absent = [], []
    for constant in (0, 30):
        rows = [
            Judgement(each.item, each.system, each.annotator, each.grade + constant * (each.annotator == "r2"))
            for each in lenient()
        ]
        write("j.jsonl", rows)
        found = said(postil, "budget", "--judgements", "j.jsonl", "--items", "100", "--severity", "remove")
        plans.append([row["difference_width"] for row in found["rows"]] + [row["mean_width"] for row in found["rows"]])
        facets = found["components"]["facets"]
        absent.append({row["component"]: row["absent"] for row in facets if row["component"] != "rater"})
    assert absent[0] == absent[1]
    assert plans[0] == pytest.approx(plans[1], abs=1e-9)


def test_more_annotators_make_more_noise_of_those_who_are_drawn(postil: Postil) -> None:
    write("j.jsonl", lenient())
    pilot = ("budget", "--judgements", "j.jsonl", "--items", "100", "--graded", "30", "--severity", "keep")
    pilot += ("--raters", "2")
    few, many = (said(postil, *pilot, "--annotators", number)["rows"][1] for number in ("2", "40"))
    assert few["layout"] == many["layout"] == "output"
    assert few["difference_width"] < many["difference_width"]
    alone = said(postil, *pilot[:-2], "--annotators", "2")
    assert {row["raters"] for row in alone["rows"]} == {1, 2}  # three cannot rate where there are two


def test_intervals_of_components_follow_the_seed(postil: Postil) -> None:
    write("j.jsonl", lenient())
    pilot = ("budget", "--judgements", "j.jsonl", "--items", "100", "--resamples", "50")
    assert said(postil, *pilot, "--seed", "1") == said(postil, *pilot, "--seed", "1")
    one, other = (said(postil, *pilot, "--seed", seed) for seed in "12")
    assert one["components"]["facets"] != other["components"]["facets"]
    assert one["rows"] == other["rows"]


def test_positions_tell_no_severity(postil: Postil) -> None:
    rows = [Judgement(each.item, each.system, str(int(each.annotator[1:]) % 2 + 1), each.grade) for each in lenient()]
    write("j.jsonl", [row for row in rows if row.annotator == "1" or row.item not in {"i3", "i4"}])
    found = said(postil, "budget", "--judgements", "j.jsonl", "--items", "100")
    assert found.get("severity") is None
    assert {row["component"] for row in found["components"]["facets"]} == {"item", "system", "item:system", "within"}
    assert any("numbered from 1, by position" in note for note in found["notes"])


def test_report(files: Postil) -> None:
    done = files(*PILOT, "--difference", ".5", "--report", "plan.html")
    assert done.code == 0, done.err
    page = Path("plan.html").read_text()
    assert "Items and raters of a campaign" in page
    assert page.count("<svg") >= 2
    assert list(Path().glob("**/*budget*.csv"))


def test_python_is_the_command(files: Postil) -> None:
    options = package.BudgetOptions(difference=0.5)
    table = package.budget(scores(), ratings(), options=options)
    by_item = {(row.item, row.system): row.score for row in scores()}
    rated: dict[tuple[str, str], list[float]] = {}
    for row in ratings():
        rated.setdefault((row.item, row.system), []).append(row.grade)
    columns = package.budget(
        {"judge": list(by_item.values())},
        [rated.get(key) for key in by_item],
        items=[item for item, _ in by_item],
        systems=[system for _, system in by_item],
        options=options,
    )
    assert table.rows == columns.rows
    expected = BudgetResult.from_dict(said(files, *PILOT, "--difference", ".5"))
    assert table.rows == expected.rows
    assert table.cheapest == expected.cheapest
    assert repr(table).startswith("BudgetResult")
    assert table.plot("power") is not None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reliability": 1.5}, "reliability: expected a number from 0 to 1, got 1.5"),
        ({"systems": 0}, "systems: expected at least 1, got 0"),
        ({"raters": (1, 0)}, "raters: expected at least 1, got 0"),
        ({"graded": [1]}, "graded: expected at least 2, got 1"),
        ({"seconds_per_rating": -1}, "seconds_per_rating: expected at least 0, got -1"),
    ],
)
def test_python_checks_bounds_as_the_command_does(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        package.BudgetOptions(items=20, sd=1.0, **given)


def test_python_refuses() -> None:
    with pytest.raises(UsageError, match="items is needed"):
        package.budget(options=package.BudgetOptions(sd=1.0))
    with pytest.raises(UsageError, match="expected none with assumptions"):
        package.budget(items=["1"], options=package.BudgetOptions(sd=1.0, items=9))  # type: ignore[call-overload]
    with pytest.raises(Undefined, match="there are 3"):
        package.budget(scores(), ratings(items=3))


def test_more_raters_are_compared_at_equal_numbers_of_ratings(postil: Postil) -> None:
    (note,) = [note for note in said(postil, *WORKED)["notes"] if note.startswith("one rater on more items")]
    assert "30 items by two raters have 1.33 times the squared error of 60 items by one" in note
    assert "20 items by three 1.67 times" in note


def test_scores_that_share_the_errors_of_raters(postil: Postil) -> None:
    """The score is the mean of both ratings, so that predictions miss grades by less than raters differ."""
    rated = {key: (1 + quality(*key), 1 + quality(*key) + key[0] % 2) for key in product(range(40), range(2))}
    write("s.jsonl", [Score(f"i{i}", "ab"[s], "judge", sum(both) / 2, "") for (i, s), both in rated.items()])
    rows = [
        Judgement(f"i{i}", "ab"[s], f"r{rater}", float(grade))
        for (i, s), both in rated.items()
        for rater, grade in enumerate(both)
        if i < 30
    ]
    write("j.jsonl", rows)
    found = said(postil, *PILOT, "--items", "100")
    assert found["components"]["residual"]["mean"] == 0
    (note,) = [note for note in found["notes"] if "miss" in note]
    assert note.startswith("predictions miss grades by less than raters differ (variance ")
    assert note.endswith("; widths for more items are upper bounds")
    (note,) = [note for note in found["notes"] if note.startswith("one rater on more items")]
    assert "had 1.4 to 1.6 times" in note
