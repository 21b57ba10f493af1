"""The result of `postil compare --preferences`, and its parts."""

from __future__ import annotations

from typing import ClassVar

from postil.results.base import Result
from postil.results.parts import Estimate, OptionalPart, Ranged

__all__ = ["PreferenceSettings", "PreferencesResult", "PreferredPair", "PreferredSystem"]


class PreferredSystem(Ranged, frozen=True, kw_only=True):
    """A system by the preferences for its texts.

    Args:
        system: The system.
        n: Number of its preferences.
        wins: Number of those for it.
        ties: Number of ties.
        losses: Number of those for the other system.
        win_rate: Wins and half of the ties as a share of n.
        win_low: Lower end of its 95 % confidence interval over items; None where they are fewer than two.
        win_high: Upper end.
        strength: Strength in the Bradley-Terry model, a natural logarithm; the mean of all systems, or the strength of
            the baseline, is 0.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        rank_low: Best rank that the significant differences leave, from 1.
        rank_high: Worst rank that they leave.
        letters: Compact letter display: two systems share a letter unless their difference is significant; empty
            where there are too many groups.
    """

    system: str
    n: int
    wins: int
    ties: int
    losses: int
    win_rate: float
    win_low: float | None
    win_high: float | None
    strength: float
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int
    letters: str

    INTERVALS: ClassVar = (("win_low", "win_high"), ("low", "high"))


class PreferredPair(Ranged, frozen=True, kw_only=True):
    """Pair of systems: the preferences between them, and the difference of their strengths.

    Args:
        first: A system.
        second: Another, with a lower or equal strength.
        n: Number of preferences between the two.
        wins: Number of those for the first.
        ties: Number of ties.
        losses: Number of those for the second.
        win_rate: Wins and half of the ties as a share of n; None where the two were not compared.
        expected: The same share by the model.
        p_fit: p-value of no difference between the two shares; None where there is none.
        difference: Strength of the first minus that of the second.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        p: Two-sided p-value of no difference of strength; None where there is none.
        p_holm: The same adjusted by Holm for the number of pairs.
    """

    first: str
    second: str
    n: int
    wins: int
    ties: int
    losses: int
    win_rate: float | None
    expected: float
    p_fit: float | None
    difference: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None


class PreferenceSettings(OptionalPart, frozen=True, kw_only=True):
    """Options of `postil compare --interleaved` and `--preferences`; see `CorrelationSettings`."""

    resamples: int
    seed: int
    postil: str = ""
    command: str = ""


class PreferencesResult(Result, frozen=True, kw_only=True, tag="preferences"):
    """Systems compared by paired preferences, in the model of Bradley and Terry with the ties of Davidson.

    Args:
        preferences: Number of preferences.
        items: Number of items.
        annotators: Number of annotators.
        systems: The systems, the strongest first.
        pairs: All pairs of systems, the stronger one first.
        tie_parameter: nu of the model: the odds of a tie of two equal systems against either of them are nu to 1; None
            where there is no tie.
        left: Share of the preferences with a winner that are for the text on the left; None where no side is known.
        separated: True if the likelihood has no finite maximum, so that half a preference each way was added to each
            pair that was compared.
        baseline: The system whose strength is 0; None where the mean strength is 0.
        notes: Notes, in words.
        settings: Options of the command.
    """

    preferences: int
    items: int
    annotators: int
    systems: tuple[PreferredSystem, ...]
    pairs: tuple[PreferredPair, ...]
    tie_parameter: float | None
    left: Estimate | None
    separated: bool
    baseline: str | None
    notes: tuple[str, ...]
    settings: PreferenceSettings
