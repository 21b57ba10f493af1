"""`--maxima`: ratings as shares of the maximum of their item, and grades in points again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

import postil as package
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Judgement, Maximum, Score

if TYPE_CHECKING:
    from conftest import Postil

POINTS = {f"q{item:02}": 2.0 + item % 4 for item in range(14)}
"""Maximum of each question."""

FIT = ("combine", "fit", "s.jsonl", "--judgements", "points.jsonl")
APPLY = ("combine", "apply", "s.jsonl", "--model", "model")
MAXIMA = ("--maxima", "m.jsonl")


def scores() -> list[Score]:
    rng = np.random.default_rng(7)
    return [
        Score(item, system, metric, float(rng.random() + (5 * place + ord(system)) % 7 / 4), f"{metric}|postil:0")
        for place, item in enumerate(POINTS)
        for system in "abcd"
        for metric in ("chrf", "rouge-l")
    ]


def shares() -> list[Judgement]:
    """Ratings of all questions but the last two, as shares of their maxima."""
    return [
        Judgement(item, system, "teacher", (5 * place + ord(system)) % 7 / 6)
        for place, item in enumerate(list(POINTS)[:-2])
        for system in "abcd"
    ]


def points() -> list[Judgement]:
    return [Judgement(row.item, row.system, row.annotator, row.grade * POINTS[row.item]) for row in shares()]


@pytest.fixture
def files(postil: Postil) -> Postil:
    write("s.jsonl", scores())
    write("shares.jsonl", shares())
    write("points.jsonl", points())
    write("m.jsonl", [Maximum(item, maximum) for item, maximum in POINTS.items()])
    return postil


def as_json(files: Postil, *command: str) -> dict[str, Any]:
    outcome = files(*command, "--format", "json")
    assert outcome.code == 0, outcome.err
    made: dict[str, Any] = json.loads(outcome.out)
    return made


def test_a_fit_to_points_with_maxima_is_that_to_shares(files: Postil) -> None:
    made = as_json(files, *FIT, *MAXIMA)
    plain = as_json(files, *FIT[:-1], "shares.jsonl", "--scale", "1")
    assert made["settings"]["shares"] is True
    assert made["settings"]["scale"] == plain["settings"]["scale"] == "0:1"
    for part in ("rmse", "pool", "item"):
        assert made["combination"][part] == pytest.approx(plain["combination"][part], abs=1e-12)
    assert made["texts"]["ratings"] == pytest.approx([row.grade for row in shares()], abs=1e-12)
    assert "; grades are shares of the maximum of their item" in files(*FIT, *MAXIMA).out
    assert "shares of the maximum" not in files(*FIT).out


def test_grades_are_points_with_maxima_and_shares_without(files: Postil) -> None:
    made = as_json(files, *FIT, *MAXIMA, "--out", "model")
    outcome = files(*APPLY, "--out", "shares-out.jsonl")
    assert "grades are shares of the maximum of their item; points need --maxima FILE\n" in outcome.err
    rmse = 100 * made["combination"]["rmse"]
    said = f"on items that the fit had not seen, grades are off by {rmse:.0f} % of the maximum typically (RMSE)\n"
    assert said in outcome.err
    outcome = files(*APPLY, *MAXIMA, "--out", "points-out.jsonl")
    points = [f"{most * made['combination']['rmse']:.1f}".removeprefix("0") for most in (2, 3, 4, 5)]
    assert outcome.err == f"{said[:-1]}: {points[0]} of 2, {points[1]} of 3, {points[2]} of 4 and {points[3]} of 5\n"
    plain, graded = (list(read(f"{name}-out.jsonl", Score)) for name in ("shares", "points"))
    assert len(graded) == 56
    assert [row.score for row in graded] == pytest.approx([row.score * POINTS[row.item or ""] for row in plain])
    assert {row.signature.partition("|")[0] for row in graded} == {made["metric"]}
    assert all("|maxima:" in row.signature for row in graded)


def test_clipping_is_to_the_maximum_of_each_question(files: Postil) -> None:
    assert files(*FIT, *MAXIMA, "--out", "model").code == 0
    write("s.jsonl", [Score(row.item, row.system, row.metric, 50 * row.score, row.signature) for row in scores()])
    assert files(*APPLY, *MAXIMA, "--clip", "--out", "g.jsonl").code == 0
    graded = {(row.item or "", row.system): row.score for row in read("g.jsonl", Score)}
    assert all(0 <= grade <= POINTS[item] for (item, _), grade in graded.items())
    assert {item for (item, _), grade in graded.items() if grade == POINTS[item]} == set(POINTS)


def test_the_highest_of_several_rows_counts(files: Postil) -> None:
    once = as_json(files, *FIT, *MAXIMA)
    rows = [Maximum(item, maximum / part) for part in (4, 1, 2) for item, maximum in POINTS.items()]
    write("m.jsonl", rows)
    assert as_json(files, *FIT, *MAXIMA)["combination"] == once["combination"]


def test_texts_stand_beside_their_grades(files: Postil) -> None:
    assert files(*FIT, *MAXIMA, "--out", "model").code == 0
    texts = [Candidate(item, system, f"{item} of {system}") for system in "abcd" for item in POINTS]
    write("c.jsonl", texts[1:])
    write("s.jsonl", [row for row in scores() if (row.item, row.system) != ("q03", "b")])
    written = ("--candidates", "c.jsonl", "--judgements", "points.jsonl", "--out", "g.csv")
    listed = files(*APPLY, *MAXIMA, *written)
    assert (listed.code, listed.out, listed.err.splitlines()[-1][:10]) == (0, "", "on items t")
    assert f"written: g.csv ({len(texts)} texts)" in listed.err
    with Path("g.csv").open(encoding="utf-8", newline="") as file:
        *rows, last = csv.DictReader(file)
    assert list(last) == ["item", "system", "text", "score", "grade", "maximum", "metric", "signature"]
    given = {(row.item, row.system): str(row.grade) for row in points()}
    assert [row["grade"] for row in rows] == [given.get((text.item, text.system), "") for text in texts[1:]]
    refused = files(*APPLY, *MAXIMA, *written[2:])
    assert (refused.code, refused.out) == (2, "")
    assert "--judgements: grades that people gave stand beside texts, and no --candidates are given" in refused.err
    assert (last["item"], last["system"], last["text"]) == ("q00", "a", "")  # graded, and not among the texts
    assert [row["text"] for row in rows] == [text.text for text in texts[1:]]
    assert [row["text"] for row in rows if not row["score"]] == ["q03 of b"]
    assert all(len(row["score"].partition(".")[2]) <= 2 for row in rows)
    aspects = [
        replace(row, aspect=aspect, grade=grade) for row in points()[:4] for aspect, grade in (("a", 1), ("b", 2))
    ]
    write("points.jsonl", aspects)
    assert "choose one: --aspect NAME" in files(*APPLY, *MAXIMA, *written).err
    assert files(*APPLY, *MAXIMA, *written, "--aspect", "b").code == 0
    with Path("g.csv").open(encoding="utf-8", newline="") as file:
        assert {row["grade"] for row in csv.DictReader(file)} == {"", "2.0"}
    write("points.jsonl", points())
    refused = files(*APPLY, *MAXIMA, "--aspect", "b")
    assert (refused.code, "--aspect: only with --judgements" in refused.err) == (2, True)
    assert files(*APPLY, *MAXIMA, "--out", "plain.jsonl").code == 0
    plain = {(row.item, row.system): row.score for row in read("plain.jsonl", Score)}
    near = {(row["item"], row["system"]): float(row["score"]) for row in rows if row["score"]}
    assert near == {key: pytest.approx(plain[key], abs=0.0051) for key in near}
    assert all(float(row["maximum"]) == POINTS[row["item"]] for row in rows)
    assert files("correlate", "g.csv", "--judgements", "points.jsonl", "--missing", "-").code == 0


def test_correlate_and_estimate_take_shares_too(files: Postil) -> None:
    divided = ("--judgements", "shares.jsonl", "--scale", "1")
    of_points = ("--judgements", "points.jsonl", *MAXIMA)
    one, other = (as_json(files, "correlate", "s.jsonl", *given) for given in (divided, of_points))
    assert [row["value"] for row in other["correlations"]] == pytest.approx(
        [row["value"] for row in one["correlations"]], abs=1e-12
    )
    plain = as_json(files, "correlate", "s.jsonl", "--judgements", "points.jsonl")
    assert abs(plain["correlations"][0]["value"] - one["correlations"][0]["value"]) > 0.01
    one, other = (as_json(files, "estimate", "s.jsonl", *given) for given in (divided, of_points))
    assert other["settings"]["scale"] == "0:1"
    assert [row["mean"] for row in other["systems"]] == pytest.approx([row["mean"] for row in one["systems"]])


@pytest.mark.parametrize(
    ("rows", "command", "problem", "code"),
    [
        ({"q00": 1.5}, (*FIT, *MAXIMA), "grade: expected a number from 0 to 1.5, got 2; 1.5 is the maximum of item", 3),
        ({"q00": 0}, (*FIT, *MAXIMA), 'm.jsonl:1: maximum: expected a maximum above 0 for item "q00", got 0', 3),
        ({"q00": None}, (*FIT, *MAXIMA), 'item "q00" has no maximum; there are maxima of 13 items, first "q01"', 3),
        ({"q13": None}, (*APPLY, *MAXIMA), 'maxima: item "q13" has no maximum; there are maxima of 13 items', 3),
        ({}, (*FIT, *MAXIMA, "--scale", "5"), "--scale: with --maxima ratings are from 0 to the maximum of their", 2),
        ({}, (*APPLY, "--clip", "--scale", "5"), "--scale: the combination gives shares, from 0 to 1; leave it out", 2),
        ({}, (*APPLY, "--candidates", "s.jsonl"), "text", 3),
        (
            {},
            ("combine", "apply", "s.jsonl", "--model", "plain", *MAXIMA),
            "fit it to shares of maxima, with --maxi",
            2,
        ),
        ({}, (*FIT, "--maxima", "s.jsonl"), "maximum: missing", 3),
        ({}, (*FIT, "--maxima", "m.jsonl", "--out", "."), "would be written over", 2),
    ],
)
def test_what_is_refused(
    files: Postil, rows: dict[str, float | None], command: tuple[str, ...], problem: str, code: int
) -> None:
    assert files(*FIT, *MAXIMA, "--out", "model").code == 0
    assert files(*FIT, "--out", "plain").code == 0
    write("m.jsonl", [Maximum(item, most) for item, most in (POINTS | rows).items() if most is not None])
    outcome = files(*command)
    assert (outcome.code, outcome.out) == (code, ""), outcome.err
    assert problem in outcome.err


def test_candidates_need_a_file(files: Postil) -> None:
    assert files(*FIT, *MAXIMA, "--out", "model").code == 0
    write("c.jsonl", [Candidate("q00", "a", "text")])
    outcome = files(*APPLY, "--candidates", "c.jsonl")
    assert outcome.code == 2
    assert "--candidates: texts go into the file of --out, and none is named" in outcome.err


def test_items_with_words_around_what_a_star_stands_for(files: Postil) -> None:
    Path("wide.csv").write_text("pupil,P1,P2\na,1,2\nb,2,1\n", encoding="utf-8")
    write("m.jsonl", [Maximum(f"Question {item}", 4) for item in (1, 2)])
    wide = ("--judgements", "wide.csv", "--column", "judgements.grade=P*", "--column", "judgements.system=pupil")
    command = ("correlate", "s.jsonl", *wide, "--column", "judgements.annotator==me", *MAXIMA)
    said = files(*command, "--column", "judgements.item=*").err
    assert 'item "1" has no maximum; there are maxima of 2 items, first "Question 1"; with words before it: ' in said
    assert "--column 'judgements.item==Question *'\n" in said
    assert "no text has both" in files(*command, "--column", "judgements.item==Question *").err


def test_in_python(files: Postil) -> None:
    printed = as_json(files, *FIT, *MAXIMA, "--out", "printed")
    maxima = [{"question": item, "points": maximum} for item, maximum in POINTS.items()]
    columns = {"maxima.item": "question", "maxima.maximum": "points"}
    found = package.fit_combination(scores(), judgements=points(), maxima=maxima, columns=columns, out="model")
    assert found.combination.rmse == printed["combination"]["rmse"]
    graded = package.apply_combination(scores(), "model", maxima=maxima, columns=columns)
    with pytest.warns(UserWarning, match="points need maxima=TABLE"):
        plain = package.apply_combination(scores(), "model")
    assert graded.items[found.metric].tolist() == pytest.approx(
        [share * POINTS[item] for share, item in zip(plain.items[found.metric], plain.item_names, strict=True)]
    )
    texts = ["a b c", "d e f", "a c", "x", "b", "a b"]
    scored = package.score(texts, [["a b c"]] * 6, metrics=["chrf"], items=list(POINTS)[:6])
    both = package.correlate(scored, [i % 3 for i in range(6)], maxima=maxima, columns=columns)
    assert both.data.scale == "0:1"
