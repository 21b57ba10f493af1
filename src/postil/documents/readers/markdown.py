"""Reader of Markdown (CommonMark, tables, footnotes) with front matter in YAML."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.documents.document import BlockKind, Document, Piece, Reader, assembled, language_tag
from postil.documents.furniture import in_sections
from postil.documents.raw_files import decoded
from postil.documents.templates import TemplateLines, holder_of, without_tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


__all__ = ["READER", "read_markdown"]

_FRONT: Final = re.compile(
    r"\A(---|\+\+\+)[ \t]*\r?\n(\s*[\w-]{1,40}[ \t]*[:=].{0,20000}?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FIELD: Final = re.compile(
    r"^(title|lang|language|date)[ \t]*[:=][ \t]*(\S[^\r\n]{0,500})\r?$", re.IGNORECASE | re.MULTILINE
)
_DATE: Final = re.compile(r"((?:1[5-9]|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")
_NOTE: Final = re.compile(r"\[\^([^\]\s]{1,64})\]:[ \t]*")
_NOTE_MARK: Final = re.compile(r"\[\^[^\]\s]{1,64}\]")
_ALERT: Final = re.compile(r"\A\[(?:!(?:note|tip|important|warning|caution)|[ x])\]\s*", re.IGNORECASE)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""A comment; one that is never closed ends with the text, as in browsers."""
_TAG: Final = re.compile(r"(<[^<>]{0,20000}>)")
_TAG_NAME: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_UNSEEN: Final = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "textarea", "select", "button"})
_MOST_MARKS: Final = 3_000
"""Largest number of marks of a paragraph that are parsed."""
_ROWS: Final = frozenset(
    {"p", "div", "li", "tr", "br", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "details", "td", "th"}
)


class FrontMatter(NamedTuple):
    """Facts from the front matter of a text.

    Args:
        title: Its title; empty without one.
        lang: Its language; None if it does not say.
        date: Its date; None if it does not say.
        end: Index after the front matter.
    """

    title: str = ""
    lang: str | None = None
    date: str | None = None
    end: int = 0


def read_markdown(data: bytes | str, source: str, charset: str | None = None) -> Document:
    r"""Read a text in Markdown: its text without mark-up, scripts and front matter.

    Args:
        data: The text.
        source: Name of the file, or the address.
        charset: Encoding that a server named.

    Raises:
        InvalidInput: Its encoding cannot be told, or it has no text.

    >>> read_markdown("---\nlang: en\n---\n# Tea\n\n- *Green*[^1] tea.\n\n[^1]: From [Uji](uji.html).", "tea.md").text
    'Tea\n\nGreen tea.\n\nFrom Uji.'
    """
    text, notes = (data, ()) if isinstance(data, str) else decoded(data, source, charset)
    front = _front_matter(text)
    walk = _Walk()
    tokens = _parser().parse(text[front.end :])
    pieces = list(in_sections(piece for token in tokens for piece in walk.see(token)))
    first = next((piece.text for piece in pieces if piece.kind == "heading" and piece.level == 1), "")
    return assembled(pieces, source, title=front.title or first, lang=front.lang, date=front.date, notes=notes)


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - the names of other formats are told without it

    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    parser.block.ruler.before("code", "template", _template_block, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("reference", "note", _note_block, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "note_mark", _note_mark)
    parser.core.ruler.at("inline", _inlines)
    return parser


def _inlines(state: StateCore) -> None:
    """Parse the lines of a text; a run of more marks than people write, which takes the square of them, is text."""
    from markdown_it.token import Token  # noqa: PLC0415

    for token in state.tokens:
        if token.type == "inline":
            token.children, token.content = [], without_tags(token.content)
            if sum(map(token.content.count, "[]<`*_~&")) <= _MOST_MARKS:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            else:
                token.children.append(Token("text", "", 0, content=token.content))


def _front_matter(text: str) -> FrontMatter:
    found = _FRONT.match(text)
    if found is None:
        return FrontMatter()
    fields = {name.lower(): value.strip().strip("\"'").strip() for name, value in _FIELD.findall(found[2])}
    lang = fields.get("lang", fields.get("language", ""))
    date = _DATE.match(fields.get("date", ""))
    return FrontMatter(
        title=fields.get("title", ""),
        lang=language_tag(lang),
        date=None if date is None else date[1],
        end=found.end(),
    )


def _template_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - as markdown-it calls it
    """A comment, code between tags, or a declaration of MDX; the last does not interrupt a paragraph."""
    if state.is_code_block(first):
        return False

    def line(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]

    if line(first)[:1] not in ({"{", ":"} if silent else {"{", ":", "i", "e", "<"}):
        return False
    search: TemplateLines = state.env.setdefault("template", TemplateLines())
    number = search.number(line, first, last)
    if not number or silent:
        return number > 0
    if holder_of(line(first)) not in {None, "comment"}:
        state.push("code_block", "code", 0).content = state.getLines(first + 1, first + number - 1, 0, keepLastLF=False)
    state.line = first + number
    return True


def _note_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - as markdown-it calls it
    """A footnote: ``[^1]: text``, and the indented lines under it."""
    found = _NOTE.match(state.src, state.bMarks[first] + state.tShift[first], state.eMarks[first])
    if found is None or state.is_code_block(first):
        return False
    if silent:
        return True
    following = first + 1
    while (
        following < last
        and not state.isEmpty(following)
        and not _NOTE.match(state.src, state.bMarks[following] + state.tShift[following], state.eMarks[following])
    ):
        following += 1
    lines = [state.src[found.end() : state.eMarks[first]]]
    lines += [state.src[state.bMarks[line] : state.eMarks[line]].strip() for line in range(first + 1, following)]
    state.push("note_open", "aside", 1)
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = "\n".join(lines).strip(), [first, following], []
    state.push("note_close", "aside", -1)
    state.line = following
    return True


def _note_mark(state: StateInline, silent: bool) -> bool:  # noqa: ARG001, FBT001 - as markdown-it calls it
    """The mark of a footnote, which leaves nothing."""
    found = _NOTE_MARK.match(state.src, state.pos)
    if found is None:
        return False
    state.pos = found.end()
    return True


class _Walk:
    """State of a walk through tokens."""

    def __init__(self) -> None:
        self._kinds: list[tuple[BlockKind, int]] = [("paragraph", 0)]
        self._lists = 0
        self._rows: list[list[str]] = []

    def see(self, token: Token) -> Iterator[Piece]:
        """Pieces that end with a token."""
        if token.type in {"fence", "code_block"}:
            yield Piece("code", token.content.strip("\n"))
        elif token.type == "html_block":
            yield from (Piece(self._kinds[-1][0], text, self._kinds[-1][1]) for text in _html_texts(token.content))
        elif token.type == "inline":
            yield from self._inline(token)
        elif token.type == "table_close":
            yield Piece("table", "\n".join("\t".join(row) for row in self._rows))
            self._rows = []
        elif token.type == "tr_open":
            self._rows.append([])
        else:
            self._enter(token)

    def _enter(self, token: Token) -> None:
        name, _, end = token.type.rpartition("_")
        if end == "open":
            self._lists += name in {"bullet_list", "ordered_list"}
            self._kinds.append(self._kind(name, token.tag))
        elif end == "close":
            self._lists -= name in {"bullet_list", "ordered_list"}
            if len(self._kinds) > 1:
                self._kinds.pop()

    def _kind(self, name: str, tag: str) -> tuple[BlockKind, int]:
        kind, level = self._kinds[-1]
        match name:
            case "heading":
                return "heading", int(tag[1])
            case "note":
                return "note", 0
            case "list_item" if kind != "quote":
                return "item", self._lists
            case "blockquote":
                return "quote", 0
            case "th" | "td":
                return "table", 0
            case _:
                return kind, level

    def _inline(self, token: Token) -> Iterator[Piece]:
        kind, level = self._kinds[-1]
        text, captions = _inline_text(token.children or ())
        if kind == "table":
            self._rows[-1].append(" ".join(text.split()))
            return
        if text.startswith("$$") and text.endswith("$$"):
            kind, level = "code", 0
        elif kind in {"item", "paragraph"} and _is_entry(token.children or ()):
            kind, level = "contents", 0
        yield Piece(kind, _ALERT.sub("", text, count=1), level)
        for caption in captions:
            yield Piece("caption", caption)


def _is_entry(tokens: Sequence[Token]) -> bool:
    """True if a line is but a link into its own document: an entry of a table of contents."""
    seen = [token for token in tokens if token.type != "text" or token.content.strip()]
    if not seen or seen[0].type != "link_open" or seen[-1].type != "link_close":
        return False
    return all(str(token.attrs.get("href", "")).startswith("#") for token in seen if token.type == "link_open")


def _inline_text(tokens: Sequence[Token]) -> tuple[str, list[str]]:
    """Text of a line without its mark-up, and the captions of its pictures."""
    texts, captions, unseen = list[str](), list[str](), ""
    for token in tokens:
        if token.type == "html_inline":
            tag = _TAG_NAME.match(token.content)
            name = "" if tag is None else tag[2].lower()
            if tag is not None and (unseen or name in _UNSEEN):
                unseen = _within(unseen, tag)
            elif name == "br":
                texts.append("\n")
        elif unseen:
            continue
        elif token.type == "image":
            captions.append(" ".join(_inline_text(token.children or ())[0].split()))
        elif token.type in {"softbreak", "hardbreak"}:
            texts.append("\n")
        else:
            texts.append(token.content)
    lines = (" ".join(line.split()) for line in "".join(texts).split("\n"))
    return "\n".join(line for line in lines if line), captions


def _within(unseen: str, tag: re.Match[str]) -> str:
    """Name of the unseen element that is open after a tag of one; empty if none is."""
    name = tag[2].lower()
    if not unseen:
        return "" if tag[1] else name
    return "" if tag[1] and name == unseen else unseen


def _html_texts(html: str) -> Iterator[str]:
    """Texts between the tags of HTML, without scripts and comments."""
    unseen = ""
    texts = list[str]()
    for piece in _TAG.split(without_tags(_COMMENT.sub("", html))):
        is_tag = piece.startswith("<") and piece.endswith(">")
        tag = _TAG_NAME.match(piece) if is_tag else None
        if tag is None:
            if not unseen and not (is_tag and piece[1] in "!?"):
                texts.append(unescape(piece))
            continue
        if unseen or tag[2].lower() in _UNSEEN:
            unseen = _within(unseen, tag)
        elif tag[2].lower() in _ROWS:
            texts.append("\0")
    for text in "".join(texts).split("\0"):
        if plain := " ".join(text.split()):
            yield plain


READER: Final = Reader(
    read=read_markdown,
    endings=(".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rmd", ".qmd"),
    media=("text/markdown",),
)
