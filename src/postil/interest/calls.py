"""`postil interesting`: the passages that readers should see first, with the reasons, of a page or of several."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.duplicates import BigramSets
from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import AtomicFile, check_apart, write_error
from postil.data.progress import progress
from postil.data.ranking import best_first
from postil.data.row_files import PLAIN, check_standard_input
from postil.documents.document import FailedPage
from postil.documents.feed import FeedReport
from postil.documents.reading import Loaded, documents_of, entries_of, is_address, is_folder
from postil.encoders.static import open_static
from postil.errors import InvalidInput, UsageError
from postil.interest.highlights import index_page, passages_page
from postil.interest.model import LANGUAGES, chosen_model, page_scores
from postil.interest.options import AUTO, NO_VECTORS, InterestingOptions
from postil.interest.ranking import NEARNESS, Page, open_page, readings, topic_scores
from postil.interest.result import Goal, InterestingPagesResult, InterestingResult, PageSummary
from postil.interest.text_fragments import TextFragments
from postil.messages import Blank, Message, Setting
from postil.metrics.passage_pools import Preprocessing
from postil.passages.result import RankedPassage
from postil.passages.similarity import (
    MEASURE,
    UNITS,
    Ranking,
    decomposable,
    measure_ranking,
    reference_weights,
    references_of,
)
from postil.text.addresses import without_addresses
from postil.text.han import HanTexts, all_remarks, composed
from postil.text.languages import sentence_languages
from postil.text.stop_words import STOP_LISTS, stop_words_signature
from postil.text.tokenizers import ranking_tokenizer
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.vectors.imported import installed_vectors
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self, Unpack

    from numpy.typing import NDArray

    from postil.data.options import TableInputOptions
    from postil.data.progress import OnMessage
    from postil.data.reading import Reading
    from postil.data.streams import FilePath
    from postil.documents.document import Document
    from postil.encoders.base import Encoder
    from postil.interest.model import InterestModel
    from postil.interest.options import InterestingKeywords
    from postil.metrics.passage_measures import Overlap
    from postil.passages.result import UnitContribution

__all__ = ["Ranker", "highlight", "interesting", "rank_sources"]

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


def interesting(
    source: FilePath, options: InterestingOptions | None = None, **keywords: Unpack[InterestingKeywords]
) -> InterestingResult:
    r"""Rank the passages of a document: HTML, PDF, Markdown, wikitext or plain text; or of a table of passages.

    Args:
        source: A file; an http or https address, which is fetched; or ``-`` for standard input.
        options: Options.
        keywords: Fields of the options, in place of an object.

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
    options = options_of(InterestingOptions, options, keywords)
    name = os.fspath(source)
    if name == options.reference == "-":
        raise UsageError("only one of the files can be standard input")
    page = open_page(name, options)
    if isinstance(page, Loaded):
        raise UsageError(f"{name}: expected one document, got a feed; name one of its pages")
    return Ranker.open(options).rank(page)


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
        return goal, spec, signature, Ranking(found.scores, lambda index: _for_it(found.reasons(index, UNITS)))

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
    whole: dict[int, list[str]] = {}
    for block, text in zip(blocks, texts, strict=True):
        whole.setdefault(block, []).append(text)
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


INDEX: Final = "index.html"
NAME: Final = 40
"""Largest number of characters of the title in the name of a file."""


def rank_sources(
    sources: Sequence[str],
    options: InterestingOptions,
    *,
    page: str | None = None,
    pages: str | None = None,
    inputs: TableInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> InterestingResult | InterestingPagesResult:
    """Rank the passages of whatever a command names.

    Args:
        sources: Documents, addresses, folders and feeds; or one table of passage rows.
        options: Options.
        page: File for the highlighted page of one document.
        pages: Folder for the highlighted page of each document, and their index.
        inputs: Options of reading tables.
        on_message: Callback for status messages.

    Returns:
        The result of one document, or that of several.

    Raises:
        UsageError: Standard input is named twice, a page is asked for of what is no document or of several, or would
            replace what is read.
        InvalidInput: One document cannot be read or has no passage; of several, all of them.
        PostilError: The operating system reports an error.
    """
    files = [source for source in sources if not is_address(source)]
    check_standard_input(*files, options.reference)
    if page == "-":
        raise UsageError("{page}: expected a file, got standard output, which has the table", page=Setting("page"))
    named = (options.reference, options.model, options.vectors)
    for out in (page, pages):
        if out is not None:
            check_apart(out, [*files, *(each for each in named if each is not None)])
    reading = readings(inputs, on_message)
    ranker = Ranker.open(options, reading["reference"])
    documents: Iterable[Document | FailedPage | FeedReport]
    if len(sources) > 1 or is_folder(sources[0]):
        documents = documents_of(sources, options)
    else:
        opened = open_page(sources[0], options, reading["passages"])
        if isinstance(opened, Loaded):
            documents = entries_of(opened, options)
        elif opened.document is None and (page or pages):
            raise UsageError(
                "{source}: rows of passages are no document that could be shown; leave {page} out",
                source=sources[0],
                page=Setting("page"),
            )
        elif opened.document is None or pages is None:
            result = ranker.rank(opened)
            if page is not None:
                highlight(result, page)
            return result
        else:
            documents = [opened.document]
    if page is not None:
        pages_of = Setting("pages", Blank("DIR"))
        raise UsageError("{page} is for one document; take {pages} for several", page=Setting("page"), pages=pages_of)
    return _rank_pages(documents, ranker, pages)


def _rank_pages(
    documents: Iterable[Document | FailedPage | FeedReport], ranker: Ranker, folder: str | None = None
) -> InterestingPagesResult:
    """Rank the passages of each document, one document at a time.

    Args:
        documents: Documents, those that could not be read, and what was met in feeds.
        ranker: The way of ranking.
        folder: Folder for a highlighted page of each, and ``index.html`` with the best passages of all; made if it is
            not there. None to write none.

    Returns:
        The best passages of each page, and the pages that failed.

    Raises:
        InvalidInput: No document has a passage.
        PostilError: The operating system reports an error.
    """
    if folder is not None:
        try:
            Path(folder).mkdir(exist_ok=True)
        except OSError as error:
            raise write_error(folder, error) from error
    pages: list[PageSummary] = []
    failed: list[FailedPage] = []
    notes: list[str] = []
    ways: dict[tuple[str, Goal | None, str], None] = {}
    with progress("pages", documents) as each:
        for document in each:
            if isinstance(document, FeedReport):
                notes += _feed_notes(document)
                continue
            if isinstance(document, FailedPage):
                failed.append(document)
                continue
            try:
                found = ranker.rank(Page.of_document(document, ranker.options))
            except InvalidInput as error:
                failed.append(FailedPage(source=document.source, problem=error.problem))
                continue
            file = None
            if folder is not None:
                file = _file_name(len(pages) + 1, document)
                _write(str(Path(folder, file)), passages_page(found, INDEX))
            pages.append(_summary(found, document, file))
            ways[found.measure, found.goal, found.signature] = None
    if not ways:
        expected = "expected documents with passages, got none"
        if not failed:
            raise InvalidInput(expected)
        first = failed[0]
        raise InvalidInput(
            Message("{expected}; {source}: {problem}", expected=expected, source=first.source, problem=first.problem)
        )
    measures, goals, signatures = (list(dict.fromkeys(each)) for each in zip(*ways, strict=True))
    result = InterestingPagesResult(
        measure=" or ".join(measures),  # pages in several languages have several
        pages=tuple(pages),
        failed=tuple(failed),
        goal=goals[0] if len(goals) == 1 else None,
        signature=" or ".join(signatures),
        notes=tuple(notes),
    )
    if folder is not None:
        _write(str(Path(folder, INDEX)), index_page(result))
    return result


def highlight(result: InterestingResult, path: FilePath) -> Path:
    """Write the page of a document with its best passages highlighted, as one HTML file.

    Args:
        result: The passages, as `postil.interesting` ranks them.
        path: The file; one that is there is replaced.

    Returns:
        The file. It opens from disk, and asks the network for nothing.

    Raises:
        UsageError: The result is of rows of passages, which are no document; or the folder of the file is missing.
        PostilError: The operating system reports an error.
    """
    check_arguments(highlight, locals())
    if "\0" in os.fspath(path):
        raise UsageError("path: expected the name of a file, got one with a null character")
    _write(os.fspath(path), passages_page(result))
    return Path(path)


def _feed_notes(feed: FeedReport) -> Iterator[str]:
    """Remarks on how a feed was read."""
    if feed.cut_off:
        yield f"{feed.source}: the feed is cut off; its last entry is {feed.entries:,}, and may not be whole"
    if feed.unread:
        yield f"{feed.source}: entries that are not read, for tags of the feed do not match: {feed.unread:,}"
    if feed.encoding:
        said = f"says {feed.declared}" if feed.declared else "says no encoding and is not UTF-8"
        yield f"{feed.source}: the feed {said}; read as {feed.encoding}"
    if feed.replaced:
        what = "characters forbidden in XML, or bytes that are not of the feed's encoding, replaced by U+FFFD"
        yield f"{feed.source}: {what}: {feed.replaced:,}"


def _summary(found: InterestingResult, document: Document, file: str | None) -> PageSummary:
    return PageSummary(
        source=document.source,
        passages=found.passages,
        title=document.title,
        url=document.url,
        date=document.date,
        lang=found.lang,
        file=file,
        notes=found.notes,
    )


def _file_name(number: int, document: Document) -> str:
    """Name of a page's file: its number, and its title in letters that every file system takes."""
    title = document.title or Path(document.source).stem
    words = re.sub(r"[^a-z0-9]+", "-", title.lower())[:NAME].strip("-")
    return f"{number:03}{'-' * bool(words)}{words}.html"


def _write(path: str, page: str) -> None:
    with AtomicFile(path) as stream:
        stream.write(page.encode("utf-8", "replace"))
