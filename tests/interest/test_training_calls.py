"""Training of a model of interesting passages."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.options import InputOptions
from postil.errors import InvalidInput, Undefined, UsageError
from postil.interest.model import open_model
from postil.interest.training import TRAINED, train_interesting
from postil.interest.training_options import InterestTrainOptions

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = InterestTrainOptions(resamples=50, penalty=2.0, min_count=2)
KINDS = (("dragon", 3), ("ghost", 2), ("tax", 0), ("rent", 1), ("toll", 0), ("fee", 0))
TAILS = ("", " once again", " in the long and wet spring of that year")


def votes(path: Path, pages: int = 7) -> Path:
    """Pages on which readers like dragons and ghosts, whatever the length of a sentence."""
    rows = [
        {
            "page": f"p{page}",
            "nr": f"{kind}{tail}",
            "text": f"People spoke of the {kind}{TAILS[(tail + page) % 3]}.",
            "stars": grade,
        }
        for page in range(pages)
        for kind, grade in KINDS
        for tail in range(3)
    ]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


INPUTS = InputOptions(column=("topic=page", "id=nr", "grade=stars"))


def test_the_cross_fit_beats_rankings_without_a_fit(tmp_path: Path) -> None:
    result = train_interesting(str(votes(tmp_path / "votes.csv")), str(tmp_path / "m"), OPTIONS, INPUTS)
    gains = {row.measure: row.ncg for row in result.gains}
    assert list(gains) == [TRAINED, "shipped", "untrained", "longest first", "random"]
    assert gains[TRAINED] > 0.95
    assert gains[TRAINED] > max(gain for name, gain in gains.items() if name != TRAINED) + 0.1
    assert {row.second for row in result.differences} == {"shipped", "untrained", "longest first", "random"}
    assert result.data.topics == 7
    assert result.settings.folds == 7
    assert [row.measure for row in result.by_length] == list(gains)
    model = open_model(tmp_path / "m")
    assert model.name == result.model
    assert max(model.words, key=lambda unit: model.words[unit]) in {"dragon", "the dragon"}
    about = json.loads((tmp_path / "m" / "model.json").read_text())
    assert about["pages"] == 7
    assert [row["measure"] for row in about["evaluation"]] == list(gains)
    assert about["options"]["penalty"] == 2.0


def test_a_training_gives_the_same_bytes(tmp_path: Path) -> None:
    source = str(votes(tmp_path / "votes.csv"))
    train_interesting(source, str(tmp_path / "a"), OPTIONS, INPUTS)
    again = InterestTrainOptions(resamples=50, penalty=2.0, min_count=2, jobs=2)
    train_interesting(source, str(tmp_path / "b"), again, INPUTS)
    for name in ("weights.csv", "model.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_few_pages_are_noted(tmp_path: Path) -> None:
    result = train_interesting(str(votes(tmp_path / "votes.csv", 3)), str(tmp_path / "m"), OPTIONS, INPUTS)
    assert any(note.startswith("3 pages are few") for note in result.notes)


def test_bad_ratings_are_refused_with_a_sentence(tmp_path: Path) -> None:
    one = votes(tmp_path / "one.csv", 1)
    with pytest.raises(Undefined, match="expected passages of two pages at least, got one: p0"):
        train_interesting(str(one), str(tmp_path / "m"), OPTIONS, INPUTS)
    han = tmp_path / "han.jsonl"
    rows = [{"topic": str(n), "id": "1", "text": "磨坊是最古老的", "grade": n} for n in range(3)]
    han.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InvalidInput, match="Han text"):
        train_interesting(str(han), str(tmp_path / "m"), OPTIONS, InputOptions())
    same = tmp_path / "same.jsonl"
    rows = [{"topic": str(n % 2), "id": str(n), "text": "A mill.", "grade": 1} for n in range(4)]
    same.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(Undefined, match="nothing to learn"):
        train_interesting(str(same), str(tmp_path / "m"), OPTIONS, InputOptions())
    assert not (tmp_path / "m").exists()
    with pytest.raises(UsageError, match="penalty: expected a number above 0"):
        InterestTrainOptions(penalty=0.0)
    with pytest.raises(UsageError, match="cues: expected a number of at least 0"):
        InterestTrainOptions(cues=-0.1)


def test_the_command_prints_rankings_and_weights(tmp_path: Path) -> None:
    source = votes(tmp_path / "votes.csv")
    columns = [word for each in INPUTS.column for word in ("--column", each)]
    out = ["--out", str(tmp_path / "my model"), "--resamples", "50", "--penalty", "2"]
    result = CliRunner().invoke(app, ["train", "interesting", str(source), *columns, *out])
    assert result.exit_code == 0, result.output
    assert "126 passages of 7 pages, scale 0:3; one list per page, the mean of them" in result.stdout
    assert "trained minus (* p < .05)" in result.stdout
    assert "nCG@5 in thirds" in result.stdout
    assert "dragon" in result.stdout
    assert f"go on with: postil interesting PAGE --model '{tmp_path}/my model'" in result.stderr


def test_ratings_of_several_readers_are_averaged(tmp_path: Path) -> None:
    source = votes(tmp_path / "votes.csv")
    train_interesting(str(source), str(tmp_path / "one"), OPTIONS, INPUTS)
    with source.open(encoding="utf-8", newline="") as stream:
        one = list(csv.DictReader(stream))
    several = tmp_path / "several.csv"
    with several.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(one[0]))
        writer.writeheader()
        for row in one:
            writer.writerows(row | {"stars": each} for each in (2 * int(row["stars"]), "", 0))  # one reader gave none
    said: list[str] = []
    result = train_interesting(str(several), str(tmp_path / "two"), OPTIONS, INPUTS, on_message=said.append)
    assert (result.data.passages, result.data.topics) == (126, 7)
    assert f"{several}: 126 passages; several ratings of a passage are averaged" in said
    for name in ("weights.csv", "model.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_rows_that_are_no_ratings_are_refused(tmp_path: Path) -> None:
    good = {"topic": "a", "id": "1", "text": "A mill.", "grade": 1}
    other = [{"topic": "b", "id": "1", "text": "A ghost.", "grade": 2}]
    cases = [
        ([good, good | {"text": "Another text."}], r"rows.jsonl:2: id: a second passage '?\"?1"),
        ([good, good | {"grade": -1}], r"rows.jsonl:2: grade: expected a number of at least 0"),
        ([good | {"grade": -1}, good], r"rows.jsonl:1: grade: expected a number of at least 0"),
    ]
    path = tmp_path / "rows.jsonl"
    for rows, problem in cases:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows + other), encoding="utf-8")
        with pytest.raises(InvalidInput, match=problem):
            train_interesting(str(path), str(tmp_path / "m"), OPTIONS, InputOptions())
    path.write_text('{"topic": "a", "id": 1, "text": "A mill.", "stars": 3}\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="no row has a grade; name its column: column="):
        train_interesting(str(path), str(tmp_path / "m"), OPTIONS, InputOptions())
