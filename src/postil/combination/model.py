"""Combinations: fitted to human ratings, reported by grades of texts whose items a fit has not seen, kept in a folder.

What length and mean weight alone give is reported beside a combination, which finds these by itself: on answers of
students (Mohler) six metrics with both controls reach .664 and the controls alone .408, on web threads (DSTC7) .126 and
.096. Ridge is the default, since trees gain on the 10,000 texts of the threads (.160) and lose on the 2,273 answers
(.658). Bounding weights at 0 costs nothing there (.126 and .665), and is no default, as a negative weight can be real.

The folder is written atomically, and checked when it is opened:

| file | content |
|---|---|
| ``config.json`` | format, method, columns with signatures, options of the fit |
| ``weights.npy`` | float64[m + 1, 3]: mean, deviation and weight of each column, then 0, 1, intercept; of isotonic |
| | regression float64[k, 2], scores and grades |
| ``trees.json`` | in place of it for boosting: baseline, gain of each column, arrays of each tree |
| ``metadata.json`` | hash of data and of the model, seed, versions, scale, out-of-fold numbers |
"""

from __future__ import annotations

import hashlib
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import numpy as np

from postil.combination.result import (
    CombinationColumn,
    CombinationDifference,
    CombinationFit,
    CombinationResult,
    CombinationSettings,
    CombinationTexts,
)
from postil.data.arrays import WHOLE, Expected, as_npy
from postil.data.artifacts import Artifact, ArtifactKind, as_json, check_hash
from postil.data.atomic_file import FolderWriter
from postil.data.parts import Estimate, Excluded
from postil.data.rows import EXTERNAL
from postil.errors import InvalidInput, Undefined, UsageError
from postil.learners.boosting import Tree, Trees
from postil.learners.linear import Linear
from postil.messages import Command, Listed, Message, Setting
from postil.meta.coefficient_kinds import kind_of
from postil.meta.column_correlations import Texts, constant, starts_of
from postil.meta.estimation import chosen_metrics
from postil.meta.grade_fits import (
    LEARNERS,
    CombinationMethod,
    Isotonic,
    Learner,
    Model,
    Terms,
    assign_items,
    cross_fitted,
    penalized,
)
from postil.meta.parts import few_items_remark
from postil.meta.resampling import Counts, Draws, estimate
from postil.meta.significance import degrees_of_freedom, fisher_interval
from postil.meta.table import Judged, Scored, meet, repeated_texts, united
from postil.results.names import LENGTH, control, reads_weights

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s

__all__ = [
    "FILES",
    "ColumnConfig",
    "CombinationConfig",
    "JudgedTexts",
    "OutOfFold",
    "SavedCombination",
    "columns_of",
    "combine",
    "encoded",
    "judged_texts",
    "open_combination",
    "save",
    "transformed",
]

FARTHEST: Final = 1e100
"""Largest magnitude of a grade, so that no sum of squares overflows."""

LOG: Final = "log1p"
"""Transform of lengths: ln(1 + length)."""

MEAN_WEIGHT: Final = "control:mean-weight("


def transformed(metric: str) -> str:
    """Transform of a column: `LOG` of `postil.results.names.LENGTH`, else none."""
    return LOG if metric == LENGTH else ""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTexts:
    """Scores by m columns and mean ratings of n texts, sorted by item and system.

    Args:
        items: Item of each text.
        systems: System of each text.
        metrics: Names of the columns.
        signatures: Signature of each column.
        falls: bool[m], True where lower is better.
        scores: float64[n, m], `transformed`.
        controls: Names of the controls that every text has: length, and mean weight of the references.
        control_scores: float64[n, c], `transformed`.
        lacking: Names or beginnings of the names of those that scores with controls have, and these texts do not.
        ratings: float64[n], mean rating of each text.
        aspect: Aspect of the ratings.
        excluded: Texts that were excluded, and texts whose ratings by one annotator were averaged.
    """

    items: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    signatures: tuple[str, ...]
    falls: Booleans
    scores: Floats
    controls: tuple[str, ...]
    control_scores: Floats
    lacking: tuple[str, ...]
    ratings: Floats
    aspect: str | None
    excluded: tuple[Excluded, ...]


def judged_texts(
    scored: Scored, judged: Judged, metrics: Sequence[str] = (), lower_is_better: Sequence[str] = ()
) -> JudgedTexts:
    """Join scores and ratings; a text without every column is excluded, counted and named.

    Args:
        scored: The scores.
        judged: The ratings.
        metrics: Columns; by default all scores but controls.
        lower_is_better: Metrics for which lower is better, beside those whose signatures say so.

    Raises:
        UnknownName: There is no such metric.
        UsageError: All scores are controls, and none is named.
        InvalidInput: A length is below 0.
        Undefined: No text has both scores and ratings.

    >>> from postil.meta.table import Judged, Scored
    >>> from postil.data.rows import Judgement, Score
    >>> rows = [Score(item, "a", metric, 2.0, "") for item in "21" for metric in ("w-b", "a")]
    >>> texts = judged_texts(Scored(rows), Judged([Judgement("1", "a", "ann", 4.0), Judgement("2", "a", "ann", 3.0)]))
    >>> texts.items, texts.metrics, texts.ratings.tolist()
    (('1', '2'), ('a', 'w-b'), [4.0, 3.0])
    """
    falls = scored.falling(lower_is_better)
    columns = tuple(sorted(chosen_metrics(scored, metrics)))
    scored, judged = united(scored, judged)
    kept, excluded = meet(scored, judged, columns)
    keys = list(scored.rows)
    texts = sorted(keys[row] for row in kept.tolist())
    rows = np.array([scored.rows[key] for key in texts], np.int64)
    means = min((name for name in scored.metrics if name.startswith(MEAN_WEIGHT)), default="")
    there = [name for name in (LENGTH, means) if name in scored.metrics]
    controls = tuple(name for name in there if not np.isnan(scored.of(rows, [name])).any())
    # Where controls were written, one of them is the length; without a metric that averages, none is a mean weight.
    needed = {LENGTH: LENGTH} | ({MEAN_WEIGHT: means} if means or LENGTH not in scored.metrics else {})
    return JudgedTexts(
        items=tuple(item for item, _ in texts),
        systems=tuple(system for _, system in texts),
        metrics=columns,
        signatures=tuple(scored.signatures[name] or EXTERNAL for name in columns),
        falls=np.array([name in falls for name in columns]),
        scores=columns_of(scored, rows, columns),
        controls=controls,
        control_scores=columns_of(scored, rows, controls),
        lacking=tuple(name for name, column in needed.items() if column not in controls),
        ratings=judged.of(texts).means,
        aspect=judged.aspect,
        excluded=(
            *excluded,
            *repeated_texts([key for key in texts if key in judged.repeated]),
            *judged.left_out,
        ),
    )


def columns_of(scored: Scored, rows: Int64s, metrics: Sequence[str]) -> Floats:
    """Scores of some texts, `transformed`, float64[rows, metrics].

    Args:
        scored: The scores.
        rows: The texts, each of which has all of them.
        metrics: The metrics.

    Raises:
        InvalidInput: A length is below 0.
    """
    scores = scored.of(rows, metrics)
    for column, name in enumerate(metrics):
        if transformed(name):
            least = scores[:, column].min(initial=0.0)
            if least < 0:
                raise InvalidInput(f"{name}: expected lengths from 0 up, got {least:g}")
            scores[:, column] = np.log1p(scores[:, column])
    return scores


def combine(texts: JudgedTexts, settings: CombinationSettings, penalty: float) -> tuple[Model, CombinationResult]:
    """Fit a combination on all texts, and once per fold on those of the other folds for the numbers to report.

    Args:
        texts: The texts.
        settings: Options of the command.
        penalty: Ridge penalty, which a fit of the controls alone has whatever the learner.

    Returns:
        The model, and the result without the name and signature that the hash of the model gives it.

    Raises:
        UsageError: Isotonic regression of several columns.
        Undefined: There are fewer items than folds, every column or rating is constant, or there are too few texts for
            boosted trees.
        MissingExtra: scikit-learn is not installed.
    """
    learner, seed, monotone = LEARNERS[settings.method], settings.seed, settings.monotone
    _check(texts, learner)
    names, item = np.unique(texts.items, return_inverse=True)
    fold = assign_items(names.tolist(), settings.folds)[item]
    direction = np.where(texts.falls, -1, 1)
    named = zip(texts.metrics, texts.signatures, strict=True)
    weighted = np.array([monotone and reads_weights(*each) for each in named])
    bounds = np.where(weighted, direction, 0).astype(np.int8)
    terms = Terms(penalty=penalty, falls=texts.falls, bounds=bounds, monotone=monotone, seed=seed)
    found = _out_of_fold(learner, terms, texts.scores, texts.ratings, fold)
    alone = _controls_alone(learner, terms, texts, fold)
    first = [found] if alone is None else [found, alone]
    counts = Draws(resamples=settings.resamples, seed=seed).counts(len(names))
    correlated = _Correlations.of(np.column_stack([*first, texts.scores]), texts, item.astype(np.int32), counts)
    model = learner.fit(texts.scores, texts.ratings, terms)
    weights = penalized(texts.scores, texts.ratings, terms).weights if learner.linear else None
    columns = tuple(_columns(model, weights, texts, correlated, len(first)))
    return model, CombinationResult(
        metric="",
        signature="",
        items=len(names),
        systems=len(set(texts.systems)),
        columns=columns,
        texts=CombinationTexts(
            items=texts.items,
            systems=texts.systems,
            ratings=tuple(texts.ratings.tolist()),
            grades=tuple(found.tolist()),
            controls=() if alone is None else tuple(alone.tolist()),
        ),
        combination=correlated.fit(0, found, texts.ratings, texts.metrics),
        controls=None if alone is None else correlated.fit(1, alone, texts.ratings, texts.controls),
        difference=None if alone is None else correlated.difference(0, 1),
        excluded=texts.excluded,
        notes=tuple(_notes(texts, columns, weighted)),
        settings=settings,
    )


def _check(texts: JudgedTexts, learner: Learner) -> None:
    """Refuse what no combination can be fitted to."""
    if learner.single and len(texts.metrics) > 1:
        raise UsageError(
            "isotonic regression is of one metric, and there are {n}: {metrics}; choose one with {setting}",
            n=len(texts.metrics),
            metrics=", ".join(texts.metrics),
            setting=Setting("metrics"),
        )
    start = np.zeros(1, np.int64)
    if constant(texts.scores, start).all():
        raise Undefined(f"every text has the same score by {', '.join(texts.metrics)}: there is nothing to fit")
    if constant(texts.ratings[:, None], start).all():
        raise Undefined(f"every text has the rating {texts.ratings[0]:g}: there is nothing to fit")


def _out_of_fold(learner: Learner, terms: Terms, scores: Floats, grades: Floats, fold: Int32s) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        found = cross_fitted(lambda x, y, new: learner.fit(x, y, terms).predict(new), scores, grades, fold)
    assert found is not None  # noqa: S101 - there are two folds at least
    if not (np.abs(found) <= FARTHEST).all():
        raise Undefined("some scores are too far from those of other items for a grade; look for outliers among them")
    return found


def _controls_alone(learner: Learner, terms: Terms, texts: JudgedTexts, fold: Int32s) -> Floats | None:
    """Grades by the controls alone, out of fold; None without any."""
    if not texts.controls:
        return None
    none = np.zeros(len(texts.controls), np.int8)
    free = Terms(penalty=terms.penalty, falls=none > 0, bounds=none, seed=terms.seed)
    return _out_of_fold(LEARNERS[learner.beside], free, texts.control_scores, texts.ratings, fold)


def _columns(
    model: Model, weights: Floats | None, texts: JudgedTexts, correlated: _Correlations, first: int
) -> Iterator[CombinationColumn]:
    """The columns, the first of which is a given one of the correlations."""
    gain = model.gain if isinstance(model, Trees) else None
    for number, (name, signature) in enumerate(zip(texts.metrics, texts.signatures, strict=True)):
        yield CombinationColumn(
            metric=name,
            signature=signature,
            pool=correlated.estimate("pool", first + number),
            item=correlated.estimate("item", first + number),
            weight=None if weights is None else float(weights[number]),
            gain=None if gain is None else float(gain[number]),
            transform=transformed(name),
        )


def _notes(texts: JudgedTexts, columns: Sequence[CombinationColumn], weighted: Booleans) -> Iterator[str]:
    """Notes on columns and controls, one line each."""
    still = constant(texts.scores, np.zeros(1, np.int64))[0]
    at_bound = []
    for column, same, bounded in zip(columns, still.tolist(), weighted.tolist(), strict=True):
        if same:
            yield f"{column.metric} is the same in every text, so it says nothing"
        elif bounded and column.weight == 0:
            at_bound.append(column.metric)
    if at_bound:
        yield Message(
            "weight 0, as {monotone} allows none against the direction: {metrics}",
            monotone=Setting("monotone"),
            metrics=", ".join(at_bound),
        )
    if texts.lacking:
        beside = ", the mean weight beside over=near and over=kernel"
        yield Message(
            "not every text has the control {controls}: {scored} writes it{beside}",
            "not every text has the controls {controls}: {scored} writes them{beside}",
            count=len(texts.lacking),
            controls=Listed([control(name) for name in texts.lacking]),
            scored=Command(
                "score",
                settings=(Setting("controls", value=True),),
                call="postil.score(…, controls=postil.ControlOptions())",
            ),
            beside=beside if MEAN_WEIGHT in texts.lacking else "",
        )
    yield from few_items_remark(len(set(texts.items)))


@dataclass(frozen=True, slots=True, eq=False)
class _Correlations:
    """Pearson correlations with the ratings, on all items and on the same resamples of them for every column.

    Args:
        items: Number of items.
        pool: float64[1 + R, columns], over all texts; NaN where undefined.
        item: float64[1 + R, columns], within items.
        degrees: float64[columns], degrees of freedom of those over all texts.
    """

    items: int
    pool: Floats
    item: Floats
    degrees: Floats

    @classmethod
    def of(cls, columns: Floats, texts: JudgedTexts, item: Int32s, counts: Counts) -> _Correlations:
        system = np.unique(texts.systems, return_inverse=True)[1].astype(np.int32)
        beside = Texts(columns, texts.ratings, item, system)
        pool, within = (kind_of("pearson").resampled(beside, counts, by) for by in ("pool", "item"))
        return cls(
            counts.shape[1],
            np.vstack([pool.values, pool.samples]),
            np.vstack([within.values, within.samples]),
            degrees_of_freedom(columns, texts.ratings, starts_of(item)),
        )

    def estimate(self, by: Literal["pool", "item"], column: int) -> Estimate | None:
        found = self._estimate(getattr(self, by)[:, column])
        if found is None or by == "item":
            return found
        around = fisher_interval(found.value, self.pool[1:, column], self.degrees[column], self.items)
        return found if around is None else Estimate(value=found.value, low=around.low, high=around.high)

    def _estimate(self, samples: Floats) -> Estimate | None:
        return None if np.isnan(samples[0]) else estimate(samples, self.items)

    def fit(self, column: int, grades: Floats, ratings: Floats, names: tuple[str, ...]) -> CombinationFit:
        return CombinationFit(
            columns=names,
            pool=self.estimate("pool", column),
            item=self.estimate("item", column),
            rmse=float(np.sqrt(((grades - ratings) ** 2).mean())),
        )

    def difference(self, first: int, second: int) -> CombinationDifference:
        pool, item = (self._estimate(each[:, first] - each[:, second]) for each in (self.pool, self.item))
        return CombinationDifference(pool=pool, item=item)


FORMAT: Final = 1
CONFIG: Final = "config.json"
WEIGHTS: Final = "weights.npy"
TREES: Final = "trees.json"
METADATA: Final = "metadata.json"
FILES: Final = frozenset({CONFIG, WEIGHTS, TREES, METADATA})
"""Names of the files of such a folder."""

KIND: Final = ArtifactKind("a combination", CONFIG, FORMAT, "postil combine fit")


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


class OutOfFold(msgspec.Struct, frozen=True):
    """Errors of the grades of texts whose items a fit has not seen.

    Args:
        rmse: Root mean squared error, in grades.
        far: Share of the texts whose grade is more than 1 from the mean rating; None where it was not kept.
    """

    rmse: float
    far: float | None = None


class _Metadata(msgspec.Struct):
    format: int
    hash: str
    scale: tuple[float, float] | None
    out_of_fold: OutOfFold | None = None
    shares: bool = False


@dataclass(frozen=True, slots=True)
class SavedCombination:
    """A combination of a folder.

    Args:
        config: Method and columns.
        model: The model.
        hash: 12 hexadecimal digits of both.
        scale: Lowest and highest grade, where the scale of the ratings was given.
        errors: Errors of its out-of-fold grades, where they were kept.
        shares: True if its grades are shares of the maximum of their item.
    """

    config: CombinationConfig
    model: Model
    hash: str
    scale: tuple[float, float] | None
    errors: OutOfFold | None = None
    shares: bool = False


def encoded(config: CombinationConfig, model: Model) -> tuple[dict[str, bytes], str]:
    """Encode a combination.

    Args:
        config: Method and columns.
        model: The model.

    Returns:
        Content of the files by name, without metadata, and their hash: 12 hexadecimal digits.
    """
    files = {CONFIG: as_json(msgspec.to_builtins(config), escaped=True)}
    if isinstance(model, Trees):
        trees = [{name: column.tolist() for name, column in tree._asdict().items()} for tree in model.trees]
        files[TREES] = as_json({"baseline": model.baseline, "gain": model.gain.tolist(), "trees": trees}, indent=None)
    elif isinstance(model, Linear | Isotonic):
        files[WEIGHTS] = as_npy(model.table().astype("<f8"))
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
    with FolderWriter(folder, FILES) as new:
        for name, content in {**files, METADATA: as_json(whole, escaped=True)}.items():
            new.write(name, content)


def open_combination(folder: str | os.PathLike[str]) -> SavedCombination:
    """Open the folder of a combination.

    Args:
        folder: The folder.

    Raises:
        InvalidInput: It is missing or incomplete, of another version, or was changed.
    """
    saved = KIND.open(folder)
    config = saved.read(CONFIG, CombinationConfig)
    _check_config(config, str(saved.path / CONFIG))
    name, opened = OPENED[config.method]
    metadata = saved.read(METADATA, _Metadata)
    found = _hash({each: saved.content(each) for each in (CONFIG, name)})
    check_hash(str(saved.path / METADATA), metadata.hash, found)
    return SavedCombination(
        config, opened(saved, config.columns), found, metadata.scale, metadata.out_of_fold, metadata.shares
    )


def _check_config(config: CombinationConfig, where: str) -> None:
    single = LEARNERS[config.method].single
    if not config.columns or (single and len(config.columns) > 1):
        expected = "one column" if single else "at least one column"
        raise InvalidInput(f"expected {expected}, got {len(config.columns)}", where=where, field="columns")
    for column in config.columns:
        if column.transform != transformed(column.metric):
            raise InvalidInput(
                f'expected "{transformed(column.metric)}" for {column.metric}, got "{column.transform}"',
                where=where,
                field="transform",
            )


def _ridge(saved: Artifact, columns: Sequence[ColumnConfig]) -> Linear:
    model = Linear.of(_finite(saved, (len(columns) + 1, 3)))
    if (model.scale < 0).any() or model.weights[model.scale == 0].any():
        raise InvalidInput(
            f"expected standard deviations from 0 up, and weight 0 where one is 0; {WHOLE}",
            where=str(saved.path / WEIGHTS),
        )
    return model


def _isotonic(saved: Artifact, columns: Sequence[ColumnConfig]) -> Isotonic:
    known, levels = np.ascontiguousarray(_finite(saved, (None, 2)).T)
    model = Isotonic(known, levels, columns[0].falls)
    if not len(model.known) or (np.diff(model.known) <= 0).any() or (np.diff(model.levels) < 0).any():
        raise InvalidInput(
            f"expected scores that rise and grades that do not fall; {WHOLE}", where=str(saved.path / WEIGHTS)
        )
    return model


def _trees(saved: Artifact, columns: Sequence[ColumnConfig]) -> Trees:
    found, trees, m, file = saved.read(TREES, _Trees), [], len(columns), saved.path / TREES
    for number, nodes in enumerate(found.trees):
        if (tree := _tree(nodes, m)) is None:
            raise InvalidInput(
                f"expected nodes of finite numbers, columns below {m} and nodes after their own; {WHOLE}",
                where=str(file),
                field=f"trees[{number}]",
            )
        trees.append(tree)
    if len(found.gain) != m or not all(map(math.isfinite, (found.baseline, *found.gain))):
        raise InvalidInput(
            f"expected a finite baseline and {m} finite gains, got {len(found.gain)}; {WHOLE}", where=str(file)
        )
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


OPENED: Final[Mapping[CombinationMethod, tuple[str, Callable[[Artifact, Sequence[ColumnConfig]], Model]]]] = {
    "ridge": (WEIGHTS, _ridge),
    "isotonic": (WEIGHTS, _isotonic),
    "boosting": (TREES, _trees),
}
"""File of the model of each learner, and the function that opens it."""


def _finite(saved: Artifact, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """The weights: a float64 array of finite numbers."""
    expected = Expected("float64", shape, low=-sys.float_info.max)
    array: NDArray[np.float64] = saved.array("weights", expected, mapped=False)
    return array


def _hash(files: Mapping[str, bytes]) -> str:
    """12 hexadecimal digits of the content of files, by name."""
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    return hashlib.sha256(as_json(digests, escaped=True)).hexdigest()[:12]
