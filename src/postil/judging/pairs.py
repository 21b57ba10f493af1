"""A judge of pairs: prompts with two texts, and verdicts from the answers.

A verdict is a value for the first text: 1 where it is better, 0 where the second one is, 0.5 for a tie. So its expected
value over the probabilities of first tokens, and its mean over samples, is the expected preference for the first text.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from unicodedata import normalize

from postil.endpoint.prompts import PromptTemplate, marked
from postil.judging.judge import JudgeSpec, anchors_part, article_part, scale_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.endpoint.chat import Message
    from postil.judging.judge import Case, Graded

__all__ = [
    "PAIR_FIELDS",
    "PairSpec",
    "Shares",
    "default_pair_template",
    "read_pair_template",
    "read_verdict",
    "verdict_of",
]

Shares: TypeAlias = tuple[float, float, float]
"""Probabilities, or shares of samples, of a preference for a text, of a tie, and of one for the other text."""

Verdict: TypeAlias = Literal["a", "tie", "b"]

PAIR_FIELDS: Final = ("rubric", "article", "anchors", "candidates")
"""Fields of a template for pairs."""

NO_RUBRIC: Final = "The better text is the one to which experienced raters would give the higher grade."
"""The rubric where none is given."""

LETTERS: Final = {"A": 1.0, "C": 0.5, "B": 0.0}
"""Values by letter."""

SAME: Final = 1e-9
"""Largest difference of two equal shares."""

_WORDS: Final = {letter.casefold(): value for letter, value in LETTERS.items()}
_VALUE: Final = r"(?P<value>[ABC]|[Tt]ie|TIE|[Dd]raw|[Nn]either|[Ee]qual)(?![\w'’+/&]|-\w)"
_NOUN: Final = r"(?P<noun>(?i:text|response|option|candidate|comment|文本|选项)\s{0,3})?"
_NAMES: Final = (
    r"answer|verdict|winner|choice|preference|decision|judge?ment|(?:the )?(?:better|preferred)(?: (?:text|one))?"
    r"|答案|结论|选择|更好的(?:文本)?"
)
_LABEL: Final = (
    rf"(?i:(?:(?:my|the|its|final|overall|最终)\s?){{0,3}}(?:{_NAMES})[*_`】]{{0,3}}\s{{0,3}}(?:is|是|为)?\s{{0,3}}[:=]?)"
    r"[\s*_`\"'(\[]{0,9}"
)
_BETTER: Final = (
    r"(?P<better>\s{1,3}(?:(?i:wins)|(?i:is|was) (?i:(?:clearly|slightly|much|somewhat|overall|the) ){0,2}"
    r"(?i:better|best|preferable|preferred|superior|stronger|winner)(?! (?:or|than neither))))?"
)
_DRESS: Final = "*_`\"'“”‘’«»()[]{}<> \t\r\n"
"""Characters around a verdict that mean nothing."""

_FIRST: Final = re.compile(rf"(?P<label>{_LABEL})?{_NOUN}(?:(?i:it(?:'s| is) an? ))?{_VALUE}{_BETTER}")
_LINE: Final = re.compile(
    r"(?i:(?:so|thus|hence|therefore|overall|in conclusion|因此|所以|综上(?:所述)?),?\s{0,3})?"
    rf"(?P<label>{_LABEL})?{_NOUN}(?:(?i:it(?:'s| is) an? ))?{_VALUE}{_BETTER}[\s.!。*_`\"')\]]{{0,9}}"
)
_STATED: Final = re.compile(
    rf"(?i:{_NAMES})[*_`】]{{0,3}}\s{{0,3}}(?:[:=]|(?:is|是|为)\s)[\s*_`\"'(\[]{{0,9}}{_NOUN}{_VALUE}"
)
_AFTER: Final = re.compile(r"\s{0,3}(?:[,;–—]|[.:](?=[^\S\n]*\S)|-\s|\(|(?:because|since|as)\b|因为)")
"""Text between a verdict and the reasons for it."""
_OR: Final = re.compile(r"[\s,.]{0,3}(?:or|and|to|vs|versus|nor|[ABC])\b", re.IGNORECASE)
_ITEM: Final = re.compile(r"^[\s*_#(-]{0,9}([ABC])[.:)]", re.MULTILINE)
"""The beginning of a part of an answer that is about one of the texts."""
_MARKED: Final = re.compile(
    r"\[\[([^\[\]\n]{0,40})\]\]|\\boxed\{(?:\\text\{)?([^{}\n]{0,40})\}"
    r"|<(?P<tag>answer|verdict|winner|choice|preference)>([^<>\n]{0,40})</(?P=tag)>"
    r"|[\"'](?:verdict|answer|winner|choice|preference|better(?:[ _]text)?)[\"']\s?:\s?[\"']([^\"'\n]{0,40})[\"']",
    re.IGNORECASE,
)


def read_pair_template(data: bytes, where: str) -> PromptTemplate:
    """Decode the template of a prompt with two texts, with fields of `PAIR_FIELDS`.

    Args:
        data: The bytes of its file.
        where: The file.

    Raises:
        UsageError: It is not UTF-8, no template, has another field or lacks ``{candidates}``.
    """
    return PromptTemplate.read(data, PAIR_FIELDS, "candidates", where)


@cache
def default_pair_template() -> PromptTemplate:
    """The template of the package."""
    return read_pair_template(files("postil.judging").joinpath("pairs.txt").read_bytes(), "pairs.txt")


class PairSpec(JudgeSpec):
    r"""All of a judge of pairs that does not depend on the texts; see `JudgeSpec`.

    >>> from postil.judging.judge import Case
    >>> from postil.judging.options import JudgeOptions
    >>> template = read_pair_template(b"[user]\n{candidates}", "mine.txt")
    >>> spec = PairSpec(options=JudgeOptions(model="m"), template=template)
    >>> print(spec.messages(Case("Bring a coat.</candidate>", other="Why?"))[0].content)
    <candidate name="A">
    Bring a coat.&lt;/candidate>
    </candidate>
    <candidate name="B">
    Why?
    </candidate>
    """

    __slots__ = ()

    @property
    def values(self) -> dict[str, float]:
        """See `JudgeSpec`."""
        return LETTERS

    @property
    def wanted(self) -> str:
        """See `JudgeSpec`."""
        return "A, B or C"

    def messages(self, case: Case) -> tuple[Message, ...]:
        """See `JudgeSpec`."""
        both = (("A", case.candidate), ("B", case.other or ""))
        scale = scale_words(self.options.needed_scale()) if case.anchors else ""
        return self.template.messages(
            {
                "rubric": self.rubric.strip() or NO_RUBRIC,
                "article": article_part(case.article),
                "anchors": anchors_part(case.anchors, scale),
                "candidates": "\n".join(marked("candidate", text, f' name="{name}"') for name, text in both),
            }
        )

    def stated(self, said: str, *, cut: bool) -> float | None:
        """See `JudgeSpec`."""
        return read_verdict(said, cut=cut)

    def shares(self, outcome: Graded) -> Shares:
        """Shares of a preference for the first text, of a tie, and of one for the second.

        Args:
            outcome: An outcome of a prompt.
        """
        if outcome.samples:
            samples = outcome.answers[-self.options.samples :]
            found = [(value, 1.0) for answer in samples if (value := self.read(answer)) is not None]
        else:
            tokens = outcome.answers[-1].top_logprobs
            found = [(LETTERS[token.strip()], math.exp(p)) for token, p in tokens if token.strip() in LETTERS]
        whole = math.fsum(weight for _, weight in found)
        first, tie, second = (
            math.fsum(weight for each, weight in found if each == value) / whole for value in LETTERS.values()
        )
        return first, tie, second


def verdict_of(shares: Shares) -> Verdict:
    """The outcome with the largest share; a tie where the largest is not one alone.

    Shares are means of both orders, which keep the sign of a difference under any liking for a place. For 400 items
    and strengths that differ by 1.4, with a liking of .3, .6 and 1.2, it gives 1.37 in all cases, where one order gives
    1.79, 2.26 and 3.25. Where both orders had to agree it would be 1.56, 1.76 and 2.13, as such ties fall on close
    pairs. Of letters without probabilities the mean is that rule.

    Args:
        shares: Shares of a preference for text a, of a tie, and of one for text b.

    >>> verdict_of((0.5, 0.2, 0.3)), verdict_of((0.5, 0.0, 0.5)), verdict_of((0.2, 0.3, 0.5))
    ('a', 'tie', 'b')
    """
    first, tie, second = shares
    if first > max(tie, second) + SAME:
        return "a"
    return "b" if second > max(tie, first) + SAME else "tie"


def read_verdict(text: str, *, cut: bool = False) -> float | None:
    r"""The verdict that an answer states, if it states one and no other.

    Read are a letter that the answer begins with, alone, before its reasons or behind a label such as ``Verdict:``;
    ``Text A is better``; words for a tie in its place; such a line at the end; and anywhere ``[[A]]``, ``\boxed{A}``,
    ``<answer>A</answer>`` and a field such as ``verdict`` of JSON. Nothing else is guessed.

    Args:
        text: The answer, without what a model thought before it.
        cut: True if the answer was cut off at its largest length.

    >>> [read_verdict(text) for text in ("A", "**B**", "C", "Tie", "Text A is better.", "B, because it is on topic")]
    [1.0, 0.0, 0.5, 0.5, 1.0, 0.0]
    >>> [read_verdict(text) for text in ("Both are short.\nFinal verdict: [[B]]", '{"winner": "A"}', "Answer: text B")]
    [0.0, 1.0, 0.0]
    >>> [read_verdict(text) for text in ("A or B", "A good text", "A is not better", "I think", "A\nVerdict: B", "")]
    [None, None, None, None, None, None]
    """
    said = normalize("NFKC", text).strip()
    marks = {
        _whole(next(filter(None, found.groups()[:2] + found.groups()[3:]), "")) for found in _MARKED.finditer(said)
    }
    beside = _MARKED.sub(" ", said)
    ends = {_beginning(beside, cut=cut), None if cut else _last(beside)} - {None}
    stated = {_of(found) for found in _STATED.finditer(beside)}
    if None in marks or not marks | ends:
        return None
    found = marks | ends | stated
    return found.pop() if len(found) == 1 else None


def _of(found: re.Match[str]) -> float:
    return _WORDS.get(found["value"].casefold(), 0.5)


def _whole(said: str) -> float | None:
    """The verdict that words are, and nothing else."""
    said = said.strip(_DRESS)
    found = _LINE.fullmatch(said.upper() if len(said) == 1 else said)
    return _of(found) if found else None


def _last(said: str) -> float | None:
    """The verdict that the last line is."""
    return _whole(said.rstrip().rpartition("\n")[2].lstrip("-•#> \t"))


def _beginning(said: str, *, cut: bool) -> float | None:
    """The verdict that an answer begins with, if what follows leaves no doubt."""
    said = said.lstrip(_DRESS + "#")
    if len(said.rstrip(_DRESS + ".")) == 1 and not cut:
        return _whole(said.rstrip(_DRESS + "."))
    found = _FIRST.match(said)
    if found is None:
        return None
    rest = said[found.end() :].lstrip("*_`\"')]")
    if not rest.strip():
        return None if cut else _of(found)
    if _OR.match(rest) or (not found["label"] and len(set(_items(said))) > 1):
        return None
    alone = not (found["noun"] and not found["label"])
    if found["better"] or (alone and (rest.startswith("\n") or _AFTER.match(rest))):
        return _of(found)
    return _of(found) if re.fullmatch(r"[\s.!。]{0,9}", rest) else None


def _items(said: str) -> Iterator[str]:
    """Letters of the parts of an answer."""
    return (found[1] for found in _ITEM.finditer(said))
