"""`postil passages --summaries`: score systems' summaries of topics against pooled references.

Source: González-Gallardo, SanJuan and Torres-Moreno, "Extending Text Informativeness Measures to Passage
Interestingness Evaluation", section 3.2, where a run has one summary per topic.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import numpy as np

from postil.data.explain import shown
from postil.data.grades import Scale
from postil.data.groups import grouped
from postil.data.options import InputOptions, SeedOptions, ThreadOptions
from postil.data.parts import Excluded
from postil.data.row_files import check_standard_input, read
from postil.data.row_locations import FileLocations, LocatedRows, RowLocations
from postil.data.rows import Candidate, Judgement, Passage, Score, TopicArticle
from postil.errors import InvalidInput, Undefined, UsageError, check_least
from postil.messages import Setting
from postil.meta.correlation import correlations
from postil.meta.resampling import RESAMPLES, Draws, mean_estimates
from postil.meta.table import join
from postil.metrics.passage_measures import Measure, measure_passages
from postil.metrics.passage_pools import PassageCollection, Pools
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import parse_measure
from postil.options import Flag, options
from postil.passages.calls import MEASURES
from postil.passages.files import check_passages
from postil.passages.options import PassagesOptions
from postil.passages.result import SummaryData, SummaryResult, SummaryScore, SummarySettings
from postil.text.tokens import Tokens
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.meta.parts import Correlation

__all__ = ["SummariesOptions", "SummaryFiles", "score_summaries", "score_summary_files", "summary_scores"]

FOREIGN: Final = "no such word"
"""A word that is in no text: no tokenizer returns one with spaces."""


def summary_scores(
    measures: Sequence[Measure],
    collection: PassageCollection,
    references: Sequence[NDArray[np.int64]],
    weights: NDArray[np.float64],
    *,
    summaries: NDArray[np.int64],
    longest: int,
    jobs: int = 1,
) -> dict[Measure, NDArray[np.float64]]:
    """Score the summary of each topic by each system.

    A missing summary, or one without units, has the score of ``longest`` words that are in no reference: 0 of the
    measures for which higher is better, ln 2 of ``js``, and of ``kl`` the most that a text of that length can have. A
    summary that says nothing is thus never better than one that says something, which it can be by the formula of
    ``kl``; only a negative ``cosine`` is below it.

    Args:
        measures: The measures.
        collection: References and summaries; its background is what ``kl`` and ``tf-idf`` take for all passages.
        references: For each topic the rows of its reference, int64[r].
        weights: float64[n], the weight of each row of the collection in a reference.
        summaries: int64[topics, systems], the row of each summary, -1 where there is none.
        longest: Largest number of words of a summary.
        jobs: Number of threads; the numbers do not depend on it.

    Returns:
        For each measure float64[topics, systems]; NaN where the reference has no units.

    Raises:
        UsageError: A measure looks at no reference.

    The reference is ``a b``; the second system has no summary:

    >>> from postil.metrics.spec import parse_measure
    >>> from postil.text.tokens import Vocabulary
    >>> texts = PassageCollection(Vocabulary().encode_tokens([["a", "b"], ["a", "c"]]), background=1)
    >>> measures = [parse_measure("f1-1"), parse_measure("kl-1")]
    >>> rows = np.array([[1, -1]])
    >>> found = summary_scores(measures, texts, [np.array([0])], np.ones(2), summaries=rows, longest=2)
    >>> [values.round(3).tolist() for values in found.values()]
    [[[0.5, 0.0]], [[0.549, 1.099]]]
    """
    for measure in measures:
        if not measure.uses_reference:
            raise UsageError(f"{measure.name}: expected a measure that compares with a reference; leave it out")
    extended = _with_foreign(collection, longest)
    worst = len(collection)
    texts = np.column_stack([np.where(summaries < 0, worst, summaries), np.full(len(summaries), worst)])
    held = np.concatenate(references)
    nowhere = np.zeros(texts.size, np.int64)
    pools = Pools(
        reference_offsets=np.cumsum([0, *map(len, references)]),
        references=held.astype(np.int32),
        weights=weights[held],
        text_offsets=np.arange(0, texts.size + 1, texts.shape[1]),
        texts=texts.ravel().astype(np.int32),
        own=nowhere[:0],
        own_begins=nowhere,
        own_ends=nowhere,
    )
    found = {}
    for measure, values in measure_passages(measures, extended, pools, jobs).items():
        of_topics = values.reshape(texts.shape)
        found[measure] = np.where(np.isfinite(of_topics[:, :-1]), of_topics[:, :-1], of_topics[:, -1:])
    return found


def _with_foreign(collection: PassageCollection, longest: int) -> PassageCollection:
    """The same with one more row, which shares nothing with any other: its words have no vectors either."""
    tokens = collection.tokens
    foreign = tokens.vocabulary.encode_tokens([[FOREIGN] * longest])
    return PassageCollection(
        Tokens(
            np.concatenate([tokens.ids, foreign.ids]),
            np.append(tokens.offsets, tokens.offsets[-1] + longest),
            tokens.vocabulary,
        ),
        _with_empty(collection.words),
        background=len(collection) if collection.background is None else collection.background,
        written=lambda: _with_empty(collection.written()),
    )


def _with_empty(words: Tokens) -> Tokens:
    """Texts and one more without words."""
    return Tokens(words.ids, np.append(words.offsets, words.offsets[-1]), words.vocabulary)


MAX_WORDS: Final = 500
"""Largest number of words of a summary in the paper's track."""

FEW: Final = 5
"""Smallest number of topics with a usable bootstrap, and of systems with a usable correlation."""

Kind: TypeAlias = Literal["passages", "articles"]
Found: TypeAlias = "dict[Measure, NDArray[np.float64]]"


@options
class SummariesOptions(Preprocessing, SeedOptions, ThreadOptions):
    """Options of scoring summaries.

    Args:
        measures: Spec of a measure; by default the nine of the paper.
        scale: Scale of the passages' grades, for measures with w-; by default 0 to the highest.
        resamples: Number of resamples of the topics, for confidence intervals.
        max_words: Number of words at which summaries are cut.
    """

    measures: Annotated[tuple[str, ...], Flag("measure", short="m", metavar="SPEC")] = ()
    scale: Annotated[Scale | None, Flag(metavar="LOW:HIGH")] = None
    resamples: Annotated[int, Flag(min=1)] = RESAMPLES
    max_words: Annotated[int, Flag(min=1)] = MAX_WORDS

    def __post_init__(self) -> None:
        if self.anchors:
            raise UsageError("{anchors}: summaries have none; leave it out", anchors=Setting("anchors"))
        check_least(1, resamples=self.resamples, max_words=self.max_words, jobs=self.jobs)
        check_least(0, seed=self.seed)

    @classmethod
    def of(cls, given: PassagesOptions, max_words: int | None = None) -> SummariesOptions:
        """The options of the command `postil passages` that summaries have as well.

        Args:
            given: The options.
            max_words: Number of words at which summaries are cut; by default `MAX_WORDS`.

        Raises:
            UsageError: An option is set that ranks passages, which have no list here.
        """
        usual, shared = PassagesOptions(), {field.name for field in fields(cls)}
        for field in fields(given):
            if field.name not in shared and getattr(given, field.name) != getattr(usual, field.name):
                raise UsageError(
                    "{setting} ranks passages, and {summaries} scores whole texts; leave one of them out",
                    setting=Setting(field.name),
                    summaries=Setting("summaries"),
                )
        values = {name: getattr(given, name) for name in shared - {"max_words"}}
        return cls(**values, max_words=MAX_WORDS if max_words is None else max_words)


@dataclass(frozen=True, kw_only=True)
class SummaryFiles:
    """Files of passages and summaries.

    Args:
        passages: Rows (topic, id, text, grade).
        summaries: Rows (item: the topic, system, text).
        articles: Rows (topic, text), or None.
    """

    passages: str
    summaries: str
    articles: str | None = None

    @property
    def paths(self) -> list[str]:
        """The files that are given."""
        return [each for each in (self.passages, self.summaries, self.articles) if each is not None]


def score_summary_files(
    files: SummaryFiles,
    options: SummariesOptions,
    *,
    command: str = "",
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> tuple[SummaryResult, list[Score]]:
    """Score the summaries of a file; see `score_summaries`.

    Args:
        files: The files; one of them may be `-` for standard input.
        options: Options.
        command: The command line, if there was one.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        InvalidInput, UnknownName, UsageError, Undefined: As `score_summaries`.
    """
    check_standard_input(*files.paths)
    given = (inputs or InputOptions()).readings(
        {"passages": Passage, "summaries": Candidate, "articles": TopicArticle}, on_message
    )
    passages = read(files.passages, Passage, given["passages"])
    summaries = read(files.summaries, Candidate, given["summaries"])
    articles = read(files.articles, TopicArticle, given["articles"]) if files.articles is not None else None
    return score_summaries(
        list(passages),
        list(summaries),
        options,
        list(articles) if articles is not None else None,
        places=(
            passages.places,
            summaries.places,
            articles.places if articles is not None else RowLocations("articles"),
        ),
        command=command,
    )


def score_summaries(
    passages: Sequence[Passage],
    summaries: Sequence[Candidate],
    options: SummariesOptions,
    articles: Sequence[TopicArticle] | None = None,
    *,
    places: tuple[RowLocations, RowLocations, RowLocations] | None = None,
    command: str = "",
) -> tuple[SummaryResult, list[Score]]:
    """Score each system's summary of each topic against the topic's informative passages, pooled.

    With articles each summary is also scored against the article of its topic, and the two rankings of the systems are
    correlated. A system's scores do not depend on the other systems.

    Args:
        passages: Graded passages; those with a grade above 0 are the reference of their topic, all of them are what
            ``kl`` and ``tf-idf`` take for the whole collection.
        summaries: One text per topic (``item``) and system. A missing or empty one counts as the worst; see
            `postil.passages.summaries.summary_scores`.
        options: Options.
        articles: The other reference, pooled where a topic has several; they join the whole collection there.
        places: Locations of passages, summaries and articles, for messages.
        command: The command line, if there was one.

    Returns:
        The result, and one row per topic, system and measure with the topic as item; higher is better, so divergences
        are negated. Measures by articles have ``, articles`` behind their names.

    Raises:
        InvalidInput: A passage has no grade, a system has two summaries of a topic, no summary is of a topic with
            informative passages, or too many texts are Han text and meet the ``words`` tokenizer.
        UnknownName, UsageError: A measure, tokenizer, stemmer or stop list does not exist or does not fit.
        Undefined: No passage has a grade above 0.

    >>> pool = [Passage("tides", "1", "the moon pulls the water", grade=1), Passage("tides", "2", "buy now", grade=0)]
    >>> runs = [Candidate("tides", "a", "The moon pulls."), Candidate("tides", "b", "Buy now!")]
    >>> result, rows = score_summaries(pool, runs, SummariesOptions(measures=("f1-1",)))
    >>> [(row.system, round(row.mean, 3)) for row in result.scores]
    [('a', 0.857), ('b', 0.0)]
    """
    places = places or (RowLocations("passages"), RowLocations("summaries"), RowLocations("articles"))
    work = _Work(passages, summaries, options, articles, places)
    scored: dict[Kind, Found] = {"passages": work.scores("passages")}
    if articles is not None:
        scored["articles"] = work.scores("articles")
    means = tuple(row for kind, found in scored.items() for row in work.means(kind, found))
    rows = [row for kind, found in scored.items() for row in work.items(kind, found)]
    agreement, undefined = work.agreement(rows) if articles is not None else ((), ())
    result = SummaryResult(
        scores=means,
        agreement=agreement,
        data=SummaryData(
            systems=len(work.systems),
            topics=len(work.topics),
            summaries=int((work.table >= 0).sum()),
            cut=work.collection.cut,
            left_out=tuple(work.left_out(scored)),
        ),
        notes=(*work.notes(), *undefined),
        settings=SummarySettings(
            tokenizer=options.tokenizer,
            stem=options.stem,
            stop=options.stop,
            max_words=options.max_words,
            resamples=options.resamples,
            seed=options.seed,
            postil=VERSION,
            command=command,
        ),
    )
    return result, rows


class _Work:
    """Passages, articles and summaries as one collection, in this order.

    Args:
        passages: P passages.
        summaries: Their summaries.
        options: Options.
        articles: A articles, or None.
        places: Locations of all three.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        summaries: Sequence[Candidate],
        options: SummariesOptions,
        articles: Sequence[TopicArticle] | None,
        places: tuple[RowLocations, RowLocations, RowLocations],
    ) -> None:
        self.options = options
        self.measures = {name: parse_measure(name) for name in options.measures or MEASURES}
        self.data = check_passages(passages, options.scale, places[0])
        informative = np.flatnonzero(self.data.grades > 0)
        self._of_topic = {
            self.data.topics[number]: informative[self.data.topic[informative] == number]
            for number in np.unique(self.data.topic[informative]).tolist()
        }
        self.topics = list(self._of_topic)
        self._articles = articles or ()
        self._article_of = grouped((article.topic, row) for row, article in enumerate(self._articles, len(passages)))
        if articles is not None and not self._of_topic.keys() & self._article_of.keys():
            raise InvalidInput("expected articles on topics of the passages, got none", where=places[2].where)
        parts = (
            passages,
            [Passage(each.topic, str(number), each.text) for number, each in enumerate(self._articles)],
            [Passage(each.item, each.system, each.text) for each in summaries],
        )
        in_order = (places[0], places[2], places[1])
        sources = FileLocations(", ".join(each.where for each in in_order))
        texts = list(sources.rows(LocatedRows(iter(part), of) for part, of in zip(parts, in_order, strict=True)))
        self.begin = len(texts) - len(summaries)
        self.systems, self.table = _table(summaries, self.topics, self.begin, places[1])
        self.other = [f"{each.item} by {each.system}" for each in summaries if each.item not in self._of_topic]
        longest = np.where(np.arange(len(texts)) < self.begin, np.iinfo(np.int64).max, options.max_words)
        self.collection = options.collection(texts, sources, options.jobs, longest)

    def scores(self, kind: Kind) -> Found:
        """Scores by each measure, float64[topics, systems]; NaN where a topic has no reference.

        Args:
            kind: The reference.

        Raises:
            UsageError: A measure looks at no reference.
        """
        rows = self._of_topic if kind == "passages" else self._article_of
        whole = PassageCollection(
            self.collection.tokens,
            self.collection.words,
            background=len(self.data.passages) if kind == "passages" else self.begin,
            written=self.collection.written,
        )
        weights = np.ones(len(whole))
        weights[: len(self.data.passages)] = self.data.grades / self.data.scale.high
        return summary_scores(
            list(self.measures.values()),
            whole,
            [np.array(rows.get(topic, ()), np.int64) for topic in self.topics],
            weights,
            summaries=self.table,
            longest=self.options.max_words,
            jobs=self.options.jobs,
        )

    def means(self, kind: Kind, found: Found) -> Iterator[SummaryScore]:
        """Mean scores of the systems by each measure.

        Args:
            kind: The reference.
            found: Result of `scores`.

        Raises:
            Undefined: No reference has a unit of a measure.
        """
        for name, measure in self.measures.items():
            values = found[measure]
            values = values[~np.isnan(values).any(axis=1)]
            if not len(values):
                raise Undefined(f"{name}: none of the reference {kind} has a unit that it counts")
            estimates = mean_estimates(values, Draws(resamples=self.options.resamples, seed=self.options.seed))
            for system, each in zip(self.systems, estimates, strict=True):
                yield SummaryScore(
                    system=system,
                    measure=name,
                    reference=kind,
                    mean=each.value,
                    low=each.low,
                    high=each.high,
                    n=len(values),
                    better=measure.better,
                    signature=self._signature(kind, measure),
                )

    def items(self, kind: Kind, found: Found) -> Iterator[Score]:
        """One row per topic, system and measure; higher is better.

        Args:
            kind: The reference.
            found: Result of `scores`.
        """
        for name, measure in self.measures.items():
            signature = self._signature(kind, measure)
            for topic, scores in zip(self.topics, measure.ranked(found[measure]).tolist(), strict=True):
                for system, score in zip(self.systems, scores, strict=True):
                    if np.isfinite(score):
                        yield Score(topic, system, _named(name, kind), score, signature)

    def agreement(self, rows: Sequence[Score]) -> tuple[tuple[Correlation, ...], tuple[str, ...]]:
        """Correlations over systems of the mean scores by the two references, and notes on undefined ones.

        Args:
            rows: Rows of `items`, by both references.
        """
        made: list[Correlation] = []
        notes: dict[str, None] = {}
        for name in self.measures:
            scores = [row for row in rows if row.metric == name]
            others = [row for row in rows if row.metric == _named(name, "articles")]
            if {row.item for row in scores}.isdisjoint(row.item for row in others):
                notes[f"{name}, passages and articles: no topic has both"] = None
                continue
            found = correlations(
                join(scores, [Judgement(str(row.item), row.system, "articles", row.score) for row in others]),
                by="system",
                draws=Draws(resamples=self.options.resamples, seed=self.options.seed, jobs=self.options.jobs),
            )
            made += found.rows
            notes.update(dict.fromkeys(f"{name}, passages and articles: {each.reason}" for each in found.absent))
        return tuple(made), tuple(notes)

    def left_out(self, scored: dict[Kind, Found]) -> Iterator[Excluded]:
        """Excluded topics and summaries, and those that count as the worst.

        Args:
            scored: Scores by reference.
        """
        systems, worst = self.systems, "scored as texts that share nothing with the reference"
        poor = [topic for topic in self.data.topics if topic not in self._of_topic]
        missing = [f"{self.topics[t]} by {systems[s]}" for t, s in np.argwhere(self.table < 0).tolist()]
        parts = [("topics without a passage above grade 0", poor), ("summaries of other topics", self.other)]
        if self._articles:
            parts.append(("topics without an article", [each for each in self.topics if each not in self._article_of]))
        parts.append((f"missing summaries, {worst}", missing))
        written = np.argwhere(self.table >= 0)
        empty = self.collection.tokens.lengths[self.table[tuple(written.T)]] == 0
        names = [f"{self.topics[t]} by {systems[s]}" for t, s in written[empty].tolist()]
        parts.append((f"summaries without a word, {worst}", names))
        for kind, found in scored.items():
            for name, measure in self.measures.items():
                none = np.flatnonzero(np.isnan(found[measure]).any(axis=1)).tolist()
                topics = [self.topics[t] for t in none if kind == "passages" or self.topics[t] in self._article_of]
                parts.append((f"topics whose {kind} have no unit of {name}", topics))
        return (Excluded.of(why, names) for why, names in parts if names)

    def notes(self) -> Iterator[str]:
        """Notes on words and on intervals."""
        if self.collection.note:
            yield self.collection.note
        for name, measure in self.measures.items():
            note = measure.coverage(self.collection, self.options)
            if note:
                yield f"{name}: {note}"
        if len(self.topics) == 1:
            yield "one topic: no intervals"
        elif len(self.topics) < FEW:
            yield f"a bootstrap over {len(self.topics)} topics: its intervals are too narrow"
        if self._articles and 1 < len(self.systems) < FEW:
            yield f"correlations over {len(self.systems)} systems mean little"

    def _signature(self, kind: Kind, measure: Measure) -> str:
        spec, options, scale = "|".join((str(measure), *measure.notes(self.collection))), self.options, self.data.scale
        return (
            f"{spec}|{options.signature}|reference:{kind}|max-words:{options.max_words}|missing:worst"
            f"|scale:{scale.low:g}:{scale.high:g}|postil:{VERSION}"
        )


def _named(measure: str, kind: Kind) -> str:
    return measure if kind == "passages" else f"{measure}, articles"


def _table(
    summaries: Sequence[Candidate], topics: Sequence[str], begin: int, places: RowLocations
) -> tuple[list[str], NDArray[np.int64]]:
    """The systems in their order, and the row of each topic and system, -1 where there is none.

    Args:
        summaries: The summaries.
        topics: The topics.
        begin: Row of the first summary.
        places: Locations of the summaries, for messages.

    Raises:
        InvalidInput: A system has two summaries of a topic, or no summary is of one of the topics.
    """
    if not summaries:
        raise InvalidInput("expected summaries, got none", where=places.where)
    number = {topic: t for t, topic in enumerate(topics)}
    systems: dict[str, int] = {}
    rows: dict[tuple[str, str], int] = {}
    for place, summary in enumerate(summaries):
        systems.setdefault(summary.system, len(systems))
        if rows.setdefault((summary.item, summary.system), place) != place:
            raise places.error(
                place,
                "item",
                f"a second summary of topic {shown(summary.item)} by system {shown(summary.system)}; "
                "expected one text per topic and system, with its passages joined",
            )
    if not any(topic in number for topic, _ in rows):
        raise places.error(
            0,
            "item",
            f"expected a topic with a passage above grade 0, such as {shown(topics[0])}, "
            f"got {shown(summaries[0].item)}",
        )
    table = np.full((len(topics), len(systems)), -1)
    for (topic, system), place in rows.items():
        if topic in number:
            table[number[topic], systems[system]] = begin + place
    return list(systems), table
