"""Articles to comment on: read from a file, rows or one document, checked, and told where a model finds no word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.options import InputOptions
from postil.data.row_files import read
from postil.data.row_locations import LocatedRows, RowLocations
from postil.data.rows import Article, Draft
from postil.documents.markup import HtmlCleaner
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.comments.prompted_commenter import PromptedCommenter
    from postil.comments.retrieval import Retriever
    from postil.comments.selecting_commenter import SelectingCommenter
    from postil.data.progress import OnMessage
    from postil.documents.document import Document

__all__ = ["MissingInput", "checked_articles", "open_articles"]

LONGEST: Final = 200
"""Largest number of characters of a title."""
AROUND: Final = frozenset({"margin", "contents", "note"})
"""Kinds of blocks that are no text of an article."""


def open_articles(
    articles: str, inputs: InputOptions | None, on_message: OnMessage, *, comments: bool = False
) -> LocatedRows[Article]:
    """Open a file of article rows, or a document that is one article.

    Args:
        articles: The file; ``-`` for standard input; where no comments are needed, also HTML, Markdown, text, PDF, or
            the address of a page.
        inputs: Options of reading it.
        on_message: Callback for status messages.
        comments: True where every article needs the field ``comments``.

    Raises:
        InvalidInput, MissingExtra: A document cannot be read.
    """
    from postil.documents import reading as documents  # noqa: PLC0415 - slow to load, and help does without it
    from postil.documents.options import SourceOptions  # noqa: PLC0415

    row = Article if comments else Draft
    reading = (inputs or InputOptions()).readings({"articles": row}, on_message)["articles"]
    if not comments and documents.is_document(articles, reading):
        document = documents.read_source(documents.load(articles), SourceOptions())
        for note in document.notes:
            on_message(f"{articles}: {note}")
        name = articles if documents.is_address(articles) else Path(articles).stem
        return LocatedRows(iter([_of_document(document, articles, name)]), RowLocations(articles))
    return read(articles, row, reading)


def _of_document(document: Document, source: str, name: str) -> Article:
    """The article that a document is: its title, or else its first line, and the text below it."""
    texts = [document.text_of(block) for block in document.blocks if block.kind not in AROUND]
    if not texts:
        raise InvalidInput("expected an article, got a document without text", where=source)
    first = " ".join(texts[0].split())
    title = " ".join(document.title.split()) or first
    if title == first and len(title) <= LONGEST:
        del texts[0]
    return Draft(
        name,
        title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…",
        content="\n".join(texts) or None,
        lang=document.lang,
        url=document.url,
        date=document.date,
    )


def checked_articles(
    rows: LocatedRows[Article], *, comments: bool = False, on_message: OnMessage = lambda _: None
) -> Iterator[Article]:
    """Read articles with distinct ids; HTML becomes its text, as `postil corpus build` reads it.

    Args:
        rows: The rows.
        comments: True where the comments of an article are read; they need distinct ids as well.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: An id stands twice, or a text is HTML of more than 4 Mi characters.
        MissingExtra: A text is HTML, and lxml is not installed.
    """
    seen: dict[str, int] = {}
    clean = HtmlCleaner()
    for index, article in enumerate(rows):
        if (first := seen.setdefault(article.id, index)) != index:
            files = rows.places.file(first), rows.places.file(index)
            there = "" if files[0] == files[1] else f", which {files[0]} has too"
            problem = f"expected an id that no other article has, got '{article.id}' again{there}"
            raise rows.places.error(index, "id", problem)
        if comments and len({comment.id for comment in article.comments}) < len(article.comments):
            raise rows.places.error(index, "comments", "expected an id for each comment, got one twice")
        try:
            cleaned = _cleaned(article, clean, comments=comments)
        except InvalidInput as error:
            raise rows.places.error(index, "", error.message) from None
        yield cleaned
    if clean.cleaned:
        on_message(f"{rows.places.where}: texts with HTML, of which the text is read: {clean.cleaned:,}")


def _cleaned(article: Article, clean: HtmlCleaner, *, comments: bool) -> Article:
    before = clean.cleaned
    title = clean(article.title)
    content = None if article.content is None else clean(article.content)
    texts = [clean(comment.text, quotes=False) for comment in article.comments] if comments else []
    if clean.cleaned == before:
        return article
    replace = msgspec.structs.replace
    said = tuple(replace(comment, text=text) for comment, text in zip(article.comments, texts, strict=False))
    return replace(article, title=title, content=content, comments=said if comments else article.comments)


EXAMPLES: Final = 5
"""Maximum number of articles that a note names."""


class MissingInput:
    """Counter of articles without input.

    Args:
        commenter: The model.
    """

    def __init__(self, commenter: Retriever | NeuralCommenter | PromptedCommenter | SelectingCommenter) -> None:
        self.commenter, self.articles, self.ids = commenter, 0, list[str]()

    def has_input(self, article: Article, *, known: bool = False) -> bool:
        """Count an article; True if it has input.

        Args:
            article: The article.
            known: True if it is known to have input, which saves tokenizing it again.
        """
        self.articles += 1
        found = known or self.commenter.has_input(article)
        if not found:
            self.ids.append(article.id)
        return found

    def tell(self, file: str, without: str, on_message: Callable[[str], None]) -> None:
        """Report the articles without input, if there are any.

        Args:
            file: The file of the articles.
            without: The consequence, such as ``no suggestions for``.
            on_message: Callback for status messages.

        Raises:
            InvalidInput: No article of the file has input.
        """
        if not self.ids:
            return
        kind, parts = self.commenter.kind, " or ".join(self.commenter.parts)
        other = "" if "content" in self.commenter.parts else "; a model that reads contents, such as ir-tc, may help"
        problem = f"has a word in its {parts}, and {kind} reads nothing else{other}"
        if len(self.ids) == self.articles:
            raise InvalidInput(f"no article {problem}", where=file)
        more = f" and {len(self.ids) - EXAMPLES:,} more" if len(self.ids) > EXAMPLES else ""
        names = ", ".join(self.ids[:EXAMPLES]) + more
        on_message(
            f"{file}: {without} {len(self.ids):,} of {self.articles:,} articles ({names}): none of them {problem}"
        )
