"""Rounds of `postil label`: what the labels so far are worth, and the next suggestions to label.

Articles are always drawn at random, so that what is measured on their labels holds for others. Choice by uncertainty
gains nothing: AUCs are within .01 of those of random articles at any number from 50 to 400 labels, as five columns
leave little to choose. Which suggestions of an article are asked about is chosen by the filter that is learned so far:
the one that it would show, the ranker's first one, then those whose answer is least certain.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.calibration.calls import fit_model_labels
from postil.calibration.labels import (
    among_of,
    campaign_of,
    drawing_order,
    drawn_suggestions,
    label_item,
    labels_of,
)
from postil.calibration.view import expectations
from postil.campaigns.calls import open_campaign
from postil.comments.show_filter import DEPTH
from postil.data.explain import counted
from postil.errors import PostilError
from postil.messages import Message
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.calibration.options import LabelOptions
    from postil.campaigns.models import Item
    from postil.campaigns.store import Store
    from postil.comments.retrieval import Retriever
    from postil.comments.show_filter import ShowFilter
    from postil.data.progress import OnMessage
    from postil.data.rows import Article
    from postil.data.suggestions import Label
    from postil.kernel.arrays import Floats

__all__ = ["EVERY", "ROUND", "Rounds", "most_teaching"]

ROUND: Final = 8
"""Number of articles of each round after the first: some 25 labels."""

EVERY: Final = 25
"""Number of labels after which it is said what they are worth."""

RESAMPLES: Final = 500
"""Number of resamples of the articles."""

_LOOKS: Final = 2.0
"""Seconds between two looks at the number of labels."""


def most_teaching(probabilities: Floats, wanted: int) -> list[int]:
    """Choose the suggestions of an article whose labels teach most.

    The first is the most probable one, which the filter would show, so that its precision is measured where it counts;
    the second the ranker's first one, which it competes with; then come those with the largest p (1 - p).

    Args:
        probabilities: float64[m], of being worth showing, in the ranker's order.
        wanted: Largest number to choose.

    >>> most_teaching(np.array([0.1, 0.4, 0.8, 0.2]), 3)
    [2, 0, 1]
    """
    if not len(probabilities):
        return []
    doubtful = np.argsort(-probabilities * (1 - probabilities), kind="stable").tolist()
    return list(dict.fromkeys([int(probabilities.argmax()), 0, *doubtful]))[:wanted]


class Rounds:
    """The labels of a campaign as they come in: what they are worth, and further suggestions to label.

    Args:
        retriever: The model.
        articles: The articles by id.
        options: Options of the command.
        on_message: Callback for reports.
    """

    def __init__(
        self,
        retriever: Retriever,
        articles: Mapping[str, Article],
        options: LabelOptions,
        *,
        on_message: OnMessage = lambda _: None,
    ) -> None:
        self._retriever, self._articles, self._options = retriever, articles, options
        self._draws = Draws(resamples=RESAMPLES, seed=options.seed)
        self._on_message = on_message
        self._told = 0
        self._stopped = Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look for new labels in a thread of its own, until ``with`` is left and a fit that has begun is done."""

        def look() -> None:
            problem = ""
            while not self._stopped.wait(_LOOKS):
                try:
                    self.step()
                except PostilError as error:  # such as of an endpoint, which may be back at a later look
                    if f"{error}" != problem:
                        self._on_message(problem := f"{error}")

        thread = Thread(target=look, name="labels", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()  # the process cannot end while a thread computes

    def step(self) -> None:
        """Tell what the labels are worth where `EVERY` further ones have come, and ask about more if few are open.

        Raises:
            PostilError: The campaign cannot be read.
        """
        with open_campaign(campaign_of(self._options)) as store:
            progress, _ = store.people.totals()
            done, open_ones = progress.done, progress.total - progress.done - progress.skipped
            due = self._options.teach and open_ones <= 2 * self._options.per_article * self._options.annotators
            names = self._next(store) if due else []
            if not names and done // EVERY <= self._told:
                return
            labels = labels_of(store)  # fewer than answers where a lead has decided
            if not names and len(labels) // EVERY <= self._told:
                return
            learned = self._fit(labels)
            items: list[Item] = []
            for name in names:
                if self._stopped.is_set():
                    return
                items += self._asked(name, learned)
            asked = {item.item for item in store.items()}  # by another process meanwhile
            items = [item for item in items if item.item not in asked]
            if items:
                store.add(items, seed=self._options.seed)

    def _next(self, store: Store) -> list[str]:
        """Articles to ask about next: those that come next in the random order and have suggestions."""
        asked = {item.item for item in store.items()}
        most = min(ROUND, self._options.sample - len(asked))
        order = (name for name in drawing_order(self._articles, self._options) if name not in asked)
        found: list[str] = []
        while len(found) < most and (batch := list(islice(order, ROUND))):
            suggested = self._retriever.first([self._articles[name] for name in batch], 1)
            found += [name for name, (each, _) in zip(batch, suggested, strict=True) if each.suggestions]
        return found[: max(most, 0)]

    def _asked(self, name: str, learned: ShowFilter | None) -> list[Item]:
        """Items of an article: chosen by a filter, or drawn where there is none yet."""
        article = self._articles[name]
        [(found, places)] = self._retriever.first([article], among_of(self._options) or DEPTH)
        if learned is None:
            return [label_item(article, one) for one in drawn_suggestions(found, self._options)]
        texts = [one.text for one in found.suggestions]
        [rows] = self._retriever.show_rows([article], [texts], [places], learned.columns)
        chosen = most_teaching(learned.probabilities(rows), self._options.per_article)
        return [label_item(article, found.suggestions[at]) for at in chosen]

    def _fit(self, labels: Sequence[Label]) -> ShowFilter | None:
        """The filter of the labels so far, told where `EVERY` further ones have come; None where they allow none."""
        if not labels:
            return None
        result, learned = fit_model_labels(self._retriever, labels, self._articles, self._draws)
        if len(labels) // EVERY > self._told:
            self._told = len(labels) // EVERY
            for sentence in expectations(result):
                self._on_message(
                    Message("{labels}: {sentence}", labels=counted(len(labels), "label"), sentence=sentence)
                )
        return learned
