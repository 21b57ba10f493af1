"""Data models and their files: rows, results, the scale of grades, rankings, JSON Lines and Parquet."""

from __future__ import annotations

from postil.records.conversion import convert
from postil.records.ranking import Ranking, best_first
from postil.records.reading import Reading
from postil.records.row_files import Rows, Writer, read, write
from postil.records.row_locations import RowLocations
from postil.records.rows import (
    Article,
    Candidate,
    Comment,
    Judgement,
    Passage,
    Rating,
    Reference,
    Row,
    Score,
    TopicArticle,
)
from postil.records.scale import Scale
from postil.records.weights import METHODS, Method, default_method, weigh

__all__ = [
    "METHODS",
    "Article",
    "Candidate",
    "Comment",
    "Judgement",
    "Method",
    "Passage",
    "Ranking",
    "Rating",
    "Reading",
    "Reference",
    "Row",
    "RowLocations",
    "Rows",
    "Scale",
    "Score",
    "TopicArticle",
    "Writer",
    "best_first",
    "convert",
    "default_method",
    "read",
    "weigh",
    "write",
]
