"""Metrics against people.

Two functions bear the name of their module, and are to be had there: `postil.metaeval.agreement.agreement` and
`postil.metaeval.human.human`.
"""

from __future__ import annotations

from postil.metaeval.agreement import STATISTICS, Agreement, PairAgreement
from postil.metaeval.coefficients import COEFFICIENTS, Coefficient
from postil.metaeval.correlation import Absent, Correlation, Correlations, correlations
from postil.metaeval.disagreement import Disagreement, normalised, worst, worst_against_people
from postil.metaeval.gain import (
    GainCurve,
    expected_gains,
    gain_curve,
    gain_differences,
    normalized_gains,
)
from postil.metaeval.human import Human, ceiling
from postil.metaeval.raters import Rater
from postil.metaeval.replicates import LEVELS, By, Replicates, replicate
from postil.metaeval.resampling import Estimate, Interval
from postil.metaeval.score_matrix import Ratings
from postil.metaeval.significance import Difference, Differences, differences, holm
from postil.metaeval.systems import Compared, Comparison, SystemMeans, compare, system_means
from postil.metaeval.table import LeftOut, Table, join
from postil.metaeval.williams import Williams, williams

__all__ = [
    "COEFFICIENTS",
    "LEVELS",
    "STATISTICS",
    "Absent",
    "Agreement",
    "By",
    "Coefficient",
    "Compared",
    "Comparison",
    "Correlation",
    "Correlations",
    "Difference",
    "Differences",
    "Disagreement",
    "Estimate",
    "GainCurve",
    "Human",
    "Interval",
    "LeftOut",
    "PairAgreement",
    "Rater",
    "Ratings",
    "Replicates",
    "SystemMeans",
    "Table",
    "Williams",
    "ceiling",
    "compare",
    "correlations",
    "differences",
    "expected_gains",
    "gain_curve",
    "gain_differences",
    "holm",
    "join",
    "normalised",
    "normalized_gains",
    "replicate",
    "system_means",
    "williams",
    "worst",
    "worst_against_people",
]
