"""Weightings of words that articles are retrieved by, apart from the index so that help does without it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

__all__ = ["IDF", "WEIGHTINGS", "Idf", "Weighting"]

Weighting: TypeAlias = Literal["tf-idf", "bm25"]
Idf: TypeAlias = Literal["plain", "smooth"]

WEIGHTINGS: Final[tuple[Weighting, ...]] = get_args(Weighting)
IDF: Final[tuple[Idf, ...]] = get_args(Idf)
