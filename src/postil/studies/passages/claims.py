"""Sentences of the paper on passage interestingness about its figures, each with the numbers here and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.explain import counted
from postil.passages.result import Gain
from postil.results.formats import listed
from postil.results.numbers import interval, number, signed
from postil.results.page.blocks import first_minus_second
from postil.studies.passages.figures import ENTITIES, SENSES, cutoffs_of, ranking
from postil.studies.result import StudyPart, StudyRow, StudyTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.passages.result import GainDifference, NcgResult
    from postil.studies.papers import Range, Relation, Sentence
    from postil.studies.result import StudyCell

__all__ = ["FAILS", "HOLDS", "UNDECIDED", "UNTESTED", "CutoffEstimate", "Evidence", "claims_part", "decide", "findings"]

MARGIN: Final = 0.05
"""Largest difference in nCG that counts as alike, and tolerance of a level that is read off a figure."""

HOLDS: Final = "holds"
FAILS: Final = "does not hold"
UNDECIDED: Final = "not decided"
UNTESTED: Final = "not tested"

_NEAR: Final = number(MARGIN, 2)
RULES: Final = (
    "A sentence holds if it holds for each of its pairs at each rank cutoff of its range, by 95 % intervals that are "
    "not adjusted for the number of comparisons; pairs with a measure that is missing here do not count. Higher: the "
    f"interval of the difference lies above 0. Alike: it lies within {_NEAR} of 0. Not higher: it ends below {_NEAR} "
    "and does not lie above 0. Higher, not significantly: it contains 0 and the difference is not below 0. Below: the "
    "interval of nCG lies below the level. "
    f"Reaches, near: at some cutoff of the range it lies above the level less {_NEAR}, or within {_NEAR} of it. A "
    "sentence does not hold if an interval of one of its pairs rules it out; for reaches and near, those of all "
    "cutoffs of the range. Otherwise it is not decided."
)


class CutoffEstimate(NamedTuple):
    """A number at a rank cutoff, with its 95 % confidence interval."""

    k: int
    value: float
    low: float
    high: float


_SUPPORTS: Final[Mapping[Relation, Callable[[CutoffEstimate, float], bool]]] = {
    "higher": lambda found, _: found.low > 0,
    "alike": lambda found, _: found.low >= -MARGIN and found.high <= MARGIN,
    "not higher": lambda found, _: found.low <= 0 and found.high <= MARGIN,
    "not significant": lambda found, _: found.low <= 0 <= found.value,
    "below": lambda found, level: found.high < level,
    "reaches": lambda found, level: found.low >= level - MARGIN,
    "near": lambda found, level: found.low >= level - MARGIN and found.high <= level + MARGIN,
}
_CONTRADICTS: Final[Mapping[Relation, Callable[[CutoffEstimate, float], bool]]] = {
    "higher": lambda found, _: found.high < 0,
    "alike": lambda found, _: found.low > MARGIN or found.high < -MARGIN,
    "not higher": lambda found, _: found.low > 0,
    "not significant": lambda found, _: not found.low <= 0 <= found.high,
    "below": lambda found, level: found.low >= level,
    "reaches": lambda found, level: found.high < level - MARGIN,
    "near": lambda found, level: found.low > level + MARGIN or found.high < level - MARGIN,
}


def decide(relation: Relation, estimates: Sequence[CutoffEstimate], level: float = 0.0) -> str:
    """The verdict on a relation at several rank cutoffs.

    Args:
        relation: The relation.
        estimates: Differences, or nCG where the relation is to a level.
        level: The level.

    >>> decide("higher", [CutoffEstimate(10, 0.2, 0.1, 0.3), CutoffEstimate(20, 0.1, -0.1, 0.3)])
    'not decided'
    >>> decide("reaches", [CutoffEstimate(10, 0.5, 0.4, 0.5), CutoffEstimate(20, 0.7, 0.68, 0.72)], 0.7)
    'holds'
    """
    if not estimates:
        return UNTESTED
    supported = [_SUPPORTS[relation](each, level) for each in estimates]
    contradicted = [_CONTRADICTS[relation](each, level) for each in estimates]
    some, every = (all, any) if relation in {"reaches", "near"} else (any, all)
    if some(contradicted):
        return FAILS
    return HOLDS if every(supported) else UNDECIDED


@dataclass(frozen=True, eq=False)
class Evidence:
    """The numbers that sentences are compared with.

    Args:
        found: Results by protocol; those of ``-anchors`` have both whole passages and anchors.
        models: Measures of word vectors by the paper's names.
        ranges: Range of each rank cutoff.
        leave_one_out: True to take the rankings without the passages in their references, where there are both.
    """

    found: Mapping[str, NcgResult]
    models: Mapping[str, str]
    ranges: Mapping[int, Range]
    leave_one_out: bool = False

    @cached_property
    def _differences(self) -> dict[str, dict[tuple[str, str, int], GainDifference]]:
        return {
            name: {(row.first, row.second, row.k): row for row in result.differences}
            for name, result in self.found.items()
        }

    def estimates(self, sentence: Sentence, pair: Sequence[str]) -> list[CutoffEstimate]:
        """Differences of a pair, or nCG of a single measure, at all rank cutoffs; empty if a measure is missing.

        Args:
            sentence: The sentence.
            pair: The measures.
        """
        anchors = any(name.endswith(ENTITIES) for name in pair)
        key = SENSES[sentence.reference] + "-anchors" * anchors
        if key not in self.found or any(name.startswith("w2v") and name not in self.models for name in pair):
            return []
        result = self.found[key]
        measures = [self.models.get(name, name) for name in pair]
        names = [self._ranking(result, measure) for measure in measures]
        if len(names) == 1:
            (measure,) = measures
            rows = [row for row in result.gains if row.measure == measure]
            found = [(row.k, row.ncg, row.low, row.high) for row in rows if row.leave_one_out == (names != measures)]
        else:
            pairs = (first_minus_second(self._differences[key], names[0], names[1], k) for k in cutoffs_of(result))
            found = [(row.k, row.value, row.low, row.high) for row in pairs if row]
        return [
            CutoffEstimate(k, value, low, high) for k, value, low, high in found if low is not None and high is not None
        ]

    def _ranking(self, result: NcgResult, measure: str) -> str:
        without = measure + Gain.WITHOUT
        if self.leave_one_out and any(line.measure == without for line in result.lines):
            return without
        return ranking(result, measure)


class _Checked(NamedTuple):
    """A sentence with its verdict, and each of its pairs with a verdict and estimates."""

    sentence: Sentence
    verdict: str
    pairs: list[tuple[tuple[str, ...], str, list[CutoffEstimate]]]
    of_range: dict[int, bool]


def _checked(sentence: Sentence, evidence: Evidence) -> _Checked:
    of_range = {k: name in sentence.at for k, name in evidence.ranges.items()}
    pairs = []
    for pair in sentence.pairs:
        every = evidence.estimates(sentence, pair)
        within = [each for each in every if of_range[each.k]]
        pairs.append((pair, decide(sentence.relation, within, sentence.level), every))
    verdicts = {verdict for _, verdict, _ in pairs} - {UNTESTED}
    found = next((verdict for verdict in (FAILS, UNDECIDED, HOLDS) if verdict in verdicts), UNTESTED)
    return _Checked(sentence, found, pairs, of_range)


def findings(sentences: Sequence[Sentence], evidence: Evidence) -> tuple[str, ...]:
    """Paragraphs on the sentences that hold, that do not, and that are not decided.

    Args:
        sentences: The sentences.
        evidence: The numbers.
    """
    checked = [_checked(each, evidence) for each in sentences]
    some = {name: [each for each in checked if each.verdict == name] for name in (HOLDS, FAILS, UNDECIDED, UNTESTED)}
    tested = len(checked) - len(some[UNTESTED])
    head = (
        f"Of {counted(len(checked), 'sentence')} of the paper about its figures, {tested} can be tested here: "
        f"{len(some[HOLDS])} hold, {len(some[FAILS])} do not, {len(some[UNDECIDED])} are not decided."
    )
    if some[UNTESTED]:
        head += f" For the other {len(some[UNTESTED])} there is no such measure or rank cutoff here."
    titles = {HOLDS: "Hold", FAILS: "Do not hold", UNDECIDED: "Not decided"}
    told = [f"{title}: {'; '.join(map(_told, some[name]))}." for name, title in titles.items() if some[name]]
    alone = _leave_one_out(checked, evidence)
    changed = [
        f"{checked[place].sentence.claim}: {verdict}"
        for place, verdict in alone.items()
        if verdict != checked[place].verdict
    ]
    if changed:
        told.append(f"Leave-one-out, these verdicts on informativeness change: {'; '.join(changed)}.")
    return (head, *told)


def _leave_one_out(checked: Sequence[_Checked], evidence: Evidence) -> dict[int, str]:
    """Verdicts without the passages in their references, by the place of the sentence; of informativeness alone."""
    alone = replace(evidence, leave_one_out=True)
    return {
        place: _checked(each.sentence, alone).verdict
        for place, each in enumerate(checked)
        if each.sentence.reference == "topic"
    }


def _told(checked: _Checked) -> str:
    """A sentence with the numbers of the first pair that has its verdict."""
    sentence = checked.sentence
    said = f"{sentence.claim} (figure {sentence.figure}"
    for pair, verdict, every in checked.pairs:
        for each in every:
            alone = decide(sentence.relation, [each], sentence.level)
            if verdict == checked.verdict == alone and checked.of_range[each.k]:
                shown = number(each.value) if len(pair) == 1 else signed(each.value)
                return f"{said}: {_minus(pair)} {shown} {interval(each.low, each.high)} at k = {each.k:,})"
    return f"{said})"


def _minus(pair: Sequence[str]) -> str:
    return " − ".join(pair)


def claims_part(sentences: Sequence[Sentence], evidence: Evidence) -> StudyPart:
    """Each sentence with its verdict, then each of its comparisons.

    Args:
        sentences: The sentences.
        evidence: The numbers.
    """
    checked = [_checked(each, evidence) for each in sentences]
    cutoffs = list(evidence.ranges)
    alone = _leave_one_out(checked, evidence)
    verdicts = StudyTable(
        key="verdicts",
        caption="Sentences of the paper about its figures, and whether they hold here",
        head=("figure", "section", "in the paper", "rank cutoffs", "here", "leave-one-out"),
        rows=tuple(
            StudyRow(
                name=f"Figure {each.sentence.figure}",
                cells=(each.sentence.section, each.sentence.claim, _at(each.sentence), each.verdict, alone.get(place)),
            )
            for place, each in enumerate(checked)
        ),
    )
    compared = StudyTable(
        key="comparisons",
        caption="The comparisons of these sentences: nCG of the first minus that of the second, or nCG itself, "
        "95 % confidence intervals",
        head=("measures", "expected", "at", "here", *(f"@{k:,}" for k in cutoffs)),
        rows=tuple(row for each in checked for row in _rows(each, cutoffs)),
    )
    names = {name: [f"{k:,}" for k in cutoffs if evidence.ranges[k] == name] for name in ("low", "medium", "high")}
    ranges = f"Rank cutoffs: {'; '.join(f'{name} {listed(ks)}' for name, ks in names.items() if ks)}."
    return StudyPart(
        key="claims", title="Sentences of the paper, checked", words=(RULES, ranges), tables=(verdicts, compared)
    )


def _rows(checked: _Checked, cutoffs: Sequence[int]) -> Iterator[StudyRow]:
    sentence = checked.sentence
    yield StudyRow(name=f"Figure {sentence.figure}: {sentence.claim}", kind="group")
    expected = sentence.relation + f" {number(sentence.level, 2)}" * (sentence.relation in {"below", "reaches", "near"})
    for pair, verdict, every in checked.pairs:
        at = {each.k: (each.value, each.low, each.high) for each in every}
        cells: list[StudyCell] = [at.get(k) for k in cutoffs]
        yield StudyRow(name=_minus(pair), cells=(expected, _at(sentence), verdict, *cells))


def _at(sentence: Sentence) -> str:
    return "all" if len(sentence.at) == 3 else listed(sentence.at)
