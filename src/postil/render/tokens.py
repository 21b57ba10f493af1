"""View of the tokens of the service: one row per token."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from postil.render.formats import counted
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import TokensResult

__all__ = ["summary", "view"]


def view(result: TokensResult) -> View:
    """Make the view of a file of tokens.

    Args:
        result: The tokens.
    """
    rows = [{**msgspec.structs.asdict(one), "scopes": list(one.scopes)} for one in result.tokens]
    grid = [["token", "state", "scopes", "requests per minute", "created", "expires"]]
    grid += [
        [
            one.name,
            one.state,
            ", ".join(one.scopes),
            "" if one.rate is None else f"{one.rate:,}",
            one.created,
            one.expires or "",
        ]
        for one in result.tokens
    ]
    return View(rows=rows, grids=[grid])


def summary(result: TokensResult) -> str:
    """Number of tokens, and of those that are not valid.

    Args:
        result: The tokens.
    """
    states = Counter(one.state for one in result.tokens)
    rest = [f"{states[state]} {state}" for state in ("expired", "revoked") if states[state]]
    return ", ".join([counted(len(result.tokens), "token"), *rest])
