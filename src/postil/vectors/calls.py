"""`postil vectors`: train on texts, convert a file, describe a folder."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.artifacts import check_hash, read_object
from postil.data.atomic_file import check_apart, check_folder
from postil.data.explain import counted
from postil.data.options import InputOptions
from postil.data.progress import OnMessage, steps
from postil.data.row_files import read
from postil.data.rows import Row
from postil.encoders.static import SubwordEncoder, open_static
from postil.errors import InvalidInput
from postil.messages import Message, Setting
from postil.text.han import HanTexts, all_remarks
from postil.text.stop_words import stop_words_signature, without_stop_words
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.text.vectors import FILES, METADATA, WORDS, Vectors, VectorsWriter
from postil.vectors.imported import Word2VecFile
from postil.vectors.result import NearWord, VectorsResult
from postil.vectors.training import WordLists, train
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.data.row_locations import LocatedRows
    from postil.vectors.options import ConversionOptions, ShowOptions, VectorTrainingOptions

__all__ = [
    "convert_file",
    "show_folder",
    "train_on_file",
]

CHUNK: Final = 8192


class _Text(Row, frozen=True):
    """Any row with a text: a passage, a candidate, a reference."""

    text: str


def train_on_file(
    path: str, out: str, options: VectorTrainingOptions, on_message: OnMessage, inputs: InputOptions | None = None
) -> None:
    """Train word vectors on the texts of a file and save them to a folder.

    Args:
        path: Rows with a text, such as passages; ``-`` for standard input.
        out: The folder to create; older word vectors there are replaced.
        options: Training options, tokenizer and stop words.
        on_message: Callback for status messages.
        inputs: Options of reading the file.

    Raises:
        MissingExtra, UnknownName, UsageError: gensim is not installed, there is no such tokenizer or stop list, a
            parameter is out of range, or the folder cannot be created.
        InvalidInput: The file is invalid, or no word occurs often enough.
    """
    check_folder(out, FILES)
    check_apart(out, [path])
    given = (inputs or InputOptions()).readings({"texts": _Text}, on_message)
    metadata = {
        "tokenizer": named_tokenizer(options.tokenizer).signature,
        "stop": "none" if options.stop == "none" else stop_words_signature(options.stop),
    }
    with steps(options.epochs + 3) as begin:
        begin("reading")
        every, remark = _tokens(read(path, _Text, given["texts"]), options.tokenizer)
        tokens = without_stop_words(every, options.stop)
        try:
            vectors = train(
                WordLists(tokens.vocabulary.words(), [tokens]),
                model=options.model,
                output=options.output,
                dimensions=options.dimensions,
                negative=options.negative,
                bigrams=options.bigrams,
                window=options.window,
                epochs=options.epochs,
                min_count=options.min_count,
                seed=options.seed,
                workers=options.workers,
                begin=begin,
            )
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=path) from None
        begin("writing")
        vectors.save(out, metadata)
    if remark:
        on_message(remark)
    if options.workers > 1:
        told = "trained by several workers: the next run will give slightly other numbers"
        on_message(Message("{told}; {workers} repeats them", told=told, workers=Setting("workers", 1)))
    on_message(_written(out, len(vectors), vectors.dimensions))


def convert_file(path: str, out: str, options: ConversionOptions, on_message: OnMessage) -> None:
    """Convert a file of word vectors to a folder that opens at once, in bounded memory.

    Args:
        path: A file of word2vec, gensim, fastText (``.vec``) or GloVe, plain or compressed with gzip.
        out: The folder to create; older word vectors there are replaced.
        options: File format, kind of words, and what to do with invalid ones.
        on_message: Callback for status messages.

    Raises:
        UnknownName, UsageError: There is no such form, or the folder cannot be created.
        InvalidInput: The file is invalid.
    """
    check_folder(out, FILES)
    check_apart(out, [path])
    with (
        Word2VecFile(path, options.form) as file,
        VectorsWriter(out, file.dimensions, skip_bad=options.skip_bad) as writer,
        steps(100) as begin,
    ):
        shown = 0
        for words, vectors in file.batches():
            try:
                writer.add(words, vectors)
            except InvalidInput as error:
                raise file.error((error.line or 1) - 1, error.problem) from None
            while shown < int(100 * file.share):
                begin(f"{writer.count:,} words")
                shown += 1
        writer.commit(
            {
                "spec": f"word2vec({file.form})",
                "bigrams": options.bigrams,
                "file": Path(path).name,
                "data": f"sha256:{file.sha256}",
                "versions": {"postil": VERSION},
            }
        )
    for kind, count in writer.left_out.items():
        on_message(f"left out: {counted(count, 'word')} ({kind})")
    on_message(_written(out, writer.count, writer.dimensions))


def show_folder(folder: str, words: Sequence[str], options: ShowOptions) -> VectorsResult:
    """Describe a folder of word vectors, and find the near neighbors of some words.

    Args:
        folder: The folder.
        words: The words.
        options: Number of neighbors, and whether to check the content.

    Raises:
        UsageError: A word has no vector.
        InvalidInput: The folder does not hold word vectors, or its content was changed.
    """
    vectors = _opened(folder, check=options.check)
    nearest = dict(zip(words, vectors.nearest(words, options.nearest), strict=True))
    return VectorsResult(
        words=len(vectors),
        dimensions=vectors.dimensions,
        signature=vectors.signature,
        made=dict(vectors.metadata),
        nearest=tuple(
            NearWord(word=word, near=other, cosine=cosine) for word, some in nearest.items() for other, cosine in some
        ),
        first=tuple(islice(vectors.words, options.nearest)),
    )


def _opened(folder: str, *, check: bool) -> Vectors:
    """Vectors of words, or of subwords as words."""
    encoder = open_static(folder) if Path(folder).is_dir() and not (Path(folder) / WORDS).exists() else None
    if not isinstance(encoder, SubwordEncoder):
        vectors = Vectors.open(folder)
        if check:
            try:
                vectors.check()
            except InvalidInput as error:
                raise InvalidInput(error.problem, where=folder) from None
        return vectors
    metadata = Path(folder) / METADATA
    made = read_object(metadata) if metadata.is_file() else {}
    if check:
        check_hash(str(metadata), made.get("hash", encoder.hash), encoder.hash)
    tokens = map(str, map(encoder.tokenizer.id_to_token, range(len(encoder.vectors))))
    return Vectors(tuple(tokens), encoder.vectors, {**made, "hash": encoder.hash})


def _tokens(lines: LocatedRows[_Text], tokenizer: str) -> tuple[Tokens, str]:
    """Token ids of the texts of a file, far smaller than the words, and a note on those in Han characters."""
    cut = named_tokenizer(tokenizer)
    vocabulary = Vocabulary()
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    han = HanTexts(cut, "texts")
    while texts := [row.text for row in islice(lines, CHUNK)]:
        part = vocabulary.encode(texts, cut, allow_han=True)
        han.see(texts)
        ids.append(part.ids)
        lengths.append(part.lengths)
    han.check(lambda place, problem: lines.places.error(place, "text", problem))
    return Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)), vocabulary), "; ".join(all_remarks(han))


def _written(out: str, words: int, dimensions: int) -> str:
    return f"written: {out}: {counted(words, 'word')}, {counted(dimensions, 'dimension')}"
