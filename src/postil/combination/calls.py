"""Learned combinations of metrics: `postil.fit_combination` and `postil.apply_combination`, and their commands."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, Self, Unpack

import numpy as np

from postil.combination.model import (
    FILES,
    ColumnConfig,
    CombinationConfig,
    JudgedTexts,
    OutOfFold,
    SavedCombination,
    columns_of,
    combine,
    encoded,
    judged_texts,
    open_combination,
    save,
    transformed,
)
from postil.combination.options import FOLDS, ApplyOptions, CombineOptions
from postil.combination.result import CombinationResult, CombinationSettings
from postil.data.arguments import check_arguments, options_of, parted
from postil.data.atomic_file import check_apart, check_folder
from postil.data.explain import counted
from postil.data.frames import CONSTANTS, SYSTEM, open_rows, warn
from postil.data.grades import Scale
from postil.data.groups import grouped
from postil.data.options import JudgedInputOptions
from postil.data.row_files import check_standard_input, write
from postil.data.rows import EXTERNAL, Candidate, GradedText, Judgement, Maximum, Row, Score
from postil.errors import InvalidInput, Undefined, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.meta.grade_fits import LEARNERS
from postil.meta.maxima import ROLE, maxima_of, open_maxima
from postil.meta.rated import (
    LARGEST,
    JudgedKeywords,
    Rated,
    names_of_files,
    names_of_tables,
    open_judgements,
    open_scores,
    scores_of,
)
from postil.meta.table import Judged, Scored, excluded_texts
from postil.metrics.result import ScoreResult, SystemScore
from postil.results.base import replace
from postil.results.names import LENGTH
from postil.results.numbers import number
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.frames import Column, ColumnNames, Table
    from postil.data.progress import OnMessage
    from postil.data.row_locations import LocatedRows
    from postil.data.streams import FilePath
    from postil.keywords import ApplyKeywords, CombineKeywords
    from postil.meta.rated import Scores
    from postil.meta.table import Key

__all__ = [
    "apply_combination",
    "apply_to_files",
    "fit_combination",
    "fit_files",
    "fit_rated",
]

ROLES: Final[Mapping[str, type[Row]]] = {
    "scores": Score,
    ROLE: Maximum,
    "candidates": Candidate,
    "judgements": Judgement,
}
"""Row type of each table that grades are made of."""

MAXIMA: Final = Setting("maxima", Blank("FILE"), python="TABLE")
"""The setting of the maxima, for messages that ask for them."""

HUNDREDTHS: Final = 2
"""Decimals of grades beside their texts, which people look through; by themselves they have all."""

FEW_MAXIMA: Final = 5
"""Largest number of maxima that a sentence has the typical error of; of more it has the lowest and the highest."""

OF_REFERENCES: Final = (
    "references:",
    "background:references/",
    "idf:references/",
    "documents:",
    "baseline:",
    "unknown:",
)
"""Beginnings of the parts of a signature that other references change."""


def fit_combination(
    scores: Mapping[str, Column] | Scores,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
    options: CombineOptions | None = None,
    **keywords: Unpack[CombineKeywords],
) -> CombinationResult:
    """Fit a combination of scores to human ratings, and report how well it grades texts of items it has not seen.

    There are the two forms of `postil.correlate`: **columns** (scores by metric and grades, one entry per text) and
    **tables** (scores and judgements that meet on item and system).

    Args:
        scores: n scores by metric, controls among them. Or a result of `postil.score`, or a table.
        grades: Human rating of each of n texts: a number, a list with one number per annotator, or None.
        judgements: Table of human ratings.
        options: Options; by default those of the command. Their ``out`` is the folder for `apply_combination`.
        keywords: Fields of the options, in place of an object, and ways to read the data, as of `postil.correlate`.
            Folds and intervals are over items.

    Returns:
        Out-of-fold correlations of the ``combination`` and of the ``controls`` alone, their ``difference``, the
        weights of the ``columns`` and the out-of-fold grades of the ``texts``.

    Warns:
        UserWarning: Judgements without a grade were left out; they are in ``excluded`` as well.

    Raises:
        InvalidInput: Columns differ in length, something is no number, there is no grade, or an item has two texts of
            one system.
        UsageError: Isotonic regression of several metrics, an aspect of columns, or an argument of the other form.
        UnknownName: A method, metric or field does not exist.
        Undefined: There are fewer items than folds, or nothing varies.
        MissingExtra: Boosting without scikit-learn.

    >>> first, second = [i % 7 for i in range(36)], [i % 5 for i in range(36)]
    >>> grades = [3 * a + b for a, b in zip(first, second)]
    >>> found = fit_combination({"a": first, "b": second, "c": [i % 3 for i in range(36)]}, grades)
    >>> round(found.combination.pool.value, 4), found.combination.item
    (1.0, None)
    >>> [(column.metric, round(column.weight, 2)) for column in found.columns]
    [('a', 6.04), ('b', 1.42), ('c', -0.0)]
    """
    check_arguments(fit_combination, locals())
    given, fields = parted(keywords, JudgedKeywords)
    options = options_of(CombineOptions, options, fields)
    return fit_rated(Rated.of(scores, grades, judgements, given, aspect=options.aspect), options)


def apply_combination(
    scores: Mapping[str, Column] | Scores,
    model: FilePath,
    *,
    candidates: Table | None = None,
    judgements: Table | None = None,
    options: ApplyOptions | None = None,
    **keywords: Unpack[ApplyKeywords],
) -> ScoreResult:
    """Grade texts by a combination of their scores that `fit_combination` wrote.

    Args:
        scores: Scores as of `fit_combination`, by all metrics of the combination.
        model: Folder of the combination.
        candidates: Table of the texts, which then stand beside their grades in the file ``out``.
        judgements: Table of grades that people gave, whose means stand there too.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object, and ways to read the tables, as of `postil.correlate`.
            Signatures must be those of the fit. With ``maxima``, a table of the highest grade of each item, grades of
            a combination of shares are in points.

    Returns:
        Mean grade of each system, and in ``items`` the grade of each text, on the scale of the judgements.

    Warns:
        UserWarning: Texts without a score by every metric were left out.

    Raises:
        InvalidInput: The folder or the scores are invalid, or scores have another signature than those of the fit.
        UsageError: Clipping without a scale, or an argument of the other form.
        Undefined: No text has all scores.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     options = CombineOptions(method="isotonic", folds=2, out=f"{folder}/model")
    ...     fitted = fit_combination({"m": [1, 2, 3, 4]}, [1, 3, 2, 4], options=options)
    ...     graded = apply_combination({"m": [1.5, 9.0]}, options.out)
    >>> graded.items[fitted.metric].tolist()
    [1.75, 4.0]
    """
    check_arguments(apply_combination, locals())
    given, fields = parted(keywords, JudgedKeywords)
    rows, asked = scores_of(scores, given, ROLES), options_of(ApplyOptions, options, fields)
    beside = Beside.of(names_of_tables(given, ROLES), given.get("maxima"), candidates, judgements, asked.aspect)
    return apply_to_rows(rows, open_combination(model), asked, warn, beside)


def fit_files(
    scores: Sequence[str],
    judgements: str,
    options: CombineOptions,
    *,
    command: str = "",
    inputs: JudgedInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> CombinationResult:
    """Fit a combination to the item scores of files and the judgements of another.

    Args:
        scores: Files of score rows; ``-`` for standard input.
        judgements: A file of judgement rows.
        options: The options.
        command: The command line, if there was one.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        UsageError: A name or a combination of options is wrong.
        InvalidInput: A file is invalid; the message has the location.
        Undefined: There is nothing to fit.
    """
    if not scores:
        raise UsageError("expected at least one file of scores")
    for out in filter(None, [options.items, options.out]):
        check_apart(out, [*scores, judgements, *filter(None, [inputs.maxima if inputs else None])])
    return fit_rated(Rated.files(scores, judgements, inputs, on_message, aspects=[options.aspect]), options, command)


def fit_rated(rated: Rated, options: CombineOptions, command: str = "") -> CombinationResult:
    """Fit a combination to item scores and judgements, and write what the options name.

    Args:
        rated: The scores and judgements.
        options: The options.
        command: The command line, if there was one.

    Raises:
        UsageError: A name or a combination of options is wrong.
        InvalidInput: A row is invalid; the message has the location.
        Undefined: There is nothing to fit.
    """
    if rated.scores is None:
        raise UsageError("scores: expected at least one column")
    if options.out is not None:
        check_folder(options.out, FILES)  # before the work is done
    scored, scale = Scored(rated.scores), rated.scale(options.scale)
    judged = Judged(rated.judgements, options.aspect, scale)
    texts = judged_texts(scored, judged, options.metrics, options.lower_is_better)
    learner, items = LEARNERS[options.method], len(set(texts.items))
    settings = CombinationSettings(
        method=learner.name,
        folds=options.folds or min(FOLDS, max(2, items)),
        resamples=options.resamples,
        seed=options.seed,
        data=_data_hash(texts),
        postil=VERSION,
        penalty=options.penalty if learner.linear else None,
        monotone=options.monotone,
        lower_is_better=options.lower_is_better,
        aspect=texts.aspect,
        scale=str(scale) if scale else None,
        shares=rated.shares,
        command=command,
    )
    model, result = combine(texts, settings, options.penalty)
    columns = zip(texts.metrics, texts.signatures, texts.falls.tolist(), strict=True)
    config = CombinationConfig(
        format=1,
        method=learner.name,
        columns=tuple(
            ColumnConfig(metric=metric, signature=signature, falls=falls, transform=transformed(metric))
            for metric, signature, falls in columns
        ),
        penalty=settings.penalty,
        monotone=options.monotone,
    )
    files, model_hash = encoded(config, model)
    metric = f"combine({model_hash})"
    signature = f"{metric}|out-of-fold:{settings.folds}|data:{settings.data}|postil:{VERSION}"
    notes = result.notes
    if options.folds is None and items < FOLDS:
        few = Message("{folds} folds, one per item, since there are fewer than {usual} items", folds=items, usual=FOLDS)
        notes = (few, *notes)
    result = replace(result, metric=metric, signature=signature, notes=notes)
    if options.out is not None:
        save(options.out, files, _metadata(result, scale))
    if options.items is not None:
        write(options.items, result.score_rows())
    return result


def _metadata(result: CombinationResult, scale: Scale | None) -> dict[str, object]:
    """Description of a fit for ``metadata.json``: nothing that another run would not write."""
    fit, settings = result.combination, result.settings
    apart = np.abs(np.array(result.texts.grades) - np.array(result.texts.ratings))
    package = LEARNERS[settings.method].package
    return {
        "data": settings.data,
        "texts": len(result.texts.items),
        "items": result.items,
        "systems": result.systems,
        "folds": settings.folds,
        "seed": settings.seed,
        "scale": None if scale is None else [scale.low, scale.high],
        **({"shares": True} if result.settings.shares else {}),
        "out_of_fold": {
            "pearson": fit.pool and fit.pool.value,
            "pearson_within_items": fit.item and fit.item.value,
            "rmse": fit.rmse,
            **({} if result.settings.shares else {"far": float((apart > 1).mean())}),
        },
        "versions": {"postil": VERSION, "numpy": np.__version__, **({package: version(package)} if package else {})},
    }


def _data_hash(texts: JudgedTexts) -> str:
    """12 hexadecimal digits of scores and ratings."""
    names = json.dumps([texts.items, texts.systems, texts.metrics, texts.signatures])
    digest = hashlib.sha256(names.encode())
    for array in (texts.scores, texts.ratings):
        digest.update(np.ascontiguousarray(array, dtype="<f8").data)
    return digest.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Beside:
    """Tables beside the scores: maxima of items, texts, and grades that people gave; None for one that is not given.

    Args:
        maxima: Highest grade of each item, which a combination of shares makes points of.
        texts: Text of each candidate, by item and system.
        grades: Mean grade that people gave to a text.
    """

    maxima: Mapping[str, float] | None = None
    texts: Mapping[Key, str] | None = None
    grades: Mapping[Key, float] | None = None

    @classmethod
    def of(
        cls,
        names: ColumnNames,
        maxima: Table | None,
        candidates: Table | None,
        judgements: Table | None,
        aspect: str | None,
    ) -> Self:
        """Read the tables that there are.

        Args:
            names: Names of their columns.
            maxima: The highest grades.
            candidates: The texts.
            judgements: The grades that people gave.
            aspect: Their aspect, where they have more than one.

        Raises:
            InvalidInput: A file, a column or a value is wrong.
            UnknownName: There is no such aspect.
        """
        names.assume("judgements", CONSTANTS)
        judged = None if judgements is None else Judged(open_judgements(judgements, names, [aspect]), aspect)
        written = None if candidates is None else open_rows(candidates, Candidate, "candidates", names)
        return cls(
            None if maxima is None else open_maxima(maxima, names),
            None if written is None else {(row.item, row.system): row.text for row in written},
            None if judged is None else dict(zip(judged.rows, judged.of([*judged.rows]).means.tolist(), strict=True)),
        )


def apply_to_files(
    scores: Sequence[str],
    model: str,
    options: ApplyOptions,
    *,
    candidates: str | None = None,
    judgements: str | None = None,
    inputs: JudgedInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> ScoreResult:
    """Grade the texts of files of item scores by a fitted combination.

    Args:
        scores: Files of score rows; ``-`` for standard input.
        model: Folder of the combination.
        options: The options.
        candidates: A file of the texts.
        judgements: A file of grades that people gave.
        inputs: Options of reading the files, and the file of the highest grade of each item.
        on_message: Callback for status messages.

    Raises:
        UsageError: A combination of options is wrong.
        InvalidInput: A file or the folder is invalid, or scores are not those that the combination was fitted on.
    """
    inputs = inputs or JudgedInputOptions()
    files = [*scores, *filter(None, [inputs.maxima, candidates, judgements])]
    if options.out is not None:
        check_apart(options.out, [*files, model])
    check_standard_input(*files)
    names = names_of_files(ROLES, inputs, on_message)
    names.assume("scores", {"system": SYSTEM})
    saved, rows = open_combination(model), open_scores(scores, names)
    beside = Beside.of(names, inputs.maxima, candidates, judgements, options.aspect)
    result = apply_to_rows(rows, saved, options, on_message, beside)
    if (errors := saved.errors) is not None:
        on_message(_typical_error(errors, beside.maxima) if saved.shares else _typical_error_in_grades(errors))
    return result


def _typical_error(errors: OutOfFold, maxima: Mapping[str, float] | None) -> Message:
    """A sentence on how far shares are off, and points where the maxima are known."""
    several = sorted({*maxima.values()}) if maxima else []
    if len(several) > FEW_MAXIMA:
        several = [several[0], several[-1]]
    points = [Message("{off} of {most:g}", off=number(errors.rmse * most, 1), most=most) for most in several]
    return Message(
        "on items that the fit had not seen, grades are off by {share:.0f} % of the maximum typically (RMSE){points}",
        share=100 * errors.rmse,
        points=Message(": {each}", each=Listed(points)) if points else "",
    )


def _typical_error_in_grades(errors: OutOfFold) -> Message:
    """A sentence on how far grades are off."""
    far = "" if errors.far is None else Message(", and {far:.0f} % by more than one", far=100 * errors.far)
    return Message(
        "on items that the fit had not seen, grades are off by {rmse} typically (RMSE){far}",
        rmse=number(errors.rmse, 2),
        far=far,
    )


def apply_to_rows(
    scores: LocatedRows[Score],
    saved: SavedCombination,
    options: ApplyOptions,
    on_message: OnMessage,
    beside: Beside,
) -> ScoreResult:
    """Grade texts by a fitted combination of their scores.

    Args:
        scores: The item scores.
        saved: The combination.
        options: The options.
        on_message: Callback for what was excluded. Where scores have the length, a text without words gets no grade.
        beside: Maxima of the items, texts, and grades that people gave.

    Returns:
        Mean grade of each system; the grades of texts, too, where they are not written to a file.

    Raises:
        UsageError: A combination of options is wrong.
        InvalidInput: A row is invalid, or scores are not those that the combination was fitted on.
        Undefined: No text with words has all scores.
    """
    _check_beside(saved, options, beside)
    maxima = beside.maxima
    scale = _scale(saved, options) if options.clip else None
    scored = Scored(scores)
    found = _checked_signatures(saved, scored, any_references=options.any_references)
    metrics = [column.metric for column in saved.config.columns]
    keys = list(scored.rows)
    every = np.arange(len(keys))
    complete = ~np.isnan(scored.of(every, metrics)).any(axis=1)
    if not complete.any():
        raise Undefined(f"{scored.where}: no text is scored by all of {', '.join(metrics)}")
    wordless = complete & (scored.of(every, [LENGTH])[:, 0] == 0 if LENGTH in scored.columns else False)
    for why, lacking in (("not scored by every metric", ~complete), ("undecided, as they have no words", wordless)):
        for each in excluded_texts(why, [keys[row] for row in np.flatnonzero(lacking)]):
            on_message(f"excluded: {each}")
    rows = np.flatnonzero(complete & ~wordless)
    if not len(rows):
        raise Undefined(f"{scored.where}: no text has words, so none gets a grade")
    with np.errstate(over="ignore", invalid="ignore"):
        grades = saved.model.predict(columns_of(scored, rows, metrics))
    wild = np.flatnonzero(~(np.abs(grades) <= LARGEST))
    if len(wild):
        item, system = keys[rows[wild[0]]]
        raise InvalidInput(
            f"scores of {item} by {system}: too far from those of the fit for a grade", where=scored.where
        )
    if scale is not None:
        grades = grades.clip(*scale)
    graded = [keys[row] for row in rows.tolist()]
    metric = f"combine({saved.hash})"
    parts = [f"{metric}{found}", *([] if scale is None else [f"clip:{Scale(*scale)}"])]
    if maxima is not None:
        grades = grades * maxima_of([item for item, _ in graded], maxima)
        parts.append(f"maxima:{hashlib.sha256(json.dumps(sorted(maxima.items())).encode()).hexdigest()[:12]}")
    elif saved.shares:
        on_message(Message("grades are shares of the maximum of their item; points need {maxima}", maxima=MAXIMA))
    result = _graded(graded, grades, metric, "|".join([*parts, f"postil:{VERSION}"]))
    if options.out is None:
        return result
    written = result.score_rows()
    if beside.texts is None:
        write(options.out, written)
    else:
        listed = list(_with_texts(written, beside))
        write(options.out, listed)
        on_message(f"written: {options.out} ({counted(len(listed), 'text')})")
    return ScoreResult(scores=result.scores, aggregation="corpus")


def _with_texts(rows: Iterable[Score], beside: Beside) -> Iterator[GradedText]:
    """The texts in their order with their grades, and grades of other texts behind them."""
    graded = {(row.item or "", row.system): row for row in rows}
    about = next((row.metric, row.signature) for row in graded.values())
    texts, maxima, grades = beside.texts or {}, beside.maxima or {}, beside.grades or {}
    for key in dict.fromkeys([*texts, *graded]):
        score = round(graded[key].score, HUNDREDTHS) if key in graded else None
        yield GradedText(*key, texts.get(key), score, grades.get(key), maxima.get(key[0]), *about)


def _check_beside(saved: SavedCombination, options: ApplyOptions, beside: Beside) -> None:
    """Refuse tables and a scale that do not go with a combination or with the options."""
    if beside.maxima is not None and not saved.shares:
        raise UsageError(
            "{maxima}: the combination was fitted to ratings as they are; fit it to shares of maxima, with {maxima}",
            maxima=MAXIMA,
        )
    if saved.shares and options.scale is not None:
        raise UsageError("{scale}: the combination gives shares, from 0 to 1; leave it out", scale=Setting("scale"))
    if options.aspect is not None and beside.grades is None:
        raise UsageError("{aspect}: only with {judgements}", aspect=Setting("aspect"), judgements=Setting("judgements"))
    if beside.grades is not None and beside.texts is None:
        raise UsageError(
            "{judgements}: grades that people gave stand beside texts, and no {candidates} are given",
            judgements=Setting("judgements"),
            candidates=Setting("candidates"),
        )
    if beside.texts is not None and options.out is None:
        raise UsageError(
            "{candidates}: texts go into the file of {out}, and none is named",
            candidates=Setting("candidates"),
            out=Setting("out"),
        )


def _graded(keys: Sequence[tuple[str, str]], grades: NDArray[np.float64], metric: str, signature: str) -> ScoreResult:
    by_system = grouped((system, grade) for (_, system), grade in zip(keys, grades.tolist(), strict=True))
    return ScoreResult(
        scores=tuple(
            SystemScore(system=system, metric=metric, score=math.fsum(of) / len(of), n=len(of), signature=signature)
            for system, of in by_system.items()
        ),
        aggregation="corpus",
        items={metric: grades},
        item_names=tuple(item for item, _ in keys),
        system_names=tuple(system for _, system in keys),
    )


def _scale(saved: SavedCombination, options: ApplyOptions) -> tuple[float, float]:
    if options.scale is not None:
        return options.scale.low, options.scale.high
    if saved.scale is None:
        raise UsageError(
            "{clip} needs {scale}, as the combination was fitted without {one}",
            clip=Setting("clip", value=True),
            scale=Setting("scale", Blank("LOW:HIGH"), python="postil.Scale(LOW, HIGH)"),
            one=Setting("scale"),
        )
    return saved.scale


def _checked_signatures(saved: SavedCombination, scored: Scored, *, any_references: bool) -> str:
    """Refuse scores other than those of the fit.

    Returns:
        Part of the signature that tells the columns, where they differ from those of the fit.
    """
    for column in saved.config.columns:
        name, wanted = column.metric, column.signature
        if name not in scored.columns:
            raise InvalidInput(
                f"expected scores by {name}, which the combination needs, got {', '.join(scored.metrics)}",
                where=scored.where,
            )
        got = scored.signatures[name] or EXTERNAL
        if got == wanted or (any_references and _without_references(got) == _without_references(wanted)):
            continue
        advice = "score as for the fit, or fit anew"
        if _without_references(got) == _without_references(wanted):
            taken = Setting("any_references", value=True)
            advice = Message("where other references are meant, give {taken}", taken=taken)
        raise InvalidInput(
            Message("{name}: expected {wanted}, got {got}; {advice}", name=name, wanted=wanted, got=got, advice=advice),
            where=scored.where,
            field="signature",
        )
    signatures = [scored.signatures[column.metric] or EXTERNAL for column in saved.config.columns]
    if signatures == [column.signature for column in saved.config.columns]:
        return ""
    return f"|columns:{hashlib.sha256(json.dumps(signatures).encode()).hexdigest()[:12]}"


def _without_references(signature: str) -> str:
    """A signature without the parts that other references change.

    >>> _without_references("cider(order=4)|references:5|background:references/12|documents:0a|postil:1")
    'cider(order=4)|postil:1'
    """
    return "|".join(part for part in signature.split("|") if not part.startswith(OF_REFERENCES))
