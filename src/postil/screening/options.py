"""Options of `postil train screen` and `postil screen`, apart from their functions so that help loads no model."""

from __future__ import annotations

from typing import Annotated

from postil.data.arguments import check_fields
from postil.data.options import ThreadOptions
from postil.encoders.encoder_options import check_encoder_model
from postil.errors import UsageError
from postil.messages import Blank, Setting
from postil.options import Flag, options

__all__ = ["ScreenOptions", "ScreenTrainOptions"]


@options
class ScreenTrainOptions(ThreadOptions):
    """Options of `postil train screen`.

    Args:
        update: A screen to learn further decisions with; those on the same comments are replaced. Without DECISIONS it
            is fitted again to what it has.
        precision: Smallest share of what is held that moderators would hold, for which the threshold is chosen; by
            default that of the screen that is updated, else .9.
        attribute: Attribute of Perspective that a reason answers, such as IDENTITY_ATTACK=racism; repeatable. TOXICITY,
            INSULT, PROFANITY and SPAM are answered by themselves where the reasons allow it.
        hold: Words for the decision in the rows that mean hold, with commas between them, as in spam,trash. Each is the
            reason where a row has none.
        keep: Words that mean keep, as in approved.
        skip: Words that mean neither, as in pending: such rows are left out, as those without a word are.
        encoder: Sentence encoder whose numbers are read beside the words: a folder (as of sentence-transformers or
            ONNX) or package:NAME, which the screen keeps; or the address of an embeddings endpoint, which the commands
            that use the screen name again.
        encoder_model: The endpoint's name of the encoder.
        classifier: Folder of a text classifier, of transformers or ONNX, whose numbers are read beside the words; the
            screen keeps it.
        classifier_labels: Meanings of its labels: hold, keep, or a reason, as in toxic=hold,insult=insult; by default
            what their names tell.
        groups: Terms that name groups of people, one per line, or term,kind, in place of postil's own lists in English,
            German and Chinese: what the screen would hold of the kept texts that name them is told beside the others.
    """

    update: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    precision: Annotated[float | None, Flag(min=0.01, max=1.0, first=True)] = None
    attribute: Annotated[tuple[str, ...], Flag(metavar="NAME=REASON", first=True)] = ()
    hold: Annotated[str | None, Flag(metavar="WORDS", first=True)] = None
    keep: Annotated[str | None, Flag(metavar="WORDS", first=True)] = None
    skip: Annotated[str | None, Flag(metavar="WORDS", first=True)] = None
    encoder: Annotated[str | None, Flag(metavar="DIR|URL", group="Encoders and classifiers")] = None
    encoder_model: Annotated[str | None, Flag(metavar="NAME", group="Encoders and classifiers")] = None
    classifier: Annotated[str | None, Flag(metavar="DIR", group="Encoders and classifiers")] = None
    classifier_labels: Annotated[str | None, Flag(metavar="LABEL=MEANING,…", group="Encoders and classifiers")] = None
    groups: Annotated[str | None, Flag(metavar="FILE", group="Evaluation")] = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_encoder_model(self.encoder, self.encoder_model)
        if self.classifier_labels is not None and self.classifier is None:
            raise UsageError(
                "{labels}: only with {classifier}",
                labels=Setting("classifier_labels", self.classifier_labels),
                classifier=Setting("classifier", Blank("DIR")),
            )


@options
class ScreenOptions(ThreadOptions):
    """Options of `postil screen`.

    Args:
        model: A screen that postil train screen made.
        threshold: Probability from which a text is held; by default that of the screen.
        sort: Order the texts by their probability, highest first; each keeps its id, which without one is its number
            among the rows.
        encoder: Address of the endpoint that the sentence encoder of the screen is behind, if it was made with one.
    """

    model: Annotated[str, Flag("model", short="m", metavar="DIR", first=True)]
    threshold: Annotated[float | None, Flag(min=0, max=1, first=True)] = None
    sort: Annotated[bool, Flag(first=True)] = False
    encoder: Annotated[str | None, Flag(metavar="URL", first=True)] = None
