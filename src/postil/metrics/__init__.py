"""Metrics of candidates against graded references; :mod:`postil.metrics.spec` is the one table of names."""

from __future__ import annotations

from postil.metrics.background import DocumentFrequencies
from postil.metrics.base import Metric, Scorer
from postil.metrics.bleu import Bleu, DeltaBleu
from postil.metrics.chrf import Chrf
from postil.metrics.cider import Cider, CiderD
from postil.metrics.meteor import Meteor
from postil.metrics.references import Matches, References
from postil.metrics.rouge import RougeL, RougeLsum, RougeN
from postil.metrics.spec import METRICS, parse_metric

__all__ = [
    "METRICS",
    "Bleu",
    "Chrf",
    "Cider",
    "CiderD",
    "DeltaBleu",
    "DocumentFrequencies",
    "Matches",
    "Meteor",
    "Metric",
    "References",
    "RougeL",
    "RougeLsum",
    "RougeN",
    "Scorer",
    "parse_metric",
]
