"""Student answers against each other, and their study, compared with figures of code that shares nothing with these."""

from __future__ import annotations

import csv
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.correlation.calls import correlate_files
from postil.correlation.options import CorrelateOptions
from postil.data.row_files import read
from postil.data.rows import Candidate, Judgement, Rating, Reference, Score
from postil.meta.coefficient_kinds import kind_of
from postil.meta.column_correlations import Texts
from postil.meta.resampling import bootstrap_counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]
    from collections.abc import Sequence

    from postil.correlation.result import CorrelationResult
    from postil.meta.coefficients import By
    from postil.meta.parts import Correlation


CSV = """\
id,question,desired_answer,student_answer,score_me,score_other,score_avg
1.1,Why?,Because.,"It is, so.",4,3,3.5
1.1,Why?,Because.,No idea,0,1,0.5
2.1,How?,So.,Alone here,5,5,5
1.1,Why?,Because.,"It is, so.",5,5,5
"""

# Mean score and Pearson correlation with the mean grade over 2,273 answers, by code that shares nothing with this one.
OF_PYTHON = {
    "rouge-l": (0.574016, 0.361725),
    "w-rouge-l": (0.520235, 0.522690),
    "bleu-1": (0.822850, 0.330171),
    "w-bleu-1": (0.795615, 0.416712),
}


def test_candidates_and_references(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mohler_dataset.csv").write_text(CSV)
    example("mohler_to_rows").main([str(tmp_path), str(tmp_path / "rows")])
    assert capsys.readouterr().out == f"3 candidates, 6 references, 6 judgements in {tmp_path / 'rows'}\n"
    # question 2.1 has a single answer, and nothing to compare it with
    first, second, third = "It is, so.", "No idea", "It is, so."
    assert list(read(tmp_path / "rows/candidates.jsonl", Candidate)) == [
        Candidate("1.1/1", "student", first),
        Candidate("1.1/2", "student", second),
        Candidate("1.1/3", "student", third),
    ]
    one = {"id": "1", "text": first, "grade": 3.5, "ratings": (Rating("me", 4), Rating("other", 3))}
    two = {"id": "2", "text": second, "grade": 0.5, "ratings": (Rating("me", 0), Rating("other", 1))}
    three = {"id": "3", "text": third, "grade": 5, "ratings": (Rating("me", 5), Rating("other", 5))}
    expected = [("1.1/1", two), ("1.1/1", three), ("1.1/2", one), ("1.1/2", three), ("1.1/3", one), ("1.1/3", two)]
    references = list(read(tmp_path / "rows/references.jsonl", Reference))
    assert references == [Reference(item, **fields) for item, fields in expected]
    judgements = list(read(tmp_path / "rows/judgements.jsonl", Judgement))
    assert judgements[:2] == [Judgement("1.1/1", "student", "me", 4), Judgement("1.1/1", "student", "other", 3)]


def test_figures_in_python(example: Load, judged: Path) -> None:
    module = example("mohler_to_rows")
    questions = module.read(judged / "mohler" / module.NAME)
    every = [answer for answers in questions.values() for answer in answers]
    sets = [module.others(answer, questions[answer.question]) for answer in every]
    result = postil.score(
        [answer.text for answer in every],
        [[other.text for other in row] for row in sets],
        weights=postil.Scale(0, 5).weights([[other.grade for other in row] for row in sets]),
        metrics=[*OF_PYTHON, "cider"],
        items=[answer.question for answer in every],
    )
    grades = np.array([answer.grade for answer in every])
    check({spec: result.items[spec] for spec in OF_PYTHON}, grades)
    assert "background:references/81|" in result.signatures["cider"]


def check(scores: dict[str, np.ndarray], grades: np.ndarray) -> None:
    assert len(grades) == 2273
    found = {spec: (values.mean(), np.corrcoef(values, grades)[0, 1]) for spec, values in scores.items()}
    for spec, figures in OF_PYTHON.items():
        assert found[spec] == pytest.approx(figures, abs=1e-6), spec


MAX_F = "rouge-l(over=top-1)"
"""max_j s_j F_j, where rouge-l takes the highest precision and the highest recall apart."""

# Each: mean score; Pearson pooled; percentiles of its resamples; Spearman pooled; Pearson and Spearman by question. A
# control's mean is left out where it is that of grades. Spearman of BLEU-1 has relative ties: with scores below 1e-12
# as one tie it is up to 4e-4 higher (.270688 and .311199 by question, .385110 for the control).
FIGURES: dict[str, tuple[float, float, tuple[float, float] | None, float, float, float]] = {
    "rouge-l": (0.574016, 0.361725, (0.282, 0.436), 0.400605, 0.345735, 0.342092),
    "w-rouge-l": (0.520235, 0.522690, (0.481, 0.562), 0.563950, 0.465594, 0.462740),
    "control:top(w-rouge-l)": (0.470301, 0.546035, (0.509, 0.580), 0.637244, 0.493446, 0.499522),
    MAX_F: (0.508966, 0.342055, (0.262, 0.415), 0.397870, 0.313031, 0.323743),
    f"w-{MAX_F}": (0.466857, 0.494030, (0.454, 0.529), 0.546439, 0.429430, 0.435959),
    f"control:top(w-{MAX_F})": (0.431280, 0.522027, (0.486, 0.554), 0.621357, 0.459759, 0.472738),
    "bleu-1": (0.822850, 0.330171, (0.271, 0.389), 0.292803, 0.326161, 0.270660),
    "w-bleu-1": (0.795615, 0.416712, (0.354, 0.473), 0.402097, 0.362782, 0.311170),
    "control:top(w-bleu-1)": (0.652940, 0.508116, (0.434, 0.572), 0.568037, 0.410843, 0.384720),
    "control:nearest(w-rouge-l)": (4.315707 / 5, 0.551769, (0.489, 0.611), 0.582592, 0.340624, 0.359186),
    "control:length": (19.264848, 0.065117, None, 0.027372, 0.149322, 0.174179),
}

# Differences: Pearson pooled, its interval, Spearman.
DIFFERENCES = {
    ("w-rouge-l", "rouge-l"): (0.160965, (0.101, 0.234), 0.163345),
    ("w-rouge-l", "control:nearest(w-rouge-l)"): (-0.029079, (-0.094, 0.039), -0.018642),
    ("w-rouge-l", "control:top(w-rouge-l)"): (-0.023345, (-0.045, -0.006), -0.073294),
    (f"w-{MAX_F}", MAX_F): (0.151975, (0.093, 0.224), 0.148569),
    (f"w-{MAX_F}", f"control:top(w-{MAX_F})"): (-0.027997, (-0.048, -0.011), -0.074918),
    ("w-bleu-1", "bleu-1"): (0.086541, (0.061, 0.114), 0.109294),
    ("w-bleu-1", "control:top(w-bleu-1)"): (-0.091404, (-0.139, -0.039), -0.165941),
}

# Weights permuted among the references of each answer, 20 draws. Mean and standard deviation of Pearson and of
# Spearman; the weighted metric less that mean, Pearson, with its interval.
SHUFFLED = {
    "w-rouge-l": ((0.397419, 0.0048), (0.453466, 0.0046), 0.125271, (0.069, 0.203)),
    f"w-{MAX_F}": ((0.373526, 0.0045), (0.444979, 0.0046), 0.120504, (0.064, 0.198)),
    "w-bleu-1": ((0.365290, 0.0042), (0.348485, 0.0037), 0.051422, (0.033, 0.073)),
}
DRAWS = 20

# The five best-graded in the order of the file, without weights: mean, Pearson, Spearman.
BEST = {
    "rouge-l": (0.408158, 0.482182, 0.548967),
    MAX_F: (0.382177, 0.466151, 0.537075),
    "bleu-1": (0.553727, 0.441085, 0.440781),
}
DESIRED = (0.270217, 0.422265, 0.484939)
"""The same of rouge-l with the teacher's answer as the only reference."""


def test_rows(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mohler_dataset.csv").write_text(CSV)
    example("mohler_study").main([str(tmp_path), str(tmp_path / "rows"), "-m", "rouge-l", "--draws", "2"])
    # rouge-l, w-rouge-l, two draws, best-5, top, nearest, length
    assert capsys.readouterr().out == f"3 answers to 1 questions, 8 columns of scores in {tmp_path / 'rows'}\n"
    scores = list(read(tmp_path / "rows/scores.jsonl.gz", Score))
    assert {row.item for row in scores} == {"1.1"}
    # 1 and 3 are the same text: F = 1, times the other's grade of 5; 2 shares no word with them
    weighted = {row.system: row.score for row in scores if row.metric == "w-rouge-l"}
    assert weighted == pytest.approx({"1": 1, "2": 0, "3": 0.7})
    assert scores[-1].metric == "control:length"
    judgements = list(read(tmp_path / "rows/judgements.jsonl", Judgement))
    assert judgements[-1] == Judgement("1.1", "3", "other", 5)


class Study:
    """The rows of the study, and what `postil correlate` says of them with the seed and resamples of the figures."""

    def __init__(self, module: ModuleType, judged: Path, folder: Path) -> None:
        self.answers = module.read(judged / "mohler" / module.NAME)
        self.every = [answer for answers in self.answers.values() for answer in answers]
        self.file = judged / "mohler" / module.NAME
        self.folder = folder
        self.module = module
        specs = [word for spec in BEST for word in ("-m", spec)]
        module.main([str(judged / "mohler"), str(folder), *specs, "--draws", str(DRAWS)])

    @cache  # noqa: B019 - lives as long as the tests
    def findings(self, by: By) -> CorrelationResult:
        options = CorrelateOptions(
            coefficients=("pearson", "spearman"), by=by, resamples=2000, seed=20261121, permutations=100
        )
        return correlate_files([str(self.folder / "scores.jsonl.gz")], str(self.folder / "judgements.jsonl"), options)

    def against(self, references: Sequence[Sequence[str]], metrics: Sequence[str]) -> dict[str, tuple[float, ...]]:
        """Mean score, Pearson and Spearman of all answers against other references than the study's."""
        found = postil.score([answer.text for answer in self.every], references, metrics=metrics).items
        return {name: (values.mean(), *self.correlations(values, "pool")) for name, values in found.items()}

    def correlations(self, values: np.ndarray, by: By) -> tuple[float, ...]:
        grades = np.array([answer.grade for answer in self.every])
        numbers = {question: number for number, question in enumerate(self.answers)}
        item = np.array([numbers[answer.question] for answer in self.every], np.int32)
        counts = bootstrap_counts(len(numbers), 1)
        texts = Texts(values[:, None], grades, item, np.zeros_like(item))
        return tuple(
            float(kind_of(coefficient).resampled(texts, counts, by).values[0])
            for coefficient in ("pearson", "spearman")
        )


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    return {}


@pytest.fixture
def study(example: Load, judged: Path, studies: dict[str, Study], tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Made once for all tests."""
    if not studies:
        studies["mohler"] = Study(example("mohler_study"), judged, tmp_path_factory.mktemp("mohler"))
    return studies["mohler"]


def rows_of(found: CorrelationResult, coefficient: str) -> dict[str, Correlation]:
    return {row.metric: row for row in found.correlations if row.coefficient == coefficient}


@pytest.mark.slow
def test_correlations(study: Study) -> None:
    pool, item = study.findings("pool"), study.findings("item")
    assert pool.points is not None
    assert (pool.data.texts, pool.data.items) == (2273, 81)
    for name, (mean, pearson, percentiles, spearman, *by_question) in FIGURES.items():
        row = rows_of(pool, "pearson")[name]
        values = np.mean(pool.points.scores[name]), row.value, rows_of(pool, "spearman")[name].value
        assert values == pytest.approx((mean, pearson, spearman), abs=1e-6), name
        if percentiles:  # the interval is symmetric on Fisher's scale, and wider by a quantile of Student's t
            low, z, high = np.arctanh([row.low, row.value, row.high])
            assert z - low == pytest.approx(high - z), name
            assert 1 < (high - z) / np.abs(np.arctanh(percentiles) - z).max() < 1.35, name
        rows = [rows_of(item, coefficient)[name] for coefficient in ("pearson", "spearman")]
        assert [row.value for row in rows] == pytest.approx(by_question, abs=1e-6), name
        if "nearest" not in name:
            assert {row.dropped for row in rows} == {1}  # question 8.2, where every grade is 5


@pytest.mark.slow
def test_differences(study: Study) -> None:
    found = study.findings("pool")
    signed = {
        (row.first, row.second, row.coefficient): (row.value, (row.low, row.high))
        for one in found.differences
        for row in (one, one.reversed())
    }
    for names, (pearson, interval, spearman) in DIFFERENCES.items():
        value, ends = signed[*names, "pearson"]
        assert (value, signed[*names, "spearman"][0]) == pytest.approx((pearson, spearman), abs=1e-6), names
        assert ends == pytest.approx(interval, abs=6e-4), names
    for spec, (*figures, difference, interval) in SHUFFLED.items():
        for coefficient, (mean, deviation) in zip(("pearson", "spearman"), figures, strict=True):
            row = rows_of(found, coefficient)[f"control:shuffled({spec})"]
            assert row.value == pytest.approx(mean, abs=4 * deviation / np.sqrt(DRAWS / 2))  # two means of 20
            assert row.sd == pytest.approx(deviation, rel=0.5)
        value, ends = signed[spec, f"control:shuffled({spec})", "pearson"]
        assert (value, *ends) == pytest.approx((difference, *interval), abs=0.01), spec


@pytest.mark.slow
def test_other_references(study: Study) -> None:
    sets = [study.module.others(answer, study.answers[answer.question]) for answer in study.every]
    best = [[other.text for other in sorted(row, key=lambda other: -other.grade)[:5]] for row in sets]
    found = study.against(best, [*BEST])
    for spec, figures in BEST.items():
        assert found[spec] == pytest.approx(figures, abs=1e-6), spec
    with study.file.open(encoding="utf-8", newline="") as file:
        desired = {row["id"]: row["desired_answer"] for row in csv.DictReader(file)}
    found = study.against([[desired[answer.question]] for answer in study.every], ["rouge-l"])
    assert found["rouge-l"] == pytest.approx(DESIRED, abs=1e-6)


@pytest.mark.slow
def test_the_mean_grade_of_the_others_falls_as_the_own_grade_rises(study: Study) -> None:
    sets = [study.module.others(answer, study.answers[answer.question]) for answer in study.every]
    means = np.array([np.mean([other.grade for other in row]) for row in sets])
    assert means.mean() == pytest.approx(4.165090, abs=1e-6)
    assert study.correlations(means, "pool") == pytest.approx((0.401797, 0.446158), abs=1e-6)
    assert study.correlations(means, "item") == pytest.approx((-1, -1), abs=1e-6)


@pytest.mark.slow
def test_people(study: Study) -> None:
    people = study.findings("pool").human
    assert people is not None
    assert (people.k, people.pairs) == (2, 1)
    assert people.reliability == pytest.approx(0.597, abs=5e-4)
    assert people.ceiling == pytest.approx(0.865, abs=5e-4)
