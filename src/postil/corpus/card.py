"""The dataset card of a corpus: what it is, for people and for the tools that read such cards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from postil.corpus.statistics_table import table_2
from postil.escaping import markdown_cell, one_line

if TYPE_CHECKING:
    from postil.corpus.statistics import Statistics
    from postil.corpus.store import Corpus

__all__ = ["card"]

SIZES = (
    ("n<1K", 1_000),
    ("1K<n<10K", 10_000),
    ("10K<n<100K", 100_000),
    ("100K<n<1M", 1_000_000),
    ("1M<n<10M", 10_000_000),
)


def card(corpus: Corpus, found: Statistics) -> str:
    """Write the dataset card of a corpus.

    Args:
        corpus: The corpus.
        found: Its statistics.

    Returns:
        Markdown with a YAML header.
    """
    made, options = corpus.made, corpus.made["options"]
    splits = {split: made["splits"][split] for split in corpus.splits}
    articles = sum(size["articles"] for size in splits.values())
    head = [
        "---",
        "license: other",
        f"license_name: {json.dumps(options['license'], ensure_ascii=False)}",
        *(["language:", *(f"- {json.dumps(lang)}" for lang in made["langs"])] if made["langs"] else []),
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
    inputs = [
        f"| {markdown_cell(file['name'])} | {file['split'] or ''} | {file['bytes']:,} | `{file['blake2b']}` |"
        for file in made["inputs"]
    ]
    seen = [f"| {what} | {number:,} |" for what, number in made["seen"].items()]
    chosen = [
        f"| {name.replace('_', ' ')} | {markdown_cell(str(value))} |"
        for name, value in options.items()
        if name not in {"source", "license"}
    ]
    body = [
        "# Articles with comments",
        f"- **Source:** {one_line(options['source'])}",
        f"- **Licence:** {one_line(options['license'])}",
        "",
        table_2(found).rstrip(),
        "",
        "## How it was made",
        f"By postil {made['postil']}, words by `{made['tokenizer']}`; {made['words']:,} distinct words.",
        "",
        "| option | value |",
        "|---|---|",
        *chosen,
        "",
        "| input | split | bytes | BLAKE2b |",
        "|---|---|---|---|",
        *inputs,
        "",
        "| what became of it | number |",
        "|---|---|",
        *seen,
        "",
        "## How to read it",
        "```python",
        "import datasets, duckdb, polars, postil",
        "",
        'datasets.load_dataset("FOLDER")',
        "duckdb.sql(\"select title, len(comments) from 'FOLDER/data/train-*.parquet'\")",
        'polars.read_parquet("FOLDER/data/train-*.parquet")',
        'postil.Corpus.open("FOLDER").tokens("train", "comments")',
        "```",
    ]
    return "\n".join(head) + "\n" + "\n".join(body) + "\n"
