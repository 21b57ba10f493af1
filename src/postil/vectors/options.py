"""Options of `postil vectors`, apart from what reads and trains vectors so that help does without it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from postil.data.options import SeedOptions
from postil.options import Flag, options

__all__ = ["ConversionOptions", "OutputLayer", "ShowOptions", "VectorTrainingOptions", "Word2VecModel"]

Word2VecModel: TypeAlias = Literal["skip-gram", "cbow"]
"""Each word predicts its context, or the mean of the context predicts the word."""

OutputLayer: TypeAlias = Literal["negative", "hierarchical"]
"""Negative sampling, or a softmax over the paths of a Huffman tree of the words."""


@options
class VectorTrainingOptions(SeedOptions):
    """Options of `postil vectors train`.

    Args:
        model: skip-gram: each word predicts its context; cbow: the mean of the context predicts the word.
        output: negative: negative sampling; hierarchical: hierarchical softmax.
        dimensions: Length of a vector.
        negative: Number of noise words per pair of words, by default 15; not with --output hierarchical.
        bigrams: Train a vector for each pair of adjacent words, in place of words.
        window: Maximum distance of a context word.
        epochs: Number of epochs.
        min_count: Minimum number of occurrences of a word that gets a vector.
        tokenizer: Tokenizer: space, words, characters, 13a, ptb, jieba or rjieba.
        stop: Stop word list to leave out first, such as en, or none.
        workers: Number of threads; with more than one the numbers differ a little each time.
    """

    model: Annotated[Word2VecModel, Flag(metavar="NAME", first=True)] = "skip-gram"
    output: Annotated[OutputLayer, Flag(metavar="NAME", group="Training")] = "negative"
    dimensions: Annotated[int, Flag(min=1, first=True)] = 300
    negative: Annotated[int | None, Flag(min=1, group="Training")] = None
    bigrams: Annotated[bool, Flag(first=True)] = False
    window: Annotated[int, Flag(min=1, group="Training")] = 5
    epochs: Annotated[int, Flag(min=1, first=True)] = 5
    min_count: Annotated[int, Flag(min=1, first=True)] = 1
    tokenizer: Annotated[str, Flag(metavar="NAME", first=True)] = "words"
    stop: Annotated[str, Flag(metavar="LANG", group="Training")] = "none"
    workers: Annotated[int, Flag(min=1, group="Training")] = 1


@options
class ConversionOptions:
    """Options of `postil vectors convert`.

    Args:
        form: File format: binary, text, or auto to detect it.
        bigrams: The words are pairs of adjacent words, joined with _.
        skip_bad: Leave out words that are not UTF-8, that occur a second time or whose numbers are not finite, and give
            their number. Without it they are errors.
    """

    form: Annotated[str, Flag(metavar="FORM")] = "auto"
    bigrams: bool = False
    skip_bad: bool = False


@options
class ShowOptions:
    """Options of `postil vectors show`.

    Args:
        nearest: Number of near neighbors per word.
        check: Read everything and compare it with its hash.
    """

    nearest: Annotated[int, Flag("nearest", short="k", min=1)] = 10
    check: bool = False
