"""The statistics of a corpus: Table 2 of the paper on automatic article commenting (ACL 2018), and its section 3.

A file of the corpus is summed up on its own and summaries add up, so memory does not grow with the corpus, and any
engine gives the same numbers. Distributions of whole numbers are kept exactly, as counts of each value.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.corpus.summary import Summarise, shards
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.corpus.histogram import Histogram
    from postil.corpus.passes import Watch
    from postil.corpus.store import Corpus
    from postil.corpus.summary import Summary
    from postil.engine import Engine
    from postil.records.scale import Scale

__all__ = ["ALL", "Statistics", "statistics"]

ALL: Final = "all"
"""The name of all splits together."""


@dataclass(frozen=True, eq=False, slots=True)
class Statistics:
    """The statistics of a corpus.

    Args:
        splits: What each split holds, and all together (`ALL`).
        tokenizer: What cut the texts into words.
        vocabulary: How many words models know by default.
        top_grade: The highest grade: that of the scale, else the highest in the corpus; None without grades.
    """

    splits: Mapping[str, Summary]
    tokenizer: str
    vocabulary: int
    top_grade: float | None

    @property
    def all(self) -> Summary:
        """All splits together."""
        return self.splits[ALL]

    def top_share(self, best: Histogram) -> float | None:
        """What part of comments or articles got the top grade at least once.

        Args:
            best: `Summary.best` or `Summary.best_of_article`.

        Returns:
            From 0 to 1; None where nothing is graded.
        """
        return None if self.top_grade is None else best.share(best.values >= self.top_grade)


def statistics(
    corpus: Corpus,
    engine: Engine | None = None,
    *,
    scale: Scale | None = None,
    watch: Watch = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> Statistics:
    """Count what a corpus holds.

    Args:
        corpus: The corpus.
        engine: Where the work is done; None for here.
        scale: The scale of the grades; by default the highest grade in the corpus is the top one.
        watch: Shows progress.

    Raises:
        InvalidInput: A file is missing, damaged or of another corpus, or a grade is not on the scale.
        MissingExtra: pyarrow is not installed.
    """
    files = [shard for split in corpus.splits for shard in shards(corpus, split)]
    run = map if engine is None else engine.map
    splits: dict[str, Summary] = {}
    with watch("files", run(Summarise(corpus), files), len(files)) as summaries:
        for shard, summary in zip(files, summaries, strict=True):
            splits[shard.split] = splits[shard.split] + summary if shard.split in splits else summary
    first, *others = splits.values()
    splits[ALL] = sum(others, start=first)
    grades = splits[ALL].best + splits[ALL].grades
    if scale is not None and grades.n:
        for grade in (float(grades.values[0]), float(grades.values[-1])):
            problem = scale.check(grade)
            if problem:
                raise InvalidInput(problem, where=str(corpus.path / "data"), field="grade")
    top = None if not grades.n else scale.high if scale else float(splits[ALL].best.values[-1])
    return Statistics(splits, str(corpus.made["tokenizer"]), int(corpus.made["options"]["vocabulary"]), top)
