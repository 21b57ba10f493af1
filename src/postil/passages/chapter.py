"""The chapter of a passage ranking: nCG of each measure, differences, curves, findings, and the length of passages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.data.ranking import tied
from postil.messages import Message, Setting, spoken
from postil.passages.result import Gain, GainByLength, GainDifference, LengthThird, NcgResult, SummaryResult, smallest_p
from postil.passages.view import (
    BASELINES,
    BEST,
    IN_ONE_PICTURE,
    Ranking,
    curve,
    differences_table,
    draw_together,
    gains_table,
    gather,
    length_columns,
    lengths_table,
    measure_family,
    measures,
    undefined_correlations,
)
from postil.results.formats import listed
from postil.results.names import unweighted
from postil.results.numbers import estimate, number
from postil.results.page.blocks import (
    ABOVE,
    ALPHA,
    BELOW,
    SIGNIFICANTLY,
    VERDICTS,
    Block,
    Chapter,
    Collapsed,
    Facts,
    Findings,
    Numbers,
    Paragraph,
    Picture,
    Point,
    Section,
    capital,
    collapsed,
    facts,
    first_minus_second,
    isolated,
    left_out,
    sentences,
    verdict,
)
from postil.results.page.chapters import forests, signature_rows, signatures
from postil.results.plots.forest import IntervalRow
from postil.results.table import Name, Number, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


__all__ = [
    "Gains",
    "Group",
    "chapter",
    "gains_by_length",
    "gains_paragraph",
    "leads",
    "pictures",
    "summaries",
    "use_of_weights",
]

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
            rows = {k: look.difference(name, plain, k) for k in look.cutoffs} if plain else {}
            found = grouped((verdict(row), k) for k, row in rows.items() if row)
            if plain and found:
                other = f"unweighted {isolated(look.short[plain])}"
                said = [
                    f"{finding} {'it' if place else other} {_at(look, found[finding])}"
                    for place, finding in enumerate(each for each in VERDICTS if each in found)
                ]
                yield spec, f"{capital('; '.join(said))}."


def _first(look: Gains, group: Group, begin: str) -> str:
    """The best rankings by rank cutoff."""
    found = grouped((best, k) for k in look.cutoffs if (best := look.highest(group, k)))
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
    return f"at k = {listed([f'{k:,}' for k in ks])}".replace(" = ", "\xa0=\xa0")


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


SAID: Final = (
    "A measure that merely prefers long passages, or short ones, has a high nCG where these have high grades, but not "
    "among passages of similar length. Scores that agree with grades beyond length have a partial correlation above 0."
)


def gains_by_length(look: Gains) -> Iterator[Block]:
    """A table with one row per ranking, the thirds, and the reasons of missing correlations.

    Args:
        look: The numbers.
    """
    rows = {row.name: row for row in look.result.by_length}
    if not rows:
        return
    yield Paragraph(SAID)
    yield _length_table(look, rows)
    thirds = next(iter(rows.values()))
    facts = [
        (f"{name} third", _size(third)) for name, third in zip(thirds.THIRDS, thirds.thirds, strict=True) if third.n
    ]
    absent = ((f"undefined: {which}", reason) for which, reason in undefined_correlations(rows.values()))
    yield Facts((*facts, *absent))


def _length_table(look: Gains, rows: dict[str, GainByLength]) -> Table:
    first = next(iter(rows.values()))
    lines = [
        Ranking(title, title, {}, "group")
        if title
        else Ranking(look.short[name], look.full(name), {}, length=rows[name])
        for title, name in look.sections()
        if title or name in rows
    ]
    list_of = "the list" if look.result.settings.pool == "all" else "each topic"
    caption = (
        f"nCG@{first.k:,} by length: the mean of three thirds of {list_of} by number of words, and each third; "
        "Spearman correlation of scores and grades, the same with the number of words partialled out, and that of "
        "scores and numbers of words"
    )
    if any(row.ncg.low is not None for row in rows.values()):
        caption += f"; 95 % confidence intervals over {look.units} in brackets"
    return lengths_table(lines, caption)


def _size(third: LengthThird) -> str:
    words = f"{third.shortest:,}" if third.shortest == third.longest else f"{third.shortest:,} to {third.longest:,}"
    return f"{counted(third.n, 'passage')} of {words} words"


def chapter(result: NcgResult, key: str) -> Chapter:
    """The chapter of a passage ranking.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    look, data, settings = Gains(result), result.data, result.settings
    senses = {"topic": "Informativeness", "others": "Interestingness"}
    rankings = {"topic": "one list per topic, and their mean", "all": "all in one list"}
    said = (
        f"{counted(data.passages, 'passage')} of {counted(data.topics, 'topic')}, {data.informative:,} with a grade "
        f"above 0; {rankings[settings.pool]}"
    )
    parts = (
        Section("gains", "nCG of each measure", (*_gains(look),)),
        Section("differences", "Differences between measures", (*_differences(look),)),
        Section("length", "Length of the passages", (*gains_by_length(look),)),
        Section("curves", "Curves", (*_curves(look),)),
        Section("data", "Data", (Facts((("scale", data.scale), *left_out(data.left_out))),)),
        Section("settings", "Settings", (*_settings(look),)),
    )
    paragraph = gains_paragraph(look)
    clear = any(map(look.can_be_clear, look.groups))
    conclusion = (*([Paragraph(paragraph)] if paragraph else []), *([Paragraph(SIGNIFICANTLY)] if clear else []))
    return Chapter(
        key,
        f"{senses[settings.reference]} of passages",
        said,
        conclusion,
        tuple(part for part in parts if part.blocks),
        tuple(_numbers(result)),
    )


def _numbers(result: NcgResult) -> Iterator[Numbers]:
    """The rows of the files beside the page."""
    yield "gains", result.gains
    yield "by-length", [*map(_by_length, result.by_length)]
    yield "differences", result.differences
    yield (
        "curves",
        [
            {"measure": line.measure, "k": k, "ncg": ncg, "low": low, "high": high}
            for line in result.lines
            for k, ncg, low, high in zip(
                line.k, line.ncg, line.low or repeat(None), line.high or repeat(None), strict=False
            )
        ],
    )
    yield signature_rows("measure", {row.name: row.signature for row in result.gains})


def _by_length(row: GainByLength) -> dict[str, object]:
    """A ranking by length: its numbers and those of its thirds."""
    found = {"measure": row.measure, "leave_one_out": row.leave_one_out, **length_columns(row)}
    for name, third in zip(row.THIRDS, row.thirds, strict=True):
        found |= {f"{name}_{field}": value for field, value in msgspec.structs.asdict(third).items()}
    return found


def _gains(look: Gains) -> Iterator[Block]:
    yield _table(look)
    yield from sentences(look.result.notes)
    if look.both:
        yield _cost_of_itself(look)


def _differences(look: Gains) -> Iterator[Block]:
    if not look.result.differences:
        return
    for group in look.groups:
        if points := tuple(leads(look, group)):
            yield Paragraph(f"Highest nCG {group.title}:" if group.title else "Highest nCG:")
            yield Findings(points)
        if (sheet := _from_best(look, group)).rows:
            yield sheet
    if points := tuple(use_of_weights(look)):
        yield Paragraph("Weighted measures compared with their unweighted form:")
        yield Findings(points)
    yield from collapsed(_all_differences(look))


def _settings(look: Gains) -> Iterator[Block]:
    settings = look.result.settings
    references = {
        "topic": "the informative passages of its topic",
        "others": f"informative passages of other topics, in {counted(settings.folds, 'fold')} by {settings.folds_by}"
        + ", a text of several topics once" * (settings.repeated_texts == "once")
        + ", with texts equal to the passage" * (settings.equal_texts == "stay"),
    }
    words = ["anchors" if settings.anchors else f"tokenizer {settings.tokenizer}"] if settings.tokenizer else []
    words += [f"{name}: {value}" for name, value in (("stop words", settings.stop), ("stems", settings.stem)) if value]
    tests = {"sign-flip": f"sign flips of {look.units}", "bootstrap": f"bootstrap over {look.units}"}
    tested = listed(sorted({tests.get(row.test, row.test) for row in look.result.differences}))
    fewer = settings.line_resamples if settings.line_resamples < settings.resamples else 0
    bands = f"; for the bands of curves {fewer:,} of them" if fewer else ""
    over = f"95 % percentile bootstrap, {counted(settings.resamples, 'resample')} of the {look.units}{bands}"
    yield facts(
        ("command", settings.command),
        ("reference", references[settings.reference]),
        ("words", "; ".join(words)),
        ("intervals", over if look.has_intervals else ""),
        ("tests", f"{tested}; Holm’s correction for all pairs at a cutoff" if tested else ""),
        ("ties", "the expected value over all orders of tied passages"),
        ("seed", str(settings.seed)),
        ("postil", settings.postil),
    )
    yield from collapsed(signatures({row.name: row.signature for row in look.result.gains}.items(), "measure"))


def _table(look: Gains) -> Table:
    """The nCG of each measure at each rank cutoff, in groups of comparable rankings."""
    compared = [group for group in look.groups if len(group.names) > 1]
    best = {(name, k) for group in compared for k in look.cutoffs for name in look.highest(group, k)}
    lines = [
        _gains_of(look, name, [k for k in look.cutoffs if (name, k) in best])
        if name
        else Ranking(title, title, {}, "group")
        for title, name in look.sections()
    ]
    caption = "nCG at each rank cutoff"
    if look.has_intervals:
        caption += f", 95 % confidence intervals over {look.units} in brackets"
    if compared:
        caption += f"; bold: the highest{' of each group' if len(look.groups) > 1 else ''}"
    return gains_table(lines, caption)


def _gains_of(look: Gains, name: str, best: Collection[int]) -> Ranking:
    rows = {k: row for k in look.cutoffs if (row := look.rows.get((name, k)))}
    return Ranking(look.short[name], look.full(name), rows, "", best)


def _differences_of(look: Gains, first: str, second: str) -> dict[int, GainDifference]:
    return {k: row for k in look.cutoffs if (row := look.difference(first, second, k))}


def _from_best(look: Gains, group: Group) -> Table:
    """The best of a group at the first rank cutoff, minus each other and the baselines."""
    best = look.best(group, look.cutoffs[0]) if look.cutoffs else ""
    lines = [
        Ranking(look.short[name], name, rows, "control" if name in look.baselines else "")
        for name in (*group.names, *look.baselines)
        if name != best and (rows := _differences_of(look, best, name))
    ]
    key = "differences" if group is look.groups[0] else "differences-without-itself"
    title = f"{capital(group.title)}: " if group.title else ""
    name = look.short.get(best, best)
    caption = (
        f"{title}{isolated(name)}, the highest at the first rank cutoff, minus the others; 95 % confidence intervals "
        "in brackets (* Holm-adjusted p < .05)"
    )
    return differences_table(f"{name} minus", lines, caption, key)


def _all_differences(look: Gains) -> Table:
    """All pairs of rankings."""
    pairs = dict.fromkeys((row.first, row.second) for row in look.result.differences)
    names = [(f"{first} − {second}", _differences_of(look, first, second)) for first, second in pairs]
    lines = [Ranking(name, name, rows) for name, rows in names]
    return differences_table("difference", lines, f"All {counted(len(pairs), 'pair')}", "all-differences")


def _cost_of_itself(look: Gains) -> Table:
    """Change of nCG when passages leave their references."""

    def change(k: int, pair: tuple[str, str]) -> float | None:
        before, after = (look.rows.get((name, k)) for name in pair)
        return after.ncg - before.ncg if before and after else None

    return Table(
        key="itself",
        caption="Change of nCG when each passage is left out of its own reference",
        rows=look.both,
        columns=(
            Name("measure", lambda pair: look.short[pair[0]]),
            *(Number(f"nCG@{k:,}", partial(change, k), signed=True) for k in look.cutoffs),
        ),
    )


def pictures(result: NcgResult) -> Iterator[Picture]:
    """Curves of nCG over k: the best of each family of measures, then each family.

    Args:
        result: The result.
    """
    return _drawn(Gains(result))


def summaries(result: SummaryResult) -> Iterator[Picture]:
    """The mean scores of systems by all measures together, and by each.

    Args:
        result: The result.
    """
    rows = [
        IntervalRow(row.system, row.mean, row.low, row.high, measure)
        for measure, rows in measures(result).items()
        for row in rows
    ]
    return forests("Mean scores", rows)


def _drawn(look: Gains) -> Iterator[Picture]:
    lines = {line.measure: line for line in look.result.lines}
    first = {name: look.rows[name, k].ncg for name in lines for k in look.cutoffs[:1] if (name, k) in look.rows}
    together = gather(first) if first else {}
    for title, names in sorted(together.items(), key=lambda picture: picture[0] != BEST):
        if title == BEST and len(names) < 2:  # it would show what its family shows
            continue
        drawn = [curve(lines[name], look.full(name)) for name in names]
        what = (
            "the best of each family of measures"
            if title == BEST
            else f"the {'' if title == BASELINES else 'family '}{isolated(title)}"
        )
        few = f", the first {IN_ONE_PICTURE} of {len(drawn)}" if len(drawn) > IN_ONE_PICTURE else ""
        band = ", bands: 95 % confidence intervals" if any(each.low is not None for each in drawn) else ""
        label = f"nCG over k: {'; '.join(each.name for each in drawn)}; the numbers are in the table above"
        caption = f"nCG over k, {what}{few}{band}"
        yield Picture(title, capital(what), caption, label, partial(draw_together, drawn[:IN_ONE_PICTURE]))


def _curves(look: Gains) -> Iterator[Block]:
    for place, picture in enumerate(_drawn(look)):
        yield Collapsed(picture.title, (picture,)) if place else picture
