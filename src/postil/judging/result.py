"""The result of `postil judge`, and its parts."""

from __future__ import annotations

from postil.comparison.result import PreferencesResult
from postil.data.parts import Estimate, Excluded, OptionalPart, Part
from postil.data.rows import JudgeScore, PairJudgement
from postil.results.base import Result

__all__ = [
    "JudgeControl",
    "JudgePairsResult",
    "JudgeResult",
    "JudgeSettings",
    "JudgeUsage",
    "JudgedPair",
    "JudgedSystem",
    "LengthCorrelation",
    "PairJudgeSettings",
    "PeopleAgreement",
    "PositionBias",
    "SelfPreference",
    "VerdictAgreement",
    "WithoutGrade",
]


class JudgedSystem(Part, frozen=True, kw_only=True):
    """Grades of a system's texts.

    Args:
        system: The system.
        n: Number of texts with a grade.
        absent: Number of texts without one.
        mean: Mean grade, with its interval over items; None where no text has one.
        mass: Mean probability of all grades together; None where no probabilities are known.
        sampled: Number of texts whose grade is a mean of samples.
    """

    system: str
    n: int
    absent: int
    mean: Estimate | None
    mass: float | None
    sampled: int


class JudgeControl(Part, frozen=True, kw_only=True):
    """Grades of the same texts by a changed prompt, or asked for again.

    Args:
        control: The change: ``falling`` and ``order`` (anchors in falling order, and the mean of both orders),
            ``shuffled`` (grades of the anchors), ``no-article``, ``no-anchors`` or ``repeat``.
        n: Number of texts with both grades.
        mean: Mean grade of the control.
        difference: Mean difference, control minus judge, with its interval over items.
        equal: Share of texts whose grade stays the same.
    """

    control: str
    n: int
    mean: float
    difference: Estimate
    equal: float


class LengthCorrelation(OptionalPart, frozen=True, kw_only=True):
    """Pearson correlation of grades with the length of the texts, and with people's without its part in both.

    Args:
        n: Number of texts.
        words: Pearson correlation of grade and number of words; None where one of them is constant.
        human_n: Number of texts with human ratings.
        human: Pearson correlation of the judge's grade and the mean human rating.
        human_partial: The same of what a linear fit on the number of words leaves of either.
    """

    n: int
    words: float | None
    human_n: int = 0
    human: float | None = None
    human_partial: float | None = None


class SelfPreference(Part, frozen=True, kw_only=True):
    """Mean differences of the judge's grade and the mean human rating, of its own texts and of others.

    Args:
        system: The system that is the judge's model.
        n: Number of its texts with human ratings.
        own: Mean difference of these, judge minus people.
        others: Mean difference of the other systems' texts; None without any.
        preference: Own minus others; None without others.
    """

    system: str
    n: int
    own: Estimate
    others: Estimate | None
    preference: Estimate | None


class WithoutGrade(Excluded, frozen=True, kw_only=True):
    """Texts without a grade, or pairs without a verdict, for one reason.

    Args:
        why: The reason, in words.
        n: Number of texts or pairs.
        examples: The first few of them.
        reason: The reason of most answers: ``cut`` (off at the largest number of tokens), ``refused`` (by the model),
            ``filtered`` (by the endpoint), ``empty``, ``unreadable``, or ``failed`` (there is no answer); empty in
            results of older versions.
    """

    reason: str = ""


class JudgeUsage(Part, frozen=True, kw_only=True):
    """Answers that the grades are made of, whenever they were asked for.

    Args:
        calls: Number of answers.
        prompt_tokens: Number of tokens of their requests, as the endpoint counts them; estimated where it does not.
        completion_tokens: The same of the answers.
        cost: Cost of these tokens; None without a price.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class JudgeSettings(Part, frozen=True, kw_only=True):
    """Settings of a judge.

    Args:
        postil: Version.
        command: The command line, if there was one.
        model: The endpoint's name of the model.
        scale: Scale of the grades.
        anchors: Choice of graded examples: ``nearest``, ``spread`` or ``none``.
        seed: Seed of samples, shuffles and intervals.
    """

    postil: str
    command: str = ""
    model: str
    scale: str
    anchors: str
    seed: int


class JudgeResult(Result, frozen=True, kw_only=True, tag="judge"):
    """Grades of texts by a judge, a language model.

    Args:
        metric: Name of the judge in score rows.
        systems: One row per system, in the order of their first texts.
        controls: One row per control; empty where none were asked for.
        length: Correlation with the length of the texts; None where no controls were asked for.
        self_preference: The judge's grades of its own texts; None where it wrote none, or none has human ratings.
        rows: Score rows of the texts that have a grade, and of their controls.
        absent: Texts without a grade, by reason.
        usage: Answers that the grades are made of.
        not_sent: Options of requests that the endpoint refuses: ``logprobs``, ``max_tokens`` (of which it takes
            ``max_completion_tokens``), ``seed`` or ``temperature``.
        notes: Notes on the grades.
        signatures: All that the scores of each metric depend on.
        settings: Settings of the judge.
    """

    metric: str
    systems: tuple[JudgedSystem, ...]
    controls: tuple[JudgeControl, ...]
    length: LengthCorrelation | None
    self_preference: SelfPreference | None
    rows: tuple[JudgeScore, ...]
    absent: tuple[WithoutGrade, ...]
    usage: JudgeUsage
    not_sent: tuple[str, ...] = ()
    notes: tuple[str, ...]
    signatures: dict[str, str]
    settings: JudgeSettings


class JudgedPair(Part, frozen=True, kw_only=True):
    """Verdicts on the texts of a pair of systems.

    Args:
        first: A system.
        second: Another.
        n: Number of pairs of texts with a verdict.
        absent: Number of pairs without one.
        wins: Number of verdicts for the first.
        ties: Number of ties.
        losses: Number of verdicts for the second.
        win_rate: Wins and half of the ties as a share of n, with its interval over items; None where n is 0.
        score: Mean expected preference for the first in [0, 1], with its interval over items; None where n is 0.
        changed: Number of pairs of texts whose verdict changes with their order.
    """

    first: str
    second: str
    n: int
    absent: int
    wins: int
    ties: int
    losses: int
    win_rate: Estimate | None
    score: Estimate | None
    changed: int


class PositionBias(Part, frozen=True, kw_only=True):
    """Influence of the order of two texts on the verdict; each pair was asked about in both orders.

    Args:
        n: Number of pairs with a verdict in both orders.
        changed: Share of them whose verdict changes with the order, with its interval over items.
        first: Mean expected preference for the text that the judge sees first, in [0, 1]; without bias .5.
    """

    n: int
    changed: Estimate
    first: Estimate


class VerdictAgreement(Part, frozen=True, kw_only=True):
    """Agreement of two verdicts on the same pair of texts.

    Args:
        n: Number of comparisons of two verdicts.
        share: Share of them in which both are the same, with its interval over items.
        decided_n: Number of comparisons without a tie.
        decided: Share of these in which both are the same; None where there are none.
    """

    n: int
    share: Estimate
    decided_n: int
    decided: Estimate | None


class PeopleAgreement(Part, frozen=True, kw_only=True):
    """Agreement of a judge with people, beside that of two people.

    Args:
        pairs: Number of pairs of texts with a verdict and with preferences of people.
        unmatched: Number of preferences of people for pairs without a verdict.
        judge: The judge with one person.
        people: One person with another; None where no pair has preferences of two.
    """

    pairs: int
    unmatched: int
    judge: VerdictAgreement
    people: VerdictAgreement | None


class PairJudgeSettings(OptionalPart, frozen=True, kw_only=True):
    """Settings of a judge of pairs.

    Args:
        postil: Version.
        command: The command line, if there was one.
        model: The endpoint's name of the model.
        scale: Scale of the graded examples; empty without any.
        anchors: Choice of graded examples: ``nearest``, ``spread`` or ``none``.
        pairs_per_item: Largest number of pairs of an item; None for all.
        seed: Seed of samples, of the choice of pairs, and of intervals.
    """

    postil: str
    command: str = ""
    model: str
    scale: str = ""
    anchors: str
    pairs_per_item: int | None = None
    seed: int


class JudgePairsResult(Result, frozen=True, kw_only=True, tag="judge-pairs"):
    """Verdicts of a judge, a language model, on pairs of texts.

    Args:
        judge: Name of the judge, the annotator of the rows.
        pairs: One row per pair of systems, the stronger one first where strengths are known.
        strengths: Strengths of the systems by the verdicts, as `postil.compare_preferences` finds them; None where no
            verdict connects two groups of systems.
        position: Influence of the order of the texts; None where all texts of a pair are equal.
        longer: Mean expected preference for the longer text, in [0, 1], with its interval over items; None where no
            pair has one.
        people: Agreement with people; None where no preferences of people were given.
        rows: Preferences, one row per pair of texts with a verdict.
        absent: Pairs of texts without a verdict, by reason.
        usage: Answers that the verdicts are made of.
        not_sent: Options of requests that the endpoint refuses; see `JudgeResult`.
        notes: Notes on the verdicts.
        signatures: All that the verdicts depend on, by the name of the judge.
        settings: Settings of the judge.
    """

    judge: str
    pairs: tuple[JudgedPair, ...]
    strengths: PreferencesResult | None
    position: PositionBias | None
    longer: Estimate | None
    people: PeopleAgreement | None
    rows: tuple[PairJudgement, ...]
    absent: tuple[WithoutGrade, ...]
    usage: JudgeUsage
    not_sent: tuple[str, ...] = ()
    notes: tuple[str, ...]
    signatures: dict[str, str]
    settings: PairJudgeSettings
