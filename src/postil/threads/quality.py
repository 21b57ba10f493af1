"""Quality of comments, learned from votes, grades or labels within threads.

A linear model of features of a comment in its thread predicts the share of the thread's other comments that a comment
beats in votes (or grades), ties counted by half; or of labels, 1 for show and 0 for hide. All columns and outcomes are
centered within the thread, so that only comments of one thread are ever compared, and every thread has the same weight.
Early comments collect votes for longer: the place in time and its square are columns of the fit, and are left out of
the prediction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.data.model_folders import Model, ModelWriter
from postil.errors import InvalidInput, Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.streams import FilePath
    from postil.threads.thread import Thread

__all__ = [
    "FEATURES",
    "KIND",
    "Example",
    "Quality",
    "bootstrap_weights",
    "cross_fit",
    "features",
    "fit",
    "moments",
    "text_shares",
]

SHARES: Final[Mapping[str, re.Pattern[str]]] = {
    "question marks": re.compile(r"[?？]"),
    "exclamation marks": re.compile(r"[!！]"),
    "quotation marks": re.compile(r"[\"“”„«»「」『』]"),
    "digits": re.compile(r"\d"),
    "line breaks": re.compile(r"\n"),
    "links": re.compile(r"https?://|www\."),
    "capitals": re.compile(r"[A-Z]"),
    "spaces": re.compile(r"[ \t]"),
}
"""Signs that are counted, by name; spaces tell short words from long ones."""
_SIGNS: Final = ("question marks", "exclamation marks", "quotation marks", "digits", "line breaks", "links", "capitals")
FEATURES: Final[Mapping[str, str]] = {
    "length": "ln(1 + words)",
    "squared length": "its square",
    "word length": "characters that are no space, per word",
    "sentence length": "ln(1 + words per sentence)",
    "lexical diversity": "distinct words / square root of words",
    "first person": "share of I, me, my, we, us, our",
    "second person": "share of you, your",
    "question": "1 if it ends with a question mark",
    "own words": "share of its distinct words that no other text of the thread has",
    "centrality": "mean TF-IDF cosine with the other comments",
    "title": "TF-IDF cosine with the title",
    "content": "TF-IDF cosine with the content",
    **{name: f"{name} per character, at most .2" for name in _SIGNS},
}
"""The features by name, with their formula."""

MOST: Final = 0.2
"""Largest share of a sign; more of it says no more."""
_FIRST: Final = frozenset(["i", "me", "my", "mine", "we", "us", "our", "ours", "im", "ive", "我", "俺", "咱"])
_SECOND: Final = frozenset(["you", "your", "yours", "u", "你", "您"])
_END: Final = re.compile(r"(?<![.!?。！？…])[.!?。！？…]+(?=\s|$|[^\x00-\x7f])|\n+")
_QUESTION: Final = re.compile(r"[?？][\s\"'”’)»」』]*$")


def text_shares(texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Count signs per character of each text.

    Args:
        texts: n texts.

    Returns:
        For each name of `SHARES` float64[n], the number of matches over the number of characters; 0 for an empty text.

    >>> text_shares(["Is it?", "No!!"])["question marks"].round(3).tolist()
    [0.167, 0.0]
    """
    sizes = np.maximum(1, np.fromiter(map(len, texts), np.int64, len(texts)))
    return {
        name: np.fromiter((len(pattern.findall(text)) for text in texts), np.int64, len(texts)) / sizes
        for name, pattern in SHARES.items()
    }


def features(thread: Thread) -> NDArray[np.float64]:
    """Compute the features of each comment.

    Args:
        thread: The thread of n comments.

    Returns:
        float64[n, len(FEATURES)], finite; see `FEATURES`.

    >>> from postil.threads.thread import Thread
    >>> from postil.data.rows import Article, Comment
    >>> made = features(Thread.of(Article("1", "Rain", (Comment("a", "Why rain? Why?"), Comment("b", "")))))
    >>> dict(zip(FEATURES, made[0].round(2).tolist()))["lexical diversity"], made.shape
    (1.15, (2, 19))
    """
    texts, words = thread.texts, thread.lengths.astype(np.float64)
    some = np.maximum(words, 1)
    letters = np.array([len("".join(text.split())) for text in texts], np.float64)
    sentences = np.array([max(1, len(_END.findall(text.strip()))) for text in texts], np.float64)
    distinct, own = thread.distinct()
    shares = text_shares(texts)
    columns = {
        "length": np.log1p(words),
        "squared length": np.log1p(words) ** 2,
        "word length": letters / some,
        "sentence length": np.log1p(words / sentences),
        "lexical diversity": distinct / np.sqrt(some),
        "first person": thread.counted(_FIRST) / some,
        "second person": thread.counted(_SECOND) / some,
        "question": np.array([bool(_QUESTION.search(text)) for text in texts], np.float64),
        "own words": own / np.maximum(distinct, 1),
        "centrality": thread.centrality(),
        "title": thread.cosines(thread.title),
        "content": thread.cosines(thread.content),
        **{name: np.minimum(shares[name], MOST) for name in _SIGNS},
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


KIND: Final = "quality"
"""Kind of the model folder."""
PENALTY: Final = 0.001
"""Ridge penalty, for columns of standard deviation 1 within threads and a mean squared error."""
MOVED: Final = 0.02
"""Least contribution to the score that is a reason."""
_DECIMALS: Final = 12
"""Decimals of the weights, since sums in another order differ in their last digits."""
_GROUPS: Final = {"squared length": "length"}
"""Features that are told together with another."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A thread to learn from.

    Args:
        columns: float64[n, m], see `postil.threads.quality.features`.
        place: float64[n], place in time from 0 (the first comment) to 1.
        outcome: float64[n], share of the other comments that each beats, from 0 to 1; or 1 for show and 0 for hide.
    """

    columns: NDArray[np.float64]
    place: NDArray[np.float64]
    outcome: NDArray[np.float64]

    @property
    def all_columns(self) -> NDArray[np.float64]:
        """Features, place and its square, centered: float64[n, m + 2]."""
        both = np.column_stack([self.columns, self.place, self.place**2])
        return np.asarray(both - both.mean(axis=0), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """A model of quality.

    Args:
        weights: float64[m], points per unit of each feature.
        tokenizer: Tokenizer of the threads.
        target: ``votes``, ``grades`` or ``labels``.
        hash: Hash of the folder that it was opened from.
    """

    weights: NDArray[np.float64]
    tokenizer: str
    target: str
    hash: str = ""

    @classmethod
    def open(cls, folder: FilePath) -> Self:
        """Open a model folder.

        Args:
            folder: The folder that ``postil train quality`` made.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
        """
        model = Model.open(folder, {KIND})
        weights = model.config.get("weights")
        if not isinstance(weights, dict) or list(weights) != list(FEATURES):
            problem = "expected a weight of each feature of this version of postil; train it again"
            raise InvalidInput(problem, where=str(model.path / "config.json"), field="weights")
        values = [value for value in weights.values() if type(value) in {int, float} and np.isfinite(value)]
        if len(values) < len(FEATURES):
            raise InvalidInput("expected finite numbers", where=str(model.path / "config.json"), field="weights")
        tokenizer, target = model.setting("tokenizer", str), model.setting("target", str)
        return cls(np.array(values, np.float64), tokenizer, target, model.hash)

    def save(self, folder: FilePath, metadata: Mapping[str, object]) -> None:
        """Write the model into a new folder; it holds no texts and no words.

        Args:
            folder: The folder to create.
            metadata: Description of the training.
        """
        config = {
            "tokenizer": self.tokenizer,
            "target": self.target,
            "weights": dict(zip(FEATURES, self.weights.tolist(), strict=True)),
        }
        with ModelWriter(folder, KIND, config, metadata):
            pass

    def scores(self, thread: Thread) -> NDArray[np.float64]:
        """Predict the share of the thread's other comments that each comment beats, at the same place in time.

        Learned from labels, it is .5 + how much more likely people are to show the comment than the mean of its thread.

        Args:
            thread: The thread of n comments, by `tokenizer`.

        Returns:
            float64[n], about .5 on average; higher is better.
        """
        return np.asarray(0.5 + self._contributions(thread).sum(axis=1), np.float64)

    def reasons(self, thread: Thread) -> list[str]:
        """The two features that move each score most, where they do.

        Args:
            thread: The thread of n comments, by `tokenizer`.

        Returns:
            For each comment a text such as ``quality: +0.09 by length, -0.03 by exclamation marks``; else empty.
        """
        parts: dict[str, NDArray[np.float64]] = {}
        for name, values in zip(FEATURES, self._contributions(thread).T, strict=True):
            group = _GROUPS.get(name, name)
            parts[group] = parts.get(group, 0.0) + values
        names, table = list(parts), np.array(list(parts.values()))
        out = []
        for values in table.T:
            best = [at for at in np.argsort(-np.abs(values), kind="stable")[:2].tolist() if abs(values[at]) >= MOVED]
            said = ", ".join(f"{values[at]:+.2f} by {names[at]}" for at in best)
            out.append(f"quality: {said}" if said else "")
        return out

    def _contributions(self, thread: Thread) -> NDArray[np.float64]:
        columns = features(thread)
        centered = columns - columns.mean(axis=0) if len(columns) else columns
        return np.asarray(centered * self.weights, np.float64)


def moments(examples: Sequence[Example]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Within-thread second moments of the columns, and those of columns and outcome.

    Args:
        examples: A threads.

    Returns:
        float64[A, m + 2, m + 2] and float64[A, m + 2]: each a mean over the comments of a thread.
    """
    grams, products = [], []
    for one in examples:
        columns = one.all_columns
        # einsum, since BLAS may sum in another order on other numbers of threads
        grams.append(np.einsum("ni,nj->ij", columns, columns) / len(columns))
        products.append(np.einsum("ni,n->i", columns, one.outcome - one.outcome.mean()) / len(columns))
    return np.array(grams), np.array(products)


def fit(grams: NDArray[np.float64], products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimize the squared error within threads by ridge regression on standardized columns.

    Args:
        grams: float64[A, m + 2, m + 2], see `moments`.
        products: float64[A, m + 2].

    Returns:
        float64[m + 2], points per unit of each feature, of the place and of its square; 0 for a constant column.

    Raises:
        Undefined: There is no thread.
    """
    if not len(grams):
        raise Undefined("there is no thread to learn from")
    return np.round(_solved(grams.mean(axis=0), products.mean(axis=0)), _DECIMALS)


def _solved(gram: NDArray[np.float64], product: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = np.sqrt(np.diag(gram))
    used = np.flatnonzero(spread > 1e-9)
    out = np.zeros(len(product))
    scale = spread[used]
    correlations = gram[np.ix_(used, used)] / np.outer(scale, scale) + PENALTY * np.eye(len(used))
    out[used] = np.linalg.solve(correlations, product[used] / scale) / scale
    return out


def cross_fit(
    examples: Sequence[Example], folds: int, seed: int
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Predict each thread by a fit on the threads of the other folds.

    Args:
        examples: A threads.
        folds: Number of folds, at least 2.
        seed: Seed of the assignment of threads to folds.

    Returns:
        For each thread the scores by features alone, and those with the place in time, float64[n] each.

    Raises:
        Undefined: There are fewer threads than folds.
    """
    if len(examples) < folds:
        raise Undefined(f"expected at least {folds} threads, one per fold, got {len(examples)}")
    grams, products = moments(examples)
    fold = np.random.default_rng(seed).permutation(len(examples)) % folds
    weights = [fit(grams[fold != one], products[fold != one]) for one in range(folds)]
    alone, whole = [], []
    for one, at in zip(examples, fold.tolist(), strict=True):
        parts = one.all_columns * weights[at]
        alone.append(0.5 + parts[:, : len(FEATURES)].sum(axis=1))
        whole.append(0.5 + parts.sum(axis=1))
    return alone, whole


def bootstrap_weights(
    grams: NDArray[np.float64], products: NDArray[np.float64], counts: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weights in points per standard deviation within threads, with 95 % percentile bootstrap intervals over threads.

    Args:
        grams: float64[A, m + 2, m + 2], see `moments`.
        products: float64[A, m + 2].
        counts: int[R, A], multiplicity of each thread in each resample.

    Returns:
        The weights, their lower and their upper ends, float64[m + 2] each.
    """
    spread = np.sqrt(np.diag(grams.mean(axis=0)))
    size = len(spread)
    shares = counts / counts.sum(axis=1, keepdims=True)
    drawn = np.array(
        [
            _solved(gram.reshape(size, size), product)
            for gram, product in zip(shares @ grams.reshape(len(grams), -1), shares @ products, strict=True)
        ]
    )
    low, high = np.percentile(drawn * spread, (2.5, 97.5), axis=0)
    found = [np.round(each, _DECIMALS) for each in (fit(grams, products) * spread, low, high)]
    return found[0], found[1], found[2]
