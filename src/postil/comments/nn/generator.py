"""Generators: models that write comments, trained on the pairs of article and comment of a corpus.

    P(c | x) = product over t of P(c_t | c_1 … c_(t-1), x)

with an encoder and a decoder (Sutskever et al. 2014), with or without attention (Qin et al. 2018, section 5 and
supplement C.1). The decoder attends after its recurrent network, as in Luong et al. (2015), with the scores ``general``
or ``additive``; with ``bahdanau`` it attends before each step, and the context feeds its next state, as in Bahdanau et
al. (2015).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from torch import Tensor, nn

from postil.comments.nn import decoding, models
from postil.comments.nn.batches import Commented, Pairs, bucket_by_length, data_hash, model_ids, pad_batch
from postil.comments.nn.seq2seq import Seq2SeqNetwork
from postil.comments.nn.token_ids import EOS, SPECIAL
from postil.comments.options import DecodingOptions, GeneratorOptions, TrainingOptions
from postil.data.atomic_file import check_folder
from postil.errors import UsageError, check_least

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from postil.comments.nn.training import Progress
    from postil.data.streams import FilePath
    from postil.text.tokens import Ragged

__all__ = ["KIND", "GenerationTask", "Generator", "train_generator"]

KIND: Final = "generator"
COMMENTS_PER_GROUP: Final = 8
DEV_PAIRS: Final = 10_000
"""Number of comments of a dev evaluation, at most one batch more."""
_ROWS: Final = 320
"""Number of hypotheses that are decoded at once, about."""
_TOKENS: Final = 32_768
"""Number of article tokens that are encoded at once, padding included."""
_COUNTED: Final = 2**22
"""Number of tokens that are counted at once."""


@dataclass(frozen=True, eq=False)
class Generator:
    """A trained generator; from `open` or `train_generator`.

    Args:
        network: The network in evaluation mode.
        options: Its options.
    """

    network: Seq2SeqNetwork
    options: GeneratorOptions

    @classmethod
    def open(cls, folder: FilePath, device: str = "cpu") -> Generator:
        """Open a model folder.

        Args:
            folder: The folder that `train_generator` wrote.
            device: ``cpu`` or ``cuda``.

        Raises:
            InvalidInput: It holds no generator, or files are missing, truncated or do not fit together.
        """
        return cls(*models.load(folder, KIND, GeneratorOptions, Seq2SeqNetwork, device))

    def generate(
        self, articles: Ragged, n_best: int = 1, options: DecodingOptions | None = None
    ) -> list[list[decoding.Hypothesis]]:
        """Generate comments.

        Args:
            articles: Articles to comment on, token ids of the corpus.
            n_best: Number of comments per article; see `decoding.generate`.
            options: Decoding strategy.

        Returns:
            Distinct hypotheses of each article, best first; token ids of the model.
        """
        options = options or DecodingOptions()
        check_least(1, n_best=n_best)
        found: list[list[decoding.Hypothesis]] = [[] for _ in range(len(articles))]
        texts = n_best if options.strategy == "nucleus" or n_best == 1 else max(n_best, options.width)
        batch_size = max(1, _ROWS // (texts * options.width))
        for bucket in bucket_by_length(articles, _TOKENS, self.options.article_words):
            for begin in range(0, len(bucket), batch_size):
                rows = bucket[begin : begin + batch_size]
                batch = pad_batch(articles, rows, self.options.article_words, self.network.words.num_embeddings)
                generated = decoding.generate(
                    self.network, torch.from_numpy(batch).to(self.network.bias.device), n_best, options
                )
                for row, hypotheses in zip(rows.tolist(), generated, strict=True):
                    found[row] = hypotheses
        return found


def train_generator(
    train: Commented,
    dev: Commented,
    options: GeneratorOptions,
    training: TrainingOptions,
    folder: FilePath,
    *,
    embeddings: NDArray[np.float32] | None = None,
    metadata: Mapping[str, object] | None = None,
    on_message: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Generator:
    """Train a generator.

    The model is the state with the lowest token-level cross-entropy on dev, over the full vocabulary. An interrupted
    training resumes from ``.FOLDER.training``, next to the folder.

    Args:
        train: Articles with comments to train on.
        dev: Articles with comments for dev evaluation; of more comments, about 10,000 are used.
        options: Options of the network.
        training: Options of the training; a batch is counted in comments.
        folder: The model folder to write.
        embeddings: Pretrained embeddings in the order of the corpus's vocabulary, float32[words, embedding_dim]; zeros
            for a word without one.
        metadata: Further metadata of the model.
        on_message: Callback for status messages.
        on_progress: Callback after each step.

    Raises:
        UsageError: The folder exists, or arrays or options do not fit together.
        PostilError: The loss is not finite, or the operating system reports an error.
    """
    from postil.comments.nn.training import train_model  # noqa: PLC0415 - accelerate is slow to load

    check_folder(folder)
    data = data_hash(*train, *dev, *(() if embeddings is None else (embeddings,)))
    known = SPECIAL + 1 + max(int(texts.ids.max(initial=0)) for texts in train[:2])
    options = replace(
        options,
        vocab_size=min(options.vocab_size, known),
        attention=options.attention or "general",
        comments_per_group=options.comments_per_group or COMMENTS_PER_GROUP,
    )
    task = GenerationTask(train, dev, options, training, data)
    network = models.build(Seq2SeqNetwork, options, options.vocab_size, training.seed)
    network.initialize(_target_counts(train.comments, options.vocab_size), embeddings)
    train_model(
        folder,
        KIND,
        network,
        task,
        training,
        config={"vocab_size": options.vocab_size, "options": options.recorded()},
        dev=lambda best: {"loss": best},
        metadata=metadata,
        on_message=on_message,
        on_progress=on_progress,
    )
    return Generator(network, options)


def _target_counts(comments: Ragged, vocab_size: int) -> NDArray[np.int64]:
    """Frequency of each token id as a target, end tokens included, int64[V]."""
    counts = np.zeros(vocab_size, dtype=np.int64)
    for begin in range(0, len(comments.ids), _COUNTED):
        some = model_ids(comments.ids[begin : begin + _COUNTED], vocab_size)
        counts += np.bincount(some, minlength=vocab_size)
    counts[EOS] += len(comments)
    return counts


class GenerationTask:
    """Generating an article's comments; a `TrainingTask`."""

    unit = "words"

    def __init__(
        self, train: Commented, dev: Commented, options: GeneratorOptions, training: TrainingOptions, data: str
    ) -> None:
        if not len(train.comments) or not len(dev.comments):
            raise UsageError("expected articles with comments, to train on and in dev")
        pairs, self.dev_pairs = (_pairs(texts, options, training) for texts in (train, dev))
        self.batches = pairs.epoch
        self.request = {"kind": KIND, "data": data, **options.recorded()}

    def loss(self, network: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
        """Mean cross-entropy per token; see `TrainingTask`."""
        loss, tokens = network(batch["article"], batch["comment"], batch["owner"])
        return loss / tokens, int(tokens)

    def dev(self, network: nn.Module) -> float:
        """Token-level cross-entropy over the full vocabulary, nats per token; see `TrainingTask`."""
        assert isinstance(network, Seq2SeqNetwork)  # noqa: S101 - for the type checker
        device, epoch = network.bias.device, self.dev_pairs.epoch(0)
        total, count, pairs = 0.0, 0, 0
        for number in range(len(epoch)):
            batch = {name: torch.from_numpy(array).to(device) for name, array in epoch[number].items()}
            loss, tokens = network(batch["article"], batch["comment"], batch["owner"])
            total, count, pairs = total + float(loss), count + int(tokens), pairs + len(batch["owner"])
            if pairs >= DEV_PAIRS:
                break
        return total / count


def _pairs(texts: Commented, options: GeneratorOptions, training: TrainingOptions) -> Pairs:
    return Pairs(
        *texts,
        vocab_size=options.vocab_size,
        batch=training.batch,
        comments_per_group=min(options.comments_per_group or COMMENTS_PER_GROUP, training.batch),
        article_words=options.article_words,
        # No batch of articles of the default length has more, and one of whole articles must not fill the memory.
        article_tokens=GeneratorOptions.article_words * training.batch,
        comment_words=options.comment_words,
        comments_per_article=options.comments_per_article,
        seed=training.seed,
    )
