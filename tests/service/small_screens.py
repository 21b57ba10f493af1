"""Screens of workers that start at once: they hold a text by the words of their folder's file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from postil.errors import InvalidInput
from postil.service import operations, screens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.service.config import ServiceConfig

FILE = "small.json"


class Said(msgspec.Struct, frozen=True):
    """Probabilities of a text."""

    probability: float
    decision: Literal["keep", "hold"]
    reasons: Mapping[str, float]
    attributes: Mapping[str, float]


@dataclass(frozen=True)
class SmallScreen:
    """A screen by a list of words for each reason."""

    path: Path
    hash: str
    words: Mapping[str, Sequence[str]]
    attributes: Mapping[str, str]
    languages: tuple[str, ...]
    threshold: float = 0.5

    @classmethod
    def open(cls, folder: str | Path, endpoint: object = None) -> SmallScreen:  # noqa: ARG003
        try:
            content = Path(folder, FILE).read_bytes()
        except OSError:
            raise InvalidInput("no such folder; expected a screen", where=str(folder)) from None
        found = json.loads(content)
        return cls(
            Path(folder),
            hashlib.sha256(content).hexdigest()[:16],
            found["words"],
            found["attributes"],
            tuple(found["languages"]),
        )

    def holding_from(self, threshold: float | None) -> SmallScreen:
        return self if threshold is None else replace(self, threshold=threshold)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self.words)

    def judge(self, texts: Sequence[str], jobs: int = 1) -> list[Said]:  # noqa: ARG002
        return [self.said(text.lower()) for text in texts]

    def said(self, text: str) -> Said:
        found = {reason: 0.9 if any(word in text for word in words) else 0.125 for reason, words in self.words.items()}
        highest = max(found.values())
        scores = {name: found.get(target, highest) for name, target in self.attributes.items()}
        return Said(highest, "hold" if highest >= self.threshold else "keep", found, scores)


INSULTS = {"insult": ["depp", "idiot"], "spam": ["billige-uhren"]}
MAPPED = {"TOXICITY": "hold", "INSULT": "insult", "SPAM": "spam"}


def made_screen(
    folder: Path,
    words: Mapping[str, Sequence[str]] = INSULTS,
    attributes: Mapping[str, str] = MAPPED,
    languages: Sequence[str] = ("de",),
) -> Path:
    """Write a screen."""
    folder.mkdir(parents=True)
    content = {"words": words, "attributes": attributes, "languages": languages}
    (folder / FILE).write_text(json.dumps(content))
    return folder


def open_models(config: ServiceConfig) -> Any:
    """As `postil.service.operations.open_models`, with small screens."""
    screens.Screen = SmallScreen  # type: ignore[misc,assignment]
    return operations.open_models(config)
