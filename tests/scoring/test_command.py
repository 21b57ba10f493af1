"""`postil score`: what can be asked of it, what it prints and refuses, and that the answer depends on nothing else."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil as package
from command_line import refusal
from postil.data.grades import Scale
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Reference, Score
from postil.errors import UsageError
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Outcome, Postil


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


def test_maxima_that_the_scale_does_not_fit_are_told(postil: Postil) -> None:
    said = (
        "the best reference of 1 of 2 items weighs .75 or less; where items have maxima of their own, as points of "
        "questions do: --weights item-max\n"
    )
    points = [
        Reference("a", "the cat sat", grade=10),
        Reference("a", "a cat", grade=4),
        Reference("b", "a dog", grade=3),
    ]
    write("r.jsonl", points)
    assert said in postil(*BASE, "--scale", "10").err
    assert said in postil(*BASE, "--scale", "10", "-m", "w-rouge-l").err
    for asked in (("--weights", "item-max"), ("--weights", "score"), ("-m", "rouge-l")):  # chosen, or not read
        assert said not in postil(*BASE, "--scale", "10", *asked).err
    write("r.jsonl", [points[0], points[1], Reference("b", "a dog", grade=8)])
    assert said not in postil(*BASE, "--scale", "10").err


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
    empty = "c.jsonl: 28 empty cells in text, taken as empty texts\n"
    assert whole.err == f"{empty}background of 100 items saved in bg\n"
    again = postil(*command, "--background", "bg")
    assert again.err == empty
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


HAN = "今天天气很好"
SCALE = ("--scale", "1:5")


def write_error(postil: Postil, *args: object, candidates: str = "c.jsonl", references: str = "r.jsonl") -> str:
    return refusal(postil, "score", candidates, "-r", references, "--items", "items.jsonl", *args)


def references(change: Callable[[str], str]) -> None:
    Path("r.jsonl").write_text(change(REFERENCES), encoding="utf-8")


def weights(*values: object) -> None:
    rows = [json.loads(line) for line in REFERENCES.splitlines()]
    lines = [json.dumps({"item": r["item"], "text": r["text"], "weight": v}) for r, v in zip(rows, values, strict=True)]
    Path("r.jsonl").write_text("\n".join(lines))


@pytest.mark.parametrize("weight", [1.5, -0.5])
@pytest.mark.parametrize("metric", [(), ("-m", "w-meteor"), ("-m", "delta-bleu", "-m", "w-bleu-2")])
def test_weight_outside_0_to_1(postil: Postil, weight: float, metric: tuple[str, ...]) -> None:
    weights(1, 0.5, weight)
    assert write_error(postil, *metric) == f"r.jsonl:3: weight: expected a number from 0 to 1, got {weight:g}"
    weights(1, -0.5, -1.5)
    assert write_error(postil, "-m", "delta-bleu") == "r.jsonl:3: weight: expected a number from -1 to 1, got -1.5"


NO_GRADE = "grade: missing; a w- metric needs a grade, ratings or a weight on every reference"


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (('"grade"', '"grad"'), (*SCALE, "-m", "w-meteor"), NO_GRADE),
        (('"grade"', '"grad"'), ("-m", "w-meteor"), NO_GRADE),
        (('"grade"', '"grad"'), ("--weights", "score", *SCALE, "-m", "w-meteor"), NO_GRADE),
        (('"upvotes"', '"likes"'), ("--weights", "votes"), "upvotes: missing; the weights method 'votes'"),
        (('"upvotes"', '"likes"'), ("--weights", "given"), "weight: missing; the weights method 'given'"),
    ],
)
def test_a_field_that_is_missing(postil: Postil, change: tuple[str, str], options: tuple[str, ...], said: str) -> None:
    references(lambda text: text.replace(*change))
    line = write_error(postil, *options)
    assert line.startswith(f"r.jsonl:1: {said}")
    assert said != NO_GRADE or "this row has: item, text, grad, upvotes" in line


def test_han_reference_with_words(postil: Postil) -> None:
    # between the two references of item a, so that lines and places by item differ
    first, second, third = REFERENCES.splitlines(keepends=True)
    Path("r.jsonl").write_text(first + third.replace("dogs bark", HAN) + second, encoding="utf-8")
    assert write_error(postil).startswith("r.jsonl:2: text: Han text cannot be split into words")


def test_cider_of_one_item(postil: Postil) -> None:
    Path("c.jsonl").write_text(CANDIDATES.splitlines()[0])
    Path("r.jsonl").write_text(REFERENCES.splitlines()[0])
    line = write_error(postil, "-m", "cider")
    assert line.startswith("r.jsonl: CIDEr needs document frequencies from at least two items, got one")
    assert line.endswith("--background FOLDER")


def test_a_run_that_failed_leaves_what_was_there(postil: Postil) -> None:
    Path("items.jsonl").write_text("earlier")
    Path("c.jsonl").write_text(CANDIDATES + "{")
    assert write_error(postil, "--save-background", "bg").startswith("c.jsonl:5: expected a whole object on one line")
    assert Path("items.jsonl").read_text() == "earlier"


def test_bad_line_on_standard_input(postil: Postil) -> None:
    outcome = postil("score", "-", "-r", "r.jsonl", stdin=CANDIDATES.encode() + b'{"item": "a"')
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1] == "postil: stdin:5: the JSON ends too early; is the line cut off?"
    outcome = postil("score", "-", "-r", "r.jsonl", stdin=b"item,text\na,Rain\n")
    problem = 'expected JSON Lines, one object in braces per line, got "item,text"; if it is CSV: --input-format csv'
    assert outcome.err == f"postil: stdin:1: {problem}\n"
    outcome = postil("score", "c.jsonl", "-r", "-", "--scale", "3", stdin=REFERENCES.encode())
    assert outcome.err == "postil: stdin:1: grade: expected a number from 0 to 3, got 4\n"


def test_too_little_memory(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("postil.scoring.files.score_files", full)
    outcome = postil("score", "c.jsonl", "-r", "r.jsonl", *SCALE)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("postil: not enough memory; give it fewer or shorter texts")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("rubric.json", ("annotate", "plan", "a.jsonl", "a.db", "-n", "2", "--rubric", "rubric.json")),
        ("results.json", ("report", "results.json", "--out", "report.html")),
        ("config.json", ("score", "c.jsonl", "-r", "r.jsonl", "-m", "cider", "--background", ".")),
        ("metadata.json", ("corpus", "stats", ".")),
        ("config.json", ("comment", "a.jsonl", "--model", ".")),
    ],
)
def test_a_key_that_stands_twice_in_a_file_of_its_own(postil: Postil, name: str, command: tuple[str, ...]) -> None:
    Path(name).write_text('{"name": "x",\n "name": "y"}\n')
    Path("a.jsonl").write_text('{"id":"a","title":"t","comments":[{"id":1,"text":"x"},{"id":2,"text":"y"}]}\n')
    outcome = postil(*command)
    assert outcome.code == 3, outcome
    assert 'expected every key once in its object, got "name" twice; keep one of them' in outcome.err


ROWS = {"a": ["a b c", "a b d", "x"], "b": ["q r", "q"]}
TEXTS = {"a": "x a", "b": "q r s"}


@pytest.fixture
def files() -> tuple[str, ...]:
    """References come item by item mixed up, so that weights must find their rows."""
    references = [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    lines = [json.dumps({"item": item, "text": ROWS[item][i]}) for item, i in references]
    Path("refs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [json.dumps({"item": item, "system": "s", "text": text}) for item, text in TEXTS.items()]
    Path("cands.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return "score", "cands.jsonl", "-r", "refs.jsonl"


@pytest.mark.parametrize(
    ("method", "metric", "printed"),
    [
        ("consensus", "rouge-l(beta=1)", "rouge-l(reading=max,beta=1,over=max)"),
        ("consensus(bleu-1)", "bleu-1", "bleu-1(smooth=coco,effective=false)"),
        ("consensus(cider-d)", "cider-d", "cider-d(order=4,sigma=6)"),
    ],
)
def test_it_is_what_python_says(postil: Postil, files: tuple[str, ...], method: str, metric: str, printed: str) -> None:
    specs = ["rouge-l", "w-rouge-l", "w-meteor(over=mean)"]
    outcome = postil(*files, "--weights", method, *(word for m in specs for word in ("-m", m)), "--format", "jsonl")
    weights = package.consensus_weights(list(ROWS.values()), metric=metric)
    expected = package.score(list(TEXTS.values()), list(ROWS.values()), weights=weights, metrics=specs).corpus
    assert {name: score for (_, name), score in outcome.scores.items()} == pytest.approx(dict(expected))
    assert outcome.scores["s", "w-rouge-l"] < outcome.scores["s", "rouge-l"]
    signatures = [json.loads(line)["signature"] for line in outcome.out.splitlines()]
    assert [f"|weights:consensus({printed})|" in signature for signature in signatures] == [False, True, True]
    assert not outcome.err


def test_the_signature_has_the_function_words_of_the_similarity(postil: Postil, files: tuple[str, ...]) -> None:
    signatures = []
    for words in ("a\n", "b\n"):
        Path("words.txt").write_text(words, encoding="utf-8")
        method = "consensus(meteor(function_words=words.txt))"
        outcome = postil(*files, "--weights", method, "-m", "w-rouge-l", "--format", "json")
        signatures.append(json.loads(outcome.out)["scores"][0]["signature"])
    assert signatures[0] != signatures[1]
    assert not any("words.txt" in text for text in signatures)


def test_controls_and_jobs(postil: Postil, files: tuple[str, ...]) -> None:
    command = [*files, "--weights", "consensus", "-m", "w-rouge-l", "--controls", "--draws", "2"]
    one = postil(*command, "--items", "one.jsonl", "--format", "json")
    two = postil(*command, "--items", "two.jsonl", "--format", "json", "--jobs", "2")
    assert (one.code, one.out) == (0, two.out)
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    assert "control:shuffled(w-rouge-l,draw=2)" in Path("one.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("consensus(w-meteor)", "consensus: expected a metric that reads no weights, got 'w-meteor'"),
        ("consensus(meteo)", "unknown metric 'meteo'; did you mean 'meteor'?"),
        ("consensus(meteor", "unknown weights method 'consensus(meteor'; did you mean 'consensus'?"),
    ],
)
def test_a_similarity_that_makes_no_sense(postil: Postil, files: tuple[str, ...], method: str, message: str) -> None:
    outcome = postil(*files, "--weights", method, "-m", "w-meteor")
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


GRADED_BASE = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "5")
W_METRICS = ("-m", "rouge-l", "-m", "w-rouge-l", "-m", "w-bleu-1")
OF_SYSTEMS = [("a", "plain"), ("b", "plain"), ("a", "zoo"), ("b", "zoo")]


def controls_of(postil: Postil, *more: object, out: str = "i.jsonl") -> tuple[Outcome, list[Score]]:
    outcome = postil(*GRADED_BASE, *W_METRICS, "--controls", "--control-draws", 2, "--items", out, *more)
    assert outcome.code == 0, outcome.err
    return outcome, list(read(out, Score))


def test_rows(postil: Postil) -> None:
    outcome, rows = controls_of(postil)
    assert not outcome.err
    assert outcome.out == postil(*GRADED_BASE, *W_METRICS).out  # the scores of the systems stay what they are
    named = [
        *(f"control:shuffled({spec},draw={draw})" for draw in (1, 2) for spec in ("w-rouge-l", "w-bleu-1")),
        *(f"control:{kind}({spec})" for kind in ("best-5", "top", "nearest") for spec in ("w-rouge-l", "w-bleu-1")),
        "control:length",
    ]
    metrics = ["rouge-l", "w-rouge-l", "w-bleu-1"]
    assert [(row.item, row.system, row.metric) for row in rows] == [
        *((*text, metric) for text in OF_SYSTEMS for metric in metrics),
        *((*text, name) for name in named for text in OF_SYSTEMS),
    ]


def test_values(postil: Postil) -> None:
    _, rows = controls_of(postil)
    found = {(row.metric, row.item, row.system): row.score for row in rows}
    # Of the item a "the cat sat down" has the grade 4 and "a cat" 2; b has one reference with 5.
    assert [found["control:length", *text] for text in OF_SYSTEMS] == [3, 3, 2, 3]
    assert [found["control:nearest(w-rouge-l)", *text] for text in OF_SYSTEMS] == [0.8, 1, 0.4, 1]
    # "the cat sat" against "the cat sat down": P = 1, R = 3/4, F = 2.44 R / (R + 1.44).
    assert found["control:top(w-rouge-l)", "a", "plain"] == pytest.approx(2.44 * 0.75 / (0.75 + 1.44))
    for text in OF_SYSTEMS:
        assert found["control:best-5(w-rouge-l)", *text] == found["rouge-l", *text]


def test_they_go_into_the_items_file(postil: Postil) -> None:
    outcome = postil(*GRADED_BASE, *W_METRICS, "--controls")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "postil: --controls writes item scores; say where to: --items FILE\n"


def test_a_bar_of_their_own(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    _, rows = controls_of(postil)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    options = ScoreOptions(
        metrics=("rouge-l", "w-rouge-l", "w-bleu-1"),
        scale=Scale(0, 5),
        items="again.jsonl",
        controls=True,
        control_draws=2,
    )
    score_files("c.jsonl", "r.jsonl", options, print)
    assert "controls of candidates 1 to 4" in terminal.getvalue()
    assert list(read("again.jsonl", Score)) == rows


ARGUMENTS = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "5", "-m", "rouge-l", "-m", "w-rouge-l")
PLAIN = f"rouge-l(reading=max,beta=1.2,over=max)|tokenizer:words-2|references:1-2|postil:{VERSION}"
WEIGHTED = f"w-{PLAIN}".replace("|references", "|weights:score|scale:0:5|references")

GOLDEN = {
    "table": f"""\
system  n  rouge-l  w-rouge-l
------  -  -------  ---------
plain   2   0.4178     0.3342
zoo     2   0.9150     0.6150

rouge-l: {PLAIN}
w-rouge-l: {WEIGHTED}
""",
    "markdown": """\
| system | n | rouge-l | w-rouge-l |
| --- | ---: | ---: | ---: |
| plain | 2 | 0.4178 | 0.3342 |
| zoo | 2 | 0.9150 | 0.6150 |
""",
    "latex": r"""\begin{tabular}{lrrr}
\toprule
system & texts & rouge-l & w-rouge-l \\
\midrule
plain & 2 & .4178 & .3342 \\
zoo & 2 & .9150 & .6150 \\
\bottomrule
\end{tabular}
""",
}


def f_score(precision: float, recall: float) -> float:
    return 2.44 * precision * recall / (recall + 1.44 * precision)


# plain: "the cat sat" against "the cat sat down" (4 of 5) and "a cat" (2 of 5); "a dog barked" against "dogs bark"
# zoo: "a cat" against the same, "dogs bark loudly" against "dogs bark" (5 of 5)
SCORES = {
    ("plain", "rouge-l"): (f_score(1, 3 / 4) + 0) / 2,
    ("plain", "w-rouge-l"): (0.8 * f_score(1, 3 / 4) + 0) / 2,
    ("zoo", "rouge-l"): (1 + f_score(2 / 3, 1)) / 2,
    ("zoo", "w-rouge-l"): (f_score(max(0.8 / 2, 0.4), max(0.8 / 4, 0.4)) + f_score(2 / 3, 1)) / 2,
}


def test_golden_numbers_by_hand(postil: Postil) -> None:
    assert postil(*ARGUMENTS, "--format", "jsonl").scores == pytest.approx(SCORES, abs=1e-12)


@pytest.mark.parametrize("form", GOLDEN)
def test_layouts_for_people(postil: Postil, form: str) -> None:
    outcome = postil(*ARGUMENTS, "--format", form)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == GOLDEN[form]


def rows() -> list[dict[str, object]]:
    signatures = {"rouge-l": PLAIN, "w-rouge-l": WEIGHTED}
    return [
        {"system": system, "metric": metric, "score": pytest.approx(score), "n": 2, "signature": signatures[metric]}
        for (system, metric), score in SCORES.items()
    ]


def test_json_schema(postil: Postil) -> None:
    said = json.loads(postil(*ARGUMENTS, "--format", "json").out)
    assert said == {"schema": 1, "kind": "score", "scores": rows(), "aggregation": "corpus"}
    assert list(said) == ["schema", "kind", "scores", "aggregation"]
    assert [list(row) for row in said["scores"]] == [["system", "metric", "score", "n", "signature"]] * 4
