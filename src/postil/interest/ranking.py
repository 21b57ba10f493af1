"""Rankings of the passages of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.options import TableInputOptions
from postil.data.row_files import PLAIN
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.documents.feed import is_feed
from postil.documents.passages import DocumentPassage, document_passages
from postil.documents.reading import Loaded, has_rows, load, read_source
from postil.interest.model import PageScores, standard
from postil.metrics.passage_measures import LogSim
from postil.metrics.passage_pools import Preprocessing, one_pool
from postil.passages.similarity import rows_of, unit_contributions
from postil.text.languages import detect_language
from postil.text.stop_words import STOP_LISTS
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.data.reading import Reading
    from postil.documents.document import Document
    from postil.encoders.base import Encoded, Encoder
    from postil.interest.options import InterestingOptions

__all__ = ["NEAR", "NEARNESS", "Page", "open_page", "readings", "topic_scores"]


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
        return _primary(options.lang)
    return detect_language(text) or (None if said is None else _primary(said))


def _primary(tag: str) -> str:
    """The language of a tag: ``en`` of ``en-GB``."""
    return re.split("[-_]", tag.strip().lower())[0]


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
