"""The passages of `postil passages`: graded, checked, and the references that each is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import InvalidInput, Undefined
from postil.metrics.pool import folds_of, informativeness, interestingness
from postil.records.explain import shown
from postil.records.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.app.passages.files import PassagesOptions
    from postil.metrics.measures import Collection
    from postil.metrics.pool import Pools
    from postil.records.row_locations import Places
    from postil.records.rows import Passage

__all__ = ["GradedPassages", "check_passages", "pools_of"]

LARGEST: Final = 1e100
"""No grade is larger, so that sums of them are numbers."""


@dataclass(frozen=True, eq=False)
class GradedPassages:
    """Passages with the numbers of their topics.

    Args:
        passages: n passages.
        topics: The names of the topics, in the order in which they first come.
        topic: int64[n], the number of each passage's topic.
        grades: float64[n].
        scale: Their scale; from 0 to the highest where none was given.
    """

    passages: Sequence[Passage]
    topics: tuple[str, ...]
    topic: NDArray[np.int64]
    grades: NDArray[np.float64]
    scale: Scale


def check_passages(passages: Sequence[Passage], scale: Scale | None, places: Places) -> GradedPassages:
    """See that grades and ids are what they should be.

    Args:
        passages: The passages.
        scale: The scale of the grades, if it was given.
        places: Where the passages stand, for messages.

    Raises:
        InvalidInput: There are no passages, one has no grade or one that is not on the scale, or an id stands twice in
            a topic.
        Undefined: No passage has a grade above 0.
    """
    if not passages:
        raise InvalidInput("expected passages, got none", where=places.where)
    seen: dict[tuple[str, str], int] = {}
    topics: dict[str, int] = {}
    for place, passage in enumerate(passages):
        if passage.grade is None:
            raise places.error(place, "grade", "expected a grade, got none; gains are sums of grades")
        problem = scale.check(passage.grade) if scale else None
        if problem is None and not 0 <= passage.grade <= LARGEST:
            problem = f"expected a number of at least 0, and at most {LARGEST:g}, got {passage.grade:g}"
        if problem:
            raise places.error(place, "grade", problem)
        first = seen.setdefault((passage.topic, passage.id), place)
        if first != place:
            problem = f"a second passage {shown(passage.id)} of topic {shown(passage.topic)}; ids are unique in a topic"
            raise places.error(place, "id", problem)
        topics.setdefault(passage.topic, len(topics))
    grades = np.array([passage.grade for passage in passages], np.float64)
    if not grades.any():
        raise Undefined("every grade is 0, so there is nothing to gain")
    return GradedPassages(
        passages=passages,
        topics=tuple(topics),
        topic=np.array([topics[passage.topic] for passage in passages]),
        grades=grades,
        scale=scale or Scale(0, float(grades.max())),
    )


def pools_of(data: GradedPassages, collection: Collection, options: PassagesOptions) -> Pools:
    """The references that are asked for.

    Args:
        data: The passages.
        collection: Their words, which say which of them are the same text.
        options: Whether passages are held against their own topic or against others.

    Raises:
        Undefined: There is one topic where others are needed, or one fold has all that is informative.
    """
    weights = data.grades / data.scale.high
    if options.reference == "topic":
        return informativeness(data.topic, weights)
    numbers: dict[tuple[bytes, str], int] = {}
    words = collection.words
    # Two texts may have the same anchors and yet be two.
    texts = [" ".join(each.text.lower().split()) if options.anchors else "" for each in data.passages]
    same = [
        numbers.setdefault((words.ids[begin:end].tobytes(), text), len(numbers))
        for begin, end, text in zip(words.offsets[:-1].tolist(), words.offsets[1:].tolist(), texts, strict=True)
    ]
    folds = folds_of(len(data.topics), options.folds, by=options.folds_by, seed=options.seed)
    return interestingness(data.topic, weights, same, folds, names=data.topics)
