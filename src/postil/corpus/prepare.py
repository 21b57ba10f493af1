"""The first pass of a build: read, clean and tokenize rows, and apply the thresholds that are given."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.blocks import Read, Report, Selection, write_block_table
from postil.corpus.options import TRUNCATE_TRAIN
from postil.corpus.privacy import masking
from postil.corpus.result import Rejected
from postil.data.jsonl import FAILURES, check_keys, reread
from postil.data.rows import Article
from postil.documents.markup import HtmlCleaner
from postil.errors import InvalidInput
from postil.kernel import plain_objects
from postil.messages import Blank, Message, Setting
from postil.text.han import SHARE, HanTexts, advice_for
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.corpus.blocks import Block
    from postil.corpus.options import BuildOptions
    from postil.corpus.rated_comments import RatedComments
    from postil.text.tokens import Tokens

__all__ = ["Prepare", "check_scripts"]

_MANY: Final = 1_000
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MAY_BE_CONTROLS: Final = (rb"\u00", rb"\b", rb"\f", b"\x7f")
"""Marks of control characters in JSON."""
_MAY_BE_HTML: Final = (b"<", b"&", rb"\u00")


@dataclass(frozen=True)
class Prepare:
    """Reader of blocks; it can be sent to another process.

    Args:
        options: Options of the build.
        rated: Ratings of comments from another file; None for those of the rows.
    """

    options: BuildOptions
    rated: RatedComments | None = None

    def __call__(self, block: Block) -> bytes:
        """Prepare a block.

        Args:
            block: The block.

        Returns:
            The prepared table, as an Arrow file.

        Raises:
            InvalidInput: A row is wrong and the options do not say to leave such rows out.
            MissingExtra: pyarrow or the tokenizer is not installed.
        """
        met = _Counts()
        articles = list(self._articles(block, met))
        tokens = self._encode(block, articles, met)
        written = options = self.options
        if _is_given(block):
            options = replace(options, min_content_words=0, long_comments="keep")
            if block.split == "test" and written.long_comments == TRUNCATE_TRAIN:
                written = options  # a given test set stays as it is
        chosen = _choose(articles, tokens, options, met)
        return write_block_table(articles, tokens, chosen, written, met.report())

    @cached_property
    def _mask(self) -> Callable[[str], str]:
        return masking(self.options.mask)

    def _articles(self, block: Block, met: _Counts) -> Iterator[Read]:
        """Clean articles of a block; those with too few comments are excluded."""
        least, dates = self.options.min_comments or 1, self.options.dates
        if _is_given(block):
            least, dates = 1, None
        decode = msgspec.json.Decoder(Article).decode
        once = self.options.on_error == "stop" and plain_objects(block.data)  # a bad line would mislead it
        clean = HtmlCleaner()
        marked = self.options.html == "clean" and any(mark in block.data for mark in _MAY_BE_HTML)
        plain = not self.options.mask and not any(mark in block.data for mark in _MAY_BE_CONTROLS)
        text = _Cleaning(clean if marked else None, str.strip if plain else self._text)
        for line, data in enumerate(block.data.split(b"\n"), block.first):
            try:
                try:
                    row = decode(data)
                    if not once:
                        check_keys(data, line, block.where)
                except FAILURES as error:
                    again = reread(data, line, Article, block.where, error)
                    if again is None:
                        continue
                    row = again
                _check_ids(row, line, block.where)
                read = text.read(row, line, block.where)
            except InvalidInput as error:
                if self.options.on_error == "stop":
                    raise
                met.rejected.append(Rejected.of(error))
                continue
            met.seen["comments without text"] += len(row.comments) - len(read.comments)
            met.seen["comments: held out before"] += len(row.held_out or ())
            if self.rated is not None:
                met.rated += self._rate(read, self.rated)
            if dates is not None and (row.date or "") not in dates:
                met.leave_out(f"date not in {dates}" if row.date else "no date", read)
                continue
            if len(read.comments) >= least:
                yield read
            else:
                met.leave_out("fewer comments" if read.comments else "no comments", read)
        met.seen["texts with HTML, of which the text is kept"] += clean.cleaned

    @staticmethod
    def _rate(article: Read, rated: RatedComments) -> int:
        """Give the comments of an article their ratings; returns the number of those that have some."""
        found = [
            rated.rated(article.row.id, comment, text)
            for comment, text in zip(article.comments, article.texts, strict=True)
        ]
        article.comments = [new or old for new, old in zip(found, article.comments, strict=True)]
        return sum(new is not None for new in found)

    def _text(self, text: str) -> str:
        if _CONTROLS.search(text) is not None:
            text = _CONTROLS.sub(" ", text)
        return self._mask(text.strip())

    def _encode(self, block: Block, articles: Sequence[Read], met: _Counts) -> Tokens:
        """Tokenize all titles, then all contents, then all comments, with block-local token ids."""
        texts = [article.title for article in articles]
        texts += [article.content or "" for article in articles]
        for article in articles:
            texts += article.texts
        split = tokenizer(self.options.tokenizer)
        tokens = Vocabulary().encode(texts, split, allow_han=True)
        counts = HanTexts(split, "texts")
        counts.see(texts)
        met.texts, met.composed = counts.texts, counts.composed
        if split.name == "words-2" and counts.scripts:
            met.spaceless = dict(counts.scripts)
            check_scripts(met.spaceless, max(len(texts), _MANY), block.where)  # soon, where a block says enough
        return tokens


@dataclass(frozen=True, eq=False, slots=True)
class _Cleaning:
    """Cleaner of the texts of articles.

    Args:
        html: Cleaner of HTML; None where there is none.
        text: Cleaner of plain text.
    """

    html: HtmlCleaner | None
    text: Callable[[str], str]

    def read(self, row: Article, line: int, where: str) -> Read:
        field = "title"
        try:
            title, field = self._text(row.title), "content"
            content = None if row.content is None else self._text(row.content) or None
            texts = []
            for number, comment in enumerate(row.comments):
                field = f"comments[{number}].text"
                texts.append(self._text(comment.text, quotes=False))
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=where, line=line, field=field) from None
        some = [number for number, said in enumerate(texts) if said]
        return Read(row, line, title, content, [row.comments[i] for i in some], [texts[i] for i in some])

    def _text(self, text: str, *, quotes: bool = True) -> str:
        return self.text(text if self.html is None else self.html(text, quotes=quotes))


def _check_ids(row: Article, line: int, where: str) -> None:
    ids = [comment.id for comment in row.comments]
    if len(set(ids)) < len(ids):
        twice = next(number for number, name in enumerate(ids) if name in ids[:number])
        problem = f"expected an id that no other comment of the article has, got '{ids[twice]}' again"
        raise InvalidInput(problem, where=where, line=line, field=f"comments[{twice}].id")


def check_scripts(spaceless: Mapping[str, int], texts: int, where: str) -> None:
    """Refuse a tokenizer that splits at spaces for a corpus in a script without them.

    Args:
        spaceless: Number of texts in such scripts, by script.
        texts: Number of all texts.
        where: Their file.

    Raises:
        InvalidInput: More than a tenth.
    """
    found = sum(spaceless.values())
    if found > SHARE * texts:
        script = max(spaceless, key=spaceless.__getitem__)
        what, remedy = f"{script} text", advice_for(script)
        if script == "Han":
            what, remedy = "in Han characters", "jieba or rjieba"
        message = Message(
            "{found:,} of {texts:,} texts are {what}; expected {tokenizer}",
            found=found,
            texts=texts,
            what=what,
            tokenizer=Setting("tokenizer", Blank(remedy)),
        )
        raise InvalidInput(message, where=where)


@dataclass
class _Counts:
    seen: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    texts: int = 0
    spaceless: dict[str, int] = field(default_factory=dict)
    composed: int = 0
    rated: int = 0

    def leave_out(self, why: str, article: Read) -> None:
        self.left_out[why] += 1
        self.seen["comments of articles left out"] += len(article.comments)

    def report(self) -> Report:
        seen = {what: number for what, number in sorted(self.seen.items()) if number}
        left_out = dict(sorted(self.left_out.items()))
        return Report(seen, self.rejected, self.texts, self.spaceless, self.composed, self.rated, left_out)


def _is_given(block: Block) -> bool:
    """True for a block of a dev or test set that is split already: no threshold applies to it."""
    return block.split in {"dev", "test"}


def _choose(articles: Sequence[Read], tokens: Tokens, options: BuildOptions, met: _Counts) -> Selection:
    count = len(articles)
    owner = np.repeat(np.arange(count), [len(article.texts) for article in articles])
    fit = np.ones(len(owner), dtype=bool)
    if options.long_comments == "drop":
        fit = tokens.lengths[2 * count :] <= options.max_comment_words
    some = np.bincount(owner[fit], minlength=count) > 0
    enough = tokens.lengths[count : 2 * count] >= (options.min_content_words or 0)
    for place in (~(some & enough)).nonzero()[0].tolist():
        short = "no content" if articles[place].content is None else "content too short"
        met.leave_out("only long comments" if enough[place] else short, articles[place])
    chosen = some & enough
    comments = (fit & chosen[owner]).nonzero()[0]
    sizes = np.bincount(owner[comments], minlength=count)[chosen]
    return Selection(chosen.nonzero()[0], comments, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
