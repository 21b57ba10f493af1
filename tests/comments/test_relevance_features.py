"""The features of an article and a comment, against a plain reading of the two texts."""

from __future__ import annotations

import numpy as np
import pytest

from postil.comments.feature_ranker import RelevanceFeatures, TextVectors, hubs_of, sentences
from postil.comments.rankers import ArticleTexts, CommentTexts
from postil.encoders.static import WordEncoder
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

WORDS = ("rain", "snow", "coat", "i", "you", "chess", "the")
IDF = np.array([2.0, 3.0, 1.0, 0.5, 0.25, 4.0, 0.0])
TABLE = np.array([[1, 0], [1, 1], [0, 2], [1, 3], [2, 1], [0, 1], [0, 0]], np.float32)
VECTORS = TextVectors(WordEncoder(Vectors(WORDS, TABLE)), "words")


def known() -> Vocabulary:
    vocabulary = Vocabulary()
    vocabulary.encode_tokens([WORDS])
    return vocabulary


def read(texts: list[str], branch: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    tokens = branch.encode(texts, tokenizer("words"))
    return tokens.ids, tokens.offsets


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
COMMENTS = ["rain rain gadzooks", "I think you need the coat?", "!", "the", "chess and snow and you"]


def test_features_are_those_of_a_plain_reading() -> None:
    title, content = ARTICLE
    training = [("snow", "the chess"), ("coat", "I, rain. You!")]
    found = computed(ARTICLE, COMMENTS, features())
    for comment, row in zip(COMMENTS, found, strict=True):
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
    assert not {name for name in computed(ARTICLE, COMMENTS, features(vectors=False))[0] if name.startswith("cosine")}


def test_a_pair_does_not_depend_on_the_others() -> None:
    together = computed(ARTICLE, COMMENTS, features())
    assert [computed(ARTICLE, [comment], features())[0] for comment in COMMENTS] == together


def test_texts_without_words() -> None:
    (row,) = computed(("", ""), [""], features())
    assert not any(row.values())
    assert computed(("", ""), [], features()) == []


def test_sentences_of_long_texts_take_no_time() -> None:
    assert sentences("a" * 10**6) == ["a" * 100_000]
    assert len(sentences("It rains. " * 10**5)) == 40
    assert sentences("\n" * 10**6) == []
