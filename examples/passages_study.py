"""Rank passages of a topic by measures, and compare the rankings with human grades.

    python examples/passages_study.py passages.jsonl
    python examples/passages_study.py passages.jsonl --reference others --least 0.6 --control

The first compares each passage with all other passages of its topic, whatever their grades, as `postil interesting`
does with a page; the second with the passages of other topics that have a grade of .6 or more, and, as a control,
with those below. A passage is never in its own reference. Each topic is a list of its own; the numbers are means
over the topics:

- nCG at some rank cutoffs, with the grades as gains;
- Spearman's coefficient of the measure and the grades;
- the same at equal length: the partial coefficient, given the number of words (less stop words, if they are out).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.row_files import read
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.meta.column_correlations import rank_coefficient
from postil.meta.permutation import permutation_p
from postil.meta.resampling import Draws, bootstrap_counts, interval
from postil.meta.significance import holm
from postil.metrics.passage_measures import measure_passages
from postil.metrics.passage_pools import informativeness, interestingness
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import parse_measure
from postil.passages.calls import MEASURES
from postil.passages.gain import gain_curve
from postil.results.formats import value_with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metrics.passage_pools import Pools

    Floats: TypeAlias = NDArray[np.float64]

LENGTH: Final = "length(inverse=false)"
OTHERS: Final = ("js", "rouge", "tf-idf")
UNITS: Final = ("1", "2", "sk")
DEFAULT: Final = (*MEASURES, *(f"{family}-{unit}" for family in OTHERS for unit in UNITS), "length", LENGTH)
FLIPS: Final = 10_000


@dataclass(frozen=True, eq=False)
class Judged:
    """Passages sorted by topic.

    Args:
        passages: n of them.
        topic: int64[n], rising from 0.
        grades: float64[n].
    """

    passages: Sequence[Passage]
    topic: NDArray[np.int64]
    grades: Floats

    @classmethod
    def of(cls, rows: Sequence[Passage]) -> Judged:
        """Sort rows; the order within a topic stays."""
        numbers = {topic: number for number, topic in enumerate(dict.fromkeys(row.topic for row in rows))}
        kept = sorted(rows, key=lambda row: numbers[row.topic])
        graded = [row.grade for row in kept if row.grade is not None]
        if len(graded) < len(kept):
            raise SystemExit("every passage needs a grade")
        return cls(kept, np.array([numbers[row.topic] for row in kept]), np.array(graded))

    @property
    def topics(self) -> int:
        """Number of topics."""
        return int(self.topic[-1]) + 1

    def reference(self, whose: str, least: float, *, below: bool) -> Pools:
        """The passages that have a grade, or that have not, of the same topic or of the others, as references of all.

        Weights are the grades, divided by the highest; 1 where passages of all grades count, or those below.
        """
        inside = (self.grades < least) if below else (self.grades >= least)
        even = below or least <= 0
        weights = inside.astype(np.float64) if even else np.where(inside, self.grades / self.grades.max(), 0.0)
        if whose == "topic":
            return informativeness(self.topic, weights)
        numbers: dict[str, int] = {}
        same = [numbers.setdefault(" ".join(each.text.lower().split()), len(numbers)) for each in self.passages]
        return interestingness(self.topic, weights, same, np.arange(self.topics))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Measures that are computed.

    Args:
        specs: Measures.
        whose: ``topic`` or ``others``: of which topics references are.
        least: The lowest grade of a reference.
        control: Whether there is also a reference of what is below.
        stem: A stemmer, or ``none``.
    """

    specs: Sequence[str]
    whose: str
    least: float
    control: bool
    stem: str


def scored(data: Judged, asked: Asked, stop: str) -> tuple[dict[str, Floats], Floats]:
    """Every measure of every passage, higher is better, by name; and the number of words of each passage.

    The name says the list of stop words, and for a control that it is one.
    """
    how = Preprocessing(stop=stop, stem=asked.stem)
    collection = how.collection(data.passages, RowLocations("passages"))
    measures = {spec: parse_measure(spec) for spec in asked.specs}
    for spec, measure in measures.items():
        if coverage := measure.coverage(collection, how):
            print(f"{spec}: {coverage}")
    tail = "" if stop == "none" else f" --stop {stop}"
    found = {}
    for below in (False, True)[: 1 + asked.control]:
        pools = data.reference(asked.whose, asked.least, below=below)
        if len(pools.texts) < len(data.passages):
            raise SystemExit("some topics have no passage of such grades")
        values = measure_passages(list(measures.values()), collection, pools)
        for spec, measure in measures.items():
            column = np.empty(len(data.passages))
            column[pools.texts] = measure.ranked(values[measure])
            name = f"control:{spec}{tail}" if below else f"{spec}{tail}"
            found[name] = np.maximum(column, column[np.isfinite(column)].min() - 1.0)  # nothing left is last
    return found, collection.tokens.lengths.astype(np.float64)


def by_topic(data: Judged, scores: Mapping[str, Floats], length: Floats, cutoffs: Sequence[int]) -> dict[str, Floats]:
    """For each measure float64[topics, cutoffs + 2]: nCG at each cutoff, Spearman, and Spearman at equal length.

    NaN stands where there is none, for all lengths of a topic may be equal, or all scores.
    """
    columns = np.column_stack([*scores.values()])
    starts = np.flatnonzero(np.diff(data.topic, prepend=-1))
    of_grade = rank_coefficient("spearman", columns, data.grades, starts)
    of_length = rank_coefficient("spearman", columns, length, starts)
    both = rank_coefficient("spearman", length[:, None], data.grades, starts)
    left = np.sqrt(np.maximum(0.0, (1 - of_length**2) * (1 - both**2)))
    partial = np.full_like(left, np.nan)
    np.divide(of_grade - of_length * both, left, out=partial, where=left > 1e-6)
    found = {}
    for place, (name, column) in enumerate(scores.items()):
        gains = gain_curve(column, data.grades, data.topic, cutoffs, resamples=1).by_topic
        assert gains is not None  # noqa: S101 - each topic is a list
        found[name] = np.column_stack([gains, of_grade[:, place], partial[:, place]])
    return found


def cells(values: Floats, counts: NDArray[np.int32]) -> Iterator[str]:
    """Means over the topics with intervals; ``-`` where a topic has none."""
    for column in values.T:
        if np.isnan(column).any():
            yield "-"
            continue
        middle = interval(counts @ column / len(column))
        yield value_with_interval(float(column.mean()), middle.low, middle.high)


def differences(
    found: Mapping[str, Floats], pairs: Sequence[tuple[str, str]], counts: NDArray[np.int32]
) -> dict[str, list[str]]:
    """The first of each pair minus the second, with intervals and p by sign flips of topics after Holm's correction."""
    rows = {one: found[one] - found[other] for one, other in pairs}
    out: dict[str, list[str]] = {name: [] for name in rows}
    for place in range(next(iter(rows.values())).shape[1]):
        columns = {name: row[:, place] for name, row in rows.items() if not np.isnan(row[:, place]).any()}
        corrected = dict(zip(columns, holm(sign_flips(np.array([*columns.values()]).T)).tolist(), strict=True))
        for name in rows:
            cell = next(cells(rows[name][:, [place]], counts))
            out[name].append(f"{cell} ({short(corrected[name])})" if name in corrected else "-")
    return out


def short(p: float) -> str:
    """Three decimals, and 1 as it is."""
    return "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")


def sign_flips(columns: Floats) -> Floats:
    """Sign-flip p-value of the mean of each column of float64[topics, m]."""
    if not columns.size:
        return np.empty(0)
    return permutation_p(lambda flipped: np.abs((1 - 2 * flipped) @ columns), len(columns), Draws(permutations=FLIPS))


def table(heads: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    """Print a table."""
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(row) + " |")


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measures of passages against grades, topic by topic.")
    parser.add_argument("passages", help="rows with topic, id, text and grade")
    parser.add_argument("--reference", choices=("topic", "others"), default="topic", help="passages of which topics")
    parser.add_argument("--least", type=float, default=0.0, help="their lowest grade")
    parser.add_argument("--control", action="store_true", help="also references of those with a lower grade")
    parser.add_argument("-m", "--measure", action="append", help="a spec; may be repeated")
    parser.add_argument("--stop", action="append", help="none, or a list of stop words; may be repeated")
    parser.add_argument("--stem", default="none", help="none, or a stemmer")
    parser.add_argument("-k", type=int, action="append", help="rank cutoff; repeatable; by default 5 and 10")
    parser.add_argument("--against", action="append", default=[], help="a row that the others are compared with")
    given = parser.parse_args(arguments)
    data = Judged.of(list(read(given.passages, Passage)))
    cutoffs = given.k or [5, 10]
    asked = Asked(
        specs=given.measure or DEFAULT,
        whose=given.reference,
        least=given.least,
        control=given.control,
        stem=given.stem,
    )
    found: dict[str, Floats] = {}
    for stop in given.stop or ["none"]:
        scores, length = scored(data, asked, stop)
        found |= by_topic(data, scores, length, cutoffs)
    counts = bootstrap_counts(data.topics)
    heads = [*(f"nCG@{k}" for k in cutoffs), "Spearman", "at equal length"]
    print(f"{len(data.passages)} passages of {data.topics} topics")
    table(["measure", *heads], {name: list(cells(values, counts)) for name, values in found.items()})
    for against in given.against:
        pairs = [(name, against) for name in found if name != against and not name.startswith("control:")]
        table([f"minus {against}", *heads], differences(found, pairs, counts))
    if given.control:
        pairs = [(name, f"control:{name}") for name in found if f"control:{name}" in found]
        table(["minus its control", *heads], differences(found, pairs, counts))


if __name__ == "__main__":
    main()
