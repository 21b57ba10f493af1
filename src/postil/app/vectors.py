"""The journeys of `postil vectors`: train on texts, convert a file, look into a folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.app.progress import steps
from postil.errors import InvalidInput, UnknownName
from postil.escaping import one_line
from postil.metrics.passage_collection import Preprocessing
from postil.records.atomic_file import check_apart
from postil.records.results import SCHEMA, to_json
from postil.records.row_files import read
from postil.records.rows import Row
from postil.text.han import HanTexts
from postil.text.stop_words import without_stop_words
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.text.vector_files import Word2VecFile
from postil.text.vector_store import VectorsWriter
from postil.text.vectors import Vectors
from postil.text.word2vec_training import SEED, train
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.app.progress import Say

__all__ = ["FORMATS", "TrainOptions", "convert_file", "show_folder", "train_on_file"]

CHUNK: Final = 8192
FORMATS: Final = ("table", "json")


class _Text(Row, frozen=True):
    """Any row with a text: a passage, a candidate, a reference."""

    text: str


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How to train; see `postil.text.word2vec_training.train`."""

    dimensions: int = 300
    negative: int = 15
    bigrams: bool = False
    window: int = 5
    epochs: int = 5
    min_count: int = 1
    seed: int = SEED
    workers: int = 1


def train_on_file(path: str, out: str, options: TrainOptions, tokenizer: str, say: Say, *, stop: str = "none") -> None:
    """Train word vectors on the texts of a file and keep them in a folder.

    Args:
        path: Rows with a text, such as passages; ``-`` for standard input.
        out: The folder to make.
        options: How to train.
        tokenizer: A name in `postil.text.TOKENIZERS`.
        say: Takes remarks for people.
        stop: A name in `postil.text.STOP_LISTS`, whose words are left out before anything else, or ``none``.

    Raises:
        MissingExtra, UnknownName, UsageError: gensim is not installed, there is no such tokenizer or stop list, a
            parameter is out of range, or the folder cannot be made.
        InvalidInput: Something in the file is wrong; says where. Or no word occurs often enough.
    """
    VectorsWriter.check_target(out)
    check_apart(out, [path])
    made = Preprocessing(tokenizer=tokenizer, stop=stop).word_facts
    with steps(options.epochs + 3) as begin:
        begin("reading")
        every, remark = _tokens(path, tokenizer)
        tokens = without_stop_words(every, stop)
        try:
            vectors = train(_Texts(tokens), **asdict(options), begin=begin)
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=path) from None
        begin("writing")
        vectors.save(out, made)
    if remark:
        say(remark)
    if options.workers > 1:
        say("trained by several workers: the next run will give slightly other numbers; --workers 1 repeats them")
    say(_written(out, len(vectors), vectors.dimensions))


def convert_file(path: str, out: str, *, form: str, bigrams: bool, skip_bad: bool, say: Say) -> None:
    """Turn a file of word vectors into a folder that opens at once, in bounded memory.

    Args:
        path: A file of word2vec, gensim, fastText (``.vec``) or GloVe, plain or compressed with gzip.
        out: The folder to make.
        form: A name in `postil.text.vector_files.FORMS`.
        bigrams: The words are pairs of adjacent words, joined with ``_``.
        skip_bad: Leave out words that are not UTF-8, come a second time or have numbers that are not finite.
        say: Takes remarks for people.

    Raises:
        UnknownName, UsageError: There is no such form, or the folder cannot be made.
        InvalidInput: The file is not what it should be; says where.
    """
    VectorsWriter.check_target(out)
    check_apart(out, [path])
    with (
        Word2VecFile(path, form) as file,
        VectorsWriter(out, file.dimensions, skip_bad=skip_bad) as writer,
        steps(100) as begin,
    ):
        shown = 0
        for words, vectors in file.batches():
            try:
                writer.add(words, vectors)
            except InvalidInput as error:
                raise file.error((error.line or 1) - 1, error.problem) from None
            while shown < int(100 * file.share):
                begin(f"{writer.words:,} words")
                shown += 1
        made = writer.commit(
            {
                "spec": f"word2vec({file.form})",
                "bigrams": bigrams,
                "file": Path(path).name,
                "data": f"sha256:{file.sha256}",
                "versions": {"postil": VERSION},
            }
        )
    for kind, count in made.get("left_out", {}).items():
        say(f"left out: {count:,} words ({kind})")
    say(_written(out, writer.words, writer.dimensions))


def show_folder(folder: str, words: list[str], *, k: int, format: str, check: bool) -> str:  # noqa: A002
    """What a folder of word vectors holds, and which words are near some.

    Args:
        folder: The folder.
        words: The words to look around.
        k: How many near words to name.
        format: ``table`` or ``json``.
        check: Read everything and compare it with its hash.

    Raises:
        UnknownName, UsageError: There is no such format, or a word has no vector.
        InvalidInput: The folder does not hold word vectors, or its content was changed.
    """
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    vectors = Vectors.open(folder)
    if check:
        try:
            vectors.check()
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=folder) from None
    nearest = dict(zip(words, vectors.nearest(words, k), strict=True))
    if format == "json":
        near = [
            {"word": word, "near": other, "cosine": cosine} for word, some in nearest.items() for other, cosine in some
        ]
        head = {
            "schema": SCHEMA,
            "words": len(vectors),
            "dimensions": vectors.dimensions,
            "signature": vectors.signature,
        }
        return to_json({**head, "made": dict(vectors.metadata), "nearest": near})
    unit = "bigrams" if vectors.bigrams else "words"
    lines = [f"{len(vectors):,} {unit}, {vectors.dimensions:,} dimensions, {vectors.array.nbytes / 1e6:,.1f} MB"]
    lines += [f"  {name}: {_plain(value)}" for name, value in vectors.metadata.items()]
    lines += ["first: " + " ".join(islice(vectors.words, k))]
    for word, some in nearest.items():
        lines += ["", f"near {word}", *(f"  {cosine:7.4f}  {other}" for other, cosine in some)]
    return "".join(one_line(line).rstrip() + "\n" for line in lines)


class _Texts:
    """Encoded texts as lists of words, as often as they are asked for."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def __iter__(self) -> Iterator[list[str]]:
        known = self._tokens.vocabulary.words()
        for begin, end in pairwise(self._tokens.offsets.tolist()):
            yield [known[i] for i in self._tokens.ids[begin:end].tolist()]


def _tokens(path: str, tokenizer: str) -> tuple[Tokens, str]:
    """The texts of a file as numbers, which are far smaller than words, and what to know of those in Han characters."""
    cut = named_tokenizer(tokenizer)
    vocabulary = Vocabulary()
    lines = read(path, _Text)
    ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    han = HanTexts(cut, "texts")
    while texts := [row.text for row in islice(lines, CHUNK)]:
        part = vocabulary.encode(texts, cut, allow_han=True)
        han.see(texts)
        ids.append(part.ids)
        lengths.append(part.lengths)
    han.check(lambda place, problem: lines.places.error(place, "text", problem))
    return Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)), vocabulary), han.remark


def _written(out: str, words: int, dimensions: int) -> str:
    return f"written: {out}: {words:,} words, {dimensions:,} dimensions"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
