"""Rankings of the passages of a page, by one of two goals or by a measure.

The goal interest is a model of what people find interesting; the goal topic takes passages that say most of what their
page is about.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.corpus.duplicates import BigramSets
from postil.data.groups import grouped
from postil.data.ranking import best_first
from postil.data.row_files import PLAIN
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.documents.feed import is_feed
from postil.documents.passages import DocumentPassage, document_passages
from postil.documents.reading import Loaded, has_rows, load, read_source
from postil.encoders.static import open_static
from postil.errors import InvalidInput
from postil.interest.model import LANGUAGES, InterestModel, PageScores, chosen_model, page_scores, standard
from postil.interest.options import AUTO, NO_VECTORS, Goal, InterestingOptions
from postil.interest.result import InterestingResult
from postil.interest.text_fragments import TextFragments
from postil.messages import Message, Setting
from postil.metrics.passage_measures import LogSim, Overlap
from postil.metrics.passage_pools import one_pool
from postil.metrics.preprocessing import Preprocessing
from postil.passages.result import RankedPassage
from postil.passages.similarity import (
    MEASURE,
    UNITS,
    Ranking,
    decomposable,
    measure_ranking,
    reference_weights,
    references_of,
    rows_of,
    unit_contributions,
)
from postil.text.addresses import without_addresses
from postil.text.han import HanTexts, all_remarks, composed
from postil.text.languages import detect_language, primary_language, sentence_languages
from postil.text.stop_words import STOP_LISTS, stop_words_signature
from postil.text.tokenizers import ranking_tokenizer
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary
from postil.vectors.imported import installed_vectors
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.reading import Reading
    from postil.documents.document import Document
    from postil.encoders.base import Encoded, Encoder

__all__ = ["NEAR", "NEARNESS", "Page", "Ranker", "open_page", "topic_scores"]


COPY: Final = 0.8
"""Smallest Jaccard similarity of the word bigrams of near copies, of which only the best is ranked."""
SPACELESS: Final[Mapping[str, str]] = {
    "bo": "Tibetan",
    "ja": "Japanese",
    "km": "Khmer",
    "lo": "Lao",
    "my": "Burmese",
    "th": "Thai",
    "zh": "Han",
}
"""Script of the languages whose words no spaces separate."""
LONGEST: Final = 2_000
"""Number of passages up to which the language of each sentence is looked at; of longer pages, that of each block."""


@dataclass(frozen=True, slots=True)
class Page:
    """Passages that are ranked together.

    Args:
        passages: The passages.
        source: The name of the page, for messages.
        lang: Its language as ISO 639-1 has it; None where it is not known.
        document: The document that they are of; None of rows.
        notes: Remarks on how they were read.
    """

    passages: Sequence[DocumentPassage]
    source: str
    lang: str | None = None
    document: Document | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of_document(cls, document: Document, options: InterestingOptions) -> Self:
        """Take the passages of a document.

        Args:
            document: The document.
            options: Its language, and the unit of text that is a passage.
        """
        lang = _language(document.text, document.lang, options)
        return cls(document_passages(document, options.split, lang), document.source, lang, document, document.notes)

    @classmethod
    def of_rows(cls, rows: Sequence[Passage], source: str, options: InterestingOptions) -> Self:
        """Take rows for the passages of one page.

        Args:
            rows: The rows.
            source: The name of the page.
            options: Its language.
        """
        passages = [DocumentPassage(row.text, 0, 0, 0, None, fragment=False) for row in rows]
        lang = _language("\n".join(row.text for row in rows), None, options)
        topics = len({row.topic for row in rows})
        notes = (f"rows of {topics:,} topics, ranked together as those of one page",) if topics > 1 else ()
        return cls(passages, source, lang, notes=notes)


def _language(text: str, said: str | None, options: InterestingOptions) -> str | None:
    """The language of a page: as the user says, as its words are, or as it says itself."""
    if options.lang is not None:
        return primary_language(options.lang)
    return detect_language(text) or (None if said is None else primary_language(said))


def open_page(source: str, options: InterestingOptions, reading: Reading = PLAIN) -> Page | Loaded:
    """Open what a user names.

    Args:
        source: A file, an address, or ``-`` for standard input.
        options: Options.
        reading: Options of reading a table.

    Returns:
        The page; or the feed, as it was loaded.

    Raises:
        InvalidInput, MissingExtra: It cannot be read.
    """
    if has_rows(source, reading):
        return Page.of_rows(rows_of(source, reading), source, options)
    loaded = load(source)
    if options.kind is None and is_feed(loaded.data):
        return loaded
    return Page.of_document(read_source(loaded, options), options)


NEARNESS: Final = 0.6
"""Weight of the nearness to the page, beside LogSim."""
NEAR: Final = "near the page"
"""Name of the nearness in reasons."""
BLOCK: Final = 1 << 15
"""Number of units whose vectors are gathered at once, to bound memory."""


def topic_scores(
    texts: Sequence[str],
    lang: str | None = None,
    *,
    tokenizer: str = "words",
    encoder: Encoder | None = None,
    jobs: int = 1,
    stops: Sequence[str] | None = None,
) -> PageScores:
    """Score the passages of a page by how much they say of what the other passages say.

    Without vectors the score is LogSim over words, without stop words, against the other passages of the page (0 to 1).
    With vectors it is ``z(LogSim) + .6 z(nearness)``, where the nearness is the cosine of a passage's mean vector and
    the page's, the sum of those of its passages at length 1; z is in standard deviations from the mean of the page.

    Args:
        texts: n passages.
        lang: Language of the stop words (ISO 639-1); without a list of `STOP_LISTS` every word counts.
        tokenizer: A name in `postil.text.tokenizers.TOKENIZERS`.
        encoder: Static vectors of words or subwords, if there are any.
        jobs: Number of threads; the scores do not depend on it.
        stops: List of stop words of each passage, or ``none``, in place of that of `lang`.

    Raises:
        InvalidInput: More than a tenth of the passages are Han text and meet the ``words`` tokenizer.
        UnknownName: There is no such tokenizer.

    >>> page = ["Coffee was first roasted in Yemen.", "Prices rose.", "A goat herd found coffee in Yemen first.", "It"]
    >>> found = topic_scores(page, "en")
    >>> found.scores.round(2).tolist(), [each.unit for each in found.reasons(2)]
    ([0.24, 0.0, 0.5, -inf], ['coffee', 'yemen', 'first'])
    """
    how = Preprocessing(tokenizer=tokenizer, stop=lang if lang in STOP_LISTS else "none")
    rows = [Passage("page", str(number), text) for number, text in enumerate(texts)]
    collection = how.collection(rows, RowLocations("passages"), jobs, stops=stops)
    every, same = np.arange(len(texts)), collection.duplicates()
    pools = one_pool(same, every, np.ones(len(texts)), every)
    measure = LogSim()
    values = measure.values(collection, pools, jobs)
    counted = ~np.isnan(values) & (collection.tokens.lengths > 0)
    values = np.where(counted, values, 0.0)
    scale, near, constant = 1.0, np.zeros(len(texts)), 0.0
    if encoder is not None:
        tokens = Vocabulary().encode(texts, named_tokenizer(tokenizer), jobs, allow_han=True, keep_texts=True)
        near = _nearness(encoder.encode(tokens, jobs))
        mean, scale = standard(values, counted)
        of_near, near_scale = standard(near, counted)
        constant = -mean * scale
        near = NEARNESS * near_scale * (near - of_near)

    def contributions(index: int) -> Iterator[tuple[str, float]]:
        for each in unit_contributions(measure, collection, pools, same[index]):
            yield each.unit, each.part * scale
        if encoder is not None:
            yield NEAR, float(near[index])

    return PageScores(np.where(counted, values * scale + near + constant, -np.inf), constant, contributions)


def _nearness(encoded: Encoded) -> NDArray[np.float64]:
    """Cosine of the mean vector of each text and that of all, float64[n]; 0 for a text without a known unit."""
    sums = np.zeros((len(encoded.lengths), encoded.vectors.shape[1]))
    rows = np.repeat(np.arange(len(sums)), encoded.lengths)
    for begin in range(0, len(rows), BLOCK):
        here = slice(begin, begin + BLOCK)
        first = np.flatnonzero(np.diff(rows[here], prepend=-1))
        units = encoded.vectors[encoded.rows[here]].astype(np.float64)
        sums[rows[here][first]] += np.add.reduceat(units, first, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    sums /= np.where(lengths > 0, lengths, 1.0)
    page = np.bincount(encoded.texts, minlength=len(sums)) @ sums
    length = float(np.linalg.norm(page))
    return np.asarray((sums @ page / length if length > 0 else np.zeros(len(sums)))[encoded.texts])


@dataclass(frozen=True, slots=True)
class _Written:
    """The passages of a page as they are read for a ranking.

    Args:
        texts: n passages.
        source: The name of the page, for messages.
        lang: Its language; None where it is not known.
        how: Preprocessing.
        stops: Stop list of each passage; None where that of `how` is for all.
    """

    texts: Sequence[str]
    source: str
    lang: str | None
    how: Preprocessing
    stops: tuple[str, ...] | None

    @property
    def signature(self) -> str:
        """See `Preprocessing.signature`; with all stop lists that were taken."""
        if self.stops is None:
            return self.how.signature
        lists = "+".join(stop_words_signature(each) for each in sorted(set(self.stops) - {"none"})) or "none"
        return re.sub(r"\|stop:[^|]*", f"|stop:{lists}", self.how.signature)


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
        named = options.measure is not None or options.reference is not None
        measure = decomposable(options.measure or MEASURE) if named else None
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
        texts = [composed(each.text) for each in page.passages]
        if not any(text.strip() for text in texts):
            raise InvalidInput("expected passages, got none", where=page.source)
        notes = [*page.notes]
        langs = _languages(texts, page)
        lang = page.lang or _main(langs, texts)
        how, script = self._preprocessing(texts, lang)
        if script:
            texts = [without_addresses(text) for text in texts]
        if lang not in langs:  # somebody knows better
            langs = (lang,) * len(langs)
        written = _Written(texts, page.source, lang, how, self._stops(langs))
        if self.measure is None:
            goal, measure, signature, ranking = self._by_goal(written, notes)
        else:
            goal, measure, signature = None, self.options.measure or MEASURE, f"{self.measure}|{written.signature}"
            ranking = self._by_measure(written, self.measure, notes)
        # Sentences of the page's language, sentences of others, fragments.
        last = np.array([2 * each.fragment or int(of != lang) for each, of in zip(page.passages, langs, strict=True)])
        if others := sum(of != lang for of in langs):
            known = ", ".join(sorted({of for of in langs if of and of != lang}))
            notes.append(f"passages in another language than the page's, ranked after the others: {others:,} ({known})")
        best = best_first(ranking.scores)
        best = best[np.array([bool(each.text.strip()) for each in page.passages])[best]]
        order = best[np.argsort(last[best], kind="stable")]
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

    def _by_goal(self, page: _Written, notes: list[str]) -> tuple[Goal, str, str, Ranking]:
        """The goal, its spec, its part of the signature, and the ranking."""
        options, lang, how, texts = self.options, page.lang, page.how, page.texts
        goal = options.goal or ("interest" if options.vectors in {None, NO_VECTORS} else "topic")
        if goal == "interest" and lang not in LANGUAGES and (lang or options.goal is None):
            known = ", ".join(sorted(LANGUAGES))
            said = (
                f"the language {lang}" if lang else Message("an unknown one; name it with {lang}", lang=Setting("lang"))
            )
            notes.append(
                Message("goal topic, since goal interest knows {known} and not {said}", known=known, said=said)
            )
            goal = "topic"
        if goal == "interest":
            found = page_scores(texts, self.model, options.jobs)
            spec = signature = f"interest(model={self.model.name})"
        else:
            _check_words(texts, page.source, how, notes)
            encoder = _encoder(options.vectors, lang)
            stop = None if how.stop == "none" else how.stop
            found = topic_scores(
                texts, stop, tokenizer=how.tokenizer, encoder=encoder, jobs=options.jobs, stops=page.stops
            )
            near = "" if encoder is None else f",nearness={NEARNESS:g},vectors={encoder.signature}"
            spec = f"topic(logsim-1{near})"
            signature = f"{spec}|{page.signature}"
        return (
            goal,
            spec,
            signature,
            Ranking(found.scores, lambda index: tuple(each for each in found.reasons(index, UNITS) if each.part > 0)),
        )

    def _by_measure(self, page: _Written, measure: Overlap, notes: list[str]) -> Ranking:
        texts = page.texts
        _check_words(texts, page.source, page.how, notes)
        if self.reference is None and measure.family == "kl":
            short = Message(
                "on a page that is its own reference kl puts short passages first; name a {reference}, or take logsim",
                reference=Setting("reference"),
            )
            notes.append(short)
        weights = np.ones(len(texts)) if self.weights is None else self.weights
        return measure_ranking(
            texts,
            self.reference,
            weights,
            measure=measure,
            how=page.how,
            jobs=self.options.jobs,
            stops=page.stops,
        )

    def _preprocessing(self, texts: Sequence[str], lang: str | None) -> tuple[Preprocessing, str]:
        """Preprocessing of the passages of a page; and the script that they are in, if it has no spaces."""
        options, tokenizer = self.options, self.options.tokenizer
        met = _han(texts, "words")
        script = met.scripts.most_common(1)[0][0] if met.many else SPACELESS.get(lang or "", "")
        listed = "zh" if lang is None and script == "Han" else lang
        stop = (listed if listed in STOP_LISTS else "none") if options.stop == AUTO else options.stop
        if tokenizer == AUTO:
            tokenizer = ranking_tokenizer(script)
        elif tokenizer == "characters":
            tokenizer = "runs"
        return Preprocessing(tokenizer=tokenizer, stem=options.stem, stop=stop or "none"), script

    def _stops(self, langs: Sequence[str | None]) -> tuple[str, ...] | None:
        """The stop list of each passage, by its own language; None where one is for all."""
        if self.options.stop != AUTO or len(set(langs)) < 2:
            return None
        return tuple(each if each in STOP_LISTS else "none" for each in langs)

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


def _languages(texts: Sequence[str], page: Page) -> tuple[str | None, ...]:
    """The language of each passage."""
    blocks = [each.block for each in page.passages] if page.document is not None else list(range(len(texts)))
    if len(texts) <= LONGEST:
        return sentence_languages(texts, blocks, page.lang)
    whole = grouped(zip(blocks, texts, strict=True))
    found = sentence_languages([" ".join(parts) for parts in whole.values()], list(whole), page.lang)
    of_block = dict(zip(whole, found, strict=True))
    return tuple(of_block[block] for block in blocks)


def _main(langs: Sequence[str | None], texts: Sequence[str]) -> str | None:
    """The language that most of a page is in, the first of them."""
    sizes = Counter[str]()
    for lang, text in zip(langs, texts, strict=True):
        if lang is not None:
            sizes[lang] += len(text)
    return sizes.most_common(1)[0][0] if sizes else None


def _han(texts: Sequence[str], tokenizer: str) -> HanTexts:
    met = HanTexts(named_tokenizer(tokenizer), "passages")
    met.see(texts)
    return met


def _check_words(texts: Sequence[str], where: str, how: Preprocessing, notes: list[str]) -> None:
    """Note the texts that the tokenizer is not for, or refuse them if they are many."""
    met = _han(texts, how.tokenizer)
    met.check(lambda _, problem: InvalidInput(problem, where=where))
    notes += all_remarks(met)


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
