"""The last pass: prepared tables become shards."""

from __future__ import annotations

import io
import json
import pickle
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from corpus_work import Row, loose, row, rows

from postil.corpus.block_table import open_block_table, words_in
from postil.corpus.blocks import Block
from postil.corpus.finish import FIELDS, Count, Finish, Finished, Part
from postil.corpus.prepare import Prepare
from postil.data.parquet import schema_of
from postil.data.rows import Article


def part(articles: list[Row], codes: list[int], first_id: int = 0, **changes: Any) -> Part:
    """A prepared table; the words of its block get the ids from some number on."""
    data = Prepare(loose(**changes))(Block("a", 1, "".join(json.dumps(each) + "\n" for each in articles).encode()))
    ids = np.arange(len(words_in(open_block_table(data))), dtype=np.int32) + first_id
    return Part(data, np.array(codes, dtype=np.int8), ids)


def table(finished: Finished) -> Any:
    return pq.read_table(io.BytesIO(finished.parquet))


def test_words_are_counted_in_train_and_listed_if_they_stand_anywhere() -> None:
    articles = [row(name, [f"{name} all"], title="", content=name) for name in ("train", "dev", "test", "gone")]
    counted = Count(loose())(part(articles, [0, 1, 2, -2]))
    found = dict(zip(counted.words, zip(counted.places.tolist(), counted.counts.tolist(), strict=True), strict=True))
    assert {word: count for word, (_, count) in found.items()} == {"train": 2, "all": 1, "dev": 0, "test": 0}
    words = words_in(open_block_table(part(articles, [0, 1, 2, -2]).data))
    assert all(words[place] == word for word, (place, _) in found.items())


def test_a_shard_for_each_split_that_has_articles() -> None:
    articles = rows(6)
    finished = Finish(loose(), sample=False)([part(articles, [0, 1, 0, -2, 0, -1])])
    assert list(finished) == ["train", "dev"]
    assert table(finished["train"])["id"].to_pylist() == ["a000", "a002", "a004"]
    assert table(finished["train"]).schema.equals(schema_of(Article, dates=False))
    assert Finish(loose(), sample=False)([part(articles, [-2] * 6)]) == {}


def test_blocks_of_a_shard_lie_behind_one_another() -> None:
    articles = rows(6)
    parts = [part(articles[:2], [0, 0], 1_000), part(articles[2:4], [-2, -2]), part(articles[4:], [-2, 0], 5_000)]
    shard = Finish(loose(), sample=False)(parts)["train"]
    assert table(shard)["id"].to_pylist() == ["a000", "a001", "a005"]
    assert shard.sizes.tolist() == [5, 5, 5]
    for field in FIELDS:
        assert shard.lengths[field].sum() == len(shard.ids[field])
        assert (shard.ids[field].dtype, shard.lengths[field].dtype) == (np.int32, np.int64)
    split = int(shard.lengths["title"][:2].sum())
    assert (shard.ids["title"][:split] < 5_000).all()
    assert (shard.ids["title"][split:] >= 5_000).all()


@pytest.mark.parametrize("draw", [1, 4, 5, 9])
def test_references_are_drawn_for_test_alone(draw: int) -> None:
    articles = [part(rows(4), [2, 0, 1, 2])]
    finished = Finish(loose(references_per_article=draw), sample=True)(articles)
    drawn = min(draw, 5)
    for article in table(finished["test"]).to_pylist():
        assert (len(article["comments"]), len(article["held_out"])) == (drawn, 5 - drawn)
    assert finished["test"].sizes.tolist() == [drawn, drawn]
    assert len(finished["test"].lengths["comments"]) == 2 * drawn
    for split in ("train", "dev"):
        assert [len(each) for each in table(finished[split])["held_out"].to_pylist()] == [0] * len(
            table(finished[split])
        )
    whole = Finish(loose(references_per_article=draw), sample=False)(articles)
    assert whole["test"].sizes.tolist() == [5, 5]


def test_what_is_drawn_does_not_depend_on_the_shard() -> None:
    articles = rows(6)
    alone = {
        article["id"]: article["comments"]
        for each in articles
        for article in table(Finish(loose(), sample=True)([part([each], [2])])["test"]).to_pylist()
    }
    together = table(Finish(loose(), sample=True)([part(articles[:4], [2] * 4), part(articles[4:], [2] * 2)])["test"])
    assert {article["id"]: article["comments"] for article in together.to_pylist()} == alone


def test_they_can_be_sent() -> None:
    parts = [part(rows(3), [0, 2, 2])]
    finish = Finish(loose(), sample=True)
    for name, shard in finish(parts).items():
        again = pickle.loads(pickle.dumps(finish))(pickle.loads(pickle.dumps(parts)))[name]  # noqa: S301 - our own
        assert again.parquet == shard.parquet
        assert all(np.array_equal(again.ids[field], shard.ids[field]) for field in FIELDS)
