"""The study of other uses: planted effects of age and length are found, what data lack is said, titles are scored."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

import topic_corpora
from postil.comments.options import RetrieverTrainOptions
from postil.comments.retrieval import Retriever
from postil.corpus.store import Corpus
from postil.data.rows import Article, Comment
from postil.errors import UnknownName, UsageError
from postil.results.base import read_results
from postil.results.page.report import write_report
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.studies.options import UsesOptions
from postil.studies.result import StudyResult
from postil.studies.stages import read_result
from postil.studies.uses.calls import study_uses
from postil.studies.uses.votes import read_threads
from postil.training.retrievers import train_retriever

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables"),
    pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report"),
]

WORDS = ("rain", "chess", "votes", "bread", "trains", "tides", "moon")
QUICK: dict[str, Any] = {"train": False, "resamples": 20, "folds": 3}
STAGES = ("ranking", "votes", "articles", "candidates", "titles", "tables")


def articles() -> list[Article]:
    """Articles whose early comments have more votes, and among these the longer ones."""
    random = np.random.default_rng(7)

    def comment(n: int, c: int) -> Comment:
        words, hour = int(random.integers(2, 12)), int(random.integers(1, 23))
        text = " ".join([WORDS[(n + c) % 7], *random.choice(WORDS, words)])
        return Comment(f"c{c}", text, upvotes=40 - hour + words // 2, date=f"2020-01-02T{hour:02}:00:00Z")

    return [
        Article(
            f"a{n:02}",
            f"more {WORDS[n % 7]} in town",
            tuple(comment(n, c) for c in range(8)),
            f"news of {WORDS[n % 7]} and more {n}",
            date="2020-01-02",
        )
        for n in range(36)
    ]


def corpus_of(folder: Path, rows: list[Article], **options: Any) -> Path:
    free = {"references_per_article": 0, "test_min_words": 0, "dedup_threshold": 0.0}
    return topic_corpora.corpus_of(folder, rows, 4, 20, **free | options).path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_of(tmp_path_factory.mktemp("made"), articles())


@pytest.fixture(scope="module")
def done(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """All stages but the page."""
    out, said = tmp_path_factory.mktemp("out"), list[str]()
    for stage in STAGES:
        study_uses(str(corpus), out, UsesOptions(**QUICK, stage=stage), said.append)
    return out, said


def cells(out: Path, key: str) -> dict[str, list[Any]]:
    study = json.loads((out / "study.json").read_text())
    table = next(table for part in study["parts"] for table in part["tables"] if table["key"] == key)
    return {row["name"]: row["cells"] for row in table["rows"] if "cells" in row}


def test_age_is_the_strongest_scorer_and_length_adds_to_it(done: tuple[Path, list[str]]) -> None:
    ranked = cells(done[0], "ranking")
    assert max(ranked, key=lambda name: ranked[name][2][0]) in ("fit: length and age", "fit: text, length and age")
    assert ranked["age"][2][0] > 0.9
    assert ranked["fit: length and age"][2][0] > ranked["age"][2][0] > ranked["length"][2][0] > 0
    np.testing.assert_allclose(ranked["random order (expected)"][2:], [[0] * 3, [0] * 3, [0.5] * 3], atol=1e-12)
    assert "position" in ranked


def test_gains_are_differences_of_the_fits(done: tuple[Path, list[str]]) -> None:
    for key, gains in (("ranking", "ranking-gains"), ("votes", "votes-gains")):
        fits, found = cells(done[0], key), cells(done[0], gains)
        mark = "fit: " if key == "ranking" else ""
        assert list(found) == [
            "text, length and age − length and age",
            "text and length − length",
            "text and age − age",
        ]
        for name, row in found.items():
            both, base = name.split(" − ")
            for column, (value, low, high) in enumerate(row):
                assert value == pytest.approx(fits[mark + both][column][0] - fits[mark + base][column][0])
                assert low <= high


def test_votes_are_predicted_within_threads(done: tuple[Path, list[str]]) -> None:
    votes = cells(done[0], "votes")
    assert votes["length and age"][2][0] > votes["age"][2][0] > 0.8
    assert votes["votes of the thread’s other comments, not known beforehand"][2:] == [None, None]
    shares = [row[0][0] for row in cells(done[0], "variance").values()]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] < 0.1


def test_titles_are_scored_as_by_score(done: tuple[Path, list[str]]) -> None:
    out, titles = done[0], cells(done[0], "titles")
    assert list(titles) == ["nearest-content", "nearest-comments", "first-words", "top-comment"]
    options = ScoreOptions(metrics=("rouge-l", "cider"), tokenizer="words")
    scores = score_files(str(out / "candidates.jsonl"), str(out / "references.jsonl"), options, lambda _: None).scores
    found = {(row.system, row.metric): row.score for row in scores}
    for name, row in titles.items():
        assert row[5][0] == pytest.approx(found[name, "rouge-l"])
        assert row[6][0] == pytest.approx(found[name, "cider"])
    assert titles["nearest-content"][5][0] > titles["first-words"][5][0]
    assert titles["first-words"][7] == 4  # as many words as titles have


def test_nobody_sees_the_titles(done: tuple[Path, list[str]]) -> None:
    rows = [json.loads(line) for line in (done[0] / "articles.jsonl").read_text().splitlines()]
    assert len(rows) == 20
    assert {row["title"] for row in rows} == {""}
    references = (done[0] / "references.jsonl").read_text()
    assert references.count("in town") == 20


def test_nothing_is_done_twice_and_the_page_has_every_part(done: tuple[Path, list[str]], corpus: Path) -> None:
    out, first = done
    assert [line.partition(":")[0] for line in first] == list(STAGES)
    said: list[str] = []
    for stage in STAGES:
        study_uses(str(corpus), out, UsesOptions(**QUICK, stage=stage), said.append)
    assert said == [f"{stage}: done before" for stage in STAGES]
    write_report(read_results([out / "study.json"]), out / "page.html")
    page = (out / "page.html").read_text()
    assert all(title in page for title in ("Comment ranking", "Upvote prediction", "Headlines"))
    study = read_result(out / "study.json", StudyResult)
    assert [line.partition(",")[0].partition(":")[0] for line in study.conclusion] == [
        *("Comment ranking", "Upvote prediction", "Headlines")
    ]
    with pytest.raises(UnknownName, match="rank"):
        study_uses(str(corpus), out, UsesOptions(**QUICK, stage="rank"), said.append)


def test_without_dates_age_is_absent_with_the_reason(tmp_path: Path) -> None:
    rows = [msgspec.structs.replace(one, date=None) for one in articles()]
    folder = corpus_of(tmp_path, rows, references_per_article=5)
    for stage in STAGES[:2]:
        study_uses(str(folder), tmp_path / "out", UsesOptions(**QUICK, stage=stage), lambda _: None)
    (part,) = read_result(tmp_path / "out" / "ranking.json", StudyResult).parts
    ranking, gains, absent = part.tables
    assert {row.name: row.cells[0] for row in absent.rows} == {
        "relevance": "no model is given; model takes an ir-t or ir-tc",
        "age": "20 of 180 articles and comments have no date",
        "position": "references were sampled from the comments, so that their order is not known",
    }
    assert [row.name for row in gains.rows] == ["text and length − length"]
    assert not any("age" in row.name.split() for row in ranking.rows)


def test_the_ranker_of_a_model_is_a_scorer(corpus: Path, tmp_path: Path) -> None:
    train_retriever("ir-tc", corpus, tmp_path / "m", RetrieverTrainOptions(ranker="tf-idf"))
    said: list[str] = []
    threads = read_threads(Corpus.open(corpus), str(tmp_path / "m"), 1, said.append)
    assert said == []
    ranked = Retriever.open(tmp_path / "m").rank(list(Corpus.open(corpus).articles("test")))
    np.testing.assert_array_equal(threads.scores["ir-tc, tf-idf"], np.concatenate(ranked))
    assert "ir-tc, tf-idf" in threads.feature_sets["text"]
    # Frequencies are those of train in both.
    np.testing.assert_allclose(threads.scores["tf-idf"], threads.scores["ir-tc, tf-idf"])
    other = corpus_of(tmp_path, articles(), min_comments=2)
    read_threads(Corpus.open(other), str(tmp_path / "m"), 1, said.append)
    assert said == [f"{tmp_path / 'm'}: trained on another corpus, which may contain the test articles"]


@pytest.mark.parametrize(
    ("change", "options", "problem"),
    [
        ({"upvotes": None}, {}, "0 of 20 test articles have comments whose upvotes differ, some above 0"),
        ({"upvotes": 7}, {}, "0 of 20 test articles have comments whose upvotes differ, some above 0"),
        ({}, {"folds": 21}, "folds: expected 2 to 20, the number of articles, got 21"),
    ],
)
def test_what_cannot_be_done(
    change: dict[str, Any], options: dict[str, Any], problem: str, corpus: Path, tmp_path: Path
) -> None:
    if change:
        rows = [
            msgspec.structs.replace(
                one, comments=tuple(msgspec.structs.replace(said, **change) for said in one.comments)
            )
            for one in articles()
        ]
        corpus = corpus_of(tmp_path, rows)
    with pytest.raises(UsageError, match=problem):
        study_uses(str(corpus), tmp_path / "out", UsesOptions(**QUICK | options, stage="ranking"), lambda _: None)


def test_comments_without_votes_are_left_out(tmp_path: Path) -> None:
    rows = [
        msgspec.structs.replace(
            one, comments=(msgspec.structs.replace(one.comments[0], upvotes=None), *one.comments[1:])
        )
        for one in articles()
    ]
    threads = read_threads(Corpus.open(corpus_of(tmp_path, rows)), None, 1)
    assert (threads.unvoted, threads.left_out, len(threads.votes)) == (20, 0, 140)


def test_without_contents_titles_come_from_comments(tmp_path: Path) -> None:
    folder = corpus_of(tmp_path, [msgspec.structs.replace(one, content=None) for one in articles()])
    for stage in STAGES:
        study_uses(str(folder), tmp_path / "out", UsesOptions(**QUICK, stage=stage), lambda _: None)
    assert list(cells(tmp_path / "out", "titles")) == ["nearest-comments", "top-comment"]
    assert list(cells(tmp_path / "out", "title-differences")) == ["nearest-comments"]


def test_without_titles_there_are_no_headlines(tmp_path: Path) -> None:
    folder = corpus_of(tmp_path, [msgspec.structs.replace(one, title="") for one in articles()])
    for stage in ("ranking", "votes", "tables"):
        study_uses(str(folder), tmp_path / "out", UsesOptions(**QUICK, stage=stage), lambda _: None)
    study = read_result(tmp_path / "out" / "study.json", StudyResult)
    assert study.parts[-1].words == ("None: no article of train has a title, so that there is none to learn from.",)
    assert len(study.conclusion) == 2


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural")
def test_generators_of_titles_are_trained(corpus: Path, tmp_path: Path) -> None:
    said: list[str] = []
    study_uses(str(corpus), tmp_path, UsesOptions(**QUICK | {"train": True}, epochs=1, device="cpu"), said.append)
    titles = cells(tmp_path, "titles")
    assert list(titles)[:2] == ["title-content", "title-comments"]
    command = next(line for line in said if line.startswith("title-comments: "))
    assert "--source comments --target title --epochs 1" in command
    assert (tmp_path / "report.html").exists()
