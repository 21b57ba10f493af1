"""The end of a request whose sentence encoder gives no vectors: the log has the reason, and clients no host.

Nothing is answered without vectors: the ranker's own order is not what an editor calibrated, and a list without
probabilities would pass for one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from postil.messages import spoken
from postil.web.error_log import Seldom, unbroken
from postil.web.problems import Problem

if TYPE_CHECKING:
    from postil.encoders.endpoint_encoder import EncoderFailed

__all__ = ["no_vectors"]

_TELL: Final = Seldom(unbroken(lambda text: sys.stderr.write(f"{text}\n")))


def no_vectors(what: str, error: EncoderFailed) -> Problem:
    """The problem that clients hear where an encoder gives no vectors; the log gets the reason, which names the host.

    Args:
        what: The model or screen.
        error: The failure.
    """
    _TELL(f"{what}: {spoken(error.message)}")
    why = "its sentence encoder gives no vectors; the log of this service says why"
    return Problem(502, f"{what}: {why}; try again later")
