"""`postil correlate`: what can be asked of it, and that the answer depends on nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.correlation.result import CorrelationResult
from postil.correlation.view import on_severity
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Score
from postil.results.base import Result
from postil.results.views import view_of
from result_examples import correlated, typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conftest import Outcome, Postil

FEW = ("--resamples", "100", "--permutations", "200")
COMMAND = ("correlate", "s.jsonl", "--judgements", "j.jsonl", *FEW)
# Four texts, an item each, graded by two people; their mean grades are 1, 2, 4, 3.
# meteor: distances from the means -.15 -.05 .05 .15 and -1.5 -.5 1.5 .5, so r = .4 / sqrt(.05 * 5) = .8
# length: the same ranks turned round, so rho = -.8; five of six pairs agree for meteor, so tau is (5 - 1) / 6
METEOR = (0.1, 0.2, 0.3, 0.4)
GRADES = ((1, 1), (1, 3), (5, 3), (3, 3))


def scores(metric: str, values: Iterable[float], system: str = "s") -> list[Score]:
    return [Score(f"i{item}", system, metric, value, f"{metric}|by hand") for item, value in enumerate(values)]


def judgements(grades: Iterable[Sequence[float]], system: str = "s") -> list[Judgement]:
    return [
        Judgement(f"i{item}", system, who, grade)
        for item, several in enumerate(grades)
        for who, grade in zip(("ann", "bob", "cem"), several, strict=False)
    ]


def small() -> None:
    write("s.jsonl", [*scores("meteor", METEOR), *scores("length", (40, 30, 20, 10))])
    write("j.jsonl", judgements(GRADES))


def study() -> None:
    """24 items by three systems, graded by two people; a weighted metric that is better than its plain form."""
    table = [(i, s, 1 + (i * 3 + s * 2 + i * s) % 5) for i in range(24) for s in range(3)]
    metrics = {
        "rouge-l": lambda i, s, grade: (grade + (i * 7 + s) % 6) / 12,
        "w-rouge-l": lambda i, s, grade: (3 * grade + (i * 7 + s) % 6) / 24,
        "control:top(w-rouge-l)": lambda i, s, grade: (grade + (i * 5 + s) % 4) / 9,
        "control:shuffled(w-rouge-l,draw=1)": lambda i, s, grade: (grade + (i * 11 + s) % 9) / 15,
        "control:shuffled(w-rouge-l,draw=2)": lambda i, s, grade: (grade + (i * 5 + 2 * s) % 9) / 15,
        "control:length": lambda i, s, _: float((i * 13 + s * 5) % 17),
    }
    write(
        "s.jsonl",
        (
            Score(f"i{i}", f"system-{s}", name, value(i, s, grade), f"{name}|by hand")
            for i, s, grade in table
            for name, value in metrics.items()
        ),
    )
    write(
        "j.jsonl",
        (
            Judgement(f"i{i}", f"system-{s}", who, min(5, grade + (who == "bob" and (i + s) % 3 == 0)))
            for i, s, grade in table
            for who in ("ann", "bob")
        ),
    )


def rows(outcome: Outcome) -> dict[tuple[str, str], dict[str, Any]]:
    """Rows of `--format jsonl` by metric and coefficient."""
    assert outcome.code == 0, outcome.err
    found = [json.loads(line) for line in outcome.out.splitlines()]
    return {(row["metric"], row["coefficient"]): row for row in found}


def few(items: int) -> str:
    """The warning of few items."""
    return (
        f"{items} items are few: intervals and tests that resample items cannot be trusted below 10, so nothing is "
        "called significant by them alone\n"
    )


def told(outcome: Outcome) -> dict[str, Any]:
    """The object of `--format json`."""
    assert outcome.code == 0, outcome.err
    said: dict[str, Any] = json.loads(outcome.out)
    items = said["data"]["items"]
    assert outcome.err == ("" if items >= 10 else few(items))
    return said


NO_SYSTEM = "no column system; all rows are of 'candidates' (if there is one: --column"


def test_rows_without_systems_are_of_one(postil: Postil) -> None:
    # The mean grades of the four texts are 1, 2, 4, 3, so r is .8 as of `small`.
    Path("rated.csv").write_text("item,text,bleu,rating\ni0,a,.1,1\ni1,b,.2,2\ni2,c,.3,4\ni3,d,.4,3\n")
    ratings = ("--judgements", "rated.csv", "--column", "judgements.grade=rating", *FEW, "--format", "jsonl")
    outcome = postil("correlate", "rated.csv", "--metric-columns", "bleu", *ratings)
    assert rows(outcome)["bleu", "pearson"]["value"] == pytest.approx(0.8)
    assert f"rated.csv: {NO_SYSTEM} system=COLUMN)\n" in outcome.err
    assert f"rated.csv: {NO_SYSTEM} judgements.system=COLUMN)\n" in outcome.err
    # Scores name the system after their file, or ratings have one: the side without a column is of that.
    write("s.jsonl", scores("bleu", METEOR, system="answers"))
    assert rows(postil("correlate", "s.jsonl", *ratings))["bleu", "pearson"]["n"] == 4
    write("j.jsonl", judgements(GRADES, system="answers"))
    given = ("--metric-columns", "bleu", "--judgements", "j.jsonl", *FEW, "--format", "jsonl")
    assert rows(postil("correlate", "rated.csv", *given))["bleu", "pearson"]["n"] == 4
    for command in (("estimate", "rated.csv"), ("combine", "fit", "rated.csv", "--out", "model")):
        assert postil(*command, "--metric-columns", "bleu", "--judgements", "j.jsonl").code == 0
    assert postil("combine", "apply", "rated.csv", "--metric-columns", "bleu", "--model", "model").code == 0


def test_ratings_without_systems_are_not_those_of_several(postil: Postil) -> None:
    write("s.jsonl", [*scores("bleu", METEOR, system="a"), *scores("bleu", METEOR, system="b")])
    Path("rated.csv").write_text("item,rating\ni0,1\ni1,2\n")
    outcome = postil("correlate", "s.jsonl", "--judgements", "rated.csv", "--column", "judgements.grade=rating")
    assert outcome.code == 3
    assert f"rated.csv: {NO_SYSTEM} judgements.system=COLUMN)\n" in outcome.err
    assert "no text has both scores and judgements: 8 scored (such as i0 by a), 2 judged (such as i0 by" in outcome.err
    unnamed = postil("correlate", "s.jsonl", "--judgements", "rated.csv")  # what it lacks is the grade alone
    assert (
        "rated.csv:1: grade: no such column; the file has: item, rating; name the one for it: --column" in unnamed.err
    )


@pytest.mark.parametrize(
    ("by", "value", "n", "dropped"),
    [
        # item i0: 1; i1: -1; i2: all scores alike, dropped; i3: 1
        ("item", 1 / 3, 3, "items dropped, since they have one text, or {}: meteor 1 of 4\n"),
        # a: all scores alike, dropped; b: 2 2 1 3 with 2 4 4 5 has distances 0 0 -1 1 and -1.75 .25 .25 1.25
        ("within-system", 1 / 9.5**0.5, 1, "systems dropped, since they have one text, or {}: meteor 1 of 2\n"),
    ],
)
def test_groups_without_a_coefficient_are_dropped(postil: Postil, by: str, value: float, n: int, dropped: str) -> None:
    write("s.jsonl", [*scores("meteor", (1, 1, 1, 1), "a"), *scores("meteor", (2, 2, 1, 3), "b")])
    write("j.jsonl", [*judgements(((1,), (5,), (1,), (2,)), "a"), *judgements(((2,), (4,), (4,), (5,)), "b")])
    row = rows(postil(*COMMAND, "--by", by, "--format", "jsonl"))["meteor", "pearson"]
    assert row["value"] == pytest.approx(value)
    assert (row["by"], row["n"], row["dropped"]) == (by, n, 1)
    said = postil(*COMMAND, "--by", by).out
    assert dropped.format("scores or grades that are all the same") in said
    assert ("; texts of each system, mean of the systems; " in said) == (by == "within-system")


@pytest.mark.parametrize("by", ["item", "system"])
def test_what_is_over_all_texts_all_the_same_says_so(postil: Postil, by: str) -> None:
    study()
    said = postil(*COMMAND, "--by", by).out
    assert "reliability ceiling, all texts " in said
    assert "all texts" not in postil(*COMMAND).out.replace("all texts together", "").replace("takes all texts", "")


# One annotator against the other: the points 1 1, 1 3, 5 3, 3 3, so r = 3 / sqrt(33); as ranks 2 / sqrt(13.5). The
# ceiling is sqrt(2 r / (1 + r)).
GOLDEN = {
    "markdown": """\
| metric | pearson | spearman |
| --- | ---: | ---: |
| meteor | .800 [.800, .800] | .800 [.800, .800] |
| human: split-half correlation | .577 [.577, .577] | .577 [.577, .577] |
| human: one annotator against the others | .522 [.522, .522] | .544 [.544, .544] |
| human: reliability ceiling | .828 | - |
""",
    "latex": r"""\begin{tabular}{lrr}
\toprule
metric & Pearson & Spearman \\
\midrule
meteor & .800 [.800, .800] & .800 [.800, .800] \\
human: split-half correlation & .577 [.577, .577] & .577 [.577, .577] \\
human: one annotator against the others & .522 [.522, .522] & .544 [.544, .544] \\
human: reliability ceiling & .828 & -- \\
\bottomrule
\end{tabular}
""",
}


def test_the_table_has_a_line_a_metric_then_people_then_the_ceiling(postil: Postil) -> None:
    small()
    said = postil(*COMMAND, "-c", "pearson")
    assert (said.code, said.err) == (0, few(4))
    lines = said.out.splitlines()
    assert lines[0] == (
        "4 texts (4 items, 1 system), 8 grades by 2 annotators; all texts together; 95 % intervals over items"
    )
    names = [re.split(r"\s{2,}", line)[0] for line in lines[4:9]]
    assert names == [
        "meteor",
        "length",
        "human: split-half correlation",
        "human: one annotator against the others",
        "human: reliability ceiling",
    ]
    assert re.fullmatch(r"meteor +\.800 \[-?[01]?\.\d{3}, [01]?\.\d{3}\]", lines[4])
    assert lines[-1] == "seed 20181, 100 resamples, 200 permutations"


def test_agreement_has_cohens_kappa_and_scotts_pi_by_name(postil: Postil) -> None:
    study()
    agreed = told(postil(*COMMAND, "--format", "json"))["agreement"]["estimates"]
    (line,) = (line for line in postil(*COMMAND).out.splitlines() if line.startswith("agreement: Kripp"))
    shown = dict(each.partition(" [")[0].rsplit(" ", 1) for each in line.removeprefix("agreement: ").split("; "))
    for key, name in {
        "kappa-quadratic-pairs": "Cohen's kappa, quadratic weights, mean of pairs",
        "kappa-quadratic-pooled": "Scott's pi, quadratic weights",
    }.items():
        assert float(shown[name]) == pytest.approx(agreed[key]["value"], abs=6e-4)


def test_agreement_of_few_texts_is_no_number(postil: Postil) -> None:
    small()
    done = postil(*COMMAND)
    (line,) = (line for line in done.out.splitlines() if line.startswith("agreement: "))
    assert line.startswith("agreement: equal ratings .500")
    said = (
        "Scott's pi, quadratic weights: too few texts with two grades to tell agreement from chance: 4, and it takes 10"
    )
    assert said in done.out
    assert list(told(postil(*COMMAND, "--format", "json"))["agreement"]["estimates"]) == ["agreement", "within-1"]


def test_positions_have_no_kappa_but_a_sentence(postil: Postil) -> None:
    write("s.jsonl", scores("meteor", METEOR * 2))
    rows = (Judgement(f"i{n}", "s", str(place), 1 + (n * place) % 4) for n in range(8) for place in range(1, 3 + n % 2))
    write("j.jsonl", rows)
    out = postil(*COMMAND, "--report", "page.html").out
    assert "no Cohen's kappa, quadratic weights, mean of pairs: the annotators of every text are numbered from 1" in out
    assert "Scott's pi, quadratic weights" in out
    assert "No kappa-quadratic-pairs: the annotators of every text" in Path("page.html").read_text()


def test_the_ceiling_is_of_pearson(postil: Postil) -> None:
    study()
    assert "\nhuman: reliability ceiling  " in postil(*COMMAND, "-c", "pearson").out
    assert "\nhuman: reliability ceiling  " not in postil(*COMMAND, "-c", "spearman").out


def test_json_has_everything(postil: Postil) -> None:
    study()
    said = told(postil(*COMMAND, "--format", "json", "--scale", "1:5"))
    assert (said["schema"], said["kind"]) == (1, "correlate")
    counts = {"texts": 72, "items": 24, "systems": 3, "annotators": 2, "ratings": 144}
    assert said["data"].items() >= (counts | {"aspect": None, "scale": "1:5", "left_out": []}).items()
    assert said["signatures"]["rouge-l"] == "rouge-l|by hand"
    assert [row["system"] for row in said["systems"]] == ["system-0", "system-1", "system-2"]
    assert set(said["orders"]) == set(said["signatures"])
    assert (said["settings"]["by"], said["settings"]["seed"]) == ("pool", 20181)
    assert said["absent"] == []


def test_layouts_for_papers(postil: Postil) -> None:
    # three times the same item: so are all resamples, and the intervals can be written down
    write("s.jsonl", [Score(f"i{k}", f"s{j}", "meteor", METEOR[j], "") for k in range(3) for j in range(4)])
    write(
        "j.jsonl",
        (
            Judgement(f"i{k}", f"s{j}", who, grade)
            for k in range(3)
            for j in range(4)
            for who, grade in zip(("ann", "bob"), GRADES[j], strict=True)
        ),
    )
    assert "reliability ceiling: two single ratings correlate .522; 2 ratings per text\n" in postil(*COMMAND).out
    for form, golden in GOLDEN.items():
        said = postil(*COMMAND, "-c", "pearson", "-c", "spearman", "--format", form)
        assert (said.code, _without_people(said.out)) == (0, _without_people(golden))


def _without_people(text: str) -> str:
    """Split halves are drawn at random; their numbers are not written down."""
    return re.sub(r"(human: split-half correlation).*", r"\1", text)


def test_rows_may_be_in_any_order(postil: Postil) -> None:
    study()
    straight = told(postil(*COMMAND, "--format", "json"))["correlations"]
    for name in ("s.jsonl", "j.jsonl"):
        lines = Path(name).read_text().splitlines(keepends=True)
        Path(name).write_text("".join([*lines[1::2], *lines[::2]]))
    mixed = told(postil(*COMMAND, "--format", "json"))["correlations"]
    values = {(row["metric"], row["coefficient"]): row["value"] for row in straight}
    assert {(row["metric"], row["coefficient"]): row["value"] for row in mixed} == pytest.approx(values)


def test_the_same_bytes_every_time_and_whatever_the_jobs(postil: Postil) -> None:
    study()
    seen = {postil(*COMMAND, "--format", "json", "--jobs", jobs).out for jobs in (1, 1, 2, 3)}
    command = [sys.executable, "-m", "postil", *COMMAND, "--format", "json"]
    for more in ({"PYTHONHASHSEED": "1"}, {"PYTHONIOENCODING": "ascii"}):
        environment = {**os.environ, **more}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603 - our own program
        seen.add(done.stdout.decode())
    assert len(seen) == 1


def test_a_metric_whose_small_numbers_are_good(postil: Postil) -> None:
    small()
    plain, turned = (
        rows(postil(*COMMAND, "--format", "jsonl", *more)) for more in ((), ("--lower-is-better", "length"))
    )
    assert turned["length", "pearson"]["value"] == -plain["length", "pearson"]["value"] == pytest.approx(0.8)
    assert turned["meteor", "pearson"] == plain["meteor", "pearson"]
    said = postil(*COMMAND, "--lower-is-better", "length").out
    assert "lower is better, so the sign is flipped: length\n" in said


def test_what_does_not_meet_is_counted_and_named(postil: Postil) -> None:
    write("s.jsonl", [*scores("meteor", (*METEOR, 0.5, 0.6)), *scores("length", (4, 3, 2, 1, 1))])
    write("j.jsonl", [*judgements((*GRADES, (1, 2), (3, 4))), Judgement("other", "s", "ann", 3)])
    lines = Path("j.jsonl").read_text().splitlines(keepends=True)
    Path("j.jsonl").write_text("".join(line for line in lines if '"i0"' not in line))
    said = postil(*COMMAND).out
    assert said.startswith("4 texts (4 items, 1 system), 8 grades by 2 annotators")
    assert "excluded: scored but not judged: 1 (i0 by s)\n" in said
    assert "excluded: judged but not scored: 1 (other by s)\n" in said
    assert "excluded: not scored by every metric: 1 (i5 by s)\n" in said
    left_out = told(postil(*COMMAND, "--format", "json"))["data"]["left_out"]
    assert [left["examples"] for left in left_out] == [["i0 by s"], ["other by s"], ["i5 by s"]]


def test_controls_stand_under_their_metric(postil: Postil) -> None:
    study()
    outcome = postil(*COMMAND)
    lines = outcome.out.splitlines()
    assert [re.split(r"\s{2,}", line)[0] for line in lines[4:9]] == [
        "rouge-l",
        "w-rouge-l",
        "control:top(w-rouge-l)",
        "control:shuffled(w-rouge-l)",
        "control:length",
    ]
    assert "draw=" not in outcome.out
    line = view_of(Result.from_json(postil(*COMMAND, "--format", "json").out)).line
    assert "; best pearson" in line
    assert "control" not in line.partition("best")[2].partition(";")[0]


def differences(outcome: Outcome) -> Mapping[str, list[str]]:
    """The lines of the second table."""
    body = outcome.out.partition("\ndifference (* p < .05)")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [re.split(r"\s{2,}", line.strip()) for line in body]
    return {name: values for name, *values in cells}


def test_the_weighted_metric_comes_first_in_a_difference(postil: Postil) -> None:
    study()
    found = told(postil(*COMMAND, "--format", "json"))
    shown = differences(postil(*COMMAND))
    assert list(shown) == [
        "w-rouge-l - rouge-l",
        "w-rouge-l - control:top(w-rouge-l)",
        "w-rouge-l - control:shuffled(w-rouge-l)",
    ]
    (pair,) = (
        row
        for row in found["differences"]
        if (row["first"], row["second"], row["coefficient"]) == ("rouge-l", "w-rouge-l", "pearson")
    )
    values = {row["metric"]: row["value"] for row in found["correlations"] if row["coefficient"] == "pearson"}
    assert pair["value"] == pytest.approx(values["rouge-l"] - values["w-rouge-l"])
    assert pair["value"] < 0
    assert pair["p_holm"] < 0.05
    ends = f"{-pair['value']:.3f} [{-pair['high']:.3f}, {-pair['low']:.3f}]".replace("0.", ".")
    assert shown["w-rouge-l - rouge-l"][0] == f"{ends}*"


def test_every_pair_of_metrics_and_every_metric_with_its_controls(postil: Postil) -> None:
    study()
    found = told(postil(*COMMAND, "--format", "json"))["differences"]
    pairs = {(row["first"], row["second"]) for row in found}
    assert pairs == {
        ("rouge-l", "w-rouge-l"),
        ("w-rouge-l", "control:top(w-rouge-l)"),
        ("w-rouge-l", "control:shuffled(w-rouge-l)"),
        ("rouge-l", "control:length"),
        ("w-rouge-l", "control:length"),
    }
    assert len(found) == 3 * len(pairs)
    assert all((row["p"] is None) == (row["coefficient"] == "kendall-b") for row in found)
    assert "all 15 differences: --format json, or --report FILE.html\n" in postil(*COMMAND).out


def test_fifty_metrics_that_do_not_belong_together(postil: Postil) -> None:
    write("s.jsonl", [row for k in range(50) for row in scores(f"m{k}", ((k * 7 + i * 3) % 11 for i in range(8)))])
    write("j.jsonl", judgements(GRADES * 2))
    outcome = postil(*COMMAND, "-c", "pearson", "--resamples", 50, "--permutations", 50)
    assert outcome.code == 0
    assert "difference (*" not in outcome.out
    assert "all 1,225 differences: --format json" in outcome.out
    assert len(told(postil(*COMMAND, "-c", "pearson", "--format", "json", "--permutations", 5))["differences"]) == 1225


def test_where_metrics_and_people_disagree_most(postil: Postil) -> None:
    study()
    write("c.jsonl", (Candidate(f"i{i}", f"system-{s}", f"text {i} {s}") for i in range(24) for s in range(3)))
    found = told(postil(*COMMAND, "--format", "json", "--candidates", "c.jsonl", "--worst", 3))["disagreements"]
    assert [(each["first"], each["second"], len(each["texts"])) for each in found] == [
        ("w-rouge-l", "rouge-l", 3),
        ("w-rouge-l", "people", 3),
    ]
    for each in found:
        sizes = [abs(text["difference"]) for text in each["texts"]]
        assert sizes == sorted(sizes, reverse=True)
        for text in each["texts"]:
            assert text["text"] == f"text {text['item'][1:]} {text['system'][-1]}"
    chosen = told(postil(*COMMAND, "--format", "json", "--disagree", "rouge-l", "control:length"))["disagreements"]
    assert [each["second"] for each in chosen if each["first"] == "rouge-l"] == ["control:length", "people"]
    assert told(postil(*COMMAND, "--format", "json", "--worst", 0))["disagreements"] == []


def pupils(questions: int) -> None:
    """Answers by 30 systems to some items; both weighted metrics are better on every item, one beside random draws."""
    texts = [(i, s, 1 + (i * 3 + s * 7) % 5) for i in range(questions) for s in range(30)]
    metrics = {
        "rouge-l": lambda i, s, grade: grade + (i * 5 + s * 3) % 11,
        "w-rouge-l": lambda i, s, grade: 4 * grade + (i * 5 + s * 3) % 11,
        **{
            f"control:shuffled(w-rouge-l,draw={k})": lambda i, s, grade, k=k: grade + (i * 5 + s * 3 + k) % 13
            for k in (1, 2)
        },
    }
    write("s.jsonl", (Score(f"i{i}", f"s{s}", name, of(i, s, g)) for name, of in metrics.items() for i, s, g in texts))
    write("j.jsonl", (Judgement(f"i{i}", f"s{s}", who, g) for i, s, g in texts for who in ("ann", "bob")))


@pytest.mark.parametrize(("items", "stars"), [(2, 0), (9, 1), (10, 4)])
def test_resamples_of_few_items_make_nothing_significant(postil: Postil, items: int, stars: int) -> None:
    # Pearson's difference has a test that swaps items; PERM-BOTH swaps pairs of texts, and draws have resamples alone.
    pupils(items)
    outcome = postil(*COMMAND, "-c", "pearson", "-c", "acc-eq", "--permutations", "2000")
    assert (outcome.code, outcome.err) == (0, few(items) if items < 10 else "")
    assert outcome.out.count("]*") == stars
    assert ("(random controls: bootstrap)" in outcome.out) == (items == 10)
    found = told(postil(*COMMAND, "-c", "acc-eq", "--format", "json"))
    assert found["notes"] == found.get("warnings", []) == ([few(items).rstrip("\n")] if items < 10 else [])
    plain_minus_weighted = found["differences"][0]
    assert plain_minus_weighted["p_holm"] < 0.05  # the numbers stay as they are
    assert plain_minus_weighted["high"] < 0


@pytest.mark.parametrize(("adjusted", "told_too"), [(0.8664, False), (0.91, True)])
def test_a_ceiling_that_is_printed_like_another_is_not_repeated(adjusted: float, told_too: bool) -> None:
    made = correlated()
    biased = [{"annotator": "ann", "ratings": 40, "bias": -0.3}, {"annotator": "bob", "ratings": 40, "bias": 0.3}]
    severity = {"rule": "keep", "removed": False, "F": 9.0, "df1": 1, "df2": 39, "p": 0.001, "groups": [["ann", "bob"]]}
    human = made["human"] | {"adjusted_ceiling": adjusted}
    result = typed(correlated(human=human, severity=severity | {"annotators": biased}), CorrelationResult)
    assert any("severities removed is .910" in said for said in on_severity(result)) == told_too
    assert any("lower what can be reached" in said for said in on_severity(result)) == told_too


def test_one_metric_has_no_differences(postil: Postil) -> None:
    small()
    outcome = postil(*COMMAND, "-m", "meteor")
    assert outcome.code == 0
    assert "difference" not in outcome.out
    assert "p < .05" not in outcome.out
    assert told(postil(*COMMAND, "-m", "meteor", "--format", "json"))["differences"] == []


def test_the_example_in_the_help_runs(postil: Postil) -> None:
    study()
    said = re.sub(r"\s+", " ", postil("correlate", "--help").out)
    example = said.partition("Example: postil ")[2].partition(" Arguments:")[0].partition(" --report")[0]
    words = example.replace("scores.jsonl", "s.jsonl").replace("judgements.jsonl", "j.jsonl").split()
    assert postil(*words).code == 0


def test_disagreements_that_were_asked_for_are_listed(postil: Postil) -> None:
    study()
    write("c.jsonl", (Candidate(f"i{i}", f"system-{s}", f"text\x1b[31m {i}\n{s}") for i in range(24) for s in range(3)))
    asked = (*COMMAND, "--disagree", "rouge-l", "control:length", "--worst", 2)
    assert "differ most" not in postil(*COMMAND).out
    plain, with_texts = postil(*asked), postil(*asked, "--candidates", "c.jsonl")
    assert (plain.code, with_texts.code) == (0, 0)
    heads = [re.split("  +", line) for line in plain.out.splitlines() if line.startswith("where ")]
    assert heads == [
        ["where rouge-l and control:length differ most", "rouge-l", "control:length", "grade", "difference"],
        ["where rouge-l and people differ most", "rouge-l", "grade", "difference"],
    ]
    texts = [line for line in with_texts.out.splitlines() if line.startswith("    text")]
    assert len(texts) == 4
    assert "\x1b" not in with_texts.out
    assert [line for line in with_texts.out.splitlines() if line not in texts] == plain.out.splitlines()


def biased(constants: Mapping[str, float] = {"ann": 0, "bob": 2, "cem": 4}) -> None:
    """Annotators who agree but for a constant; incomplete, so that the constants are in the mean ratings."""
    keys = [(f"i{i}", f"s{s}") for i in range(20) for s in range(3)]
    worth = {key: (number * 7) % 5 + number % 3 for number, key in enumerate(keys)}
    write("s.jsonl", [Score(*key, "m", worth[key] + (number % 4) / 2, "m") for number, key in enumerate(keys)])
    write(
        "j.jsonl",
        [
            Judgement(*key, who, worth[key] + constant)
            for number, key in enumerate(keys)
            for place, (who, constant) in enumerate(constants.items())
            if (number + place) % 3
        ],
    )


def test_severities_are_told_and_removed(postil: Postil) -> None:
    biased()
    kept = told(postil(*COMMAND, "--format", "json"))
    assert kept["severity"]["rule"] == "keep"
    assert (kept["severity"]["removed"], kept["severity"]["F"], kept["severity"]["p"]) == (False, None, 0)
    assert kept["severity"]["groups"] == [["ann", "bob", "cem"]]
    biases = {row["annotator"]: row["bias"] for row in kept["severity"]["annotators"]}
    assert biases == pytest.approx({"ann": -2, "bob": 0, "cem": 2}, abs=1e-9)
    assert {(row["annotator"], row["n"]) for row in kept["human"]["annotators"]} == {(who, 40) for who in biases}
    removed = told(postil(*COMMAND, "--format", "json", "--severity", "auto"))
    assert removed["severity"]["removed"]
    assert removed["correlations"][0]["value"] > kept["correlations"][0]["value"] + 0.05
    assert removed["agreement"] == kept["agreement"]  # of the labels that people gave
    sentence = "annotators use the scale differently: ann grades 2.00 below their mean, cem 2.00 above; "
    assert sentence + "kept; severity remove takes them out of the ratings\n" in postil(*COMMAND).out
    assert sentence + "removed\n" in postil(*COMMAND, "--severity", "remove").out


def test_removed_severities_change_nothing(postil: Postil) -> None:
    """The law: with constants or without, the same coefficients, intervals and tests."""
    found = []
    for constants in ({"ann": 0, "bob": 0.5, "cem": 1}, {"ann": 3, "bob": 0.5, "cem": -2}):
        biased(constants)
        said = told(postil(*COMMAND, "--severity", "remove", "--format", "json"))
        numbers = [row[name] for row in said["correlations"] for name in ("value", "low", "high", "p")]
        people = [row[name] for row in said["human"]["rows"] for name in ("value", "low", "high")]
        found.append([*numbers, *people, said["human"]["ceiling"]])
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_human_rows_of_ratings_as_given(postil: Postil) -> None:
    biased()
    found = rows(postil(*COMMAND, "--human-as-given", "--format", "jsonl"))
    assert found["human:halves", "pearson"]["value"] < 0.8
    assert "human reference points are of the ratings as given" in postil(*COMMAND, "--human-as-given").out
