"""Options of `postil interesting`."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias, get_args

from postil.data.arguments import check_fields
from postil.data.explain import shown
from postil.data.options import ThreadOptions
from postil.documents.options import PassageSplit, SourceOptions, document_kinds
from postil.errors import UnknownName, UsageError, check_least
from postil.metrics.preprocessing import Preprocessing
from postil.options import Flag, options

__all__ = ["AUTO", "NO_VECTORS", "Goal", "InterestingOptions"]

Goal: TypeAlias = Literal["interest", "topic"]
"""Goal of a ranking of passages: the ones that people find interesting, or the ones closest to the page's topic."""

AUTO: Final = "auto"
NO_VECTORS: Final = "none"
TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")


@options
class InterestingOptions(Preprocessing, SourceOptions, ThreadOptions):
    """Options of `postil interesting`.

    Args:
        k: Number of passages, of each of several documents.
        goal: interest: what people find interesting, in English; topic: what the page is about. By default interest,
            and topic in other languages.
        model: Model of postil train interesting, for the goal interest; or untrained, the sum of cues, names and
            overlap. By default the model of the package.
        vectors: Folder of word vectors, for the goal topic: passages near the page as a whole come first. By default
            those of an installed package, in English, where there is one; none does without.
        measure: Spec of a measure over units, such as logsim-1, f1-2 or tf-idf-1, instead of a goal.
        reference: Interesting passages of other pages, to compare with by a measure; by default the rest of the page.
        split: Passages: sentences, paragraphs or lines.
        lang: Language of the page, such as en; by default detected.
        tokenizer: Tokenizer of the goal topic and of measures: words, space, 13a or ptb; for Chinese jieba or rjieba;
            characters takes runs of letters that have spaces for one unit. auto: words; in scripts without spaces
            rjieba for Chinese where it is installed, else characters.
        stop: none, or a list of stop words such as en. auto: that of the language of each sentence.
        anchors: Not of a page.
    """

    k: Annotated[int, Flag("k", short="k", min=1, first=True)] = 5
    goal: Annotated[Goal | None, Flag(metavar="GOAL", first=True)] = None
    model: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    vectors: Annotated[str | None, Flag(metavar="DIR", group="Measures")] = None
    measure: Annotated[str | None, Flag("measure", short="m", metavar="SPEC", group="Measures")] = None
    reference: Annotated[str | None, Flag("reference", short="r", metavar="FILE", group="Measures")] = None
    split: Annotated[PassageSplit, Flag(metavar="WHAT", group="Reading pages")] = "sentences"
    lang: Annotated[str | None, Flag(metavar="CODE", first=True)] = None
    tokenizer: Annotated[str, Flag(metavar="NAME", group="Words")] = AUTO
    stop: Annotated[str, Flag(metavar="LANG", group="Words")] = AUTO
    anchors: Annotated[bool, Flag(hidden=True)] = False

    def __post_init__(self) -> None:
        from postil.text.stop_words import STOP_LISTS  # noqa: PLC0415 - help does without it
        from postil.text.tokenizers import TOKENIZERS  # noqa: PLC0415

        check_fields(self)
        for kind, value, known in (
            ("goal", self.goal, get_args(Goal)),
            ("way to split", self.split, get_args(PassageSplit)),
            ("kind of document", self.kind, document_kinds()),
            ("tokenizer", self.tokenizer, (AUTO, *TOKENIZERS)),
            ("stop list", self.stop, (AUTO, "none", *STOP_LISTS)),
        ):
            if value is not None and value not in known:
                raise UnknownName(kind, value, known)
        check_least(1, k=self.k)
        if self.lang is not None and not TAG.fullmatch(self.lang):
            raise UsageError(f"lang: expected the code of a language, such as en or zh, got {shown(self.lang)}")
        by_measure = self.measure is not None or self.reference is not None
        if self.goal is not None and by_measure:
            raise UsageError("a goal excludes a measure and a reference; leave out one or the other")
        if self.stem != "none" and not by_measure:
            raise UsageError("expected a stemmer with a measure alone")
        vectors = None if self.vectors == NO_VECTORS else self.vectors
        for what, given, goal in (("a model", self.model, "interest"), ("vectors", vectors, "topic")):
            if given is not None and (by_measure or self.goal not in {None, goal}):
                raise UsageError(f"expected {what} with the goal {goal} alone")
        if self.model is not None and vectors is not None:
            raise UsageError(
                "a model is of the goal interest and vectors of the goal topic; leave out one or the other"
            )
