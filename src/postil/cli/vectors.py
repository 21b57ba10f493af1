"""`postil vectors`: word vectors for the measures that need them."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import SeedOption, group

__all__ = ["vectors"]

vectors = group("vectors", "Train, convert and look into word vectors, for the measure cosine(vectors=FOLDER).")

Out = Annotated[
    str,
    typer.Option("--out", "-o", metavar="FOLDER", help="The folder to make; older word vectors there are replaced."),
]


@vectors.command()
@exits
def train(
    passages: Annotated[
        str, typer.Argument(metavar="PASSAGES", help="Rows with a text: .jsonl, .jsonl.gz, .parquet or -.")
    ],
    *,
    out: Out,
    dimensions: Annotated[int, typer.Option(min=1, metavar="N", help="Numbers of a vector.")] = 300,
    negative: Annotated[int, typer.Option(min=1, metavar="N", help="Noise words for each pair of words.")] = 15,
    bigrams: Annotated[
        bool, typer.Option("--bigrams", help="A vector for each pair of adjacent words, in place of words.")
    ] = False,
    window: Annotated[int, typer.Option(min=1, metavar="N", help="The farthest neighbour that counts as context.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, metavar="N", help="How often the texts are gone through.")] = 5,
    min_count: Annotated[int, typer.Option(min=1, metavar="N", help="Words that occur less often get no vector.")] = 1,
    tokenizer: Annotated[
        str, typer.Option(metavar="NAME", help="space, words, characters, 13a, jieba or rjieba.")
    ] = "words",
    stop: Annotated[
        str, typer.Option(metavar="LANG", help="none, or a list of stop words, such as en, to leave out first.")
    ] = "none",
    seed: SeedOption = 20181,
    workers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Threads; with more than one the numbers differ a little each time.")
    ] = 1,
) -> None:
    """Train word vectors on texts: word2vec's skip-gram with negative sampling, by gensim.

    Use the tokenizer that the texts to be measured will be split with, and with --bigrams their --stop as well.

    Example: postil vectors train passages.jsonl --out vectors
    """
    from postil.app.vectors import TrainOptions, train_on_file  # noqa: PLC0415

    options = TrainOptions(
        dimensions=dimensions,
        negative=negative,
        bigrams=bigrams,
        window=window,
        epochs=epochs,
        min_count=min_count,
        seed=seed,
        workers=workers,
    )
    train_on_file(passages, out, options, tokenizer, say, stop=stop)


@vectors.command()
@exits
def convert(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Vectors of word2vec, gensim, fastText (.vec) or GloVe; may be compressed with gzip."
        ),
    ],
    *,
    out: Out,
    form: Annotated[str, typer.Option(metavar="FORM", help="binary, text, or auto to find out.")] = "auto",
    bigrams: Annotated[
        bool, typer.Option("--bigrams", help="The words are pairs of adjacent words, joined with _.")
    ] = False,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="Leave out words that are not UTF-8, that come a second time or whose numbers are not finite, and say "
            "how many. Without it they are errors.",
        ),
    ] = False,
) -> None:
    """Turn a file of word vectors into a folder that opens at once, whatever its size.

    Example: postil vectors convert GoogleNews-vectors-negative300.bin.gz --out google-news
    """
    from postil.app.vectors import convert_file  # noqa: PLC0415

    convert_file(file, out, form=form, bigrams=bigrams, skip_bad=skip_bad, say=say)


@vectors.command()
@exits
def show(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of word vectors.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="Words whose nearest words to print.")
    ] = None,
    *,
    nearest: Annotated[int, typer.Option("--nearest", "-k", min=1, metavar="N", help="How many near words.")] = 10,
    check: Annotated[bool, typer.Option("--check", help="Read all of it and compare it with its hash.")] = False,
    format: Annotated[str, typer.Option(metavar="FORMAT", help="table or json.")] = "table",  # noqa: A002
) -> None:
    """Print the size of a folder of word vectors, how they were made, and which words are near some.

    Example: postil vectors show vectors night bus
    """
    from postil.app.vectors import show_folder  # noqa: PLC0415

    emit(show_folder(folder, list(words or ()), k=nearest, format=format, check=check), format)
