"""`postil vectors`: word vectors for the measures that need them."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, Group, Option
from postil.cli.output import emit, say
from postil.data.options import InputOptions
from postil.vectors.options import ConversionOptions, ShowOptions, VectorTrainingOptions

__all__ = ["vectors"]

vectors = Group("vectors", "Train, convert, import and inspect vectors, for measures and metrics with vectors=FOLDER.")

Out = Annotated[
    str,
    Option(short="o", metavar="FOLDER", help="The folder to create; older word vectors there are replaced."),
]


@vectors.add()
def train(
    passages: Annotated[str, Argument(metavar="PASSAGES", help="Rows with a text: a table of any format, or -.")],
    *,
    out: Out,
    options: VectorTrainingOptions,
    inputs: InputOptions,
) -> None:
    """Train word vectors on texts by gensim: word2vec's skip-gram or CBOW model, with either output layer.

    Use the tokenizer that the texts to be measured will be split with, and with --bigrams their --stop as well.

    Example: postil vectors train passages.jsonl --out vectors
    """
    from postil.vectors.calls import train_on_file  # noqa: PLC0415

    train_on_file(passages, out, options, say, inputs)


@vectors.add()
def convert(
    file: Annotated[
        str,
        Argument(
            metavar="FILE", help="Vectors of word2vec, gensim, fastText (.vec) or GloVe; may be compressed with gzip."
        ),
    ],
    *,
    out: Out,
    options: ConversionOptions,
) -> None:
    """Convert a file of word vectors to a folder that opens at once, whatever its size.

    Example: postil vectors convert GoogleNews-vectors-negative300.bin.gz --out google-news
    """
    from postil.vectors.calls import convert_file  # noqa: PLC0415

    convert_file(file, out, options, say)


@vectors.add("import")
def import_(
    package: Annotated[str, Argument(metavar="PACKAGE", help="An installed package that ships them: wordllama.")],
    *,
    out: Annotated[
        str,
        Option(short="o", metavar="FOLDER", help="The folder to create; older vectors there are replaced."),
    ],
) -> None:
    """Copy the vectors of subwords that a package ships, for the metrics vector-f1 and vector-cosine.

    Example: postil vectors import wordllama --out wordllama
    """
    from postil.vectors.imported import import_package  # noqa: PLC0415

    import_package(package, out, say)


@vectors.add()
def show(
    folder: Annotated[str, Argument(metavar="FOLDER", help="A folder of word vectors.")],
    words: Annotated[list[str] | None, Argument(metavar="WORD", help="Words whose near neighbors to print.")] = None,
    *,
    options: ShowOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Print the size of a folder of word vectors, its metadata, and the near neighbors of words.

    Example: postil vectors show vectors night bus
    """
    from postil.results.views import show as printed  # noqa: PLC0415
    from postil.vectors.calls import show_folder  # noqa: PLC0415

    emit(printed(format, show_folder(folder, words or (), options)), format)
