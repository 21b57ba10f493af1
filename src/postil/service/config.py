"""Configuration of the service: which models it opens, and how suggestions are filtered."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.comments import neural_commenter, retrieval
from postil.comments.blocklist import Blocklist
from postil.comments.filtering import CandidateFilter
from postil.comments.profanity_model import ProfanityFilter  # noqa: TC001 - msgspec reads annotations
from postil.comments.store import Model
from postil.errors import InvalidInput, UsageError
from postil.threads import quality

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

__all__ = ["ServiceConfig"]


class ServiceConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of a worker of the service; JSON.

    Args:
        models: Folders of the models that suggest comments, by name; the first one is the default.
        quality: Folders of the models of comment quality, by name; the first one is the default.
        min_words: Minimum number of words of a suggestion; see `CandidateFilter`.
        max_words: Maximum number of words of a suggestion.
        allow: Kinds of comments that may be suggested, and posted; see `CandidateFilter`.
        blocklist: File of words and phrases that no suggestion and no comment may contain.
        profanity: Filter of profanity: ``list`` or ``model``.
        jobs: Number of threads per request.
        metrics: Specs of metrics that read files or folders and may be asked for, with ``w-`` or without; those that
            read none always may be.
    """

    models: dict[str, str] = {}
    quality: dict[str, str] = {}
    min_words: int = 4
    max_words: int | None = None
    allow: tuple[str, ...] = ()
    blocklist: str | None = None
    profanity: ProfanityFilter = "list"
    jobs: int = 1
    metrics: tuple[str, ...] = ()

    def without_paths(self, text: str) -> str:
        """A message that names models where it named their folders, which are no client's concern.

        Args:
            text: The message.

        >>> ServiceConfig(models={"news": "/srv/m"}).without_paths("/srv/m/model.json: no such file")
        'model news: no such file'
        """
        names = {folder: name for group in (self.models, self.quality) for name, folder in group.items()}
        names = {os.path.realpath(folder): name for folder, name in names.items()} | names
        for path in sorted(names, key=len, reverse=True):
            named = f"model {names[path]}".replace("\\", r"\\")
            text = re.sub(rf"{re.escape(path)}(/[^\s:,;]+)?", named, text)
        return text

    @classmethod
    def of_folders(cls, folders: Sequence[str]) -> Self:
        """Name the models of a command, and tell models that suggest from models of quality.

        A folder is opened when the service starts, and again when it reloads: a symbolic link may then lead elsewhere.

        Args:
            folders: ``NAME=DIR`` or ``DIR``, which is named as its last part.

        Raises:
            UsageError: Two models have one name, a name is empty, or there is no model.
            InvalidInput: A folder holds no model.
        """
        found: dict[str, dict[str, str]] = {"models": {}, "quality": {}}
        for word in folders:
            name, equals, folder = word.partition("=")
            if not equals or os.sep in name:  # a folder may have = in its name
                folder, name = word, Path(word).absolute().name
            if not name or not folder:
                raise UsageError(f"expected a model as NAME=DIR or DIR, got '{word}'")
            if name in found["models"] or name in found["quality"]:
                raise UsageError(f"two models are named '{name}'; name one of them otherwise: NAME=DIR")
            kinds = (*retrieval.KINDS, *neural_commenter.KINDS, quality.KIND)
            kind = Model.open(folder, kinds).kind
            found["quality" if kind == quality.KIND else "models"][name] = str(Path(folder).absolute())
        if not folders:
            raise UsageError("expected at least one model: NAME=DIR or DIR")
        return cls(models=found["models"], quality=found["quality"])

    def encoded(self) -> bytes:
        """The JSON that `decoded` reads."""
        return msgspec.json.encode(self)

    @classmethod
    def decoded(cls, data: bytes) -> Self:
        """Read what `encoded` wrote.

        Args:
            data: The JSON.

        Raises:
            InvalidInput: It is something else.
        """
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"expected a configuration of the service: {error}") from error

    def candidate_filter(self) -> CandidateFilter:
        """The filter of suggestions; every request is a run of its own, so that no text was suggested before.

        Raises:
            InvalidInput: The blocklist cannot be read.
            UsageError: A setting is out of range.
        """
        return CandidateFilter(
            min_words=self.min_words,
            max_words=self.max_words,
            allow=self.allow,
            blocklist=None if self.blocklist is None else Blocklist.read(self.blocklist),
            repeat=0,
            profanity=self.profanity,
        )
