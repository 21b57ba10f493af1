"""The numbers on the lead's pages, worked out beside the server's other work and kept until something changes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final

from postil.app.annotating.agreement import agreement_of
from postil.errors import PostilError

if TYPE_CHECKING:
    from postil.annotation.models import AnnotatorProgress
    from postil.annotation.store import Store
    from postil.records.results import AgreementResult

__all__ = ["DashboardCache", "DashboardSnapshot"]

REST: Final = 10.0
"""After working for a second, rest for so many: grading comes first."""


@dataclass(frozen=True, slots=True, eq=False)
class DashboardSnapshot:
    """How a campaign stands.

    Args:
        version: Of the store.
        annotator_progress: How far each annotator is.
        texts: How many texts have a grade.
        ratings: How many grades there are.
        conflicts: Texts whose grades are far apart and that no lead decided about, the farthest first.
        decided: Texts that a lead decided about, in the order of their numbers.
        agreement: How far the annotators agree.
    """

    version: tuple[int, ...]
    annotator_progress: tuple[AnnotatorProgress, ...]
    texts: int
    ratings: int
    conflicts: tuple[int, ...]
    decided: tuple[int, ...]
    agreement: AgreementResult

    @classmethod
    def of(cls, store: Store, far: float) -> DashboardSnapshot:
        """Work them out.

        Args:
            store: Where the campaign lives.
            far: From which distance on grades are far apart.
        """
        version = store.version()  # first: what changes meanwhile makes them old
        ratings = store.results.ratings()
        decided = {one.number for one in store.results.adjudications()}
        return cls(
            version=version,
            annotator_progress=tuple(store.people.annotator_progress()),
            texts=len({rating.number for rating in ratings}),
            ratings=len(ratings),
            conflicts=tuple(number for number in store.results.apart(far) if number not in decided),
            decided=tuple(sorted(decided)),
            agreement=agreement_of(ratings, store.rubric()),
        )


class DashboardCache:
    """Works the numbers out in a thread of its own.

    Args:
        store: Where the campaign lives.
        far: From which distance on grades are far apart.
        patience: For how many seconds `look` waits for fresh ones, where they took no longer the last time.
    """

    def __init__(self, store: Store, far: float, patience: float) -> None:
        self._store, self._far, self._patience = store, far, patience
        self._changed = Condition()
        self._numbers: DashboardSnapshot | None = None
        self._working = False
        self._not_before = self._took = 0.0
        self._problem = ""

    def look(self) -> tuple[DashboardSnapshot | None, bool]:
        """The latest numbers, and whether they are of this moment; None before the first are there.

        Raises:
            PostilError: They cannot be worked out.
        """
        version = self._store.version()

        def fresh() -> bool:
            return self._numbers is not None and self._numbers.version == version

        with self._changed:
            if not fresh() and not self._working:
                self._working = True
                Thread(target=self._work, name="postil-numbers", daemon=True).start()
            if self._working and self._took <= self._patience:
                self._changed.wait_for(lambda: fresh() or not self._working, self._patience)
            if self._numbers is None and self._problem:
                raise PostilError(self._problem)
            return self._numbers, fresh()

    def _work(self) -> None:
        time.sleep(max(0.0, self._not_before - time.monotonic()))
        began, numbers, problem = time.monotonic(), None, ""
        try:
            numbers = DashboardSnapshot.of(self._store, self._far)
        except Exception as error:
            problem = str(error) or type(error).__name__
        with self._changed:
            self._numbers, self._problem = numbers or self._numbers, problem
            self._took = time.monotonic() - began
            self._not_before = time.monotonic() + REST * self._took
            self._working = False
            self._changed.notify_all()
