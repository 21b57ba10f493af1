"""`postil interesting --reference` has the scores that `postil passages --reference others` compares with grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_files import write
from postil.data.rows import Passage
from postil.interest.calls import interesting
from postil.interest.options import InterestingOptions
from postil.passages.calls import PassagesOptions, find_gains
from postil.passages.similarity import rank_passages

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ["moss", "the", "duck", "of", "ponds", "rye", "baking", "tides", "and", "moons", "flax", "ovens"]
MEASURES = ("logsim-1", "f1-2", "f1-sk", "rouge-2", "w-f1-1", "w-logsim-2")


def made() -> list[Passage]:
    """Three topics, with grades of 0, a text that stands in two topics, and one that stands twice in its own."""
    rng = np.random.default_rng(11)
    rows = [
        Passage(f"t{t}", f"p{i}", " ".join(rng.choice(WORDS, rng.integers(2, 12))), grade=float(rng.integers(0, 4)))
        for t in range(3)
        for i in range(12)
    ]
    copies = (("t0", "duck moss ponds", 2.0), ("t1", "duck moss ponds", 3.0), ("t0", "duck moss ponds", 0.0))
    return [*rows, *(Passage(topic, f"c{i}", text, grade=grade) for i, (topic, text, grade) in enumerate(copies))]


@pytest.mark.parametrize("stem", ["none", "porter"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_page_has_the_scores_of_its_topic_in_the_study(measure: str, stem: str) -> None:
    rows = made()
    protocol = PassagesOptions(
        measures=(measure,), reference="others", folds=3, pool="topic", stop="en", stem=stem, resamples=1
    )
    _, scored = find_gains(rows, protocol)
    for topic in ("t0", "t1", "t2"):
        page = [row for row in rows if row.topic == topic]
        others = [row for row in rows if row.topic != topic]
        found = rank_passages(page, others, measure=measure, stop="en", stem=stem)
        (ranking,) = scored.rankings
        study = {
            row.id: score
            for row, score in zip(scored.passages, ranking.scores.tolist(), strict=True)
            if row.topic == topic
        }
        assert {page[each.index].id: each.score for each in found} == pytest.approx(study, rel=1e-12)


def test_from_files(tmp_path: Path) -> None:
    rows = made()
    page, reference = tmp_path / "page.jsonl", tmp_path / "reference.jsonl"
    write(str(page), [row for row in rows if row.topic == "t1"])
    write(str(reference), [row for row in rows if row.topic != "t1"])
    options = InterestingOptions(k=20, reference=str(reference), measure="w-logsim-1", stop="en")
    result = interesting(str(page), options)
    _, scored = find_gains(
        rows, PassagesOptions(measures=("w-logsim-1",), reference="others", folds=3, stop="en", resamples=1)
    )
    study = {
        row.text: score
        for row, score in zip(scored.passages, scored.rankings[0].scores.tolist(), strict=True)
        if row.topic == "t1"
    }
    assert len(result.passages) == 13
    assert {each.text: each.score for each in result.passages} == pytest.approx(study, rel=1e-12)
