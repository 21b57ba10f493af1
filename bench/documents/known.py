"""Sentences of texts whose PDFs are read by a benchmark: from HTML, LaTeX, groff and plain text.

Only sentences that stand in the text as they will in the PDF are taken: of LaTeX and groff those without formulas,
references and unknown commands; of HTML those of paragraphs and items.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["folded", "of_html", "of_latex", "of_roff", "of_text", "sentences"]

FEWEST: Final = 5
"""Smallest number of words of a sentence."""
FEWEST_SIGNS: Final = 12
"""Smallest number of characters of one without spaces between words."""
LINK: Final = "\ue000"
"""Stands before the text of a link; makers of PDFs put numbers or addresses there, so its sentence is left out."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[^\Wa-z]|[\"'“‘(«„])|(?<=[。！？])")
_CLOSED: Final = re.compile(r"[.!?。！？][\"'”’»)]*$")
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_FOLDS: Final = (
    (re.compile(r"[\"'“”‘’„‚`´«»″′]"), ""),
    (re.compile(r"\s*(?:[-‐‑‒–—−]\s*)+"), "-"),
    (re.compile(r"\s*/\s*"), "/"),
    (re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff。、])\s+|\s+(?=[\u3040-\u30ff\u3400-\u9fff])"), ""),
    (re.compile(r"\s+"), " "),
)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details dir div dl dt figcaption figure footer form "  # noqa: SIM905
    "h1 h2 h3 h4 h5 h6 header hr html li main menu nav ol p pre section table tbody td tfoot th thead tr ul".split()
)
_PROSE: Final = frozenset({"p", "li", "dd"})
_HIDDEN: Final = frozenset(["script", "style", "pre", "nav", "head", "title", "sup"])

_CHUNK: Final = re.compile(r"^<<.*?>>=.*?^@", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"(?<!\\)%.*")
_MARKUP: Final = re.compile(
    r"\\(?:emph|textit|textbf|textsc|textsf|code|pkg|proglang|class|fct|dQuote|sQuote|Robject|"
    r"Rpackage|Rfunction|Rclass|Rfunarg|textrm)\{([^{}\\]*)\}|\{\\(?:em|it|bf|sl|sf|rm) ([^{}\\]*)\}"
)
_HARD: Final = re.compile(
    r"\\begin\{(verbatim|figure|table|equation|align|eqnarray|tabular|Schunk|Sinput|lstlisting|CCSXML|thebibliography|"
    r"displaymath|abstract|minted)\*?\}.*?\\end\{\1\*?\}",
    re.DOTALL,
)
_LISTED: Final = re.compile(
    r"\\(?:begin|end)\{[^}]*\}(?:\[[^\]]*\])?|\\item(?:\[[^\]]*\])?|\\par\b|\\bigskip|\\noindent"
)
_NAMED: Final = re.compile(r"\\(?:sub)*(?:section|paragraph|title|chapter)\*?\{.*?\}|\\(?:label|index)\{[^}]*\}")
_UNKNOWN: Final = re.compile(r"[\\${}_^&#|<>~*`]|\[\d|\(\)|http|www|--")


def folded(text: str) -> str:
    """A text without what makers of PDFs write in their own ways: quotation marks, kinds of dashes, white space."""
    text = unicodedata.normalize("NFKC", text.replace("\xad", ""))
    for expression, by in _FOLDS:
        text = expression.sub(by, text)
    return text.strip()


def sentences(paragraphs: Iterable[str]) -> Iterator[str]:
    """The sentences of paragraphs that are long enough to be found again, each one once."""
    seen = set[str]()
    for paragraph in paragraphs:
        for sentence in _SENTENCE_END.split(" ".join(paragraph.split())):
            text = sentence.strip()
            long = len(text.split()) >= FEWEST or (_WIDE.search(text) and len(text) >= FEWEST_SIGNS)
            if long and LINK not in text and _CLOSED.search(text) and (key := folded(text)) not in seen:
                seen.add(key)
                yield text


def of_html(page: bytes) -> Iterator[str]:
    """The paragraphs and items of an HTML page."""
    from lxml import html

    parser = html.HTMLParser(encoding=None if b"charset" in page[:2000].lower() else "utf-8")
    blocks: list[tuple[bool, list[str]]] = [(False, [])]

    def walk(element: html.HtmlElement, *, prose: bool) -> None:
        if not isinstance(element.tag, str) or element.tag in _HIDDEN or "footnote" in element.get("class", ""):
            return
        block = element.tag in _BLOCKS
        inside = element.tag in _PROSE or (prose and element.tag not in _BLOCKS) or (prose and element.tag == "div")
        if block:
            blocks.append((inside, []))
        elif element.tag == "br":
            blocks[-1][1].append(" ")
        elif element.tag == "a" and element.get("href"):
            blocks[-1][1].append(LINK)
        blocks[-1][1].append(element.text or "")
        for child in element:
            walk(child, prose=inside)
            blocks[-1][1].append(child.tail or "")
        if block:
            blocks.append((prose, []))

    walk(html.document_fromstring(page, parser=parser), prose=False)
    yield from (text for prose, parts in blocks if prose and (text := "".join(parts).strip()))


def of_text(text: str) -> Iterator[str]:
    """The paragraphs of a plain text, apart by empty lines."""
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines()]
        yield re.sub(r"(?<=\w)-\n(?=\w)", "-", "\n".join(lines))


def of_latex(text: str) -> Iterator[str]:
    """The sentences of a LaTeX or Sweave source that need no LaTeX to be read, each as a paragraph."""
    _, begun, body = text.partition(r"\begin{document}")
    text = _COMMENT.sub("", _CHUNK.sub("\n\n", body if begun else text))
    for expression, by in ((_HARD, "\n\n"), (_NAMED, "\n\n"), (_LISTED, "\n\n")):
        text = expression.sub(by, text)
    yield from _plain(text)


def of_roff(text: str) -> Iterator[str]:
    """The sentences of a groff source (ms) that need no groff to be read."""
    text = re.sub(r"^\.FS.*?^\.FE.*?$|\\\*\*", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\\f[A-Z]|\\\*[QU]|\\c$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\.(?:SM|LG|I|B|R)\b *\"?([^\"\n]*)\"?.*$", r"\1", text, flags=re.MULTILINE)
    yield from _plain(re.sub(r"^[.'].*$", "\n", text, flags=re.MULTILINE))


def _plain(text: str) -> Iterator[str]:
    while (by := _MARKUP.sub(lambda found: found[1] or found[2] or "", text)) != text:
        text = by
    text = text.replace("``", '"').replace("''", '"').replace(r"\ ", " ").replace(r"\&", "&").replace(r"\@", "")
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in _SENTENCE_END.split(" ".join(paragraph.split())):
            if not _UNKNOWN.search(sentence):
                yield sentence
