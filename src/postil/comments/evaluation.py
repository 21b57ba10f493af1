"""`postil evaluate`: scores of commenters' suggestions for the articles of a split, against readers' comments.

As in Table 7 of Automatic Article Commenting (ACL 2018), with readers beside the models. Readers' comments are weighted
references; one per article is set aside as the candidate of the system ``human``, and is no reference for any system.

Dates tell of leakage from articles later than the training, of scores by period, and of the age of suggested comments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, Unpack

import msgspec
import numpy as np

from postil.comments.candidate_pool import MISSING
from postil.comments.commenter import Commenter, load_commenter
from postil.comments.neural_commenter import NeuralCommenter
from postil.comments.options import EvaluateOptions
from postil.comments.ranking_evaluation import distinct
from postil.comments.result import (
    HUMAN,
    CommenterResult,
    CommenterTexts,
    EvaluationSettings,
    PeriodScores,
    ReferenceCounts,
    TrainingPeriod,
)
from postil.comments.retrieval import Retriever, check_endpoint, needs_endpoint
from postil.corpus.store import Corpus
from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_apart
from postil.data.explain import are, have
from postil.data.fields import draw_key, unix_seconds
from postil.data.grades import DEFAULT, METHODS, SCALE_SETTING, Scale, weigh
from postil.data.model_folders import Model
from postil.data.row_files import Writer
from postil.data.rows import Article, Candidate, Comment, Reference, Score
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.messages import Listed, Message, Setting
from postil.metrics.evaluation import Batch, Evaluation, ReferenceTexts, ScoredBatch, SystemTotals, weighting_signature
from postil.metrics.metric_set import MetricSet, lowest_weight, parse_all
from postil.metrics.spec import load_plugins
from postil.metrics.ungraded import NAME, similarity_of
from postil.screening.filtering import CandidateFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.corpus.passes import OnProgress
    from postil.data.streams import FilePath
    from postil.data.suggestions import Suggestions
    from postil.keywords import EvaluateKeywords
    from postil.metrics.base import Metric
    from postil.text.tokens import Tokens

__all__ = [
    "CommenterEvaluation",
    "Readers",
    "evaluate_commenters",
    "needs_scale",
    "parted_readers",
    "read_readers",
    "writing",
]


@dataclass(frozen=True, eq=False, slots=True)
class Readers:
    """Readers' comments on the articles of a split.

    Args:
        where: The corpus and split, for messages.
        articles: The articles; their comments are the references.
        humans: For each article a comment that is no reference.
        left_out: Number of further articles, which have no two comments that differ.
    """

    where: str
    articles: Sequence[Article]
    humans: list[str]
    left_out: int

    @property
    def references(self) -> list[str]:
        """Texts of the references, article after article."""
        return [comment.text for article in self.articles for comment in article.comments]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offsets of the references of each article, int64[articles + 1]."""
        return np.cumsum([0, *(len(article.comments) for article in self.articles)])

    def usual_method(self) -> str:
        """Source of the weights by default.

        Grades where all references have one; else votes where all have a number of them that distinguishes some
        reference from another of its article; else consensus.
        """
        rows = self._rows()
        if all(row.mean_grade is not None for row in rows):
            return DEFAULT
        voted = all(row.upvotes is not None for row in rows) and self.tied() < len(self.articles)
        return "votes" if voted else NAME

    def tied(self) -> int:
        """Number of articles in which no reference has more votes than another, as where nobody voted.

        The method ``votes`` gives all references of such an article the weight 1.
        """
        return sum(len({comment.upvotes for comment in article.comments}) <= 1 for article in self.articles)

    def weighted(self, method: str | None, scale: Scale | None, *, lowest: float = 0.0) -> ReferenceTexts:
        """The comments as references, weighted by a method.

        Args:
            method: One of `METHODS` that reads grades or votes, or ``consensus``; None for weights of 1.
            scale: Scale of the grades.
            lowest: The lowest weight that all metrics take.

        Raises:
            UnknownName, UsageError: There is no such method, or it does not go with the metrics or without a scale.
            InvalidInput: References lack what the method reads, or have grades that are not on the scale.
        """
        texts: list[object] = [*self.references]
        if method is None:
            return ReferenceTexts(texts, self.offsets)
        similarity = similarity_of(method)
        return ReferenceTexts(
            texts,
            self.offsets,
            self._weights(method, scale, lowest) if similarity is None else None,
            weighting=weighting_signature(method, scale),
            similarity=similarity,
        )

    def _weights(self, name: str, scale: Scale | None, lowest: float) -> NDArray[np.float64]:
        known = [method for method in METHODS if METHODS[method].field != "weight"]
        if name not in known:
            raise UnknownName("weights method", name, [*known, NAME])
        method = METHODS[name]
        if method.low < lowest:
            raise UsageError(f"the weights method '{name}' gives weights below 0, which only delta-bleu takes")
        rows = self._rows()
        lacking = sum((row.mean_grade if method.field == "grade" else row.upvotes) is None for row in rows)
        if lacking:
            what = "grade" if method.field == "grade" else "number of upvotes"
            lack = f"{lacking:,} of {len(rows):,} comments {have(lacking)} no {what}"
            problem = f"{lack}, which the weights method '{name}' reads"
            raise InvalidInput(f"{problem}; {NAME} needs none", where=self.where)
        if method.needs_scale and scale is None:
            raise UsageError(
                "{where}: the grades need a scale (weights '{name}'): {scale}",
                where=self.where,
                name=name,
                scale=SCALE_SETTING,
            )
        items = np.repeat(np.arange(len(self.articles)), np.diff(self.offsets))
        try:
            return weigh(rows, items, method=name, scale=scale)
        except InvalidInput as error:
            article = rows[(error.line or 1) - 1].item
            problem = Message("article {article}: {problem}", article=article, problem=error.message)
            raise InvalidInput(problem, where=self.where, field=error.field) from None

    def _rows(self) -> list[Reference]:
        return [reference for article in self.articles for reference in article.references()]


def needs_scale(method: str | None) -> bool:
    """Return True if a weights method, if there is one, reads grades."""
    return method in METHODS and METHODS[str(method)].needs_scale


def read_readers(corpus: Corpus, split: str, seed: int) -> Readers:
    """Read the articles of a split, and set one comment of each aside; see `parted_readers`.

    Args:
        corpus: The corpus.
        split: Its split.
        seed: Seed of the draw.

    Raises:
        UsageError: No article has two comments that differ.
    """
    return parted_readers(f"{corpus.path}, {split}", corpus.articles(split), seed)


def parted_readers(where: str, every: Iterable[Article], seed: int) -> Readers:
    """Set one comment of each article aside.

    Where some comments of an article are no references already, as in a test set whose references were drawn, it is
    one of those. A comment with the text of a reference is never set aside.

    Args:
        where: The corpus and split, for messages.
        every: The articles.
        seed: Seed of the draw, which depends on it and the article's id alone.

    Raises:
        UsageError: No article has two comments that differ.
    """
    articles: list[Article] = []
    humans: list[str] = []
    left_out = 0
    for article in every:
        drawn, rest = _parted(article, seed)
        if drawn is None or not rest:
            left_out += 1
            continue
        humans.append(drawn.text)
        articles.append(msgspec.structs.replace(article, comments=tuple(rest), held_out=()))
    if not articles:
        raise UsageError(f"{where}: no article has two comments that differ")
    return Readers(where, articles, humans, left_out)


def _parted(article: Article, seed: int) -> tuple[Comment | None, Sequence[Comment]]:
    """Choose a comment that is no reference; return it and those that are."""
    said = {comment.text for comment in article.comments}
    others = [comment for comment in article.held_out or () if comment.text not in said]
    pool = others or article.comments
    if not pool:
        return None, ()
    drawn = pool[draw_key(seed, HUMAN, article.id) % len(pool)]
    return drawn, [comment for comment in article.comments if comment.text != drawn.text]


PERIODS: Final = {"month": 7, "quarter": 7, "year": 4}
"""Periods of the calendar, and the number of characters of a date that tell them."""
DAY: Final = 86_400


def training_periods(
    commenters: Mapping[str, Commenter], corpus: Corpus, articles: Sequence[Article]
) -> Iterator[TrainingPeriod]:
    """Compare the dates of the articles that commenters were trained on with those of the articles of an evaluation.

    Args:
        commenters: Commenters by name; those whose training articles are unknown are left out.
        corpus: The corpus; a generator is known by it if it was trained on it.
        articles: The articles of the evaluation.
    """
    for name, commenter in commenters.items():
        if isinstance(commenter, Retriever):
            ids = set(commenter.pool.articles)
            seconds = np.asarray(commenter.pool.article_dates)
            dates = [f"{np.datetime64(each, 's')}Z" for each in seconds[seconds != MISSING].tolist()]
            number = len(ids)
        elif isinstance(commenter, NeuralCommenter) and commenter.model.trained_on(corpus.metadata.origin):
            trained = [(one.id, one.date) for one in corpus.articles("train")]
            ids, number = {one for one, _ in trained}, len(trained)
            dates = [date for _, date in trained if date]
        else:
            continue
        last = max(dates, default=None)
        yield TrainingPeriod(
            system=name,
            articles=number,
            undated=number - len(dates),
            first=min(dates, default=None),
            last=last,
            shared=sum(one.id in ids for one in articles),
            earlier=sum(bool(last and one.date and one.date <= last) for one in articles),
            dated=sum(bool(one.date) for one in articles),
        )


def suggestion_ages(articles: Sequence[Article], rows: Sequence[Suggestions]) -> NDArray[np.float64]:
    """Ages of the first suggestions, in days: the date of the article less that of the comment.

    Args:
        articles: The articles.
        rows: The suggestions for each; none for readers.

    Returns:
        float64[m], of the suggestions with a source, where both dates are known; below 0 for a comment that was written
        after the article.
    """
    found = []
    for article, row in zip(articles, rows, strict=False):
        sources = row.suggestions[0].provenance.sources if row.suggestions else ()
        if article.date and sources and sources[0].date:
            found.append((unix_seconds(article.date) - unix_seconds(sources[0].date)) / DAY)
    return np.array(found, dtype=np.float64)


Periods: TypeAlias = Mapping[str, Sequence[tuple[str, int]]]
"""Date and index of the articles of each period, by date."""


def periods_of(articles: Sequence[Article], by: str | None, where: str) -> Periods:
    """Sort articles by period; those without a date are in none.

    Args:
        articles: The articles.
        by: A name of `PERIODS`, or a number of periods with as many articles each; None for no periods.
        where: The corpus, for messages.

    Raises:
        UnknownName, UsageError: There is no such period, or the articles have no dates.
    """
    groups = defaultdict[str, list[tuple[str, int]]](list)
    if by is None:
        return groups
    number = int(by) if by.isascii() and by.isdigit() else None
    if number is None and by not in PERIODS:
        raise UnknownName("period", by, [*PERIODS, "a number"])
    dated = sorted((one.date, one.id, place) for place, one in enumerate(articles) if one.date)
    if not dated:
        raise UsageError("{where}: {by_date}: its articles have no dates", where=where, by_date=Setting("by_date", by))
    if number is not None and not 1 <= number <= len(dated):
        raise UsageError(
            "{by_date}: expected 1 to {count:,} periods, as there are articles with dates, got {by}",
            by_date=Setting("by_date"),
            count=len(dated),
            by=by,
        )
    for rank, (date, _, place) in enumerate(dated):
        name = _calendar(date, by) if number is None else f"{rank * number // len(dated) + 1}/{number}"
        groups[name].append((date, place))
    return groups


def period_scores(
    periods: Periods, name: str, stats: Mapping[str, NDArray[np.float64]], metrics: MetricSet, last: str | None
) -> Iterator[PeriodScores]:
    """Scores of a system in each period, as they would be of its articles alone.

    Args:
        periods: The periods.
        name: The system.
        stats: Statistics by spec, float64[articles, k].
        metrics: The metrics.
        last: Date of the newest article that the system was trained on, if it is known.

    Yields:
        One row per period.
    """
    for period, dated in periods.items():
        (first, _), (end, _) = dated[0], dated[-1]
        members = [place for _, place in dated]
        totals = SystemTotals(metrics)
        totals.add(name, {spec: values[members] for spec, values in stats.items()})
        middle = (unix_seconds(first) + unix_seconds(end)) / 2
        yield PeriodScores(
            system=name,
            period=period,
            first=first,
            last=end,
            articles=len(members),
            days=None if last is None else (middle - unix_seconds(last)) / DAY,
            scores={row.metric: row.score for row in totals.scores()},
        )


def _calendar(date: str, by: str) -> str:
    if by == "quarter":
        return f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}"
    return date[: PERIODS[by]]


def date_remarks(periods: Iterable[TrainingPeriod], articles: int, split: str) -> Iterator[str]:
    """Notes on leakage, one per kind of it and period of training.

    Args:
        periods: The periods of training.
        articles: Number of articles of the evaluation.
        split: Their split.
    """
    said = defaultdict[str, list[str]](list)
    for one in periods:
        if one.last and one.dated:
            newest = f"than its newest training article ({one.last[:10]})"
            text = f"all {one.dated:,} articles of {split} with a date are newer {newest}"
            if one.earlier:
                of = f"{one.dated:,} articles of {split} with a date"
                text = Message(
                    "{earlier} no newer {newest}: it may know what came later; corpus build {split_by} avoids that",
                    earlier=f"{one.earlier:,} of {of} {are(one.earlier)}",
                    newest=newest,
                    split_by=Setting("split_by", "date"),
                )
            said[text].append(one.system)
        if one.shared:
            text = f"{one.shared:,} of {articles:,} articles of {split} {are(one.shared)} in train"
            said[text].append(one.system)
    for text, systems in said.items():
        yield Message("{systems}: {text}", systems=", ".join(systems), text=text)


AT_ONCE: Final = 64
SPLITS: Final = ("dev", "test")
_FILES: Final = (Setting("items"), Setting("candidates"))


@dataclass(frozen=True, slots=True)
class CommenterEvaluation:
    """The result of `postil evaluate`, with the texts and item scores that it can write to files.

    Args:
        result: The scores of commenters.
        candidates: The suggestion of each system for each article, empty where it has none.
        items: The score of each of them by each metric.
    """

    result: CommenterResult
    candidates: tuple[Candidate, ...] = field(repr=False)
    items: tuple[Score, ...] = field(repr=False)


def evaluate_commenters(
    commenters: Mapping[str, Commenter] | Sequence[FilePath],
    corpus: Corpus | FilePath,
    options: EvaluateOptions | None = None,
    *,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
    **keywords: Unpack[EvaluateKeywords],
) -> CommenterEvaluation:
    """Score the best suggestion of each commenter for each article of a split.

    The references of an article are its comments. An article of a test set whose references were sampled has others, of
    which one is the candidate of the system ``human``; elsewhere it is one of the comments, which is then no reference.
    A commenter without a suggestion for an article scores 0 there.

    Args:
        commenters: Commenters by name; or model folders, whose names they take.
        corpus: The corpus, or its folder.
        options: Options of the evaluation.
        keywords: Fields of the options, in place of an object.
        on_progress: Callback for progress.

    Raises:
        UnknownName, UsageError: There is no such split, metric or weights method, or names are not clear.
        InvalidInput: A model or the corpus is damaged, a model was trained with another tokenizer, or references lack
            what their weights should come from.
        Undefined: CIDEr of a single article.
        MissingExtra: A model needs torch, which is not installed.
    """
    check_arguments(evaluate_commenters, locals())
    options = options_of(EvaluateOptions, options, keywords)
    load_plugins(options.plugins)
    metrics = parse_all(options.metrics)
    corpus = corpus if isinstance(corpus, Corpus) else Corpus.open(corpus)
    opened, hashes = _opened(commenters, corpus, options)
    UnknownName.check("split", options.split, SPLITS)
    if options.split not in corpus.splits:
        raise UsageError(f"{corpus.path}: it has no {options.split} set; it has {', '.join(corpus.splits)}")

    readers = read_readers(corpus, options.split, options.seed)
    articles, sets = readers.articles, np.arange(len(readers.articles), dtype=np.int32)
    periods = periods_of(articles, options.by_date, readers.where)
    training = tuple(training_periods(opened, corpus, articles))
    newest = {one.system: one.last for one in training}
    method = _method(readers, metrics, options)
    evaluation = _bind(readers, metrics, method, corpus.tokenizer, options)

    totals, suggested = SystemTotals(evaluation.metrics), list[CommenterTexts]()
    candidates, items = list[Candidate](), list[Score]()
    by_period: list[PeriodScores] = []
    asked = _suggestions(opened, articles, on_progress)
    best = {name: [one.suggestions[0].text if one.suggestions else "" for one in rows] for name, rows in asked.items()}
    systems = [*best.items(), (HUMAN, readers.humans)]
    scored_systems = evaluation.measure(Batch(texts, sets) for _, texts in systems)
    for (name, texts), scored in zip(systems, scored_systems, strict=True):
        totals.add(name, scored.stats)
        ages = suggestion_ages(articles, asked.get(name, ()))
        suggested.append(_suggested(name, hashes.get(name), scored.tokens, texts, ages))
        by_period += period_scores(periods, name, scored.stats, evaluation.metrics, newest.get(name))
        candidates += [Candidate(one.id, name, text) for one, text in zip(articles, texts, strict=True)]
        items += _items(name, articles, scored, evaluation.metrics.signatures)
    sizes = np.diff(readers.offsets)
    counts = ReferenceCounts(least=int(sizes.min()), most=int(sizes.max()), mean=float(sizes.mean()))
    result = CommenterResult(
        scores=totals.scores(),
        suggestions=tuple(suggested),
        articles=len(articles),
        left_out=readers.left_out,
        references=counts,
        settings=EvaluationSettings(
            split=options.split,
            weights=method,
            scale=str(options.scale) if options.scale and needs_scale(method) else None,
            seed=options.seed,
        ),
        remarks=(),
        training=training,
        periods=tuple(by_period),
    )
    remarks = tuple(_remarks(result, readers.tied(), options, evaluation.copies.remark))
    return CommenterEvaluation(msgspec.structs.replace(result, remarks=remarks), tuple(candidates), tuple(items))


@contextmanager
def writing(
    *, items: str | None, candidates: str | None, inputs: Sequence[FilePath] = ()
) -> Iterator[Callable[[CommenterEvaluation], None]]:
    """Open files for item scores and candidates, which appear when the block ends well.

    Args:
        items: File for the score of every suggestion.
        candidates: File for the suggestions.
        inputs: Folders that are read.

    Yields:
        Callback that writes what was found.

    Raises:
        UsageError: A file is of an unknown kind, its folder is missing, or it is standard output.
        PostilError: The operating system reports an error.
    """
    if "-" in (items, candidates):
        raise UsageError("{files}: expected a file; standard output is for the table", files=Listed(_FILES, last=", "))
    if items is not None and items == candidates:
        raise UsageError("{name}: {files} are the same file", name=items, files=Listed(_FILES))
    for path in filter(None, (items, candidates)):
        check_apart(path, inputs)
    with ExitStack() as stack:
        scores = stack.enter_context(Writer(items, Score)) if items else None
        texts = stack.enter_context(Writer(candidates, Candidate)) if candidates else None

        def write(found: CommenterEvaluation) -> None:
            for score in found.items if scores else ():
                scores.write(score)  # type: ignore[union-attr]  # there is one
            for text in found.candidates if texts else ():
                texts.write(text)  # type: ignore[union-attr]  # there is one

        yield write


def _opened(
    commenters: Mapping[str, Commenter] | Sequence[FilePath], corpus: Corpus, options: EvaluateOptions
) -> tuple[Mapping[str, Commenter], dict[str, str]]:
    """Commenters by name, and the hashes of those that come from folders."""
    if isinstance(commenters, Mapping):
        names, found, hashes = list(commenters), dict(commenters), dict[str, str]()
    else:
        folders = [str(folder) for folder in commenters]
        names = [Path(folder).resolve().name for folder in folders]
        if len({*names, HUMAN}) <= len(names):
            names = folders
        found, hashes = {}, {}
        # Every article is scored by itself, so a text may be suggested for any number of them.
        screen = CandidateFilter(repeat=0)
        models = [Model.open(folder) for folder in folders]
        if options.encoder is not None:
            check_endpoint(", ".join(folders), models)
        for name, folder, model in zip(names, folders, models, strict=True):
            model.check_tokenizer(corpus.tokenizer, corpus.path)
            encoder = options.encoder if needs_endpoint(model) else None
            commenter = load_commenter(folder, candidate_filter=screen, jobs=options.jobs, encoder=encoder)
            found[name], hashes[name] = commenter, model.hash
    if not names:
        raise UsageError("expected at least one model")
    if len({*names, HUMAN}) <= len(names):
        raise UsageError(f"expected models of different names, none of them {HUMAN}, got {', '.join(names)}")
    return found, hashes


def _method(readers: Readers, metrics: Mapping[str, Metric], options: EvaluateOptions) -> str | None:
    """Weights method; None where no metric reads weights."""
    if not any(metric.needs_weights for metric in metrics.values()):
        return None
    return options.weights or (DEFAULT if options.scale else readers.usual_method())


def _bind(
    readers: Readers, metrics: Mapping[str, Metric], method: str | None, tokenizer: str, options: EvaluateOptions
) -> Evaluation:
    """Bind the metrics to readers' comments; Han texts are as they are in the corpus."""
    references = readers.weighted(method, options.scale, lowest=lowest_weight(metrics, 0.0))
    try:
        return Evaluation(metrics, references, tokenizer=tokenizer, jobs=options.jobs, allow_han=True)
    except Undefined:
        raise Undefined(
            "{where}: one article alone has no document frequencies for CIDEr; take other metrics: {metrics}",
            where=readers.where,
            metrics=Setting("metrics", "meteor", python='("meteor",)'),
        ) from None


def _items(
    system: str, articles: Sequence[Article], scored: ScoredBatch, signatures: Mapping[str, str]
) -> Iterator[Score]:
    """Item scores of a system's suggestions."""
    for spec, values in scored.item_scores():
        signature, summed = signatures[spec], scored.statistics.get(spec)
        statistics = [()] * len(articles) if summed is None else map(tuple, summed.tolist())
        rows = zip(articles, values.tolist(), statistics, scored.copies.tolist(), strict=True)
        for one, value, several, copied in rows:
            yield Score(one.id, system, spec, value, signature, several, copied or None)


def _suggestions(
    commenters: Mapping[str, Commenter], articles: Sequence[Article], on_progress: OnProgress
) -> dict[str, list[Suggestions]]:
    """Suggestions of each system, one row per article."""
    asked = [msgspec.structs.replace(article, comments=()) for article in articles]
    found: dict[str, list[Suggestions]] = {}
    for name, commenter in commenters.items():
        found[name] = []
        parts = [asked[begin : begin + AT_ONCE] for begin in range(0, len(asked), AT_ONCE)]
        with on_progress(f"{name}: articles, {AT_ONCE} at a time", parts, len(parts)) as batches:
            for batch in batches:
                found[name] += commenter.comment(batch, 1)
    return found


def _suggested(
    system: str, digest: str | None, tokens: Tokens, texts: Sequence[str], ages: NDArray[np.float64]
) -> CommenterTexts:
    def share(n: int) -> float | None:
        try:
            return distinct(tokens.ids, tokens.offsets, n)
        except Undefined:
            return None

    given = sum(map(bool, texts))
    return CommenterTexts(
        system=system,
        hash=digest,
        nothing=len(texts) - given,
        words=len(tokens.ids) / given if given else None,
        distinct_1=share(1),
        distinct_2=share(2),
        age=float(ages.mean()) if len(ages) else None,
        dated=len(ages),
        later=int((ages < 0).sum()),
    )


def _remarks(result: CommenterResult, tied: int, options: EvaluateOptions, copies: str) -> Iterator[str]:
    """Notes on the numbers, one line each.

    Args:
        result: The scores.
        tied: Number of articles in which no reference has more votes than another, see `Readers.tied`.
        options: Options of the command.
        copies: Remark on suggestions that are references; empty without any.
    """
    counts = result.references
    count = f"{counts.least}" if counts.least == counts.most else f"{counts.least} to {counts.most}"
    mean = "" if counts.least == counts.most else f", on average {counts.mean:.1f}"
    yield f"{result.articles:,} articles of {options.split}, references per article: {count}{mean}"
    if result.left_out:
        yield f"{result.left_out:,} more articles are excluded: one comment alone, or all the same"
    yield f"weights: {_weights(result, tied, options)}"
    yield f"human: a comment of each article, drawn with seed {options.seed}, that is no reference"
    for one in result.suggestions:
        if one.nothing:
            yield f"{one.system}: no suggestion for {one.nothing:,} of {result.articles:,} articles, which score 0"
    yield from filter(None, [copies])
    yield from date_remarks(result.training, result.articles, options.split)
    if result.periods:
        yield "days: from the newest training article to the middle of the period"


def _weights(result: CommenterResult, tied: int, options: EvaluateOptions) -> str:
    method, scale, articles = result.settings.weights, result.settings.scale, result.articles
    if method is None:
        return "no metric asks for any"
    if scale is not None:
        return f"human grades on the scale {scale} ({method})"
    if method == "votes":
        if tied == articles:
            problem = "all 1, since no reference has more votes than another of its article (votes)"
            return f"{problem}: metrics with w- are the same as without"
        level = f"; all 1 in {tied:,} of {articles:,} articles, where no reference has more votes than another"
        return f"the readers' votes for each reference (votes){level if tied else ''}"
    votes = "no reference has more votes than another" if tied == articles else "not every one has upvotes"
    why = "" if options.weights else f"; not every reference has a grade, and {votes}"
    return f"similarity of a reference to the others of its article ({method}){why}"
