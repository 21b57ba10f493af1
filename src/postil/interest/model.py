"""Linear models of interest: scores of the passages of a page by them, the folder that one is kept in, their measure.

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
import math
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from postil.data.artifacts import ArtifactKind, as_json
from postil.data.atomic_file import FolderWriter
from postil.data.explain import shown
from postil.data.groups import grouped
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.interest.features import FEATURES, SHOWN, WHOLE, Features
from postil.metrics.passage_measures import Baseline
from postil.passages.result import UnitContribution
from postil.text.stop_words import stop_words
from postil.text.tokens import Tokens, Units, ngram_units

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metrics.passage_pools import PassageCollection, Pools
    from postil.metrics.preprocessing import Preprocessing

__all__ = [
    "FILES",
    "LANGUAGES",
    "SHIPPED",
    "UNTRAINED",
    "Interest",
    "InterestModel",
    "PageScores",
    "chosen_model",
    "named",
    "open_model",
    "page_scores",
    "save_model",
    "shipped_model",
    "standard",
]

ROUNDING = 1e-9
"""Share of the largest magnitude below which a standard deviation is rounding noise."""


@dataclass(frozen=True, slots=True, eq=False)
class PageScores:
    """Scores of n passages, each a sum of contributions and of a constant of the page.

    Args:
        scores: float64[n], higher is better; minus infinity for passages without a word.
        constant: The constant.
        contributions: Function from the index of a passage to units with their contributions, in any order.
    """

    scores: NDArray[np.float64]
    constant: float
    contributions: Callable[[int], Iterable[tuple[str, float]]]

    def reasons(self, index: int, most: int | None = None) -> tuple[UnitContribution, ...]:
        """Contributions to a score, the largest first; all of them and the constant add up to it.

        Args:
            index: The passage; one without a word has none.
            most: Largest number of units; by default all.
        """
        if not np.isfinite(self.scores[index]):
            return ()
        parts: dict[str, float] = {}
        for unit, part in self.contributions(index):
            parts[unit] = parts.get(unit, 0.0) + part
        ordered = sorted(parts.items(), key=lambda each: -each[1])
        return tuple(UnitContribution(unit=unit, part=part) for unit, part in ordered[:most])


def standard(values: NDArray[np.float64], counted: NDArray[np.bool_]) -> tuple[float, float]:
    """Mean of some values, and 1 / their standard deviation (divisor n); 0 where they are all equal, or none.

    Args:
        values: float64[n].
        counted: bool[n], True for the values that count.

    >>> standard(np.array([1.0, 3.0, 9.0]), np.array([True, True, False]))
    (2.0, 1.0)
    >>> standard(np.array([0.1, 0.1]), np.array([True, True]))[1]
    0.0
    """
    some = values[counted]
    if not len(some):
        return 0.0, 0.0
    spread = float(some.std())
    return float(some.mean()), 1.0 / spread if spread > ROUNDING * float(np.abs(some).max()) else 0.0


LANGUAGES: Final = frozenset({"en"})
"""Languages (ISO 639-1) whose cues and names the features know."""
COMMON: Final = "common words"
"""Name of stop words as reasons, which say nothing one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class InterestModel:
    """Weights of a linear model of interest.

    Args:
        features: Weight of each standard deviation of a feature of `FEATURES` from the mean of the page.
        words: Weight of each word, and of each pair of adjacent words (``"first time"``), that a passage has.
        name: Name in specs and signatures: ``untrained``, or a hash of the weights.
    """

    features: Mapping[str, float]
    words: Mapping[str, float] = field(default_factory=dict)
    name: str = "untrained"

    @property
    def of_features(self) -> NDArray[np.float64]:
        """Weights of the features, float64[features]; 0 for one that has none."""
        return np.array([self.features.get(name, 0.0) for name in FEATURES])


UNTRAINED: Final = InterestModel(MappingProxyType({"cues": 1.0, "names": 1.0, "overlap": 1.0, "length": 0.0}))
"""The sum of cues, names and overlap, each in standard deviations; nothing in it was learned."""


def page_scores(texts: Sequence[str], model: InterestModel = UNTRAINED, jobs: int = 1) -> PageScores:
    """Score the passages of a page by how interesting they are; 0 is the mean of the page.

    The score is ``sum_f w_f (x_f - mean_f) / sd_f`` over the features, plus the weights of the distinct words and pairs
    of the passage less their mean on the page. A feature that is the same in every passage counts nothing. Time and
    memory are linear in the length of the page.

    Args:
        texts: n passages, in English (`LANGUAGES`).
        model: The model.
        jobs: Number of threads; the scores do not depend on it.

    >>> page = ["Ely is a city.", "The cathedral of Ely has the longest nave.", "It rains.", ""]
    >>> found = page_scores(page)
    >>> found.scores.round(2).tolist()
    [0.0, 2.12, -2.12, -inf]
    >>> [(each.unit, round(each.part, 2)) for each in found.reasons(1)]
    [('superlative: longest', 2.12), ('name: Ely', 2.12)]
    >>> round(sum(each.part for each in found.reasons(1)) + found.constant, 2)
    2.12
    """
    page = Features.of(texts, jobs)
    counted = page.tokens.lengths > 0
    values = page.values
    weights = model.of_features
    scores, (scales, centers) = np.zeros(len(texts)), np.zeros((2, len(weights)))
    for column in np.flatnonzero(weights):
        centers[column], scale = standard(values[:, column], counted)
        scales[column] = weights[column] * scale
        scores += values[:, column] * scales[column]  # no product of matrices, whose order depends on the processor
    # No unit has a part in the features behind the first ones, so these have their means.
    constant = -math.fsum(centers[:WHOLE] * scales[:WHOLE])
    scores -= math.fsum(centers[WHOLE:] * scales[WHOLE:])
    weighted, known, common = [], page.tokens.vocabulary.words(), stop_words("en")
    if model.words:
        weighted, of_words = _weighted_units(page.tokens, model.words), np.zeros(len(texts))
        for units, each in weighted:
            of_words += np.bincount(np.repeat(np.arange(len(units)), units.types), each[units.units], len(units))
        scores += of_words
        constant -= float(of_words[counted].mean()) if counted.any() else 0.0

    def contributions(index: int) -> Iterator[tuple[str, float]]:
        for feature, unit, amount in page.parts(index):
            if scales[feature]:
                yield unit, amount * float(scales[feature])
        for feature, (below, above) in enumerate(SHOWN.values(), start=WHOLE):
            if scales[feature]:
                away = float(values[index, feature] - centers[feature])
                yield above if away > 0 else below, away * float(scales[feature])
        for units, each in weighted:
            for at in units.units[units.offsets[index] : units.offsets[index + 1]].tolist():
                if each[at]:
                    words = [known[word] for word in units.grams[at].tolist()]
                    yield COMMON if common.issuperset(words) else " ".join(words), float(each[at])

    return PageScores(np.where(counted, scores + constant, -np.inf), constant, contributions)


def _weighted_units(tokens: Tokens, known: Mapping[str, float]) -> list[tuple[Units, NDArray[np.float64]]]:
    """Words and pairs of a page, with the weights of the distinct ones, float64[U]; 0 for those that are not known."""
    words = tokens.vocabulary.words()
    of_words = np.array([known.get(word, 0.0) for word in words], np.float64)
    halves = {half for unit in known if " " in unit for half in unit.split(" ")}
    is_half = np.array([word in halves for word in words], bool)
    single, pairs = ngram_units(tokens, 1), ngram_units(tokens, 2)
    of_pairs = np.zeros(pairs.distinct)
    for at in np.flatnonzero(is_half[pairs.grams].all(axis=1)).tolist():
        first, second = pairs.grams[at].tolist()
        of_pairs[at] = known.get(f"{words[first]} {words[second]}", 0.0)
    return [(single, of_words[single.grams[:, 0]]), (pairs, of_pairs)]


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
FOLDER: Final = ArtifactKind("a model of interest", ABOUT, FORMAT, "postil train interesting", (KIND,))


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
    with FolderWriter(folder, FILES) as new:
        new.write(WEIGHTS, _table(model.features, model.words))
        new.write(ABOUT, as_json(description, indent=2))


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
    found = FOLDER.open(folder)
    return _model(found.content(WEIGHTS), str(found.path / WEIGHTS))


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


@dataclass(frozen=True, kw_only=True)
class Interest(Baseline):
    """Score of `postil.interest.model.page_scores`; the page of a passage are all passages of its topic.

    It reads no grade and no reference, and reads whole texts in English, whatever the tokenizer and the stop words.
    Higher is better; a passage without a word ranks last.

    Args:
        model: A folder that ``postil train interesting`` wrote, or untrained; by default the model of the package.

    >>> from postil.metrics.preprocessing import Preprocessing
    >>> from postil.metrics.passage_pools import informativeness
    >>> from postil.data.row_locations import RowLocations
    >>> from postil.data.rows import Passage
    >>> texts = ["Bread is sold here.", "The oldest mill of Ely.", "Rye keeps longest of all."]
    >>> rows = [Passage(topic, str(i), text) for i, (topic, text) in enumerate(zip("aab", texts, strict=True))]
    >>> pools = informativeness([0, 0, 1], [1, 0, 1])
    >>> Interest(model="untrained").values(Preprocessing().collection(rows, RowLocations("rows")), pools).tolist()
    [-2.0, 2.0, 0.0]
    """

    model: str | None = None
    name: ClassVar[str] = "interest"

    def notes(self, collection: PassageCollection) -> tuple[str, ...]:
        """See `Measure.notes`."""
        return (f"model:{self._model(collection).name}",)

    def coverage(self, collection: PassageCollection, how: Preprocessing) -> str:
        """See `Measure.coverage`: a trained model knows the grades of the pages that it was trained on."""
        del collection, how
        if self.model in {None, UNTRAINED.name}:
            return ""
        return "too good on pages of its training, of which postil train interesting prints a cross-fit"

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`.

        Raises:
            UsageError: The collection has words without the texts that they are from.
            InvalidInput: The folder holds no model.
        """
        if collection.passages is None:
            raise UsageError(f"{self.name} reads whole texts of pages, and there are words only")
        model = self._model(collection)
        pages = grouped((passage.topic, row) for row, passage in enumerate(collection.passages))
        scores = np.zeros(len(collection))
        for rows in pages.values():
            scores[rows] = page_scores([collection.passages[row].text for row in rows], model, jobs).scores
        return scores[pools.texts]

    def _model(self, collection: PassageCollection) -> InterestModel:
        return collection.kept(("interest", self.model), lambda: chosen_model(self.model))
