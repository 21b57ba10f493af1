"""`postil.calibrate`: tables of Python in, what the command gives out."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from click.testing import CliRunner

import postil
from postil.cli.main import app
from postil.comments.retrieval import Retriever
from postil.data.model_folders import Model
from postil.data.row_files import write
from postil.data.suggestions import Label
from postil.screening.filtering import CandidateFilter
from retrieval_models import article, train_retrievers

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = {"resamples": 20}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and labels of its suggestions without titles."""
    folder = train_retrievers(tmp_path_factory.mktemp("made"), kinds=("ir-tc",))
    retriever = Retriever.open(folder / "tc", candidate_filter=CandidateFilter(repeat=0))
    found = retriever.comment([article(number) for number in range(100, 120)], 3)
    rows = [(each.article, one) for each in found for one in each.suggestions]
    labels = [
        Label(of, one.text, one.text.startswith("All about") != (place % 5 == 0), rank=one.rank)
        for place, (of, one) in enumerate(rows)
    ]
    write(str(folder / "labels.jsonl"), labels)
    return folder


def untitled() -> list[dict[str, object]]:
    """Articles as an editor has them: without comments."""
    rows = [article(number) for number in range(100, 120)]
    return [{"id": row.id, "headline": row.title, "content": row.content} for row in rows]


def test_tables_give_what_the_command_gives(made: Path, tmp_path: Path) -> None:
    pd.DataFrame(untitled()).to_csv(tmp_path / "articles.csv", index=False)
    command = ["calibrate", f"{made / 'tc'}", "--labels", f"{made / 'labels.jsonl'}", "--resamples", "20"]
    command += ["--articles", f"{tmp_path / 'articles.csv'}", "--column", "articles.title=headline"]
    done = CliRunner().invoke(app, [*command, "--out", f"{tmp_path / 'a'}", "--format", "json"])
    assert done.exit_code == 0, done.stderr
    labels = pd.read_json(made / "labels.jsonl", lines=True).rename(columns={"show": "good"})
    columns = {"show": "good", "articles.title": "headline"}
    options = postil.CalibrateOptions(**OPTIONS, out=str(tmp_path / "b"))
    found = postil.calibrate(made / "tc", labels, untitled(), columns=columns, options=options)
    assert json.loads(done.stdout) == json.loads(found.to_json())
    assert found.labels == len(labels)
    one, other = (Model.open(tmp_path / name) for name in "ab")
    assert one.hash == other.hash != Model.open(made / "tc").hash


def test_the_model_itself_is_changed_by_rows_with_titles(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "tc", tmp_path / "m")
    rows = [json.loads(line) for line in (made / "labels.jsonl").read_text().splitlines()]
    titles = {row["id"]: row["headline"] for row in untitled()}
    labels = [Label(row["article"], row["text"], row["show"], title=str(titles[row["article"]])) for row in rows]
    found = postil.calibrate(tmp_path / "m", labels, options=postil.CalibrateOptions(**OPTIONS))
    assert not found.reason
    assert "show/filter.json" in Model.open(tmp_path / "m").files


@pytest.mark.parametrize("frame", [True, False])
def test_what_says_that_there_is_no_value(made: Path, tmp_path: Path, *, frame: bool) -> None:
    rows = [json.loads(line) for line in (made / "labels.jsonl").read_text().splitlines()]
    found = []
    for number, (hole, missing) in enumerate(((None, ()), (float("nan"), ()), ("k. A.", ("k. A.",)), ("", ("",)))):
        labels = [{"reason": hole, **row, "rank": hole if place < 3 else row["rank"]} for place, row in enumerate(rows)]
        of = {
            "columns": {"articles.title": "headline"},
            "options": postil.CalibrateOptions(resamples=20, out=f"{tmp_path / str(number)}"),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(
                postil.calibrate(
                    made / "tc", pd.DataFrame(labels) if frame else labels, untitled(), missing=missing, **of
                )
            )
    assert len({each.to_json() for each in found}) == 1
    with pytest.raises(postil.InvalidInput, match=r"^labels:1: rank: expected an integer"):
        postil.calibrate(
            made / "tc", [{**rows[0], "rank": "k. A."}], untitled(), columns={"articles.title": "headline"}
        )


@pytest.mark.parametrize("frame", [True, False])
def test_labels_that_nobody_gave_yet_are_left_out(made: Path, tmp_path: Path, *, frame: bool) -> None:
    rows = [json.loads(line) for line in (made / "labels.jsonl").read_text().splitlines()]
    open_ones = [{**row, "show": hole} for row, hole in zip(rows, (None, float("nan"), "", " "), strict=False)]
    of = {"columns": {"articles.title": "headline"}, "resamples": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = postil.calibrate(made / "tc", rows, untitled(), out=f"{tmp_path / 'a'}", **of)
    both = open_ones + rows
    with pytest.warns(UserWarning, match=r"^labels: 4 rows without an answer, left out$"):
        found = postil.calibrate(
            made / "tc", pd.DataFrame(both) if frame else both, untitled(), out=f"{tmp_path / 'b'}", **of
        )
    assert found.to_json() == plain.to_json()
    with (
        pytest.warns(UserWarning, match=r"^labels: 4 rows without an answer"),
        pytest.raises(postil.InvalidInput, match=r"^labels: expected at least one label with an answer, got none$"),
    ):
        postil.calibrate(made / "tc", open_ones, untitled(), out=f"{tmp_path / 'c'}", **of)


def test_what_is_refused(made: Path, tmp_path: Path) -> None:
    model, free = made / "tc", postil.CalibrateOptions(out=str(tmp_path / "free"))
    with pytest.raises(postil.InvalidInput, match=r"none of 60 labels .* \(articles=FILE\), or labels of its"):
        postil.calibrate(model, made / "labels.jsonl", options=free)
    with pytest.raises(postil.InvalidInput, match=r"labels: no column 'show'.*columns=\{'show': COLUMN\}"):
        postil.calibrate(model, [{"article": "a", "text": "t"}], options=free)
    with pytest.raises(postil.InvalidInput, match=r"articles.*expected an id that no other article has"):
        postil.calibrate(model, made / "labels.jsonl", untitled()[:1] * 2, columns={"articles.title": "headline"})
    with pytest.raises(postil.UsageError, match="already exists"):
        postil.calibrate(model, made / "labels.jsonl", options=postil.CalibrateOptions(out=str(tmp_path)))
    with pytest.raises(postil.UsageError, match=re.escape('resamples: expected a whole number from 1 up, got "9"')):
        postil.CalibrateOptions(resamples="9")  # type: ignore[arg-type]
    assert not (tmp_path / "free").exists()
