"""Language models as judges: prompts with graded examples, and grades read from probabilities or samples."""

from postil.judges.grades import expected_grade, read_grade
from postil.judges.judge import Graded, Judge, JudgeSpec, Trial, Ungraded
from postil.judges.prompt import Anchor, ArticleText, Case, Template

__all__ = [
    "Anchor",
    "ArticleText",
    "Case",
    "Graded",
    "Judge",
    "JudgeSpec",
    "Template",
    "Trial",
    "Ungraded",
    "expected_grade",
    "read_grade",
]
