"""Constructed tables on which ``over=near`` correlates less with human scores than ``over=max``, and one where more.

Each with what `postil score` and `postil correlate` say of it. A question has right and wrong answers. An answer says
what it says in one of several phrasings, between words that all answers to the question draw from. With few phrasings
it resembles a good part of the answers with its grade; with many it resembles one or two of them, and shares with the
rest only words that all draw from.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil as package
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Reference, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Postil

NEAR, KERNEL, MAX = "w-rouge-l(over=near)", "w-rouge-l(over=kernel)", "w-rouge-l"
QUESTIONS = 20
Answer = tuple[str, float]


@dataclass(frozen=True)
class Answered:
    """An answer, the answers that are its references, and its question."""

    question: int
    text: str
    grade: float
    references: Sequence[Answer]


def answers(n: int, phrasings: int, *, in_turn: bool = True) -> list[list[Answer]]:
    """Answers to each question, right and wrong in turn or at random."""
    rng = np.random.default_rng(1)
    made = []
    for q in range(QUESTIONS):
        grades = np.arange(n) % 2 if in_turn else rng.integers(0, 2, n)
        texts = []
        for grade in grades.tolist():
            phrasing = rng.integers(phrasings)
            shared = [f"q{q}word{k}" for k in np.sort(rng.choice(20, 6, replace=False))]
            texts.append(
                " ".join([*shared[:3], *(f"q{q}grade{grade}said{phrasing}so{k}" for k in range(3)), *shared[3:]])
            )
        made.append(list(zip(texts, map(float, grades), strict=True)))
    return made


def leave_one_out() -> list[Answered]:
    """Every answer against all others to its question."""
    rows = answers(16, 6)
    return [Answered(q, *row[i], [*row[:i], *row[i + 1 :]]) for q, row in enumerate(rows) for i in range(len(row))]


def halves() -> list[Answered]:
    """The answers to each question in two halves that are each other's references."""
    rows = answers(16, 6, in_turn=False)
    parts = [(q, row[:8], row[8:]) for q, row in enumerate(rows)]
    return [Answered(q, *one, other) for q, a, b in parts for mine, other in ((a, b), (b, a)) for one in mine]


def many() -> list[Answered]:
    """Ten answers to each question against forty others, which all of them share; two grades."""
    rows = answers(50, 16, in_turn=False)
    return [Answered(q, *one, row[10:]) for q, row in enumerate(rows) for one in row[:10]]


def few() -> list[Answered]:
    """Ten answers to each question against eight others; two phrasings of each grade."""
    rows = answers(18, 2)
    return [Answered(q, *one, row[10:]) for q, row in enumerate(rows) for one in row[:10]]


def scored(table: Sequence[Answered]) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(
            package.score(
                [row.text for row in table],
                [[text for text, _ in row.references] for row in table],
                weights=[[grade for _, grade in row.references] for row in table],
                metrics=[NEAR, KERNEL, MAX],
                items=[row.question for row in table],
                controls=package.ControlOptions(draws=1),
            ).items
        )


def files(table: Sequence[Answered]) -> tuple[str, ...]:
    """Rows for `postil score`: an item has one set of references, so sets that differ are items."""
    items: dict[tuple[int, tuple[Answer, ...]], str] = {}
    for row in table:
        items.setdefault((row.question, tuple(row.references)), f"{row.question}/{len(items)}")
    rows: dict[str, list[Candidate]] = {item: [] for item in items.values()}
    for row in table:
        item = items[row.question, tuple(row.references)]
        rows[item].append(Candidate(item, f"s{len(rows[item])}", row.text))
    write("candidates.jsonl", [row for several in rows.values() for row in several])
    write("refs.jsonl", [Reference(item, text, weight=w) for (_, row), item in items.items() for text, w in row])
    return "score", "candidates.jsonl", "-r", "refs.jsonl", "--format", "json"


def rows_of(table: Sequence[Answered], scores: dict[str, np.ndarray], names: Sequence[str]) -> tuple[str, ...]:
    """Rows for `postil correlate`: an item is a question."""
    write(
        "scores.jsonl",
        [
            Score(str(row.question), f"s{i}", name, float(scores[name][i]), "")
            for name in names
            for i, row in enumerate(table)
        ],
    )
    write("judged.jsonl", [Judgement(str(row.question), f"s{i}", "ann", row.grade) for i, row in enumerate(table)])
    few_draws = ("--resamples", "200", "--permutations", "200", "-c", "pearson")
    return "correlate", "scores.jsonl", "--judgements", "judged.jsonl", *few_draws


def pooled(scores: np.ndarray, table: Sequence[Answered]) -> float:
    return float(np.corrcoef(scores, [row.grade for row in table])[0, 1])


def within(scores: np.ndarray, table: Sequence[Answered]) -> float:
    """The mean over the questions whose scores are not all the same."""
    question, grades = np.array([row.question for row in table]), np.array([row.grade for row in table])
    rows = [question == q for q in range(QUESTIONS)]
    return float(np.mean([np.corrcoef(scores[q], grades[q])[0, 1] for q in rows if np.ptp(scores[q]) > 0]))


@pytest.mark.parametrize(
    ("make", "pool", "item"),
    [(leave_one_out, -0.15, -0.15), (halves, -0.1, -0.1), (many, -0.15, -0.05), (few, 0.02, 0.03)],
)
def test_where_it_loses_and_where_it_gains(make: Callable[[], list[Answered]], pool: float, item: float) -> None:
    """Over all answers and within questions: at least so much worse, or in the last table better."""
    table = make()
    scores = scored(table)
    gains = [level(scores[NEAR], table) - level(scores[MAX], table) for level in (pooled, within)]
    assert all(gain * np.sign(least) >= abs(least) for gain, least in zip(gains, (pool, item), strict=True)), gains
    # The condition: the mean weight of the references against the own grade within questions.
    mean = scores[f"control:mean-weight({NEAR})"]
    assert mean.tolist() == pytest.approx([np.mean([weight for _, weight in row.references]) for row in table])
    if make is leave_one_out:
        assert within(mean, table) == pytest.approx(-1)
    elif make is halves:
        assert within(mean, table) < -0.1
    else:
        assert max(np.ptp(mean[[row.question == q for row in table]]) for q in range(QUESTIONS)) == 0
    sizes = {(len(row.references), len({weight for _, weight in row.references})) for row in table}
    assert sizes == {leave_one_out: {(15, 2)}, halves: {(8, 2)}, many: {(40, 2)}, few: {(8, 2)}}[make]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (leave_one_out, f"{NEAR}: 320 of 320 candidates are references of other items"),
        (halves, f"{NEAR}: 320 of 320 candidates are references of other items"),
        (many, f"{NEAR}: 20 references for each distinct weight"),
        (few, ""),
    ],
)
def test_score_says_so(postil: Postil, make: Callable[[], list[Answered]], said: str) -> None:
    table = make()
    command = files(table)
    outcome = postil(*command, "-m", NEAR, "-m", MAX)
    assert outcome.code == 0
    assert json.loads(outcome.out)["scores"]
    lines = outcome.err.splitlines()
    assert (len(lines), lines[0][: len(said)]) == (1, said) if said else not lines, outcome.err
    assert not postil(*command, "-m", MAX, "-m", "rouge-l(over=near)").err  # where no weight is averaged


def test_score_from_python_warns_once() -> None:
    table = leave_one_out()
    texts, references = [row.text for row in table], [[text for text, _ in row.references] for row in table]
    weights = [[grade for _, grade in row.references] for row in table]
    with pytest.warns(UserWarning, match="320 of 320 candidates are references of other items") as caught:
        package.score(texts, references, weights=weights, metrics=[NEAR, "w-meteor(over=near)"])
    (warning,) = caught
    assert str(warning.message).startswith(f"{NEAR}, w-meteor(over=near): ")
    assert warning.filename == __file__


@pytest.mark.parametrize("engine", [(), ("--weights", "given", "--jobs", "2")])
def test_score_says_the_same_in_any_number_of_batches(
    postil: Postil, monkeypatch: pytest.MonkeyPatch, engine: tuple[str, ...]
) -> None:
    command = (*files(leave_one_out()), "-m", NEAR, *engine)
    whole = postil(*command)
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 7)
    assert postil(*command) == whole


@pytest.mark.parametrize(
    ("make", "names", "said"),
    [
        (leave_one_out, [NEAR, f"control:mean-weight({NEAR})"], "within items the mean weight of the references falls"),
        (halves, [NEAR, f"control:mean-weight({NEAR})"], "within items the mean weight of the references falls"),
        (leave_one_out, [NEAR, MAX], f"pearson is lower than that of {MAX}"),
        (many, [MAX, NEAR], f"pearson is lower than that of {MAX}"),
        (few, [MAX, NEAR, f"control:mean-weight({NEAR})"], ""),
        (few, [NEAR], ""),
        (leave_one_out, [NEAR], ""),  # nothing in the rows shows it
        (leave_one_out, [MAX], ""),
    ],
)
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_correlate_says_so(
    postil: Postil, make: Callable[[], list[Answered]], names: list[str], said: str, form: str
) -> None:
    table = make()
    outcome = postil(*rows_of(table, scored(table), names), "--format", form)
    assert outcome.code == 0, outcome.err
    lines = [line for line in outcome.err.splitlines() if line.startswith(NEAR)]
    assert [said in line for line in lines] == ([True] if said else []), outcome.err
    if form == "json":
        noted = [note for note in json.loads(outcome.out)["notes"] if note.startswith(NEAR)]
        assert noted == lines


def test_correlate_says_so_of_a_kernel(postil: Postil) -> None:
    """Its mean weight falls as near's does; here it is given near's scores, as its own lose nothing."""
    table = leave_one_out()
    scores = scored(table)
    scores[KERNEL] = scores[NEAR]
    outcome = postil(*rows_of(table, scores, [KERNEL, MAX, f"control:mean-weight({KERNEL})"]))
    outliers, mean, lower = outcome.err.splitlines()
    assert outliers.startswith("few outliers rule pearson")
    assert mean.startswith(f"{KERNEL}: within items the mean weight of the references falls")
    assert mean.endswith("; over=kernel follows that mean, over=max less so")
    assert lower.startswith(f"{KERNEL}: pearson is lower than that of {MAX}")
    assert "; over=kernel loses where" in lower
