"""The screens of a service: which of them answers for an attribute of Perspective, or for a language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.errors import UnknownName, UsageError
from postil.screening.model import Screen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Self

    from postil.screening.model import Screened

__all__ = ["KIND", "WHATEVER", "OpenScreen", "Screens", "check_screen"]

KIND: Final = "screen"
"""Kind of a screen in the list of models."""

WHATEVER: Final = "hold"
"""Value of `Screen.attributes` for the decision itself, whatever its reason."""


@dataclass(frozen=True)
class OpenScreen:
    """A screen.

    Args:
        name: Its name in requests.
        screen: The screen.
    """

    name: str
    screen: Screen

    @property
    def attributes(self) -> dict[str, str | None]:
        """Attributes that it answers: the reason of each; None where whatever reason counts."""
        found = {name: None if of == WHATEVER else of for name, of in self.screen.attributes.items()}
        return {name: reason for name, reason in found.items() if reason is None or reason in self.screen.reasons}

    def score(self, attribute: str, screened: Screened) -> float:
        """The probability of an attribute that it answers.

        Args:
            attribute: The attribute.
            screened: What it has said of a text.
        """
        reason = self.attributes[attribute]
        return screened.probability if reason is None else screened.reasons[reason]


@dataclass(frozen=True)
class Screens:
    """The screens of a service, in the order in which they are asked.

    Args:
        known: The screens by name.
        any_language: True to answer for languages that a screen did not learn from.
        jobs: Number of threads per request.
    """

    known: Mapping[str, OpenScreen]
    any_language: bool = False
    jobs: int = 1

    @classmethod
    def open(cls, folders: Mapping[str, str], *, any_language: bool, jobs: int) -> Self:
        """Open screens.

        Args:
            folders: Their folders by name.
            any_language: True to answer for languages that a screen did not learn from.
            jobs: Number of threads per request.

        Raises:
            InvalidInput: A folder holds no screen, or it is damaged.
            MissingExtra: A screen needs what is not installed.
        """
        found = {name: OpenScreen(name, Screen.open(folder)) for name, folder in folders.items()}
        return cls(found, any_language, jobs)

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes that are answered, in alphabetical order."""
        return tuple(sorted({name for one in self.known.values() for name in one.attributes}))

    @property
    def tells_languages(self) -> bool:
        """True if an answer depends on the language of a text."""
        return not self.any_language and any(one.screen.languages for one in self.known.values())

    def answering(self, attribute: str, languages: Collection[str]) -> OpenScreen | None:
        """The first screen that answers an attribute in some languages; None where there is none.

        Args:
            attribute: The attribute.
            languages: BCP 47 tags; empty where the language is not known.
        """
        there = (one for one in self.known.values() if attribute in one.attributes)
        return next((one for one in there if self._learned(one, languages)), None)

    def named(self, name: str | None, languages: Collection[str]) -> OpenScreen | None:
        """A screen by its name, or the first one that has learned from some languages; None where there is none.

        Args:
            name: The name; None for the first one.
            languages: BCP 47 tags; empty where the language is not known.

        Raises:
            UnknownName: There is none of this name.
            UsageError: It is named, and there is no screen at all.
        """
        if name is None:
            return next((one for one in self.known.values() if self._learned(one, languages)), None)
        if not self.known:
            raise UsageError("screen: this service has no screen; see GET /v1/models")
        UnknownName.check("screen", name, self.known)
        return self.known[name]

    def _learned(self, one: OpenScreen, languages: Collection[str]) -> bool:
        if self.any_language or not one.screen.languages:
            return True
        learned = {_primary(each) for each in one.screen.languages}
        return all(_primary(each) in learned for each in languages)


def _primary(language: str) -> str:
    return re.split("[-_]", language.strip().lower())[0]


def check_screen(folder: str) -> None:
    """Check that a folder holds a screen.

    Args:
        folder: The folder.

    Raises:
        InvalidInput: It holds none, or it is damaged.
        MissingExtra: The screen needs what is not installed.
    """
    Screen.open(folder)
