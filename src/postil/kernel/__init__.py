"""The kernel: the loops that must be fast, compiled from C++, and a pure-Python reference with the same functions.

The compiled kernel is used where it was built. ``POSTIL_KERNEL=python`` in the environment asks for pure Python,
``POSTIL_KERNEL=compiled`` makes its absence an error. The pure-Python kernel is the definition of what is computed.
Integers agree bit for bit, scores to 1e-12, the single precision of `log_sums` to a millionth.

Shapes, for n candidates, m references, k items:

- ``ids int32[T]`` and ``offsets int64[n + 1]``: ragged texts, text i is ``ids[offsets[i]:offsets[i + 1]]``.
- ``sets int32[n]``: index of the set of references that a candidate is scored against.
- ``set_offsets int64[k + 1]``: set s is the references ``set_offsets[s]:set_offsets[s + 1]``.
- ``weights float64[m]``: a weight for every reference.
"""

# ruff: noqa: TC004 - what is public are the functions of the kernel that is chosen

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import ModuleType

    from postil.kernel.python import (
        Grams,
        Interner,
        Overlap,
        Searcher,
        bleu_score,
        bleu_stats,
        both_right,
        calibrate,
        cider,
        count_grams,
        count_terms,
        count_units,
        greedy_matches,
        highest,
        invert,
        lcs_lengths,
        load_grams,
        log_sums,
        meteor,
        ngram_matches,
        order_counts,
        overlap,
        plain_objects,
        pooled_scores,
        rank_correlations,
        right_pairs,
        rouge_l,
        rouge_n,
        search_bounds,
        searcher,
        tree_sums,
        union_lcs,
    )

__all__ = [
    "NAME",
    "Grams",
    "Interner",
    "Overlap",
    "Searcher",
    "bleu_score",
    "bleu_stats",
    "both_right",
    "calibrate",
    "cider",
    "count_grams",
    "count_terms",
    "count_units",
    "greedy_matches",
    "highest",
    "invert",
    "lcs_lengths",
    "load_grams",
    "log_sums",
    "meteor",
    "ngram_matches",
    "order_counts",
    "overlap",
    "plain_objects",
    "pooled_scores",
    "rank_correlations",
    "right_pairs",
    "rouge_l",
    "rouge_n",
    "search_bounds",
    "searcher",
    "tree_sums",
    "union_lcs",
]


def _choose(wish: str) -> ModuleType:
    if wish != "python":
        try:
            return importlib.import_module("postil.kernel._compiled")
        except ImportError:
            if wish == "compiled":
                raise
    return importlib.import_module("postil.kernel.python")


_chosen: Final = _choose(os.environ.get("POSTIL_KERNEL", ""))
NAME: Final = "compiled" if _chosen.__name__.endswith("._compiled") else "python"
"""Name of the kernel in use: ``compiled`` or ``python``."""

if not TYPE_CHECKING:
    globals().update({name: getattr(_chosen, name) for name in __all__ if name != "NAME"})
