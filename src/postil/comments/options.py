"""Options of networks, of trainings and of decoding.

Upper limits refuse absurd sizes before memory is allocated.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from postil.comments.nn.token_ids import SPECIAL
from postil.comments.weightings import IDF, WEIGHTINGS, Idf, Weighting
from postil.data.arguments import check_bounds, check_fields
from postil.data.grades import Scale
from postil.data.options import EngineOptions, PluginOptions, SeedOptions, ThreadOptions
from postil.encoders.encoder_options import check_encoder_model
from postil.errors import UnknownName, UsageError, check_least
from postil.messages import Listed, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "METRICS",
    "RANKERS",
    "SEED",
    "DecodingOptions",
    "EvaluateOptions",
    "GeneratorOptions",
    "GeneratorTrainOptions",
    "GeneratorTraining",
    "PairOptions",
    "RelevanceOptions",
    "RelevanceTraining",
    "RetrieverTrainOptions",
    "TrainingOptions",
]


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """Options of decoding.

    Args:
        strategy: ``beam``: the hypothesis with the highest score (see `length_penalty`) that beam search finds, which
            need not be the most probable text; ``greedy``: the most probable token at each step; ``nucleus``: top-p
            sampling (Holtzman et al. 2020).
        beam_size: Number of hypotheses kept per beam.
        length_penalty: Length penalty exponent: the score is log P / n ** length_penalty, n counting the tokens and the
            end token. So 1 maximizes the mean log-probability per token, and 0 log P itself, which favors short texts.
        top_p: Top-p threshold for nucleus sampling.
        temperature: Sampling temperature; lower is more deterministic.
        no_repeat_ngram_size: No n-gram of this size occurs twice in a text; 0 allows repetition.
        min_words: Minimum number of words.
        max_words: Maximum number of words.
        seed: Seed of the sampling.
    """

    strategy: Literal["beam", "greedy", "nucleus"] = "beam"
    beam_size: int = 5
    length_penalty: float = 1.0
    top_p: float = 0.9
    temperature: float = 1.0
    no_repeat_ngram_size: int = 3
    min_words: int = 3
    max_words: int = 50
    seed: int = 20181

    def __post_init__(self) -> None:
        check_fields(self)
        check_bounds(self)
        check_least(0, seed=self.seed)
        if self.beam_size < 1 or self.no_repeat_ngram_size < 0 or not 1 <= self.min_words <= self.max_words:
            raise UsageError(
                "expected beam_size from 1, no_repeat_ngram_size from 0, and min_words from 1 to max_words"
            )
        if not (0 <= self.length_penalty < math.inf and 0 < self.top_p <= 1 and 0 < self.temperature < math.inf):
            raise UsageError("expected length_penalty from 0, top_p above 0 to 1, and a temperature above 0")

    @property
    def width(self) -> int:
        """Number of hypotheses kept per beam; 1 unless `strategy` is ``beam``."""
        return self.beam_size if self.strategy == "beam" else 1


SEED: Final = 20181
DEVICES: Final = ("auto", "cpu", "cuda")
_LATER: Final = ("word_mean",)
"""Options that models of earlier versions do not record; they have the default."""

_LIMITS: Final = {
    **dict.fromkeys(("hidden_size", "embedding_dim", "filters", "output_dim"), 2**16),
    **dict.fromkeys(("vocab_size", "num_sampled", "num_negatives"), 2**24),
    "layers": 64,
    "widths": 1024,
    "seed": 2**63 - 1,
}
_DEFAULT_LIMIT: Final = 2**31 - 1


def _check_limits(options: DataclassInstance) -> None:
    """Check that options have their declared types and stay within their limits."""
    check_fields(options)
    check_bounds(options)
    for name in options.__dataclass_fields__:
        value = getattr(options, name)
        limit = _LIMITS.get(name, _DEFAULT_LIMIT)
        for number in value if isinstance(value, tuple | list) else (value,):
            if isinstance(number, int) and number > limit:
                raise UsageError(
                    "{setting}: expected at most {limit:,}, got {number:,}",
                    setting=Setting(name),
                    limit=limit,
                    number=number,
                )


@options(group="Network")
class PairOptions:
    """Options that all networks share.

    Args:
        vocab_size: Maximum number of token ids, four special ones included.
        dropout: Dropout probability.
        comments_per_article: Comments of an article to train on: ``all``, or ``one`` that is sampled.
        article_words: Number of tokens that articles are truncated to.
        comment_words: Number of tokens that comments are truncated to.
    """

    vocab_size: Annotated[int, Flag(min=SPECIAL + 1)] = 30_000
    dropout: float = 0.2
    comments_per_article: Annotated[Literal["all", "one"], Flag(metavar="WHICH")] = "all"
    article_words: Annotated[int, Flag(min=1, hidden=True)] = 400
    comment_words: Annotated[int, Flag(min=1, hidden=True)] = 50

    def __post_init__(self) -> None:
        _check_limits(self)
        if not 0 <= self.dropout < 1:
            raise UsageError(
                "{setting}: expected 0 to less than 1, got {got}", setting=Setting("dropout"), got=self.dropout
            )

    def recorded(self) -> dict[str, object]:
        """Options by name as a model records them, so that a model of default options is the same in all versions."""
        fields = self.__dataclass_fields__
        return {
            name: value for name, value in asdict(self).items() if name not in _LATER or value != fields[name].default
        }


@options(group="Network")
class GeneratorOptions(PairOptions):
    """Architecture and loss of a generator; the paper gives hidden and vocabulary size (supplement C.1).

    Args:
        attention: Attention: ``bahdanau`` (Bahdanau et al. 2015: the context feeds the decoder's next state), or after
            the recurrent network (Luong et al. 2015) by scores with a learned matrix, ``general``, or by ``additive``
            scores; or ``none``. By default ``general``, and ``none`` for seq2seq.
        cell: Recurrent cell: ``gru`` or ``lstm``.
        hidden_size: Hidden size of encoder and decoder.
        embedding_dim: Embedding dimension.
        layers: Number of recurrent layers of encoder and decoder.
        loss: Training loss: ``full`` cross-entropy, or ``sampled``: an estimate from sampled candidates, several times
            faster. Dev evaluation always has the full one.
        num_sampled: Number of distinct candidates per batch, never ``<pad>`` or ``<bos>``. A vocabulary without more
            tokens than that is trained with the full cross-entropy.
        comments_per_group: Number of comments of an article that share a batch, so that the article is encoded once; by
            default 8, and 1 where titles alone are read.
    """

    attention: Annotated[Literal["bahdanau", "general", "additive", "none"] | None, Flag(metavar="NAME")] = None
    cell: Annotated[Literal["gru", "lstm"], Flag(metavar="NAME")] = "gru"
    hidden_size: Annotated[int, Flag(min=2, first=True)] = 256
    embedding_dim: Annotated[int, Flag(min=1, hidden=True)] = 256
    layers: Annotated[int, Flag(min=1)] = 1
    loss: Annotated[Literal["full", "sampled"], Flag("softmax", metavar="NAME", first=True)] = "full"
    num_sampled: Annotated[int, Flag(min=1, hidden=True)] = 2000
    comments_per_group: Annotated[int | None, Flag(min=1, hidden=True)] = None


@options(group="Network")
class RelevanceOptions(PairOptions):
    """Architecture and loss of a relevance model.

    The paper trains with negative sampling. The default is an in-batch softmax loss (InfoNCE), which ranked articles'
    own comments higher: mean reciprocal rank .304 against .288 after three epochs, among 100 comments of other
    articles, on 130 dev articles of an English forum by their titles.

    Args:
        architecture: ``two-tower`` (dual encoder): the scaled cosine of an article vector and a comment vector;
            ``interaction`` adds late interaction (MaxSim) of their n-grams, which takes longer to rank.
        embedding_dim: Embedding dimension.
        filters: Number of filters per width.
        widths: Widths of the convolutions in tokens.
        output_dim: Dimension of article and comment vectors.
        shared: True if articles and comments have the same tower.
        word_mean: Add a weighted mean of word embeddings to the convolutions; the paper has convolutions alone.
        loss: Training loss: ``softmax`` (InfoNCE) over the comment and its negatives, or ``negative``: negative
            sampling (Mikolov et al. 2013), as in the paper.
        num_negatives: Number of in-batch negatives sampled per comment among those of other articles; 0 for all of
            them. By default all for the softmax loss of two towers, where they cost next to nothing, 20 for negative
            sampling, and 8 for late interaction.
        comments_per_group: Number of comments of an article that share a batch.
    """

    architecture: Annotated[Literal["two-tower", "interaction"], Flag(metavar="NAME")] = "two-tower"
    embedding_dim: Annotated[int, Flag(min=1, hidden=True)] = 128
    filters: Annotated[int, Flag(min=1, hidden=True)] = 64
    widths: Annotated[tuple[int, ...], Flag(hidden=True)] = (1, 2, 3)
    output_dim: Annotated[int, Flag(min=1, hidden=True)] = 128
    shared: Annotated[bool, Flag(hidden=True)] = True
    word_mean: bool = True
    loss: Annotated[Literal["softmax", "negative"], Flag("relevance-loss", metavar="NAME")] = "softmax"
    num_negatives: Annotated[int | None, Flag("negatives", min=0)] = None
    comments_per_group: Annotated[int, Flag(min=1, hidden=True)] = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "widths", tuple(self.widths))
        if not self.widths or min(self.widths) < 1:
            raise UsageError("expected widths from 1")

    @property
    def negatives(self) -> int:
        """Number of negatives sampled per comment, by default as loss and architecture ask; 0 for all of the batch."""
        if self.num_negatives is not None:
            return self.num_negatives
        return 8 if self.architecture == "interaction" else 20 if self.loss == "negative" else 0


@options(group="Training")
class TrainingOptions:
    """Options of a training.

    Args:
        batch: Batch size: number of comments.
        epochs: Maximum number of epochs.
        steps: Maximum number of steps.
        learning_rate: Learning rate of AdamW.
        warmup: Number of warm-up steps; the learning rate rises linearly from learning_rate / (warmup + 1).
        weight_decay: Weight decay of AdamW, for matrices only.
        clip: Maximum gradient norm; 0 for no clipping.
        eval_every: Evaluation interval in steps: dev evaluation and checkpoint; the end of an epoch has both as well.
        patience: Early stopping: stop after N dev evaluations without improvement; 0 for none.
        seed: Seed of everything random.
        device: ``cpu``, ``cuda``, or ``auto``: a GPU where there is one.
        bf16: Mixed precision (autocast to bfloat16; weights and optimizer stay in float32), on a GPU that supports it.
        tensorboard: Log folder for TensorBoard; extra neural.
    """

    batch: Annotated[int, Flag(min=2)] = 256
    epochs: Annotated[int, Flag(min=1, first=True)] = 20
    steps: Annotated[int | None, Flag(min=1)] = None
    learning_rate: float = 1e-3
    warmup: Annotated[int, Flag(min=0, hidden=True)] = 0
    weight_decay: float = 0.0
    clip: Annotated[float, Flag(min=0, hidden=True)] = 1.0
    eval_every: Annotated[int, Flag(min=1)] = 1000
    patience: Annotated[int, Flag(min=0)] = 3
    seed: Annotated[int, Flag(min=0, hidden=True)] = SEED
    device: Annotated[str, Flag(metavar="NAME", first=True)] = "auto"
    bf16: bool = False
    tensorboard: Annotated[str | None, Flag(metavar="FOLDER")] = None

    def __post_init__(self) -> None:
        _check_limits(self)
        if self.device not in DEVICES:
            expected = Listed(DEVICES, last=" or ")
            raise UsageError(
                "{setting}: expected {expected}, got {got}",
                setting=Setting("device"),
                expected=expected,
                got=self.device,
            )
        if not self.weight_decay >= 0:  # not <: NaN is refused as well
            setting, got = Setting("weight_decay"), self.weight_decay
            raise UsageError("{setting}: expected at least 0, got {got}", setting=setting, got=got)
        if not 0 < self.learning_rate < math.inf:
            raise UsageError(
                "{setting}: expected a number above 0, got {got}",
                setting=Setting("learning_rate"),
                got=self.learning_rate,
            )

    def portable(self) -> dict[str, object]:
        """Options by name, but for those of the machine, which a model does not record."""
        return {name: value for name, value in asdict(self).items() if name not in ("device", "tensorboard")}


RANKERS: Final = ("features", "tf-idf", "relevance", "both")
LONGEST: Final = 2**31 - 1
"""Number of words that no text exceeds."""
SOURCES: Final = ("title", "content", "both", "comments")


@options(group="Training")
class RelevanceTraining(TrainingOptions):
    """Options of the training of a relevance model."""

    weight_decay: float = 0.3


@options(group="Training")
class GeneratorTraining(TrainingOptions):
    """Options of the training of a generator."""

    batch: Annotated[int, Flag(min=2)] = 64
    eval_every: Annotated[int, Flag(min=1)] = 500


@options
class RetrieverTrainOptions(SeedOptions, EngineOptions):
    """Options of `postil train ir-t` and `ir-tc`.

    Args:
        ranker: Ranker of the candidates: ``features`` (words, vectors and more, fitted in seconds), ``tf-idf``,
            ``relevance`` (a convolutional network; extra neural), or ``both``: the sum of these three, with the weights
            that do best on dev. The paper has ``relevance``.
        reranker: Sentence encoder that reorders the fifty best candidates of an article, a folder (as of
            sentence-transformers or ONNX) or package:NAME; name it for postil comment again. By default none.
        encoder: Sentence encoder whose numbers the filter that labels teach reads: a folder or package:NAME, which the
            model keeps; or the address of an embeddings endpoint, which the commands that use the model name again. The
            model keeps the vectors of its articles and comments. By default none.
        encoder_model: The endpoint's name of the encoder.
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

    # A network gains more in the sum, for minutes of training instead of seconds and torch; see
    # research/findings/comments.md.
    ranker: Annotated[str, Flag(metavar="NAME", first=True)] = "features"
    reranker: Annotated[str | None, Flag(metavar="DIR", group="Encoders")] = None
    encoder: Annotated[str | None, Flag(metavar="DIR|URL", group="Encoders")] = None
    encoder_model: Annotated[str | None, Flag(metavar="NAME", group="Encoders")] = None
    neighbors: Annotated[int, Flag(min=1, group="Candidates")] = 20
    retrieval: Annotated[Weighting, Flag(metavar="NAME", group="Candidates")] = "tf-idf"
    idf: Annotated[Idf, Flag(metavar="NAME", group="Candidates")] = "plain"
    vectors: Annotated[str, Flag(metavar="FOLDER", first=True)] = "auto"
    embeddings: Annotated[str, Flag(metavar="FOLDER", group="Network")] = "corpus"
    eval_negatives: Annotated[int, Flag(min=0, group="Candidates")] = 100
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
        check_encoder_model(self.encoder, self.encoder_model)
        check_bounds(self)

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

    source: Annotated[Literal["title", "content", "both", "comments"] | None, Flag(metavar="FIELD", group="Texts")] = (
        None
    )
    target: Annotated[Literal["comments", "title"], Flag(metavar="FIELD", group="Texts")] = "comments"
    max_content_words: Annotated[int | None, Flag(min=0, group="Texts")] = None
    embeddings: Annotated[str, Flag(metavar="FOLDER", group="Network")] = "none"
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


METRICS: Final = ("meteor", "w-meteor", "rouge-l", "w-rouge-l", "cider", "w-cider", "bleu-1", "w-bleu-1")
"""The metrics of the paper's Table 7."""


@options
class EvaluateOptions(PluginOptions, SeedOptions, ThreadOptions):
    """Options of `postil evaluate`.

    Args:
        split: The articles to comment on: test or dev.
        metrics: Metric, as for postil score; repeatable. By default meteor, rouge-l, cider and bleu-1, each without and
            with w-.
        weights: Source of the references' weights: score, minmax or item-max (grades), votes, or consensus. By default
            grades where every reference has one, else votes where these differ within some article, else consensus.
        scale: Scale of the grades: HIGH (from 0) or LOW:HIGH.
        by_date: Scores by period of the articles' dates as well: month, quarter, year, or a number of periods with as
            many articles each.
        encoder: Address of the endpoint that the sentence encoder of a model's filter is behind, of models that were
            made with one.
        seed: Seed of the comments that are set aside.
    """

    split: Annotated[str, Flag(metavar="NAME", first=True)] = "test"
    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="SPEC", first=True)] = METRICS
    weights: Annotated[str | None, Flag(metavar="METHOD", first=True)] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE", group="Metrics")] = None
    by_date: Annotated[str | None, Flag(metavar="PERIOD", first=True)] = None
    encoder: Annotated[str | None, Flag(metavar="URL", group="Encoders")] = None

    def __post_init__(self) -> None:
        check_fields(self)
