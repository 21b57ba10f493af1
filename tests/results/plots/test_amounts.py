"""Pictures of how many there are of each kind, and of how values are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from postil.errors import UsageError
from postil.results.plots.bars import SpreadPanel, amounts, spreads
from postil.results.plots.figure import BLUE, GREY
from postil.results.plots.lines import Curve, curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bars(figure: Figure, panel: int = 0) -> list[Any]:
    return list(figure.axes[panel].patches)


def test_bars_are_as_long_as_the_numbers_and_what_is_no_kind_stands_back() -> None:
    figure = amounts(["a", "b", "rest"], [60, 20, 20], aside=1)
    assert [bar.get_width() for bar in bars(figure)] == [60, 20, 20]
    colours = ["#" + "".join(f"{round(255 * part):02x}" for part in bar.get_facecolor()[:3]) for bar in bars(figure)]
    assert colours == [BLUE, BLUE, GREY]


def test_a_small_share_is_not_none() -> None:
    shown = [text.get_text() for text in amounts(["a", "b"], [1, 99_999]).texts]
    assert "1 (<0.1 %)" in shown


@pytest.mark.parametrize(
    ("names", "counts"), [([], []), (["a"], [0]), (["a"], [-1]), (["a"], [1, 2]), (["a"], [np.nan])]
)
def test_amounts_refuses(names: list[str], counts: list[float]) -> None:
    with pytest.raises(UsageError):
        amounts(names, counts)


def test_every_value_is_in_a_bar() -> None:
    panel = SpreadPanel("title", np.array([3, 4, 62]), np.array([1, 2, 1]))  # 60 whole numbers, a bar each
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in bars(spreads([panel]))}
    assert len(heights) == 60
    assert {value: height for value, height in heights.items() if height} == {3: 25, 4: 50, 62: 25}


def test_bars_widen_with_the_range() -> None:
    panel = SpreadPanel("content", np.array([7, 1006]), np.array([1, 1]))  # 1,000 whole numbers, 20 a bar
    figure = spreads([panel], xlabel="words")
    assert "words, 20 a bar" in [text.get_text() for text in figure.texts]
    assert sum(bar.get_height() for bar in bars(figure)) == pytest.approx(100)


def test_a_long_tail_is_cut_and_told() -> None:
    values = np.array([*range(10), 10_000])
    figure = spreads([SpreadPanel("comment", values, np.array([100] * 10 + [5]))], xlabel="words")
    assert "words, 0.5 % beyond" in [text.get_text() for text in figure.texts]
    assert figure.axes[0].get_xlim()[1] < 12
    whole = spreads([SpreadPanel("comment", values, np.array([100] * 10 + [15]))], xlabel="words")
    assert figure.axes[0].get_xlim()[1] < 12 < whole.axes[0].get_xlim()[1]


def test_panels_share_their_values_where_asked() -> None:
    panels = [
        SpreadPanel(name, np.array([low, low + 5]), np.array([1, 1])) for name, low in (("train", 0), ("test", 20))
    ]
    ends = [axes.get_xlim() for axes in spreads(panels, together=True).axes]
    assert ends[0] == ends[1]
    ends = [axes.get_xlim() for axes in spreads(panels).axes]
    assert ends[0] != ends[1]


@pytest.mark.parametrize(
    ("values", "counts"), [([], []), ([1, 1], [1, 1]), ([2, 1], [1, 1]), ([1], [1, 2]), ([1], [0]), ([1], [-1])]
)
def test_spreads_refuses(values: list[int], counts: list[int]) -> None:
    with pytest.raises(UsageError):
        spreads([SpreadPanel("title", np.array(values), np.array(counts))])
    with pytest.raises(UsageError):
        spreads([])


def test_equal_factors_are_equal_steps_on_a_logarithmic_axis() -> None:
    curve = Curve("train", np.array([1.0, 10.0, 100.0]), np.array([100.0, 1.0, 0.01]))
    figure = curves([curve], log=True, log_y=True)
    (line,) = figure.axes[0].lines
    x, y = figure.axes[0].transData.transform(np.stack([line.get_xdata(), line.get_ydata()], axis=1)).T
    assert np.diff(x, 2) == pytest.approx(0, abs=1e-6)
    assert np.diff(y, 2) == pytest.approx(0, abs=1e-6)


def test_a_logarithmic_axis_has_no_place_for_0() -> None:
    with pytest.raises(UsageError, match="train: y: expected positive numbers"):
        curves([Curve("train", np.array([1.0, 2.0]), np.array([1.0, 0.0]))], log_y=True)
