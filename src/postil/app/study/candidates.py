"""What systems that were run elsewhere say of a study's articles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.errors import InvalidInput, UsageError
from postil.records.row_files import read
from postil.records.rows import Candidate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from postil.app.progress import Say
    from postil.records.rows import Article

__all__ = ["read_given"]


def read_given(path: str, articles: Sequence[Article], names: Collection[str], say: Say) -> dict[str, list[Candidate]]:
    """The candidates of a file, system by system, in the order of the articles.

    Args:
        path: Candidate rows.
        articles: The articles of the study; rows of others are passed over, and counted in words.
        names: The commenters that the study has already.
        say: Takes remarks for people.

    Raises:
        InvalidInput: A row is broken, or a system says nothing or two things of an article.
        UsageError: A system has the name of a commenter.
    """
    wanted = {article.id for article in articles}
    texts: dict[str, dict[str, Candidate]] = {}
    others = 0
    for line, row in enumerate(read(path, Candidate), 1):
        if row.item not in wanted:
            others += 1
            continue
        if row.item in texts.setdefault(row.system, {}):
            problem = f"expected one text of system '{row.system}' for article '{row.item}', got another"
            raise InvalidInput(problem, where=path, line=line)
        texts[row.system][row.item] = row
    if not texts:
        raise InvalidInput("no row is of an article of the test set; expected their ids in the field item", where=path)
    for system, said in texts.items():
        if system in names:
            raise UsageError(f"{path}: there is a commenter called '{system}' already; call this system otherwise")
        missing = [article.id for article in articles if article.id not in said]
        if missing:
            problem = f"system '{system}' has nothing for {len(missing):,} of {len(articles):,} articles"
            raise InvalidInput(
                f"{problem}, such as '{missing[0]}'; give an empty text where it says nothing", where=path
            )
    if others:
        say(f"{path}: {others:,} rows of other articles are passed over")
    return {system: [said[article.id] for article in articles] for system, said in texts.items()}
