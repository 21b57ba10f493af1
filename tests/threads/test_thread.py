"""Words of a thread, its orders, near duplicates and reasons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, Undefined, UsageError
from postil.text.tokenizers import tokenizer
from postil.threads.orders import diversified, duplicates, merit, mixed, points, rank_thread, reasons
from postil.threads.thread import Thread

TEXTS = ("The bridge is closed again!", "the bridge is closed, again", "Who pays for it?", "ok", "")


def thread(*texts: str, votes: tuple[int, ...] = (), title: str = "The bridge", **fields: str) -> Thread:
    comments = tuple(
        Comment(f"c{at}", text, upvotes=votes[at] if votes else None) for at, text in enumerate(texts or TEXTS)
    )
    return Thread.of(Article("a", title, comments, **fields))


def test_vectors_are_those_of_the_formula() -> None:
    made = thread("rain rain coat", "coat", title="rain")
    # texts: title, content (empty), and two comments; d + 1 = 5
    rain, coat = np.log(5 / 2), np.log(5 / 2)
    first = np.array([(1 + np.log(2)) * rain, coat])
    assert made.cosines(made.title)[0] == pytest.approx(first[0] / np.linalg.norm(first))
    assert made.similarities(0).tolist() == pytest.approx([1, first[1] / np.linalg.norm(first)])
    assert made.centrality().tolist() == pytest.approx([made.similarities(0)[1]] * 2)
    assert made.cosines(made.content).tolist() == [0, 0]


@given(st.lists(st.text("abc ", max_size=9), min_size=1, max_size=7))
def test_similarities_are_cosines_to_the_last_bit(texts: list[str]) -> None:
    made = thread(*texts)
    for at in range(len(texts)):
        vector = np.zeros(len(made.idf))
        begin, end = made.starts[at + 2 : at + 4]
        vector[made.terms[begin:end]] = made.weights[begin:end]
        assert made.similarities(at).tolist() == made.cosines(vector).tolist()


def test_texts_without_words_are_like_nothing() -> None:
    made = thread("", "…", "rain")
    assert made.similarities(0).tolist() == [0, 0, 0]
    assert made.centrality().tolist() == [0, 0, 0]
    assert thread("rain").centrality().tolist() == [0]


def test_shared_words_are_of_the_title_first_and_no_stop_words() -> None:
    made = thread(
        "The bridge of 1999 is a toll bridge", "a toll", title="The bridge, 1999", content="The toll is high."
    )
    assert made.shared_words(0) == (["bridge"], True)
    assert made.shared_words(1) == (["toll"], False)
    assert thread("桥", title="桥").shared_words(0) == ([], False)  # single characters say little


@given(st.lists(st.integers(-3, 3), max_size=8))
def test_points_are_shares_of_lower_scores(scores: list[int]) -> None:
    values = np.array(scores, np.float64)
    found = points(values)
    for at, one in enumerate(values):
        others = np.delete(values, at)
        expected = np.mean((others < one) + (others == one) / 2) if len(others) else 0.5
        assert found[at] == pytest.approx(expected)
    assert np.array_equal(points(np.exp(values)), found)


def test_orders_without_a_model() -> None:
    dated = tuple(Comment(f"c{at}", "a b"[: at + 1], at, date=f"2020-01-0{3 - at}") for at in range(3))
    made = Thread.of(Article("a", "t", dated))
    assert {name: np.argsort(-merit(made, name)).tolist() for name in ("oldest", "newest")} == {
        "oldest": [2, 1, 0],
        "newest": [0, 1, 2],
    }
    with pytest.raises(Undefined, match="a comment has no upvotes"):
        merit(thread(), "votes")
    with pytest.raises(Undefined, match="a comment has no date"):
        merit(thread(), "newest")
    assert merit(thread(), "length").tolist() == [5, 5, 4, 1, 0]


def test_weights_of_a_mixture() -> None:
    scores = {"votes": np.array([0.0, 5.0, 9.0]), "length": np.array([3.0, 2.0, 1.0])}
    assert mixed(scores, {"votes": 1, "length": 1}).tolist() == [0.5, 0.5, 0.5]
    assert mixed(scores, {"votes": 2, "length": 1}).tolist() == pytest.approx([1 / 3, 0.5, 2 / 3])
    for weights in ({}, {"votes": 0.0}, {"votes": float("nan")}):
        with pytest.raises(UsageError, match="expected an order with a weight above 0"):
            mixed(scores, weights)
    with pytest.raises(UsageError, match="expected weights with a finite sum"):
        mixed(scores, {"votes": 1e308, "length": 1e308})


def test_diversity_puts_what_was_said_behind() -> None:
    made = thread()
    merits = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    assert diversified(made, merits, 0.0)[0].tolist() == [0, 1, 2, 3, 4]
    order, closest, similarity = diversified(made, merits, 0.5)
    assert order.tolist() == [0, 2, 3, 4, 1]
    assert (closest[1], similarity[1], closest[0]) == (0, 1.0, -1)
    with pytest.raises(UsageError, match="diversity: expected 0 to 1, got 2"):
        diversified(made, merits, 2)
    with pytest.raises(InvalidInput, match="expected 5 numbers"):
        diversified(made, merits[:2], 0.5)


@given(st.lists(st.text("ab ", max_size=6), min_size=1, max_size=7), st.sampled_from([0.0, 0.3, 1.0]))
def test_a_diversified_order_is_greedy(texts: list[str], weight: float) -> None:
    made, merits = thread(*texts), np.arange(len(texts), dtype=float)[::-1]
    order, _, _ = diversified(made, merits, weight)
    assert sorted(order.tolist()) == list(range(len(texts)))
    first = duplicates(made, order)
    same = duplicates(made, np.arange(len(texts)))
    gains = points(merits)
    for place, chosen in enumerate(order.tolist()):
        above, left = order[:place], order[place:]
        like = np.zeros(len(texts))
        for one in above.tolist():
            cosines = np.where(same == same[one], 1, made.similarities(one))
            like = np.maximum(like, cosines)
        worth = (1 - weight) * gains - weight * like
        assert worth[chosen] >= worth[left].max() - 1e-9
    assert all(first[first[at]] == first[at] for at in range(len(texts)))


def test_reasons_are_true() -> None:
    votes = (9, 2, 2, 2, -1)
    found = reasons(thread(votes=votes), np.array([0, 0, 2, 3, 4]))
    assert found[0] == (
        "shares 'bridge' with the title",
        "9 votes, the most of the thread",
        "1 near duplicate in the thread",
    )
    assert found[1] == ("shares 'bridge' with the title", "near duplicate of c0")
    assert found[2] == ("a question",)
    assert found[4] == ("-1 vote", "short: 0 words")
    long = reasons(thread("word " * 40, *("two words here are five",) * 5, votes=(1, 1, 1, 1, 1, 5)), np.arange(6))
    assert long[0] == ("40 words, the most of the thread",)
    assert long[5] == ("5 votes, the most of the thread",)
    assert long[1] == ()


def test_a_ranked_thread() -> None:
    made = thread()
    rows = rank_thread(made, np.array([1.0, 5.0, 3.0, 3.0, 0.0]), also=("", "by hand", "", "", ""))
    assert [(row.comment, row.rank, row.score) for row in rows] == [
        ("c1", 1, 5.0),
        ("c2", 2, 3.0),
        ("c3", 3, 3.0),
        ("c0", 4, 1.0),
        ("c4", 5, 0.0),
    ]
    assert rows[0].reasons == ("by hand", "shares 'bridge' with the title", "1 near duplicate in the thread")
    assert [row.same_as for row in rows] == [None, None, None, "c1", None]
    spread = rank_thread(thread("a b c d e f", "a b c d e g h", "x"), np.array([3.0, 2.0, 1.0]), diversity=0.6)
    assert [row.comment for row in spread] == ["c0", "c2", "c1"]
    assert spread[2].reasons[-1].startswith("much like c0 above (similarity 0.")
    assert rank_thread(Thread.of(Article("a", "t", ())), np.zeros(0)) == []


@pytest.mark.parametrize("installed", [True, False])
def test_chinese_threads_have_words_and_names(monkeypatch: pytest.MonkeyPatch, *, installed: bool) -> None:
    if installed:
        pytest.importorskip("rjieba")
    else:
        monkeypatch.setattr("postil.text.tokenizers.util.find_spec", {}.get)
    texts = ("我的iPhone电池不行，看https://example.com/new/iphone", "新手机2026年再说", "手机")
    made = thread(*texts, title="iPhone手机")
    units = set(made.tokens.vocabulary.words())
    assert {"iPhone", "2026"} <= units
    assert not units & {"https", "example", "com", "new", "i", "P"}
    assert ("手机" in units) is installed
    assert made.unit == ("word" if installed else "character")
    assert made.shared_words(0)[0] == ["iPhone"]
    assert thread("I sat the exam in 東京").tokens.tokenizer == tokenizer("words")


def test_a_thread_in_thai_has_a_unit_per_character() -> None:
    made = thread("น้ำ น้ำ", title="น้ำ")
    assert (made.unit, made.lengths.tolist()) == ("character", [6])
    assert made.cosines(made.title).tolist() == pytest.approx([1.0])


def test_hindi_words_of_one_letter_and_a_vowel_are_shared() -> None:
    assert thread("यह दिन का खेल", title="दिन").shared_words(0) == (["दिन"], True)
