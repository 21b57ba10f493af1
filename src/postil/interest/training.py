"""Training of a model of interesting passages: `postil train interesting`."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import asdict
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.data.atomic_file import check_folder
from postil.data.ids import plain_id
from postil.data.progress import steps
from postil.data.row_files import read
from postil.data.row_locations import SelectedRows
from postil.data.rows import Passage
from postil.errors import InvalidInput, Undefined
from postil.interest.model.features import FEATURES
from postil.interest.model.model import UNTRAINED
from postil.interest.model.model_files import FILES, save_model, shipped_model
from postil.interest.model.training import RatedPages
from postil.interest.result import InterestSettings, InterestTrainingResult, InterestWeight
from postil.messages import Message, Setting
from postil.meta.resampling import Draws
from postil.metrics.passages.pool import folds_of
from postil.passages.files import LARGEST, check_passages
from postil.passages.length_thirds import THIRDS
from postil.passages.rankings import PassageRanking, PassageRankings
from postil.passages.rankings_by_length import RankingsByLength
from postil.passages.result import PassageData
from postil.results.formats import counted
from postil.results.parts import Excluded
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.comments.training.options import InterestTrainOptions
    from postil.data.options import InputOptions
    from postil.data.progress import OnMessage
    from postil.data.row_locations import RowLocations
    from postil.interest.model.model import InterestModel
    from postil.passages.files import GradedPassages
    from postil.passages.result import GainDifference

__all__ = ["TRAINED", "train_interesting"]

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
    _check_language(texts, places)
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
        self._texts: dict[tuple[str, str], str] = {}
        self._grades: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def is_first(self, row: Passage) -> bool:
        """Collect a grade; True for the first row of a passage, and for a row that cannot be."""
        key = (row.topic, row.id)
        first = key not in self._texts
        text = self._texts.setdefault(key, row.text)
        if text != row.text or (row.grade is not None and not 0 <= row.grade <= LARGEST):
            return True
        if row.grade is not None:
            self._grades[key].append(row.grade)
        return first

    def averaged(self, rows: Sequence[Passage]) -> list[Passage]:
        """The rows, with the mean grade of those that several readers rated."""
        several = {key: fmean(grades) for key, grades in self._grades.items() if grades}
        seen: set[tuple[str, str]] = set()
        found = []
        for row in rows:
            key = (row.topic, row.id)
            own = key in several and key not in seen and (row.grade is None or 0 <= row.grade <= LARGEST)
            found.append(msgspec.structs.replace(row, grade=several[key]) if own else row)
            seen.add(key)
        return found


def _check_language(texts: Sequence[str], places: RowLocations) -> None:
    han = HanTexts(tokenizer("words"), "passages")
    han.see(texts)
    han.check(lambda place, problem: places.error(place, "text", problem))


def _cutoffs(topic: NDArray[np.int64]) -> tuple[int, ...]:
    """The usual cutoffs that are shorter than the longest page; without any, those that suit it."""
    return tuple(k for k in CUTOFFS if k < int(np.bincount(topic).max()))


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
    curves = rankings.curves(_cutoffs(data.topic))
    by_length = RankingsByLength(rankings, words)
    longest = int(np.bincount(data.topic).max())
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
