"""Numbers on the pages of leads, computed in the background and kept until something changes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final

from postil.campaigns.calls import QualityOptions, agreement_of, estimate_so_far, quality_of
from postil.campaigns.quality import inferred_grades
from postil.campaigns.rubric import ratings_by_aspect
from postil.errors import PostilError
from postil.raters.options import AgreementOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.campaigns.calls import CampaignEstimate
    from postil.campaigns.models import AnnotatorProgress, Campaign, Rating
    from postil.campaigns.result import QualityResult
    from postil.campaigns.rubric import Rubric
    from postil.campaigns.store import Store
    from postil.raters.result import AgreementResult

__all__ = ["AspectNumbers", "DashboardCache", "DashboardSnapshot"]


REST: Final = 10.0
"""Seconds of rest per second of computing: annotating comes first."""


@dataclass(frozen=True, slots=True, eq=False)
class AspectNumbers:
    """Statistics of the grades of one aspect.

    Args:
        agreement: Inter-annotator agreement.
        estimate: Mean grades of systems so far.
        quality: Quality of each annotator's ratings.
    """

    agreement: AgreementResult
    estimate: CampaignEstimate
    quality: QualityResult

    @classmethod
    def of(
        cls, rubric: Rubric, ratings: Sequence[Rating], campaign: Campaign, articles: int, lengths: Mapping[int, float]
    ) -> AspectNumbers:
        """Compute the statistics of one aspect.

        Args:
            rubric: Rubric with the scale of the aspect.
            ratings: Ratings with its grades.
            campaign: Settings of the campaign.
            articles: Number of its articles whose items are rated.
            lengths: Length of each item's text by its number.
        """
        inferred = inferred_grades(ratings, rubric)
        return cls(
            agreement=agreement_of(ratings, rubric, AgreementOptions(), inferred),
            estimate=estimate_so_far(ratings, campaign, articles),
            quality=quality_of(ratings, lengths, rubric, QualityOptions(), inferred),
        )


@dataclass(frozen=True, slots=True, eq=False)
class DashboardSnapshot:
    """Statistics of a campaign at one moment.

    Args:
        version: Version of the store.
        annotator_progress: Progress of each annotator.
        items: Number of rated items.
        ratings: Number of ratings.
        conflicts: Numbers of the items with disagreement that are not adjudicated, largest first.
        adjudicated: Numbers of the adjudicated items, ascending.
        aspects: Numbers of each aspect by name; one entry where the rubric has no aspects.
    """

    version: tuple[int, ...]
    annotator_progress: tuple[AnnotatorProgress, ...]
    items: int
    ratings: int
    conflicts: tuple[int, ...]
    adjudicated: tuple[int, ...]
    aspects: dict[str, AspectNumbers]

    @classmethod
    def of(cls, store: Store, far: float) -> DashboardSnapshot:
        """Compute a snapshot.

        Args:
            store: Store of the campaign.
            far: Smallest distance of grades that is a disagreement.
        """
        version = store.version()  # read first, so that changes during the computation make the snapshot stale
        ratings, rubric = store.results.ratings(), store.rubric()
        adjudicated = {one.number for one in store.results.adjudications()}
        campaign, articles, lengths = store.campaign(), store.results.articles(), store.results.lengths()
        return cls(
            version=version,
            annotator_progress=tuple(store.people.annotator_progress()),
            items=len({rating.number for rating in ratings}),
            ratings=len(ratings),
            conflicts=tuple(number for number in store.results.apart(far) if number not in adjudicated),
            adjudicated=tuple(sorted(adjudicated)),
            aspects={
                scale.name: AspectNumbers.of(scale, some, campaign, articles, lengths)
                for scale, some in ratings_by_aspect(ratings, rubric)
            },
        )


class DashboardCache:
    """Cache of the latest snapshot, computed in a thread of its own.

    Args:
        store: Store of the campaign.
        far: Smallest distance of grades that is a disagreement.
        patience: Seconds that `latest` waits for a fresh snapshot, if the last one took no longer.
    """

    def __init__(self, store: Store, far: float, patience: float) -> None:
        self._store, self._far, self._patience = store, far, patience
        self._changed = Condition()
        self._numbers: DashboardSnapshot | None = None
        self._working = False
        self._not_before = self._took = 0.0
        self._problem = ""

    def latest(self) -> tuple[DashboardSnapshot | None, bool]:
        """Return the latest snapshot, and True if it is up to date; None before the first.

        Raises:
            PostilError: It cannot be computed.
        """
        version = self._store.version()

        def fresh() -> bool:
            return self._numbers is not None and self._numbers.version == version

        with self._changed:
            if not fresh() and not self._working:
                self._working = True  # at most one thread computes, however many pages are requested
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
