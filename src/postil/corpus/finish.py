"""The last passes of a build: count words, then write the shards of each split with corpus-wide token ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.blocks import annotator_id, open_block_table, words_in
from postil.corpus.splits import EXCLUDED, SPLITS, TEST
from postil.data.fields import draw_key
from postil.data.parquet import Arrow, arrow, schema_of
from postil.data.rows import Article

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.options import BuildOptions

__all__ = ["FIELDS", "Count", "Counted", "Finish", "Finished", "Part"]

FIELDS: Final = ("title", "content", "comments")
"""Fields with tokens."""


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """The table of a block with its split assignment.

    Args:
        data: The table.
        codes: int8[articles], the split of each article, or a number below 0.
        ids: int32[words], the corpus-wide token id of each of the block's words.
    """

    data: bytes
    codes: NDArray[np.int8]
    ids: NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """The words and the annotators of a block that are in any split.

    Args:
        words: The words.
        places: int64[words], their block-local token ids.
        counts: int64[words], their frequencies in train.
        annotators: By annotator, as the table names them, the smallest sort key of a comment that they rated, and the
            place of their rating among those of the comment.
        numbered: Largest number of ratings of a comment, if the annotators of every comment are named 1, 2 and so on in
            this order; else None.
    """

    words: list[str]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    annotators: dict[str, tuple[int, int]]
    numbered: int | None


@dataclass(frozen=True)
class Count:
    """Counter of what is in the splits of block tables; it can be sent to another process.

    Args:
        options: Options of the build.
    """

    options: BuildOptions

    def __call__(self, part: Part) -> Counted:
        """Count words, and list annotators.

        Args:
            part: The table; its `ids` are ignored.
        """
        table = open_block_table(part.data)
        words = words_in(table)
        of_comment = np.repeat(part.codes, np.diff(_comments(table)[1]))
        of_comment[(of_comment == TEST) & _long(table)] = EXCLUDED
        train, used = np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=bool)
        for field, (ids, lengths) in _tokens(table).items():
            of_token = np.repeat(of_comment if field == "comments" else part.codes, lengths)
            train += np.bincount(ids[of_token == 0], minlength=len(words))
            used[ids[of_token >= 0]] = True
        places = used.nonzero()[0]
        first, numbered = self._annotators(table, of_comment >= 0)
        return Counted([words[place] for place in places.tolist()], places, train[places], first, numbered)

    def _annotators(self, table: Arrow, used: NDArray[np.bool_]) -> tuple[dict[str, tuple[int, int]], int | None]:
        """The annotators of the used comments as `Counted` has them."""
        comments, starts = _comments(table)
        rated = (used & (comments.field("ratings").value_lengths().to_numpy(zero_copy_only=False) > 0)).nonzero()[0]
        some = comments.take(arrow().array(rated))
        articles, owners = table["id"].to_pylist(), np.searchsorted(starts, rated, "right") - 1
        first: dict[str, tuple[int, int]] = {}
        positions: list[str] = []
        numbered = True
        for owner, name, ratings in zip(
            owners.tolist(), some.field("id").to_pylist(), some.field("ratings").to_pylist(), strict=True
        ):
            key = draw_key(self.options.seed, articles[owner], name)
            names = [rating["annotator"] for rating in ratings]
            positions += (annotator_id(str(n), self.options) for n in range(len(positions) + 1, len(names) + 1))
            numbered = numbered and names == positions[: len(names)]
            for place, annotator in enumerate(names):
                first[annotator] = min(first.get(annotator, (key, place)), (key, place))
        return first, len(positions) if numbered else None


@dataclass(frozen=True, eq=False, slots=True)
class Finished:
    """A shard of a split.

    Args:
        parquet: Its articles.
        ids: int32, by field, the tokens of its articles.
        lengths: int64, by field, the number of tokens of each text.
        sizes: int64[articles], the number of comments of each article.
    """

    parquet: bytes
    ids: Mapping[str, NDArray[np.int32]]
    lengths: Mapping[str, NDArray[np.int64]]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class Finish:
    """Writer of shards from groups of block tables; it can be sent to another process.

    Args:
        options: Options of the build.
        sample: True if references of test articles are sampled from their comments.
        dated: True if an article or a comment of the corpus has a date, or a comment a parent; without any there are no
            columns for them.
        annotators: Names of annotators in the corpus by their names in block tables; None to leave them.
    """

    options: BuildOptions
    sample: bool
    dated: bool = False
    annotators: Mapping[str, str] | None = None

    def __call__(self, parts: Sequence[Part]) -> dict[str, Finished]:
        """Make a shard of each split that has articles in the tables.

        Args:
            parts: The tables.
        """
        shards: dict[str, _Shard] = {}
        schema = schema_of(Article, dates=self.dated)
        for part in parts:  # one after the other, so that memory holds one
            table = open_block_table(part.data)
            for code, split in enumerate(SPLITS):
                chosen = table.filter(arrow().array(part.codes == code)).combine_chunks()
                if code == TEST:
                    chosen = _with_comments(chosen, "comments", chosen, ~_long(chosen))
                if code == TEST and self.sample:
                    chosen = self._sample_references(chosen)
                if chosen.num_rows:
                    shards.setdefault(split, _Shard(schema, self.annotators)).add(chosen, part.ids)
        return {split: shards[split].finished() for split in SPLITS if split in shards}

    def _sample_references(self, table: Arrow) -> Arrow:
        """The table with the comments that were not sampled as ``held_out``."""
        flat, starts = _comments(table)
        lengths = flat.field("tokens").value_lengths().to_numpy(zero_copy_only=False)
        names = flat.field("id").to_pylist()
        sampled = np.zeros(len(flat), dtype=bool)
        for row, article in enumerate(table["id"].to_pylist()):
            some = np.arange(starts[row], starts[row + 1])
            if self.options.sample_references_from == "long":
                some = some[lengths[some] >= self.options.test_min_words]
            keys = [draw_key(self.options.seed, article, names[place]) for place in some.tolist()]
            order = np.argsort(np.array(keys, dtype=np.uint64), kind="stable")
            sampled[some[order[: self.options.references_per_article]]] = True
        held_out = _with_comments(table, "held_out", table, ~sampled)
        return _with_comments(held_out, "comments", table, sampled)


def _long(table: Arrow) -> NDArray[np.bool_]:
    """True for each comment that a test set drops."""
    long: NDArray[np.bool_] = _comments(table)[0].field("long").to_numpy(zero_copy_only=False)
    return long


def _with_comments(table: Arrow, column: str, source: Arrow, which: NDArray[np.bool_]) -> Arrow:
    """The table with some of the comments of `source` in a column."""
    pa = arrow()
    flat, starts = _comments(source)
    owners = np.repeat(np.arange(source.num_rows), np.diff(starts))
    sizes = np.bincount(owners[which], minlength=source.num_rows)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, flat.take(pa.array(which.nonzero()[0])))
    place = table.schema.get_field_index(column)
    return table.append_column(column, lists) if place < 0 else table.set_column(place, column, lists)


class _Shard:
    """A shard of a split that is being written."""

    def __init__(self, schema: Arrow, annotators: Mapping[str, str] | None) -> None:
        pa = arrow()
        self._schema, self._annotators = schema, annotators
        self._out = pa.BufferOutputStream()
        self._file = pa.parquet.ParquetWriter(self._out, self._schema, compression="zstd")
        self._ids: dict[str, list[NDArray[np.int32]]] = {field: [] for field in FIELDS}
        self._lengths: dict[str, list[NDArray[np.int64]]] = {field: [] for field in FIELDS}
        self._sizes: list[NDArray[np.int64]] = []

    def add(self, table: Arrow, ids: NDArray[np.int32]) -> None:
        """Add articles; `ids` are the corpus-wide token ids of the block's words."""
        self._file.write_table(_rows(table, self._schema, self._annotators))
        self._sizes.append(np.diff(_comments(table)[1]))
        for field, (words, lengths) in _tokens(table).items():
            self._ids[field].append(ids[words])
            self._lengths[field].append(lengths)

    def finished(self) -> Finished:
        """The shard."""
        self._file.close()
        return Finished(
            self._out.getvalue().to_pybytes(),
            {field: np.concatenate(several) for field, several in self._ids.items()},
            {field: np.concatenate(several) for field, several in self._lengths.items()},
            np.concatenate(self._sizes),
        )


def _rows(table: Arrow, schema: Arrow, annotators: Mapping[str, str] | None) -> Arrow:
    """The articles as `postil.data.rows.Article` has them, with other names of annotators."""
    pa = arrow()
    columns = []
    for field in schema:
        if field.name not in {"comments", "held_out"}:
            columns.append(table[field.name])
        elif field.name in table.column_names:
            flat, starts = _comments(table, field.name)
            kinds = list(field.type.value_type)
            parts = {kind.name: flat.field(kind.name) for kind in kinds}
            if annotators is not None:
                parts["ratings"] = _renamed(parts["ratings"], annotators)
            struct = pa.StructArray.from_arrays(list(parts.values()), fields=kinds)
            columns.append(pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), struct))
        else:
            columns.append(pa.array([[]] * table.num_rows, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _renamed(ratings: Arrow, annotators: Mapping[str, str]) -> Arrow:
    """Lists of ratings with other names of annotators."""
    pa = arrow()
    flat, kinds = ratings.flatten(), list(ratings.type.value_type)
    names = pa.array([annotators[name] for name in flat.field("annotator").to_pylist()], pa.string())
    fields = [names if kind.name == "annotator" else flat.field(kind.name) for kind in kinds]
    offsets = np.concatenate([[0], np.cumsum(ratings.value_lengths().to_numpy(zero_copy_only=False))])
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)), pa.StructArray.from_arrays(fields, fields=kinds)
    )


def _comments(table: Arrow, column: str = "comments") -> tuple[Arrow, NDArray[np.int64]]:
    """All comments, concatenated, and the offsets of each article's, int64[articles + 1]."""
    pa = arrow()
    lists = table[column]
    one = lists.chunk(0) if lists.num_chunks else pa.array([], lists.type)
    starts = one.offsets.to_numpy().astype(np.int64)
    return one.flatten(), starts - starts[0]


def _tokens(table: Arrow) -> dict[str, tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Token ids of each field, and the length of each of its texts."""
    columns = {
        "title": table["title_tokens"],
        "content": table["content_tokens"],
        "comments": _comments(table)[0].field("tokens"),
    }
    found = {}
    for field, column in columns.items():
        one = column.combine_chunks() if hasattr(column, "chunks") else column
        lengths = one.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        found[field] = one.flatten().to_numpy(zero_copy_only=False).astype(np.int32), lengths
    return found
