"""An audit in text formats: grids, notes, and its verdict, each sentence true for the numbers at hand."""

from __future__ import annotations

from typing import Any

import pytest

from postil.correlation.audit_view import Wording, accuracy_table, audit_tables, verdict
from postil.correlation.result import CorrelationResult
from postil.results.base import Result
from postil.results.formats import value_with_interval
from postil.results.views import show, view_of
from result_examples import accuracy, alt_row, audit, audited, correlated, example, ranking, typed

SAY = Wording(str, value_with_interval)


def said(**changes: Any) -> dict[str, str]:
    """The verdict by topic, of an audit with changes."""
    points = verdict(typed(audited(**changes), CorrelationResult), SAY)
    assert len(points) == len(dict(points)) <= 10
    assert all(sentence.endswith(".") and sentence[0] != " " for _, sentence in points)
    return dict(points)


def bare(**changes: Any) -> dict[str, Any]:
    """The parts of an audit in which nothing exists."""
    nothing: dict[str, Any] = {
        "alt_test": audit()["alt_test"] | {"rows": [], "absent": [], "notes": []},
        "calibration": [],
        "length": {"lengths": "control:length", "n": 0, "left_out": 0, "rows": [], "absent": []},
        "raters": {"design": "", "components": [], "levels": [], "reason": ""},
        "rankings": [],
        "uncalibrated": [],
    }
    return nothing | changes


def test_no_verdict_without_an_audit() -> None:
    result = typed(correlated(), CorrelationResult)
    assert verdict(result, SAY) == []
    assert list(view_of(result).findings) == []


def test_the_whole_verdict_comes_first() -> None:
    points = said()
    assert points == {
        "systems": "w-meteor ranks systems best, with soft pairwise accuracy .910 [.810, 1.010]; the interval of its "
        "lead over every other metric excludes 0.",
        "texts": "w-meteor ranks texts best, with pairwise accuracy with ties .770 [.670, .870]; it cannot be told "
        "apart from meteor (the interval of the difference includes 0).",
        "chance": "Better than its own scores in random order (p < .05): w-meteor in ranking systems; every metric in "
        "ranking texts.",
        "length": "Better than the length of the text alone (interval of the difference without 0): w-meteor in "
        "ranking texts. Given length, Pearson of w-meteor falls from .500 to .200 [.100, .300].",
        "a constant": "The same score for every text would rank texts with .014; better: every metric. In the "
        "alternative annotator test (rounded) a constant has rho .530 [.480, .580]; above it, intervals apart: "
        "w-meteor.",
        "an annotator": "May replace one of the 2 annotators at epsilon .2, each mapping of the scores taken by "
        "itself: none: w-meteor; rounded: w-meteor; isotonic: no metric.",
        "more raters": "With 2 raters per text the ceiling of Pearson by pool is .800; with 3 it would rise to .850.",
        "more items": "If the differences stay as they are, telling w-meteor from meteor in ranking texts takes about "
        "130 items (now 20).",
        "more texts": "Too few texts that somebody else rated to be in the test of annotators: cid (12 texts).",
    }
    lines = show("table", example("audit")).splitlines()
    assert lines[: len(points) + 1] == [*(f"{topic}: {sentence}" for topic, sentence in points.items()), ""]


def few(**data: int) -> dict[str, str]:
    """The verdict of the same audit of fewer items or systems."""
    made = audited()
    return dict(verdict(typed(made | {"data": made["data"] | data}, CorrelationResult), SAY))


def test_no_verdict_rests_on_few_items() -> None:
    points, unsaid = few(items=2), "with 2 items no metric can be said to rank"
    assert points["systems"] == f"The highest soft pairwise accuracy .910 is that of w-meteor; {unsaid} systems best."
    highest = "The highest pairwise accuracy with ties .770 is that of w-meteor"
    assert points["texts"] == f"{highest}; {unsaid} texts best."
    assert points["length"] == "Given length, Pearson of w-meteor falls from .500 to .200."
    assert points["a constant"] == (
        "The same score for every text would rank texts with .014. In the alternative annotator test (rounded) a "
        "constant has rho .530."
    )
    assert "more items" not in points
    assert points["chance"] == said()["chance"]  # random orders of these texts, no resamples of items
    assert few(items=10)["texts"] == said()["texts"]


def test_items_do_not_tell_the_best_of_few_systems() -> None:
    points = few(systems=4)
    highest = "The highest soft pairwise accuracy .910 [.810, 1.010] is that of w-meteor"
    assert points["systems"] == f"{highest}; with 4 systems no metric can be said to rank systems best."
    assert points["texts"] == said()["texts"]
    assert few(systems=5)["systems"] == said()["systems"]


def test_the_one_metric_has_no_lead() -> None:
    points = said(**bare(rankings=[ranking("texts", {"meteor": 0.7}, {})]))
    assert points["texts"] == "meteor ranks texts, with pairwise accuracy with ties .700 [.600, .800]."
    assert points["chance"] == "Better than its own scores in random order (p < .05): meteor in ranking texts."
    assert "more items" not in points


def test_without_intervals_no_metric_is_best() -> None:
    alone = {"low": None, "high": None, "ties": 0.1}
    rankings = [ranking("texts", {"meteor": 0.7, "w-meteor": 0.6}, {}, meteor=alone, **{"w-meteor": alone})]
    points = said(**bare(rankings=rankings))
    highest = "The highest pairwise accuracy with ties .700 is that of meteor"
    assert points["texts"] == f"{highest}; without intervals no metric can be said to rank texts best."
    assert points["a constant"] == "The same score for every text would rank texts with .100; better: no metric."


def test_nothing_beats_chance() -> None:
    worse = {"p": 0.4}
    values = {"meteor": 0.5, "w-meteor": 0.48}
    rankings = [ranking("systems", values, {"w-meteor": (0.02, 0.1)}, meteor=worse, **{"w-meteor": worse})]
    points = said(**bare(rankings=rankings))
    assert points["systems"].startswith("No metric ranks systems better than chance; the highest is soft pairwise")
    assert points["systems"].endswith(" (meteor).")
    assert points["chance"].endswith("random order (p < .05): no metric in ranking systems.")


def test_few_systems_have_too_few_orders() -> None:
    few = {"n": 3, "p": 0.1667}
    points = said(**bare(rankings=[ranking("systems", {"meteor": 1.0}, {}, meteor=few)]))
    assert "no metric in ranking systems (so few systems have too few orders: p is at least .167)" in points["chance"]


def test_one_system_says_why() -> None:
    absent = [{"metric": name, "coefficient": "spa", "by": "system", "reason": "one system"} for name in ("a", "b")]
    points = said(**bare(rankings=[ranking("systems", {}, {}) | {"absent": absent}]))
    assert points == {"systems": "No metric can be said to rank systems: one system."}


def test_a_margin_given_the_other_way_round_is_turned() -> None:
    made = ranking("texts", {"w-meteor": 0.7, "meteor": 0.5}, {"meteor": (0.2, 0.05)})
    row = made["margins"][0]
    turned = row | {"first": "meteor", "second": "w-meteor", "value": -0.2, "low": -0.25, "high": -0.15}
    assert "over every other metric excludes 0" in said(**bare(rankings=[made | {"margins": [turned]}]))["texts"]


@pytest.mark.parametrize(
    ("lead", "half", "needed"),
    [
        (0.02, 0.05, "about 130 items (now 20)"),
        (0.0001, 0.05, "more than 1,000 times as many items (now 20)"),
        (0.04, 0.045, "about 26 items (now 20)"),
    ],
)
def test_items_that_would_tell_two_metrics_apart(lead: float, half: float, needed: str) -> None:
    rankings = [ranking("texts", {"w-meteor": 0.7, "meteor": 0.7}, {"meteor": (lead, half)})]
    assert said(**bare(rankings=rankings))["more items"].endswith(f"takes {needed}.")


def test_equal_metrics_and_intervals_that_do_not_exist_have_no_number_of_items() -> None:
    equal = ranking("texts", {"w-meteor": 0.7, "meteor": 0.7}, {"meteor": (0.0, 0.05)})
    assert "more items" not in said(**bare(rankings=[equal]))
    one_item = ranking("texts", {"w-meteor": 0.7, "meteor": 0.6}, {"meteor": (0.1, 0.05)})
    one_item["margins"][0] |= {"low": None, "high": None}
    points = said(**bare(rankings=[one_item]))
    assert "more items" not in points
    assert "cannot be told apart from meteor" in points["texts"]


def test_lengths_may_be_better_and_need_no_name_of_a_control() -> None:
    leads = {"words": (-0.2, 0.05)}
    made = ranking("texts", {"meteor": 0.6, "words": 0.8}, leads)
    rows = [alt_row("meteor", "rounded", 0.5), alt_row("words", "rounded", 0.9, wins=2)]
    points = said(
        **bare(
            rankings=[made],
            length=bare()["length"] | {"lengths": "words"},
            alt_test=audit()["alt_test"] | {"rows": [*rows, alt_row("control:constant", "rounded", 0.5)]},
        )
    )
    assert points["texts"] == (
        "meteor ranks texts best among the metrics, with pairwise accuracy with ties .600 [.500, .700]; the length of "
        "the text (words) has .800 [.700, .900]."
    )
    assert points["length"].endswith(
        "(interval of the difference without 0): no metric in ranking texts (and worse: meteor)."
    )
    assert points["an annotator"].startswith("No metric may replace")
    assert points["a constant"].endswith("words would pass that test too, so that passing it says little here.")


def test_controls_belong_to_the_sentence_about_the_best() -> None:
    """Those above the best metric with their values, those that are not clearly below it by name."""
    values = {
        "bart": 0.865,
        "meteor": 0.8,
        "control:length": 0.867,
        "control:top(w-bleu)": 0.86,
        "control:nearest(w-bleu)": 0.5,
    }
    leads = {
        "meteor": (0.065, 0.05),
        "control:length": (-0.002, 0.05),
        "control:top(w-bleu)": (0.005, 0.05),
        "control:nearest(w-bleu)": (0.365, 0.05),
    }
    assert said(**bare(rankings=[ranking("systems", values, leads)]))["systems"] == (
        "bart ranks systems best among the metrics, with soft pairwise accuracy .865 [.765, .965]; the length of the "
        "text has .867 [.767, .967]; the interval of its lead over every other metric excludes 0, that of its lead "
        "over control:top(w-bleu) does not."
    )
    close = leads | {"meteor": (0.02, 0.05)}
    assert said(**bare(rankings=[ranking("systems", values, close)]))["systems"].endswith(
        "has .867 [.767, .967]. bart cannot be told apart from meteor and control:top(w-bleu) (the interval of the "
        "difference includes 0)."
    )


def test_a_threshold_that_ties_every_pair_is_told() -> None:
    tied = {"all_tied": True, "ties": 0.7, "p": 0.5}
    made = audited(**bare(rankings=[ranking("texts", {"flat": 0.7}, {}, flat=tied)]))
    result = typed(made, CorrelationResult)
    told = "the best threshold ties every pair of texts, so .700 is what the same score for all would get"
    assert any(told in line for line in view_of(result).remarks)
    assert "which ties every pair as a constant does (flat)" in dict(verdict(result, SAY))["texts"]


def test_one_annotator_says_why() -> None:
    reason = "one annotator; the test needs two"
    absent = [{"metric": name, "mapping": "isotonic", "reason": reason} for name in ("meteor", "control:constant")]
    points = said(**bare(alt_test=audit()["alt_test"] | {"rows": [], "absent": absent}))
    assert points == {"an annotator": f"Nothing can be said about replacing an annotator: {reason}."}


def test_a_correlation_may_rise_where_length_is_held_fixed() -> None:
    rows = [each | {"plain": 0.1} for each in audit()["length"]["rows"]]
    sentence = said(**bare(length=audit()["length"] | {"rows": rows}))["length"]
    assert sentence == "Given length, Pearson of meteor rises from .100 to .200 [.100, .300]."


@pytest.mark.parametrize("plain", [0.2004, 0.1996])
def test_a_correlation_that_prints_the_same_stays(plain: float) -> None:
    rows = [each | {"plain": plain} for each in audit()["length"]["rows"]]
    sentence = said(**bare(length=audit()["length"] | {"rows": rows}))["length"]
    assert sentence == "Given length, Pearson of meteor stays at .200 [.100, .300]."


def test_no_lengths_say_why() -> None:
    absent = [{"metric": "control:length", "reason": "no scores control:length; score with --controls"}]
    length = {"lengths": "control:length", "n": 0, "left_out": 0, "rows": [], "absent": absent}
    assert said(**bare(length=length)) == {
        "length": "Nothing can be said about length: no scores control:length; score with --controls."
    }


def test_no_raters_say_why() -> None:
    raters = {"design": "", "components": [], "levels": [], "reason": "no text has two grades"}
    points = said(**bare(raters=raters))
    assert points == {"more raters": "Nothing can be said about more raters: no text has two grades."}


def test_more_raters_than_the_table_has() -> None:
    level = audit()["raters"]["levels"][0] | {"k": 12.5}
    raters = audit()["raters"] | {"levels": [level]}
    sentence = said(**bare(raters=raters))["more raters"]
    assert sentence == "With 12.5 raters per text the ceiling of Pearson by pool is .800."
    same = [each | {"ceiling": 0.8} for each in level["growth"]]
    raters = audit()["raters"] | {"levels": [level | {"k": 1, "growth": same}]}
    assert said(**bare(raters=raters))["more raters"].endswith(
        "With 1 rater per text the ceiling of Pearson by pool is .800, and no higher with 2."
    )


def test_a_mapping_is_compared_with_itself_alone() -> None:
    rows = [
        alt_row("meteor", "none", 0.99, wins=2),
        alt_row("meteor", "rounded", 0.5),
        alt_row("control:constant", "rounded", 0.53, wins=1),
    ]
    points = said(**bare(alt_test=audit()["alt_test"] | {"rows": rows}))
    assert points["an annotator"].endswith("by itself: none: meteor; rounded: no metric.")
    assert points["a constant"].endswith(
        "above it, intervals apart: no metric. control:constant would pass that test too, so that passing it says "
        "little here."
    )
    strong = [*rows, alt_row("control:top(meteor)", "rounded", 0.9, wins=2)]  # knows more than a constant
    assert "top" not in said(**bare(alt_test=audit()["alt_test"] | {"rows": strong}))["a constant"]
    none_passes = [alt_row("meteor", mapping, 0.5) for mapping in ("none", "isotonic")]
    points = said(**bare(alt_test=audit()["alt_test"] | {"rows": none_passes}))
    assert points["an annotator"].startswith("No metric may replace one of the 2 annotators at epsilon .2, by any")
    assert "a constant" not in points


def test_ties_everywhere_are_what_a_constant_gets() -> None:
    tied = {"ties": 1.0}
    points = said(**bare(rankings=[ranking("texts", {"meteor": 1.0}, {}, meteor=tied)]))
    assert points["a constant"] == "The same score for every text would rank texts with 1.000; better: no metric."


def test_every_section_is_a_grid() -> None:
    text = " ".join(show("table", example("audit")).split())
    for line in (
        "chance: meteor - .450 [.400, .500]",
        "acc-eq by item .700 [.600, .800] .450 [.400, .500] .0099 .690 .014 .125",
        "w-meteor - meteor acc-eq by item .020 [-.030, .070]",
        "w-meteor rounded .500 .840 [.790, .890] yes 1/2",
        "w-meteor isotonic .490 [.390, .590] .590 -.050 .250 [.200, .300]",
        "meteor pearson .500 .700 .600 .200 [.100, .300] .400 .300",
        "item:rater -.100 .000",
        "system 2 - - .900",
        "no alternative test of meteor (none): scores from -.2 to .9, scale 1 to 5",
        "not in the alternative test, for too few texts that somebody else rated: cid (12 texts)",
        "real numbers cannot tie with an annotator",
        "no calibration of flat (linear): all 40 scores are 1",
        "no length bias of flat: all 40 scores are 1",
        "quarters by control:length: 0 to 4 (n 10); 5 to 9 (n 10); 10 to 14 (n 10); 15 to 19 (n 10)",
        "no g or phi by system: the variance of the systems is 0",
        "p of an accuracy: against chance",
    ):
        assert line in text, line
    assert "chance: control:length" not in text
    for form, begin in (("markdown", "| margin |"), ("latex", r"margin & measure"), ("html", ">margin</th>")):
        assert begin in str(show(form, example("audit")))  # type: ignore[arg-type]


def test_rows_of_one_mapping_are_together_and_empty_columns_are_left_out() -> None:
    rows = [alt_row(name, mapping, 0.5) for name in ("a", "b") for mapping in ("linear", "isotonic", "rounded", "none")]
    result = typed(audited(alt_test=audit()["alt_test"] | {"rows": rows}), CorrelationResult)
    tables = {table.key: table for table in audit_tables(result.audit)}  # type: ignore[arg-type]
    assert [row[:2] for row in tables["alt-test"].grid(typeset=False)[1:5]] == [
        ["a", "none"], ["b", "none"], ["a", "rounded"], ["b", "rounded"],
    ]  # fmt: skip
    systems = accuracy_table(typed(correlated(correlations=[accuracy("meteor", 0.9, "spa")]), CorrelationResult))
    assert systems.grid(typeset=False) == [
        ["accuracy", "measure", "value", "chance", "p", "pairs"],
        ["meteor", "spa by system", ".900 [.800, 1.000]", ".500", ".0083", "10"],
    ]
    assert accuracy_table(typed(correlated(), CorrelationResult)) is None


def test_an_empty_audit_has_no_grid_and_no_verdict() -> None:
    result = typed(correlated(audit=bare()), CorrelationResult)
    without = typed(correlated(), CorrelationResult)
    for form in ("table", "csv", "markdown", "latex", "html"):
        assert show(form, result) == show(form, without)  # type: ignore[arg-type]


def test_an_accuracy_exists_where_all_scores_are_the_same() -> None:
    only = correlated()["settings"] | {"coefficients": ["acc-eq"], "by": "item"}
    made = correlated(correlations=[accuracy("meteor", 0.9, dropped=2)], settings=only)
    assert "items dropped, since they have one text: meteor 2 of 22" in show("table", Result.from_dict(made))


def test_columns_of_accuracies_only_where_there_are_some() -> None:
    plain, more = (
        str(show("csv", typed(each, CorrelationResult))).splitlines()[0] for each in (correlated(), audited())
    )
    assert plain == "metric,coefficient,by,value,low,high,p,n,dropped"
    assert more == f"{plain},epsilon,pairs,plain,ties,chance,chance_low,chance_high,chance_fixed,draws"
    systems = correlated(correlations=[accuracy("meteor", 0.9, "spa")])
    assert str(show("csv", Result.from_dict(systems))).startswith(f"{plain},pairs,chance,draws,exact\n")


def test_people_have_no_chance() -> None:
    value = audited()
    (row, *_) = value["human"]["rows"]
    value["human"]["rows"] = [{**row, "coefficient": "pearson", "chance": 0.5, "chance_low": 0.4, "chance_high": 0.6}]
    assert "chance: human" not in show("table", typed(value, CorrelationResult))
