"""Hyperparameters chosen on dev: the best combination becomes the model, and nothing is trained twice."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec
import pytest

from postil.comments.options import (
    GeneratorOptions,
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceOptions,
    RelevanceTraining,
    RetrieverTrainOptions,
)
from postil.comments.result import GridPoint, GridSearch, TrainingResult, TrainingStep
from postil.data.model_folders import Model
from postil.data.rows import Article, Comment
from postil.errors import UsageError
from postil.messages import COMMAND_LINE, Setting
from postil.results.base import to_json
from postil.results.views import show
from postil.training.generators import train_commenter
from postil.training.grid import Grid
from postil.training.retrievers import train_retriever
from postil.training.texts import CorpusTexts, TrainingDirectory
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.corpus.store import Corpus

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural")
needs_gensim = pytest.mark.skipif(find_spec("gensim") is None, reason="needs the extra vectors")

SAYINGS = {"rain": "take a coat with you today", "chess": "the queen should not have moved", "bread": "fresh"}
NETWORK = GeneratorOptions(hidden_size=8, embedding_dim=8)
SMALL = GeneratorTrainOptions(network=NETWORK, training=GeneratorTraining(epochs=4, batch=8, device="cpu"))
RELEVANCE = RetrieverTrainOptions(
    ranker="relevance",
    eval_negatives=5,
    network=RelevanceOptions(embedding_dim=8, filters=4, output_dim=8),
    training=RelevanceTraining(epochs=3, batch=16, device="cpu"),
)
GRID = Grid({"learning-rate": (1e-6, 0.02), "dropout": (0.1,)}, epochs=2)
WEIGHTS = "weights.safetensors"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    topics = [list(SAYINGS)[number % 3] for number in range(24)]
    articles = [
        Article(f"a{n:02}", f"more {topic} {n}", tuple(Comment(str(c), SAYINGS[topic]) for c in range(2)), "")
        for n, topic in enumerate(topics)
    ]
    return corpus_of(tmp_path_factory.mktemp("made"), articles, 6)


@needs_torch
def test_the_best_combination_is_trained_to_the_end(corpus: Corpus, tmp_path: Path) -> None:
    said: list[str] = []
    trained = train_commenter("att", corpus.path, tmp_path / "m", SMALL, grid=GRID, on_message=said.append)
    assert trained is not None
    assert trained.grid is not None
    first, second = trained.grid.points
    assert second.dev < first.dev
    assert (trained.grid.measure, trained.grid.epochs, first.chosen, second.chosen) == ("loss", 2, False, True)
    assert trained.grid.chosen == {"learning-rate": 0.02, "dropout": 0.1}
    assert first.steps == second.steps == trained.rows[1].step  # two epochs
    assert second.dev == min(row.dev for row in trained.rows[:2])
    notes = [text for text in said if "step" not in text]
    assert notes == [
        f"combination 1 of 2: learning-rate 1e-06, dropout 0.1: dev loss {first.dev:.3f}",
        f"combination 2 of 2: learning-rate 0.02, dropout 0.1: dev loss {second.dev:.3f}",
        f"chosen on dev: learning-rate 0.02, dropout 0.1 (dev loss {second.dev:.3f}; 2 combinations, 2 epochs each)",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]

    changed = replace(
        SMALL, network=replace(NETWORK, dropout=0.1), training=replace(SMALL.training, learning_rate=0.02)
    )
    direct = train_commenter("att", corpus.path, tmp_path / "direct", changed)
    assert direct == msgspec.structs.replace(trained, grid=None)
    assert (tmp_path / "m/generator" / WEIGHTS).read_bytes() == (tmp_path / "direct/generator" / WEIGHTS).read_bytes()
    recorded, other = (dict(Model.open(tmp_path / name).metadata) for name in ("m", "direct"))
    assert msgspec.convert(recorded.pop("grid"), GridSearch) == trained.grid
    assert recorded == other


@needs_torch
@needs_gensim
def test_a_retriever_has_word_vectors_once_for_all_combinations(corpus: Corpus, tmp_path: Path) -> None:
    said: list[str] = []
    grid = Grid({"relevance-loss": ("softmax", "negative"), "learning-rate": (0.001, 0.01)}, epochs=1)
    trained = train_retriever("ir-t", corpus.path, tmp_path / "m", RELEVANCE, grid=grid, on_message=said.append)
    assert trained is not None
    assert trained.grid is not None
    assert sum("word vectors are trained" in text for text in said) == 1
    assert trained.grid.measure == "mrr"
    best = max(trained.grid.points, key=lambda point: point.dev)
    assert trained.grid.chosen == best.values  # the first of tied ones
    assert list(best.values) == ["relevance-loss", "learning-rate"]
    assert len(trained.grid.points) == 4
    assert Model.open(tmp_path / "m").metadata["options"]["network"]["loss"] == best.values["relevance-loss"]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@needs_torch
def test_an_interrupted_grid_repeats_nothing(corpus: Corpus, tmp_path: Path) -> None:
    whole = train_commenter("att", corpus.path, tmp_path / "whole", SMALL, grid=GRID)
    said: list[str] = []

    def cut(text: str) -> None:
        said.append(text)
        if len(said) == 4:  # the first epoch of the second combination has its checkpoint
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_commenter("att", corpus.path, tmp_path / "m", SMALL, grid=GRID, on_message=cut)
    assert [text.split(",")[0] for text in said] == ["step 5", "step 10", said[2].split(",")[0], "step 5"]
    again: list[str] = []
    resumed = train_commenter("att", corpus.path, tmp_path / "m", SMALL, grid=GRID, on_message=again.append)
    assert again[0] == said[2]  # nothing is trained before
    assert again[1].startswith("resuming after step 5 ")
    assert again[2].startswith("step 10, epoch 2")
    assert again[3].startswith("combination 2 of 2")
    assert resumed == whole
    assert (tmp_path / "m/metadata.json").read_bytes() == (tmp_path / "whole/metadata.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "whole"]


@needs_torch
def test_a_grid_that_grew_goes_on(corpus: Corpus, tmp_path: Path) -> None:
    def cut(text: str) -> None:
        if text.startswith("chosen"):
            raise KeyboardInterrupt

    one, two = Grid({"dropout": (0.1,)}, epochs=1), Grid({"dropout": (0.3, 0.1)}, epochs=1)
    with pytest.raises(KeyboardInterrupt):
        train_commenter("seq2seq", corpus.path, tmp_path / "m", SMALL, grid=one, on_message=cut)
    said: list[str] = []
    train_commenter("seq2seq", corpus.path, tmp_path / "m", SMALL, grid=two, on_message=said.append)
    assert said[0].startswith("step 5, epoch 1")
    assert said[1].startswith("combination 1 of 2: dropout 0.3")
    assert said[2].startswith("combination 2 of 2: dropout 0.1")


def test_other_processes_know_what_the_main_one_found(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    combinations = GRID.combinations(SMALL)
    points = tuple(
        GridPoint(values=dict(each.values), dev=2.0 - place, steps=4, chosen=place == 1)
        for place, each in enumerate(combinations)
    )
    monkeypatch.setattr("postil.training.grid.is_main_process", lambda: False)
    monkeypatch.setattr("postil.training.grid.broadcast_from_main", lambda _work, _device: points)
    trained: list[str] = []
    directory = TrainingDirectory(tmp_path / "m", CorpusTexts(corpus, reads="title"), "none", 1, trained.append)
    options, search = GRID.choose(combinations, directory, lambda _, name: trained.append(name), trained.append)
    assert options == combinations[1].options
    assert search == GridSearch(measure="loss", epochs=2, points=points)
    assert trained == [each.folder(2) for each in combinations]  # and nothing is said


def test_the_words_of_a_grid_are_read_and_written() -> None:
    texts = ["learning-rate=0.0005,1", "widths=1+2,3", "shared=true,false", "architecture=two-tower", "batch=8"]
    grid = Grid.parse(texts, RELEVANCE, epochs=3)
    assert grid == Grid(
        {
            "learning-rate": (0.0005, 1.0),
            "widths": ((1, 2), (3,)),
            "shared": (True, False),
            "architecture": ("two-tower",),
            "batch": (8,),
        },
        epochs=3,
    )
    *given, limit = grid.settings()
    assert limit == Setting("grid_epochs", 3)
    assert {each.name for each in given} == {"grid"}
    assert Grid.parse([str(each.value) for each in given], RELEVANCE, epochs=3) == grid
    combinations = grid.combinations(RELEVANCE)
    assert len(combinations) == 8
    assert combinations[1].label == "learning-rate 0.0005, widths 1+2, shared false, architecture two-tower, batch 8"
    assert combinations[1].options.network.widths == (1, 2)
    assert not combinations[1].options.network.shared


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dropout", "--grid: expected OPTION=V1,V2,…, got 'dropout'"),
        ("dropout=", "--grid: expected OPTION=V1,V2,…, got 'dropout='"),
        ("droput=0.2", "unknown option of the grid 'droput'; did you mean 'dropout'"),
        ("shared=true", "unknown option of the grid 'shared'"),  # of retrievers
        ("dropout=0.2,a", "--grid dropout: expected a number, got 'a'"),
        ("layers=1.5", "--grid layers: expected a whole number, got '1.5'"),
        ("dropout=0.2,2", "--grid dropout: expected 0 to less than 1, got 2.0"),
        ("softmax=full,half", "--grid softmax: expected full or sampled, got half"),
        ("batch=1,8", "--grid batch: expected at least 2, got 1"),
        ("dropout=0.2,0.20", "--grid dropout: expected values that differ, got 0.2,0.2"),
        ("seed=1,2", "--grid seed: all combinations have the same one; expected one of "),
        ("epochs=1,2", "--grid epochs: --grid-epochs limits the training of every combination; expected one of "),
        ("device=cpu,cuda", "--grid device: it belongs to the machine; expected one of "),
        ("source=title,both", "--grid source: it belongs to no network; expected one of "),
        ("vocab-size=100,200", "--grid vocab-size: the dev losses would be over other tokens"),
        ("attention=general,none", "attention: att has "),
    ],
)
def test_a_grid_that_makes_no_sense(text: str, problem: str, corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        train_commenter("att", corpus.path, tmp_path / "m", SMALL, grid=Grid.parse([text], SMALL))
    assert caught.value.words(COMMAND_LINE).startswith(problem)
    assert "--" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_other_grids_that_make_no_sense(corpus: Corpus, tmp_path: Path) -> None:
    def asked(options: RetrieverTrainOptions, grid: Grid) -> Callable[[], object]:
        return lambda: train_retriever("ir-t", corpus.path, tmp_path / "m", options, grid=grid)

    def parsed(*texts: str, options: GeneratorTrainOptions | RetrieverTrainOptions = RELEVANCE) -> Callable[[], object]:
        return lambda: Grid.parse(texts, options)

    given = replace(RELEVANCE, embeddings="v")
    wrong = {
        "--grid dropout: expected each option once, with all its values, got 'dropou": parsed(
            "dropout=0.2", "dropout=0.5", options=SMALL
        ),
        "--grid: expected a ranker with a network, relevance or both, got tf-idf": asked(
            RetrieverTrainOptions(ranker="tf-idf"), Grid({"dropout": (0.2, 0.5)})
        ),
        "--grid ranker: it belongs to no network; expected one of architecture, ": parsed("ranker=tf-idf,relevance"),
        "--grid widths: expected whole numbers such as 1+2+3, got '1+a'": parsed("widths=1+a"),
        "--grid shared: expected true or false, got 'yes'": parsed("shared=yes"),
        "--grid embedding-dim: it is that of the vectors of --embeddings; expected": asked(
            given, Grid({"embedding-dim": (8, 16)})
        ),
        "--grid: expected at least one option with its values, got none": asked(RELEVANCE, Grid({})),
        "--grid dropout: expected values that differ, got none": asked(RELEVANCE, Grid({"dropout": ()})),
        "--grid-epochs: expected at least 1, got 0": asked(RELEVANCE, Grid({"dropout": (0.2,)}, epochs=0)),
        '--grid: filters: expected a whole number, got "4"': asked(RELEVANCE, Grid({"filters": ("4",)})),
        "--grid filters: expected at least 1, got 0": asked(RELEVANCE, Grid({"filters": (0,)})),
        "unknown option of the grid 'drop'": asked(RELEVANCE, Grid({"drop": (0.2,)})),
    }
    for words, work in wrong.items():
        with pytest.raises(UsageError) as caught:
            work()
        assert caught.value.words(COMMAND_LINE).startswith(words)
        assert "--" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_choice_is_shown_below_the_training() -> None:
    points = (
        GridPoint(values={"widths": (1, 2), "shared": True}, dev=0.3125, steps=1200),
        GridPoint(values={"widths": (3,), "shared": False}, dev=0.25, steps=900, chosen=True),
    )
    row = TrainingStep(step=1, epoch=0, loss=2.0, dev=0.0, perplexity=1.0, best=True)
    plain = TrainingResult(rows=(row,))
    result = TrainingResult(rows=(row,), grid=GridSearch(measure="mrr", epochs=2, points=points))
    assert show("markdown", result).removeprefix(show("markdown", plain)).split("\n")[1:] == [
        "| widths | shared | dev mrr | steps |  |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| 1+2 | true | 0.312 | 1,200 |  |",
        "| 3 | false | 0.250 | 900 | chosen |",
        "",
    ]
    assert show("csv", result) == show("csv", plain)
    assert "grid" not in json.loads(to_json(plain))
    assert msgspec.json.decode(to_json(result), type=TrainingResult) == result
