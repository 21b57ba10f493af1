"""The screens of a service: which of them answers for an attribute of Perspective, or for a language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from postil.encoders.endpoint_encoder import EncoderFailed
from postil.errors import InvalidInput, PostilError, UnknownName, UsageError
from postil.messages import INTERFACE
from postil.screening.model import Screen
from postil.service.encoding import no_vectors
from postil.text.languages import detect_language, primary_language

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Self

    from postil.encoders.endpoint_encoder import EncoderEndpoint
    from postil.screening.model import Screened

__all__ = ["OpenScreen", "Screens", "check_screen"]


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
    def reasons(self) -> dict[str, str | None]:
        """The reason that each attribute stands for; None where it stands for several, or for whatever one."""
        known = self.screen.reasons
        return {name: target if target in known else None for name, target in self.screen.attributes.items()}

    def judge(self, texts: Sequence[str], jobs: int = 1) -> list[Screened]:
        """Tell what moderators would do with texts; damage to the screen is no fault of the request.

        Args:
            texts: The texts, without mark-up.
            jobs: Number of threads.

        Raises:
            PostilError: The screen is damaged.
            Problem: The endpoint of its sentence encoder gives no vectors.
        """
        try:
            return self.screen.judge(texts, jobs)
        except EncoderFailed as error:
            raise no_vectors(f"screen {self.name}", error) from error
        except InvalidInput as error:
            problem = error.words(INTERFACE.get()).replace(str(self.screen.path), "")
            raise PostilError(f"screen {self.name}: {problem}") from error


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
    def open(
        cls,
        folders: Mapping[str, str],
        *,
        any_language: bool,
        jobs: int,
        endpoint: EncoderEndpoint | None = None,
        threshold: float | None = None,
    ) -> Self:
        """Open screens, and read a text with each, so that the first request is not slower.

        Args:
            folders: Their folders by name.
            any_language: True to answer for languages that a screen did not learn from.
            jobs: Number of threads per request.
            endpoint: The endpoint that sentence encoders are behind.
            threshold: Probability from which they hold a text; None for that of each.

        Raises:
            InvalidInput: A folder holds no screen, or it is damaged.
            MissingExtra: A screen needs what is not installed.
            UsageError: A sentence encoder is behind an endpoint that is not named, or not installed.
            PostilError: The endpoint of a sentence encoder gives no vectors.
        """
        opened = {name: Screen.open(folder, endpoint).holding_from(threshold) for name, folder in folders.items()}
        known = {name: OpenScreen(name, screen) for name, screen in opened.items()}
        for one in known.values():
            one.screen.judge(["comment"])
        found = cls(known, any_language, jobs)
        if found.tells_languages:
            detect_language("a comment in a language")  # which takes half a second the first time
        return found

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes that are answered, in alphabetical order."""
        return tuple(sorted({name for one in self.known.values() for name in one.screen.attributes}))

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
        there = (one for one in self.known.values() if attribute in one.screen.attributes)
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
        learned = {primary_language(each) for each in one.screen.languages}
        return all(primary_language(each) in learned for each in languages)


def check_screen(folder: str) -> None:
    """Check that a folder holds a screen.

    Args:
        folder: The folder.

    Raises:
        InvalidInput: It holds none, or it is damaged.
        MissingExtra: The screen needs what is not installed.
    """
    Screen.open(folder)
