"""Training of quality and evaluation of orders of threads, on a small corpus in which votes follow text and time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.corpus.store import Corpus
from postil.data.fields import parse_date
from postil.data.row_files import write
from postil.data.rows import Article, Comment
from postil.data.suggestions import Label
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.threads.evaluation import evaluate_threads, read_threads
from postil.threads.options import QualityTrainOptions
from postil.threads.training import train_quality
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postil.threads.result import ThreadOrdersResult

pytest.importorskip("pyarrow")

WORDS = ["rain", "chess", "votes", "bread", "river", "bridge", "night", "train", "garden", "coat", "market", "school"]


def thread(number: int, *, dates: bool = True, grades: bool = True) -> Article:
    """Votes are 20 + exclamation marks count against them, and 3 per place of an earlier comment."""
    draw = np.random.default_rng(number)
    comments = []
    for place, late in enumerate(draw.permutation(8).tolist()):
        marks = int(draw.integers(0, 4))
        text = " ".join(draw.choice(WORDS, draw.integers(4, 12))) + "!" * marks
        grade = 5.0 - marks if grades else None
        date = parse_date(1_500_000_000 + 60 * late) if dates else None
        comments.append(Comment(f"c{place}", text, upvotes=20 - 4 * marks - 2 * late, grade=grade, date=date))
    return Article(f"a{number:02}", f"{WORDS[number % 12]} {number}", tuple(comments))


def build(folder: Path, articles: list[Article]) -> Path:
    return corpus_of(folder, articles, 0, 6).path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    silent = Article("none", "No votes here", (Comment("a", "one two three"), Comment("b", "four five six")))
    return build(tmp_path_factory.mktemp("made"), [*map(thread, range(40)), silent])


@pytest.fixture(scope="module")
def trained(corpus: Path) -> Iterator[tuple[Path, ThreadOrdersResult]]:
    out = corpus.parent / "quality"
    return out, train_quality(corpus, out, QualityTrainOptions(resamples=200))


def values(result: ThreadOrdersResult, measure: str = "pairwise") -> dict[str, float]:
    return {row.scorer: row.value for row in result.rows if row.measure == measure}


def test_quality_is_what_time_leaves(trained: tuple[Path, ThreadOrdersResult]) -> None:
    _, result = trained
    found = values(result)
    assert list(found) == ["quality and time", "quality", "length", "oldest", "file order", "random"]
    assert found["quality and time"] > 0.9
    assert found["quality"] > found["length"] + 0.1
    weights = {row.feature: row for row in result.weights}
    assert weights["exclamation marks"].high < 0
    assert not weights["time"].predicts
    assert result.remarks[-3].startswith("quality: ")
    assert "better than length alone" in result.remarks[-3]
    assert [each.why for each in result.excluded if each.examples == ("none",)] in ([], ["a comment has no upvotes"])


def test_a_training_gives_the_same_bytes(corpus: Path, trained: tuple[Path, ThreadOrdersResult]) -> None:
    out, result = trained
    again = train_quality(corpus, corpus.parent / "again", QualityTrainOptions(resamples=200))
    assert again == result
    for path in out.iterdir():
        assert path.read_bytes() == (corpus.parent / "again" / path.name).read_bytes()


def test_models_are_evaluated_on_test(corpus: Path, trained: tuple[Path, ThreadOrdersResult]) -> None:
    result = evaluate_threads([trained[0]], corpus, "votes", resamples=50)
    found = values(result)
    assert found["quality"] > 0.55
    assert found["random"] == 0.5
    assert {row.minus for row in result.differences} == {"length", "oldest", "file order", "random"}
    graded = values(evaluate_threads([trained[0]], corpus, "grades", resamples=50))
    assert graded["quality"] > 0.9  # marks alone
    assert values(result, "ndcg@5")["quality"] <= 1


def test_held_out_comments_are_of_the_thread(tmp_path: Path) -> None:
    made = build(tmp_path, [*map(thread, range(12))])
    found = read_threads(Corpus.open(made), ("train", "test"), "votes")
    assert sorted(len(each) for each in found.threads) == [8] * 12


def test_without_dates_the_file_tells_the_time(tmp_path: Path) -> None:
    made = build(tmp_path, [thread(number, dates=number > 3) for number in range(12)])
    result = train_quality(made, tmp_path / "q", QualityTrainOptions(folds=2, resamples=20))
    assert "oldest" not in values(result)
    assert "threads lack a comment's date" in result.remarks[0]


def test_fewer_threads_than_folds_by_default(tmp_path: Path) -> None:
    made = build(tmp_path, [*map(thread, range(8))])
    result = train_quality(made, tmp_path / "q", QualityTrainOptions(resamples=20))
    said = "2 folds, one per thread, since there are fewer than 5"
    assert (result.settings.folds, said in result.remarks) == (2, True)
    metadata = json.loads((tmp_path / "q" / "metadata.json").read_text())
    assert metadata["options"]["folds"] == metadata["threads"] == 2
    given = train_quality(made, tmp_path / "r", QualityTrainOptions(folds=2, resamples=20))
    assert (given.rows, said in given.remarks) == (result.rows, False)
    with pytest.raises(Undefined, match="expected at least 3 threads, one per fold, got 2"):
        train_quality(made, tmp_path / "s", QualityTrainOptions(folds=3))


def test_what_cannot_be_learned(corpus: Path, tmp_path: Path) -> None:
    options = QualityTrainOptions(target="likes")
    with pytest.raises(UnknownName, match="unknown target 'likes'"):
        train_quality(corpus, tmp_path / "q", options)
    with pytest.raises(Undefined, match="expected at least 90 threads, one per fold"):
        train_quality(corpus, tmp_path / "q", QualityTrainOptions(folds=90))
    with pytest.raises(UsageError, match="it has no dev set; it has train, test"):
        read_threads(Corpus.open(corpus), ("dev",), "votes")
    tied = [
        Article(f"t{at}", f"x{at} y", (Comment("a", f"one {at}", 1), Comment("b", f"two {at}", 1))) for at in range(9)
    ]
    made = build(tmp_path, tied)
    with pytest.raises(Undefined, match="no thread of train has votes to compare with: all comments"):
        train_quality(made, tmp_path / "q", QualityTrainOptions())
    assert not (tmp_path / "q").exists()
    with pytest.raises(UsageError, match="expected models of different names"):
        evaluate_threads([tmp_path / "length"], corpus)
    (tmp_path / "m").mkdir()
    with pytest.raises(InvalidInput, match="in this folder"):
        evaluate_threads([tmp_path / "m"], corpus)


def labels_of(corpus: Path, threads: int = 12) -> list[Label]:
    """Labels of six comments each: to show those with fewer than two exclamation marks."""
    articles = [article for article in Corpus.open(corpus).articles("train") if article.id != "none"][:threads]
    return [
        Label(article.id, f" {each.text}\n", each.text.count("!") < 2)
        for article in articles
        for each in (*article.comments, *(article.held_out or ()))[:6]
    ]


def test_quality_of_labels(corpus: Path, tmp_path: Path) -> None:
    labels, options = labels_of(corpus), QualityTrainOptions(target="labels", resamples=50)
    first = labels[0]
    wrong = msgspec.structs.replace(first, show=not first.show)
    more = [
        *(Label("far", f"Text {at}.", "show") for at in range(7)),
        Label(first.article, "Never\nsaid " + "x" * 99, "hide"),
    ]
    result = train_quality(corpus, tmp_path / "q", options, [*labels, first, wrong, *more])
    found = values(result)
    assert list(found) == ["quality and time", "quality", "length", "oldest", "votes", "file order", "random"]
    assert found["quality"] > 0.9 > found["votes"] > 0.6
    assert found["random"] == 0.5
    assert not values(result, "pairwise near in time")
    marks = next(row for row in result.weights if row.feature == "exclamation marks")
    assert marks.high < 0
    excluded = {each.why: each for each in result.excluded}
    far = excluded["label of an article that train does not have"]
    assert (far.n, far.examples) == (7, tuple(f"far: Text {at}." for at in range(5)))
    assert excluded["label of a text that is no comment of its article"].examples == (
        f"{first.article}: Never said {'x' * 44}…",
    )
    compared = sum(row.comments for row in result.rows if (row.scorer, row.measure) == ("length", "pairwise"))
    assert f"labels: {compared} comments" in result.remarks[0]
    assert json.loads((tmp_path / "q/config.json").read_text())["target"] == "labels"
    tied = [*labels, wrong]
    assert len(labels) == 72
    told = {each.why: each.n for each in train_quality(corpus, tmp_path / "t", options, tied).excluded}
    assert told["text that as many would show as would not"] == 1
    again = train_quality(corpus, tmp_path / "again", options, tied)
    assert again.settings.target == "labels"
    for path in (tmp_path / "t").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_labels_that_are_too_few(corpus: Path, tmp_path: Path) -> None:
    options, labels = QualityTrainOptions(target="labels", resamples=20), labels_of(corpus)
    few = "l.jsonl: expected at least 30 labels in at least 5 threads with both answers, got"
    for given, got in (
        (labels[:24], rf"{few} \d+ in [234]"),
        ([each for each in labels if each.show], f"{few} 0 in 0; all labels of the thread are the same: "),
    ):
        with pytest.raises(Undefined, match=got):
            train_quality(corpus, tmp_path / "q", options, given, where="l.jsonl")
    with pytest.raises(InvalidInput, match=r"l\.jsonl: none of 1 labels is of a comment of an article of train"):
        train_quality(corpus, tmp_path / "q", options, [Label("a01", "Never said.", "show")], where="l.jsonl")
    for target, given in (("labels", []), ("votes", labels)):
        with pytest.raises(UsageError, match=f'labels=FILE and target="labels" go together, got target="{target}'):
            train_quality(corpus, tmp_path / "q", QualityTrainOptions(target=target), given)
    assert not (tmp_path / "q").exists()
    write(tmp_path / "l.jsonl", labels)
    words = ["train", "quality", "--corpus", corpus, "--from", "labels", "--labels", tmp_path / "l.jsonl"]
    done = CliRunner().invoke(app, [*map(str, words), "--out", str(tmp_path / "q"), "--resamples", "20"])
    assert done.exit_code == 0, done.stderr
    assert "quality - votes" in done.stdout


def test_the_commands(corpus: Path, tmp_path: Path) -> None:
    def run(*words: object) -> str:
        done = CliRunner().invoke(app, list(map(str, words)))
        assert done.exit_code == 0, done.stderr
        return done.stdout

    out = tmp_path / "quality"
    told = run("train", "quality", "--corpus", corpus, "--out", out, "--resamples", 20)
    assert "points per standard deviation" in told
    assert "quality - length" in told
    rows = [
        json.loads(line)
        for line in run("evaluate", out, "--corpus", corpus, "--threads", "votes", "--format", "jsonl").splitlines()
    ]
    assert {row["scorer"] for row in rows} == {"quality", "length", "oldest", "file order", "random"}
    bad = CliRunner().invoke(
        app, ["evaluate", str(out), "--corpus", str(corpus), "--threads", "votes", "-m", "rouge-l"]
    )
    assert (bad.exit_code, bad.stderr.partition(", ")[0]) == (2, "postil: --threads: only --corpus")
    write(tmp_path / "t.jsonl", [thread(99)])
    ranked = json.loads(run("rank-comments", tmp_path / "t.jsonl", "--quality", out, "--format", "json"))["comments"]
    marks = [row["text"].count("!") for row in ranked]
    assert np.corrcoef(marks, range(8))[0, 1] > 0.5
    assert any("by exclamation marks" in row["reasons"][0] for row in ranked)
    mixed = run("rank-comments", tmp_path / "t.jsonl", "--quality", out, "--by", "quality", "--by", "oldest=2")
    assert len(mixed.split("\n\n")) == 8
    bad = CliRunner().invoke(app, ["rank-comments", str(tmp_path / "t.jsonl"), "--by", "quality"])
    assert (bad.exit_code, bad.stderr) == (2, "postil: --by quality needs a model: --quality DIR\n")
