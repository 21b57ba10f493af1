"""Options of `postil comment`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from postil.comments.options import DecodingOptions
from postil.data.options import EngineOptions
from postil.endpoint.options import EndpointOptions
from postil.errors import UsageError
from postil.messages import Listed, Setting
from postil.options import Flag, changed_settings, options

if TYPE_CHECKING:
    from postil.comments.show_filter import Selection
    from postil.endpoint.prompts import PromptTemplate
    from postil.screening.filtering import CandidateFilter

__all__ = ["DECODING", "CommentOptions", "PromptedCommentOptions"]

DECODING: Final = (
    "strategy",
    "beam_size",
    "length_penalty",
    "no_repeat_ngram_size",
    "top_p",
    "temperature",
    "seed",
)
"""Options of `DecodingOptions` that have a flag."""


@options
class CommentOptions(EngineOptions):
    """Options of `postil comment`.

    Args:
        k: Maximum number of suggestions per article.
        min_words: Filter out comments of fewer words; three Han characters count as two.
        max_words: Filter out comments of more words.
        blocklist: Filter out comments with any of these words or phrases, one per line.
        allow: Accept comments of a kind: replies, quotations, edits, trackbacks, code, profanity, addresses,
            unfinished, figures, or all; repeatable.
        profanity: Filter of profanity and insults: list (of words), or model (the lists, and a probability of .5 or
            more by alt-profanity-check).
        repeat: Suggest a text for at most N of 100 successive articles; 0 for any number.
        precision: Suggest only what is probably worth showing, such that this share of the first suggestions is, by the
            labels that the model was calibrated by.
        coverage: Suggest only what is probably worth showing, such that this share of the articles gets a suggestion.
        reranker: The sentence encoder that the model was trained with, a folder: it reorders the fifty best candidates.
        encoder: Address of the endpoint that the filter's sentence encoder is behind, of a model that was made with
            one: no model keeps an address.
        strategy: Decoding of a generator: beam (default), greedy or nucleus sampling.
        beam_size: Number of hypotheses per beam, with beam (default 5).
        length_penalty: Length penalty exponent of a generator: a text's score is its log-probability divided by its
            number of tokens to this power (default 1: the mean per token; 0 favors short texts).
        no_repeat_ngram_size: No n-gram of this size occurs twice in a generated text (default 3); 0 allows repetition.
        top_p: Top-p threshold, with nucleus (default 0.9).
        temperature: Sampling temperature, with nucleus (default 1) or --endpoint (default 0.8, of a selector 0); lower
            is more deterministic.
        seed: Seed of nucleus sampling, or of the first of an article's calls with --endpoint.
    """

    k: Annotated[int, Flag(short="k", min=1, metavar="K", first=True)] = 5
    min_words: Annotated[int, Flag(min=0, group="Filter")] = 4
    max_words: Annotated[int | None, Flag(min=1, group="Filter")] = None
    blocklist: Annotated[str | None, Flag(metavar="FILE", group="Filter")] = None
    allow: Annotated[tuple[str, ...], Flag(metavar="KIND", group="Filter")] = ()
    profanity: Annotated[Literal["list", "model"], Flag(metavar="WHAT", group="Filter")] = "list"
    repeat: Annotated[int, Flag(min=0, metavar="N", group="Filter")] = 2
    precision: Annotated[float | None, Flag(metavar="SHARE", min=0, max=1, first=True)] = None
    coverage: Annotated[float | None, Flag(metavar="SHARE", min=0, max=1, first=True)] = None
    reranker: Annotated[str | None, Flag(metavar="DIR", group="Encoders")] = None
    encoder: Annotated[str | None, Flag(metavar="URL", group="Encoders")] = None
    strategy: Annotated[str | None, Flag("decoding", metavar="NAME", group="Decoding")] = None
    beam_size: Annotated[int | None, Flag(min=1, group="Decoding")] = None
    length_penalty: Annotated[float | None, Flag(min=0, group="Decoding")] = None
    no_repeat_ngram_size: Annotated[int | None, Flag("no-repeat-ngrams", min=0, group="Decoding")] = None
    top_p: Annotated[float | None, Flag(group="Decoding")] = None
    temperature: Annotated[float | None, Flag(group="Decoding")] = None
    seed: Annotated[int | None, Flag(min=0, group="Decoding")] = None

    def __post_init__(self) -> None:
        if self.temperature != 0:  # which an endpoint takes
            self.decoding()  # which checks the values
        self.selection()

    def selection(self) -> Selection | None:
        """The request to suggest only what is probably worth showing; None without one."""
        if self.precision is None and self.coverage is None:
            return None
        from postil.comments.show_filter import Selection  # noqa: PLC0415 - arrays are behind it

        return Selection(self.precision, self.coverage)

    def candidate_filter(self) -> CandidateFilter:
        """The filter of suggestions."""
        from postil.screening.filtering import CandidateFilter  # noqa: PLC0415 - word lists are behind them
        from postil.screening.reasons import Blocklist  # noqa: PLC0415

        return CandidateFilter(
            min_words=self.min_words,
            max_words=self.max_words,
            allow=self.allow,
            profanity=self.profanity,
            repeat=self.repeat,
            blocklist=Blocklist.read(self.blocklist) if self.blocklist else None,
        )

    def decoding(self) -> DecodingOptions | None:
        """The decoding options; None where none is given, as for a retriever."""
        given = {name: value for name in DECODING if (value := getattr(self, name)) is not None}
        return DecodingOptions(**given) if given else None


@options(group="Language model")
class PromptedCommentOptions(EndpointOptions):
    """Options of `postil comment` with a language model.

    Args:
        examples: A model that postil train ir-t or ir-tc made: it finds the readers' comments that the language model
            sees as examples, and ranks what that writes.
        shots: Number of examples per article.
        selector: Instead of writing, let this language model choose among the first ten suggestions of a model ir-t or
            ir-tc, or choose none; untested, no figures have been measured for it.
        prompt: Template of the prompt, instead of the one that --show-prompt prints (of a selector
            --show-selector-prompt).
        article_words: Number of words of an article's content that the language model sees.
        max_tokens: Maximum number of tokens of a comment, or of a selector's answer; one that reaches it is not used,
            and a model that thinks before it writes needs many more.
    """

    examples: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    shots: Annotated[int, Flag(min=0)] = 6
    selector: Annotated[str | None, Flag(metavar="NAME")] = None
    prompt: Annotated[str | None, Flag(metavar="FILE")] = None
    article_words: Annotated[int, Flag(min=0)] = 400
    max_tokens: Annotated[int, Flag("max-tokens", other="answer-tokens", min=1)] = 200

    def check_unused(self) -> None:
        """Refuse options that need an endpoint.

        Raises:
            UsageError: One is given.
        """
        given = [Setting(each.name) for each in changed_settings(self)]
        if given:
            raise UsageError(
                "{given}: only with {endpoint}", given=Listed(given, last=", "), endpoint=Setting("endpoint")
            )

    def template(self) -> PromptTemplate:
        """The template of the prompt.

        Raises:
            InvalidInput: Its file cannot be read.
            UsageError: It is no template.
        """
        from postil.comments import prompted_commenter, selecting_commenter  # noqa: PLC0415 - the same
        from postil.data.streams import file_bytes  # noqa: PLC0415

        writes = self.selector is None
        if self.prompt is None:
            return prompted_commenter.default_template() if writes else selecting_commenter.default_template()
        read = prompted_commenter.read_template if writes else selecting_commenter.read_template
        return read(file_bytes(self.prompt), self.prompt)
