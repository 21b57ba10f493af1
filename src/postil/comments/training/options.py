"""Options of `postil train`."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from postil.comments.nn.options import GeneratorOptions, RelevanceOptions, TrainingOptions
from postil.data.options import EngineOptions, SeedOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Listed, Setting
from postil.options import Flag, options
from postil.search.segment import IDF, WEIGHTINGS, Idf, Weighting

__all__ = [
    "RANKERS",
    "GeneratorTrainOptions",
    "GeneratorTraining",
    "QualityTrainOptions",
    "RelevanceTraining",
    "RetrieverTrainOptions",
]

RANKERS: Final = ("features", "tf-idf", "relevance", "both")
LONGEST: Final = 2**31 - 1
"""Number of words that no text exceeds."""
SOURCES: Final = ("title", "content", "both", "comments")


@options
class RelevanceTraining(TrainingOptions):
    """Options of the training of a relevance model."""

    weight_decay: float = 0.3


@options
class GeneratorTraining(TrainingOptions):
    """Options of the training of a generator."""

    batch: Annotated[int, Flag(min=2)] = 64
    eval_every: Annotated[int, Flag(min=1)] = 500


@options
class RetrieverTrainOptions(SeedOptions, EngineOptions):
    """Options of `postil train ir-t` and `ir-tc`.

    Args:
        ranker: Ranker of the candidates: ``features`` (words, vectors and more, fitted in seconds), ``tf-idf``,
            ``relevance`` (a convolutional network; extra nn), or ``both``: the sum of these three, with the weights
            that do best on dev. The paper has ``relevance``.
        reranker: Sentence encoder that reorders the fifty best candidates of an article, a folder (as of
            sentence-transformers or ONNX) or package:NAME; name it for postil comment again. By default none.
        neighbors: Number of similar articles whose comments are candidates.
        retrieval: Retrieval model for similar articles: ``tf-idf`` (cosine) or ``bm25``.
        idf: With tf-idf: ``plain``, ln(N/df), or ``smooth``, as in scikit-learn.
        vectors: Static vectors for features: a folder (postil vectors import or train); ``corpus`` to train word
            vectors on the corpus (extra vectors); ``none`` for words only; or ``auto``: those of wordllama if that is
            installed, else ``corpus`` if gensim is, else ``none``.
        embeddings: Pretrained embeddings of the network: a folder of word vectors, ``corpus`` to train them on the
            corpus first, or ``none`` for random ones.
        eval_negatives: Number of comments of other articles that each dev comment is ranked among; 0 for all.
        network: Options of the relevance model.
        training: Options of its training.
    """

    ranker: Annotated[str, Flag(metavar="NAME")] = "features"
    reranker: Annotated[str | None, Flag(metavar="DIR")] = None
    neighbors: Annotated[int, Flag(min=1)] = 20
    retrieval: Annotated[Weighting, Flag(metavar="NAME")] = "tf-idf"
    idf: Annotated[Idf, Flag(metavar="NAME")] = "plain"
    vectors: Annotated[str, Flag(metavar="FOLDER")] = "auto"
    embeddings: Annotated[str, Flag(metavar="FOLDER")] = "corpus"
    eval_negatives: Annotated[int, Flag(min=0)] = 100
    network: RelevanceOptions = RelevanceOptions()
    training: RelevanceTraining = RelevanceTraining()

    def __post_init__(self) -> None:
        for name, known in (("ranker", RANKERS), ("retrieval", WEIGHTINGS), ("idf", IDF)):
            UnknownName.check(name, getattr(self, name), known)
        if not self.has_network and (changed := self._of_network()):
            raise UsageError(
                "{changed}: of the network, and the ranker {ranker} has none",
                changed=Listed([Setting(name) for name in changed], last=", "),
                ranker=self.ranker,
            )
        if not self.has_features and self.vectors != "auto":
            raise UsageError(f"vectors: of the features, and the ranker {self.ranker} has none")
        for name, least in (("neighbors", 1), ("eval_negatives", 0), ("jobs", 1)):
            if getattr(self, name) < least:
                got = getattr(self, name)
                raise UsageError(
                    "{setting}: expected at least {least}, got {got}", setting=Setting(name), least=least, got=got
                )

    @property
    def has_network(self) -> bool:
        """True if the ranker has a network."""
        return self.ranker in {"relevance", "both"}

    @property
    def has_features(self) -> bool:
        """True if the ranker has features."""
        return self.ranker in {"features", "both"}

    def _of_network(self) -> list[str]:
        """Names of the options of the network that differ from their defaults."""
        pairs = ((self.network, RelevanceOptions()), (self.training, RelevanceTraining()))
        names = [
            name
            for given, default in pairs
            for name in default.__dataclass_fields__
            if getattr(given, name) != getattr(default, name)
        ]
        return ["embeddings", *names] if self.embeddings != "corpus" else names


@options
class GeneratorTrainOptions(SeedOptions):
    """Options of `postil train seq2seq`, `att` and `att-tc`.

    Args:
        source: Input of the encoder: ``title``, ``content``, ``both``, or ``comments`` in their order (with --target
            title); by default as the model's name says.
        target: Output of the decoder: ``comments``, or ``title`` (headlines; with --source content or comments).
        max_content_words: Number of words of the content that are read after the title; 0 for the whole content. By
            default title and content together are truncated to 400.
        embeddings: Pretrained embeddings: a folder of word vectors, ``corpus`` to train them on the corpus first, or
            ``none`` for random ones.
        network: Options of the network.
        training: Options of its training.
    """

    source: Annotated[Literal["title", "content", "both", "comments"] | None, Flag(metavar="FIELD")] = None
    target: Annotated[Literal["comments", "title"], Flag(metavar="FIELD")] = "comments"
    max_content_words: Annotated[int | None, Flag(min=0)] = None
    embeddings: Annotated[str, Flag(metavar="FOLDER")] = "none"
    network: GeneratorOptions = GeneratorOptions()
    training: GeneratorTraining = GeneratorTraining()

    def __post_init__(self) -> None:
        for name, known in (("source", SOURCES), ("target", ("comments", "title"))):
            if getattr(self, name) not in (*known, None):
                raise UnknownName(name, getattr(self, name), known)
        if self.target == "title" and self.source not in ("content", "comments"):
            raise UsageError(
                "a generator of titles must not read them: {title} needs {content} or {comments}",
                title=Setting("target", "title"),
                content=Setting("source", "content"),
                comments=Setting("source", "comments"),
            )
        if self.source == self.target:
            raise UsageError(
                "a generator of comments must not read them: {comments} needs {title}",
                comments=Setting("source", "comments"),
                title=Setting("target", "title"),
            )
        if self.max_content_words is not None and not 0 <= self.max_content_words <= LONGEST:
            raise UsageError(
                "{setting}: expected 0 to {longest:,}, got {got:,}",
                setting=Setting("max_content_words"),
                longest=LONGEST,
                got=self.max_content_words,
            )

    @property
    def content_words(self) -> int | None:
        """Number of words of the content that are read after the title; None for the limit of the network alone."""
        return LONGEST if self.max_content_words == 0 else self.max_content_words


@options
class QualityTrainOptions(SeedOptions):
    """Options of `postil train quality`.

    Args:
        target: Judgement of the comments to learn: votes, grades or labels.
        folds: Number of folds of articles of the cross-fit that is evaluated.
        resamples: Number of resamples of the articles, for confidence intervals.
        seed: Seed of folds and resamples.
    """

    target: Annotated[str, Flag("from", metavar="NAME")] = "votes"
    folds: Annotated[int, Flag(min=2)] = 5
    resamples: Annotated[int, Flag(min=1)] = 1000
