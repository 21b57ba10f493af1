"""`postil corpus`: imports of external formats, and corpora of articles with comments."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from postil.cli.command import FormatOption, command, group
from postil.cli.output import emit, say
from postil.corpus.calls import BuildRunOptions, StatisticsOptions, build_corpus, count_corpus
from postil.corpus.importers import articles, passages
from postil.corpus.importers.articles import (
    DatasetOptions,
    ForumOptions,
    LangOptions,
    TableOptions,
    TencentOptions,
    TokenizedOptions,
)
from postil.corpus.importers.passages import InexOptions, TrecOptions, WikipediaOptions
from postil.corpus.options import BuildOptions
from postil.data.options import InputOptions
from postil.results.views import show

__all__ = ["build", "corpus", "imports", "stats"]


@command
def build(
    articles: Annotated[
        list[str],
        typer.Argument(metavar="ARTICLES...", help="Article rows: a table of any format, or -; see corpus import."),
    ],
    *,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The output folder.")],
    options: BuildOptions,
    run: BuildRunOptions,
    inputs: InputOptions,
) -> None:
    """Build a corpus: filter, remove near duplicates, split, sample references, build the vocabulary.

    Thresholds are those of the paper on automatic article commenting, or lower ones in a small corpus, which are told.
    Names of people are dropped. The folder opens with datasets.load_dataset, DuckDB and Polars; an interrupted build
    resumes where it stopped.

    Example: postil corpus build articles.jsonl.gz --out corpus --source "our site, 2024" --license "internal"
    """
    build_corpus(
        articles,
        out,
        options,
        dev=run.dev_from,
        test=run.test_from,
        ratings=run.ratings,
        engine=run.engine,
        jobs=run.jobs,
        address=run.address,
        inputs=inputs,
        on_message=say,
    )


@command
def stats(
    corpus: Annotated[str, typer.Argument(metavar="DIR", help="A corpus that postil corpus build made.")],
    *,
    options: StatisticsOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Print corpus statistics by split: comments per article, upvotes, lengths, words, categories, grades.

    Example: postil corpus stats corpus --figures pictures
    """
    emit(show(format, count_corpus(corpus, options, say)), format)


imports = group("import", "Convert external formats into rows: articles with comments, or judged passages.")

Passages: TypeAlias = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Passage rows: .jsonl, .jsonl.gz, .parquet or -.")
]
Articles: TypeAlias = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Article rows: .jsonl, .jsonl.gz, .parquet or -.")
]
Files: TypeAlias = Annotated[list[str], typer.Argument(metavar="FILES...", help="JSON Lines, one article per line.")]
Exports: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="FILES...", help="Files of the site, which may be compressed.")
]


@imports.command()
@command
def tencent(files: Files, *, out: Articles, options: TencentOptions) -> None:
    """The Tencent comment corpus, as released.

    Its files are data.train.json, data.dev.json and data.test.json; contents come by url from files of yours.

    Example: postil corpus import tencent data.test.json --contents contents.jsonl --out test.jsonl
    """
    articles.import_tencent(files, out, options, say)


@imports.command()
@command
def tokenized(files: Files, *, out: Articles, options: TokenizedOptions) -> None:
    """Tokenized copies of the Tencent corpus, with bodies.

    All texts are words separated by spaces, and stay so.

    Example: postil corpus import tokenized data.train.json --second votes --out train.jsonl
    """
    articles.import_tokenized(files, out, options, say)


@imports.command()
@command
def deepcom(files: Files, *, out: Articles, options: LangOptions) -> None:
    """The Yahoo (DeepCom) and 163 corpora.

    Their lines have _id, title, paras or body, and cmts.

    Example: postil corpus import deepcom yahoo.json --lang en --out yahoo.jsonl
    """
    articles.import_deepcom(files, out, options, say)


@imports.command()
@command
def wordpress(files: Exports, *, out: Articles, options: LangOptions) -> None:
    """Exports of WordPress: posts with their approved comments.

    The files are those of Tools, Export; names and addresses of people are not read.

    Example: postil corpus import wordpress site.xml --out articles.jsonl
    """
    articles.import_export("wordpress", files, out, options, say)


@imports.command()
@command
def disqus(files: Exports, *, out: Articles, options: LangOptions) -> None:
    """Exports of Disqus: threads with their posts.

    They have titles of articles, but no contents, and no votes.

    Example: postil corpus import disqus disqus.xml.gz --out articles.jsonl
    """
    articles.import_export("disqus", files, out, options, say)


@imports.command()
@command
def discourse(files: Exports, *, out: Articles, options: LangOptions) -> None:
    """Topics of Discourse, as /t/ID.json gives them.

    The first post is the article; likes are upvotes.

    Example: postil corpus import discourse topics.jsonl --out articles.jsonl
    """
    articles.import_export("discourse", files, out, options, say)


@imports.command()
@command
def coral(files: Exports, *, out: Articles, options: LangOptions) -> None:
    """Stories and comments of Coral, as mongoexport writes them.

    The files hold stories, comments or both; reactions are upvotes.

    Example: postil corpus import coral stories.json comments.json --out articles.jsonl
    """
    articles.import_export("coral", files, out, options, say)


@imports.command()
@command
def reddit(files: Exports, *, out: Articles, options: LangOptions) -> None:
    """Submissions and comments of Reddit, as in the dumps of Pushshift or listings of its API.

    The files hold submissions, comments or both; the score is the upvotes.

    Example: postil corpus import reddit submissions.zst comments.zst --out articles.jsonl
    """
    articles.import_export("reddit", files, out, options, say)


@imports.command()
@command
def hackernews(files: Exports, *, out: Articles, options: LangOptions) -> None:
    """Stories and comments of Hacker News.

    Items of its API, of BigQuery or of Algolia, in any order; comments have no votes.

    Example: postil corpus import hackernews items.jsonl --out articles.jsonl
    """
    articles.import_export("hackernews", files, out, options, say)


@imports.command()
@command
def forum(files: Files, *, out: Articles, options: ForumOptions) -> None:
    """JSON Lines, with fields under any names.

    The default names are those of article rows.

    Example: postil corpus import forum posts.jsonl.gz --column content=body --column comments.text=body --out p.jsonl
    """
    articles.import_forum(files, out, options, say)


@imports.command()
@command
def csv(*, out: Articles, options: TableOptions) -> None:
    """CSV or TSV tables, or sheets of workbooks.

    Either articles and comments apart, or comments alone with the columns of their articles repeated.

    Example: postil corpus import csv --articles a.csv --comments c.csv --column comments.article=post_id --out a.jsonl
    """
    articles.import_table(out, options, say)


@imports.command()
@command
def dataset(
    folders: Annotated[list[str], typer.Argument(metavar="FOLDERS...", help="Folders of .parquet or .arrow files.")],
    *,
    out: Articles,
    options: DatasetOptions,
) -> None:
    """Parquet or Arrow, as Hugging Face datasets keep it.

    Comments may be structs, lists or parallel columns.

    Example: postil corpus import dataset my-dataset --split train --column content=body --out train.jsonl
    """
    articles.import_dataset(folders, out, options, say)


@imports.command()
@command
def trec(*, out: Passages, options: TrecOptions) -> None:
    """Judged passages of a TREC collection. Every file may be compressed with gzip.

    Example: postil corpus import trec --qrels qrels.txt --collection texts.tsv --out passages.jsonl
    """
    passages.import_trec(out, options, say)


@imports.command()
@command
def inex(*, out: Passages, options: InexOptions) -> None:
    """Graded passages of INEX tweet contextualization, 2011 to 2014. Every file may be compressed with gzip.

    Example: postil corpus import inex --topics topics.xml --runs run.txt --judgements trels.txt --out passages.jsonl
    """
    passages.import_inex(out, options, say)


@imports.command()
@command
def wikipedia(
    files: Annotated[list[str], typer.Argument(metavar="FILES...", help="Dumps (XML), or files of wikitext.")],
    *,
    out: Passages,
    options: WikipediaOptions,
) -> None:
    """Passages of Wikipedia with the texts of their links as anchors.

    A dump may be compressed with bzip2 or gzip; a file of wikitext is named by its title (.wiki, .mediawiki, .txt).

    Example: postil corpus import wikipedia simplewiki-latest-pages-articles.xml.bz2 --out passages.jsonl
    """
    passages.import_wikipedia(files, out, options, say)


corpus = group("corpus", "Import external formats, build corpora of articles with comments, and count what they hold.")
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
