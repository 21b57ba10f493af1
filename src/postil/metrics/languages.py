"""Remarks on metrics and tokenizers that are for texts of another language than those at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.kernel.python.interning import SPACELESS
from postil.text.han import advice_for
from postil.text.writing import writing_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.metrics.base import Metric
    from postil.text.writing import Writing

__all__ = ["language_remarks"]

AT_SPACES: Final = frozenset({"13a", "ptb", "space"})
"""Tokenizers that split words at spaces and refuse no text; `words` does, and `rouge` says itself what it drops."""
OF_CHINESE: Final = frozenset({"jieba", "rjieba"})
SEPARATED: Final = 6
"""Characters between two spaces, on average, below which somebody has separated the words."""


def language_remarks(metrics: Mapping[str, Metric], tokenizer: str, texts: Sequence[str], what: str) -> Iterator[str]:
    """Yield a remark for each metric and for the tokenizer where they are not for the language of the texts.

    Args:
        metrics: The metrics, by spec.
        tokenizer: Name of the tokenizer.
        texts: The texts, of which the first ones are looked at.
        what: Name of the texts, in the plural.

    >>> from postil.metrics.spec import parse_metric
    >>> texts = ["Das ist nicht der Ort, an dem wir uns mit den anderen getroffen haben."]
    >>> list(language_remarks({"meteor": parse_metric("meteor")}, "words", texts, "references"))
    ['meteor is for English, and the references are German; params=other fits them']
    """
    writing = writing_of(texts)
    if any(metric.needs_words for metric in metrics.values()):
        yield from _of_tokenizer(tokenizer, writing, texts, what)
    if writing.is_english:
        return
    of_english: dict[str, list[str]] = {}
    for spec, metric in metrics.items():
        if metric.for_other_languages:
            of_english.setdefault(metric.for_other_languages, []).append(spec)
    for parameter, specs in of_english.items():
        are = "is" if len(specs) == 1 else "are"
        yield f"{', '.join(specs)} {are} for English, and the {what} are {writing.name}; {parameter} fits them"


def _of_tokenizer(tokenizer: str, writing: Writing, texts: Sequence[str], what: str) -> Iterator[str]:
    script = writing.script
    if tokenizer in AT_SPACES and script in SPACELESS and not _are_separated(texts):
        yield (
            f"the tokenizer {tokenizer} splits words at spaces, and the {what} are {writing.name}, without spaces; "
            f"what fits: {advice_for(script)}"
        )
    elif tokenizer in OF_CHINESE and script not in {"", "Latin", "Han"}:
        fits = advice_for(script) if script in SPACELESS else "words"
        yield f"the tokenizer {tokenizer} is for Chinese, and the {what} are {writing.name}; what fits: {fits}"


def _are_separated(texts: Sequence[str]) -> bool:
    """True if spaces separate the words of most texts."""
    runs = [run for text in texts for run in text.split()]
    return sum(map(len, runs)) < SEPARATED * len(runs)
