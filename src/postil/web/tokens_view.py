"""View of the tokens of the service: one row per token."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from postil.results.formats import counted
from postil.results.table import Count, Name, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from postil.web.result import TokensResult

__all__ = ["view"]


def view(result: TokensResult) -> View:
    """Make the view of a file of tokens.

    Args:
        result: The tokens.
    """
    table = Table(
        key="tokens",
        rows=result.tokens,
        columns=(
            Name("token", "name"),
            Text("state", "state"),
            Text("scopes", lambda one: ", ".join(one.scopes)),
            Count("requests per minute", "rate", none="", dash=""),
            Text("created", "created"),
            Text("expires", "expires", none="", dash=""),
        ),
    )
    states = Counter(one.state for one in result.tokens)
    rest = [f"{states[state]} {state}" for state in ("expired", "revoked") if states[state]]
    return View(line=", ".join([counted(len(result.tokens), "token"), *rest]), rows=result.tokens, grids=[table])
