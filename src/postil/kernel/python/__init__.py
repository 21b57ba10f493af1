"""The pure-Python kernel: the definition of what the compiled kernel computes."""

from __future__ import annotations

from postil.kernel.python.accuracy import both_right, calibrate, right_pairs
from postil.kernel.python.bleu import bleu_score, bleu_stats
from postil.kernel.python.cider import Grams, cider, count_grams, load_grams
from postil.kernel.python.interning import Interner
from postil.kernel.python.meteor import meteor
from postil.kernel.python.objects import plain_objects
from postil.kernel.python.orders import order_counts
from postil.kernel.python.overlap import Overlap, overlap
from postil.kernel.python.ranks import rank_correlations
from postil.kernel.python.rouge import lcs_lengths, ngram_matches, rouge_l, rouge_n, union_lcs
from postil.kernel.python.search import Searcher, count_terms, invert, search_bounds, searcher
from postil.kernel.python.softmax import highest, log_sums
from postil.kernel.python.trees import tree_sums
from postil.kernel.python.units import count_units, pooled_scores
from postil.kernel.python.vectors import greedy_matches

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
