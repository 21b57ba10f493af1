"""Generators: models that write comments, trained on the pairs of article and comment of a corpus.

    P(c | x) = product over t of P(c_t | c_1 … c_(t-1), x)

with an encoder and a decoder (Sutskever et al. 2014), with or without attention (Qin et al. 2018, section 5 and
supplement C.1). The decoder attends after its recurrent network, as in Luong et al. (2015); ``additive`` is the scoring
function of Bahdanau et al. (2015) in that architecture.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from postil.commenters.decoding_options import DecodingOptions
from postil.commenters.nn import decoding, models
from postil.commenters.nn.batches import EOS, SPECIAL, Commented, Pairs, Texts, by_length, hashed, model_ids, padded
from postil.commenters.nn.decoding import Written
from postil.commenters.nn.seq2seq import GeneratorOptions, Network
from postil.commenters.store import check_free
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.commenters.nn.batches import Batch
    from postil.commenters.nn.training import Progress, TrainingOptions
    from postil.records.row_files import FilePath

__all__ = ["KIND", "Generator", "GeneratorOptions", "Written", "train_generator"]

KIND: Final = "generator"
DEV_PAIRS: Final = 10_000
_ROWS: Final = 320
"""Rows that are written together, about."""
_WORDS: Final = 32_768
"""Words of articles that are read together, filled up."""
_AT_ONCE: Final = 2**22
"""Words that are counted together."""


@dataclass(frozen=True, eq=False)
class Generator:
    """A trained generator; `open` it, or `train_generator`.

    Args:
        network: The network, in evaluation.
        options: What it is.
    """

    network: Network
    options: GeneratorOptions

    @classmethod
    def open(cls, folder: FilePath, device: str = "cpu") -> Generator:
        """Open a model folder.

        Args:
            folder: The folder that `train_generator` made.
            device: Where to calculate: ``cpu`` or ``cuda``.

        Raises:
            InvalidInput: It holds no generator, or files are missing, cut short or do not fit together.
        """
        return cls(*models.load(folder, KIND, GeneratorOptions, Network, device))

    def write(self, articles: Texts, several: int = 1, options: DecodingOptions | None = None) -> list[list[Written]]:
        """Write comments.

        Args:
            articles: What to comment on, words as the corpus numbers them.
            several: Comments an article, at least where there are as many; see `decoding.write`.
            options: How.

        Returns:
            For each article what was written, best first, none twice; words as the model numbers them.
        """
        options = options or DecodingOptions()
        if several < 1:
            raise UsageError(f"several: expected at least 1, got {several}")
        found: list[list[Written]] = [[] for _ in range(len(articles.offsets) - 1)]
        texts = several if options.strategy == "nucleus" or several == 1 else max(several, options.width)
        at_once = max(1, _ROWS // (texts * options.width))
        for group in by_length(articles, _WORDS, self.options.article_words):
            for begin in range(0, len(group), at_once):
                rows = group[begin : begin + at_once]
                read = padded(articles, rows, self.options.article_words, self.network.words.num_embeddings)
                written = decoding.write(
                    self.network, torch.from_numpy(read).to(self.network.bias.device), several, options
                )
                for row, one in zip(rows.tolist(), written, strict=True):
                    found[row] = one
        return found


def train_generator(
    train: Commented,
    dev: Commented,
    options: GeneratorOptions,
    how: TrainingOptions,
    folder: FilePath,
    *,
    vectors: NDArray[np.float32] | None = None,
    made: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Generator:
    """Train a generator.

    What is kept is the state with the lowest loss a word on dev, by the full softmax. A training that was cut off goes
    on from ``.FOLDER.training``, beside the folder to make.

    Args:
        train: Articles with comments to train on.
        dev: Others to measure on; where there are more than 10,000 comments, on so many of them.
        options: What to train.
        how: How to train it; a batch counts comments.
        folder: The model folder to make.
        vectors: float32[words, word_size], vectors to begin with, in the order of the corpus's words; zeros for a word
            that has none.
        made: What to note of how it was made.
        say: Told what is worth knowing.
        watch: Told after each step how far it is.

    Raises:
        UsageError: The folder is there already, or arrays or options do not fit together.
        PostilError: The loss is not a number, or the system refuses to write.
    """
    check_free(folder)
    data = hashed(*train, *dev, *(() if vectors is None else (vectors,)))
    known = SPECIAL + 1 + max(int(texts.ids.max(initial=0)) for texts in train[:2])
    options = replace(options, vocabulary=min(options.vocabulary, known))
    task = Writing(train, dev, options, how, data)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(how.seed)
        network = models.build(Network, options, options.vocabulary)
    network.begin(_counts(train.comments, options.vocabulary), vectors)
    models.train(
        folder,
        KIND,
        network,
        task,
        how,
        config={"vocabulary": options.vocabulary, "options": asdict(options)},
        dev=lambda best: {"loss": best},
        made=made,
        say=say,
        watch=watch,
    )
    return Generator(network, options)


def _counts(comments: Texts, vocabulary: int) -> NDArray[np.int64]:
    """How often each word is to be written, ends of texts among them, int64[V]."""
    counts = np.zeros(vocabulary, dtype=np.int64)
    for begin in range(0, len(comments.ids), _AT_ONCE):
        some = model_ids(comments.ids[begin : begin + _AT_ONCE], vocabulary)
        counts += np.bincount(some, minlength=vocabulary)
    counts[EOS] += len(comments.offsets) - 1
    return counts


class Writing:
    """The task of writing an article's comments; a `Task`."""

    unit = "words"

    def __init__(
        self, train: Commented, dev: Commented, options: GeneratorOptions, how: TrainingOptions, data: str
    ) -> None:
        if not len(train.comments.offsets) > 1 or not len(dev.comments.offsets) > 1:
            raise UsageError("expected articles with comments, to train on and in dev")
        self.pairs, self.dev_pairs = (_pairs(texts, options, how) for texts in (train, dev))
        self.request = {"kind": KIND, "data": data, **asdict(options)}

    def batches(self, epoch: int) -> Sequence[Batch]:
        """See `Task`."""
        return self.pairs.epoch(epoch)

    def loss(self, network: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
        """The mean loss a word; see `Task`."""
        loss, words = network(batch["article"], batch["comment"], batch["owner"])
        return loss / words, int(words)

    def dev(self, network: nn.Module) -> float:
        """The mean of -log P over words, in nats, by the full softmax; see `Task`."""
        assert isinstance(network, Network)  # noqa: S101 - for the type checker
        device, epoch = network.bias.device, self.dev_pairs.epoch(0)
        total, count, pairs = 0.0, 0, 0
        for number in range(len(epoch)):
            batch = {name: torch.from_numpy(array).to(device) for name, array in epoch[number].items()}
            loss, words = network(batch["article"], batch["comment"], batch["owner"])
            total, count, pairs = total + float(loss), count + int(words), pairs + len(batch["owner"])
            if pairs >= DEV_PAIRS:
                break
        return total / count


def _pairs(texts: Commented, options: GeneratorOptions, how: TrainingOptions) -> Pairs:
    return Pairs(
        *texts,
        vocabulary=options.vocabulary,
        batch=how.batch,
        group=min(options.group, how.batch),
        article_words=options.article_words,
        comment_words=options.comment_words,
        pairs=options.pairs,
        seed=how.seed,
    )
