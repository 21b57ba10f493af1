"""Candidates and what ranks them: the pool, cosines, and features of an article and a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comments.candidate_pool import MISSING, CandidatePool
from postil.comments.feature_ranker import RelevanceFeatures, TextVectors, hubs_of, sentences
from postil.comments.rankers import ArticleTexts, CommentTexts, TfidfRanker, idf_weights
from postil.data.rows import Article, Comment
from postil.data.suggestions import Source
from postil.documents.markup import plain_text
from postil.encoders.static import WordEncoder
from postil.errors import InvalidInput
from postil.screening.reasons import QUOTATION, REPLY
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Ragged, Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence


def texts(*lists: list[int]) -> Ragged:
    return Ragged(np.array([word for each in lists for word in each], np.int32), np.cumsum([0, *map(len, lists)]))


ARTICLES = texts([0, 1, 1], [0, 2])
COMMENTS = texts([3], [3, 0], [], [2, 3, 3])
STARTS = np.array([0, 2, 4])


@pytest.mark.parametrize(
    ("idf", "expected"),
    [
        # Four documents: {0, 1}, {0, 2}, {0, 3}, {2, 3}; word 4 is in none.
        ("plain", [np.log(4 / 3), np.log(4), np.log(2), np.log(2), 0]),
        ("smooth", [np.log(5 / 4) + 1, np.log(5 / 2) + 1, np.log(5 / 3) + 1, np.log(5 / 3) + 1, 0]),
    ],
)
def test_articles_and_their_discussions_are_the_documents(idf: str, expected: list[float]) -> None:
    np.testing.assert_allclose(idf_weights(ARTICLES, COMMENTS, STARTS, 5, idf), expected)  # type: ignore[arg-type]


def test_a_discussion_counts_once_however_long_it_is() -> None:
    long = texts([3] * 50, [3, 0], [3] * 50, [2, 3, 3])
    np.testing.assert_array_equal(
        idf_weights(ARTICLES, COMMENTS, STARTS, 5, "plain"), idf_weights(ARTICLES, long, STARTS, 5, "plain")
    )


def test_a_word_of_comments_alone_counts_in_their_length() -> None:
    """Article (word 1); comments (1) and (1, 3): the second is longer by a word that no article has."""
    weights = idf_weights(ARTICLES, COMMENTS, STARTS, 5, "plain")
    ranker = TfidfRanker(texts([1], [1, 3]), weights)
    ((one, two),) = ranker.score_stored(ArticleTexts(texts([1]), texts([1]), ()), [np.array([0, 1])])
    assert one == pytest.approx(1)
    assert two == pytest.approx(2 / 5**0.5)  # ln 4 is twice ln 2


def test_stored_comments_come_and_go() -> None:
    """A ranker that is extended, reordered and weighed again equals one that is made at once."""
    idf = idf_weights(ARTICLES, texts([3], [3, 0]), np.array([0, 1, 2]), 4, "plain")
    grown = TfidfRanker(texts([3], [3, 0]), idf).extend(texts([], [2, 4, 4]), ["", "c e e"])
    taken = grown.take(np.array([3, 1, 0]))
    for name, values in taken.arrays().items():
        np.testing.assert_array_equal(values, TfidfRanker(texts([2, 4, 4], [3, 0], [3]), idf).arrays()[name])
    frequencies = np.array([2, 1, 1, 0, 0])
    weighed = taken.reweighted(frequencies, np.array([0, 2, 3]), "smooth")
    expected = idf_weights(ARTICLES, texts([2, 4, 4], [3, 0], [3]), np.array([0, 2, 3]), 5, "smooth")
    np.testing.assert_array_equal(weighed.idf, expected)


WORDS = ("rain", "snow", "coat", "i", "you", "chess", "the")
IDF = np.array([2.0, 3.0, 1.0, 0.5, 0.25, 4.0, 0.0])
TABLE = np.array([[1, 0], [1, 1], [0, 2], [1, 3], [2, 1], [0, 1], [0, 0]], np.float32)
VECTORS = TextVectors(WordEncoder(Vectors(WORDS, TABLE)), "words")


def known() -> Vocabulary:
    vocabulary = Vocabulary()
    vocabulary.encode_tokens([WORDS])
    return vocabulary


def read(texts: list[str], branch: Vocabulary) -> Ragged:
    return branch.encode(texts, tokenizer("words"))


def features(*, vectors: bool = True, with_content: bool = True) -> RelevanceFeatures:
    persons = np.array([3], np.int32), np.array([4], np.int32)
    if not vectors:
        return RelevanceFeatures(IDF, persons, with_content)
    hubs = hubs_of(VECTORS, [("snow", "the chess"), ("coat", "I, rain. You!")], with_content=with_content)
    return RelevanceFeatures(IDF, persons, with_content, VECTORS, hubs)


def computed(article: tuple[str, str], comments: list[str], what: RelevanceFeatures) -> list[dict[str, float]]:
    branch = known().branch()
    words = read(["\n".join(article) if what.with_content else article[0]], branch)
    texts = ArticleTexts(words, read([article[0]], branch), [article])
    given = what.comments(CommentTexts(read(comments, branch), comments))
    (rows,) = what.pairs(texts, [given])
    assert rows.shape == (len(comments), len(what.names))
    return [dict(zip(what.names, row, strict=True)) for row in rows.tolist()]


def weight(word: str) -> float:
    return dict(zip(WORDS, IDF.tolist(), strict=True)).get(word, 4.0)


def split(text: str) -> list[str]:
    return "".join(c.lower() if c.isalnum() else " " for c in text).split()


def unit(text: str) -> np.ndarray:
    table = dict(zip(WORDS, TABLE, strict=True))
    total = sum((table.get(word, np.zeros(2)) for word in split(text)), np.zeros(2))
    return np.asarray(total / (np.linalg.norm(total) or 1.0))


def tfidf(one: list[str], two: list[str]) -> float:
    def bag(words: list[str]) -> dict[str, float]:
        return {word: words.count(word) * weight(word) for word in set(words)}

    a, b = bag(one), bag(two)
    norms = [sum(value**2 for value in each.values()) ** 0.5 or 1.0 for each in (a, b)]
    return sum(value * b.get(word, 0.0) for word, value in a.items()) / norms[0] / norms[1]


ARTICLE = ("Rain, the gadzooks rain", "You take a coat again. I play chess in snow\nthe")
FEATURED = ["rain rain gadzooks", "I think you need the coat?", "!", "the", "chess and snow and you"]


def test_features_are_those_of_a_plain_reading() -> None:
    title, content = ARTICLE
    training = [("snow", "the chess"), ("coat", "I, rain. You!")]
    found = computed(ARTICLE, FEATURED, features())
    for comment, row in zip(FEATURED, found, strict=True):
        words = split(comment)
        for view, text in (("article", f"{title} {content}"), ("title", title)):
            shared = [weight(word) for word in set(words) & set(split(text))]
            assert row[f"tfidf_{view}"] == pytest.approx(tfidf(words, split(text)))
            assert row[f"shared_idf_{view}"] == pytest.approx(sum(shared))
            assert row[f"highest_idf_{view}"] == max(shared, default=0.0)
        idf = sorted((weight(word) for word in set(words)), reverse=True)
        assert row["log_length"] == pytest.approx(np.log(1 + len(words)))
        assert row["mean_idf"] == pytest.approx(np.mean(idf) if idf else 0)
        assert row["top_idf"] == pytest.approx(np.mean(idf[:3]) if idf else 0)
        assert row["first_person"] == pytest.approx(words.count("i") / max(len(words), 1))
        assert row["second_person"] == pytest.approx(words.count("you") / max(len(words), 1))
        assert row["question"] == ("?" in comment)
        whole, said = f"{title}\n{content}", unit(comment)
        of_sentences = max(unit(part) @ said for part in sentences(whole))
        for view, cosine in (
            ("article", unit(whole) @ said),
            ("title", unit(title) @ said),
            ("opening", unit(content) @ said),
            ("sentence", of_sentences),
        ):
            assert row[f"cosine_{view}"] == pytest.approx(cosine, abs=2e-3)  # half precision
        hub = np.mean([unit(f"{a}\n{b}") @ said for a, b in training])
        assert row["cosine_article"] - row["less_hub_article"] == pytest.approx(hub, abs=2e-3)


def test_titles_alone_and_words_alone() -> None:
    some = computed(("rain", ""), ["rain"], features(with_content=False))
    assert [name for name in some[0] if name.endswith(("article", "opening", "sentence"))] == []
    assert some[0]["cosine_title"] == pytest.approx(1, abs=1e-3)
    assert not {name for name in computed(ARTICLE, FEATURED, features(vectors=False))[0] if name.startswith("cosine")}


def test_a_pair_does_not_depend_on_the_others() -> None:
    together = computed(ARTICLE, FEATURED, features())
    assert [computed(ARTICLE, [comment], features())[0] for comment in FEATURED] == together


def test_texts_without_words() -> None:
    (row,) = computed(("", ""), [""], features())
    assert not any(row.values())
    assert computed(("", ""), [], features()) == []


def test_sentences_of_long_texts_take_no_time() -> None:
    assert sentences("a" * 10**6) == ["a" * 100_000]
    assert len(sentences("It rains. " * 10**5)) == 40
    assert sentences("\n" * 10**6) == []


DATES = st.none() | st.datetimes().map(lambda at: f"{at.isoformat(timespec='seconds')}Z")
POOLED = st.builds(
    lambda text, votes, date, parent: (text, votes, date, parent),
    st.text(max_size=8),
    st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
    DATES,
    st.none() | st.just("0"),
)
POOLS = st.lists(
    st.builds(
        lambda title, url, date, comments: Article(
            "",
            title,
            tuple(Comment(str(n), t, upvotes=v, date=d, parent=p) for n, (t, v, d, p) in enumerate(comments)),
            url=url,
            date=date,
        ),
        st.text(max_size=5),
        st.none() | st.just("https://news.example/1"),
        DATES,
        st.lists(POOLED, max_size=4),
    ),
    max_size=4,
)


def facts(pool: CandidatePool) -> list[tuple[Source, str, int]]:
    return [(pool.source(at), pool.texts[at], int(pool.flags[at])) for at in range(len(pool))]


def expected(articles: Sequence[Article]) -> list[tuple[Source, str, int]]:
    return [
        (
            Source(
                one.id,
                comment.id,
                title=one.title or None,
                url=one.url,
                date=comment.date or one.date,
                upvotes=comment.upvotes,
            ),
            plain_text(comment.text)[0],
            REPLY * (comment.parent is not None) | QUOTATION * plain_text(comment.text)[1],
        )
        for one in articles
        for comment in one.comments
    ]


def opened(arrays: dict[str, Any], articles: int) -> CandidatePool:
    def array(name: str, wanted: Any) -> Any:
        assert wanted.problem(arrays[name]) is None, name
        return arrays[name]

    return CandidatePool.open(array, articles)


@given(POOLS, POOLS, st.randoms(use_true_random=False))
def test_pools_are_appended_and_thinned(some: list[Article], others: list[Article], random: Any) -> None:
    pool = CandidatePool.concatenate([CandidatePool.of(some), CandidatePool.of(others), CandidatePool.of([])])
    everything = expected([*some, *others])
    assert facts(pool) == everything
    again = CandidatePool.of([*some, *others])
    written, direct = dict(pool.arrays()), dict(again.arrays())
    assert written.keys() == direct.keys()
    assert all(written[name].dtype == direct[name].dtype for name in written)
    assert all(written[name].tobytes() == direct[name].tobytes() for name in written)
    keep = [random.random() < 0.5 for _ in everything]
    chosen = np.flatnonzero(np.array(keep, bool))
    left = pool.take(np.arange(len(pool.articles)), chosen, pool.owner(chosen))
    kept = opened(dict(left.arrays()), len(some) + len(others))
    assert facts(kept) == [fact for fact, there in zip(everything, keep, strict=True) if there]
    assert len(kept.starts) == len(some) + len(others) + 1


def test_a_date_that_no_calendar_has() -> None:
    pool = CandidatePool.of([Article("a", "Rain", (Comment("1", "Again!", date="2020-03-21"),))])
    assert pool.source(0).date == "2020-03-21T00:00:00Z"
    np.asarray(pool.dates)[0] = 2**62
    with pytest.raises(InvalidInput, match="expected a date in Unix seconds, got 4611686018427387904; was the folder"):
        pool.source(0)
    np.asarray(pool.dates)[0] = MISSING
    assert pool.source(0) == Source("a", "1", title="Rain")
