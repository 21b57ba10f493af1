"""Choices and defaults of statistics that options name, apart from the statistics so that help does without them."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

__all__ = ["PENALTY", "RULES", "Rule"]

Rule: TypeAlias = Literal["auto", "remove", "keep"]
"""Rule for severities: remove them, keep them, or remove them where they are significant."""

RULES: Final[tuple[Rule, ...]] = get_args(Rule)
"""The rules."""

PENALTY: Final = 0.01
"""Default ridge penalty, for columns of standard deviation 1 and a mean squared error."""
