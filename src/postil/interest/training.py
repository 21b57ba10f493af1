"""Training of a model of interest on ratings of passages: `postil train interesting`."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.data.atomic_file import check_folder
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.parts import Excluded
from postil.data.progress import OnMessage, steps
from postil.data.row_files import read
from postil.data.row_locations import SelectedRows
from postil.data.rows import Passage
from postil.errors import InvalidInput, Undefined
from postil.interest.features import FEATURES, Features
from postil.interest.model import FILES, UNTRAINED, InterestModel, named, save_model, shipped_model, standard
from postil.interest.result import InterestSettings, InterestTrainingResult, InterestWeight
from postil.learners.linear import GroupedColumns, grouped_ridge
from postil.messages import Message, Setting
from postil.meta.resampling import Draws
from postil.metrics.folds import folds_of
from postil.passages.by_length import THIRDS, RankingsByLength
from postil.passages.files import LARGEST, GradedPassages, check_passages
from postil.passages.gain import PassageRanking, PassageRankings
from postil.passages.result import GainDifference, PassageData
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary, ngram_units
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.data.options import InputOptions
    from postil.interest.training_options import InterestTrainOptions

__all__ = ["TRAINED", "RatedPages", "train_interesting"]

_DECIMALS: Final = 6
"""Decimals of the weights, in which their table is read."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedPages:
    """n rated passages of several pages, as columns of a fit.

    Args:
        page: int64[n], number of each passage's page.
        grades: float64[n].
        words: int64[n], number of words of each passage.
        features: float64[n, features], by `FEATURES`, in standard deviations from the mean of the page.
        units: Words and pairs of the passages.
        columns: int64[E], the unit of each entry, distinct in a passage.
        rows: int64[E], its passage.
    """

    page: NDArray[np.int64]
    grades: NDArray[np.float64]
    words: NDArray[np.int64]
    features: NDArray[np.float64]
    units: tuple[str, ...]
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(
        cls, texts: Sequence[str], grades: NDArray[np.float64], page: NDArray[np.int64], jobs: int = 1
    ) -> RatedPages:
        """Read rated passages.

        Args:
            texts: n passages, in English.
            grades: float64[n], higher is more interesting.
            page: int64[n], number of each passage's page, from 0.
            jobs: Number of threads; the result does not depend on it.
        """
        features = np.zeros((len(texts), len(FEATURES)))
        for number in np.unique(page).tolist():
            here = np.flatnonzero(page == number)
            one = Features.of([texts[row] for row in here.tolist()], jobs)
            for column, values in enumerate(one.values.T):
                mean, scale = standard(values, one.tokens.lengths > 0)
                features[here, column] = (values - mean) * scale
        tokens = Vocabulary().encode(texts, tokenizer("words"), jobs, allow_han=True)
        known = tokens.vocabulary.words()
        units: list[str] = []
        columns, rows = [], []
        for size in (1, 2):
            found = ngram_units(tokens, size)
            columns.append(found.units.astype(np.int64) + len(units))
            rows.append(np.repeat(np.arange(len(texts)), found.types))
            units += [" ".join(known[word] for word in gram) for gram in found.grams.tolist()]
        return cls(page, grades, tokens.lengths, features, tuple(units), np.concatenate(columns), np.concatenate(rows))

    def fit(
        self,
        penalty: float,
        min_count: int,
        without: NDArray[np.bool_] | None = None,
        min_pages: int = 1,
        cues: float = 0.0,
    ) -> InterestModel:
        """Fit grades within pages by ridge regression on words and pairs (1 if a passage has it) and on the features.

        It minimizes ``sum (y - Xw)² + penalty |w|²``.

        Args:
            penalty: Ridge penalty, above 0, for columns of 0 and 1 and for features in standard deviations.
            min_count: Smallest number of passages of words and pairs that have a weight.
            without: bool[n], True for passages that the fit does not see; by default it sees all.
            min_pages: Smallest number of pages of words and pairs that have a weight.
            cues: Number that is added to the weight of cues after the fit, in grades.

        Raises:
            Undefined: No page has passages of different grades.
        """
        seen = np.ones(len(self.page), bool) if without is None else ~without
        page = np.unique(self.page[seen], return_inverse=True)[1]
        number = np.cumsum(seen) - 1
        inside = seen[self.rows]
        counts = np.bincount(self.columns[inside], minlength=len(self.units))
        known = np.unique(self.columns[inside] * (int(self.page.max()) + 1) + self.page[self.rows[inside]])
        pages = np.bincount(known // (int(self.page.max()) + 1), minlength=len(self.units))
        kept = np.flatnonzero((counts >= min_count) & (pages >= min_pages))
        column = np.full(len(self.units), -1, np.int64)
        column[kept] = np.arange(len(kept))
        entries = inside & (column[self.columns] >= 0)
        columns = GroupedColumns(
            number[self.rows[entries]], column[self.columns[entries]], len(kept), self.features[seen], page
        )
        if not np.any(columns.centered(self.grades[seen])):
            raise Undefined("no page has passages of different grades, so there is nothing to learn")
        found = grouped_ridge(columns, self.grades[seen], penalty)
        found[len(kept) + list(FEATURES).index("cues")] += cues
        weights = np.round(found, _DECIMALS).tolist()
        words = {self.units[unit]: weight for unit, weight in zip(kept.tolist(), weights, strict=False) if weight}
        return named(dict(zip(FEATURES, weights[len(kept) :], strict=True)), words)

    def predicted(self, model: InterestModel, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Scores of passages up to a constant of the page; see `postil.interest.model.page_scores`.

        Args:
            model: The model.
            rows: bool[n], True for the passages.

        Returns:
            float64[n]; of other passages 0.
        """
        weights = np.array([model.words.get(unit, 0.0) for unit in self.units])
        of_words = np.bincount(self.rows, weights[self.columns], len(self.page))
        return np.where(rows, of_words + self.features @ model.of_features, 0.0)

    def cross_fitted(
        self, folds: NDArray[np.int32], penalty: float, min_count: int, min_pages: int = 1, cues: float = 0.0
    ) -> NDArray[np.float64]:
        """Score each page by a model that was fitted on the pages of the other folds.

        Args:
            folds: int32[pages], fold of each page.
            penalty: As of `fit`.
            min_count: As of `fit`.
            min_pages: As of `fit`.
            cues: As of `fit`.

        Returns:
            float64[n].

        Raises:
            Undefined: All pages with passages of different grades are in one fold.
        """
        out = np.zeros(len(self.page))
        fold = folds[self.page]
        for number in np.unique(fold).tolist():
            here = fold == number
            out += self.predicted(self.fit(penalty, min_count, here, min_pages, cues), here)
        return out


TRAINED: Final = "trained"
"""Name of the ranking of each page by a fit on other pages."""
SHIPPED: Final = "shipped"
"""Name of the ranking by the model of the package."""
CUTOFFS: Final = (10, 20, 50)
FEW: Final = 6
"""Number of pages from which a training was seen to pay."""
SHOWN: Final = 10
"""Number of largest and of smallest weights of words in the result."""
DIGITS: Final = 16
"""Number of hexadecimal digits of the hash of the ratings."""


def train_interesting(
    votes: str,
    out: str,
    options: InterestTrainOptions,
    inputs: InputOptions,
    *,
    on_message: OnMessage = lambda _: None,
) -> InterestTrainingResult:
    """Learn from ratings which passages of a page are interesting, and evaluate it on pages that it was not fitted on.

    The model is fitted on all pages. The evaluation is of a cross-fit, in which each page is ranked by a fit on the
    pages of the other folds, beside rankings without any fit.

    Args:
        votes: Rows of passages with a page (``topic``), an id, a text in English and a grade of at least 0; several
            rows of the same passage are those of several readers, and are averaged.
        out: The model folder to write; an older model there is replaced.
        options: Options of the training.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row has no grade or a grade below 0, an id stands for two texts of a page, or more than a
            tenth of the passages are Han text.
        Undefined: There is one page, or nothing to learn.
        UsageError: The folder cannot be written.
    """
    check_folder(out, FILES)
    rows, readers = read(votes, Passage, inputs.readings({"passages": Passage}, on_message)["passages"]), _Readers()
    found = SelectedRows(rows, rows.places, readers.is_first)
    passages, places = readers.averaged(list(found)), found.places
    if found.skipped:
        on_message(f"{places.where}: {counted(len(passages), 'passage')}; several ratings of a passage are averaged")
    if passages and all(each.grade is None for each in passages):
        column = Setting("column", "grade=COLUMN", python='("grade=COLUMN",)')
        raise InvalidInput(Message("no row has a grade; name its column: {column}", column=column), where=places.where)
    data = check_passages(passages, None, places)
    texts = [each.text for each in passages]
    han = HanTexts(tokenizer("words"), "passages")
    han.see(texts)
    han.check(lambda place, problem: places.error(place, "text", problem))
    if len(data.topics) < 2:
        raise Undefined(f"{places.where}: expected passages of two pages at least, got one: {data.topics[0]}")
    with steps(3) as begin:
        begin("features")
        rated = RatedPages.of(texts, data.grades, data.topic, options.jobs)
        begin("fits")
        model = rated.fit(options.penalty, options.min_count, min_pages=options.min_pages, cues=options.cues)
        folds = folds_of(len(data.topics), options.folds, seed=options.seed)
        crossed = rated.cross_fitted(folds, options.penalty, options.min_count, options.min_pages, options.cues)
        begin("gains")
        rankings = _rankings(data, rated, crossed, options)
        result = _result(data, rankings, rated.words, model, options)
    about = {
        "options": {name: value for name, value in asdict(options).items() if name != "jobs"},
        "data": _digest(passages),
        "passages": len(passages),
        "pages": len(data.topics),
        "evaluation": [msgspec.to_builtins(row, enc_hook=plain_id) for row in result.gains],
        "postil": VERSION,
    }
    save_model(out, model, about)
    return result


class _Readers:
    """Ratings of passages by any number of readers each."""

    def __init__(self) -> None:
        self._grades: dict[tuple[str, str, str], list[float]] = {}

    def is_first(self, row: Passage) -> bool:
        """Collect a grade; True for the first row of a passage, and for a row that cannot be."""
        key = (row.topic, row.id, row.text)
        first = key not in self._grades
        grades = self._grades.setdefault(key, [])
        if row.grade is not None and 0 <= row.grade <= LARGEST:
            grades.append(row.grade)
        return first or not (row.grade is None or 0 <= row.grade <= LARGEST)

    def averaged(self, rows: Sequence[Passage]) -> list[Passage]:
        """The rows, with the mean grade of those that several readers rated."""
        found = []
        for row in rows:
            grades = self._grades[row.topic, row.id, row.text]
            own = grades and (row.grade is None or 0 <= row.grade <= LARGEST)
            found.append(msgspec.structs.replace(row, grade=fmean(grades)) if own else row)
        return found


def _rankings(
    data: GradedPassages, rated: RatedPages, crossed: NDArray[np.float64], options: InterestTrainOptions
) -> PassageRankings:
    every = np.ones(len(crossed), bool)
    scores = {
        TRAINED: crossed,
        SHIPPED: rated.predicted(shipped_model(), every),
        "untrained": rated.predicted(UNTRAINED, every),
        "longest first": rated.features[:, list(FEATURES).index("length")],
        "random": np.zeros(len(crossed)),
    }
    fitted = (
        f"penalty:{options.penalty:g}|min-count:{options.min_count}|min-pages:{options.min_pages}|cues:{options.cues:g}"
        f"|folds:{options.folds}|seed:{options.seed}|"
    )
    return PassageRankings(
        rankings=[
            PassageRanking(
                measure=name,
                leave_one_out=False,
                is_baseline=name != TRAINED,
                signature=f"interest({name})|{fitted if name == TRAINED else ''}scale:{data.scale}|pool:topic"
                f"|ties:expected:1e-12|postil:{VERSION}",
                values=values,
                scores=values,
            )
            for name, values in scores.items()
        ],
        grades=data.grades,
        groups=data.topic,
        pool="topic",
        draws=Draws(resamples=options.resamples, seed=options.seed, jobs=options.jobs),
    )


def _result(
    data: GradedPassages,
    rankings: PassageRankings,
    words: NDArray[np.int64],
    model: InterestModel,
    options: InterestTrainOptions,
) -> InterestTrainingResult:
    longest = int(np.bincount(data.topic).max())
    # The usual cutoffs that are shorter than the longest page; without any, those that suit it.
    curves = rankings.curves(tuple(k for k in CUTOFFS if k < longest))
    by_length = RankingsByLength(rankings, words)
    left = [data.topics[number] for number in curves[0].left_out]
    differences = rankings.differences(curves)
    return InterestTrainingResult(
        model=model.name,
        gains=rankings.gains(curves, "topic"),
        differences=tuple(row for row in differences if row.first == TRAINED),
        weights=tuple(_weights(model)),
        words=len(model.words),
        data=PassageData(
            passages=len(data.passages),
            topics=len(data.topics),
            informative=int((data.grades > 0).sum()),
            scale=str(data.scale),
            left_out=(Excluded.of("pages without a grade above 0, not ranked", left),) if left else (),
        ),
        settings=InterestSettings(
            penalty=options.penalty,
            min_count=options.min_count,
            min_pages=options.min_pages,
            cues=options.cues,
            folds=min(options.folds, len(data.topics)),
            seed=options.seed,
            resamples=options.resamples,
            postil=VERSION,
        ),
        notes=tuple(_notes(data, differences)),
        by_length=by_length.rows() if longest > THIRDS * by_length.k else (),
    )


def _weights(model: InterestModel) -> Iterator[InterestWeight]:
    for name in FEATURES:
        yield InterestWeight(kind="feature", unit=name, weight=model.features[name])
    ordered = sorted(model.words.items(), key=lambda each: (-each[1], each[0]))
    ends = ordered if len(ordered) <= 2 * SHOWN else [*ordered[:SHOWN], *ordered[-SHOWN:]]
    for unit, weight in ends:
        yield InterestWeight(kind="pair" if " " in unit else "word", unit=unit, weight=weight)


def _notes(data: GradedPassages, differences: Sequence[GainDifference]) -> Iterator[str]:
    yield f"{TRAINED}: each page by a fit on the pages of other folds; the intervals hold the fits fixed"
    if len(data.topics) < FEW:
        yield f"{len(data.topics)} pages are few: the intervals are too narrow; rate {FEW} at least"
    for row in islice((row for row in differences if (row.first, row.second) == (TRAINED, SHIPPED)), 1):
        if row.low is None or row.low <= 0:
            yield f"at nCG@{row.k} the trained ranking is not clearly better than that of the shipped model"


def _digest(passages: Sequence[Passage]) -> str:
    rows = sorted((each.topic, each.id, each.text, each.grade) for each in passages)
    return hashlib.sha256(msgspec.json.encode(rows, enc_hook=plain_id)).hexdigest()[:DIGITS]
