"""Advice where pairs have no verdict."""

from __future__ import annotations

from typing import Final

from postil.messages import Blank, Message, Setting

__all__ = ["ADVICE"]

_TOKENS: Final = Setting("answer_tokens", Blank("N"))
_PROMPT: Final = Setting("prompt", Blank("FILE"))

ADVICE: Final = {
    "cut": Message("{tokens} lets answers be longer", tokens=_TOKENS),
    "empty": Message("{tokens} leaves room for an answer", tokens=_TOKENS),
    "failed": Message("with {cache}, the same run again asks for these alone", cache=Setting("cache", Blank("DIR"))),
    "filtered": Message("another {endpoint} may have no such filter", endpoint=Setting("endpoint")),
    "refused": Message("{prompt} asks in other words", prompt=_PROMPT),
    "unreadable": Message(
        "{prompt} asks in other words, and {samples} more often", samples=Setting("samples", Blank("N")), prompt=_PROMPT
    ),
}
"""Advice by the reason; see `postil.judging.result.WithoutGrade`."""
