"""View of the metadata of a corpus: one row per split."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from postil.corpus.result import SplitSize
from postil.data.explain import counted
from postil.results.table import Count, Name, Table
from postil.results.views import View

if TYPE_CHECKING:
    from postil.corpus.result import CorpusMetadata

__all__ = ["corpus"]


def corpus(result: CorpusMetadata) -> View:
    """Make the view of the metadata of a corpus.

    Args:
        result: The metadata.
    """
    rows = [{"split": name, **asdict(size)} for name, size in result.splits.items()]
    sizes = SplitSize.__struct_fields__
    columns = (Name("split", itemgetter("split")), *(Count(name, itemgetter(name)) for name in sizes))
    line = _line(result)
    return View(
        line=line,
        rows=rows,
        fields=("split", *sizes),
        grids=[Table(rows=rows, columns=columns)],
        head=line,
        remarks=[
            *(f"{why}: {n:,}" for why, n in result.seen.items()),
            *(f"input: {each.name}" for each in result.inputs),
            f"words: {result.tokenizer}",
        ],
    )


def _line(result: CorpusMetadata) -> str:
    sizes = result.splits.values()
    numbers = (sum(size.articles for size in sizes), sum(size.comments for size in sizes), result.words)
    return ", ".join(map(counted, numbers, ("article", "comment", "distinct word")))
