"""Scores and correlations do not depend on where they are worked out."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.correlation.calls import correlate_table
from postil.correlation.options import CorrelateOptions
from postil.data.grades import Scale
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.engine import elsewhere
from postil.errors import InvalidInput, UnknownName
from postil.meta.table import join
from postil.metrics.evaluation import Batch, ReferenceTexts, RemoteEvaluation
from postil.metrics.metric_set import parse_all
from postil.scoring import graded as scoring
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postil.engine import Engine

WORDS = [
    *["the", "a", "cat", "dog", "sat", "lay", "on", "under"],
    *["mat", "rug", "while", "it", "rained", "and", "nobody", "cared"],
]


def text(seed: int, length: int) -> str:
    return " ".join(WORDS[(seed * 7 + place * (seed % 5 + 1)) % len(WORDS)] for place in range(length))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    items = range(40)
    write(
        tmp_path / "r.jsonl",
        [Reference(str(i), text(i + k, 8), grade=1 + (i + k) % 5) for i in items for k in range(3)],
    )
    write(
        tmp_path / "c.jsonl",
        [Candidate(str(i), system, text(i + shift, 7)) for i in items for shift, system in enumerate("abc")],
    )
    return str(tmp_path / "c.jsonl"), str(tmp_path / "r.jsonl")


class Spread:
    """An engine that does each shard in this process, through the same copies that a worker would get."""

    name = "spread"

    def map(self, function: object, shards: object) -> Iterator[object]:
        work = pickle.loads(pickle.dumps(function))  # noqa: S301
        for shard in shards:  # type: ignore[attr-defined]
            yield pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(shard)))))  # noqa: S301


@pytest.fixture
def spread(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(name: str, *_: object, **__: object) -> Iterator[Engine | None]:
        yield None if name == "local" else Spread()  # type: ignore[misc]

    monkeypatch.setattr("postil.scoring.files.elsewhere", opened)
    monkeypatch.setattr("postil.correlation.calls.elsewhere", opened)


@pytest.mark.usefixtures("spread")
def test_scores_are_the_same_elsewhere(files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 32)  # 120 candidates in four batches
    found = {}
    for engine in ("local", "ray"):
        options = ScoreOptions(
            metrics=("bleu-4", "w-meteor", "w-rouge-l", "cider-d", "w-rouge-l(over=near)", "w-chrf++", "rouge-lsum"),
            scale=Scale(1, 5),
            items=str(tmp_path / f"{engine}.jsonl"),
            engine=engine,
        )
        found[engine] = score_files(*files, options, print)
    assert found["local"] == found["ray"]
    assert len(found["local"].scores) == 21
    assert (tmp_path / "local.jsonl").read_bytes() == (tmp_path / "ray.jsonl").read_bytes()


@pytest.mark.usefixtures("spread")
def test_han_texts_are_counted_over_batches(files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 32)
    rows = list(read(files[0], Candidate))
    many = [
        Candidate(row.item, row.system, "今天天气很好" if place >= 70 else row.text) for place, row in enumerate(rows)
    ]
    for engine in ("local", "ray"):
        write(files[0], many)
        with pytest.raises(InvalidInput, match=r"c\.jsonl:71: text: .*50 of 120 candidates are; .*jieba"):
            score_files(*files, ScoreOptions(engine=engine), print)
        assert score_files(*files, ScoreOptions(engine=engine, allow_han=True), lambda _: None)
        write(files[0], [*rows[:70], many[70], *rows[71:]])
        said: list[str] = []
        score_files(*files, ScoreOptions(engine=engine), said.append)
        assert [line for line in said if "Han" in line] == [
            "1 of 120 candidates is Han text, which the tokenizer words does not split; jieba, rjieba and characters do"
        ]


@pytest.mark.parametrize("by", ["pool", "item", "system"])
@pytest.mark.usefixtures("spread")
def test_correlations_are_the_same_elsewhere(by: str) -> None:
    scores = [
        Score(str(i), system, metric, (i * 7 + shift * 3 + (metric == "m") * (i % 4)) % 11 / 11, "")
        for i in range(30)
        for shift, system in enumerate("abcd")
        for metric in "mn"
    ]
    judgements = [
        Judgement(str(i), system, who, 1 + (i * 5 + shift + late) % 5)
        for i in range(30)
        for shift, system in enumerate("abcd")
        for late, who in enumerate(["ann", "bob"])
    ]
    options = CorrelateOptions(resamples=300, permutations=50, by=by)  # type: ignore[arg-type]
    here = correlate_table(join(scores, judgements), options)
    there = correlate_table(join(scores, judgements), replace(options, engine="ray"))
    assert here.to_dict() == there.to_dict()
    assert here.correlations


def remote_of(spec: str) -> RemoteEvaluation:
    metrics = parse_all([spec])
    signatures = {name: metric.signature for name, metric in metrics.items()}
    return RemoteEvaluation(ReferenceTexts(["a b"], np.array([0, 1])), metrics, None, "words", signatures)


def test_a_worker_reads_the_same_function_words(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a\n", encoding="utf-8")
    sent = pickle.dumps(remote_of(f"meteor(function_words={words})"))
    batch = Batch(["a"], np.zeros(1, dtype=np.int32))
    assert pickle.loads(sent)(batch)  # noqa: S301
    words.write_text("b\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"meteor\(function_words=.*: the file is not the same on every machine"):
        pickle.loads(sent)(batch)  # noqa: S301


def test_a_worker_refuses_no_han_text_since_they_are_counted_where_the_command_runs() -> None:
    remote = remote_of("rouge-1")
    stats = remote(Batch(["a", "今天天气很好"], np.zeros(2, dtype=np.int32)))["rouge-1"]
    assert stats.tolist() == [[0.5, 1.0], [0.0, 1.0]]


def test_engines_have_names() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ray'"), elsewhere("rya", 1, None):
        pass
