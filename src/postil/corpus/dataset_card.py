"""The dataset card of a corpus: Markdown for people, with a YAML header for tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from postil.corpus.view import table_2
from postil.data.escaping import markdown_cell, one_line
from postil.results.formats import grid_as

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.corpus.result import CorpusMetadata, StatisticsResult

__all__ = ["card"]

SIZES: Final = (
    ("n<1K", 1_000),
    ("1K<n<10K", 10_000),
    ("10K<n<100K", 100_000),
    ("100K<n<1M", 1_000_000),
    ("1M<n<10M", 10_000_000),
)
"""Size categories of the Hugging Face Hub, each with its upper bound."""

READING: Final = """
## How to read it
```python
import datasets, duckdb, polars, postil

datasets.load_dataset("FOLDER")
duckdb.sql("select title, len(comments) from 'FOLDER/data/train-*.parquet'")
polars.read_parquet("FOLDER/data/train-*.parquet")
postil.Corpus.open("FOLDER").tokens("train", "comments")
```
"""


def card(metadata: CorpusMetadata, statistics: StatisticsResult) -> str:
    """Write the dataset card of a corpus.

    Args:
        metadata: The outcome of its build.
        statistics: Its statistics.

    Returns:
        Markdown with a YAML header.
    """
    options = metadata.options
    body = [
        "# Articles with comments",
        f"- **Source:** {one_line(str(options['source']))}",
        f"- **Licence:** {one_line(str(options['license']))}",
        "",
        grid_as("markdown", table_2(statistics)),
        "## How it was made",
        f"By postil {metadata.postil}, words by `{metadata.tokenizer}`; {metadata.words:,} distinct words.",
        "",
        *_table("option", "value", rows=(
            (name.replace("_", " "), markdown_cell(str(list(value) if isinstance(value, tuple) else value)))
            for name, value in options.items()
            if name not in {"source", "license"}
        )),
        "",
        *_table("input", "split", "bytes", "BLAKE2b", rows=(
            (markdown_cell(file.name), file.split or "", f"{file.bytes:,}", f"`{file.blake2b}`")
            for file in metadata.inputs
        )),
        "",
        *_table("excluded or changed", "number", rows=((why, f"{n:,}") for why, n in metadata.seen.items())),
    ]  # fmt: skip
    return "\n".join([*_header(metadata), *body]) + "\n" + READING


def _header(metadata: CorpusMetadata) -> list[str]:
    splits = {name: size for name, size in metadata.splits.items() if size.articles}
    articles = sum(size.articles for size in splits.values())
    return [
        "---",
        "license: other",
        f"license_name: {json.dumps(metadata.options['license'], ensure_ascii=False)}",
        *(["language:", *(f"- {json.dumps(lang)}" for lang in metadata.langs)] if metadata.langs else []),
        "task_categories:",
        "- text-generation",
        "- text-retrieval",
        "tags:",
        "- article-commenting",
        "size_categories:",
        f"- {next((name for name, size in SIZES if articles < size), 'n>10M')}",
        "configs:",
        "- config_name: default",
        "  data_files:",
        *(line for split in splits for line in (f"  - split: {split}", f"    path: data/{split}-*.parquet")),
        "---",
    ]


def _table(*head: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines of a table whose cells are Markdown."""
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
