"""The folder that a model of interest is kept in.

| file | content |
|---|---|
| ``weights.csv`` | ``kind``, ``unit``, ``weight``: the features, then words and pairs, the largest weight first |
| ``model.json`` | format, options and data of the training, the meaning of the features, the evaluation |

The model is the table: a model with another table has another name. The package has the table of one model,
``shipped.csv``, which stands for none that is named.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.atomic_file import write_folder
from postil.data.explain import load_json, shown
from postil.errors import InvalidInput, UnknownName
from postil.interest.model.features import FEATURES
from postil.interest.model.model import UNTRAINED, InterestModel

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

__all__ = ["FILES", "SHIPPED", "chosen_model", "named", "open_model", "save_model", "shipped_model"]

FORMAT: Final = 1
WEIGHTS: Final = "weights.csv"
ABOUT: Final = "model.json"
SHIPPED: Final = "shipped.csv"
"""Name of the table of weights that the package has."""
FILES: Final = frozenset({WEIGHTS, ABOUT})
"""Names of the files of such a folder."""
KIND: Final = "interest"
COLUMNS: Final = ["kind", "unit", "weight"]
UNITS: Final = {"word": 1, "pair": 2}
"""Number of words of a unit by its kind."""
DIGITS: Final = 12
"""Number of hexadecimal digits of a model's name."""
REMAKE: Final = "postil train interesting makes one"


def named(features: Mapping[str, float], words: Mapping[str, float]) -> InterestModel:
    """A model whose name is the hash of its table.

    Args:
        features: Weight of each feature of `FEATURES`.
        words: Weights of words and pairs.
    """
    table = _table(features, words)
    return InterestModel(dict(features), dict(words), hashlib.sha256(table).hexdigest()[:DIGITS])


def save_model(folder: str | os.PathLike[str], model: InterestModel, about: Mapping[str, object]) -> None:
    """Write a model, in the place of an older one.

    Args:
        folder: The folder to create or replace.
        model: The model.
        about: Description of the training.

    Raises:
        UsageError: The folder cannot be made, or holds other files.
        PostilError: The operating system reports an error.
    """
    description = {"format": FORMAT, "kind": KIND, "weights": model.name, "features": dict(FEATURES), **about}
    files = {
        WEIGHTS: _table(model.features, model.words),
        ABOUT: (json.dumps(description, indent=2, ensure_ascii=False) + "\n").encode(),
    }
    write_folder(folder, files, FILES)


def _table(features: Mapping[str, float], words: Mapping[str, float]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(("feature", name, f"{features[name]:.6f}") for name in FEATURES if name in features)
    kinds = {size: kind for kind, size in UNITS.items()}
    for unit, weight in sorted(words.items(), key=lambda each: (-each[1], each[0])):
        writer.writerow((kinds[unit.count(" ") + 1], unit, f"{weight:.6f}"))
    return stream.getvalue().encode()


def chosen_model(model: str | None) -> InterestModel:
    """The model that a user names.

    Args:
        model: A folder that ``postil train interesting`` made; ``untrained``; or None for the model of the package.

    Raises:
        InvalidInput: There is no such model, or it is damaged; says where.
    """
    if model is None:
        return shipped_model()
    return UNTRAINED if model == UNTRAINED.name else open_model(model)


@cache
def shipped_model() -> InterestModel:
    """The model of the package, fitted to graded sentences of openly licensed documents.

    >>> max(shipped_model().features.items(), key=lambda each: each[1])[0]
    'cues'
    """
    return _model(resources.files(__package__).joinpath(SHIPPED).read_bytes(), SHIPPED)


def open_model(folder: str | os.PathLike[str]) -> InterestModel:
    """Open a model.

    Args:
        folder: The folder that ``postil train interesting`` made.

    Raises:
        InvalidInput: There is no such model, or it is damaged; says where.
    """
    path = Path(folder)
    try:
        about = load_json(path.joinpath(ABOUT).read_bytes())
        content = path.joinpath(WEIGHTS).read_bytes()
    except OSError as error:
        problem = f"no model of interest here: {error.strerror}: {Path(str(error.filename)).name}; {REMAKE}"
        raise InvalidInput(problem, where=str(folder)) from None
    except ValueError as error:
        raise InvalidInput(f"not readable as JSON: {error}", where=str(path / ABOUT)) from None
    if not isinstance(about, dict) or about.get("kind") != KIND or about.get("format") != FORMAT:
        problem = f"expected a model of interest of format {FORMAT}; {REMAKE}"
        raise InvalidInput(problem, where=str(path / ABOUT))
    return _model(content, str(path / WEIGHTS))


def _model(content: bytes, where: str) -> InterestModel:
    features: dict[str, float] = {}
    words: dict[str, float] = {}
    for line, kind, unit, weight in _rows(content, where):
        known = features if kind == "feature" else words
        if kind == "feature" and unit not in FEATURES:
            raise InvalidInput(str(UnknownName("feature", unit, FEATURES)), where=where, line=line, field="unit")
        if kind != "feature" and len(unit.split(" ")) != UNITS.get(kind):
            expected = "expected a feature, a word or a pair of words with one space"
            raise InvalidInput(f"{expected}, got the {kind} {shown(unit)}", where=where, line=line, field="unit")
        if unit in known:
            raise InvalidInput(f"{shown(unit)} stands twice", where=where, line=line, field="unit")
        known[unit] = weight
    return named(features, words)


def _rows(content: bytes, where: str) -> Iterator[tuple[int, str, str, float]]:
    """Line, kind, unit and weight of each row of a table."""
    try:
        rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        if next(rows, None) != COLUMNS:
            raise InvalidInput(f"expected the columns {', '.join(COLUMNS)}", where=where, line=1)
        for row in rows:
            if len(row) != len(COLUMNS):
                problem = f"expected {len(COLUMNS)} cells, got {len(row)}"
                raise InvalidInput(problem, where=where, line=rows.line_num)
            kind, unit, cell = row
            yield rows.line_num, kind, unit, _weight(cell, where, rows.line_num)
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"not readable as CSV in UTF-8: {error}", where=where) from None


def _weight(cell: str, where: str, line: int) -> float:
    try:
        weight = float(cell)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise InvalidInput(f"expected a number, got {shown(cell)}", where=where, line=line, field="weight")
    return weight
