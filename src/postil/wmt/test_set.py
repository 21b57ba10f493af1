"""A test set of WMT's metrics task: its folder, further scores of its segments, and what the task selects of them.

Folders have the layout of mt-metrics-eval: ``human-scores/PAIR.NAME.LEVEL.score`` and
``metric-scores/PAIR/NAME-REFERENCE.LEVEL.score`` have a system and a score per line, ``None`` for no score; a system's
scores follow the order of the segments. ``references/PAIR.NAME.txt`` and ``system-outputs/PAIR/NAME.txt`` have one text
per line and segment. A person's translation that was judged as well stands in both, under one name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.data.parts import Excluded
from postil.data.row_locations import LocatedRows
from postil.data.streams import FilePath, opened, text_lines, whole
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting
from postil.meta.table import Scored
from postil.metrics.spec import known_metric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Score


__all__ = ["NAMES", "Level", "OwnScores", "Scores", "Selection", "WmtSet"]

Level: TypeAlias = Literal["sys", "seg"]
"""Level of a file of scores: one score per system, or one per segment."""

Scores: TypeAlias = "dict[str, list[float | None]]"
"""Scores by system, in the order of the segments."""

Metrics: TypeAlias = "dict[str, Scores]"
"""Scores by metric."""


# The choices of the metrics task, as meta_info.py of mt-metrics-eval has them for wmt19 to wmt23.
REFERENCES: Final[Mapping[tuple[str, str], str]] = {
    ("wmt21.news", "en-de"): "refC",
    ("wmt21.news", "zh-en"): "refB",
    ("wmt21.tedtalks", "zh-en"): "refB",
    ("wmt22", "cs-en"): "refB",
    ("wmt22", "en-cs"): "refB",
    ("wmt23", "en-he"): "refB",
    ("wmt23", "he-en"): "refB",
}

HUMAN: Final = ("mqm", "esa", "wmt-appraise", "da-sqm", "wmt")

DIRECT_ASSESSMENT: Final[Mapping[Level, str]] = {"sys": "wmt-z", "seg": "wmt-raw"}

BY_DIRECT_ASSESSMENT: Final = ("wmt19", "wmt20")

OUTLIERS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("wmt20", "cs-en"): ("zlabs-nlp.1149", "CUNI-DocTransformer.1457"),
    ("wmt20", "de-en"): ("yolo.1052", "zlabs-nlp.1153", "WMTBiomedBaseline.387"),
    ("wmt20", "en-cs"): ("zlabs-nlp.1151", "Online-G.1555"),
    ("wmt20", "en-de"): ("zlabs-nlp.179", "WMTBiomedBaseline.388", "Online-G.1556"),
    ("wmt20", "en-iu"): ("UEDIN.1281", "OPPO.722", "UQAM_TanLe.521"),
    ("wmt20", "en-ja"): ("Online-G.1557", "SJTU-NICT.370"),
    ("wmt20", "en-pl"): ("Online-Z.1634", "zlabs-nlp.180", "Online-A.1576"),
    ("wmt20", "en-ta"): ("TALP_UPC.1049", "SJTU-NICT.386", "Online-G.1561"),
    ("wmt20", "iu-en"): ("NiuTrans.1206", "Facebook_AI.729"),
    ("wmt20", "ja-en"): ("Online-G.1564", "zlabs-nlp.66", "Online-Z.1640"),
    ("wmt20", "pl-en"): ("zlabs-nlp.1162",),
    ("wmt20", "ru-en"): ("zlabs-nlp.1164",),
    ("wmt20", "ta-en"): ("Online-G.1568", "TALP_UPC.192"),
    ("wmt20", "zh-en"): ("WMTBiomedBaseline.183",),
    ("wmt22", "en-de"): ("M2M100_1.2B-B4",),
    ("wmt23", "en-de"): ("synthetic_ref",),
    ("wmt23", "zh-en"): ("synthetic_ref",),
}

NAMES: Final[Mapping[Level, Literal["system", "segment"]]] = {"sys": "system", "seg": "segment"}
"""Name of each level in results."""


@dataclass(frozen=True, slots=True)
class WmtSet:
    """The files of one language pair of a test set.

    Args:
        path: The folder.
        pair: The language pair, such as ``en-de``.
        human: Files of human scores by level and name.
        metrics: Files of metric scores by level and name, which ends in ``-REFERENCE``.
        references: Files of references by name.
        outputs: Files of translations by system.
        segments: Number of segments; None where the folder has no texts.
    """

    path: Path
    pair: str
    human: Mapping[Level, Mapping[str, Path]]
    metrics: Mapping[Level, Mapping[str, Path]]
    references: Mapping[str, Path]
    outputs: Mapping[str, Path]
    segments: int | None

    @classmethod
    def open(cls, folder: FilePath, pair: str) -> WmtSet:
        """Find the files of a language pair.

        Args:
            folder: The folder of a test set, such as ``mt-metrics-eval-v2/wmt22``.
            pair: The language pair.

        Raises:
            InvalidInput: It is no such folder, or the name of a file of metric scores is of another form.
            UnknownName: It has no human scores of that pair.
        """
        path = Path(folder)
        rated = path / "human-scores"
        if not path.exists():
            raise InvalidInput("no such folder", where=str(folder))
        if not rated.is_dir():
            problem = (
                "no folder human-scores in it; expected a test set in the layout of mt-metrics-eval, such as wmt22"
            )
            raise InvalidInput(problem, where=str(path))
        pairs = {file.name.partition(".")[0] for file in rated.glob("*.score")}
        if pair not in pairs:
            raise UnknownName("language pair", pair, sorted(pairs))
        references = _by_name(path / "references", f"{pair}.", ".txt")
        outputs = _by_name(path / "system-outputs" / pair, "", ".txt")
        metrics = _by_level(path / "metric-scores" / pair, "")
        for level in metrics.values():
            for name, file in level.items():
                if "-" not in name:
                    raise InvalidInput("expected a name of the form NAME-REFERENCE.LEVEL.score", where=str(file))
        texts = [file for file in (path / "sources" / f"{pair}.txt", *outputs.values()) if file.is_file()]
        segments = len(_lines(texts[0])) if texts else None
        return cls(path, pair, _by_level(rated, f"{pair}."), metrics, references, outputs, segments)

    @property
    def name(self) -> str:
        """Name of the test set, which is that of the folder."""
        return self.path.resolve().name

    @property
    def reference_names(self) -> list[str]:
        """Names of references, of files or of metrics that compare with them."""
        used = [self.used_references(metric) for level in self.metrics.values() for metric in level]
        return sorted({*self.references, *(name for each in used for name in each)})

    def used_references(self, metric: str) -> set[str]:
        """Names of the references that a metric compares with.

        Args:
            metric: Name of a metric.
        """
        used = metric.rpartition("-")[2]
        return set(self.references) if used == "all" else set() if used == "src" else set(used.split("."))

    def scores(self, file: Path, level: Level) -> Scores:
        """Read a file of scores.

        Args:
            file: The file.
            level: Its level.

        Raises:
            InvalidInput: A line is no system and score, a system is unknown, or has another number of scores than
                there are segments; says where.
        """
        found: Scores = {}
        for line, text in text_lines(file):
            system, *values = text.split()
            if len(values) != 1:
                raise InvalidInput(f"expected a system and a score, got '{text}'", where=str(file), line=line)
            if self.outputs and system not in self.outputs:
                problem = f"expected a system of system-outputs/{self.pair}, got '{system}'"
                raise InvalidInput(problem, where=str(file), line=line)
            found.setdefault(system, []).append(_score(values[0], file, line))
        expected = 1 if level == "sys" else self.segments or max(map(len, found.values()))
        for system, scores in found.items():
            if len(scores) != expected:
                wanted = f"{expected:,} scores of {system}, one per segment"
                if level == "sys":
                    wanted = f"one score of {system}"
                raise InvalidInput(f"expected {wanted}, got {len(scores):,}", where=str(file))
        return found

    def texts(self, file: Path) -> list[str]:
        """Read a file of references or translations, one per segment.

        Args:
            file: The file.

        Raises:
            InvalidInput: It has another number of lines than there are segments, or is no UTF-8.
        """
        lines = _lines(file)
        if len(lines) != self.segments:
            problem = f"expected {self.segments:,} lines, one per segment, got {len(lines):,}"
            raise InvalidInput(problem, where=str(file))
        return lines


def _by_name(folder: Path, start: str, end: str) -> dict[str, Path]:
    return {file.name.removeprefix(start).removesuffix(end): file for file in sorted(folder.glob(f"{start}*{end}"))}


def _by_level(folder: Path, start: str) -> dict[Level, dict[str, Path]]:
    """Files of scores by level and name, except those of documents and domains."""
    return {"sys": _by_name(folder, start, ".sys.score"), "seg": _by_name(folder, start, ".seg.score")}


def _lines(file: Path) -> list[str]:
    """The lines of a UTF-8 file, blank ones too."""
    with opened(file) as stream:
        data = whole(stream, str(file))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput("expected UTF-8", where=str(file), line=line) from None
    return [line.rstrip() for line in text.removesuffix("\n").split("\n")] if text else []


def _score(text: str, file: Path, line: int) -> float | None:
    if text == "None":
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"expected a number or None, got '{text}'", where=str(file), line=line, field="score")
    return value


def standard_human(test_set: WmtSet, level: Level) -> str | None:
    """Name of the human scores that the metrics task takes at a level; None where it cannot be told.

    Args:
        test_set: The test set.
        level: The level.
    """
    names = list(test_set.human[level])
    direct = DIRECT_ASSESSMENT[level]
    by_year = (direct, *HUMAN) if test_set.name in BY_DIRECT_ASSESSMENT else (*HUMAN, direct)
    return next((name for name in (*by_year, *names[: len(names) == 1]) if name in names), None)


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a test set that a table is over.

    Args:
        test_set: The test set.
        human: Name of the human scores by level.
        references: Names of the references that metrics may have used.
        left_out: Systems and metrics that were excluded, which the methods add to.
    """

    test_set: WmtSet
    human: Mapping[Level, str]
    references: tuple[str, ...]
    left_out: list[Excluded] = field(default_factory=list)

    @classmethod
    def of(cls, test_set: WmtSet, human: str | None = None, references: Sequence[str] = ()) -> Selection:
        """Choose human scores and references.

        Args:
            test_set: The test set.
            human: Name of the human scores; by default those of the metrics task.
            references: Names of references; by default that of the metrics task.

        Raises:
            UnknownName: The test set has none of that name.
            UsageError: There are several human scores, and the metrics task has no choice.
        """
        chosen = {level: human or standard_human(test_set, level) for level in NAMES}
        names = {level: name for level, name in chosen.items() if name is not None and name in test_set.human[level]}
        known = sorted({name for level in test_set.human.values() for name in level})
        if not names and human is not None:
            raise UnknownName("human scores", human, known)
        if not names:
            raise UsageError(
                "{human}: expected one of {known}, since {test_set} has no standard",
                human=Setting("human"),
                known=", ".join(known),
                test_set=test_set.name,
            )
        for name in references:
            UnknownName.check("reference", name, test_set.reference_names)
        there = test_set.reference_names
        usual = (REFERENCES.get((test_set.name, test_set.pair), "refA"), "ref", *there[: len(there) == 1])
        standard = [name for name in usual if name in there][:1]
        return cls(test_set, names, tuple(references or standard))

    def systems(
        self, gold: Mapping[Level, Scores], named: Sequence[str] = (), *, outliers: bool = False, people: bool = False
    ) -> list[str]:
        """Systems with human scores, in the order of their files.

        Args:
            gold: Human scores by level.
            named: Outliers; by default those of the metrics task.
            outliers: True to keep the outliers of the metrics task.
            people: True to keep people's translations, except the references that metrics used.

        Raises:
            UnknownName: A named outlier has no human scores.
        """
        names = [*dict.fromkeys(name for level in gold.values() for name in level)]
        for name in named:
            UnknownName.check("system", name, names)
        rated = {
            name for level in gold.values() for name, scores in level.items() if any(s is not None for s in scores)
        }
        unusual = () if outliers else named or OUTLIERS.get((self.test_set.name, self.test_set.pair), ())
        reasons = {
            "systems without human scores": [each for each in {*names, *self.test_set.outputs} if each not in rated],
            "references that metrics used": [each for each in names if each in self.references],
            "people's translations": [each for each in names if each in self.test_set.references and not people],
            "outliers": [each for each in names if each in unusual],
        }
        gone: set[str] = set()
        for why, some in reasons.items():
            self._exclude(why, sorted({*some} - gone))
            gone.update(some)
        return [name for name in names if name not in gone]

    def metrics(self, level: Level, systems: Sequence[str], named: Sequence[str] = ()) -> dict[str, Scores]:
        """Scores of the metrics that used no other reference and have one of each system and segment.

        Args:
            level: The level.
            systems: The systems.
            named: Names of metrics, with or without their reference; by default all.

        Raises:
            InvalidInput: A file of scores is invalid.
        """
        found: dict[str, Scores] = {}
        others = []
        for name, file in self.test_set.metrics[level].items():
            if named and name not in named and name.rpartition("-")[0] not in named:
                continue
            if not self.test_set.used_references(name) <= {*self.references}:
                others.append(name)
                continue
            scores = self.test_set.scores(file, level)
            missing = [system for system in systems if None in scores.get(system, [None])]
            if missing:
                self._exclude(f"{NAMES[level]} level: metric without all scores of {missing[0]}", [name])
            else:
                found[name] = scores
        self._exclude(f"{NAMES[level]} level: metrics that used other references", others)
        return found

    def _exclude(self, why: str, names: Sequence[str]) -> None:
        if names:
            self.left_out.append(Excluded.of(why, names))


@dataclass(frozen=True, slots=True)
class OwnScores:
    """Scores by level and metric.

    Args:
        metrics: The scores. That of a system is its corpus score, of a row without an item or of the statistics of its
            segments, else the mean over the segments.
        signatures: Signature of each metric.
    """

    metrics: Mapping[Level, Metrics]
    signatures: Mapping[str, str]

    @classmethod
    def read(cls, files: LocatedRows[Score] | None, test_set: WmtSet, systems: Collection[str]) -> OwnScores:
        """Read score rows, whose items are the numbers of the segments from 1; single draws of controls are ignored.

        Args:
            files: The rows; None for no further metrics.
            test_set: The test set.
            systems: The systems.

        Raises:
            InvalidInput: A row has no such segment or is there twice, or a metric lacks a score.
            UsageError: The test set has no texts to number the segments by, or a metric of that name.
        """
        if files is None:
            return cls({"sys": {}, "seg": {}}, {})
        if test_set.segments is None:
            raise UsageError(
                "{scores}: {path} has no sources or system-outputs to tell the segments by",
                scores=Setting("scores"),
                path=str(test_set.path),
            )
        whole: dict[tuple[str, str], float] = {}
        scored = Scored(LocatedRows(_rows(files, test_set.segments, whole), files.places), statistics=True)
        found: dict[Level, Metrics] = {"sys": {}, "seg": {}}
        for metric in scored.metrics:
            if any(metric in level for level in test_set.metrics.values()):
                raise UsageError(
                    "{scores}: {path} has a metric {metric}; give yours another name",
                    scores=Setting("scores"),
                    path=str(test_set.path),
                    metric=metric,
                )
            found["sys"][metric], found["seg"][metric] = {}, {}
            for system in systems:
                rows = _segments(scored, metric, system, test_set.segments)
                corpus = whole.get((metric, system))
                if corpus is None:
                    corpus = _corpus_score(scored, metric, rows)
                found["sys"][metric][system] = [corpus]
                found["seg"][metric][system] = scored.of(rows, [metric])[:, 0].tolist()
        return cls(found, scored.signatures)


def _rows(files: LocatedRows[Score], segments: int, whole: dict[tuple[str, str], float]) -> Iterator[Score]:
    """All rows; those without an item are kept by metric and system as well."""
    for place, row in enumerate(files):
        if row.item is None:
            whole[row.metric, row.system] = row.score
        elif not (row.item.isdecimal() and 1 <= int(row.item) <= segments):
            problem = f"expected the number of a segment, 1 to {segments:,}, got '{row.item}'"
            raise files.places.error(place, "item", problem)
        yield row


def _segments(scored: Scored, metric: str, system: str, segments: int) -> NDArray[np.int64]:
    """Rows of a system in the order of the segments, each with a score."""
    rows = [scored.rows.get((str(number), system), -1) for number in range(1, segments + 1)]
    there = np.array([row for row in rows if row >= 0], np.int64)
    n = int((~np.isnan(scored.of(there, [metric]))).sum())
    if n < segments:
        problem = f"{metric} has scores of {n:,} of {segments:,} segments by {system}; expected all"
        raise InvalidInput(problem, where=scored.where)
    return there


def _corpus_score(scored: Scored, name: str, rows: NDArray[np.int64]) -> float:
    """Corpus score of a system: of the sums of statistics where all segments have them, else the mean."""
    metric = known_metric(name, scored.signatures[name])
    statistics = scored.statistics.get(name)
    if metric is None or statistics is None:
        return float(scored.of(rows, [name]).mean())
    if statistics.shape[1] != metric.width:
        problem = f"{name}: expected {metric.width} statistics of each text, got {statistics.shape[1]}"
        raise InvalidInput(problem, where=scored.where)
    return float(metric.score(statistics[rows].sum(axis=0)[None])[0])
