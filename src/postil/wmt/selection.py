"""Selection of human scores, systems and metrics of a WMT test set, as the metrics task makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from postil.errors import UnknownName, UsageError
from postil.messages import Setting
from postil.results.parts import Excluded
from postil.wmt.files import known_outliers, standard_human, standard_reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.wmt.files import Level, Scores, WmtSet

__all__ = ["NAMES", "Selection"]

NAMES: Final[Mapping[Level, Literal["system", "segment"]]] = {"sys": "system", "seg": "segment"}
"""Name of each level in results."""


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
        standard = standard_reference(test_set)
        return cls(test_set, names, tuple(references) or (() if standard is None else (standard,)))

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
        unusual = () if outliers else named or known_outliers(self.test_set)
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
