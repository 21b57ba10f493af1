"""The folder that a fitted combination is kept in: written atomically, checked when it is opened.

| file | content |
|---|---|
| ``config.json`` | format, method, columns with signatures, options of the fit |
| ``weights.npy`` | float64[m + 1, 3]: mean, standard deviation and weight of each column, then 0, 1 and the intercept; of isotonic regression float64[k, 2], scores and grades |
| ``trees.json`` | in place of it for boosting: baseline, gain of each column, arrays of each tree |
| ``metadata.json`` | hash of data and of the model, seed, versions, scale, out-of-fold numbers |
"""  # noqa: E501 - a table

from __future__ import annotations

import hashlib
import io
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec
import numpy as np

from postil.combination.fit import transformed
from postil.data.arrays import WHOLE, Expected, open_array
from postil.data.atomic_file import write_folder
from postil.data.explain import load_json
from postil.errors import InvalidInput
from postil.learners.boosting import Tree, Trees
from postil.learners.linear import Linear
from postil.messages import Command, Message, Setting
from postil.meta.grade_fits import LEARNERS, CombinationMethod, Isotonic

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.meta.grade_fits import Model

__all__ = ["FILES", "ColumnConfig", "CombinationConfig", "SavedCombination", "encoded", "open_combination", "save"]

FORMAT: Final = 1
CONFIG: Final = "config.json"
WEIGHTS: Final = "weights.npy"
TREES: Final = "trees.json"
METADATA: Final = "metadata.json"
FILES: Final = frozenset({CONFIG, WEIGHTS, TREES, METADATA})
"""Names of the files of such a folder."""

REMAKE: Final = "postil combine fit"

T = TypeVar("T")


class ColumnConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column of a combination.

    Args:
        metric: Name of the metric.
        signature: Signature of its scores.
        falls: True if lower is better.
        transform: ``log1p``, or nothing.
    """

    metric: str
    signature: str
    falls: bool
    transform: str


class CombinationConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of ``config.json``.

    Args:
        format: Version of the format.
        method: Learner.
        columns: The columns, in the order of the arrays.
        penalty: Ridge penalty; None for isotonic regression.
        monotone: True if it was fitted with bounds.
    """

    format: int
    method: CombinationMethod
    columns: tuple[ColumnConfig, ...]
    penalty: float | None
    monotone: bool


class _Tree(msgspec.Struct, forbid_unknown_fields=True):
    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]


class _Trees(msgspec.Struct, forbid_unknown_fields=True):
    baseline: float
    gain: list[float]
    trees: list[_Tree]


class _Metadata(msgspec.Struct):
    format: int
    hash: str
    scale: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SavedCombination:
    """A combination of a folder.

    Args:
        config: Method and columns.
        model: The model.
        hash: 12 hexadecimal digits of both.
        scale: Lowest and highest grade, where the scale of the ratings was given.
    """

    config: CombinationConfig
    model: Model
    hash: str
    scale: tuple[float, float] | None


def encoded(config: CombinationConfig, model: Model) -> tuple[dict[str, bytes], str]:
    """Encode a combination.

    Args:
        config: Method and columns.
        model: The model.

    Returns:
        Content of the files by name, without metadata, and their hash: 12 hexadecimal digits.
    """
    files = {CONFIG: _json(msgspec.to_builtins(config))}
    if isinstance(model, Trees):
        trees = [{name: column.tolist() for name, column in tree._asdict().items()} for tree in model.trees]
        files[TREES] = _json({"baseline": model.baseline, "gain": model.gain.tolist(), "trees": trees}, indent=None)
    elif isinstance(model, Linear | Isotonic):
        files[WEIGHTS] = _npy(model.table())
    return files, _hash(files)


def save(folder: str | os.PathLike[str], files: Mapping[str, bytes], metadata: Mapping[str, object]) -> None:
    """Write the folder of a combination, in the place of an older one.

    Args:
        folder: The folder.
        files: Encoded files; see `encoded`.
        metadata: Description of the fit; format and hash are added.

    Raises:
        UsageError: The folder cannot be made or replaced.
        PostilError: The operating system reports an error.
    """
    whole = {"format": FORMAT, "hash": _hash(files), **metadata}
    write_folder(folder, {**files, METADATA: _json(whole)}, FILES)


def open_combination(folder: str | os.PathLike[str]) -> SavedCombination:
    """Open the folder of a combination.

    Args:
        folder: The folder.

    Raises:
        InvalidInput: It is missing or incomplete, of another version, or was changed.
    """
    path = Path(folder)
    if not (path / CONFIG).is_file():
        raise InvalidInput(
            Message(
                "no combination here: expected a folder with {config}, as {command} writes it",
                config=CONFIG,
                command=Command("combine fit", (), (Setting("out"),), call="postil.fit_combination(…, out=FOLDER)"),
            ),
            where=str(path),
        )
    config = _read(path / CONFIG, CombinationConfig)
    _check_config(config, str(path / CONFIG))
    name, opened = OPENED[config.method]
    metadata = _read(path / METADATA, _Metadata)
    found = _hash({each: _bytes(path / each) for each in (CONFIG, name)})
    if metadata.hash != found:
        problem = f"{name} or {CONFIG} does not fit the hash, expected {metadata.hash}, got {found}; {WHOLE}"
        raise InvalidInput(problem, where=str(path / METADATA), field="hash")
    return SavedCombination(config, opened(path / name, config.columns), found, metadata.scale)


def _check_config(config: CombinationConfig, where: str) -> None:
    single = LEARNERS[config.method].single
    if not config.columns or (single and len(config.columns) > 1):
        expected = "one column" if single else "at least one column"
        raise InvalidInput(f"expected {expected}, got {len(config.columns)}", where=where, field="columns")
    for column in config.columns:
        if column.transform != transformed(column.metric):
            expected = f'expected "{transformed(column.metric)}" for {column.metric}, got "{column.transform}"'
            raise InvalidInput(expected, where=where, field="transform")


def _ridge(file: Path, columns: Sequence[ColumnConfig]) -> Linear:
    model = Linear.of(_finite(file, (len(columns) + 1, 3)))
    if (model.scale < 0).any() or model.weights[model.scale == 0].any():
        problem = "expected standard deviations from 0 up, and weight 0 where one is 0"
        raise InvalidInput(f"{problem}; {WHOLE}", where=str(file))
    return model


def _isotonic(file: Path, columns: Sequence[ColumnConfig]) -> Isotonic:
    model = Isotonic.of(_finite(file, (None, 2)), falls=columns[0].falls)
    if not len(model.known) or (np.diff(model.known) <= 0).any() or (np.diff(model.levels) < 0).any():
        raise InvalidInput(f"expected scores that rise and grades that do not fall; {WHOLE}", where=str(file))
    return model


def _trees(file: Path, columns: Sequence[ColumnConfig]) -> Trees:
    found, trees, m = _read(file, _Trees), [], len(columns)
    for number, nodes in enumerate(found.trees):
        if (tree := _tree(nodes, m)) is None:
            problem = f"expected nodes of finite numbers, columns below {m} and nodes after their own; {WHOLE}"
            raise InvalidInput(problem, where=str(file), field=f"trees[{number}]")
        trees.append(tree)
    if len(found.gain) != m or not all(map(math.isfinite, (found.baseline, *found.gain))):
        problem = f"expected a finite baseline and {m} finite gains, got {len(found.gain)}; {WHOLE}"
        raise InvalidInput(problem, where=str(file))
    return Trees(found.baseline, tuple(trees), np.array(found.gain))


def _tree(nodes: _Tree, m: int) -> Tree | None:
    """The tree of nodes; None if they are none."""
    columns = msgspec.structs.astuple(nodes)
    same = len(set(map(len, columns))) == 1
    whole = all(-1 <= each < 2**31 for each in (*nodes.feature, *nodes.left, *nodes.right))
    if not (same and whole and all(map(math.isfinite, (*nodes.threshold, *nodes.value)))):
        return None
    tree = Tree.of(*columns)
    return tree if tree.sound(m) else None


OPENED: Final[Mapping[CombinationMethod, tuple[str, Callable[[Path, Sequence[ColumnConfig]], Model]]]] = {
    "ridge": (WEIGHTS, _ridge),
    "isotonic": (WEIGHTS, _isotonic),
    "boosting": (TREES, _trees),
}
"""File of the model of each learner, and the function that opens it."""


def _finite(file: Path, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """A float64 array of finite numbers."""
    expected = Expected("float64", shape, low=-sys.float_info.max)
    array: NDArray[np.float64] = open_array(file, expected, remake=REMAKE, mapped=False)
    return array


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise InvalidInput(f"missing; {WHOLE}", where=str(file)) from error
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}", where=str(file)) from error


def _read(file: Path, kind: type[T]) -> T:
    """Decode the JSON of a file."""
    data = _bytes(file)
    try:
        value: Any = load_json(data)
        if isinstance(value, dict) and value.get("format", FORMAT) != FORMAT:
            raise InvalidInput(f"expected format {FORMAT}, got {value['format']}", where=str(file))
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise InvalidInput(f"cannot be read: {error}; {WHOLE}", where=str(file)) from error


def _json(value: object, indent: Literal[1] | None = 1) -> bytes:
    # Escaped, because a name may hold a lone surrogate, which has no UTF-8 form.
    return json.dumps(value, indent=indent, allow_nan=False).encode() + b"\n"


def _npy(array: NDArray[np.float64]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array.astype("<f8"), version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _hash(files: Mapping[str, bytes]) -> str:
    """12 hexadecimal digits of the content of files, by name."""
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    return hashlib.sha256(_json(digests)).hexdigest()[:12]
