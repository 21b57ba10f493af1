"""Interest of passages on their page, as a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import UsageError
from postil.interest.model.model import UNTRAINED, page_scores
from postil.interest.model.model_files import chosen_model
from postil.metrics.passages.measures import Baseline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.interest.model.model import InterestModel
    from postil.metrics.passages.collection import PassageCollection, Preprocessing
    from postil.metrics.passages.pool import Pools

__all__ = ["Interest"]


@dataclass(frozen=True, kw_only=True)
class Interest(Baseline):
    """Score of `postil.interest.model.model.page_scores`; the page of a passage are all passages of its topic.

    It reads no grade and no reference, and reads whole texts in English, whatever the tokenizer and the stop words.
    Higher is better; a passage without a word ranks last.

    Args:
        model: A folder that ``postil train interesting`` wrote, or untrained; by default the model of the package.

    >>> from postil.metrics.passages.collection import Preprocessing
    >>> from postil.metrics.passages.pool import informativeness
    >>> from postil.data.row_locations import RowLocations
    >>> from postil.data.rows import Passage
    >>> texts = ["Bread is sold here.", "The oldest mill of Ely.", "Rye keeps longest of all."]
    >>> rows = [Passage(topic, str(i), text) for i, (topic, text) in enumerate(zip("aab", texts, strict=True))]
    >>> pools = informativeness([0, 0, 1], [1, 0, 1])
    >>> Interest(model="untrained").values(Preprocessing().collection(rows, RowLocations("rows")), pools).tolist()
    [-2.0, 2.0, 0.0]
    """

    model: str | None = None

    @property
    def name(self) -> str:
        """See `Specified.name`."""
        return "interest"

    def notes(self, collection: PassageCollection) -> tuple[str, ...]:
        """See `Measure.notes`."""
        return (f"model:{self._model(collection).name}",)

    def coverage(self, collection: PassageCollection, how: Preprocessing) -> str:
        """See `Measure.coverage`: a trained model knows the grades of the pages that it was trained on."""
        del collection, how
        if self.model in {None, UNTRAINED.name}:
            return ""
        return "too good on pages of its training, of which postil train interesting prints a cross-fit"

    def values(self, collection: PassageCollection, pools: Pools, jobs: int = 1) -> NDArray[np.float64]:
        """See `Measure.values`.

        Raises:
            UsageError: The collection has words without the texts that they are from.
            InvalidInput: The folder holds no model.
        """
        if collection.passages is None:
            raise UsageError(f"{self.name} reads whole texts of pages, and there are words only")
        model, pages = self._model(collection), dict[str, list[int]]()
        for row, passage in enumerate(collection.passages):
            pages.setdefault(passage.topic, []).append(row)
        scores = np.zeros(len(collection))
        for rows in pages.values():
            scores[rows] = page_scores([collection.passages[row].text for row in rows], model, jobs).scores
        return scores[pools.texts]

    def _model(self, collection: PassageCollection) -> InterestModel:
        return collection.kept(("interest", self.model), lambda: chosen_model(self.model))
