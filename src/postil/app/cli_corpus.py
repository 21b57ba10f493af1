"""`postil corpus`: collections from other people's files."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.app.exits import exits, say

__all__ = ["corpus"]

SETTINGS = {"help_option_names": ["-h", "--help"]}

corpus = typer.Typer(
    name="corpus",
    help="Make collections out of other people's files.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)
imports = typer.Typer(
    name="import",
    help="Turn the files of an evaluation campaign into rows.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)
corpus.add_typer(imports)

Out = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Passage rows: .jsonl, .jsonl.gz, .parquet or -.")
]


@imports.command()
@exits
def trec(
    *,
    qrels: Annotated[str, typer.Option(metavar="FILE", help="Judgements, a line 'topic Q0 document grade' each.")],
    collection: Annotated[
        list[str],
        typer.Option(
            "--collection", "-c", metavar="FILE", help="Texts: lines of id, tab, text, or JSON Lines; may be repeated."
        ),
    ],
    out: Out,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run", metavar="FILE", help="A run whose passages to take too, beside the judged; may be repeated."
        ),
    ] = None,
    unjudged: Annotated[
        str,
        typer.Option(metavar="WAY", help="Passages of the runs that nobody judged: skip, zero (grade 0) or keep."),
    ] = "skip",
    duplicates: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Merge passages of a topic that begin and end with the same N characters; 0: none."
        ),
    ] = 0,
) -> None:
    """Judged passages of a TREC collection. Every file may be compressed with gzip.

    Example: postil corpus import trec --qrels qrels.txt --collection texts.tsv --out passages.jsonl
    """
    from postil.app.importing import import_trec  # noqa: PLC0415

    import_trec(
        qrels,
        collection,
        out,
        say,
        runs=run or (),
        unjudged=unjudged,  # type: ignore[arg-type]  # checked inside
        duplicates=duplicates,
    )


@imports.command()
@exits
def inex(
    *,
    topics: Annotated[str, typer.Option(metavar="FILE", help="Topics: XML, tweets as JSON Lines, or id and text.")],
    runs: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="A run, 'qid Q0 file rank rsv run_id text' a line; may be repeated."),
    ],
    judgements: Annotated[
        list[str],
        typer.Option(
            metavar="FILE", help="What was highlighted, 'qid Q0 file - - person text' a line; may be repeated."
        ),
    ],
    out: Out,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Texts of the documents, where runs or judgements have offsets; may be repeated."
        ),
    ] = None,
    duplicates: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Merge passages of a topic that begin and end with the same N characters; 0: none."
        ),
    ] = 25,
) -> None:
    """Graded passages of INEX tweet contextualisation, 2011 to 2014. Every file may be compressed with gzip.

    Example: postil corpus import inex --topics topics.xml --runs run.txt --judgements trels.txt --out passages.jsonl
    """
    from postil.app.importing import import_inex  # noqa: PLC0415

    import_inex(topics, runs, judgements, out, say, documents=documents or (), duplicates=duplicates)
