"""The chapter of a passage ranking: nCG of each measure, differences, curves."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import msgspec

from postil.page.blocks import (
    Chapter,
    Collapsed,
    Facts,
    Findings,
    Paragraph,
    Picture,
    Section,
    collapsed,
    facts,
    sentences,
)
from postil.page.chapters import forests, signature_rows, signatures
from postil.page.words import SIGNIFICANTLY, capital, isolated, left_out
from postil.passages.gain_curves import BASELINES, BEST, IN_ONE_PICTURE, curve, draw_together, gather
from postil.passages.gains import Gains, gains_paragraph, leads, use_of_weights
from postil.passages.gains_by_length import gains_by_length
from postil.passages.view import Ranking, differences_table, gains_table, length_columns, measures
from postil.plots.forest import IntervalRow
from postil.results.formats import counted, listed
from postil.results.table import Name, Number, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from postil.page.blocks import Block, Numbers
    from postil.passages.gains import Group
    from postil.passages.result import GainByLength, GainDifference, NcgResult, SummaryResult

__all__ = ["chapter", "pictures", "summaries"]


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
    of = {row.name: row.signature for row in look.result.gains}
    yield from collapsed(signatures(of.items(), "measure"))


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
