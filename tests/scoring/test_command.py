"""`postil score`: what can be asked of it, and that the answer depends on nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil as package
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Reference, Score
from postil.errors import UsageError

if TYPE_CHECKING:
    from conftest import Postil

HERE = Path(__file__).parents[1]
CANDIDATES = (HERE / "candidates.jsonl").read_text()
REFERENCES = (HERE / "references.jsonl").read_text()
ROUGE = ("-m", "rouge-l", "--format", "jsonl")
BASE = ("score", "c.jsonl", "-r", "r.jsonl")
KINDS = ("jsonl", "jsonl.gz", "parquet")


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def test_systems_may_be_interleaved_and_items_in_any_order(postil: Postil) -> None:
    straight = postil(*BASE, "--scale", "5", "--format", "jsonl")
    first, second, third, fourth = lines(CANDIDATES)
    Path("c.jsonl").write_text(first + third + second + fourth)
    assert postil(*BASE, "--scale", "5", "--format", "jsonl").out == straight.out
    Path("c.jsonl").write_text(fourth + second + first + third)
    assert postil(*BASE, "--scale", "5", "--format", "jsonl").scores == pytest.approx(straight.scores)


def test_references_of_an_item_need_not_stand_together(postil: Postil) -> None:
    straight = postil(*BASE, "--scale", "5", "--format", "jsonl")
    first, second, third = lines(REFERENCES)
    Path("r.jsonl").write_text(first + third + second)
    assert postil(*BASE, "--scale", "5", "--format", "jsonl").out == straight.out


@pytest.mark.parametrize("kind", KINDS)
def test_items_file(postil: Postil, kind: str) -> None:
    corpus = postil(*BASE, "--scale", "5", "-m", "rouge-l", "-m", "w-rouge-l", "--items", f"i.{kind}", *ROUGE)
    rows = list(read(f"i.{kind}", Score))
    asked_for = [(row.item, row.system, row.metric) for row in rows]
    systems = [("a", "plain"), ("b", "plain"), ("a", "zoo"), ("b", "zoo")]
    assert asked_for == [(*row, metric) for row in systems for metric in ("rouge-l", "w-rouge-l")]
    assert {row.signature for row in rows} == {json.loads(line)["signature"] for line in corpus.out.splitlines()}
    for (system, metric), score in corpus.scores.items():
        assert score == pytest.approx(sum(r.score for r in rows if (r.system, r.metric) == (system, metric)) / 2)


def many(n: int) -> None:
    """Enough candidates for three batches, of three systems."""
    words = ["the", "cat", "sat", "down", "on", "a", "mat", "while", "dogs", "bark", "and", "rain", "falls"]
    write(
        "c.jsonl",
        (
            Candidate(
                f"i{k // 3}",
                f"s{k % 3}",
                " ".join(words[(k * 7 + j * (1 + k % 5)) % len(words)] for j in range(k % 11)),
            )
            for k in range(n)
        ),
    )
    write(
        "r.jsonl",
        (
            Reference(
                f"i{k}", " ".join(words[(k * 5 + j * (1 + r)) % len(words)] for j in range(6)), grade=1 + (k + r) % 5
            )
            for k in range((n + 2) // 3)
            for r in range(1 + k % 3)
        ),
    )


def test_the_same_bytes_every_time_and_whatever_the_jobs(postil: Postil) -> None:
    many(20_000)
    seen = set()
    for jobs in (1, 1, 2, 3):
        outcome = postil(*BASE, "--scale", "1:5", "--format", "json", "--items", "i.jsonl", "--jobs", jobs)
        assert outcome.code == 0, outcome.err
        seen.add((outcome.out, Path("i.jsonl").read_bytes()))
    assert len(seen) == 1


def test_python_gives_the_same_numbers(postil: Postil) -> None:
    many(300)
    metrics = ["bleu-4", "w-meteor", "w-rouge-l", "w-cider-d"]
    specs = [word for metric in metrics for word in ("-m", metric)]
    said = postil(*BASE, "--scale", "1:5", "--format", "jsonl", *specs).scores
    items: dict[str, tuple[list[str], list[float]]] = {}
    for ref in read("r.jsonl", Reference):
        texts, grades = items.setdefault(ref.item, ([], []))
        texts.append(ref.text)
        grades.append(ref.grade or 0.0)
    grades_of = dict(zip(items, package.Scale(1, 5).weights([grades for _, grades in items.values()]), strict=True))
    mine = [row for row in read("c.jsonl", Candidate) if row.system == "s1"]
    result = package.score(
        [row.text for row in mine],
        [items[row.item][0] for row in mine],
        weights=[grades_of[row.item] for row in mine],
        metrics=metrics,
    )
    assert {metric: said["s1", metric] for metric in metrics} == pytest.approx(dict(result.corpus))


def test_default_metrics_without_weights(postil: Postil) -> None:
    Path("r.jsonl").write_text(REFERENCES.replace("grade", "mood"))
    outcome = postil(*BASE, "--format", "jsonl")
    assert [metric for system, metric in outcome.scores if system == "zoo"] == [
        "bleu-4",
        "meteor",
        "rouge-l",
        "cider-d",
    ]
    assert not outcome.err


@pytest.mark.parametrize("how", [("grade", "--scale", "5"), ("weight",), ("upvotes", "--weights", "votes")])
def test_default_metrics_with_weights(postil: Postil, how: tuple[str, ...]) -> None:
    field, *options = how
    text = REFERENCES
    for grade in (4, 2, 5):
        text = text.replace(f'"grade": {grade}', f'"{field}": {grade / 5 if field == "weight" else grade}')
    Path("r.jsonl").write_text(REFERENCES if field == "upvotes" else text)
    metrics = [metric for system, metric in postil(*BASE, "--format", "jsonl", *options).scores if system == "zoo"]
    assert metrics == [f"{head}{name}" for name in ("bleu-4", "meteor", "rouge-l", "cider-d") for head in ("", "w-")]


def test_grades_without_a_scale_are_remarked_upon(postil: Postil) -> None:
    outcome = postil(*BASE)
    assert outcome.code == 0
    assert outcome.err.startswith("the references have grades: with --scale LOW:HIGH")
    assert not postil(*BASE, "-m", "rouge-l").err


def test_one_item_alone_has_no_cider_by_default(postil: Postil) -> None:
    Path("c.jsonl").write_text(lines(CANDIDATES)[0])
    Path("r.jsonl").write_text(lines(REFERENCES)[0])
    outcome = postil(*BASE, "--scale", "5", "--format", "jsonl")
    assert [metric for _, metric in outcome.scores] == [
        "bleu-4",
        "w-bleu-4",
        "meteor",
        "w-meteor",
        "rouge-l",
        "w-rouge-l",
    ]
    assert outcome.err.startswith("cider-d is excluded")


WEIGHTS = {
    # by hand: the weights of "the cat sat down", "a cat" and "dogs bark"
    "score": (0.8, 0.4, 1.0),
    "minmax": (0.75, 0.25, 1.0),
    "item-max": (1.0, 0.5, 1.0),
    "votes": (1.0, 0.36907024642854247, 1.0),
    "given": (0.3, 0.6, 0.9),
}


@pytest.mark.parametrize("method", WEIGHTS)
def test_weights_methods(postil: Postil, method: str) -> None:
    rows = zip(lines(REFERENCES), (0.3, 0.6, 0.9), strict=True)
    Path("r.jsonl").write_text("".join(line.replace("}", f', "weight": {weight}}}') for line, weight in rows))
    outcome = postil(*BASE, "--scale", "1:5", "--weights", method, "-m", "w-rouge-l", "--format", "jsonl")
    one, two, three = WEIGHTS[method]
    precision, recall = max(one / 2, two), max(one / 4, two)
    first = 2.44 * precision * recall / (recall + 1.44 * precision)
    second = three * 2.44 * (2 / 3) / (1 + 1.44 * 2 / 3)
    assert outcome.scores["zoo", "w-rouge-l"] == pytest.approx((first + second) / 2)
    said = f"weights:{method}|scale:1:5|" if method in {"score", "minmax", "item-max"} else f"weights:{method}|ref"
    assert said in outcome.out


KERNEL = "w-rouge-l(over=kernel)"
AS_GRADES = ("--scale", "1:5", "--weights", "minmax", "-m", KERNEL, "-m", "w-rouge-l")


def test_kernel_scores_as_grades(postil: Postil) -> None:
    """Scores, items and controls of the kernel are 1 + 4 g; other metrics stay as they are, and signatures say so."""
    controls = ("--controls", "--draws", "1", "--items")
    plain = postil(*BASE, *AS_GRADES, *controls, "plain.jsonl", "--format", "jsonl")
    graded = postil(*BASE, *AS_GRADES, "--as-grade", *controls, "graded.jsonl", "--format", "jsonl")
    assert graded.scores == {
        (system, metric): pytest.approx(1 + 4 * score if metric == KERNEL else score)
        for (system, metric), score in plain.scores.items()
    }
    for before, after in zip(read("plain.jsonl", Score), read("graded.jsonl", Score), strict=True):
        of_kernel = KERNEL in before.metric
        assert after.score == pytest.approx(1 + 4 * before.score if of_kernel else before.score), before.metric
        said = before.signature.replace("|scale:1:5", "|scale:1:5|as-grade") if of_kernel else before.signature
        assert after.signature == said
    result = package.score(
        "c.jsonl", "r.jsonl", metrics=KERNEL, weights="minmax", scale=package.Scale(1, 5), as_grade=True
    )
    assert result.items[KERNEL].tolist() == [row.score for row in read("graded.jsonl", Score) if row.metric == KERNEL]


def test_an_empty_candidate_has_the_lowest_grade(postil: Postil) -> None:
    write("empty.jsonl", [Candidate(item, "none", "") for item in {row.item: 0 for row in read("c.jsonl", Candidate)}])
    graded = postil("score", "empty.jsonl", "-r", "r.jsonl", *AS_GRADES, "--as-grade", "--format", "jsonl")
    assert graded.scores == {("none", KERNEL): 1.0, ("none", "w-rouge-l"): 0.0}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--scale", "1:5", "-m", KERNEL), "got none and 1:5: --weights minmax and --scale LOW:HIGH"),
        (("--scale", "1:5", "--weights", "score", "-m", KERNEL), "a scale alone, got 'score' and 1:5"),
        (("--weights", "minmax", "-m", KERNEL), "got 'minmax' and no scale"),
        (("--scale", "1:5", "--weights", "minmax", "-m", "w-rouge-l"), "ask for one, such as w-meteor(over=kernel)"),
        (("--scale", "1:5", "--weights", "minmax"), "--as-grade prints metrics with over=kernel as grades"),
    ],
)
def test_what_cannot_be_a_grade(postil: Postil, given: tuple[str, ...], problem: str) -> None:
    outcome = postil(*BASE, "--as-grade", *given)
    assert outcome.code == 2
    assert problem in outcome.err


def test_what_cannot_be_a_grade_in_python(postil: Postil) -> None:
    del postil  # its files
    with pytest.raises(UsageError, match=re.escape('weights="minmax" and scale=postil.Scale(LOW, HIGH)')):
        package.score("c.jsonl", "r.jsonl", metrics=KERNEL, scale=package.Scale(1, 5), as_grade=True)
    with pytest.raises(UsageError, match="as_grade: only for tables"):
        package.score(["a"], [["a"]], weights=[[1.0]], metrics=KERNEL, as_grade=True)


def test_signed_weights_are_for_delta_bleu(postil: Postil) -> None:
    command = (*BASE, "--scale", "1:5", "--weights", "signed")
    outcome = postil(*command, "-m", "delta-bleu", "--format", "jsonl")
    assert "weights:signed|scale:1:5" in outcome.out
    write_error = postil(*command, "-m", "delta-bleu", "-m", "w-meteor")
    assert write_error.code == 3
    assert write_error.err.startswith("postil: r.jsonl:2: grade: the method 'signed' makes the weight -0.5 of it")


def test_a_saved_background_gives_the_numbers_of_the_whole_set(postil: Postil) -> None:
    many(300)
    command = (*BASE, "-m", "cider", "--format", "jsonl")
    whole = postil(*command, "--save-background", "bg")
    assert whole.err == "background of 100 items saved in bg\n"
    again = postil(*command, "--background", "bg")
    assert not again.err
    assert again.scores == pytest.approx(whole.scores)
    assert again.out != whole.out  # the signature tells them apart
    assert not list(Path("bg").glob("*.part"))
    Path("c.jsonl").write_text(lines(Path("c.jsonl").read_text())[4])
    Path("r.jsonl").write_text("".join(line for line in lines(Path("r.jsonl").read_text()) if '"i1"' in line))
    assert postil(*BASE, "-m", "cider").code == 3
    assert postil(*BASE, "-m", "cider", "--background", "bg").code == 0


def test_what_many_systems_did_not_answer_is_one_line(postil: Postil) -> None:
    def err(*answers: tuple[str, str]) -> str:
        """With the items that each system answers."""
        rows = [f'{{"item": "{item}", "system": "{name}", "text": "u"}}\n' for name, items in answers for item in items]
        Path("c.jsonl").write_text("".join(rows))
        return postil(*BASE, *ROUGE).err

    Path("r.jsonl").write_text("".join(f'{{"item": "{item}", "text": "t"}}\n' for item in "abc"))
    over = "their scores are over the others (column n)\n"
    assert err(("x", "a"), ("y", "b")) == f"2 of 2 systems (x and y): no candidate for 2 of 3 items; {over}"
    many = [(f"s{i}", "a") for i in range(1200)]
    assert err(("whole", "abc"), ("most", "ab"), *many) == (
        f"1,201 of 1,202 systems (most, s0, s1 and 1,198 more): no candidate for 1 to 2 of 3 items; {over}"
    )
