"""A run of a judge: texts and controls in blocks, score rows as grades are known, and the result at the end.

Controls of bias grade the same texts by changed prompts; what the differences say is in the result.

Nothing but the answers on disk remembers a run, so a run that goes on is one that begins again. The counts of a result
are those of the answers that it used, whenever they were asked for, so the second run writes the same bytes. Rows of
complete texts come before a limit or an interrupt is raised.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar

import numpy as np
from msgspec.structs import replace as replace_part

from postil.data.explain import counted
from postil.data.fields import draw_key
from postil.data.rows import JudgeScore
from postil.endpoint.chat import Answer, Failed, Request, read_extra, refusal_words
from postil.endpoint.prompts import fingerprint
from postil.judging.judge import Case, Graded, Judge, JudgeSpec, Trial, Ungraded
from postil.judging.options import ANSWER_TOKENS, JudgeOptions
from postil.judging.result import (
    JudgeControl,
    JudgedSystem,
    JudgeResult,
    JudgeSettings,
    JudgeUsage,
    LengthCorrelation,
    SelfPreference,
    WithoutGrade,
)
from postil.meta.column_correlations import constant
from postil.meta.resampling import bootstrap_counts, estimate
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.parts import Estimate
    from postil.endpoint.limits import Price
    from postil.judging.texts import JudgedTexts
    from postil.messages import Message
    from postil.meta.table import Key

    Ask = Callable[[Iterable[Request]], Iterator[Answer | Failed]]

__all__ = [
    "ItemMeans",
    "JudgeRun",
    "Run",
    "Tally",
    "control_of",
    "judge_name",
    "judge_result",
    "length_correlation",
    "mean_of",
    "self_preference",
    "signature_of",
    "trials_of",
]

R = TypeVar("R")

MAIN: Final = ""
"""Name of the judge's own grade among the controls."""

SAME: Final = 1e-9
"""Largest difference of two grades that are equal."""

BLOCK: Final = 64
"""Approximate number of prompts whose probabilities are asked for before the samples of any."""

ORDER: Final = "order"
"""The control that is the mean of both orders of the anchors."""


def trials_of(case: Case, seed: int, *names: str) -> dict[str, Trial]:
    """The trials of a text by control; `MAIN` is the judge's own.

    A control that changes nothing, as where there are no anchors, is the same prompt again, which is asked once.

    Args:
        case: The text, its anchors in rising order.
        seed: Seed of the permuted grades.
        names: Item and system of the text.

    >>> from postil.judging.judge import Anchor, Case
    >>> trials = trials_of(Case("a", anchors=(Anchor("b", 1.0), Anchor("c", 4.0))), 1, "item", "system")
    >>> {name: [anchor.grade for anchor in trial.case.anchors] for name, trial in trials.items()}
    {'': [1.0, 4.0], 'falling': [4.0, 1.0], 'shuffled': [4.0, 1.0], 'no-article': [1.0, 4.0], 'no-anchors': [], \
'repeat': [1.0, 4.0]}
    """
    grades = [anchor.grade for anchor in case.anchors]
    permuted = grades
    random = np.random.default_rng(draw_key(seed, "shuffled", *names))
    while permuted == grades and len(set(grades)) > 1:
        permuted = random.permutation(grades).tolist()
    shuffled = (replace(anchor, grade=grade) for anchor, grade in zip(case.anchors, permuted, strict=True))
    return {
        MAIN: Trial(case),
        "falling": Trial(replace(case, anchors=case.anchors[::-1])),
        "shuffled": Trial(replace(case, anchors=tuple(shuffled))),
        "no-article": Trial(replace(case, article=None)),
        "no-anchors": Trial(replace(case, anchors=())),
        "repeat": Trial(case, again=True),
    }


class ItemMeans:
    """Means with 95 % percentile bootstrap confidence intervals over items, all on the same resamples.

    Args:
        items: Item of each of n texts.
        seed: Seed of the resamples.

    >>> means = ItemMeans(["1", "1", "2"], 1)
    >>> means.of(np.array([1.0, 2.0, 6.0]), np.array([True, False, True])).value
    3.5
    """

    def __init__(self, items: Sequence[str], seed: int) -> None:
        self._item = np.unique(np.array(items, dtype=object), return_inverse=True)[1]
        clusters = int(self._item.max()) + 1
        self._counts = np.concatenate([np.ones((1, clusters), np.int32), bootstrap_counts(clusters, seed=seed)])

    def of(self, values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> Estimate:
        """The mean of some texts.

        Args:
            values: float64[n].
            chosen: bool[n], at least one.
        """
        return estimate(self._means(values, chosen), len(np.unique(self._item[chosen])))

    def difference(self, values: NDArray[np.float64], chosen: NDArray[np.bool_], others: NDArray[np.bool_]) -> Estimate:
        """The difference of the means of two groups of texts.

        Args:
            values: float64[n].
            chosen: bool[n], the first group, at least one.
            others: bool[n], the second group, at least one.
        """
        items = len(np.unique(self._item[chosen | others]))
        return estimate(self._means(values, chosen) - self._means(values, others), items)

    def _means(self, values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """float64[1 + R], NaN for resamples without any of the texts."""
        clusters = self._counts.shape[1]
        sums, sizes = (
            self._counts @ np.bincount(self._item[chosen], weights=of, minlength=clusters)
            for of in (values[chosen], None)
        )
        return np.asarray(np.divide(sums, sizes, out=np.full(len(sums), np.nan), where=sizes > 0))


def control_of(
    name: str, grades: NDArray[np.float64], controlled: NDArray[np.float64], means: ItemMeans
) -> JudgeControl:
    """Compare the grades of a control with the judge's.

    Args:
        name: The control.
        grades: float64[n], grades of the judge.
        controlled: float64[n], grades of the control, NaN where a text has none; at least one is there.
        means: Means over the n texts.
    """
    both = ~np.isnan(controlled)
    differences = controlled - grades
    return JudgeControl(
        control=name,
        n=int(both.sum()),
        mean=float(controlled[both].mean()),
        difference=means.of(differences, both),
        equal=float((np.abs(differences[both]) <= SAME).mean()),
    )


def length_correlation(
    grades: NDArray[np.float64], words: NDArray[np.float64], human: NDArray[np.float64]
) -> LengthCorrelation:
    """Correlate grades with the length of the texts, and with people's grades with and without it.

    A linear fit on length takes it out of grades and of ratings both: what it leaves of grades alone has no correlation
    with length by arithmetic, whatever the judge.

    Args:
        grades: float64[n], grades of the judge.
        words: float64[n], number of words.
        human: float64[n], mean human rating, NaN where there is none.

    >>> found = length_correlation(np.array([1.0, 2, 4]), np.array([1.0, 2, 3]), np.array([2.0, 2, 5]))
    >>> round(found.words, 4), round(found.human, 4), round(found.human_partial, 4)
    (0.982, 0.9449, 1.0)
    """
    rated = ~np.isnan(human)
    mine, theirs, length = grades[rated], human[rated], words[rated]
    return LengthCorrelation(
        n=len(grades),
        words=_pearson(grades, words),
        human_n=int(rated.sum()),
        human=_pearson(mine, theirs),
        human_partial=_pearson(_unexplained(mine, length), _unexplained(theirs, length)),
    )


def self_preference(
    systems: Sequence[str], own: Sequence[str], differences: NDArray[np.float64], means: ItemMeans
) -> SelfPreference | None:
    """Compare the judge with people on its own texts and on others.

    Args:
        systems: System of each of n texts.
        own: Names of the judge's model.
        differences: float64[n], judge minus people; NaN where there are no ratings.
        means: Means over the n texts.

    Returns:
        The comparison; None where no text of the model has ratings.
    """
    rated, names = ~np.isnan(differences), {name.casefold() for name in own}
    mine = np.array([system.casefold() in names for system in systems]) & rated
    if not mine.any():
        return None
    others = rated & ~mine
    return SelfPreference(
        system=systems[int(np.flatnonzero(mine)[0])],
        n=int(mine.sum()),
        own=means.of(differences, mine),
        others=means.of(differences, others) if others.any() else None,
        preference=means.difference(differences, mine, others) if others.any() else None,
    )


def _pearson(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """The Pearson correlation; None where it is undefined."""
    starts = np.zeros(1, np.int64)
    if len(one) < 2 or constant(one[:, None], starts).any() or constant(other[:, None], starts).any():
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def _unexplained(values: NDArray[np.float64], words: NDArray[np.float64]) -> NDArray[np.float64]:
    """Residuals of the least-squares line of values on words; differences from the mean where all lengths are equal."""
    centered = words - words.mean() if len(words) else words
    spread = float(centered @ centered)
    values = values - values.mean() if len(values) else values
    left = values - centered * (float(centered @ values) / spread) if spread > 0 else values
    return left if float(left @ left) > SAME**2 * float(values @ values) else np.zeros_like(left)


class Tally:
    """Answers that pass through, counted once however often they are used.

    Args:
        ask: Function that answers requests, in their order.
        price: Price of tokens, if it is known.
    """

    def __init__(self, ask: Ask, price: Price | None) -> None:
        self._ask, self._price = ask, price
        self._seen: set[str] = set()
        self._prompt = self._completion = 0

    def __call__(self, requests: Iterable[Request]) -> Iterator[Answer | Failed]:
        """Answer requests, in their order."""
        taken: deque[Request] = deque()

        def noted() -> Iterator[Request]:
            for request in requests:
                taken.append(request)
                yield request

        for answer in self._ask(noted()):
            request = taken.popleft()
            if isinstance(answer, Answer) and request.key() not in self._seen:
                self._seen.add(request.key())
                said, made = answer.prompt_tokens, answer.completion_tokens
                self._prompt += request.estimated_tokens() if said is None else said
                self._completion += request.max_tokens if made is None else made
            yield answer

    @property
    def usage(self) -> JudgeUsage:
        """The answers so far."""
        return JudgeUsage(
            calls=len(self._seen),
            prompt_tokens=self._prompt,
            completion_tokens=self._completion,
            cost=self._price.cost(self._prompt, self._completion) if self._price else None,
        )


def _part(name: str) -> str:
    """A name as a part of a signature, without what would end the part or begin another."""
    return re.sub(r"[|\s]+", "_", name)


def _names(texts: JudgedTexts) -> list[str]:
    """The controls that change the prompt of any text, after the judge's own grade."""
    anchored = any(case.anchors for case in texts.cases)
    with_article = any(case.article is not None for case in texts.cases)
    return [
        MAIN,
        *(["falling", ORDER, "shuffled"] if anchored else []),
        *(["no-article"] if with_article else []),
        *(["no-anchors"] if anchored else []),
        "repeat",
    ]


class Run(ABC, Generic[R]):
    """Outcomes of texts or pairs, each of which takes some trials, as their answers come.

    Args:
        judge: The judge.
        tally: Function that answers its requests, in their order, and counts them.
        trials: Trials of each text or pair by name.

    Attributes:
        tally: As given.
        outcomes: Outcome of each text or pair, None where there is none.
        written: Rows so far.
    """

    unit: ClassVar[str]
    """One of those that are judged."""

    sought: ClassVar[str]
    """Its outcome."""

    advice: ClassVar[Mapping[str, Message]] = {}
    """Advice where none has an outcome, by the reason."""

    done: ClassVar[str]
    """A participle: one with an outcome is so."""

    def __init__(self, judge: Judge, tally: Tally, trials: Sequence[Mapping[str, Trial]]) -> None:
        self._judge, self.tally, self._trials = judge, tally, trials
        self.outcomes: list[Graded | None] = [None] * len(trials)
        self.written: list[R] = []
        self._missing: dict[str, list[tuple[str, Ungraded]]] = {}
        self._not_sent: set[str] = set()

    def requests(self, known: Callable[[Request], Answer | None]) -> Iterator[Request]:
        """The requests of the run, as far as known answers tell; see `Judge.planned`."""
        return self._judge.planned((trial for trials in self._trials for trial in trials.values()), known)

    def rows(self) -> Iterator[tuple[R, ...]]:
        """Judge all texts or pairs.

        Yields:
            The rows of each, in their order; none of one without an outcome. After an error or an interrupt those that
            are complete, and then it is raised.
        """
        step = max(1, BLOCK // max(1, *map(len, self._trials)))
        for begin in range(0, len(self._trials), step):
            block = range(begin, min(begin + step, len(self._trials)))
            trials = [trial for index in block for trial in self._trials[index].values()]
            outcomes: dict[int, Graded | Ungraded] = {}
            problem: BaseException | None = None
            try:
                self._judge.grade(trials, outcomes)
            except BaseException as error:
                problem = error
            first = 0
            for index in block:
                names = list(self._trials[index])
                of_one = {name: outcomes[at] for at, name in enumerate(names, first) if at in outcomes}
                if len(of_one) == len(names):
                    self._not_sent |= {option for outcome in of_one.values() for option in outcome.not_sent}
                    rows = tuple(self._settled(index, of_one))
                    self.written += rows
                    yield rows
                first += len(names)
            if problem is not None:
                raise problem

    @property
    def absent(self) -> tuple[WithoutGrade, ...]:
        """Texts or pairs without an outcome, by reason."""
        return tuple(
            replace_part(WithoutGrade.of(reason, [name for name, _ in missing]), reason=missing[0][1].kind)
            for reason, missing in self._missing.items()
        )

    @property
    def not_sent(self) -> tuple[str, ...]:
        """Options that the endpoint refuses, of all requests so far."""
        return tuple(sorted(self._not_sent))

    @property
    def served(self) -> list[str]:
        """Models that answered, as the endpoint says."""
        return sorted({outcome.served for outcome in self.outcomes if outcome is not None and outcome.answers})

    @property
    def unread(self) -> Iterator[str]:
        """Reasons for those without an outcome, each with the first answer that nothing could be read from."""
        for reason, missing in self._missing.items():
            first = next((of.example for _, of in missing if of.example), "")
            yield f"{reason}: for example '{first}'" if first else reason

    def notes(self) -> Iterator[str]:
        """Notes on those without an outcome, and on what the endpoint refuses."""
        if absent := sum(each.n for each in self.absent):
            of = counted(len(self.outcomes), self.unit)
            yield f"{absent:,} of {of} without a {self.sought}: {'; '.join(self.unread)}"
        if self.not_sent:
            yield f"the endpoint {refusal_words(self.not_sent)}"

    def _without(self, name: str, outcome: Ungraded) -> None:
        """Note one without an outcome, by its name."""
        self._missing.setdefault(outcome.reason, []).append((name, outcome))

    @abstractmethod
    def _settled(self, index: int, outcomes: Mapping[str, Graded | Ungraded]) -> Iterator[R]:
        """Rows of a text or pair whose outcomes are all known."""


class JudgeRun(Run[JudgeScore]):
    """Grades of texts, as their answers come.

    Args:
        texts: The texts.
        spec: Options of the command, and the prompt.
        tally: Function that answers requests, in their order, and counts them.

    Attributes:
        metric: Name of the judge in score rows.
        grades: Grade of each text by control, float64[n], NaN where there is none; `MAIN` is the judge's own.
    """

    unit, sought, done = "text", "grade", "graded"

    def __init__(self, texts: JudgedTexts, spec: JudgeSpec, tally: Tally) -> None:
        options = spec.options
        self.texts, self.metric = texts, judge_name(options)
        self._spec, self._options = spec, options
        names = _names(texts) if options.controls else [MAIN]
        each: list[dict[str, Trial]] = []
        for row, case in zip(texts.rows, texts.cases, strict=True):
            trials = trials_of(case, options.seed, row.item, row.system)
            each.append({name: trials[name] for name in names if name != ORDER})
        super().__init__(Judge(spec, tally), tally, each)
        self.grades: dict[str, NDArray[np.float64]] = {name: np.full(len(texts.rows), np.nan) for name in names}

    def _settled(self, index: int, outcomes: Mapping[str, Graded | Ungraded]) -> Iterator[JudgeScore]:
        row, own = self.texts.rows[index], outcomes[MAIN]
        if not isinstance(own, Graded):
            self._without(f"{row.item} by {row.system}", own)
            return
        self.outcomes[index] = own
        for name, outcome in outcomes.items():
            if isinstance(outcome, Graded):
                yield self._row(index, name, outcome)
        if self._options.controls:
            falling = outcomes.get("falling")
            if isinstance(falling, Graded):
                yield self._row(index, ORDER, mean_of(own, falling))
            signature = f"control:length|tokenizer:{self.texts.tokenizer}|postil:{VERSION}"
            words = float(self.texts.words[index])
            yield JudgeScore(row.item, row.system, f"control:length({self.metric})", words, signature)

    def _row(self, index: int, name: str, outcome: Graded) -> JudgeScore:
        self.grades[name][index] = outcome.grade
        row, article = self.texts.rows[index], self.texts.cases[index].article
        signature = signature_of(self._spec, outcome, self.texts.anchors, with_article=article is not None)
        return JudgeScore(
            item=row.item,
            system=row.system,
            metric=f"control:{name}({self.metric})" if name else self.metric,
            score=outcome.grade,
            signature=f"{signature}|control:{name}" if name else signature,
            mass=outcome.mass,
            samples=outcome.samples,
            calls=len(outcome.answers),
            omitted=article.omitted if article and name != "no-article" else 0,
        )


def judge_name(options: JudgeOptions) -> str:
    """Name of a judge in rows.

    Args:
        options: Its options.
    """
    return f"judge({options.name or options.model})"


def mean_of(one: Graded, other: Graded) -> Graded:
    """The mean of two outcomes.

    Args:
        one: One.
        other: The other.
    """
    answers = (*one.answers, *other.answers)
    return Graded((one.grade + other.grade) / 2, None, one.samples + other.samples, answers)


def signature_of(spec: JudgeSpec, outcome: Graded, anchors: str, *, with_article: bool, head: str = "judge") -> str:
    """All that an outcome depends on.

    Args:
        spec: Options, and the prompt.
        outcome: The outcome.
        anchors: Choice of the anchors, as signatures have it; empty without any.
        with_article: True if the prompt has an article.
        head: Name of the kind of judge.
    """
    given, extra = spec.options, spec.options.extra()
    choice, served = given.anchors if anchors else "none", _part(outcome.served) or "unknown"
    missing = [name for name in outcome.not_sent if name != "logprobs"]  # which the first request alone has
    own = dict.fromkeys(read_extra(extra) if extra else (), "extra-body")
    temperature = "default" if "temperature" in outcome.not_sent else f"{given.temperature:g}"
    temperature = own.get("temperature", temperature)
    sampled = f"samples={given.samples},temperature={temperature}"
    parts = [
        f"{head}(model={_part(given.model)},served={served},anchors={choice},{sampled})",
        f"prompt:{spec.template.fingerprint}",
        f"rubric:{fingerprint(spec.rubric) if spec.rubric else 'none'}",
        *([f"scale:{given.scale}"] if anchors or head == "judge" else []),
        *([f"weights:grade|{anchors}"] if anchors else []),
        *([f"article-words:{given.article_words}"] if with_article else ["article:none"]),
        *([] if given.logprobs else ["logprobs:none"]),
        *([] if given.answer_tokens == ANSWER_TOKENS else [f"answer-tokens:{given.answer_tokens}"]),
        *([f"extra-body:{fingerprint(extra)}"] if extra else []),
        *([f"not-sent:{'+'.join(missing)}"] if missing else []),
        f"seed:{own.get('seed', given.seed)}",
        f"postil:{VERSION}",
    ]
    return "|".join(parts)


def judge_result(run: JudgeRun, human: Mapping[Key, float], options: JudgeOptions, command: str) -> JudgeResult:
    """Put the result of a run together.

    Args:
        run: The run at its end; some text has a grade.
        human: Mean human rating of texts.
        options: Options of the command.
        command: The command line, if there was one.
    """
    rows, grades, asked = run.texts.rows, run.grades[MAIN], options.controls
    means, there = ItemMeans([row.item for row in rows], options.seed), ~np.isnan(grades)
    ratings = np.array([human.get((row.item, row.system), np.nan) for row in rows])
    served = run.served
    own = [name for model in (options.model, *served) for name in (model, model.rpartition("/")[2])]
    return JudgeResult(
        metric=run.metric,
        systems=tuple(_systems(run, means)),
        controls=tuple(
            control_of(name, grades, of, means) for name, of in run.grades.items() if name and not np.isnan(of).all()
        ),
        length=length_correlation(grades[there], run.texts.words[there], ratings[there]) if asked else None,
        self_preference=self_preference([row.system for row in rows], own, grades - ratings, means) if asked else None,
        rows=tuple(run.written),
        absent=run.absent,
        usage=run.tally.usage,
        not_sent=run.not_sent,
        notes=(*run.texts.notes, *run.notes(), *_notes(run, options, served)),
        signatures={row.metric: row.signature for row in run.written},
        settings=JudgeSettings(
            postil=VERSION,
            command=command,
            model=options.model,
            scale=str(options.needed_scale()),
            anchors=options.anchors,
            seed=options.seed,
        ),
    )


def _systems(run: JudgeRun, means: ItemMeans) -> Iterator[JudgedSystem]:
    names = np.array([row.system for row in run.texts.rows])
    grades = run.grades[MAIN]
    for system in dict.fromkeys(names.tolist()):
        mine = names == system
        graded = mine & ~np.isnan(grades)
        found = [outcome for outcome, of in zip(run.outcomes, mine.tolist(), strict=True) if of and outcome is not None]
        masses = [outcome.mass for outcome in found if outcome.mass is not None]
        yield JudgedSystem(
            system=system,
            n=int(graded.sum()),
            absent=int((mine & ~graded).sum()),
            mean=means.of(grades, graded) if graded.any() else None,
            mass=math.fsum(masses) / len(masses) if masses else None,
            sampled=sum(outcome.samples > 0 for outcome in found),
        )


def _notes(run: JudgeRun, options: JudgeOptions, served: Sequence[str]) -> Iterator[str]:
    """Notes on the grades."""
    texts, absent = len(run.outcomes), sum(each.n for each in run.absent)
    sampled = [outcome for outcome in run.outcomes if outcome is not None and outcome.samples]
    if sampled and len(sampled) + absent < texts:
        yield f"{len(sampled):,} of {counted(texts, 'text')} graded by samples, as their grades have too little mass"
    if few := sum(outcome.samples < options.samples for outcome in sampled):
        yield f"{counted(few, 'text')} graded by fewer than {options.samples} samples, as others are no grade"
    if cut := sum(case.article is not None and case.article.omitted > 0 for case in run.texts.cases):
        yield f"{counted(cut, 'text')} judged with the first {options.article_words:,} words of the article"
    if len(served) > 1:
        yield f"several models answered: {', '.join(served)}; scores of one signature at a time can be compared"
