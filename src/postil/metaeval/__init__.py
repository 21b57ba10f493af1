"""Meta-evaluation: metrics against human ratings, and agreement of the ratings.

`postil.metaeval.agreement.agreement` bears the name of its module, so it is not among the names here.
"""

from __future__ import annotations

from postil.metaeval.alternative_annotator import alternative_annotator_test
from postil.metaeval.calibration import calibrations
from postil.metaeval.correlation import Correlations, correlations
from postil.metaeval.disagreement import normalised, worst, worst_against_people
from postil.metaeval.gain import (
    GainCurve,
    expected_gains,
    gain_curve,
    gain_differences,
    normalized_gains,
)
from postil.metaeval.grade_mapping import MappedGrades, map_to_grades
from postil.metaeval.human import ceiling, human_agreement
from postil.metaeval.replicates import Replicates
from postil.metaeval.resampling import Draws, Interval
from postil.metaeval.score_matrix import Ratings
from postil.metaeval.significance import Differences, differences, holm
from postil.metaeval.systems import SystemMeans, compare, system_means
from postil.metaeval.table import Table, join
from postil.metaeval.williams import Williams, williams
from postil.records.coefficients import LEVELS, By, Measure

__all__ = [
    "LEVELS",
    "By",
    "Correlations",
    "Differences",
    "Draws",
    "GainCurve",
    "Interval",
    "MappedGrades",
    "Measure",
    "Ratings",
    "Replicates",
    "SystemMeans",
    "Table",
    "Williams",
    "alternative_annotator_test",
    "calibrations",
    "ceiling",
    "compare",
    "correlations",
    "differences",
    "expected_gains",
    "gain_curve",
    "gain_differences",
    "holm",
    "human_agreement",
    "join",
    "map_to_grades",
    "normalised",
    "normalized_gains",
    "system_means",
    "williams",
    "worst",
    "worst_against_people",
]
