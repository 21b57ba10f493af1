"""Document frequencies for CIDEr's idf: of the references at hand, or saved from others."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import numpy as np

from postil.data.arguments import check_arguments
from postil.data.arrays import WHOLE, Expected, open_array
from postil.data.atomic_file import AtomicFile
from postil.data.explain import load_json
from postil.errors import InvalidInput, Undefined, UsageError
from postil.kernel import count_grams, load_grams
from postil.messages import Blank, Hint, Setting
from postil.metrics.document_hash import DIGITS, DocumentHash
from postil.metrics.references import Frequencies, check_order, unknown_norms

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from postil.metrics.references import References
    from postil.text.tokenizers import Tokenizer

__all__ = ["BACKGROUND", "DocumentFrequencies", "frequencies_of"]

FORMAT: Final = 1

BACKGROUND: Final = Setting("background", Blank("FOLDER"), python="postil.DocumentFrequencies.load(FOLDER)")
"""The setting of a saved background, for messages that advise one."""


class _Config(msgspec.Struct):
    """Fields of ``config.json``."""

    items: Annotated[int, msgspec.Meta(ge=2, le=2**63 - 1)]
    order: Annotated[int, msgspec.Meta(ge=1, le=9)]
    tokenizer: str
    hash: str


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """Document frequencies of n-grams: the number of items whose references contain each.

    Numbers with one background can be compared between test sets; without one, CIDEr changes with the set. N-grams of
    fewer than two items are not kept: document frequencies 0 and 1 give the same idf.

    Args:
        items: Number of items that were counted.
        tokenizer: Signature of the tokenizer that made the words.
        words: The words of all n-grams, sorted.
        grams: n-grams of each order n = 1, 2, …: int32[G, n], indices into ``words``, rows sorted.
        df: Document frequencies of each order: int32[G], at least 2.
        name: Name in signatures; by default the hash of the content.
        documents: Hash of the references that were counted, where these are a part of their frequencies.

    >>> from postil.metrics.references import References
    >>> from postil.text.tokens import Vocabulary
    >>> tokens = Vocabulary().encode_tokens([["a", "b"], ["a", "b", "c"], ["a"]])
    >>> background = DocumentFrequencies.of(References(tokens, np.array([0, 1, 2, 3])), "space", order=2)
    >>> background.words, [df.tolist() for df in background.df]  # a in 3 items, b and "a b" in 2
    (('a', 'b'), [[3, 2], [2]])
    """

    items: int
    tokenizer: str
    words: tuple[str, ...] = field(repr=False)
    grams: tuple[NDArray[np.int32], ...] = field(repr=False)
    df: tuple[NDArray[np.int32], ...] = field(repr=False)
    name: str = field(default="", kw_only=True)
    documents: str = field(default="", kw_only=True)

    @classmethod
    def of(cls, references: References, tokenizer: str, order: int = 4) -> DocumentFrequencies:
        """Count the n-grams of references, item by item.

        Args:
            references: The references; sets with the same ``items`` index count as one item.
            tokenizer: Signature of the tokenizer that made their tokens.
            order: Length of the longest n-gram, 1 to 9.

        Raises:
            UsageError: The order is out of range.
            Undefined: There is one item only.
        """
        check_order("background", order)
        counted = frequencies_of(references, order, None).grams
        tables = [counted.table(n) for n in range(1, order + 1)]
        known = references.tokens.vocabulary.words()
        used = np.unique(tables[0][0])
        by_word = sorted(used.tolist(), key=known.__getitem__)
        place = np.zeros(len(known), dtype=np.int32)
        place[by_word] = np.arange(len(by_word), dtype=np.int32)
        grams, df = [], []
        for words, counts in tables:
            rows = place[words]
            in_order = np.lexsort(rows.T[::-1])
            grams.append(np.ascontiguousarray(rows[in_order]))
            df.append(np.ascontiguousarray(counts[in_order]))
        return cls(counted.items, tokenizer, tuple(known[i] for i in by_word), tuple(grams), tuple(df))

    def check_tokenizer(self, tokenizer: Tokenizer, name: str = "the background") -> None:
        """Refuse a tokenizer other than the one whose words were counted.

        Args:
            tokenizer: The tokenizer.
            name: Name of these document frequencies in the message.

        Raises:
            UsageError: It is another one.
        """
        if self.tokenizer != tokenizer.signature:
            problem = f"{name} was counted with the tokenizer {self.tokenizer}, not {tokenizer.signature}"
            if self.tokenizer == "words":
                problem += ", which splits texts with combining marks otherwise; count the references again"
            raise UsageError(problem)

    @property
    def order(self) -> int:
        """Length of the longest n-gram that was counted."""
        return len(self.grams)

    @property
    def signature(self) -> str:
        """Part of signatures that names them."""
        return f"{self.name or self.hash}/{self.items}"

    @cached_property
    def hash(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the content, for signatures."""
        counts = [len(df) for df in self.df]
        digest = hashlib.sha256(json.dumps([self.items, self.tokenizer, self.words, counts]).encode())
        for array in (*self.grams, *self.df):
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.hexdigest()[:DIGITS]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write a folder: ``config.json``, ``words.json`` and an array of n-grams and of frequencies for each order.

        The same content gives the same bytes. Each file is written atomically.

        Raises:
            PostilError: The operating system reports an error.
        """
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for n, arrays in enumerate(zip(self.grams, self.df, strict=True), start=1):
            for name, array in zip(("grams", "df"), arrays, strict=True):
                with AtomicFile(str(path / f"{name}-{n}.npy")) as stream:
                    np.save(stream, array, allow_pickle=False)
        # Escaped, because a word may hold a lone surrogate, which has no UTF-8 form.
        with AtomicFile(str(path / "words.json")) as stream:
            stream.write(json.dumps(self.words).encode())
        config = {
            "format": FORMAT,
            "items": self.items,
            "order": self.order,
            "tokenizer": self.tokenizer,
            "hash": self.hash,
        }
        with AtomicFile(str(path / "config.json")) as stream:
            stream.write(json.dumps(config, indent=2).encode() + b"\n")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> DocumentFrequencies:
        """Read a folder that `save` wrote.

        Raises:
            InvalidInput: The folder is missing or incomplete, of another version, or its content was changed.
        """
        check_arguments(cls.load, locals())
        path = Path(folder)
        try:
            config = load_json((path / "config.json").read_text(encoding="utf-8"))
            if config["format"] != FORMAT:
                raise InvalidInput(f"expected format {FORMAT}, got {config['format']}", where=str(path / "config.json"))
            words = tuple(msgspec.convert(load_json((path / "words.json").read_text(encoding="utf-8")), list[str]))
            said = msgspec.convert(config, _Config)
        except FileNotFoundError as error:
            missing = Path(str(error.filename)).name
            raise InvalidInput(f"no background here: {missing} is missing", where=str(path)) from error
        except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
            raise InvalidInput(f"not a readable background: {error}", where=str(path)) from error
        grams, df = [], []
        for n in range(1, said.order + 1):
            grams.append(_array(path / f"grams-{n}.npy", Expected("int32", (None, n), low=0, high=len(words) - 1)))
            df.append(_array(path / f"df-{n}.npy", Expected("int32", (len(grams[-1]),), low=2, high=said.items)))
        background = cls(said.items, said.tokenizer, words, tuple(grams), tuple(df))
        if len(set(words)) < len(words) or background.hash != said.hash:
            raise InvalidInput("the content does not fit its hash; was it copied whole?", where=str(path))
        return background


def _array(path: Path, expected: Expected) -> NDArray[np.int32]:
    return open_array(path, expected, remake="postil score --save-background", mapped=False)


def frequencies_of(references: References, order: int, background: DocumentFrequencies | None) -> Frequencies:
    """Find the frequencies that a metric needs for these references, once for all metrics.

    Raises:
        Undefined: There is one item only and no background: every idf would be 0.
        UsageError: The background is too short, or comes too late for this vocabulary.
    """
    key = (background, order)
    if key not in references.frequencies:
        if background is None:
            references.frequencies[key] = _own(references, order)
        else:
            references.frequencies[key] = _saved(references, order, background)
    return references.frequencies[key]


def _own(references: References, order: int) -> Frequencies:
    tokens = references.tokens
    grams = count_grams(tokens.ids, tokens.offsets, references.offsets, references.items, order)
    if grams.items < 2:
        raise Undefined(
            "CIDEr needs document frequencies from at least two items, got one: every idf would be 0; score more items "
            "together{saved}",
            saved=Hint(", or give a saved background: {background}", background=BACKGROUND),
        )
    counted = DocumentHash()
    counted.add(tokens, np.repeat(references.items, np.diff(references.offsets)))
    return Frequencies(grams, unknown_norms(tokens, order), f"references/{grams.items}", counted.digest())


def _saved(references: References, order: int, background: DocumentFrequencies) -> Frequencies:
    if background.order < order:
        raise UsageError(f"expected a background with n-grams up to {order}, got one up to {background.order}")
    vocabulary = references.tokens.vocabulary
    try:
        ids = vocabulary.encode_tokens([background.words]).ids
    except ValueError as error:
        raise UsageError("bind metrics with a background before the first candidates are encoded") from error
    words = [np.ascontiguousarray(ids[grams]) for grams in background.grams[:order]]
    try:
        grams = load_grams(background.items, words, list(background.df[:order]))
    except ValueError as error:
        raise InvalidInput(f"{error}; {WHOLE}", where=f"background {background.hash}") from error
    return Frequencies(grams, unknown_norms(references.tokens, order), background.signature, background.documents)
