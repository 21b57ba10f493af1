"""Options of `postil calibrate` and `postil label`, apart from their functions so that help loads no model."""

from __future__ import annotations

from typing import Annotated

from postil.data.arguments import check_fields
from postil.data.options import SeedOptions, ThreadOptions
from postil.encoders.encoder_options import check_encoder_model
from postil.errors import UsageError
from postil.options import Flag, options

__all__ = ["CalibrateOptions", "LabelOptions"]


@options
class CalibrateOptions(SeedOptions, ThreadOptions):
    """Options of `postil calibrate`.

    Args:
        articles: The articles of the labels, where the rows of labels have no titles; a table of any format.
        encoder: Sentence encoder whose numbers the filter reads besides: a folder (as of sentence-transformers or ONNX)
            or package:NAME, which the model keeps; or the address of an embeddings endpoint, which the commands that
            use the model name again. The model keeps the vectors of its articles and comments. By default the one that
            the model has, if it has one.
        encoder_model: The endpoint's name of the encoder; by default the one that the model has.
        corpus: The corpus that the model was trained on, whose articles a new encoder reads.
        out: Folder to write the calibrated model to; by default the model itself is changed.
        resamples: Number of resamples of the articles, for confidence intervals.
    """

    articles: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    encoder: Annotated[str | None, Flag(metavar="DIR|URL", first=True)] = None
    encoder_model: Annotated[str | None, Flag(metavar="NAME", group="Encoders")] = None
    corpus: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    out: Annotated[str | None, Flag("out", short="o", metavar="DIR", first=True)] = None
    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000

    def __post_init__(self) -> None:
        check_fields(self)
        check_encoder_model(self.encoder, self.encoder_model)


@options
class LabelOptions(SeedOptions, ThreadOptions):
    """Options of `postil label`.

    Args:
        out: File to write the labels to: .jsonl, .csv, .xlsx or .parquet.
        campaign: Campaign that keeps the answers, as of postil annotate; by default a file beside the labels, with the
            ending .db. One that exists is continued.
        sample: Number of articles to draw at random.
        per_article: Number of suggestions per article: its first ones.
        among: Number of first suggestions to draw them from: the first one, and others of them at random.
        teach: Ask in rounds, after 20 articles by what the labels so far say: of each article the suggestion that a
            filter would show, the ranker's first one, and those whose answer is least certain.
        annotators: Number of annotators.
        annotators_per_item: Number of annotators per suggestion.
        encoder: Address of the endpoint that the sentence encoder of the model's filter is behind, of a model that was
            made with one.
        port: Port to listen on, on this machine alone.
        serve: Serve the labeling page until Ctrl+C; without it, make the campaign and write the labels so far.
    """

    out: Annotated[str, Flag("out", short="o", metavar="FILE", first=True)]
    campaign: Annotated[str | None, Flag(metavar="FILE", group="Campaign")] = None
    sample: Annotated[int, Flag("articles", min=1, first=True)] = 60
    per_article: Annotated[int, Flag(min=1, first=True)] = 3
    among: Annotated[int | None, Flag(min=1, group="Campaign")] = None
    teach: Annotated[bool, Flag(first=True)] = False
    annotators: Annotated[int, Flag(min=1, first=True)] = 1
    annotators_per_item: Annotated[int, Flag(min=1, group="Campaign")] = 1
    encoder: Annotated[str | None, Flag(metavar="URL", group="Encoders")] = None
    port: Annotated[int, Flag(min=1, max=65535, first=True)] = 8000
    serve: Annotated[bool, Flag(group="Campaign")] = True

    def __post_init__(self) -> None:
        from postil.data.row_files import kind_of  # noqa: PLC0415 - help does without it

        kind_of(self.out)
        if self.among is not None and self.among < self.per_article:
            problem = f"expected at least the {self.per_article} suggestions per article, got {self.among}"
            raise UsageError(f"among: {problem}")
        if self.campaign is None and self.out.endswith(".db"):
            raise UsageError(f"{self.out}: the campaign is kept there; name a file of labels, such as labels.jsonl")
