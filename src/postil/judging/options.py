"""Options of `postil judge`."""

from __future__ import annotations

import math
from typing import Annotated, Final

from postil.data.arguments import check_fields
from postil.data.grades import Scale
from postil.data.options import SeedOptions, ThreadOptions
from postil.endpoint.options import EndpointOptions
from postil.errors import UnknownName, UsageError, check_least
from postil.messages import Setting
from postil.options import Flag, options

__all__ = ["ANSWER_TOKENS", "JudgeOptions"]

ANSWER_TOKENS: Final = 16
"""Maximum number of tokens of a sampled answer."""

CHOICES: Final = ("nearest", "spread", "none")
"""Choices of anchors."""


@options
class JudgeOptions(EndpointOptions, SeedOptions, ThreadOptions):
    """Options of `postil judge`.

    Args:
        model: The endpoint's name of the model.
        name: Name of the judge in score rows, such as plain in judge(plain); by default that of the model.
        scale: Scale of the grades, or with pairs of the references' grades: HIGH (from 0) or LOW:HIGH.
        rubric: File with the rubric, the meaning of the grades, as text.
        prompt: File with another template of the prompt; --show-prompt prints that of the package.
        anchors: Graded references of the item that the judge sees as examples, one or more of each grade: nearest (most
            similar to the text), spread (of median length) or none.
        anchor_metric: Similarity of a text to a reference, a metric without w-.
        anchors_per_grade: Number of anchors of each grade.
        article_words: Largest number of words of an article that the judge sees.
        logprobs: Ask for the probabilities of the first token, of which a grade is the expected value. Without, or
            where the endpoint gives none or the grades have less than half of it, samples are drawn.
        samples: Number of samples, one call each; their mean is the grade.
        temperature: Temperature of the samples.
        answer_tokens: Maximum number of tokens of a sample; a model that thinks before it answers needs many more.
        tokenizer: Tokenizer of the anchor metric and of the length control, as of postil score.
        baseline: Compare the texts of this system alone with those of the others, in pairs.
        pairs_per_item: Largest number of pairs of each item, those chosen least often before, else at random.
        controls: Grade each text by changed prompts as well: anchors in falling order or with permuted grades, without
            the article, without anchors, and the same prompt again.
        aspect: Aspect of the judgements to keep, where they have more than one.
        out: Write the grades here as score rows: .jsonl, .csv, .xlsx or .parquet.
    """

    model: Annotated[str, Flag(metavar="NAME", first=True)]
    name: Annotated[str | None, Flag(metavar="NAME", group="Output")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE", first=True)] = None
    rubric: Annotated[str | None, Flag(metavar="FILE", group="Prompt")] = None
    prompt: Annotated[str | None, Flag(metavar="FILE", group="Prompt")] = None
    anchors: Annotated[str, Flag(metavar="NAME", group="Prompt")] = "nearest"
    anchor_metric: Annotated[str, Flag(metavar="SPEC", group="Prompt")] = "rouge-l"
    anchors_per_grade: Annotated[int, Flag(min=1, group="Prompt")] = 1
    article_words: Annotated[int, Flag(min=1, group="Prompt")] = 600
    logprobs: Annotated[bool, Flag(group="Answers")] = True
    samples: Annotated[int, Flag(min=1, group="Answers")] = 5
    temperature: Annotated[float, Flag(min=0, group="Answers")] = 0.7
    answer_tokens: Annotated[int, Flag(min=1, group="Answers")] = ANSWER_TOKENS
    tokenizer: Annotated[str, Flag(metavar="NAME", group="Prompt")] = "words"
    baseline: Annotated[str | None, Flag(metavar="SYSTEM", group="Pairs")] = None
    pairs_per_item: Annotated[int | None, Flag(min=1, group="Pairs")] = None
    controls: Annotated[bool, Flag(group="Comparison with people")] = False
    aspect: Annotated[str | None, Flag(metavar="NAME", group="Comparison with people")] = None
    out: Annotated[str | None, Flag("out", short="o", metavar="FILE", first=True)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        super().__post_init__()
        UnknownName.check("choice of anchors", self.anchors, CHOICES)
        check_least(1, anchors_per_grade=self.anchors_per_grade, article_words=self.article_words)
        if self.pairs_per_item is not None:
            check_least(1, pairs_per_item=self.pairs_per_item)
        check_least(1, samples=self.samples, answer_tokens=self.answer_tokens)
        if not 0 <= self.temperature < math.inf:
            raise UsageError(f"temperature: expected 0 or more, got {self.temperature:g}")

    def needed_scale(self) -> Scale:
        """The scale.

        Raises:
            UsageError: There is none.
        """
        if self.scale is None:
            raise UsageError(
                "name the scale of the grades: {scale}", scale=Setting("scale", "1:5", python="postil.Scale(1, 5)")
            )
        return self.scale
