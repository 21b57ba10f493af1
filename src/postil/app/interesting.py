"""`postil interesting`: the passages of a page that readers should see first, with the reasons."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, get_args

import numpy as np

from postil.app.options import TableInputOptions, ThreadOptions
from postil.app.packaged_vectors import installed_vectors
from postil.app.passage_texts import references_of, rows_of
from postil.app.rank_passages import MEASURE, UNITS, Ranking, decomposable, measure_ranking, reference_weights
from postil.app.sources import Loaded, SourceOptions, has_rows, load, read_source
from postil.commenters.near_duplicates import BigramSets
from postil.documents.feed import is_feed
from postil.documents.passages import DocumentPassage, PassageSplit, document_passages
from postil.documents.reading import DocumentKind
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.metrics.interest.model import LANGUAGES, UNTRAINED, page_scores
from postil.metrics.interest.model_files import open_model
from postil.metrics.passage_collection import Preprocessing
from postil.metrics.topic import NEARNESS, topic_scores
from postil.options import Flag, options
from postil.records.arguments import check_arguments, check_fields
from postil.records.explain import shown
from postil.records.ranking import best_first
from postil.records.results import Goal, InterestingResult, RankedPassage
from postil.records.row_files import PLAIN
from postil.records.rows import Passage
from postil.records.text_fragments import TextFragments
from postil.text.han import HanTexts
from postil.text.languages import detect_language
from postil.text.static_encoders import open_static
from postil.text.stop_words import STOP_LISTS
from postil.text.tokenizers import TOKENIZERS
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from postil.app.progress import OnMessage
    from postil.metrics.interest.model import InterestModel
    from postil.metrics.measures import Overlap
    from postil.records.documents import Document
    from postil.records.reading import Reading
    from postil.records.results import UnitContribution
    from postil.records.row_files import FilePath
    from postil.text.encoders import Encoder

__all__ = ["AUTO", "InterestingOptions", "Page", "Ranker", "interesting", "open_page", "readings"]

AUTO: Final = "auto"
NO_VECTORS: Final = "none"
COPY: Final = 0.8
"""Smallest Jaccard similarity of the word bigrams of near copies, of which only the best is ranked."""
TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
SPACELESS: Final = frozenset({"ja", "zh"})
"""Languages whose words no spaces separate."""


@options
class InterestingOptions(Preprocessing, SourceOptions, ThreadOptions):
    """Options of `postil interesting`.

    Args:
        k: Number of passages.
        goal: interest: what people find interesting, in English; topic: what the page is about. By default interest,
            and topic in other languages.
        model: Model of postil train interesting, for the goal interest.
        vectors: Folder of word vectors, for the goal topic: passages near the page as a whole come first. By default
            those of an installed package, in English, where there is one; none does without.
        measure: Spec of a measure over units, such as logsim-1, f1-2 or tf-idf-1, instead of a goal.
        reference: Interesting passages of other pages, to compare with by a measure; by default the rest of the page.
        split: Passages: sentences, paragraphs or lines.
        lang: Language of the page, such as en; by default detected.
        tokenizer: Tokenizer of the goal topic and of measures: words, space, 13a or ptb; for Chinese jieba, rjieba or
            characters. auto: words, or characters in Chinese and Japanese, and where much text is in Han characters.
        stop: none, or a list of stop words such as en. auto: that of the page's language.
        anchors: Not of a page.
    """

    k: Annotated[int, Flag(("--k", "-k"), min=1)] = 5
    goal: Annotated[Goal | None, Flag(metavar="GOAL")] = None
    model: Annotated[str | None, Flag(metavar="DIR")] = None
    vectors: Annotated[str | None, Flag(metavar="DIR")] = None
    measure: Annotated[str | None, Flag(("--measure", "-m"), metavar="SPEC")] = None
    reference: Annotated[str | None, Flag(("--reference", "-r"), metavar="FILE")] = None
    split: Annotated[PassageSplit, Flag(metavar="WHAT")] = "sentences"
    lang: Annotated[str | None, Flag(metavar="CODE")] = None
    tokenizer: Annotated[str, Flag(metavar="NAME")] = AUTO
    stop: Annotated[str, Flag(metavar="LANG")] = AUTO
    anchors: Annotated[bool, Flag(hidden=True)] = False

    def __post_init__(self) -> None:
        check_fields(self)
        for kind, value, known in (
            ("goal", self.goal, get_args(Goal)),
            ("way to split", self.split, get_args(PassageSplit)),
            ("kind of document", self.kind, get_args(DocumentKind)),
            ("tokenizer", self.tokenizer, (AUTO, *TOKENIZERS)),
            ("stop list", self.stop, (AUTO, "none", *STOP_LISTS)),
        ):
            if value is not None and value not in known:
                raise UnknownName(kind, value, known)
        if self.k < 1:
            raise UsageError(f"k: expected at least 1, got {self.k}")
        if self.lang is not None and not TAG.fullmatch(self.lang):
            raise UsageError(f"lang: expected the code of a language, such as en or zh, got {shown(self.lang)}")
        by_measure = self.measure is not None or self.reference is not None
        if self.goal is not None and by_measure:
            raise UsageError("a goal excludes a measure and a reference; leave out one or the other")
        if self.stem != "none" and not by_measure:
            raise UsageError("expected a stemmer with a measure alone")
        vectors = None if self.vectors == NO_VECTORS else self.vectors
        for what, given, goal in (("a model", self.model, "interest"), ("vectors", vectors, "topic")):
            if given is not None and (by_measure or self.goal not in {None, goal}):
                raise UsageError(f"expected {what} with the goal {goal} alone")
        if self.model is not None and vectors is not None:
            raise UsageError(
                "a model is of the goal interest and vectors of the goal topic; leave out one or the other"
            )


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
    >>> best.text, [each.unit for each in best.reasons]
    ('The oldest lock of Ely never froze.', ['name: Ely', 'superlative: oldest', 'never'])
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


def readings(inputs: TableInputOptions | None, on_message: OnMessage) -> dict[str, Reading]:
    """Options of reading tables of passages, and of a reference.

    Args:
        inputs: Options of the command.
        on_message: Callback for status messages.
    """
    return (inputs or TableInputOptions()).readings({"passages": Passage, "reference": Passage}, on_message)


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
        return cls(document_passages(document, options.split, lang), document.source, lang, document)

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
            model=UNTRAINED if options.model is None else open_model(options.model),
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
    if met.remark:
        notes.append(met.remark)


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


def _language(text: str, said: str | None, options: InterestingOptions) -> str | None:
    """The language of a page: as the user says, as its words are, or as it says itself."""
    if options.lang is not None:
        return _primary(options.lang)
    return detect_language(text) or (None if said is None else _primary(said))


def _primary(tag: str) -> str:
    """The language of a tag: ``en`` of ``en-GB``."""
    return re.split("[-_]", tag.strip().lower())[0]


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
