"""Views of `postil interesting`: passages with the units that make their scores; of several pages; of a training."""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import to_builtins

from postil.data.escaping import one_line
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.messages import Message
from postil.passages.view import Ranking, by_cutoff, differences_table, gains_table, length_tables
from postil.results.formats import excerpt, noted
from postil.results.table import Figure, Name, Number, Table, Text
from postil.results.views import View, best

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.interest.result import InterestingPagesResult, InterestingResult, InterestTrainingResult, PageSummary
    from postil.passages.result import RankedPassage

__all__ = ["Passage", "cards", "fields", "pages", "training", "view"]

SHOWN: Final = 80
"""Number of characters of a passage in a table."""

LOCATION: Final = ("start", "end", "page", "link")
"""Fields of a passage that only some documents have."""

Passage: TypeAlias = "tuple[str, RankedPassage | None]"
"""The name of a page, and one of its passages; None where it has none."""


def view(result: InterestingResult) -> View:
    """Show ranked passages; rows and documents have whole texts, tables their beginnings.

    Args:
        result: The result.
    """
    columns = fields(result.passages)
    ranked: list[Passage] = [("", each) for each in result.passages]
    passages = _passages_table(result.measure, ranked, longest=SHOWN)
    first = "".join(f"; first: {each.text}" for each in result.passages[:1])
    return View(
        line=f"{counted(len(result.passages), 'passage')} by {result.measure}{first}",
        rows=[{name: getattr(each, name) for name in columns} for each in result.passages],
        fields=columns,
        grids=[passages],
        documents=[_passages_table(result.measure, ranked)],
        remarks=[*noted(result.notes)],
        signatures=[result.signature] if result.signature else [],
        cards=[*cards(passages)],
    )


def fields(passages: Iterable[RankedPassage]) -> list[str]:
    """Fields of passages that hold something: a location only where a document has one.

    Args:
        passages: The passages.
    """
    known = list(passages)
    always = ["rank", "index", "text", "score", "reasons"]
    return always + [name for name in LOCATION if any(getattr(each, name) is not None for each in known)]


def _passages_table(measure: str, rows: Sequence[Passage], *, pages: bool = False, longest: int | None = None) -> Table:
    """Ranked passages: the rank and text of each, its score, its units.

    Args:
        measure: The measure that ranks them.
        rows: The passages.
        pages: True for a column of the names of pages.
        longest: Number of characters to which a text is cut; None for whole texts.
    """
    return Table(
        rows=rows,
        columns=(
            Name("passage", lambda row: _beginning(row[1], longest)),
            *([Text("page", itemgetter(0))] if pages else []),
            Number(measure, "score", at=itemgetter(1), digits=4, zero=True),
            Text("top units", lambda each: ", ".join(map(str, each.reasons)), at=itemgetter(1), none="", dash=""),
        ),
    )


def _beginning(passage: RankedPassage | None, longest: int | None) -> str:
    text = "(no passage)" if passage is None else f"{passage.rank}. {one_line(passage.text)}"
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"


def cards(table: Table) -> Iterator[tuple[str, str]]:
    """Each passage in full, with its page, its score and its units.

    Args:
        table: A table of passages.
    """
    (*_, measure, _), *lines = table.grid(typeset=False)
    for (_, passage), (_, *page, score, units) in zip(table.rows, lines, strict=True):
        if passage is None:
            yield "(no passage)", " · ".join(page)
        else:
            yield f"{passage.rank}. {passage.text}", " · ".join(filter(None, [*page, f"{measure} {score}", units]))


OF_PAGE: Final = ("source", "title", "url", "date", "lang", "file")
"""Fields of a page in each row of its passages."""

NAME: Final = 30
"""Number of characters of the name of a page in a table."""


def pages(result: InterestingPagesResult) -> View:
    """Show the best passages of each page; rows have them whole, tables on a terminal their beginnings.

    Args:
        result: The result.
    """
    columns = fields(passage for page in result.pages for passage in page.passages)
    rows = [
        {**{name: getattr(page, name) for name in OF_PAGE}, **{name: getattr(each, name, None) for name in columns}}
        for page in result.pages
        for each in page.passages or [None]
    ]
    best = [(_name(page), each) for page in result.pages for each in page.passages or [None]]
    passages = _passages_table(result.measure, best, pages=True, longest=SHOWN)
    number = sum(len(page.passages) for page in result.pages)
    failed = f", {len(result.failed):,} failed" if result.failed else ""
    return View(
        line=f"{counted(len(result.pages), 'page')}, {counted(number, 'passage')} by {result.measure}{failed}",
        rows=rows,
        fields=[*OF_PAGE, *columns],
        nested=[to_builtins(each, enc_hook=plain_id) for each in (*result.pages, *result.failed)],
        grids=[passages],
        documents=[_passages_table(result.measure, best, pages=True)],
        remarks=list(_remarks_on_pages(result)),
        signatures=[result.signature] if result.signature else [],
        cards=[*cards(passages)],
    )


def _name(page: PageSummary) -> str:
    return excerpt(page.title or page.source, NAME)


def _remarks_on_pages(result: InterestingPagesResult) -> Iterator[str]:
    yield from (f"failed: {each.source}: {each.problem}" for each in result.failed)
    for page in result.pages:
        yield from (Message("note: {page}: {note}", page=_name(page), note=note) for note in page.notes)
    yield from noted(result.notes)


def training(result: InterestTrainingResult) -> View:
    """Make the view of a training.

    Args:
        result: The training.
    """
    gains = by_cutoff(result.gains, "measure")
    pairs = [Ranking(name, name, rows) for name, rows in by_cutoff(result.differences, "second").items()]
    minus = [
        differences_table(f"{each.first} minus", pairs, alone=f"{each.first} minus (* p < .05)")
        for each in result.differences[:1]
    ]
    weights = (
        Name("weight of", "unit"),
        Text("kind", "kind"),
        Figure("grades", "{:+.3f}".format, at=attrgetter("weight")),
    )
    return View(
        line=f"{_size(result)}; {best((f'nCG@{row.k}', row.measure, row.ncg) for row in result.gains)}",
        rows=result.gains,
        grids=[gains_table([Ranking(name, name, rows) for name, rows in gains.items()], noun="ranking")],
        details=[*minus, *length_tables(result.by_length), Table(rows=result.weights, columns=weights)],
        head=f"{_size(result)}; one list per page, the mean of them",
        remarks=list(_remarks_on_training(result)),
    )


def _size(result: InterestTrainingResult) -> str:
    data = result.data
    return f"{counted(data.passages, 'passage')} of {counted(data.topics, 'page')}, scale {data.scale}"


def _remarks_on_training(result: InterestTrainingResult) -> Iterator[str]:
    settings = result.settings
    yield from (f"excluded: {each}" for each in result.data.left_out)
    yield f"words and pairs with a weight: {result.words:,}; shown are the largest and the smallest"
    yield from noted(result.notes)
    pages = "" if settings.min_pages == 1 else f" of {counted(settings.min_pages, 'page')}"
    cues = f", {settings.cues:g} added to cues" if settings.cues else ""
    yield (
        f"{counted(settings.folds, 'fold')}, penalty {settings.penalty:g}, words of at least "
        f"{counted(settings.min_count, 'passage')}{pages}{cues}; seed {settings.seed}, "
        f"{counted(settings.resamples, 'resample')}"
    )
