"""The studies of references on made data, and some figures of the findings where the real data is."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]

ROOT_MODULES = ("mohler_to_rows", "dstc7_to_rows", "wmt21_to_rows", "reference_sets")


@pytest.fixture
def sets(example: Load) -> ModuleType:
    """`reference_sets`, with what it imports."""
    *_, module = [example(name) for name in ROOT_MODULES]
    return module


@pytest.fixture
def study(example: Load, sets: ModuleType) -> ModuleType:
    assert sets
    return example("graded_references")


def graded(sets: ModuleType, items: int = 9) -> object:
    """Texts of a good and a bad word for each item; the more good words, the better the grade."""
    rng = np.random.default_rng(3)
    good = rng.integers(0, 5, (items, 6))
    texts = [" ".join(["good"] * n + ["bad"] * (4 - n) + [f"w{k}"]) for row in good for k, n in enumerate(row)]
    return sets.Graded("made", texts, good.ravel() / 4, np.repeat(np.arange(items, dtype=np.int32), 6))


def test_everyone_else(sets: ModuleType) -> None:
    data = sets.everyone_else(sets.Graded("made", list("abcd"), np.arange(4) / 4, np.array([0, 0, 0, 1], np.int32)))
    assert data.references == [["b", "c"], ["a", "c"], ["a", "b"], []]
    assert data.weights == [[0.25, 0.5], [0.0, 0.5], [0.0, 0.25], []]


def test_halves_are_each_others_references(sets: ModuleType) -> None:
    whole = graded(sets)
    data = sets.halves(whole)
    assert sorted(data.candidates) == sorted(whole.texts)
    assert len(data.item) == len(data.cluster[data.item]) == len(whole.texts)
    grade = dict(zip(zip(data.cluster[data.item], data.candidates, strict=True), data.grades, strict=True))
    for text, references, weights, item in zip(data.candidates, data.references, data.weights, data.item, strict=True):
        cluster = data.cluster[item]
        mine = [other for other, number in zip(data.candidates, data.item, strict=True) if number == item]
        assert text in mine
        assert not set(mine) & set(references)
        assert weights == [grade[cluster, reference] for reference in references]
    assert data.candidates != sets.halves(whole, seed=1).candidates


def test_halves_compared_whole(sets: ModuleType) -> None:
    """The same rows; the item is the whole one, and the half with the better texts has the worse references."""
    data = sets.halves(graded(sets))
    whole = sets.compared_whole(data)
    assert whole.item.tolist() == np.repeat(np.arange(9), 6).tolist()
    assert whole.cluster.tolist() == list(range(9))
    assert (whole.candidates, whole.references) == (data.candidates, data.references)
    mean = np.array([np.mean(row) for row in data.weights])
    for item in range(9):
        rows = whole.item == item
        assert np.cov(mean[rows], data.grades[rows])[0, 1] <= 0


def test_two_grades(sets: ModuleType) -> None:
    grades = np.array([0.2, 0.4, 0.9, 1.0, 1.0, 1.0])
    data = sets.Graded("made", list("abcdef"), grades, np.array([0, 0, 0, 1, 1, 1], np.int32))
    assert sets.two_grades(data).grades.tolist() == [0, 1, 1, 1, 1, 1]


def test_where_near_loses(
    study: ModuleType, sets: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "RESAMPLES", 50)
    study.where_near_loses(graded(sets), 1)
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split(" | ")[0] for line in lines if "pearson" in line]
    assert heads == ["| made", "| made, halves compared whole", "| made, halves"]
    exact, _, alike = (line.split(" | ")[3] for line in lines if line.startswith("| mean weight of the references"))
    assert exact.startswith("-1.000 (")
    assert alike == "- (constant)"


def test_pairs_are_what_the_metrics_see(study: ModuleType, sets: ModuleType) -> None:
    data = sets.halves(graded(sets))
    x = study.pairs_of(data, "rouge-l(over=top-1)", 1)
    specs = ["w-rouge-l(over=top-1)", "w-rouge-l(over=mean)", "w-rouge-l(over=near)"]
    with pytest.warns(UserWarning, match="54 of 54 candidates are references of other items"):
        items = postil.score(data.candidates, data.references, weights=data.weights, metrics=specs).items
    for scores, spec in zip((study.power(x, 1), study.mean(x, 1), study.near(x, 1, 1)), specs, strict=True):
        assert scores == pytest.approx(items[spec]), spec


def test_families_meet(study: ModuleType) -> None:
    """Each family has a corner in which it is another."""
    rng = np.random.default_rng(1)
    f = rng.permuted(np.tile([0.1, 0.3, 0.5, 0.7, 0.9], (20, 1)), axis=1)
    x = study.Pairs(f, rng.random((20, 5)), np.ones((20, 5)))
    assert study.threshold(x, 0) == pytest.approx(study.power(x, 0))
    assert study.threshold(x, 1) == pytest.approx(study.relative_power(x, 1e6))
    assert study.pull_down(x, 2, 0) == pytest.approx(study.power(x, 2))
    assert study.normed_mean(x, 0) == pytest.approx(study.mean(x, 0))
    assert study.soft_maximum(x, 1, 1) == pytest.approx(study.mean(x, 1))
    assert study.soft_maximum(x, 1, 100) == pytest.approx(study.power(x, 1), rel=0.03)
    assert study.signed_mean(x, 0) == pytest.approx(study.mean(x, 1))
    assert study.near(x, 1, 1e9) == pytest.approx(study.mean(x, 1))
    assert study.near(x, 100, 0) == pytest.approx(study.nearest(x))


def test_shuffled_weights_stay_with_their_candidate(study: ModuleType) -> None:
    there = np.array([[1.0, 1, 1], [1, 1, 0]])
    x = study.Pairs(there * 0.5, there * [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], there)
    seen = {tuple(x.shuffled(seed).s.ravel().round(9)) for seed in range(40)}
    assert {tuple(sorted(each[:3])) for each in seen} == {(0.1, 0.2, 0.3)}
    assert {each[3:] for each in seen} == {(0.4, 0.5, 0.0), (0.5, 0.4, 0.0)}


def test_a_choice_is_not_made_on_what_it_scores(study: ModuleType) -> None:
    """Each fold's texts are scored by the parameters that the others choose: here those folds disagree with it."""
    x = study.Pairs(np.array([[1.0, 0.5]] * 4), np.array([[0.2, 1.0], [0.9, 0.1]] * 2), np.ones((4, 2)))
    cluster = np.array([0, 1, 9, 10], np.int32)  # folds 0, 1, 0, 1
    scores, chosen = study.held_out(x, "power", np.array([1.0, 0.0, 1.0, 0.0]), cluster)
    assert len(chosen) == study.FOLDS
    parameters, grid = study.grid_of(x, "power")
    for fold in (0, 1):
        inside = cluster % study.FOLDS == fold
        assert scores[inside] == pytest.approx(grid[inside, parameters.index(chosen[fold])])


def test_the_table(sets: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "RESAMPLES", 50)
    data = sets.halves(graded(sets))
    noise = np.random.default_rng(5).random((len(data.grades), 3))
    sets.print_table(
        data, {"noise": noise, "grade": data.grades, "item": data.item.astype(float)}, "noise", [("grade", "noise")]
    )
    rows = {line.split(" | ")[0][2:]: line.split(" | ") for line in capsys.readouterr().out.splitlines() if "|" in line}
    assert rows["grade"][1].startswith("1.000 (+")
    assert re.fullmatch(r"-?0\.\d{3}", rows["noise"][1])  # the mean over three draws
    assert rows["item"][3] == "- (constant)"
    assert rows["grade minus noise"][1] == rows["grade"][1].removeprefix("1.000 (").removesuffix(")")


def test_votes_are_ranks_within_a_post(sets: ModuleType, tmp_path: Path) -> None:
    posts = [
        {"id": f"p{n}", "comments": [{"text": f"text {n} {votes}", "votes": votes} for votes in (5, 90, 7)]}
        for n in range(12)
    ]
    posts[6]["comments"].append({"text": "!", "votes": 100})
    path = tmp_path / "posts.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(post) + "\n" for post in posts)
    data = sets.voted(path)
    assert data.item.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.texts[3:] == ["text 6 5", "text 6 90", "text 6 7"]
    assert data.grades == pytest.approx([1 - np.log(r) / np.log(4) for r in (3, 1, 2)] * 2)
    assert sets.voted(path, 1).texts[0] == "text 1 5"


def test_figures(example: Load, sets: ModuleType, judged: Path) -> None:
    """The first column of two tables of the findings."""
    study = example("graded_references")
    whole = sets.mohler(judged)
    data = sets.everyone_else(whole)
    found = postil.score(data.candidates, data.references, metrics=["rouge-l", "rouge-l(over=mean)"]).items
    correlations = [np.corrcoef(values, data.grades)[0, 1] for values in found.values()]
    assert correlations == pytest.approx([0.362, 0.450], abs=5e-4)
    data = sets.halves(whole)
    x = study.pairs_of(data, "rouge-l(over=top-1)", 1)
    assert np.corrcoef(study.power(x, 1), data.grades)[0, 1] == pytest.approx(0.482, abs=5e-4)
    scores, chosen = study.held_out(x, "near", data.grades, data.cluster[data.item])
    assert np.corrcoef(scores, data.grades)[0, 1] == pytest.approx(0.482 + 0.146, abs=1e-3)
    assert set(chosen) == {(2.0, 0.1)}


def test_figures_of_where_near_loses(sets: ModuleType, judged: Path) -> None:
    """With two grades and leave-one-out, within the questions."""
    data = sets.everyone_else(sets.two_grades(sets.mohler(judged)))
    specs = ["w-rouge-l", "w-rouge-l(over=near)"]
    with (
        pytest.warns(UserWarning, match=r"13.5 references for each distinct weight"),
        pytest.warns(UserWarning, match="2,273 of 2,273 candidates are references of other items"),
    ):
        found = postil.score(data.candidates, data.references, weights=data.weights, metrics=specs).items
    rows = [data.item == item for item in range(len(data.cluster)) if np.ptp(data.grades[data.item == item])]
    within = [np.mean([np.corrcoef(found[spec][row], data.grades[row])[0, 1] for row in rows]) for spec in specs]
    assert within == pytest.approx([0.472, 0.349], abs=5e-4)


def test_planned_references(
    example: Load, sets: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = example("planned_references")
    monkeypatch.setattr(planned, "SHARES", (1.0, 0.34))
    with pytest.warns(UserWarning, match="excluded|references of other items"):
        planned.study(graded(sets), 2, 1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines if "graded |" in line] == [
        "| made, w-rouge-l(over=top-1)",
        "| made, w-rouge-l",
    ]
    assert "| random | 100 % [100, 100] | " in lines[3]
    assert "| planned | 100 % [100, 100] | " in lines[4]
    reached = next(line for line in lines if line.startswith("| planned, share of these texts"))
    assert reached.endswith("100 % [100, 100] |"), "a third of three references is the best of every set"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*excluded")
def test_figures_of_few_grades(example: Load, sets: ModuleType, judged: Path) -> None:
    """A planned fifth keeps most of the gain, and a planned tenth loses at most half of what a random one does."""
    planned = example("planned_references")
    whole = sets.mohler(judged)
    made = [planned.Study.of(sets.halves(whole, planned.SEED + draw), 1) for draw in range(4)]
    runs = [planned.gains(each, "rouge-l(over=top-1)", draw, 1) for draw, each in enumerate(made)]
    kept = {key: float(np.mean([run[key][0] for run in runs])) for key in runs[0]}
    assert kept["planned", 0.2] > 0.85
    assert 1 - kept["planned", 0.1] < (1 - kept["random", 0.1]) / 2
    assert kept["planned", 0.05] < 0.35


@pytest.fixture
def meaning(example: Load, study: ModuleType) -> ModuleType:
    assert study
    return example("meaning_references")


def test_meaning_references(
    meaning: ModuleType,
    sets: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Every row and difference in each table; vectors that tell good from bad follow the grades."""
    words = ("good", "bad", *(f"w{k}" for k in range(6)))
    Vectors(words, np.eye(len(words), 8, dtype=np.float32)).save(tmp_path / "vectors")
    monkeypatch.setattr(sets, "RESAMPLES", 20)
    monkeypatch.setattr(meaning, "DRAWS", 2)
    monkeypatch.setattr(meaning, "SETS", {"made": lambda _: graded(sets, 18)})
    ridge = {name: (columns, "ridge") for name, (columns, _) in meaning.COMBINATIONS.items()}
    monkeypatch.setattr(meaning, "COMBINATIONS", ridge)  # scikit-learn takes seconds to import
    meaning.main([str(tmp_path), str(tmp_path / "vectors")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "- made, halves: 108 texts on 18 items, 3 to 3 references each (median 3)"
    table = lines[4 : lines.index("", 4)]
    rows = {line.split(" | ")[0][2:]: line.split(" | ")[1] for line in table}
    assert sum(line.startswith("| constant | 0.") for line in lines) == 1
    assert sum(" − " in line for line in lines) == len(meaning.LEVELS) * len(meaning.DIFFERENCES)
    assert {name for pair in meaning.DIFFERENCES for name in pair} <= set(rows)
    assert rows["mean grade"].split(" / ")[1] == "-"  # within halves it is constant
    pooled = {name: float(cell.split(" / ")[0]) for name, cell in rows.items() if re.match(r"-?\d", cell)}
    assert pooled["w-vector-f1 idf"] > pooled["w-vector-f1 idf, shuffled"], pooled
    assert pooled["ridge: words and meaning"] > pooled["ridge: controls"]


def test_a_combination_keeps_texts_in_place(meaning: ModuleType, sets: ModuleType) -> None:
    data = sets.halves(graded(sets, 27))
    found = meaning.combined(data, {"grade": data.grades}, ["grade"], "ridge")
    assert np.corrcoef(found, data.grades)[0, 1] > 0.999


def test_a_column_is_not_chosen_by_what_it_scores(meaning: ModuleType) -> None:
    cluster = np.array([0, 1, 9, 10], np.int32)  # folds 0, 1, 0, 1
    grades = np.array([1.0, 0.0, 0.0, 1.0])
    scores = np.column_stack([grades * [1, -1, 1, -1], [0.5, 0.0, 0.7, 1.0]])
    chosen = meaning.held_out(scores, grades, cluster)
    assert chosen.tolist() == [0.5, 0.0, 0.7, -1.0]


def test_figures_of_meaning(meaning: ModuleType, sets: ModuleType, judged: Path) -> None:
    """Words in the table of the findings; the vectors are those of another package."""
    data = sets.halves(sets.mohler(judged))
    specs = {name: spec for name, spec in meaning.specs_of("none").items() if name in meaning.WORDS}
    with pytest.warns(UserWarning, match="references of other items"):
        found = postil.score(data.candidates, data.references, weights=data.weights, metrics=[*specs.values()]).items
    values, _ = sets.correlated(data, {name: found[spec] for name, spec in specs.items()}, "pool", "pearson")
    assert [round(values[name], 3) for name in meaning.WORDS] == [0.366, 0.506, 0.604, 0.288, 0.422, 0.637]
