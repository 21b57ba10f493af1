"""A thread: an article and its comments as TF-IDF vectors."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from postil.kernel import count_terms
from postil.kernel.python.interning import fold_words, is_spaceless_text, word_class
from postil.text.addresses import without_addresses
from postil.text.han import composed, spaceless_script
from postil.text.stop_words import STOP_LISTS, stop_words
from postil.text.tokenizers import is_han_text, ranking_tokenizer, stored_tokenizer, tokenizer
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Article

__all__ = ["Thread"]


@dataclass(frozen=True, eq=False)
class Thread:
    """An article and its n comments; make it with `of`.

    A text's vector has (1 + ln count) idf for each word, L2-normalized, with idf = ln((d + 1) / df) over the d = n + 2
    texts of the thread: title, content and comments. So every thread stands by itself, and needs no corpus.

    Args:
        article: The article.
        tokens: Words of the title, the content, and each comment.
        starts: int64[n + 3], the first entry of each text.
        terms: int32[entries], distinct words of each text, ascending.
        counts: float64[entries], their counts.
    """

    article: Article
    tokens: Tokens
    starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, article: Article, tokenizer_name: str | None = None) -> Self:
        """Tokenize an article and its comments.

        Args:
            article: The article with its comments.
            tokenizer_name: The tokenizer, as folders name it; by default ``words``, and where a text is in a script
                without spaces `ranking_tokenizer`, which takes no part of an address.

        >>> from postil.data.rows import Article, Comment
        >>> thread = Thread.of(Article("1", "Rain", (Comment("a", "More rain!"), Comment("b", "No."))))
        >>> thread.lengths.tolist(), thread.cosines(thread.title).round(2).tolist()
        ([2, 1], [0.49, 0.0])
        """
        texts = [article.title, article.content or "", *(comment.text for comment in article.comments)]
        if tokenizer_name is None:
            scripts = Counter(spaceless_script(text) for text in texts if is_spaceless_text(fold_words(text)))
            split = tokenizer(ranking_tokenizer(scripts.most_common(1)[0][0] if scripts else ""))
            texts = [without_addresses(composed(text)) for text in texts] if scripts else texts
        else:
            split = stored_tokenizer(tokenizer_name)
        tokens = Vocabulary().encode(texts, split, allow_han=True)
        starts, terms, counts = count_terms(np.ascontiguousarray(tokens.ids), np.ascontiguousarray(tokens.offsets))
        return cls(article, tokens, np.asarray(starts), np.asarray(terms), np.asarray(counts, np.float64))

    def __len__(self) -> int:
        return len(self.starts) - 3

    @property
    def ids(self) -> list[str]:
        """The ids of the comments."""
        return [comment.id for comment in self.article.comments]

    @property
    def texts(self) -> list[str]:
        """The comments."""
        return [comment.text for comment in self.article.comments]

    @property
    def unit(self) -> str:
        """The noun of what is counted: ``word`` or ``character``."""
        named = self.tokens.tokenizer
        return "character" if named is not None and named.name in {"characters", "runs"} else "word"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of words of each comment, int64[n]."""
        return np.asarray(np.diff(self.tokens.offsets)[2:], np.int64)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The text of each entry, int64[entries]: 0 the title, 1 the content, from 2 on the comments."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """Inverse document frequency of each word, float64[words]."""
        frequencies = np.bincount(self.terms, minlength=len(self.tokens.vocabulary))
        return np.asarray(np.log(len(self.starts) / np.maximum(frequencies, 1)), np.float64)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each entry in its text's vector, float64[entries]."""
        raw = (1 + np.log(self.counts)) * self.idf[self.terms]
        norms = np.sqrt(np.bincount(self.owners, raw**2, minlength=len(self.starts) - 1))
        return np.asarray(raw / norms[self.owners], np.float64)

    @cached_property
    def title(self) -> NDArray[np.float64]:
        """The vector of the title, float64[words]."""
        return self._vector(0)

    @cached_property
    def content(self) -> NDArray[np.float64]:
        """The vector of the content, float64[words]; 0 where there is none."""
        return self._vector(1)

    def cosines(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Dot products of each comment's vector and another vector, float64[n].

        Args:
            vector: float64[words].
        """
        products = self.weights * vector[self.terms]
        return np.asarray(np.bincount(self.owners, products, minlength=len(self.starts) - 1)[2:], np.float64)

    def similarities(self, comment: int) -> NDArray[np.float64]:
        """Cosines of each comment and one of them, float64[n].

        Args:
            comment: Index of the comment.
        """
        # Only the entries of its words are summed, in the order of `cosines`: the result is the same to the last bit.
        begin, end = self.starts[comment + 2 : comment + 4]
        words, own = self.terms[begin:end], self.weights[begin:end].tolist()
        bounds, owners, weights = self._postings
        parts = list(zip(bounds[words].tolist(), bounds[words + 1].tolist(), own, strict=True))
        if not parts:
            return np.zeros(len(self))
        said = np.concatenate([owners[first:last] for first, last, _ in parts])
        products = np.concatenate([weights[first:last] * weight for first, last, weight in parts])
        return np.asarray(np.bincount(said, products, minlength=len(self.starts) - 1)[2:], np.float64)

    def centrality(self) -> NDArray[np.float64]:
        """Mean cosine of each comment and the other comments, float64[n]; 0 for a single comment."""
        first = self.starts[2]
        total = np.bincount(self.terms[first:], self.weights[first:], minlength=len(self.idf)).astype(np.float64)
        own = np.diff(self.starts)[2:] > 0
        return np.asarray((self.cosines(total) - own) / max(1, len(self) - 1), np.float64)

    def distinct(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Number of distinct words of each comment, and of those that no other text of the thread has, float64[n]."""
        alone = np.bincount(self.terms, minlength=len(self.idf))[self.terms] == 1
        sizes, own = (np.bincount(self.owners, each, minlength=len(self.starts) - 1) for each in (None, alone))
        return sizes[2:].astype(np.float64), own[2:].astype(np.float64)

    def shared_words(self, comment: int, most: int = 3) -> tuple[list[str], bool]:
        """Words of a comment that the title has as well, or where none is, the content.

        Stop words, numbers and single characters are left out.

        Args:
            comment: Index of the comment.
            most: Maximum number of words.

        Returns:
            The words, those that fewest texts of the thread have first; and True if they are of the title.
        """
        own, words = self._terms(comment + 2), self._words
        for text in (0, 1):
            shared = own[np.isin(own, self._terms(text))].tolist()
            kept = [one for one in shared if _letters().search(words[one]) and words[one] not in self._stop]
            if kept:
                kept.sort(key=lambda one: (-self.idf[one], words[one]))
                return [words[one] for one in kept[:most]], text == 0
        return [], False

    def counted(self, words: frozenset[str]) -> NDArray[np.float64]:
        """Number of words of each comment that are in a set, float64[n].

        Args:
            words: Words in lower case.
        """
        flags = self.tokens.vocabulary.flags(words).astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(flags[self.tokens.ids])])
        return np.asarray(np.diff(sums[self.tokens.offsets])[2:], np.float64)

    @cached_property
    def _postings(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Owners and weights of the entries by word, after the bounds of each word, int64[words + 1]."""
        order = np.argsort(self.terms, kind="stable")
        bounds = np.cumsum([0, *np.bincount(self.terms, minlength=len(self.idf))])
        return bounds, self.owners[order], self.weights[order]

    @cached_property
    def _words(self) -> Sequence[str]:
        return self.tokens.vocabulary.words()

    @cached_property
    def _stop(self) -> frozenset[str]:
        language = re.split("[-_]", (self.article.lang or "").lower())[0]
        if language not in STOP_LISTS:
            language = "zh" if any(map(is_han_text, (self.article.title, *self.texts))) else "en"
        return stop_words(language)

    def _terms(self, text: int) -> NDArray[np.int32]:
        return self.terms[self.starts[text] : self.starts[text + 1]]

    def _vector(self, text: int) -> NDArray[np.float64]:
        out = np.zeros(len(self.idf))
        out[self._terms(text)] = self.weights[self.starts[text] : self.starts[text + 1]]
        return out


@cache
def _letters() -> re.Pattern[str]:
    """Pattern of two letters, or of a letter with a combining mark, which may be a vowel."""
    return re.compile(rf"[^\W\d_](?:[^\W\d_]|[{word_class()}])")
