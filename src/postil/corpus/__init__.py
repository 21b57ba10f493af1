"""Collections: other people's files as rows."""

from __future__ import annotations

from postil.corpus.passage_duplicates import CHARACTERS, Merged, merge_duplicates

__all__ = ["CHARACTERS", "Merged", "merge_duplicates"]
