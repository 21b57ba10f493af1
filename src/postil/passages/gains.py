"""The numbers of a passage ranking by name, and findings as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.data.ties import tied
from postil.messages import Message, Setting, spoken
from postil.page.words import ABOVE, ALPHA, BELOW, VERDICTS, capital, first_minus_second, isolated, verdict
from postil.passages.gain_curves import BASELINES, measure_family
from postil.passages.result import smallest_p
from postil.results.formats import counted, listed
from postil.results.names import unweighted
from postil.results.numbers import estimate, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.page.blocks import Point
    from postil.passages.result import Gain, GainDifference, NcgResult

__all__ = ["Gains", "Group", "gains_paragraph", "leads", "use_of_weights"]

BASELINES_TITLE: Final = "Baselines, which use no reference"

NAMED: Final = 3
"""Number of measures that a sentence names."""

MOST: Final = 12
"""Number of measures that a list names."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rankings that are comparable with one another.

    Args:
        title: The property that they share; empty where there is one group.
        names: The rankings, without baselines.
    """

    title: str
    names: tuple[str, ...]


class Gains:
    """The numbers of one result, by name.

    Args:
        result: The result.

    Attributes:
        rows: nCG by ranking and rank cutoff.
        cutoffs: The rank cutoffs.
        short: Label of each ranking beside others of its group.
        baselines: Rankings without a reference.
        groups: The others: with passages in their references, and leave-one-out. Baselines alone are one group.
        both: Measures that are in two groups, as the names of their rankings in the one and in the other.
        units: Units of the resamples: folds or topics.
        has_intervals: True if there are confidence intervals.
        bootstrap: True for a bootstrap test, False for sign flips.
    """

    def __init__(self, result: NcgResult) -> None:
        self.result = result
        self.rows: dict[tuple[str, int], Gain] = {(row.name, row.k): row for row in result.gains}
        self.cutoffs = tuple(dict.fromkeys(row.k for row in result.gains))
        self.short = {row.name: row.measure for row in result.gains}
        self._differences = {(row.first, row.second, row.k): row for row in result.differences}
        names = {row.name: row.leave_one_out for row in result.gains}
        self.baselines = tuple(name for name in names if measure_family(name) == BASELINES)
        inside, outside = (
            tuple(name for name in names if names[name] is leave and name not in self.baselines)
            for leave in (False, True)
        )
        titles = ("with each passage in its own reference", "with each passage left out of its own reference")
        if not (inside and outside):
            titles = ("", "")
        self.groups = tuple(Group(*each) for each in zip(titles, (inside, outside), strict=True) if each[1])
        if not self.groups and self.baselines:
            self.groups, self.baselines = (Group("", self.baselines),), ()
        without = {self.short[name]: name for name in outside}
        folds = result.settings.reference == "others" and result.settings.pool == "all"
        self.units = "folds" if folds else "topics"
        self.has_intervals = any(row.low is not None for row in result.gains)
        self.bootstrap = any(row.test == "bootstrap" for row in result.differences)
        self.both = tuple((name, without[name]) for name in inside if name in without)

    def full(self, name: str) -> str:
        """The label of a ranking beside those of all groups."""
        return name if len(self.groups) > 1 else self.short[name]

    def sections(self) -> Iterator[tuple[str, str]]:
        """The groups and the baselines, as titles and rankings in turn; one of the two is empty."""
        for group in self.groups:
            if len(self.groups) > 1:
                yield capital(group.title), ""
            yield from (("", name) for name in group.names)
        if self.baselines:
            yield BASELINES_TITLE, ""
            yield from (("", name) for name in self.baselines)

    def highest(self, group: Group, k: int) -> tuple[str, ...]:
        """The rankings of a group with the highest nCG at a rank cutoff."""
        there = {name: self.rows[name, k].ncg for name in group.names if (name, k) in self.rows}
        top = max(there.values(), default=0.0)
        return tuple(name for name, ncg in there.items() if tied(ncg, top))

    def best(self, group: Group, k: int) -> str:
        """The first of them; empty where there is none."""
        return "".join(self.highest(group, k)[:1])

    def difference(self, first: str, second: str, k: int) -> GainDifference | None:
        """The nCG of the first minus that of the second."""
        return first_minus_second(self._differences, first, second, k)

    def pairs(self, group: Group) -> int:
        """Number of pairs in Holm's correction at each rank cutoff."""
        n = len(group.names) + len(self.baselines)
        return n * (n - 1) // 2

    def can_be_clear(self, group: Group) -> bool:
        """True if the smallest p that the test can have is below .05 after Holm's correction."""
        if not self.result.differences:
            return False
        resamples = self.result.settings.resamples if self.bootstrap else None
        return smallest_p(self.result.data.topics, resamples) * self.pairs(group) < ALPHA


def gains_paragraph(look: Gains) -> str:
    """The best measures by rank cutoff, the significance of their lead, the cost of leave-one-out, the baselines.

    Args:
        look: The numbers.
    """
    said: list[str] = []
    for group in look.groups:
        begin = f"{group.title} " if group.title else ""
        if group is not look.groups[0]:
            said.append(_cost(look))
            begin = "then " if look.both else "of them "
        said += [_first(look, group, begin), _lead(look, group)]
    return " ".join(filter(None, [*map(capital, said), *_baselines(look), *_too_few(look)]))


def leads(look: Gains, group: Group) -> Iterator[Point]:
    """The best ranking at each rank cutoff, and the others that it is significantly higher than.

    Args:
        look: The numbers.
        group: Some rankings.
    """
    for k in look.cutoffs if look.can_be_clear(group) else ():
        best = look.best(group, k)
        above, others = _above(look, group, best, k)
        if not others:
            continue
        open_ = [name for name in others if name not in above]
        row = look.rows[best, k]
        value = estimate(row.ncg, row.low, row.high)
        parts = [f"{ABOVE} {_names(look, above)}"] if above else []
        parts += [f"not {ABOVE} {_names(look, open_, 'or')}"] if open_ else []
        yield f"nCG@{k:,}", f"{isolated(look.short[best])} {value}, {'; '.join(parts)}."


def use_of_weights(look: Gains) -> Iterator[Point]:
    """Findings on each weighted measure, compared with its unweighted form at each rank cutoff.

    Args:
        look: The numbers.
    """
    for group in filter(look.can_be_clear, look.groups):
        names = {look.short[name]: name for name in group.names}
        for spec, name in names.items():
            plain = names.get(unweighted(spec) or "")
            found: dict[str, list[int]] = {}
            for k in look.cutoffs if plain else ():
                if row := look.difference(name, plain or "", k):
                    found.setdefault(verdict(row), []).append(k)
            if plain and found:
                other = f"unweighted {isolated(look.short[plain])}"
                said = [
                    f"{finding} {'it' if place else other} {_at(look, found[finding])}"
                    for place, finding in enumerate(each for each in VERDICTS if each in found)
                ]
                yield spec, f"{capital('; '.join(said))}."


def _first(look: Gains, group: Group, begin: str) -> str:
    """The best rankings by rank cutoff."""
    found: dict[tuple[str, ...], list[int]] = {}
    for k in look.cutoffs:
        if best := look.highest(group, k):
            found.setdefault(best, []).append(k)
    said = [
        f"{listed([isolated(look.short[name]) for name in names], most=NAMED)} {_at(look, ks)} "
        f"({listed([number(look.rows[names[0], k].ncg) for k in ks])})"
        for names, ks in found.items()
    ]
    if not said:
        return ""
    return f"{begin}the {'highest ' if len(group.names) > 1 else ''}nCG is that of {listed(said)}."


def _lead(look: Gains, group: Group) -> str:
    """Significance of the lead, and the others that may be as good."""
    clear: list[int] = []
    others: set[str] = set()
    behind: set[str] = set()
    for k in look.cutoffs if look.can_be_clear(group) else ():
        above, rest = _above(look, group, look.best(group, k), k)
        others.update(rest)
        behind.update(above)
        if above == rest:
            clear.append(k)
    if not others:
        return ""
    several = len(look.cutoffs) > 1
    every = f"{ABOVE} every other measure"
    if len(clear) == len(look.cutoffs):
        return f"that is {every}."
    said = f"only {_at(look, clear)} is that {every}" if clear else f"that is {'nowhere' if several else 'not'} {every}"
    below = [name for name in group.names if name in behind]
    level = [name for name in group.names if name in others - behind]
    if not below:
        return f"{said}; no measure is significantly lower{' at any cutoff' if several else ''}."
    if len(below) < len(level):
        some = " at some cutoff" if several else ""
        return f"{said}; only {_names(look, below)} {_are(below)} significantly lower{some}."
    if not level:
        return f"{said}; each of the others is significantly lower at some cutoff."
    return f"{said}; {_names(look, level)} {_are(level)} {'never' if several else 'not'} significantly lower."


def _cost(look: Gains) -> str:
    """Decrease of nCG when passages leave their references."""
    if not look.both:
        return spoken(
            Message(
                "measures with weights leave each passage out of its own reference; they are not comparable with "
                "those above, which {setting} scores in that way too.",
                setting=Setting("leave_one_out", value=True),
            )
        )
    said = []
    for k in dict.fromkeys([*look.cutoffs[:1], *look.cutoffs[-1:]]):
        falls = {
            inside: look.rows[inside, k].ncg - look.rows[outside, k].ncg
            for inside, outside in look.both
            if (inside, k) in look.rows and (outside, k) in look.rows
        }
        ends = [min(falls, key=falls.__getitem__), max(falls, key=falls.__getitem__)] if falls else []
        costs = " to ".join(f"{number(falls[name])} ({isolated(name)})" for name in dict.fromkeys(ends))
        said += [f"{costs} {_at(look, [k])}"] if costs else []
    return (
        f"leaving each passage out of its own reference costs {listed(said)}, differences without a test."
        if said
        else ""
    )


def _baselines(look: Gains) -> Iterator[str]:
    """The measures that are significantly higher than the baselines."""
    if not all(map(look.can_be_clear, look.groups)):
        return
    for baseline in look.baselines:
        findings: dict[str, set[str]] = {}
        for group in look.groups:
            for name in group.names:
                rows = [row for k in look.cutoffs if (row := look.difference(name, baseline, k))]
                findings.setdefault(look.short[name], set()).update(map(verdict, rows))
        above = [isolated(name) for name, found in findings.items() if found == {ABOVE}]
        below = [isolated(name) for name, found in findings.items() if BELOW in found]
        if len(above) == len(findings):
            said = "every measure is"
        elif above:
            said = f"{listed(above, most=NAMED)} {_are(above)}"
        else:
            said = "no measure is"
        said = f"{capital(said)} {ABOVE} {isolated(baseline)} at every cutoff"
        if below:
            said += f"; {listed(below, most=NAMED)} {_are(below)} significantly lower at some"
        yield f"{said}."


def _too_few(look: Gains) -> Iterator[str]:
    """The groups in which no difference can be significant."""
    pairs = [look.pairs(group) for group in look.groups if not look.can_be_clear(group)]
    if look.result.differences and pairs:
        few = counted(look.result.settings.resamples, "resample")
        if not look.bootstrap:
            few = counted(look.result.data.topics, "topic")
        yield (
            f"With {few} no difference can be significant after Holm’s correction for "
            f"{counted(max(pairs), 'pair')}; only the confidence intervals can be interpreted."
        )


def _above(look: Gains, group: Group, best: str, k: int) -> tuple[list[str], list[str]]:
    """The others that a ranking is significantly higher than, and all others."""
    rows = {name: row for name in group.names if name != best and (row := look.difference(best, name, k))}
    return [name for name, row in rows.items() if verdict(row) == ABOVE], list(rows)


def _names(look: Gains, names: Sequence[str], last: str = "and") -> str:
    return listed([isolated(look.short[name]) for name in names], last, MOST)


def _at(look: Gains, ks: Sequence[int]) -> str:
    if len(ks) == len(look.cutoffs) > 1:
        return "at every cutoff"
    return f"at k = {listed([f'{k:,}' for k in ks])}".replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"
