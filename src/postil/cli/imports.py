"""`postil corpus import`: other people's files into rows."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import exits, say
from postil.cli.options import group

__all__ = ["imports"]

imports = group("import", "Turn other people's files into rows: articles with comments, or judged passages.")

Passages = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Passage rows: .jsonl, .jsonl.gz, .parquet or -.")
]
Articles = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Article rows: .jsonl, .jsonl.gz, .parquet or -.")
]
Files = Annotated[list[str], typer.Argument(metavar="FILES...", help="JSON Lines, one article a line.")]
OnError = Annotated[
    str,
    typer.Option(
        metavar="WAY", help="A broken line: stop, or skip it and write it to OUT.rejected.jsonl.", show_default=True
    ),
]
Lang = Annotated[
    str | None, typer.Option(metavar="TAG", help="The language of articles that do not say theirs, such as zh.")
]
Field = Annotated[
    list[str] | None,
    typer.Option(
        "--field",
        metavar="NAME=THEIRS",
        help="What they call id, title, content, category, lang, url or comments; nothing after = : they have none.",
    ),
]
CommentField = Annotated[
    list[str] | None,
    typer.Option(
        "--comment-field",
        metavar="NAME=THEIRS",
        help="What they call id, text, upvotes, grade or user; in arrays the places are 0, 1, ....",
    ),
]


@imports.command()
@exits
def tencent(
    files: Files,
    *,
    out: Articles,
    contents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Contents by url: JSON Lines with url and content, or lines of url, tab, content; may be repeated.",
        ),
    ] = None,
    on_error: OnError = "stop",
) -> None:
    """The Tencent comment corpus, as released.

    Its files are data.train.json, data.dev.json and data.test.json; contents come by url from files of yours.

    Example: postil corpus import tencent data.test.json --contents contents.jsonl --out test.jsonl
    """
    from postil.app.corpus.importing_articles import import_articles  # noqa: PLC0415
    from postil.corpus.formats.tencent import range_seen, read_tencent  # noqa: PLC0415

    import_articles(
        lambda met: read_tencent(files, met, contents=contents or ()),
        [*files, *(contents or ())],
        out,
        say,
        on_error=on_error,  # type: ignore[arg-type]  # checked inside
        remarks=lambda met: [f"human scores {range_seen(met.low, met.high)}"] if met.graded else [],
    )


@imports.command()
@exits
def tokenised(
    files: Files,
    *,
    out: Articles,
    second: Annotated[
        str, typer.Option(metavar="WHAT", help="The second element of a comment: votes, grade or none (not read).")
    ] = "none",
    lang: Lang = "zh",
    on_error: OnError = "stop",
) -> None:
    """Copies of it with bodies, cut into words.

    All texts are words apart by spaces, and stay so.

    Example: postil corpus import tokenised data.train.json --second votes --out train.jsonl
    """
    from postil.app.corpus.importing_articles import import_articles  # noqa: PLC0415
    from postil.corpus.formats.tokenised import read_tokenised  # noqa: PLC0415

    import_articles(
        lambda met: read_tokenised(files, met, second=second, lang=lang),  # type: ignore[arg-type]  # checked inside
        files,
        out,
        say,
        on_error=on_error,  # type: ignore[arg-type]  # checked inside
        remarks=lambda _: ["the texts are words apart by spaces; the tokenizer for them: --tokenizer space"],
    )


@imports.command()
@exits
def deepcom(files: Files, *, out: Articles, lang: Lang = None, on_error: OnError = "stop") -> None:
    """The Yahoo (DeepCom) and 163 corpora.

    Their lines have _id, title, paras or body, and cmts.

    Example: postil corpus import deepcom yahoo.json --lang en --out yahoo.jsonl
    """
    from postil.app.corpus.importing_articles import import_articles  # noqa: PLC0415
    from postil.corpus.formats.deepcom import read_deepcom  # noqa: PLC0415

    import_articles(
        lambda met: read_deepcom(files, met, lang=lang),
        files,
        out,
        say,
        on_error=on_error,  # type: ignore[arg-type]  # checked inside
    )


@imports.command()
@exits
def forum(
    files: Files,
    *,
    out: Articles,
    field: Field = None,
    comment_field: CommentField = None,
    lang: Lang = None,
    on_error: OnError = "stop",
) -> None:
    """JSON Lines, with fields under any names.

    Without a map the names are those of article rows.

    Example: postil corpus import forum posts.jsonl.gz --field content=body --comment-field upvotes=score --out p.jsonl
    """
    from postil.app.corpus.importing_articles import import_articles, name_map  # noqa: PLC0415
    from postil.corpus.formats.forum import read_forum  # noqa: PLC0415

    names, of_comments = name_map(field, "--field"), name_map(comment_field, "--comment-field")
    import_articles(
        lambda met: read_forum(files, met, fields=names, comment_fields=of_comments, lang=lang),
        files,
        out,
        say,
        on_error=on_error,  # type: ignore[arg-type]  # checked inside
    )


@imports.command()
@exits
def csv(
    *,
    comments: Annotated[
        str, typer.Option(metavar="FILE", help="A table of comments; alone, with their articles' columns repeated.")
    ],
    out: Articles,
    articles: Annotated[str | None, typer.Option(metavar="FILE", help="A table of articles.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=THEIRS",
            help="Their column for id, title, content, category, lang or url; nothing after = : they have none.",
        ),
    ] = None,
    comment_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=THEIRS", help="Their column for article (the article's id), id, text, upvotes, grade or user."
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="Between columns; by default a tab for .tsv, .tab and .txt, else a comma."),
    ] = None,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of the tables.")] = "utf-8",
    quotes: Annotated[
        bool, typer.Option("--quotes/--no-quotes", help="Whether double quotes around a cell are marks or text.")
    ] = True,
    apostrophes: Annotated[
        bool,
        typer.Option(
            "--apostrophes", help="Take away the apostrophes that postil's exports have before =1+1 and the like."
        ),
    ] = False,
    lang: Lang = None,
    on_error: OnError = "stop",
) -> None:
    """Tables, CSV or TSV.

    Either articles and comments apart, or comments alone with their articles' columns repeated.

    Example: postil corpus import csv --articles a.csv --comments c.csv --comment-column article=post_id --out a.jsonl
    """
    from postil.app.corpus.importing_articles import import_articles, name_map  # noqa: PLC0415
    from postil.corpus.formats.table import read_table  # noqa: PLC0415

    names, of_comments = name_map(column, "--column"), name_map(comment_column, "--comment-column")
    import_articles(
        lambda met: read_table(
            comments,
            met,
            articles=articles,
            columns=names,
            comment_columns=of_comments,
            lang=lang,
            encoding=encoding,
            delimiter=delimiter,
            quotes=quotes,
            apostrophes=apostrophes,
        ),
        [comments, *([articles] if articles else [])],
        out,
        say,
        on_error=on_error,  # type: ignore[arg-type]  # checked inside
    )


@imports.command()
@exits
def dataset(
    folders: Annotated[list[str], typer.Argument(metavar="FOLDERS...", help="Folders of .parquet files, or files.")],
    *,
    out: Articles,
    split: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Read this split; may be repeated; by default all.")
    ] = None,
    field: Field = None,
    comment_field: CommentField = None,
    lang: Lang = None,
    on_error: OnError = "stop",
) -> None:
    """Parquet, as Hugging Face datasets keep it.

    Comments may be structs, lists or parallel columns.

    Example: postil corpus import dataset my-dataset --split train --field content=body --out train.jsonl
    """
    from postil.app.corpus.importing_articles import import_articles, name_map  # noqa: PLC0415
    from postil.corpus.formats.dataset import read_dataset, split_files  # noqa: PLC0415

    names, of_comments = name_map(field, "--field"), name_map(comment_field, "--comment-field")
    import_articles(
        lambda met: read_dataset(folders, met, splits=split or (), fields=names, comment_fields=of_comments, lang=lang),
        split_files(folders, split or ()),
        out,
        say,
        on_error=on_error,  # type: ignore[arg-type]  # checked inside
    )


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
    out: Passages,
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
    from postil.app.corpus.importing_passages import import_trec  # noqa: PLC0415

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
    out: Passages,
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
    from postil.app.corpus.importing_passages import import_inex  # noqa: PLC0415

    import_inex(topics, runs, judgements, out, say, documents=documents or (), duplicates=duplicates)
