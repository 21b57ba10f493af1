"""`postil interesting`: the passages of a page that readers should see first, with the reasons."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.interesting_options import AUTO, NO_VECTORS, InterestingOptions
from postil.app.interesting_page import Page, open_page
from postil.app.packaged_vectors import installed_vectors
from postil.app.passage_texts import references_of
from postil.app.rank_passages import MEASURE, UNITS, Ranking, decomposable, measure_ranking, reference_weights
from postil.app.sources import Loaded
from postil.commenters.near_duplicates import BigramSets
from postil.errors import InvalidInput, UsageError
from postil.metrics.interest.model import LANGUAGES, page_scores
from postil.metrics.interest.model_files import chosen_model
from postil.metrics.passage_collection import Preprocessing
from postil.metrics.topic import NEARNESS, topic_scores
from postil.records.arguments import check_arguments
from postil.records.ranking import best_first
from postil.records.results import Goal, InterestingResult, RankedPassage
from postil.records.row_files import PLAIN
from postil.records.text_fragments import TextFragments
from postil.text.han import HanTexts, all_remarks
from postil.text.static_encoders import open_static
from postil.text.stop_words import STOP_LISTS
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from postil.metrics.interest.model import InterestModel
    from postil.metrics.measures import Overlap
    from postil.records.reading import Reading
    from postil.records.results import UnitContribution
    from postil.records.row_files import FilePath
    from postil.text.encoders import Encoder

__all__ = ["Ranker", "interesting"]

COPY: Final = 0.8
"""Smallest Jaccard similarity of the word bigrams of near copies, of which only the best is ranked."""
SPACELESS: Final = frozenset({"ja", "zh"})
"""Languages whose words no spaces separate."""


def interesting(source: FilePath, options: InterestingOptions | None = None) -> InterestingResult:
    r"""Rank the passages of a document: HTML, PDF, Markdown, wikitext or plain text; or of a table of passages.

    Args:
        source: A file; an http or https address, which is fetched; or ``-`` for standard input.
        options: Options.

    Returns:
        The best passages, with the document where there is one; `postil.highlight` shows them in it.

    Raises:
        InvalidInput: The document or the reference cannot be read, or holds no passage.
        UnknownName, UsageError: A name does not exist, or options contradict each other.
        MissingExtra: A reader of this format is not installed.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "lock.md")
    ...     _ = page.write_text("# The lock\n\nBoats wait here all day. The oldest lock of Ely never froze.\n")
    ...     best, *_ = interesting(page, InterestingOptions(lang="en")).passages
    >>> best.text, [each.unit for each in best.reasons[:2]]
    ('The oldest lock of Ely never froze.', ['superlative: oldest', 'never'])
    """
    check_arguments(interesting, locals())
    options = options or InterestingOptions()
    name = os.fspath(source)
    if name == options.reference == "-":
        raise UsageError("only one of the files can be standard input")
    page = open_page(name, options)
    if isinstance(page, Loaded):
        raise UsageError(f"{name}: expected one document, got a feed; name one of its pages")
    return Ranker.open(options).rank(page)


@dataclass(frozen=True, slots=True)
class Ranker:
    """A way of ranking passages, for any number of pages.

    Args:
        options: The options.
        model: Model of the goal interest.
        measure: Measure to rank by; None for a goal.
        reference: Texts to compare with; None for the page itself.
        weights: float64[m], the weight of each of them.
    """

    options: InterestingOptions
    model: InterestModel
    measure: Overlap | None
    reference: Sequence[str] | None
    weights: NDArray[np.float64] | None

    @classmethod
    def open(cls, options: InterestingOptions, reading: Reading = PLAIN) -> Self:
        """Read what the options name.

        Args:
            options: The options.
            reading: Options of reading the reference.

        Raises:
            InvalidInput: A file or folder cannot be read, or holds no passage.
            UnknownName, UsageError: The measure does not exist, or has no units.
        """
        measure = None
        if options.measure is not None or options.reference is not None:
            measure = decomposable(options.measure or MEASURE)
        reference, grades = None, None
        if options.reference is not None:
            reference, grades = references_of(options.reference, options.split, reading)
        weights = None
        if measure is not None and reference is not None:
            weights = reference_weights(grades, len(reference), needed=measure.weighted)
        elif measure is not None and measure.weighted:
            reference_weights(None, 0, needed=True)
        return cls(
            options=options,
            model=chosen_model(options.model),
            measure=measure,
            reference=reference,
            weights=weights,
        )

    def rank(self, page: Page) -> InterestingResult:
        """Rank the passages of a page: sentences before fragments, and of near copies the best alone.

        Args:
            page: The page.

        Raises:
            InvalidInput: It has no passage, or its texts are Han text and meet the ``words`` tokenizer.
        """
        texts = [each.text for each in page.passages]
        if not any(text.strip() for text in texts):
            raise InvalidInput("expected passages, got none", where=page.source)
        lang = page.lang
        how = self._preprocessing(texts, lang)
        notes = [*page.notes]
        if self.measure is None:
            goal, measure, signature, ranking = self._by_goal(texts, page, how, notes)
        else:
            goal, measure, signature = None, self.options.measure or MEASURE, f"{self.measure}|{how.signature}"
            ranking = self._by_measure(texts, page, self.measure, how, notes)
        fragments = np.array([each.fragment for each in page.passages])
        best = best_first(ranking.scores)
        best = best[np.array([bool(text.strip()) for text in texts])[best]]
        order = np.concatenate([best[~fragments[best]], best[fragments[best]]])
        k = self.options.k
        taken = order[:k].tolist() if page.document is None else _without_copies(texts, order, k, notes)
        reference = "page" if self.reference is None else f"{len(self.reference)}-passages"
        return InterestingResult(
            measure=measure,
            passages=tuple(self._ranked(page, ranking, taken)),
            goal=goal,
            lang=lang,
            signature=f"{signature}|reference:{reference}|split:{self.options.split}|postil:{VERSION}",
            document=page.document,
            notes=tuple(notes),
        )

    def _by_goal(
        self, texts: Sequence[str], page: Page, how: Preprocessing, notes: list[str]
    ) -> tuple[Goal, str, str, Ranking]:
        """The goal, its spec, its part of the signature, and the ranking."""
        options, lang = self.options, page.lang
        goal = options.goal or ("interest" if options.vectors in {None, NO_VECTORS} else "topic")
        if goal == "interest" and lang not in LANGUAGES and (lang or options.goal is None):
            known = ", ".join(sorted(LANGUAGES))
            said = f"the language {lang}" if lang else "an unknown one; name it with --lang"
            notes.append(f"goal topic, since goal interest knows {known} and not {said}")
            goal = "topic"
        if goal == "interest":
            found = page_scores(texts, self.model, options.jobs)
            spec = signature = f"interest(model={self.model.name})"
        else:
            _check_words(texts, page.source, how, notes)
            encoder = _encoder(options.vectors, lang)
            stop = None if how.stop == "none" else how.stop
            found = topic_scores(texts, stop, tokenizer=how.tokenizer, encoder=encoder, jobs=options.jobs)
            near = "" if encoder is None else f",nearness={NEARNESS:g},vectors={encoder.signature}"
            spec = f"topic(logsim-1{near})"
            signature = f"{spec}|{how.signature}"
        return goal, spec, signature, Ranking(found.scores, lambda index: _for_it(found.reasons(index, UNITS)))

    def _by_measure(
        self, texts: Sequence[str], page: Page, measure: Overlap, how: Preprocessing, notes: list[str]
    ) -> Ranking:
        _check_words(texts, page.source, how, notes)
        if self.reference is None and measure.family == "kl":
            notes.append(
                "on a page that is its own reference kl puts short passages first; name a --reference, or take logsim"
            )
        weights = np.ones(len(texts)) if self.weights is None else self.weights
        return measure_ranking(texts, self.reference, weights, measure=measure, how=how, jobs=self.options.jobs)

    def _preprocessing(self, texts: Sequence[str], lang: str | None) -> Preprocessing:
        options, tokenizer = self.options, self.options.tokenizer
        stop = (lang if lang in STOP_LISTS else "none") if options.stop == AUTO else options.stop
        if tokenizer == AUTO:
            tokenizer = "characters" if lang in SPACELESS or _han(texts, "words").many else "words"
        return Preprocessing(tokenizer=tokenizer, stem=options.stem, stop=stop or "none")

    def _ranked(self, page: Page, ranking: Ranking, order: Iterable[int]) -> Iterator[RankedPassage]:
        fragments = None if page.document is None else TextFragments(page.document)
        for rank, index in enumerate(order, start=1):
            passage, score = page.passages[index], float(ranking.scores[index])
            located = fragments is not None
            yield RankedPassage(
                rank=rank,
                index=index,
                text=passage.text,
                score=score if np.isfinite(score) else None,
                reasons=ranking.reasons(index),
                start=passage.start if located else None,
                end=passage.end if located else None,
                page=passage.page,
                link=None if fragments is None else fragments.link(passage.start, passage.end, passage.page),
            )


def _han(texts: Sequence[str], tokenizer: str) -> HanTexts:
    met = HanTexts(named_tokenizer(tokenizer), "passages")
    met.see(texts)
    return met


def _check_words(texts: Sequence[str], where: str, how: Preprocessing, notes: list[str]) -> None:
    """Note the texts that the tokenizer is not for, or refuse them if they are many."""
    met = _han(texts, how.tokenizer)
    met.check(lambda _, problem: InvalidInput(problem, where=where))
    notes += all_remarks(met)


def _for_it(reasons: tuple[UnitContribution, ...]) -> tuple[UnitContribution, ...]:
    """The contributions that speak for a passage."""
    return tuple(each for each in reasons if each.part > 0)


def _encoder(vectors: str | None, lang: str | None) -> Encoder | None:
    """The vectors of a folder; for English else those of an installed package."""
    if vectors == NO_VECTORS:
        return None
    if vectors is not None:
        return open_static(vectors)
    return installed_vectors() if lang == "en" else None


def _without_copies(texts: Sequence[str], order: NDArray[np.int64], k: int, notes: list[str]) -> list[int]:
    """The first k of an order, without near copies of earlier ones."""
    bigrams = BigramSets(texts)
    copy = np.zeros(len(texts), bool)
    taken: list[int] = []
    for index in order.tolist():
        if copy[index]:
            continue
        taken.append(index)
        if len(taken) == k:
            break
        copy |= bigrams.jaccard(index) >= COPY
    copies = int(copy.sum()) - sum(bool(copy[index]) for index in taken)
    if copies:
        notes.append(f"near copies of these passages, left out: {copies:,}")
    return taken
