"""A run of a judge of pairs: both orders of each pair, rows of preferences, and the result at the end."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from postil.comparison.preferences import check_once, preferred_systems
from postil.data.explain import are, counted
from postil.data.fields import as_id
from postil.data.rows import PairJudgement
from postil.errors import InvalidInput, Undefined
from postil.judging.advice import ADVICE
from postil.judging.judge import Graded, Judge, Trial, Ungraded
from postil.judging.pairs import Shares, verdict_of
from postil.judging.result import (
    JudgedPair,
    JudgePairsResult,
    PairJudgeSettings,
    PeopleAgreement,
    PositionBias,
    VerdictAgreement,
)
from postil.judging.run import ItemMeans, Run, Tally, judge_name, signature_of
from postil.meta.resampling import Draws
from postil.results.base import replace
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.comparison.preferences import Seen
    from postil.comparison.result import PreferencesResult
    from postil.data.parts import Estimate
    from postil.data.row_locations import Source
    from postil.data.rows import PairPreference
    from postil.judging.options import JudgeOptions
    from postil.judging.pair_texts import JudgedPairs, Pair
    from postil.judging.pairs import PairSpec

__all__ = ["PairRun", "PeopleVerdicts", "pairs_result"]

FIRST, SECOND = "a first", "b first"
"""Trials of a pair, by the text that the judge sees first."""

Comparison: TypeAlias = "tuple[str, str | None, str | None]"
"""The item of a pair, and the system that either of two verdicts prefers; None for a tie."""


class PairRun(Run[PairJudgement]):
    """Verdicts on pairs, as their answers come.

    Args:
        texts: The pairs.
        spec: Options of the command, and the prompt.
        tally: Function that answers requests, in their order, and counts them.

    Attributes:
        judge: Name of the judge, the annotator of the rows.
        shares: Shares of a preference for text a, of a tie and of one for text b, with text a first and with text b
            first, float64[n, 2, 3]; NaN where nothing was asked or there is no verdict.
        few: Number of pairs with an order in which some sample is no verdict.
    """

    unit, sought, done, advice = "pair", "verdict", "judged", ADVICE

    def __init__(self, texts: JudgedPairs, spec: PairSpec, tally: Tally) -> None:
        self.texts, self.judge, self._spec = texts, judge_name(spec.options), spec
        trials = [dict(zip((FIRST, SECOND), map(Trial, pair.cases), strict=bool(pair.cases))) for pair in texts.pairs]
        super().__init__(Judge(spec, tally), tally, trials)
        self.few = 0
        self.shares = np.full((len(trials), 2, 3), np.nan)

    def _settled(self, index: int, outcomes: Mapping[str, Graded | Ungraded]) -> Iterator[PairJudgement]:
        pair = self.texts.pairs[index]
        for outcome in outcomes.values():
            if isinstance(outcome, Ungraded):
                self._without(f"{pair.a.item}: {pair.a.system} and {pair.b.system}", outcome)
                return
        found = [outcome for outcome in outcomes.values() if isinstance(outcome, Graded)]
        if found:
            self.shares[index] = self._spec.shares(found[0]), self._spec.shares(found[1])[::-1]
            first, second = found[0].grade, 1 - found[1].grade
            self.few += any(0 < outcome.samples < self._spec.options.samples for outcome in found)
            shares: Shares = tuple(self.shares[index].mean(axis=0).tolist())
        else:
            first = second = 0.5
            shares = (0.0, 1.0, 0.0)
        masses = [outcome.mass for outcome in found if outcome.mass is not None]
        whole = Graded(
            (first + second) / 2,
            sum(masses) / len(masses) if masses else None,
            sum(outcome.samples for outcome in found),
            tuple(answer for outcome in found for answer in outcome.answers),
        )
        self.outcomes[index] = whole
        article = pair.cases[0].article if pair.cases else None
        yield PairJudgement(
            item=pair.a.item,
            system_a=pair.a.system,
            system_b=pair.b.system,
            annotator=self.judge,
            preference=verdict_of(shares),
            score=whole.grade,
            score_first=first,
            score_second=second,
            mass=whole.mass,
            samples=whole.samples,
            calls=len(whole.answers),
            omitted=article.omitted if article else 0,
            signature=self._signature(whole),
        )

    def _signature(self, outcome: Graded) -> str:
        """All that a verdict depends on."""
        texts = self.texts
        return signature_of(self._spec, outcome, texts.anchors, with_article=texts.with_article, head="judge-pairs")


def pairs_result(run: PairRun, people: PeopleVerdicts, options: JudgeOptions, command: str) -> JudgePairsResult:
    """Put the result of a run together.

    Args:
        run: The run at its end; some pair has a verdict.
        people: Preferences of people.
        options: Options of the command.
        command: The command line, if there was one.
    """
    numbers = _Numbers(run, options.seed)
    strengths, apart = _strengths(run.written, options)
    agreement = _people(run, people, options.seed)
    if people.n and agreement is None:
        of = f"{people.n:,} preference{'s' * (people.n != 1)}"
        apart.append(f"no agreement with people: no pair that their {of} {are(people.n)} about has a verdict")
    signature = next((row.signature for row in run.written if row.calls), run.written[0].signature)
    return JudgePairsResult(
        judge=run.judge,
        pairs=tuple(numbers.pairs([row.system for row in strengths.systems] if strengths else [])),
        strengths=strengths,
        position=numbers.position(),
        longer=numbers.longer(),
        people=agreement,
        rows=tuple(run.written),
        absent=run.absent,
        usage=run.tally.usage,
        not_sent=run.not_sent,
        notes=(*run.texts.notes, *run.notes(), *_notes(run, options), *apart),
        signatures={run.judge: signature},
        settings=PairJudgeSettings(
            postil=VERSION,
            command=command,
            model=options.model,
            scale="" if options.scale is None else str(options.scale),
            anchors=options.anchors,
            pairs_per_item=options.pairs_per_item,
            seed=options.seed,
        ),
    )


def _strengths(rows: Sequence[PairJudgement], options: JudgeOptions) -> tuple[PreferencesResult | None, list[str]]:
    """Strengths by the verdicts, or a note on why there are none."""
    baseline = None if options.baseline is None else as_id(options.baseline)
    if baseline is not None and all(baseline not in (row.system_a, row.system_b) for row in rows):
        return None, []
    try:
        found = preferred_systems(rows, baseline, Draws(seed=options.seed))
    except Undefined as error:
        return None, [f"no strengths: {error}"]
    return replace(found, settings=replace(found.settings, postil=VERSION)), []


def _notes(run: PairRun, options: JudgeOptions) -> Iterator[str]:
    """Notes on the verdicts."""
    found = [outcome for outcome in run.outcomes if outcome is not None and outcome.answers]
    sampled = [outcome for outcome in found if outcome.samples]
    of = counted(len(found), "pair")
    if sampled and len(sampled) < len(found):
        yield f"{len(sampled):,} of {of} judged by samples, as the verdicts have too little of the probability"
    if run.few:
        few = f"fewer than {options.samples} samples in an order"
        yield f"{counted(run.few, 'pair')} judged by {few}, as others are no verdict"
    cut = [pair for pair in run.texts.pairs if pair.cases and pair.cases[0].article and pair.cases[0].article.omitted]
    if cut:
        yield f"{counted(len(cut), 'pair')} judged with the first {options.article_words:,} words of the article"
    if len(run.served) > 1:
        yield f"several models answered: {', '.join(run.served)}; their verdicts are mixed here"


class _Numbers:
    """Sums and means of the verdicts of a run."""

    def __init__(self, run: PairRun, seed: int) -> None:
        self._pairs = run.texts.pairs
        self._means = ItemMeans([pair.a.item for pair in self._pairs], seed)
        self._there = np.array([outcome is not None for outcome in run.outcomes])
        self._score = np.array([np.nan if outcome is None else outcome.grade for outcome in run.outcomes])
        self._asked = ~np.isnan(run.shares).any(axis=(1, 2))
        rows = {(row.item, row.system_a, row.system_b): row.preference for row in run.written}
        values = {"a": 1.0, "tie": 0.5, "b": 0.0}
        verdicts = (rows.get((pair.a.item, pair.a.system, pair.b.system)) for pair in self._pairs)
        self._verdict = np.array([np.nan if verdict is None else values[verdict] for verdict in verdicts])
        both = [[verdict_of((a, tie, b)) for a, tie, b in each] for each in run.shares.tolist()]
        self._changed = np.array([one != other for one, other in both]) & self._asked
        first, _, last = np.moveaxis(run.shares, 2, 0)
        preferred = (1 + first - last) / 2  # of text a, a tie for one half
        self._first = (preferred[:, 0] + 1 - preferred[:, 1]) / 2

    def pairs(self, order: Sequence[str]) -> Iterator[JudgedPair]:
        """One row per pair of systems, in an order of systems, or as they come."""
        names = dict.fromkeys([*order, *(name for pair in self._pairs for name in (pair.a.system, pair.b.system))])
        a, b = (np.array([getattr(pair, side).system for pair in self._pairs], object) for side in ("a", "b"))
        for one, other in combinations(names, 2):
            same, turned = (a == one) & (b == other), (a == other) & (b == one)
            of_pair = same | turned
            if of_pair.any():
                yield self._pair(one, other, of_pair, turned)

    def _pair(self, one: str, other: str, of_pair: NDArray[np.bool_], turned: NDArray[np.bool_]) -> JudgedPair:
        there = of_pair & self._there
        verdict, score = (np.where(turned, 1 - of, of) for of in (self._verdict, self._score))
        return JudgedPair(
            first=one,
            second=other,
            n=int(there.sum()),
            absent=int((of_pair & ~self._there).sum()),
            wins=int((verdict[there] == 1).sum()),
            ties=int((verdict[there] == 0.5).sum()),
            losses=int((verdict[there] == 0).sum()),
            win_rate=self._means.of(verdict, there) if there.any() else None,
            score=self._means.of(score, there) if there.any() else None,
            changed=int((self._changed & there).sum()),
        )

    def position(self) -> PositionBias | None:
        """Influence of the order of the texts."""
        if not self._asked.any():
            return None
        return PositionBias(
            n=int(self._asked.sum()),
            changed=self._means.of(self._changed.astype(np.float64), self._asked),
            first=self._means.of(self._first, self._asked),
        )

    def longer(self) -> Estimate | None:
        """Preference for the longer text."""
        longer = np.array([np.nan if pair.longer is None else pair.longer for pair in self._pairs], np.float64)
        chosen = self._asked & ~np.isnan(longer)
        return self._means.of(np.where(longer == 1, self._score, 1 - self._score), chosen) if chosen.any() else None


@dataclass(frozen=True, slots=True)
class PeopleVerdicts:
    """Preferences of people.

    Args:
        of: Preferred systems, None for a tie, by item and systems.
        n: Number of preferences.
    """

    of: Mapping[tuple[str, frozenset[str]], Sequence[str | None]]
    n: int

    @classmethod
    def read(cls, preferences: Source[PairPreference] | None, pairs: Sequence[Pair]) -> Self:
        """Read preferences.

        Args:
            preferences: Their rows; None without any.
            pairs: The pairs to judge.

        Raises:
            InvalidInput: A row is wrong or there twice, or none is for one of the pairs; says where.
        """
        found: dict[tuple[str, frozenset[str]], list[str | None]] = {}
        seen: Seen = {}
        for index, row in enumerate(preferences or ()):
            check_once(seen, row, index, preferences.places if preferences else None)
            preferred = {"a": row.system_a, "b": row.system_b}.get(row.preference)
            found.setdefault((row.item, frozenset((row.system_a, row.system_b))), []).append(preferred)
        if preferences is not None and not any(pair.key in found for pair in pairs):
            problem = "expected a preference for a pair of texts that is judged (item, system_a, system_b), got none"
            raise InvalidInput(problem, where=preferences.places.where)
        return cls(found, sum(map(len, found.values())))


def _people(run: PairRun, people: PeopleVerdicts, seed: int) -> PeopleAgreement | None:
    """Agreement with people on the pairs that have a verdict."""
    preferred = {"a": "system_a", "b": "system_b"}
    of_judge: list[Comparison] = []
    of_people: list[Comparison] = []
    pairs = used = 0
    for row in run.written:
        said = people.of.get((row.item, frozenset((row.system_a, row.system_b))), ())
        pairs, used = pairs + bool(said), used + len(said)
        verdict = getattr(row, preferred[row.preference]) if row.preference in preferred else None
        of_judge += [(row.item, verdict, each) for each in said]
        of_people += [(row.item, *each) for each in combinations(said, 2)]
    judge = _agreement(of_judge, seed)
    if judge is None:
        return None
    return PeopleAgreement(pairs=pairs, unmatched=people.n - used, judge=judge, people=_agreement(of_people, seed))


def _agreement(compared: Sequence[Comparison], seed: int) -> VerdictAgreement | None:
    """Agreement in comparisons of two verdicts; None without any."""
    if not compared:
        return None
    means = ItemMeans([item for item, _, _ in compared], seed)
    same = np.array([float(one == other) for _, one, other in compared])
    decided = np.array([one is not None and other is not None for _, one, other in compared])
    return VerdictAgreement(
        n=len(compared),
        share=means.of(same, np.ones(len(same), bool)),
        decided_n=int(decided.sum()),
        decided=means.of(same, decided) if decided.any() else None,
    )
