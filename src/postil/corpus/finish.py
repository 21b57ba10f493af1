"""The last pass of a build: prepared tables become the files of each split, in the words of the whole corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.corpus.prepare import open_prepared, words_in
from postil.corpus.split import SPLITS, draw_key
from postil.records.parquet import arrow, schema_of
from postil.records.rows import Article

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.corpus.options import BuildOptions

__all__ = ["FIELDS", "Count", "Counted", "Finish", "Finished", "Part"]

FIELDS: Final = ("title", "content", "comments")
"""What of an article has tokens."""


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A prepared table, and what was decided about it.

    Args:
        data: The table.
        codes: int8[articles], the split of each article, or a number below 0.
        ids: int32[words], the corpus's id of each of the block's words.
    """

    data: bytes
    codes: NDArray[np.int8]
    ids: NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """The words of a block that stand in any split.

    Args:
        words: The words.
        places: int64[words], their places among all words of the block.
        counts: int64[words], how often each comes in train.
    """

    words: list[str]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]


class Count:
    """Counts the words of a prepared table; it can be sent to another process."""

    def __call__(self, part: Part) -> Counted:
        """Count words.

        Args:
            part: The table; its `ids` are not looked at.
        """
        table = open_prepared(part.data)
        words = words_in(table)
        train, other = (
            np.bincount(np.concatenate([ids for ids, _ in _tokens(rows).values()]), minlength=len(words))
            for rows in (_chosen(table, part.codes == 0), _chosen(table, part.codes > 0))
        )
        places = (train + other).nonzero()[0]
        return Counted([words[place] for place in places.tolist()], places, train[places])


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
    """Finishes groups of prepared tables; it can be sent to another process.

    Args:
        options: What the corpus is built by.
        draw: Whether the references of test articles are drawn from their comments.
    """

    options: BuildOptions
    draw: bool

    def __call__(self, parts: Sequence[Part]) -> dict[str, Finished]:
        """Make a shard of each split that has articles in the tables.

        Args:
            parts: The tables.
        """
        finished = {}
        for code, split in enumerate(SPLITS):
            tables = [(_chosen(open_prepared(part.data), part.codes == code), part.ids) for part in parts]
            if split == "test" and self.draw:
                tables = [(self._drawn(table), ids) for table, ids in tables]
            if any(table.num_rows for table, _ in tables):
                finished[split] = _finished(tables)
        return finished

    def _drawn(self, table: Any) -> Any:
        """The table with the comments that were not drawn as ``held_out``."""
        pa = arrow()
        flat, starts = _comments(table)
        lengths = flat.field("tokens").value_lengths().to_numpy(zero_copy_only=False)
        names = flat.field("id").to_pylist()
        drawn = np.zeros(len(flat), dtype=bool)
        for row, article in enumerate(table["id"].to_pylist()):
            some = np.arange(starts[row], starts[row + 1])
            if self.options.draw_from == "long":
                some = some[lengths[some] >= self.options.test_words]
            keys = [draw_key(self.options.seed, article, names[place]) for place in some.tolist()]
            drawn[some[np.argsort(np.array(keys, dtype=np.uint64), kind="stable")[: self.options.draw]]] = True
        owners = np.repeat(np.arange(table.num_rows), np.diff(starts))
        for column, which in (("comments", drawn), ("held_out", ~drawn)):
            sizes = np.bincount(owners[which], minlength=table.num_rows)
            offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
            lists = pa.ListArray.from_arrays(offsets, flat.take(pa.array(which.nonzero()[0])))
            place = table.schema.get_field_index(column)
            table = table.append_column(column, lists) if place < 0 else table.set_column(place, column, lists)
        return table


def _finished(tables: Sequence[tuple[Any, NDArray[np.int32]]]) -> Finished:
    pa = arrow()
    schema = schema_of(Article)
    out = pa.BufferOutputStream()
    with pa.parquet.ParquetWriter(out, schema, compression="zstd") as file:
        for table, _ in tables:
            if table.num_rows:
                file.write_table(_rows(table, schema))
    tokens = [(_tokens(table), ids) for table, ids in tables]
    return Finished(
        out.getvalue().to_pybytes(),
        {field: np.concatenate([ids[found[field][0]] for found, ids in tokens]) for field in FIELDS},
        {field: np.concatenate([found[field][1] for found, _ in tokens]) for field in FIELDS},
        np.concatenate([np.diff(_comments(table)[1]) for table, _ in tables]),
    )


def _rows(table: Any, schema: Any) -> Any:
    """The articles as `postil.records.rows.Article` has them."""
    pa = arrow()
    columns = []
    for field in schema:
        if field.name not in {"comments", "held_out"}:
            columns.append(table[field.name])
        elif field.name in table.column_names:
            flat, starts = _comments(table, field.name)
            kinds = list(field.type.value_type)
            struct = pa.StructArray.from_arrays([flat.field(kind.name) for kind in kinds], fields=kinds)
            columns.append(pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), struct))
        else:
            columns.append(pa.array([[]] * table.num_rows, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _chosen(table: Any, which: NDArray[np.bool_]) -> Any:
    return table.filter(arrow().array(which)).combine_chunks()


def _comments(table: Any, column: str = "comments") -> tuple[Any, NDArray[np.int64]]:
    """All comments behind one another, and where each article's begin, int64[articles + 1]."""
    pa = arrow()
    lists = table[column]
    one = lists.chunk(0) if lists.num_chunks else pa.array([], lists.type)
    starts = one.offsets.to_numpy().astype(np.int64)
    return one.flatten(), starts - starts[0]


def _tokens(table: Any) -> dict[str, tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """The ids of each field, and the length of each of its texts."""
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
