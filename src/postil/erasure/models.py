"""Models that comments are erased from: their folders, and the notes of services that serve them.

Of a folder texts, ids, vectors and words that nothing else uses go for good. A service has a model in memory, and
labels with its comments in a store, so who erases comments from the folder must know of both. The note is the file
``.MODEL.served`` beside the folder, which may be replaced while it is served. Each service holds a shared lock of it,
which a killed one releases, and it has a line for each store, which stays. A service that looked at the folder on each
request would answer from memory until it has opened a large model again, and nobody would know of a stopped one's
store.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec
import numpy as np

from postil.comments import neural_commenter
from postil.comments.candidate_pool import retriever_arrays
from postil.comments.neural_commenter import NeuralCommenter
from postil.comments.retrieval import KINDS, Retriever
from postil.comments.sentence_vectors import FOLDER as ENCODER
from postil.corpus.forgotten import Chosen, is_placeholder, placeholder
from postil.data.atomic_file import write_error, writing
from postil.data.model_folders import Change, Model
from postil.encoders.static import open_static
from postil.errors import PostilError, UsageError
from postil.text.tokenizers import stored_tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import WORDS, Vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.comments.text_arrays import StringArray
    from postil.data.streams import FilePath

__all__ = ["AlsoServed", "ErasableModel", "Erased", "ServedModels", "noted", "unserved"]

VECTORS: Final = "vectors"
"""Folder of the ranker's static vectors within a model folder."""


@dataclass(frozen=True, eq=False)
class Erased:
    """A model without some comments, to be written.

    Args:
        change: The changed model.
        comments: Number of comments that are erased.
        articles: Number of articles that are erased.
        words: Number of words of the vocabulary that are erased.
    """

    change: Change
    comments: int
    articles: int
    words: int


@dataclass(frozen=True, eq=False)
class ErasableModel:
    """A model whose comments can be listed and erased; `open` it.

    Args:
        model: Its folder.
        commenter: The commenter; the network of a generator is not loaded.
    """

    KINDS: ClassVar = frozenset((*KINDS, *neural_commenter.KINDS))
    """Kinds of model that it opens."""

    model: Model
    commenter: Retriever | NeuralCommenter

    @classmethod
    def open(cls, folder: FilePath) -> ErasableModel:
        """Open a model.

        Args:
            folder: Its folder.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
            MissingExtra: Its ranker needs torch, which is not installed.
        """
        model = Model.open(folder, cls.KINDS)
        return cls(model, Retriever.open(folder) if model.kind in KINDS else NeuralCommenter(model))

    @property
    def has_network(self) -> bool:
        """True if a network was trained on the comments, whose weights cannot unlearn them."""
        other = (f"{VECTORS}/", f"{ENCODER}/")  # which were there before
        return any(name.endswith(".safetensors") and not name.startswith(other) for name in self.model.files)

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """All comments of the model.

        Yields:
            Ids of the article and of the comment; the comment, empty for a generator, which keeps no texts.
        """
        articles, ids, owners = self._ids()
        names = list(articles)
        texts = self.commenter.pool.texts if isinstance(self.commenter, Retriever) else None
        for at, owner in enumerate(owners.tolist()):
            yield names[owner], ids[at], "" if texts is None else texts[at]

    def articles(self) -> Iterator[str]:
        """Ids of the articles."""
        return iter(self._ids()[0])

    def erased(self, chosen: Chosen, words: Collection[str] = ()) -> Erased:
        """The model without some comments and articles. Parameters of the ranker stay, idf too.

        Args:
            chosen: The comments and articles.
            words: Further words that nothing else than erased comments used, for instance in the corpus.

        Raises:
            UsageError: No article would be left.
        """
        articles, ids, owners = self._ids()
        names = list(articles)
        kept_articles = np.flatnonzero([name not in chosen.articles for name in names])
        if not len(kept_articles):
            raise UsageError(f"{self.model.path}: no article would be left; remove the folder instead")
        stays = np.array(
            [not chosen.has(names[owner], ids[at]) for at, owner in enumerate(owners.tolist())], dtype=bool
        )
        kept, gone = np.flatnonzero(stays), np.flatnonzero(~stays)
        if isinstance(self.commenter, Retriever):
            change, found = self._retriever(self.commenter, kept_articles, kept, gone, words)
        else:
            change, found = self._generator(self.commenter, kept_articles, kept, gone, words)
        if found:
            change = self._without_vectors(change, found)
        return Erased(change, len(gone), len(names) - len(kept_articles), len(found))

    def _ids(self) -> tuple[StringArray, StringArray, NDArray[np.int64]]:
        """Ids of articles, ids of comments, and the place of each comment's article."""
        known = self.commenter.pool if isinstance(self.commenter, Retriever) else self.commenter.copy_index
        return known.articles, known.ids, known.owner(np.arange(len(known.ids)))

    def _retriever(
        self,
        retriever: Retriever,
        articles: NDArray[np.int64],
        kept: NDArray[np.int64],
        gone: NDArray[np.int64],
        words: Collection[str],
    ) -> tuple[Change, list[str]]:
        pool, ranker = retriever.pool, retriever.ranker
        index = retriever.index if len(articles) == len(pool.articles) else retriever.index.take(articles)
        before = retriever_arrays(retriever.index, pool, ranker.arrays())
        sentences = retriever.sentences
        left = pool.take(articles, kept, np.searchsorted(articles, pool.owner(kept))) if len(gone) else pool
        after = retriever_arrays(index, left, (ranker.take(kept) if len(gone) else ranker).arrays())
        if sentences is not None:
            before |= sentences.arrays()
            after |= (
                sentences.take(articles, kept) if len(gone) or len(articles) < len(pool.articles) else sentences
            ).arrays()

        def used() -> Iterator[NDArray[np.int32]]:
            yield np.flatnonzero(index.collection.frequencies).astype(np.int32)
            yield _words_of(ranker.take(kept).arrays())
            yield self._tokens([pool.texts[at] for at in kept.tolist()])

        erased = [self._tokens([pool.texts[at] for at in gone.tolist()]), _words_of(ranker.take(gone).arrays())]
        vanished = np.flatnonzero(index.collection.frequencies < retriever.index.collection.frequencies)
        vocabulary, found = self._scrubbed([*erased, vanished.astype(np.int32)], used, words)
        return Change(self.model, before, after, vocabulary, {"segments": len(index.segments)}), found

    def _generator(
        self,
        generator: NeuralCommenter,
        articles: NDArray[np.int64],
        kept: NDArray[np.int64],
        gone: NDArray[np.int64],
        words: Collection[str],
    ) -> tuple[Change, list[str]]:
        spans = generator.copy_index
        left = spans.take(articles, kept) if len(gone) or len(articles) < len(spans.articles) else spans
        vocabulary, found = self._scrubbed([spans.spans.take(gone).ids], lambda: iter([left.spans.ids]), words)
        return Change(self.model, spans.arrays(), left.arrays(), vocabulary), found

    def _without_vectors(self, change: Change, words: Collection[str]) -> Change:
        """The change with word vectors of the ranker that lack some words, such as vectors trained on the corpus."""
        folder = self.model.path / VECTORS
        if f"{VECTORS}/{WORDS}" not in self.model.files:
            return change
        known = Vectors.open(folder)
        rows = [at for at, word in enumerate(known.words) if word not in words]
        if len(rows) in (0, len(known.words)):
            return change
        metadata = {name: value for name, value in known.metadata.items() if name != "hash"}
        with tempfile.TemporaryDirectory() as part:
            Vectors(tuple(known.words[at] for at in rows), np.asarray(known.array[rows]), metadata).save(part)
            contents = {f"{VECTORS}/{file.name}": file.read_bytes() for file in sorted(Path(part).iterdir())}
            config = {**change.config, "vectors": open_static(part).signature}
        return replace(change, config=config, contents=contents)

    def _tokens(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Distinct words of texts that the model knows."""
        words = self.model.words()
        split = stored_tokenizer(self.model.setting("tokenizer", str))
        ids = np.unique(Vocabulary.of(words).branch().encode(texts, split, allow_han=True).ids)
        return ids[ids < len(words)]

    def _scrubbed(
        self,
        erased: Sequence[NDArray[np.int32]],
        used: Callable[[], Iterator[NDArray[np.int32]]],
        words: Collection[str],
    ) -> tuple[list[str] | None, list[str]]:
        """The vocabulary without words that nothing uses any more, None if all stay; and these words."""
        vocabulary = self.model.words()
        others = {word: at for at, word in enumerate(vocabulary)} if words else {}
        candidates = {*np.concatenate(erased).tolist(), *(others[word] for word in words if word in others)} - {-1}
        candidates = {at for at in candidates if not is_placeholder(vocabulary[at])}
        for some in used() if candidates else ():
            candidates.difference_update(some.tolist())
        found = [vocabulary[at] for at in sorted(candidates)]
        for at in candidates:
            vocabulary[at] = placeholder(at)
        return (vocabulary if candidates else None), found


def _words_of(arrays: dict[str, NDArray[np.generic]]) -> NDArray[np.int32]:
    """Distinct words of the comments that a ranker stores, if it stores their words."""
    return np.unique(np.asarray(arrays.get("words.ids", np.zeros(0)), np.int32))


class AlsoServed(UsageError):  # noqa: N818 - says what is the case
    """Another service has a model in memory from which comments are to be erased."""


class ServedModels:
    """The notes of one service.

    Args:
        store: Folder of its store; None where it stores nothing.
        on_message: Callback for warnings.

    Attributes:
        store: The same without symbolic links; empty for none.
    """

    def __init__(self, store: FilePath | None, on_message: Callable[[str], None] = lambda _: None) -> None:
        self.store = "" if store is None else os.path.realpath(store)
        self._on_message = on_message
        self._files: dict[str, int] = {}

    @contextmanager
    def moving_to(self, folders: Iterable[FilePath]) -> Iterator[None]:
        """Note models before they are opened, and give up those that were served before when the block has ended.

        Args:
            folders: The models; if the block raises, those before are served on.

        Raises:
            UsageError: Comments are being erased from one.
        """
        paths = {os.path.realpath(folder) for folder in folders}
        fresh = paths - self._files.keys()
        try:
            for path in sorted(fresh):
                if (file := self._noted(path)) is not None:
                    self._files[path] = file
            yield
        except BaseException:
            self._give_up(fresh)
            raise
        self._give_up(self._files.keys() - paths)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other services and erasures away from the models while the block runs.

        Raises:
            AlsoServed: Another service serves one.
        """
        try:
            for path, file in self._files.items():
                if not _locked(file, alone=True):
                    problem = "another service serves it, and would go on suggesting what is erased"
                    raise AlsoServed(f"{path}: {problem}; stop that one, and send the request again")
            yield
        finally:
            for path, file in self._files.items():
                if not _locked(file, alone=False):  # the lock was taken while this one changed
                    self._on_message(f"{path}: comments are being erased from it; let this service reload afterwards")

    def close(self) -> None:
        """Give all models up."""
        self._give_up(set(self._files))

    def _noted(self, path: str) -> int | None:
        """The open and locked note of a model; None if none can be made."""
        try:
            file = _open(path)
        except OSError as error:
            self._warn(path, error, "that it is served")
            return None
        if file is None:
            raise UsageError(f"{path}: comments are being erased from it; serve it in a moment")
        try:
            if self.store and self.store not in _stores(file):
                os.write(file, msgspec.json.encode(self.store) + b"\n")
        except OSError as error:
            self._warn(path, error, "where its labels are")
        except BaseException:
            os.close(file)
            raise
        return file

    def _warn(self, path: str, error: OSError, what: str) -> None:
        why = f"postil forget will not know {what}, so erase by POST /v1/forget of this service"
        self._on_message(f"{write_error(str(_note(path)), error)}; {why}")

    def _give_up(self, paths: Collection[str]) -> None:
        for path in set(paths) & self._files.keys():
            os.close(self._files.pop(path))


@contextmanager
def unserved(folder: FilePath) -> Iterator[tuple[str, ...]]:
    """Keep services from opening a model while the block runs.

    Args:
        folder: The model.

    Yields:
        Folders of the stores of services that have served it.

    Raises:
        AlsoServed: A service serves it.
        PostilError: The operating system reports an error.
    """
    path = os.path.realpath(folder)
    with writing(_note(path)):
        file = _open(path, alone=True)
    if file is None:
        how = "erase by its POST /v1/forget, or stop it first"
        raise AlsoServed(f"{folder}: a service that runs serves it, and would go on suggesting what is erased; {how}")
    try:
        yield _stores(file)
    finally:
        if not os.fstat(file).st_size:
            with suppress(OSError):
                _note(path).unlink()
        os.close(file)


def noted(folder: FilePath) -> tuple[tuple[str, ...], bool]:
    """Folders of the stores of services that have served a model, and True if one serves it now.

    Args:
        folder: The model.
    """
    try:
        file = os.open(_note(os.path.realpath(folder)), os.O_RDONLY)
    except OSError:
        return (), False
    try:
        return _stores(file), not _locked(file, alone=True)
    finally:
        os.close(file)


def _note(path: str) -> Path:
    return Path(path).with_name(f".{Path(path).name}.served")


def _open(path: str, *, alone: bool = False) -> int | None:
    """Open the note of a model and lock it, shared or alone; None if another process has a lock that forbids it."""
    while True:
        file = _opened(_note(path))
        try:
            if not _locked(file, alone=alone):
                os.close(file)
                return None
            if os.path.samestat(os.fstat(file), _note(path).stat()):
                return file
        except FileNotFoundError:
            pass  # who locked it before has removed it
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _opened(note: Path) -> int:
    try:
        return os.open(note, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError:
        with suppress(OSError):
            return os.open(note, os.O_RDONLY)  # another user's, or on a read-only file system: enough to lock it
        raise


def _locked(file: int, *, alone: bool) -> bool:
    """Lock a file without waiting; True if that is done. On Windows nothing is locked."""
    if os.name == "posix":
        import fcntl  # noqa: PLC0415 - there is none elsewhere

        try:
            fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _stores(file: int) -> tuple[str, ...]:
    """The stores that a note has."""
    os.lseek(file, 0, os.SEEK_SET)
    content = os.read(file, os.fstat(file).st_size)
    try:
        return tuple(msgspec.json.decode(line, type=str) for line in content.splitlines() if line.strip())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PostilError(f"a note of served models is damaged: {error}; remove the files .MODEL.served") from error
