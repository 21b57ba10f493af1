"""The study with ``--preset paper``: its commands, several seeds, the values chosen on dev, and its deviations."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.comments.call_options import CommentOptions
from postil.comments.options import RetrieverTrainOptions
from postil.corpus.store import Corpus
from postil.data.model_folders import Model, ModelWriter
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.metrics.metric_set import parse_all
from postil.studies.comments.calls import study_comments
from postil.studies.comments.study import CommentsStudy, plan
from postil.studies.options import CommentsOptions
from postil.studies.stages import words_of
from topic_corpora import corpus_of

pytestmark = [
    pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables"),
    pytest.mark.skipif(find_spec("torch") is None, reason="networks need the extra neural"),
    pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report"),
]

WORDS = ("rain", "chess", "votes", "bread")
METRICS = ("rouge-l(reading=union)", "w-rouge-l(reading=union)", "bleu-1")
QUICK: dict[str, Any] = {
    "preset": "paper",
    "systems": ("ir-t", "att-tc"),
    "grid": ("learning-rate=0.001,0.003",),
    "metrics": METRICS,
    "epochs": 1,
    "resamples": 50,
    "permutations": 20,
    "seeds": 2,
    "seed": 5,
}


def articles() -> list[Article]:
    return [
        Article(
            f"a{n:02}",
            f"{WORDS[n % 4]} in town {n % 3}",
            tuple(
                Comment(f"c{c}", f"{WORDS[(n + c) % 4]} reader {c} says so {n}", upvotes=c * (n % 3)) for c in range(6)
            ),
            content=f"{WORDS[n % 4]} fell on {WORDS[(n + 1) % 4]} all day",
        )
        for n in range(24)
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_of(tmp_path_factory.mktemp("made"), articles(), 4, 6, references_per_article=4).path


@pytest.fixture(scope="module")
def done(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    out, said = tmp_path_factory.mktemp("out"), list[str]()
    study_comments(str(corpus), out, CommentsOptions(**QUICK), said.append)
    return out, said


def words(said: list[str], stage: str) -> list[str]:
    return next(shlex.split(line) for line in said if line.startswith(f"{stage}: postil"))[2:]


def table(out: Path, key: str) -> dict[str, Any]:
    study = json.loads((out / "study.json").read_text())
    found: dict[str, Any] = next(table for part in study["parts"] for table in part["tables"] if table["key"] == key)
    return found


@pytest.mark.parametrize(
    ("name", "flags"),
    {
        "ir-t": ["--ranker", "relevance", "--embeddings", "none", "--no-word-mean", "--relevance-loss", "negative"],
        "seq2seq": ["--cell", "lstm", "--softmax", "sampled"],
        "att": ["--attention", "bahdanau", "--softmax", "sampled"],
        "att-tc": ["--max-content-words", "0", "--attention", "bahdanau", "--softmax", "sampled"],
    }.items(),
)
def test_each_training_has_the_flags_of_the_paper(corpus: Path, tmp_path: Path, name: str, flags: list[str]) -> None:
    options = CommentsOptions(preset="paper")
    made = plan(CommentsStudy.of(Corpus.open(corpus), tmp_path, options, lambda _: None), name)
    assert [word for word in made.words if word in flags] == flags
    assert made.words[made.words.index("--epochs") + 1] == "4"
    assert made.grid is not None
    assert made.words[-6 if name == "ir-t" else -4 :] == [
        *("--grid", "learning-rate=0.001,0.003"),
        *(["--grid", "dropout=0.2,0.5"] if name == "ir-t" else []),
        *("--grid-epochs", "1"),
    ]


def test_its_commands_train_and_suggest_the_same(done: tuple[Path, list[str]], tmp_path: Path) -> None:
    out, said = done
    command = words(said, "ir-t")
    command[command.index("--out") + 1] = str(tmp_path / "model")
    assert CliRunner().invoke(app, command).exit_code == 0
    assert Model.open(tmp_path / "model").hash == Model.open(out / "models" / "ir-t").hash
    *suggest, arrow, path = words(said, "suggestions-att-tc")
    assert arrow == ">"
    assert suggest[-12:] == [
        *("--min-words", "1", "--max-words", "50", "--allow", "all", "--repeat", "0", "--no-repeat-ngrams", "0"),
        *("--format", "jsonl"),
    ]
    assert CliRunner().invoke(app, suggest).stdout.encode() == Path(path).read_bytes()


def test_other_seeds_take_what_the_first_chose_on_dev(done: tuple[Path, list[str]]) -> None:
    out, said = done
    rows = table(out, "grid")["rows"]
    assert [row["name"] for row in rows] == ["ir-t", "ir-t", "att-tc", "att-tc"]
    for name in QUICK["systems"]:
        (chosen,) = (row["cells"] for row in rows if row["name"] == name and row["cells"][-1] == "chosen")
        command = words(said, f"{name}-seed-6")
        flags = {command[i]: command[i + 1] for i in range(len(command) - 1)}
        assert "--grid" not in command
        assert float(flags["--learning-rate"]) == float(chosen[0])
        options = Model.open(out / "seeds" / "6" / "models" / name).metadata["options"]
        assert options["training"]["learning_rate"] == float(chosen[0])


def test_table_7_is_over_seeds_and_articles(done: tuple[Path, list[str]]) -> None:
    out, _ = done
    table_7 = table(out, "table-7")
    assert "over 2 seeds and test articles" in table_7["caption"]
    assert table_7["caption"].endswith("; number of suggestions and human ratings with the first seed")
    assert table_7["head"][1:] == ["ir-t", "att-tc", "human"]
    rows = {row["name"]: row["cells"] for row in table_7["rows"] if "cells" in row}
    for spec in METRICS:
        assert all(low <= value <= high for value, low, high in rows[spec])
    first = {row["system"]: row["score"] for row in scores(out) if row["metric"] == METRICS[0]}
    assert rows[METRICS[0]][-1][0] == pytest.approx(first["human"])  # the same comment with every seed
    others = out / "seeds" / "6" / "candidates.jsonl"
    assert [row["text"] for row in lines(others) if row["system"] == "human"] == [
        row["text"] for row in lines(out / "candidates.jsonl") if row["system"] == "human"
    ]
    texts = [
        [row["text"].split() for row in lines(path) if row["system"] == "ir-t" and row["text"]]
        for path in (out / "candidates.jsonl", others)
    ]
    means = [np.mean([len(text) for text in of_seed]) for of_seed in texts]
    assert rows["mean words"][0][0] == pytest.approx(np.mean(means))


def scores(out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((out / "scores.json").read_text())["scores"]
    return rows


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_deviations_are_the_last_table_and_name_what_was_done(done: tuple[Path, list[str]]) -> None:
    study = json.loads((done[0] / "study.json").read_text())
    (last,) = study["parts"][-1]["tables"]
    assert last["key"] == "deviations"
    rows = {row["name"]: row["cells"] for row in last["rows"]}
    long = "of more than 50 words: dropped in all splits (section 5); the networks read 50 words"
    assert rows["comments of more than 50 words"][1] == long
    assert rows["softmax"][1].startswith("in training estimated from 2,000 sampled words")
    assert rows["seeds"][1] == "2; means and intervals over seeds and test articles"
    assert rows["end of training"][1].startswith("maximum number of epochs: 1;")
    assert ", batches of pairs: 256 (ir-t); 64 (att-tc);" in rows["optimizer"][1]
    assert "seq2seq" not in rows  # which was not trained
    assert not any("METEOR" in name for name in rows)  # which was not scored
    assert all(isinstance(cell, str) for cells in rows.values() for cell in cells)
    assert not any("{" in cell for cells in rows.values() for cell in cells)


def leaves(options: dict[str, Any]) -> list[str]:
    return [leaf for name, value in options.items() for leaf in (leaves(value) if isinstance(value, dict) else [name])]


def test_deviations_have_every_option_that_was_in_force(done: tuple[Path, list[str]]) -> None:
    """A new option of a training, of suggestions or of a metric is there by itself."""
    out, _ = done
    rows = {row["name"]: row["cells"] for row in table(out, "deviations")["rows"]}
    models = rows["all options of the commenters"][1]
    places = {"jobs", "engine", "address", "device", "tensorboard"}
    for name in QUICK["systems"]:
        for leaf in set(leaves(Model.open(out / "models" / name).metadata["options"])) - places:
            assert re.search(rf"(^|[ .]){leaf} ", models), leaf
    asked = rows["all options of the suggestions"][1]
    for each in fields(CommentOptions):
        assert each.name in places or re.search(rf"(^| ){each.name} ", asked), each.name
    assert asked.startswith("k 1, min_words 1, ")  # the values that were used, in words
    assert ", allow all, " in asked
    for spec, metric in parse_all(METRICS).items():
        assert metric.signature in rows[f"all parameters of {spec.partition('(')[0]}"][1]
    assert "--epochs 1" in rows["options given to the study"][1]
    assert rows["intervals and tests"][1] == "50 resamples, 20 permutations, seed 5, 100 draws of controls"
    assert {"near duplicates", "HTML in the texts", "dates of the articles"} <= set(rows)
    assert "left out or changed by the build" in rows


def test_more_seeds_repeat_no_training(done: tuple[Path, list[str]], corpus: Path) -> None:
    said: list[str] = []
    options = CommentsOptions(**QUICK | {"seeds": 3, "systems": ("ir-t",)})
    study_comments(str(corpus), done[0], replace(options, stage="ir-t"), said.append)
    study_comments(str(corpus), done[0], replace(options, stage="ir-t-seed-6"), said.append)
    assert said == ["ir-t: done before", "ir-t-seed-6: done before"]


def test_a_stage_of_a_later_seed_needs_the_first(corpus: Path, tmp_path: Path) -> None:
    options = CommentsOptions(**QUICK, stage="ir-t-seed-6")
    with pytest.raises(InvalidInput, match="run the stages before"):
        study_comments(str(corpus), tmp_path, options, lambda _: None)


def study_of(corpus: Path, out: Path, **given: Any) -> CommentsStudy:
    return CommentsStudy.of(Corpus.open(corpus), out, CommentsOptions(**QUICK | given), lambda _: None)


def test_the_command_of_a_stage_has_all_options_and_is_that_of_the_whole_study(corpus: Path, tmp_path: Path) -> None:
    given = {"softmax": "full", "ranker": "both", "grid_epochs": 2, "models": {"mine": "m"}, "draws": 3}
    command = shlex.split(study_of(corpus, tmp_path, **given).with_seed(6).command("candidates-seed-6"))
    assert command[:7] == ["postil", "study", "comments", "--corpus", str(corpus), "--out", str(tmp_path)]
    words = command[7:]
    assert sorted(zip(words[::2], words[1::2], strict=True)) == sorted(
        [
            *(("--preset", "paper"), ("--systems", "ir-t,att-tc"), ("--model", "mine=m"), ("--ranker", "both")),
            *(
                ("--softmax", "full"),
                ("--epochs", "1"),
                ("--grid", "learning-rate=0.001,0.003"),
                ("--grid-epochs", "2"),
            ),
            *(("--seeds", "2"), *(("--metric", spec) for spec in METRICS), ("--draws", "3"), ("--resamples", "50")),
            *(("--permutations", "20"), ("--seed", "5"), ("--stage", "candidates-seed-6")),
        ]
    )


def test_a_retriever_without_a_network_has_no_options_of_one(corpus: Path, tmp_path: Path) -> None:
    made = plan(study_of(corpus, tmp_path, ranker="tf-idf", device="cpu"), "ir-t")
    assert (made.words, made.grid) == (["--ranker", "tf-idf"], None)


def chosen_before(folder: Path, values: dict[str, Any] | None) -> None:
    """A model that was trained with a grid, or without one."""
    points = [{"values": values, "dev": 0.5, "steps": 3, "chosen": True}]
    grid = {} if values is None else {"grid": {"measure": "mrr", "epochs": 1, "points": points}}
    folder.parent.mkdir()
    with ModelWriter(folder, "ir-t", {}, grid):
        pass


def test_a_command_gives_what_the_grid_varies_once(corpus: Path, tmp_path: Path) -> None:
    grid = ("word-mean=true,false", "widths=1+2,2", "relevance-loss=softmax,negative")
    study = study_of(corpus, tmp_path, grid=grid)
    made = plan(study, "ir-t")
    assert not {"--no-word-mean", "--relevance-loss"} & set(made.words)
    chosen_before(tmp_path / "models" / "ir-t", {"word-mean": True, "widths": [1, 2], "relevance-loss": "negative"})
    later = plan(study.with_seed(6), "ir-t")
    assert later.grid is None
    chosen = ["--word-mean", "--grid", "widths=1+2", "--relevance-loss", "negative"]
    assert words_of(later.settings[len(made.settings) :], RetrieverTrainOptions) == chosen
    assert isinstance(later.options, RetrieverTrainOptions)
    assert (later.options.network.word_mean, later.options.network.widths, later.options.seed) == (True, (1, 2), 6)


def test_a_first_model_without_a_grid_has_no_values_for_other_seeds(corpus: Path, tmp_path: Path) -> None:
    chosen_before(tmp_path / "models" / "ir-t", None)
    with pytest.raises(UsageError, match=r"ir-t: trained without a grid, .* grid_epochs=0"):
        plan(study_of(corpus, tmp_path).with_seed(6), "ir-t")
    assert plan(study_of(corpus, tmp_path, grid=(), grid_epochs=0).with_seed(6), "ir-t").grid is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"grid": ("learning-rate=0.1,0.1",)}, "values that differ"),
        ({"grid": ("hidden-size=8,16",)}, "unknown option of the grid 'hidden-size'"),
        ({"grid": ("attention=none,bahdanau",), "systems": ("att", "seq2seq")}, "attention: att has bahdanau"),
        ({"seed": 2**70}, "seed: expected a whole number"),
    ],
)
def test_a_training_that_cannot_be_is_refused_before_any_stage(
    given: dict[str, Any], problem: str, corpus: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    with pytest.raises((UsageError, UnknownName), match=problem):
        study_comments(str(corpus), tmp_path / "out", CommentsOptions(**QUICK | given), said.append)
    assert said == []


@pytest.mark.parametrize(
    ("dev", "test", "content", "problem"),
    [
        (0, 6, "rain all day", "needs a dev set"),
        (4, 6, None, "have no content"),
        (4, 1, "rain all day", "it has 1 test article with two comments that differ; .* at least two"),
    ],
)
def test_a_corpus_that_lacks_something_is_refused_before_any_stage(
    dev: int, test: int, content: str | None, problem: str, tmp_path: Path
) -> None:
    corpus_of(tmp_path, [msgspec.structs.replace(article, content=content) for article in articles()], dev, test)
    said: list[str] = []
    with pytest.raises(UsageError, match=problem):
        study_comments(str(tmp_path / "corpus"), tmp_path / "out", CommentsOptions(**QUICK), said.append)
    assert said == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"seeds": 10**9}, "seeds: expected 1 to 100, got 1,000,000,000"),
        ({"ranker": "bm25"}, "unknown ranker"),
        ({"grid": ("dropout=0,0.5",), "grid_epochs": 0}, "leave one of them out"),
        ({"softmax": "none"}, "unknown softmax"),
    ],
)
def test_options_that_are_none(given: dict[str, Any], problem: str) -> None:
    with pytest.raises((UsageError, UnknownName), match=problem):
        CommentsOptions(preset="paper", **given)


def test_what_belongs_to_the_preset_is_refused_without_it() -> None:
    with pytest.raises(UnknownName, match="papers"):
        CommentsOptions(preset="papers")
    for given in ({"seeds": 2}, {"grid_epochs": 1}, {"grid": ("dropout=0.1,0.2",)}):
        with pytest.raises(UsageError, match='belong to preset="paper"'):
            CommentsOptions(**given)  # type: ignore[arg-type]  # either is a number


def test_the_metrics_of_the_preset_are_the_paper_s_in_each_reading() -> None:
    specs = CommentsOptions(preset="paper").specs
    assert len(parse_all(specs)) == len(specs)
    assert specs[:2] == tuple(f"{w}meteor(params=2005,alignment=2005,penalty=outside)" for w in ("", "w-"))
    for spec in ("meteor(params=2005,penalty=outside)", "meteor(penalty=outside)", "rouge-l(reading=union)", "bleu-3"):
        assert {spec, f"w-{spec}"} <= set(specs)
