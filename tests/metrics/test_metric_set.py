from __future__ import annotations

import numpy as np
import pytest

from postil.metrics.metric_set import DeterministicSum, MetricSet, parse_all
from postil.metrics.references import References
from postil.text.tokens import Vocabulary
from postil.version import VERSION


@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_a_total_is_the_same_however_the_rows_arrive(columns: int, layout: str) -> None:
    rows = np.random.default_rng(1).random((3000, columns))
    whole = DeterministicSum()
    whole.add(rows)
    assert whole.sum() == pytest.approx(rows.sum(axis=0))
    for chunk in (1, 7, 1023, 1024, 1025, 2999):
        total = DeterministicSum()
        for begin in range(0, 3000, chunk):
            part = rows[begin : begin + chunk]
            total.add(np.asfortranarray(part) if layout == "F" else part)
        assert total.count == 3000
        assert total.sum().tobytes() == whole.sum().tobytes(), chunk


def test_a_total_adds_block_by_block() -> None:
    """1e16 + 1 is 1e16 in floating point, so the sum tells how it was made: the ones of a block are summed first."""
    rows = np.ones((3 * DeterministicSum.BLOCK, 2))
    rows[0] = 1e16
    total = DeterministicSum()
    total.add(rows)
    assert total.sum().tolist() == [1e16 + 2 * DeterministicSum.BLOCK] * 2


def test_a_total_of_nothing_and_of_empty_parts() -> None:
    total = DeterministicSum()
    assert total.sum().shape == (0,)
    total.add(np.zeros((0, 3)))
    assert total.count == 0
    total.add(np.ones((2, 3)))
    total.add(np.zeros((0, 3)))
    assert total.sum().tolist() == [2.0, 2.0, 2.0]
    assert total.sum().tolist() == [2.0, 2.0, 2.0]


def panel_of(specs: list[str], sizes: list[int]) -> MetricSet:
    texts = [["a", "b"]] * sum(sizes)
    references = References(Vocabulary().encode_tokens(texts), np.cumsum([0, *sizes]))
    return MetricSet(parse_all(specs), references, tokenizer="space", weights="score|scale:1:5")


def test_signatures() -> None:
    signatures = panel_of(["bleu-1", "w-cider", "delta-bleu"], [2, 2]).signatures
    assert signatures == {
        "bleu-1": f"bleu-1(smooth=coco,effective=false)|tokenizer:space|references:2|postil:{VERSION}",
        "w-cider": "w-cider(order=4)|tokenizer:space|weights:score|scale:1:5|references:2|background:references/2|"
        f"documents:c762f2b45e3c|postil:{VERSION}",
        "delta-bleu": f"delta-bleu(order=4)|tokenizer:space|weights:score|scale:1:5|references:2|postil:{VERSION}",
    }
    assert "|references:1-3|" in panel_of(["rouge-l"], [3, 1, 2]).signatures["rouge-l"]
