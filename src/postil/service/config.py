"""Configuration of the workers of the service, which the options of `postil serve` make."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from postil.comments import neural_commenter, retrieval
from postil.data.model_folders import Model
from postil.errors import UsageError
from postil.messages import Blank, Setting
from postil.metrics.spec import parse_metric
from postil.screening.filtering import CandidateFilter
from postil.screening.reasons import Blocklist
from postil.service.options import ServiceOptions
from postil.service.screens import check_screen
from postil.threads import quality

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ServiceConfig"]

DEFAULTS: Final = ServiceOptions()


@dataclass(frozen=True, kw_only=True)
class ServiceConfig:
    """Configuration of a worker of the service.

    Args:
        models: Folders of the models that suggest comments, by name; the first one is the default.
        quality: Folders of the models of comment quality, by name; the first one is the default.
        screens: Folders of the screens, by name, in the order in which they are asked.
        options: Options of the command.
    """

    models: Mapping[str, str] = field(default_factory=dict)
    quality: Mapping[str, str] = field(default_factory=dict)
    screens: Mapping[str, str] = field(default_factory=dict)
    options: ServiceOptions = DEFAULTS

    @property
    def kept(self) -> tuple[str, ...]:
        """Folders that keep something of comments, from which those can be erased."""
        return (*self.models.values(), *self.screens.values())

    def without_paths(self, text: str) -> str:
        """A message that names models where it named their folders, which are no client's concern.

        Args:
            text: The message.

        >>> ServiceConfig(models={"news": "/srv/m"}).without_paths("/srv/m/model.json: no such file")
        'model news: no such file'
        """
        names = {folder: name for group in (self.models, self.quality, self.screens) for name, folder in group.items()}
        names = {os.path.realpath(folder): name for folder, name in names.items()} | names
        for path in sorted(names, key=len, reverse=True):
            named = f"model {names[path]}".replace("\\", r"\\")
            text = re.sub(rf"{re.escape(path)}(/[^\s:,;]+)?", named, text)
        return text

    @classmethod
    def of_folders(cls, folders: Sequence[str], options: ServiceOptions = DEFAULTS) -> Self:
        """Name the models of a command, tell models that suggest from models of quality, and check the options.

        A folder is opened when the service starts, and again when it reloads: a symbolic link may then lead elsewhere.

        Args:
            folders: ``NAME=DIR`` or ``DIR``, which is named as its last part.
            options: Options of the command, with the screens.

        Raises:
            UsageError: Two models have one name, a name is empty, there is no model, a setting is out of range, or a
                metric is none.
            InvalidInput: A folder holds no model or no screen, or the blocklist cannot be read.
        """
        found: dict[str, dict[str, str]] = {"models": {}, "quality": {}, "screens": {}}
        named: set[str] = set()
        for word in folders:
            name, folder = _named(word, named)
            kinds = (*retrieval.KINDS, *neural_commenter.KINDS, quality.KIND)
            kind = Model.open(folder, kinds).kind
            found["quality" if kind == quality.KIND else "models"][name] = str(Path(folder).absolute())
        for word in options.screens:
            name, folder = _named(word, named)
            check_screen(folder)
            found["screens"][name] = str(Path(folder).absolute())
        if not named:
            raise UsageError(
                "expected at least one model: NAME=DIR or DIR; or a screen: {screen}",
                screen=Setting("screens", Blank("DIR")),
            )
        for spec in options.metrics:
            parse_metric(spec)
        if options.encoder is not None:
            chosen = [*found["models"].values(), *found["screens"].values()]
            retrieval.check_endpoint(", ".join((*folders, *options.screens)), map(Model.open, chosen))
        config = cls(options=options, **found)
        config.candidate_filter()  # checks its options
        return config

    def candidate_filter(self) -> CandidateFilter:
        """The filter of suggestions; every request is a run of its own, so that no text was suggested before.

        Raises:
            InvalidInput: The blocklist cannot be read.
            UsageError: A setting is out of range.
        """
        return CandidateFilter(
            min_words=self.options.min_words,
            max_words=self.options.max_words,
            allow=self.options.allow,
            blocklist=None if self.options.blocklist is None else Blocklist.read(self.options.blocklist),
            repeat=0,
            profanity=self.options.profanity,
        )


def _named(word: str, taken: set[str]) -> tuple[str, str]:
    """Name and folder of a word of the command; the name is then taken."""
    name, equals, folder = word.partition("=")
    if not equals or os.sep in name:  # a folder may have = in its name
        folder, name = word, Path(word).absolute().name
    if not name or not folder:
        raise UsageError(f"expected a model as NAME=DIR or DIR, got '{word}'")
    if name in taken:
        raise UsageError(f"two models are named '{name}'; name one of them otherwise: NAME=DIR")
    taken.add(name)
    return name, folder
