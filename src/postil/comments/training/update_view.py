"""View of an update: one row per kind of addition."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from postil.messages import Message, Setting
from postil.results.formats import counted
from postil.results.table import Count, Name, Table
from postil.results.views import View

if TYPE_CHECKING:
    from postil.comments.training.result import UpdateResult

__all__ = ["view"]


def view(result: UpdateResult) -> View:
    """Make the view of an update.

    Args:
        result: The result of an update.
    """
    sizes = [
        ("articles", result.articles, result.total_articles),
        ("comments", result.comments, result.total_comments),
    ]
    columns = (Name("", itemgetter(0)), Count("added", itemgetter(1)), Count("in the model", itemgetter(2)))
    remarks: list[str] = [f"ranker {result.ranker} kept: trained on {counted(result.ranker_articles, 'article')}"]
    if result.updated:
        remarks.append(f"{counted(result.updated, 'comment')} replaced by one with the same id")
    if result.kept_out:
        remarks.append(f"{counted(result.kept_out, 'comment')} left out: forgotten earlier")
    if result.held_out:
        comments = counted(result.held_out, "held-out comment")
        test = Setting("test", 0)
        remarks.append(
            Message("{comments} of test left out; build with {test} to add them", comments=comments, test=test)
        )
    return View(
        line=f"{counted(result.articles, 'article')} and {counted(result.comments, 'comment')} added",
        rows=[result],
        grids=[Table(key="update", rows=sizes, columns=columns)],
        remarks=remarks,
    )
