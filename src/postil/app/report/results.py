"""What other commands print with `--format json`, as typed records."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, TypeAlias

import msgspec

from postil.app.names import ranking
from postil.records.explain import shown

__all__ = [
    "Absent",
    "Agreement",
    "Compared",
    "Comparison",
    "Correlated",
    "Correlation",
    "Data",
    "Difference",
    "Disagreement",
    "Estimate",
    "Gain",
    "GainDifference",
    "GainLine",
    "Human",
    "LeftOut",
    "Pair",
    "PassageData",
    "PassageSettings",
    "Passages",
    "Points",
    "Rater",
    "Result",
    "Scored",
    "Settings",
    "Study",
    "StudyCell",
    "StudyPart",
    "StudyPicture",
    "StudyRow",
    "StudyTable",
    "SystemMean",
    "SystemScore",
    "Text",
]


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """Unknown fields are passed over, so that results may say more than a page shows."""


class _Interval(_Record, frozen=True, kw_only=True):
    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None) or (self.low or 0) > (self.high or 0):
            raise ValueError(f"expected an interval from low to high, got {self.low} and {self.high}")


class Estimate(_Interval, frozen=True, kw_only=True):
    """A value with its interval, where it has one."""

    value: float


class Correlation(Estimate, frozen=True, kw_only=True):
    """A coefficient of one metric, control or side of people; see `postil.metaeval.correlation.Correlation`."""

    metric: str
    coefficient: str
    by: str
    p: float
    n: int
    dropped: int = 0
    sd: float | None = None


class Difference(Estimate, frozen=True, kw_only=True):
    """Metric against metric; see `postil.metaeval.significance.Difference`."""

    first: str
    second: str
    coefficient: str
    by: str
    n: int
    p_bootstrap: float | None = None
    p_williams: float | None = None
    p_permutation: float | None = None
    p: float | None = None
    p_holm: float | None = None


class Absent(_Record, frozen=True, kw_only=True):
    """A number that does not exist, and why."""

    metric: str
    coefficient: str
    by: str
    reason: str


class LeftOut(_Record, frozen=True, kw_only=True):
    """Texts that are not in the numbers, and why."""

    why: str
    n: int
    examples: tuple[str, ...] = ()


class Human(_Record, frozen=True, kw_only=True):
    """People against people; only a reason where there is nothing to say. See `postil.metaeval.human.Human`."""

    rows: tuple[Correlation, ...] = ()
    reliability: float | None = None
    rule: str = ""
    pairs: int = 0
    k: float = 0
    ceiling: float | None = None
    n: int = 0
    left_out: int = 0
    reason: str = ""


class Pair(_Record, frozen=True, kw_only=True):
    """Two annotators; see `postil.metaeval.agreement.PairAgreement`."""

    first: str
    second: str
    n: int
    agreement: float
    unweighted: float | None
    linear: float | None
    quadratic: float | None
    reason: str = ""


class Rater(_Record, frozen=True, kw_only=True):
    """An annotator; see `postil.metaeval.agreement.Rater`."""

    name: str
    n: int
    mean: float
    severity: Estimate | None
    histogram: tuple[int, ...] | None
    note: str = ""


class Agreement(_Record, frozen=True, kw_only=True):
    """How far annotators agree; see `postil.metaeval.agreement.Agreement`."""

    texts: int
    ratings: int
    labels: tuple[float, ...]
    estimates: dict[str, Estimate]
    absent: dict[str, str] = {}
    confusion: tuple[tuple[int, ...], ...] | None = None
    pairs: tuple[Pair, ...] = ()
    raters: tuple[Rater, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = [*(self.confusion or ()), *(rater.histogram for rater in self.raters if rater.histogram is not None)]
        if any(len(row) != len(self.labels) or min(row, default=0) < 0 for row in rows) or (
            self.confusion is not None and len(self.confusion) != len(self.labels)
        ):
            raise ValueError(f"expected counts for each of {len(self.labels)} labels")


class SystemMean(_Record, frozen=True, kw_only=True):
    """A system's means."""

    system: str
    n: int
    grade: float
    rank: int
    means: dict[str, float]
    ranks: dict[str, int]


class Text(_Record, frozen=True, kw_only=True):
    """A text on which two opinions differ."""

    item: str
    system: str
    grade: float
    scores: tuple[float, ...]
    normalised: tuple[float, ...]
    difference: float
    text: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.scores) == len(self.normalised) <= 2:
            raise ValueError("expected one or two scores, each with its normalised one")


class Disagreement(_Record, frozen=True, kw_only=True):
    """The texts on which two metrics, or a metric and people, differ most."""

    first: str
    second: str
    texts: tuple[Text, ...]


class Data(_Record, frozen=True, kw_only=True):
    """What the numbers are over."""

    texts: int
    items: int
    systems: int
    annotators: int
    ratings: int
    mean: float
    sd: float
    aspect: str | None = None
    scale: str | None = None
    left_out: tuple[LeftOut, ...] = ()


class Settings(_Record, frozen=True, kw_only=True):
    """What a command was asked for."""

    resamples: int
    permutations: int
    seed: int
    postil: str
    by: str = "pool"
    coefficients: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    command: str = ""


class Points(_Record, frozen=True, kw_only=True):
    """Every text's grade and scores."""

    grades: tuple[float, ...]
    scores: dict[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        if any(len(column) != len(self.grades) for column in self.scores.values()):
            raise ValueError(f"expected a score for each of {len(self.grades)} grades")


class Correlated(_Record, frozen=True, kw_only=True):
    """What `postil correlate` found."""

    name: str
    correlations: tuple[Correlation, ...]
    human: Human
    differences: tuple[Difference, ...]
    systems: tuple[SystemMean, ...]
    data: Data
    signatures: dict[str, str]
    settings: Settings
    absent: tuple[Absent, ...] = ()
    notes: tuple[str, ...] = ()
    agreement: Agreement | None = None
    orders: dict[str, float | None] = {}
    disagreements: tuple[Disagreement, ...] = ()
    points: Points | None = None
    weights: str = ""


class Compared(_Interval, frozen=True, kw_only=True):
    """A system's mean by one metric, and its difference from the baseline; see `postil.metaeval.systems.Compared`."""

    metric: str
    system: str
    n: int
    mean: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None
    p_holm: float | None = None


class Comparison(_Record, frozen=True, kw_only=True):
    """What `postil compare` found."""

    name: str
    baseline: str
    items: int
    systems: tuple[Compared, ...]
    settings: Settings
    lower_is_better: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    weights: str = ""


class SystemScore(_Record, frozen=True, kw_only=True):
    """A system's score by one metric."""

    system: str
    metric: str
    score: float
    n: int
    signature: str


class Scored(_Record, frozen=True, kw_only=True):
    """What `postil score` found."""

    name: str
    scores: tuple[SystemScore, ...]


class Gain(_Interval, frozen=True, kw_only=True):
    """nCG of a measure at a cut; see `postil.metaeval.gain.GainCurve`."""

    measure: str
    k: int
    ncg: float
    leave_one_out: bool
    signature: str

    @property
    def name(self) -> str:
        """What the ranking is called in differences and lines."""
        return ranking(self.measure, leave_one_out=self.leave_one_out)


class GainDifference(Estimate, frozen=True, kw_only=True):
    """Ranking against ranking at a cut; see `postil.metaeval.gain.GainDifference`."""

    first: str
    second: str
    k: int
    p: float
    p_holm: float
    test: str


class GainLine(_Record, frozen=True, kw_only=True):
    """nCG of a ranking at many cuts, for a picture."""

    measure: str
    k: tuple[int, ...]
    ncg: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.k or self.k[0] < 1 or any(a >= b for a, b in pairwise(self.k)):
            raise ValueError("expected cuts of at least 1 that rise")
        if (self.low is None) != (self.high is None):
            raise ValueError("expected a band with two edges")
        if any(len(ys) != len(self.k) for ys in (self.ncg, self.low, self.high) if ys is not None):
            raise ValueError(f"expected a number for each of {len(self.k)} cuts")


class PassageData(_Record, frozen=True, kw_only=True):
    """What the gains are over."""

    passages: int
    topics: int
    informative: int
    scale: str
    left_out: tuple[LeftOut, ...] = ()


class PassageSettings(_Record, frozen=True, kw_only=True):
    """What `postil passages` was asked for."""

    reference: str
    pool: str
    folds: int
    folds_by: str
    resamples: int
    seed: int
    postil: str
    tokenizer: str = ""
    stem: str = ""
    stop: str = ""
    line_resamples: int = 0
    anchors: bool = False
    command: str = ""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("reference", self.reference, ("topic", "others")),
            ("pool", self.pool, ("all", "topic")),
        ):
            if value not in known:
                raise ValueError(f"expected {' or '.join(known)} for {name}, got {shown(value)}")


class Passages(_Record, frozen=True, kw_only=True):
    """What `postil passages` found."""

    name: str
    gains: tuple[Gain, ...]
    differences: tuple[GainDifference, ...]
    data: PassageData
    settings: PassageSettings
    lines: tuple[GainLine, ...] = ()
    notes: tuple[str, ...] = ()


StudyCell: TypeAlias = float | int | str | tuple[float, float | None, float | None] | None
"""A number, words, nothing, or a number with its interval."""


class StudyRow(_Record, frozen=True, kw_only=True):
    """A row of a table; see `postil.app.report.blocks.Line` for its kinds."""

    name: str
    cells: tuple[StudyCell, ...] = ()
    kind: Literal["", "control", "people", "group"] = ""
    digits: int = 3


class StudyTable(_Record, frozen=True, kw_only=True):
    """A table of a study; a row without cells is the title of the rows below it."""

    key: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[StudyRow, ...]

    def __post_init__(self) -> None:
        if not self.head or any(len(row.cells) != len(self.head) - 1 for row in self.rows if row.kind != "group"):
            raise ValueError(f"expected {len(self.head) - 1} cells in each row")


class StudyPicture(_Record, frozen=True, kw_only=True):
    """Curves over k, or bars: names with counts, of which the last few are no kinds."""

    title: str
    caption: str
    curves: tuple[GainLine, ...] = ()
    xlabel: str = ""
    ylabel: str = ""
    names: tuple[str, ...] = ()
    counts: tuple[float, ...] = ()
    aside: int = 0

    def __post_init__(self) -> None:
        if bool(self.curves) == bool(self.names) or len(self.names) != len(self.counts):
            raise ValueError("expected curves, or names with counts")


class StudyPart(_Record, frozen=True, kw_only=True):
    """A section of a study."""

    key: str
    title: str
    words: tuple[str, ...] = ()
    tables: tuple[StudyTable, ...] = ()
    pictures: tuple[StudyPicture, ...] = ()


class Study(_Record, frozen=True, kw_only=True):
    """What `postil study` found beside the results of other commands."""

    name: str
    title: str
    parts: tuple[StudyPart, ...]
    data: str = ""
    conclusion: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


Result: TypeAlias = Correlated | Comparison | Scored | Passages | Study
