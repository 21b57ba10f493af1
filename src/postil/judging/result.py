"""The result of `postil judge`, and its parts."""

from __future__ import annotations

from postil.data.parts import Estimate, Excluded, OptionalPart, Part
from postil.data.rows import JudgeScore
from postil.results.base import Result

__all__ = [
    "JudgeControl",
    "JudgeResult",
    "JudgeSettings",
    "JudgeUsage",
    "JudgedSystem",
    "LengthCorrelation",
    "SelfPreference",
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
    """Texts without a grade for one reason.

    Args:
        why: The reason, in words.
        n: Number of texts.
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
