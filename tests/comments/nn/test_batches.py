from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.comments.nn.batches import Pairs, bucket_by_length, concatenate_texts, model_ids, pad_batch
from postil.comments.nn.token_ids import PAD, UNK
from postil.errors import UsageError
from postil.text.tokens import Ragged

texts_of_words = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=7), max_size=9)


def ragged(texts: list[list[int]]) -> Ragged:
    ids = np.array([word for text in texts for word in text], dtype=np.int32)
    return Ragged(ids, np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64))


def texts_of(arrays: Ragged) -> list[list[int]]:
    return [arrays.ids[a:b].tolist() for a, b in zip(arrays.offsets, arrays.offsets[1:], strict=False)]


def world(articles: int = 30, seed: int = 0, *, same: bool = False) -> Pairs:
    """Article i is the word 100 + i (or 100), its comments are the words 10 i, 10 i + 1, …"""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, articles)
    comments = [[10 * article + number] for article in range(articles) for number in range(counts[article])]
    titles = [[100 if same else 100 + article] * int(rng.integers(1, 40)) for article in range(articles)]
    if same:
        titles = [[100]] * articles
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Pairs(
        ragged(titles), ragged(comments), starts, vocab_size=10**6, batch=8, comments_per_group=3, window=4, seed=seed
    )


@given(st.integers(5, 60), st.lists(st.integers(0, 2**31 - 1), max_size=20))
def test_model_ids_are_words_behind_the_special_ones_or_unknown(vocabulary: int, words: list[int]) -> None:
    found = model_ids(np.array(words, dtype=np.int32), vocabulary).tolist()
    assert found == [word + 4 if word + 4 < vocabulary else UNK for word in words]


@given(texts_of_words, st.integers(1, 8), st.randoms())
def test_padded_holds_the_texts_and_nothing_else(texts: list[list[int]], longest: int, random) -> None:  # type: ignore[no-untyped-def]
    rows = [random.randrange(len(texts)) for _ in range(5)] if texts else []
    found = pad_batch(ragged(texts), np.array(rows, dtype=np.int64), longest, vocab_size=50)
    cut = [texts[row][:longest] for row in rows]
    assert found.dtype == np.int64
    assert found.shape == (len(rows), max([1, *map(len, cut)]))
    for line, words in zip(found.tolist(), cut, strict=True):
        assert line[: len(words)] == [word + 4 if word < 46 else UNK for word in words]
        assert set(line[len(words) :]) <= {PAD}


@given(texts_of_words, st.integers(0, 5))
def test_joined_are_titles_with_their_contents_cut(titles: list[list[int]], longest: int) -> None:
    contents = titles[::-1]
    found = concatenate_texts(ragged(titles), ragged(contents), longest)
    assert texts_of(found) == [one + two[:longest] for one, two in zip(titles, contents, strict=True)]


def test_joined_refuses_other_numbers_of_texts() -> None:
    with pytest.raises(UsageError, match="as many texts as others, got 1 and 2"):
        concatenate_texts(ragged([[1]]), ragged([[1], [2]]), 5)


@given(texts_of_words, st.integers(1, 30), st.integers(1, 8))
def test_by_length_holds_every_text_once_and_keeps_to_its_size(
    texts: list[list[int]], words: int, longest: int
) -> None:
    groups = bucket_by_length(ragged(texts), words, longest)
    assert sorted(row for rows in groups for row in rows.tolist()) == list(range(len(texts)))
    for rows in groups:
        filled = len(rows) * max([1, *(min(len(texts[row]), longest) for row in rows)])
        assert filled <= words or len(rows) == 1


@pytest.mark.parametrize("seed", range(5))
def test_an_epoch_deals_out_every_comment_once_beside_its_article(seed: int) -> None:
    pairs = world(seed=seed)
    seen = []
    for batch in pairs.epoch(0):
        articles = batch["article"][batch["owner"], 0] - 4 - 100
        comments = batch["comment"][:, 0] - 4
        assert (comments // 10 == articles).all()
        assert len(batch["comment"]) <= 8
        assert len(np.unique(batch["owner"])) == len(batch["article"])
        seen += comments.tolist()
    assert sorted(seen) == sorted(pairs.comments.ids.tolist())


def test_a_batch_holds_groups_of_an_article() -> None:
    sizes = [np.bincount(batch["owner"]).max() for batch in world().epoch(0)]
    assert max(sizes) == 3


@examples(40)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=40).filter(any), st.integers(1, 20), st.data())
def test_batches_are_full_but_for_less_than_a_group(counts: list[int], batch: int, data: st.DataObject) -> None:
    group, window, seed = data.draw(st.integers(1, batch)), data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9))
    total, starts = sum(counts), np.concatenate([[0], np.cumsum(counts)])
    articles, comments = ragged([[number] for number in range(len(counts))]), ragged([[n] for n in range(total)])
    pairs = Pairs(articles, comments, starts, 10**6, batch=batch, comments_per_group=group, window=window, seed=seed)
    epoch = pairs.epoch(1)
    smallest, *sizes = sorted(len(each["owner"]) for each in epoch)
    assert all(batch - group < size <= batch for size in sizes)
    assert 1 <= smallest <= batch
    dealt = [each["comment"][:, 0].tolist() for each in epoch]
    assert sorted(word - 4 for some in dealt for word in some) == list(range(total))
    assert dealt == [each["comment"][:, 0].tolist() for each in pairs.epoch(1)]


@pytest.mark.parametrize("tokens", [1, 40, 90])
def test_a_batch_of_long_articles_has_fewer_of_them(tokens: int) -> None:
    pairs = world()
    epoch = replace(pairs, article_tokens=tokens).epoch(2)
    assert sorted(word for batch in epoch for word in batch["comment"][:, 0]) == sorted(
        word for batch in pairs.epoch(2) for word in batch["comment"][:, 0]
    )
    assert all(batch["article"].size <= tokens or len(batch["article"]) == 1 for batch in epoch)
    enough = replace(pairs, article_tokens=40 * pairs.batch).epoch(2)  # no article is longer than 40
    for one, two in zip(enough, pairs.epoch(2), strict=True):
        assert all((one[name] == two[name]).all() for name in two)


def test_groups_from_one_comment_to_a_batch_are_taken() -> None:
    for group in (0, 9):
        with pytest.raises(UsageError, match=f"expected groups of 1 to 8 comments, got {group}"):
            Pairs(ragged([[1]]), ragged([[1]]), np.array([0, 1]), 10, batch=8, comments_per_group=group)


def test_an_article_that_was_posted_twice_is_one() -> None:
    for batch in world(same=True).epoch(0):
        assert len(batch["article"]) == 1
        assert not batch["owner"].any()


def test_the_same_seed_and_epoch_give_the_same_batches_and_others_give_others() -> None:
    def everything(seed: int, epoch: int) -> list[list[int]]:
        pairs = world()
        pairs = Pairs(pairs.articles, pairs.comments, pairs.starts, 10**6, batch=8, comments_per_group=3, seed=seed)
        return [batch["comment"][:, 0].tolist() for batch in pairs.epoch(epoch)]

    assert everything(1, 1) == everything(1, 1)
    assert everything(1, 1) != everything(1, 2)
    assert everything(1, 1) != everything(2, 1)


def test_one_comment_an_article_is_the_same_in_every_epoch() -> None:
    pairs = world()
    pairs = Pairs(pairs.articles, pairs.comments, pairs.starts, 10**6, batch=8, comments_per_article="one")
    chosen = [sorted(w for batch in pairs.epoch(epoch) for w in batch["comment"][:, 0].tolist()) for epoch in range(2)]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == np.count_nonzero(np.diff(pairs.starts))
    assert len({(word - 4) // 10 for word in chosen[0]}) == len(chosen[0])


def test_sorting_by_length_fills_up_less_and_batches_are_of_one_size() -> None:
    rng = np.random.default_rng(0)
    texts = ragged([[1] * int(n) for n in rng.integers(1, 50, 4000)])
    titles = ragged([[article] for article in range(1000)])

    def filled(window: int) -> int:
        pairs = Pairs(titles, texts, np.arange(1001) * 4, 1000, batch=50, window=window)
        batches = list(pairs.epoch(0))
        assert {len(batch["comment"]) for batch in batches} == {50}
        return sum(batch["comment"].size for batch in batches)

    assert filled(window=20) < 1.1 * len(texts.ids) < filled(window=1)


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="starts: expected 2 numbers from 0 to 3"):
        Pairs(ragged([[1]]), ragged([[1], [2], [3]]), np.array([0, 2]), 10)
    with pytest.raises(UsageError, match="expected articles with comments, got none"):
        Pairs(ragged([[1]]), ragged([]), np.array([0, 0]), 10)
