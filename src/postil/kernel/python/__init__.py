"""The pure-Python kernel: the definition of what the compiled kernel computes."""

from __future__ import annotations

from postil.kernel.python.checks import plain_objects
from postil.kernel.python.interning import Interner
from postil.kernel.python.meta import both_right, calibrate, order_counts, rank_correlations, right_pairs
from postil.kernel.python.meteor import meteor
from postil.kernel.python.models import greedy_matches, highest, log_sums, tree_sums
from postil.kernel.python.overlap import (
    Grams,
    Overlap,
    bleu_score,
    bleu_stats,
    cider,
    count_grams,
    lcs_lengths,
    load_grams,
    ngram_matches,
    overlap,
    rouge_l,
    rouge_n,
    union_lcs,
)
from postil.kernel.python.search import Searcher, count_terms, invert, search_bounds, searcher
from postil.kernel.python.units import count_units, pooled_scores

__all__ = [
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
