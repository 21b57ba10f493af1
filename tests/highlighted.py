"""Documents with ranked passages, for tests of highlighted pages: a tame one, a hostile one, a long one."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from postil.documents.document import Block, BlockKind, Document, FailedPage
from postil.interest.result import InterestingPagesResult, InterestingResult, PageSummary
from postil.interest.text_fragments import TextFragments
from postil.passages.result import RankedPassage, UnitContribution

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTS = "</style></title><script>document.title='acted'</script><img src=x onerror=\"document.title='acted'\">"
TURNED = "\u202egpj.exe\u2067 \u05e9\u05dc\u05d5\u05dd"

TEA: Sequence[tuple[BlockKind, str]] = (
    ("heading", "A history of tea"),
    *(("contents", f"{n}. Part {n} ..... {n}") for n in range(1, 6)),
    ("paragraph", "Tea was first a medicine. Nobody drank it for its taste. It rained."),
    ("heading", "The road"),
    ("paragraph", "Caravans carried it for eleven months. " + "They stopped at every well on the way. " * 12),
    ("item", "One brick bought a horse."),
    ("item", "Two bought a house, in a good year."),
    ("quote", "I never saw tea that was not cold when it reached me."),
    ("code", "boil(water)\n  steep(4)"),
    ("caption", "Figure 1: A brick of tea."),
    ("note", "[1] The price is that of 1720."),
    ("heading", "What is left"),
    ("paragraph", "Filler stands here for the length of it. " * 40),
    ("paragraph", "The last caravan arrived in 1949, and its leader opened a tea shop."),
)


def document(blocks: Sequence[tuple[BlockKind, str]], **about: Any) -> Document:
    made: list[Block] = []
    text = ""
    for kind, words in blocks:
        start = len(text) + 2 * bool(text)
        text += "\n\n" * bool(text) + words
        made.append(Block(kind=kind, start=start, end=len(text), level=2 * (kind == "heading")))
    return Document(text=text, blocks=tuple(made), **({"source": "tea.html", "title": "A history of tea"} | about))


def passages(made: Document, *texts: str, unit: str = "tea") -> tuple[RankedPassage, ...]:
    """The first place of each text, the best first."""
    links = TextFragments(made)
    found = []
    for rank, text in enumerate(texts, 1):
        start = made.text.index(text)
        reasons = tuple(UnitContribution(unit=each, part=0.5 / rank) for each in (f"{unit}{rank}", "caravan"))
        place: dict[str, Any] = {"start": start, "end": start + len(text), "link": links.link(start, start + len(text))}
        found.append(RankedPassage(rank=rank, index=rank, text=text, score=1 / rank, reasons=reasons, **place))
    return tuple(found)


def article() -> InterestingResult:
    made = document(TEA, url="https://example.org/tea", lang="en", date="2024-05-01")
    best = ("One brick bought a horse.", "The last caravan arrived in 1949", "Nobody drank it for its taste.")
    return InterestingResult(
        measure="interest",
        goal="interest",
        lang="en",
        signature="interest|v:1",
        passages=passages(made, *best),
        document=made,
    )


def hostile() -> InterestingResult:
    """All that a stranger may write is markup, turns text round, is endless, or is an address that runs code."""
    blocks: list[tuple[BlockKind, str]] = [(kind, f"{kind} {ACTS} {TURNED}") for kind, _ in TEA]
    blocks += [("paragraph", f"Endless {'w' * 500}"), ("code", "y" * 500), ("table", ACTS)]
    about = {"source": ACTS, "title": f"{ACTS}{TURNED}", "url": "javascript:alert(1)", "lang": 'en" onload="alert(1)'}
    made = document(blocks, **about)
    found = passages(made, f"paragraph {ACTS}", f"quote {ACTS} {TURNED}", "Endless", unit=ACTS)
    linked = tuple(RankedPassage(**{**fields(each), "link": "javascript:alert(1)"}) for each in found)
    return InterestingResult(measure=ACTS, passages=linked, document=made, signature=ACTS, notes=(ACTS, TURNED))


def fields(passage: RankedPassage) -> dict[str, Any]:
    return {name: getattr(passage, name) for name in passage.__struct_fields__}


def long(paragraphs: int = 3000) -> InterestingResult:
    """A book of a megabyte."""
    blocks: list[tuple[BlockKind, str]] = []
    for n in range(paragraphs):
        blocks += [("heading", f"Chapter {n}")] * (n % 50 == 0)
        blocks.append(
            ("paragraph", f"Passage number {n}. " + "The caravan went on through the rain and the sand. " * 7)
        )
    made = document(blocks)
    return InterestingResult(
        measure="interest",
        passages=passages(made, *(f"Passage number {n}." for n in range(7, paragraphs, paragraphs // 20))),
        document=made,
    )


def pages() -> InterestingPagesResult:
    result = article()
    tea = PageSummary(
        source="tea.html",
        title="A history of tea",
        url="https://example.org/tea",
        date="2024-05-01",
        lang="en",
        file="tea 1.html",
        passages=result.passages,
    )
    chinese = PageSummary(
        source="cha.html",
        title="茶的历史",
        lang="zh",
        passages=passages(document([("paragraph", "茶很热。")]), "茶很热。"),
    )
    return InterestingPagesResult(
        measure="interest",
        goal="interest",
        signature="interest|v:1",
        pages=(tea, chinese, PageSummary(source="cafe.md", passages=(), title="Le café", notes=("it is short",))),
        failed=(FailedPage(source="scan.pdf", problem="the pages are pictures without text"),),
        notes=("1 page was the same as another",),
    )


def hostile_pages() -> InterestingPagesResult:
    found = hostile().passages
    page = PageSummary(
        source=ACTS,
        title=f"{ACTS}{TURNED}",
        url="javascript:alert(1)",
        date=ACTS,
        lang=ACTS,
        file='x" onclick="alert(1).html',
        passages=found,
        notes=(ACTS,),
    )
    failed = FailedPage(source=ACTS, problem=ACTS)
    return InterestingPagesResult(measure=ACTS, pages=(page, page), failed=(failed,), signature=ACTS, notes=(ACTS,))


VOID = {"meta", "link", "input", "br"}


class Read(HTMLParser):
    """A page: its elements with their attributes, their texts, and the text of all elements of a class."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.elements.append((tag, known))
        if tag not in VOID:
            self.open.append(f"{tag}.{known['class']}" if known.get("class") else tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().partition(".")[0] == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))

    def text(self, within: str = "", without: str = "a.badge") -> str:
        """The text within an element, without that of another one."""
        return "".join(
            text
            for path, text in self.texts
            if any(each.startswith(within) for each in path)
            and without not in path
            and path[-1] not in {"script", "style"}
        )

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]
