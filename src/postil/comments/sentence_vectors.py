"""Vectors of a model's articles and comments by a sentence encoder, and the numbers that a filter reads of them.

A model folder keeps the vectors in half precision, and the encoder itself where it is a folder, so that the filter
encodes the article that is asked for and nothing else. A filter is useless without its encoder, and the name of a
folder elsewhere would break where the model moves; packages that run their own weights are named and checked by hash.
An encoder behind an endpoint is asked where the user names it.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.reranker import text_of
from postil.data.arrays import WHOLE, AnyArray, Expected
from postil.data.explain import counted
from postil.encoders.endpoint_encoder import (
    TEXTS,
    EncoderEndpoint,
    EncoderFailed,
    EndpointEncoder,
    Fingerprint,
    named_endpoint,
    requests_for,
)
from postil.encoders.sentences import PACKAGE, SentenceEncoder, sentence_encoder, unit_vectors
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.comments.candidate_pool import CandidatePool
    from postil.corpus.passes import OnProgress
    from postil.corpus.store import Corpus
    from postil.data.model_folders import Model, ModelWriter
    from postil.data.progress import OnMessage
    from postil.endpoint.embeddings import EmbeddingRequest

__all__ = [
    "NUMBERS",
    "SentenceVectors",
    "article_text",
    "drop_encoded",
    "encode_model",
    "encode_texts",
    "model_requests",
    "open_sentence_vectors",
]

NUMBERS: Final = ("encoded_article", "encoded_less_hub", "encoded_sources", "encoded_source", "encoded_words")
"""Names of the columns of `SentenceVectors.numbers`."""
SIGNATURE: Final = "encoder"
"""Setting of a model: the signature of its sentence encoder."""
NAME: Final = "encoder_package"
"""Setting of a model: the installed package that is its encoder; empty where the model has a copy, or an endpoint."""
MODEL: Final = "encoder_model"
"""Setting of a model: the name that an endpoint has for its encoder; missing for any other encoder."""
FOLDER: Final = "encoder/model"
"""Folder of the copy of the encoder within a model folder."""
BLOCK: Final = 512
"""Number of texts that are encoded, and kept in case of an interruption, together."""
KEPT: Final = 4096
"""Number of articles whose vectors stay in memory."""
_BLOCKS: Final = "encoded-*.npy"
LONGEST: Final = 1_000
"""Number of characters of an article that an encoder is given: small models read two to four hundred tokens."""


class _Known:
    """Vectors of the articles that were asked for last, shared by the threads of a service."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, NDArray[np.float64]] = OrderedDict()

    def encode(
        self, texts: Sequence[str], encoder: SentenceEncoder, dimensions: int, jobs: int = 1
    ) -> list[NDArray[np.float64]]:
        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        found: dict[bytes, NDArray[np.float64]] = {}
        with self._lock:
            for key in keys:
                if (known := self._vectors.get(key)) is not None:
                    self._vectors.move_to_end(key)
                    found[key] = known
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            vectors = unit_vectors(encoder, list(new.values()), jobs).astype(np.float64)
            if vectors.shape[1] != dimensions:
                problem = f"expected vectors of {dimensions} dimensions, got {vectors.shape[1]}"
                raise InvalidInput(f"{problem}; train or calibrate the model again", where=encoder.name)
            fresh = dict(zip(new, vectors, strict=True))
            found |= fresh
            with self._lock:
                self._vectors.update(fresh)
                while len(self._vectors) > KEPT:
                    self._vectors.popitem(last=False)
        return [found[key] for key in keys]


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """Unit vectors of the articles and comments of a model.

    Args:
        open_encoder: Function that opens the sentence encoder, which takes a second and is seldom needed.
        signature: Signature of the encoder.
        package: The installed package that is the encoder; empty where the model has a copy.
        articles: float16[a, d], of the training articles.
        comments: float16[c, d], of their comments.
        hub: float32[d], the mean of the articles' vectors.
        fingerprint: Fingerprint of an encoder behind an endpoint; None for any other.
    """

    open_encoder: Callable[[], SentenceEncoder]
    signature: str
    package: str
    articles: NDArray[np.float16]
    comments: NDArray[np.float16]
    hub: NDArray[np.float32]
    fingerprint: Fingerprint | None = None
    _known: _Known = field(default_factory=_Known, repr=False)

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The sentence encoder.

        Raises:
            InvalidInput: The model is damaged, or the installed package is not the one that it was made with.
            MissingExtra: The library that runs the encoder is not installed.
            UsageError: The package that is the encoder is not installed, or nobody named the endpoint it is behind.
            EncoderFailed: The endpoint gives no vectors.
        """
        found = self.open_encoder()
        if found.signature != self.signature:
            problem = f"expected the encoder {self.signature}, got {found.signature}"
            raise InvalidInput(f"{problem}; train or calibrate the model again with this one", where=found.name)
        return found

    @classmethod
    def of(
        cls, encoder: SentenceEncoder, articles: NDArray[np.float16], comments: NDArray[np.float16]
    ) -> SentenceVectors:
        """Those of vectors that were encoded.

        Args:
            encoder: The sentence encoder.
            articles: float16[a, d].
            comments: float16[c, d].

        Raises:
            InvalidInput: No article has a vector.
        """
        hub = articles.mean(axis=0, dtype=np.float64).astype(np.float32)
        if not (np.isfinite(hub).all() and hub.any()):
            raise InvalidInput(
                "expected a vector of each article, got none that is finite and not 0", where=encoder.name
            )
        fingerprint = encoder.fingerprint if isinstance(encoder, EndpointEncoder) else None
        return cls(lambda: encoder, encoder.signature, encoder.package, articles, comments, hub, fingerprint)

    def numbers(
        self, title: str, content: str, comments: NDArray[np.int64], sources: NDArray[np.int64], texts: Sequence[str]
    ) -> NDArray[np.float64]:
        """Numbers of an article and m stored comments that tell whether a comment says something on it.

        | column | value |
        |---|---|
        | ``encoded_article`` | cosine of article and comment |
        | ``encoded_less_hub`` | the same less the mean cosine of the comment with all training articles |
        | ``encoded_sources`` | cosine of the article and the one under which the comment was written |
        | ``encoded_source`` | cosine of that one and the comment |
        | ``encoded_words`` | ln(1 + number of words between spaces) |

        Args:
            title: The article's title.
            content: Its content; empty where the model reads titles alone.
            comments: int64[m], the comments.
            sources: int64[m], their articles.
            texts: The m comments.

        Returns:
            float64[m, 5].
        """
        (article,) = self._known.encode([article_text(title, content)], self.encoder, len(self.hub))
        said, read = (np.asarray(part, np.float64) for part in (self.comments[comments], self.articles[sources]))
        near = _dots(said, article)
        words = np.log1p([len(text.split()) for text in texts])
        return np.column_stack([near, near - _dots(said, self.hub), _dots(read, article), _dots(read, said), words])

    def prepare(self, articles: Sequence[str], jobs: int = 1) -> None:
        """Encode articles together that `numbers` will be asked of.

        Args:
            articles: The articles; see `article_text`.
            jobs: Number of threads.
        """
        self._known.encode(articles, self.encoder, len(self.hub), jobs)

    def arrays(self) -> dict[str, AnyArray]:
        """Arrays that a model folder keeps, by name."""
        own = {} if self.fingerprint is None else {"encoder/texts": self.fingerprint.vectors}
        return {"encoder/articles": self.articles, "encoder/comments": self.comments, "encoder/hub": self.hub, **own}

    def settings(self) -> dict[str, object]:
        """Settings that a model keeps."""
        own = {} if self.fingerprint is None else {MODEL: self.fingerprint.model}
        return {SIGNATURE: self.signature, NAME: self.package, **own}

    def save(self, new: ModelWriter) -> None:
        """Write vectors and a copy of the encoder into a model folder in the making.

        Args:
            new: The folder.
        """
        for name, values in self.arrays().items():
            new.array(name, values)
        for name, file in self.encoder.files().items():
            new.write(f"{FOLDER}/{name}", file.read_bytes())

    def opened(self, encoder: SentenceEncoder) -> SentenceVectors:
        """The same vectors with their encoder, which is open already.

        Args:
            encoder: The encoder.
        """
        return replace(self, open_encoder=lambda: encoder)

    def take(self, articles: NDArray[np.int64], comments: NDArray[np.int64]) -> SentenceVectors:
        """The vectors of some articles and comments; the hub stays.

        Args:
            articles: Indices of articles.
            comments: Indices of comments.
        """
        return replace(self, articles=np.asarray(self.articles)[articles], comments=np.asarray(self.comments)[comments])

    def extend(self, articles: NDArray[np.float16], comments: NDArray[np.float16]) -> SentenceVectors:
        """The vectors with those of further articles and comments; the hub stays.

        Args:
            articles: float16[n, d].
            comments: float16[m, d].
        """
        return replace(
            self,
            articles=np.concatenate([self.articles, articles]),
            comments=np.concatenate([self.comments, comments]),
        )


def article_text(title: str, content: str) -> str:
    r"""The beginning of an article that an encoder is given.

    Args:
        title: Its title.
        content: Its content; empty where the model reads titles alone.

    >>> article_text("Rain", "All day.")
    'Rain\nAll day.'
    """
    return text_of(title, content)[:LONGEST]


def encode_texts(
    encoder: SentenceEncoder,
    texts: Sequence[str],
    *,
    folder: Path | None = None,
    jobs: int = 1,
    what: str = "texts",
    on_progress: OnProgress,
) -> NDArray[np.float16]:
    """Encode texts in blocks; those that an interrupted run has encoded are read.

    Args:
        encoder: The sentence encoder.
        texts: n texts.
        folder: Folder that keeps the blocks; None to keep none.
        jobs: Number of threads.
        what: Name of the texts, for progress.
        on_progress: Progress bar.

    Returns:
        float16[n, d], unit vectors; zeros for a text without a word.

    Raises:
        EncoderFailed: The endpoint of the encoder gives no vectors.
    """
    blocks = [texts[at : at + BLOCK] for at in range(0, len(texts), BLOCK)]
    try:
        with on_progress(f"blocks of {what} encoded", blocks, len(blocks)) as stream:
            found = [_block(encoder, block, folder, jobs) for block in stream]
    except EncoderFailed as error:
        if folder is None:
            raise
        kept = "blocks so far are kept, and the same command goes on"
        raise EncoderFailed("{problem}; {kept}", problem=error.message, kept=kept) from error
    return np.concatenate(found) if found else np.zeros((0, unit_vectors(encoder, ["a"]).shape[1]), np.float16)


def encode_model(
    encoder: SentenceEncoder,
    pool: CandidatePool,
    corpus: Corpus,
    *,
    contents: bool,
    folder: Path,
    jobs: int,
    on_message: OnMessage,
    on_progress: OnProgress,
) -> SentenceVectors:
    """Encode the articles and comments of a model.

    Args:
        encoder: The sentence encoder.
        pool: The comments of the model.
        corpus: The corpus that has the texts of its articles.
        contents: True if the model reads contents, not titles alone.
        folder: Folder that keeps what is encoded, so that an interrupted run goes on from there.
        jobs: Number of threads.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Raises:
        InvalidInput: An article of the model is not in the corpus, or no article has a vector.
    """
    read, said = _read(pool, corpus, contents=contents), list(pool.texts)
    work = f"{counted(len(read), 'article')} and {counted(len(said), 'comment')}"
    if isinstance(encoder, EndpointEncoder):
        encoder.fingerprint.keep(folder)
        left = [
            one.estimated_tokens()
            for one in _left(encoder.fingerprint.model, [encoder.signature], (read, said), folder)
        ]
        work += f"; {counted(len(left), 'call')}, about {counted(sum(left), 'token')}"
    on_message(f"encoder {encoder.signature}: {work}")
    articles, comments = (
        encode_texts(encoder, some, folder=folder, jobs=jobs, what=what, on_progress=on_progress)
        for some, what in ((read, "articles"), (said, "comments"))
    )
    return SentenceVectors.of(encoder, articles, comments)


def _read(pool: CandidatePool, corpus: Corpus, *, contents: bool) -> list[str]:
    """The texts of a model's articles, from the corpus that has them."""
    names = list(pool.articles)
    wanted, texts = set(names), {}
    for split in corpus.splits:
        for article in corpus.articles(split):
            if article.id in wanted:
                texts[article.id] = article_text(article.title, article.content or "" if contents else "")
    if lacking := [name for name in names if name not in texts]:
        problem = f"{len(lacking):,} of {len(names):,} articles of the model are not in it, such as {lacking[0]}"
        raise InvalidInput(f"{problem}; name the corpus that the model was trained on", where=str(corpus.path))
    return [texts[name] for name in names]


def model_requests(
    model: str, known: Iterable[Fingerprint], pool: CandidatePool, corpus: Corpus, *, contents: bool, folder: Path
) -> Iterator[EmbeddingRequest]:
    """Requests that `encode_model` would make of an endpoint.

    Args:
        model: The endpoint's name of the encoder.
        known: Fingerprints of the encoder by which blocks may be kept.
        pool: The comments of the model.
        corpus: The corpus that has the texts of its articles.
        contents: True if the model reads contents, not titles alone.
        folder: Folder that keeps what is encoded.

    Raises:
        InvalidInput: An article of the model is not in the corpus.
    """
    texts = (_read(pool, corpus, contents=contents), list(pool.texts))
    yield from _left(model, [each.signature for each in known], texts, folder)


def _left(
    model: str, signatures: Sequence[str], texts: Iterable[Sequence[str]], folder: Path
) -> Iterator[EmbeddingRequest]:
    """Requests for the texts of blocks that are not kept."""
    for some in texts:
        for at in range(0, len(some), BLOCK):
            block = some[at : at + BLOCK]
            if not any((folder / _name(signature, block)).exists() for signature in signatures):
                yield from requests_for(model, block)


def _name(signature: str, texts: Sequence[str]) -> str:
    """Name of the file of a block."""
    digest = hashlib.blake2b(signature.encode("utf-8", "surrogatepass"), digest_size=12)
    for text in texts:
        digest.update(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return _BLOCKS.replace("*", digest.hexdigest())


def _block(encoder: SentenceEncoder, texts: Sequence[str], folder: Path | None, jobs: int) -> NDArray[np.float16]:
    if folder is None:
        return unit_vectors(encoder, texts, jobs)
    file = folder / _name(encoder.signature, texts)
    if file.exists():
        kept: NDArray[np.float16] = np.load(file, allow_pickle=False)
        return kept
    found = unit_vectors(encoder, texts, jobs)
    folder.mkdir(exist_ok=True)
    part = file.with_suffix(".part.npy")
    np.save(part, found, allow_pickle=False)
    part.replace(file)
    return found


def drop_encoded(folder: Path) -> None:
    """Remove the blocks that `encode_texts` has kept.

    Args:
        folder: The folder; it is removed too where nothing else is in it.
    """
    for file in folder.glob(_BLOCKS):
        file.unlink()
    with suppress(OSError):
        folder.rmdir()


def _dots(rows: NDArray[np.float64], others: NDArray[np.floating]) -> NDArray[np.float64]:
    """Dot products of rows with a vector, or with rows, in an order of sums that does not depend on their number."""
    return np.asarray((rows * others).sum(axis=1))


def open_sentence_vectors(
    model: Model, articles: int, comments: int, endpoint: EncoderEndpoint | None = None
) -> SentenceVectors | None:
    """Open the sentence vectors of a model; None for one that has none.

    Args:
        model: The model folder.
        articles: Number of its articles.
        comments: Number of its comments.
        endpoint: The endpoint that its encoder is behind, as the user named it; None where nobody did.

    Raises:
        InvalidInput: The model is damaged.
    """
    if not model.config.get(SIGNATURE):
        return None
    package = model.setting(NAME, str)
    if package and not package.startswith(PACKAGE):
        raise InvalidInput(f"expected {PACKAGE}NAME, got {package}; {WHOLE}", where=str(model.path), field=NAME)
    hub = np.asarray(model.array("encoder/hub", Expected("float32", (None,), low=-1)))
    of_articles, of_comments = (
        np.asarray(model.array(f"encoder/{name}", Expected("float16", (count, len(hub)))))
        for name, count in (("articles", articles), ("comments", comments))
    )
    fingerprint = None
    open_encoder: Callable[[], SentenceEncoder] = partial(sentence_encoder, package or str(model.path / FOLDER))
    if model.config.get(MODEL) is not None:
        texts = np.asarray(model.array("encoder/texts", Expected("float16", (len(TEXTS), len(hub)), low=-1)))
        fingerprint = Fingerprint(model.setting(MODEL, str), texts)
        open_encoder = partial(_behind, endpoint, fingerprint)
    return SentenceVectors(
        open_encoder, model.setting(SIGNATURE, str), package, of_articles, of_comments, hub, fingerprint
    )


def _behind(endpoint: EncoderEndpoint | None, fingerprint: Fingerprint) -> SentenceEncoder:
    return named_endpoint(endpoint, fingerprint.model).open(fingerprint.model, [fingerprint])
