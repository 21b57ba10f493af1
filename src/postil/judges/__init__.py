"""Language models as judges: prompts with graded examples, and grades read from probabilities or samples."""

from postil.judges.grades import expected_grade, read_grade
from postil.judges.judge import ANSWER_TOKENS, Graded, Judge, JudgeSpec, NoGrade, Trial, Ungraded
from postil.judges.prompt import Anchor, ArticleText, Case, Template

__all__ = [
    "ANSWER_TOKENS",
    "Anchor",
    "ArticleText",
    "Case",
    "Graded",
    "Judge",
    "JudgeSpec",
    "NoGrade",
    "Template",
    "Trial",
    "Ungraded",
    "expected_grade",
    "read_grade",
]
