"""Filter learned from labels: the probability that an editor would show a suggestion.

A logistic model of the ranker's score and features and of `SIGNALS` of the text; `postil.calibration.fit` fits it. A
model folder keeps it as ``show/filter.json``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.data.suggestions import Filtered, Suggestion, Suggestions
from postil.errors import InvalidInput, UsageError
from postil.kernel.python.interning import unspaced_word
from postil.learners.linear import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.rows import Article

__all__ = ["COVERAGE", "DEPTH", "FILE", "FORMAT", "SIGNALS", "Selection", "ShowFilter", "Threshold", "text_signals"]

FILE: Final = "show/filter.json"
"""Name of the filter's file in a model folder."""

SIGNALS: Final = (
    "log_words",
    "log_sentences",
    "distinct_words",
    "capitals",
    "digits",
    "exclamation",
    "question",
    "lower_start",
    "open_end",
    "in_title",
    "in_article",
)
"""Names of the columns of `text_signals`."""

FORMAT: Final = 1
"""Version of the format of the file."""

DEPTH: Final = 10
"""Number of first suggestions that a filter chooses from which reads a sentence encoder."""

COVERAGE: Final = 0.3
"""Share of the articles that the precision to expect is of."""

_SENTENCE: Final = re.compile(r"[.!?。！？]+")
_CLOSED: Final = (".", "!", "?", "…", "。", "！", "？", '"', "”", ")", "）")


def text_signals(article: Article, texts: Sequence[str]) -> NDArray[np.float64]:
    """Signals of texts that tell whether they stand by themselves.

    | column | value |
    |---|---|
    | ``log_words``, ``log_sentences`` | ln(1 + number); a character of a script without spaces is a word |
    | ``distinct_words`` | share of distinct words |
    | ``capitals`` | share of the letters |
    | ``digits``, ``exclamation``, ``question`` | 1 if the text has one |
    | ``lower_start``, ``open_end`` | 1 if it begins with a small letter, or ends without a mark |
    | ``in_title``, ``in_article`` | share of its distinct words that the title has, and title or content |

    Args:
        article: The article.
        texts: The n texts.

    Returns:
        float64[n, 11].
    """
    title = set(_words(article.title))
    whole = title | set(_words(article.content or ""))
    rows = np.zeros((len(texts), len(SIGNALS)))
    for row, text in zip(rows, texts, strict=True):
        words, plain = _words(text), text.strip()
        distinct = set(words)
        letters = sum(map(str.isalpha, text))
        row[:] = (
            np.log1p(len(words)),
            np.log1p(len(_SENTENCE.findall(text))),
            len(distinct) / max(len(words), 1),
            sum(map(str.isupper, text)) / max(letters, 1),
            any(map(str.isdigit, text)),
            "!" in text or "！" in text,
            "?" in text or "？" in text,
            plain[:1].islower(),
            not plain.endswith(_CLOSED),
            len(distinct & title) / max(len(distinct), 1),
            len(distinct & whole) / max(len(distinct), 1),
        )
    return rows


def _words(text: str) -> list[str]:
    return unspaced_word().findall(text.casefold())


class Threshold(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A threshold of the probability, by articles that were left out of the fit.

    Args:
        threshold: Lowest probability that is shown.
        coverage: Share of the articles for which a suggestion is shown.
        precision: Share of those whose first one an editor would show, pooled so that it falls with coverage.
        measured: The precision as it was found; None in models of earlier versions.
        low: Lower end of its 95 % confidence interval; None in models of earlier versions.
        high: Upper end.
    """

    threshold: float
    coverage: float
    precision: float
    measured: float | None = None
    low: float | None = None
    high: float | None = None


class ShowFilter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The probability of being worth showing, as 1 / (1 + exp(-(slope * logit + offset))): the content of `FILE`.

    Args:
        format: Version of the format.
        columns: Names of the m columns that it reads.
        mean: Mean of each column.
        scale: Standard deviation of each column.
        weights: Weight of each column in the logit.
        intercept: The logit of a row of means.
        slope: Slope of the calibration.
        offset: Offset of the calibration.
        depth: Number of first suggestions of an article that it was calibrated on.
        thresholds: Thresholds, from the lowest coverage to the whole.
        labels: Number of labels.
        labels_hash: Hash of the labels.
        reorders: True if suggestions come in the order of their probability among the first `depth`.
    """

    format: int
    columns: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    slope: float
    offset: float
    depth: int
    thresholds: tuple[Threshold, ...]
    labels: int
    labels_hash: str
    reorders: bool = False

    def reaching(self, coverage: float) -> Threshold:
        """The highest threshold that reaches a coverage, or the last one.

        Args:
            coverage: Share of the articles.
        """
        return next((one for one in self.thresholds if one.coverage >= coverage - 1e-9), self.thresholds[-1])

    def probabilities(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of each row, float64[n].

        Args:
            columns: float64[n, m].
        """
        linear = Linear(np.array(self.mean), np.array(self.scale), np.array(self.weights), self.intercept)
        logits = np.clip(self.slope * linear.predict(columns) + self.offset, -700, 700)
        return np.asarray(1 / (1 + np.exp(-logits)))

    def judged(self, found: Suggestions, columns: NDArray[np.float64]) -> Suggestions:
        """The suggestions of an article with their probabilities.

        Args:
            found: m suggestions.
            columns: float64[m, columns].
        """
        chances = self.probabilities(columns).tolist()
        pairs = zip(found.suggestions, chances, strict=True)
        suggestions = tuple(msgspec.structs.replace(one, probability=chance) for one, chance in pairs)
        return msgspec.structs.replace(found, suggestions=suggestions)

    def ordered(self, found: Suggestions, k: int) -> Suggestions:
        """The suggestions of an article, its first `depth` in the order of their probability.

        Args:
            found: The suggestions, with their probabilities.
            k: Maximum number of suggestions.
        """
        first = sorted(found.suggestions[: self.depth], key=lambda one: -(one.probability or 0.0))
        kept = [*first, *found.suggestions[self.depth :]][:k]
        ranked = tuple(msgspec.structs.replace(one, rank=rank) for rank, one in enumerate(kept, 1))
        return msgspec.structs.replace(found, suggestions=ranked)

    def encoded(self) -> bytes:
        """The content of `FILE`."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def open(cls, file: Path) -> ShowFilter:
        """Read the filter of a model folder.

        Args:
            file: The file.

        Raises:
            InvalidInput: It is damaged.
        """
        try:
            saved = msgspec.json.decode(file.read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidInput(f"cannot be read: {error}; calibrate the model again", where=str(file)) from error
        sound = (
            saved.format == FORMAT
            and len(saved.mean) == len(saved.scale) == len(saved.weights) == len(saved.columns)
            and all(scale > 0 for scale in saved.scale)
            and saved.depth >= 1
            and saved.thresholds
        )
        if not sound:
            raise InvalidInput("expected a filter that postil calibrate wrote; calibrate again", where=str(file))
        return saved


@dataclass(frozen=True)
class Selection:
    """A request to suggest only what is probably worth showing: by precision or by coverage.

    Args:
        precision: Share of the articles with a suggestion whose first one an editor would show.
        coverage: Share of the articles that get a suggestion.

    Raises:
        UsageError: Not one of both is given, or it is out of range.

    >>> Selection(precision=0.6)
    Selection(precision=0.6, coverage=None)
    """

    precision: float | None = None
    coverage: float | None = None

    def __post_init__(self) -> None:
        given = {"precision": self.precision, "coverage": self.coverage}
        values = {name: value for name, value in given.items() if value is not None}
        if len(values) != 1:
            raise UsageError("expected either a precision or a coverage, got " + ("both" if values else "none"))
        for name, value in values.items():
            if not 0 < value <= 1:
                raise UsageError(f"{name}: expected a share above 0 and up to 1, got {value:g}")

    def __str__(self) -> str:
        if self.precision is not None:
            return f"precision {_short(self.precision)}"
        return f"coverage {_short(self.coverage or 0)}"

    def threshold(self, learned: ShowFilter, where: str) -> float:
        """The lowest probability to show.

        The threshold of a precision is the one with the largest coverage that reaches it; that of a coverage the
        highest one that reaches it.

        Args:
            learned: The filter.
            where: The model, for messages.

        Raises:
            UsageError: The labels allow no such precision.
        """
        points = learned.thresholds
        if self.coverage is not None:
            return next((one.threshold for one in points if one.coverage >= self.coverage - 1e-9), 0.0)
        wanted = self.precision or 0.0
        reached = [one for one in points if one.precision >= wanted]
        if not reached:
            best = max(points, key=lambda one: one.precision)
            raise UsageError(
                f"{where}: by its {learned.labels} labels no threshold gives precision {_short(wanted)}; the highest "
                f"is {_short(best.precision)}, at coverage {_short(best.coverage)}; ask for less, or label more"
            )
        return reached[-1].threshold

    def apply(self, found: Suggestions, learned: ShowFilter, threshold: float, k: int) -> Suggestions:
        """Filter out the suggestions of an article that are probably not worth showing, and order the others.

        The first one needs the threshold, which gives the precision asked for on average; further ones need that
        precision themselves.

        Args:
            found: The first `ShowFilter.depth` suggestions, with their probabilities.
            learned: The filter.
            threshold: The lowest probability to show.
            k: Maximum number of suggestions.
        """
        further = max(threshold, self.precision or 0.0)
        order = sorted(found.suggestions[: learned.depth], key=lambda one: -(one.probability or 0.0))
        kept: list[Suggestion] = []
        dropped: list[Filtered] = []
        for one in order:
            needed, probability = further if kept else threshold, one.probability or 0.0
            if probability >= needed:
                kept.append(msgspec.structs.replace(one, rank=len(kept) + 1))
            else:
                reason = f"probability {_short(probability)} of being worth showing, below {_short(needed)} for {self}"
                dropped.append(Filtered(one.text, reason, next(iter(one.provenance.sources), None)))
        nothing = found.reason
        if order and not kept:
            nothing = f"nothing is probably worth showing: the best has {dropped[0].reason}"
        return msgspec.structs.replace(
            found, suggestions=tuple(kept[:k]), filtered=(*found.filtered, *dropped), reason=nothing
        )


def _short(value: float) -> str:
    """A share with two decimals, such as .46; three where two would say 1."""
    text = f"{value:.2f}" if value < 0.995 or value == 1 else f"{value:.3f}"
    return text.removeprefix("0")
