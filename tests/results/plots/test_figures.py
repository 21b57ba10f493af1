"""Contents of each kind of picture, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.lines import Line2D

from postil.errors import UsageError
from postil.results.plots.bars import SpreadPanel, amounts, histograms, spreads
from postil.results.plots.figure import BLUE, COLORS, GREY, INK, STRONGEST, VERMILION, fit, printed, svg, text_width
from postil.results.plots.forest import IntervalRow, Landmark, RowSet, intervals
from postil.results.plots.heatmaps import confusion, matrix
from postil.results.plots.lines import Curve, CurveMark, _spread, curves
from postil.results.plots.points import ScatterPanel, _runs, scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


DARK, LIGHT = "#1e1e1e", "#e8e8e8"


def texts(figure: Figure) -> list[str]:
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    return [text.get_text() for text in figure.texts] + inside


def a_panel(n: int, seed: int = 0) -> ScatterPanel:
    generator = np.random.default_rng(seed)
    grades = generator.integers(1, 6, n).astype(np.float64)
    return ScatterPanel("w-meteor", grades / 10 + generator.normal(0, 0.1, n), grades, "Spearman .58 [.55, .61]")


# Colours


def luminance(colour: NDArray[np.float64]) -> float:
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def rgb(colour: str) -> NDArray[np.float64]:
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def contrast(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The contrast ratio of WCAG 2.2."""
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("paper", ["#ffffff", DARK])
@pytest.mark.parametrize("colour", [*COLORS, GREY])
def test_lines_stand_out_on_light_and_dark_pages(colour: str, paper: str) -> None:
    assert contrast(rgb(colour), rgb(paper)) >= 3


@pytest.mark.parametrize(("ink", "paper"), [(INK, "#ffffff"), (LIGHT, DARK)])
@pytest.mark.parametrize("colour", [BLUE, VERMILION])
def test_numbers_in_cells_can_be_read(colour: str, ink: str, paper: str) -> None:
    for strength in np.linspace(0, STRONGEST, 16):
        assert contrast(rgb(ink), strength * rgb(colour) + (1 - strength) * rgb(paper)) >= 4.5


# Texts


def test_a_text_that_is_too_wide_loses_its_middle() -> None:
    name = "control:shuffled(w-meteor)"
    shown = fit(name, 90)
    assert text_width(shown) <= 90 < text_width(name)
    first, last = shown.split("…")
    assert name.startswith(first)
    assert name.endswith(last)
    assert fit(name, 1000) == name


def test_chinese_characters_are_as_wide_as_high() -> None:
    assert text_width("数学", 10) == pytest.approx(20, abs=0.5)


def test_texts_are_one_line_that_xml_can_hold() -> None:
    assert fit("a\n b\x00\x85\ud800\u202e\uffff", 200) == r"a b\x00\x85\ud800\u202e" + "\ufffd"


@given(st.floats(-5, 5), st.integers(0, 4))
def test_printed_numbers_read_back(value: float, digits: int) -> None:
    shown = printed(value, digits, sign=True)
    assert float(shown.replace("−", "-")) == pytest.approx(value, abs=0.5 * 10**-digits + 1e-12)
    assert not shown.startswith(("0.", "+0.", "−0."))


# Scatter


@pytest.mark.parametrize("n", [50, 3000])
def test_noise_moves_points_but_not_the_line(n: int) -> None:
    panel = a_panel(n)
    slope, start = np.polyfit(panel.grades, panel.scores, 1)
    clean, noisy = scatter([panel], noise=0), scatter([panel], noise=0.3)
    assert svg(clean, "") != svg(noisy, "")
    for figure in (clean, noisy):
        (line,) = figure.axes[0].lines
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert x.tolist() == [panel.grades.min(), panel.grades.max()]
        np.testing.assert_allclose(y, start + slope * x, rtol=1e-12)


def test_the_seed_decides_the_noise() -> None:
    assert svg(scatter([a_panel(9)], seed=1), "") != svg(scatter([a_panel(9)], seed=2), "")


def test_grades_of_many_values_get_no_noise() -> None:
    x = np.arange(51.0)
    panel = ScatterPanel("a", x, x)
    assert svg(scatter([panel], seed=1), "") == svg(scatter([panel], seed=2), "")


def test_every_point_is_drawn() -> None:
    figure = scatter([a_panel(13)])
    dots = sum(len(patch.get_path().vertices) // 2 for patch in figure.axes[0].patches)
    assert dots == 13


def test_many_points_become_counts_that_add_up() -> None:
    # Ten places with 512 texts each: ten cells of the shade that holds 512, which with steps of 4 is 256-1,023.
    grades = np.repeat(np.arange(10.0), 512)
    figure = scatter([ScatterPanel("a", grades, grades)], noise=0)
    assert texts(figure)[2:-2] == ["texts in a cell", "1–3", "4–15", "16–63", "64–255", "256+"]
    (shade,) = figure.axes[0].patches
    assert len(shade.get_path().vertices) == 10 * 5


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=4))
def test_runs_cover_the_cells_once(rows: list[list[bool]]) -> None:
    cells = np.array(rows)
    covered = np.zeros(cells.shape, np.int64)
    for column, first, length in _runs(cells):
        covered[column, first : first + length] += 1
        assert length >= 1
    assert covered.tolist() == cells.astype(np.int64).tolist()


def test_constant_grades_have_no_line() -> None:
    figure = scatter([ScatterPanel("a", np.array([1.0, 2.0]), np.array([3.0, 3.0]))])
    assert not figure.axes[0].lines


@pytest.mark.parametrize("number", [*range(1, 11), 20])
def test_every_panel_has_its_place(number: int) -> None:
    figure = scatter([a_panel(5)] * number)
    boxes = [axes.get_position() for axes in figure.axes]
    assert len(boxes) == number
    assert all(0 < box.x0 < box.x1 < 1 and 0 < box.y0 < box.y1 < 1 for box in boxes)
    assert not any(one.overlaps(two) for place, one in enumerate(boxes) for two in boxes[:place])


# Intervals


def test_intervals_show_names_groups_and_numbers() -> None:
    rows = [
        IntervalRow("meteor", 0.42, 0.381, 0.4596, "plain"),
        IntervalRow("w-meteor", 0.5, 0.46, 0.54, "weighted"),
        IntervalRow("length", -0.1, group="controls", control=True),
    ]
    shown = texts(intervals(rows, landmarks=[Landmark("ceiling", 0.865)], xlabel="Spearman", digits=2))
    for expected in (
        "plain",
        "meteor",
        ".42 [.38, .46]",
        "w-meteor",
        ".50 [.46, .54]",
        "−.10",
        "ceiling .86",
        "Spearman",
    ):
        assert expected in shown


def test_a_second_interval_is_a_thin_line_behind_and_sets_are_columns_of_bars() -> None:
    rows = [IntervalRow(name, 3 - place, 2 - place, 4 - place, behind=(0, 5)) for place, name in enumerate("xyz")]
    figure = intervals(rows, sets=[RowSet("a", (0, 1)), RowSet("b", (0, 2))])
    assert {"a", "b"} <= set(texts(figure))
    assert figure.axes[0].get_xlim()[0] < 0
    thick = [
        line.get_linewidth() for line in figure.axes[0].lines if line.get_color() == BLUE and len(line.get_xdata()) > 1
    ]
    thin = [line.get_linewidth() for line in figure.axes[0].lines if list(line.get_xdata()) == [0, 5]]
    assert max(thin) < min(thick)
    bars = [line for line in figure.artists if isinstance(line, Line2D)]
    assert len(bars) == 6  # one per member, and one through the whole set
    places = sorted({round(float(line.get_xdata()[0]), 6) for line in bars})
    assert len(places) == 2
    assert len(texts(intervals(rows, sets=[RowSet(str(n), (0,)) for n in range(17)]))) == len(texts(intervals(rows)))


def test_landmarks_stand_clear_of_one_another() -> None:
    marks = [Landmark("human, split in two halves", value) for value in (0.78, 0.781, 0.8, 0.3)]
    figure = intervals([IntervalRow("a", 0.5, 0.1, 0.9)], landmarks=marks)
    whole = figure.get_size_inches()[0] * 72
    names = [text for text in figure.texts if text.get_text().startswith("human")]
    spans = []
    for name in names:
        end = name.get_position()[0] * whole
        spans.append((end - text_width(name.get_text(), 8), end, round(name.get_position()[1], 6)))
    for place, (begin, end, y) in enumerate(spans):
        assert begin >= 0
        for other_begin, other_end, other_y in spans[:place]:
            assert y != other_y or end < other_begin or other_end < begin


# Matrix and confusion


def test_a_small_matrix_shows_its_numbers_and_marks_in_bold() -> None:
    figure = matrix(["a", "b"], [[0, 0.031], [-0.031, 0]], [[0, 1], [0, 0]], mark_note="p < .05")
    cells = {text.get_text(): text.get_fontweight() for text in figure.axes[0].texts}
    assert cells == {"+.031": "bold", "−.031": "normal"}
    assert {"row − column", "bold: p < .05", "+.031"} <= set(texts(figure))
    assert [patch.get_facecolor()[:3] for patch in figure.axes[0].patches] == [
        pytest.approx(tuple(rgb(BLUE))),
        pytest.approx(tuple(rgb(VERMILION))),
    ]


def test_a_large_matrix_has_dots() -> None:
    marks = np.eye(20, k=1)
    figure = matrix([f"metric-{number}" for number in range(20)], np.ones((20, 20)), marks, mark_note="p < .05")
    assert not figure.axes[0].texts
    assert sum(line.get_marker() == "o" for line in figure.axes[0].lines) == 19
    assert "dot: p < .05" in texts(figure)


def test_what_is_undefined_is_left_empty_and_said() -> None:
    values = np.array([[0, np.nan, 0.1], [np.nan, 0, 0.2], [-0.1, -0.2, 0]])
    assert "empty: undefined" in texts(matrix(["a", "b", "c"], values))
    assert "empty: undefined" not in texts(matrix(["a", "b", "c"], np.nan_to_num(values)))


def test_without_any_difference_there_is_a_matrix() -> None:
    assert ".000" in texts(matrix(["a", "b"], np.zeros((2, 2))))


def test_a_confusion_shows_its_counts() -> None:
    shown = texts(confusion(["1", "2"], [[12345, 0], [7, 8]], row="ann", column="bo"))
    assert {"12,345", "0", "7", "8", "ann", "bo", "1", "2"} <= set(shown)
    assert texts(confusion(["1"], [[0]]))


# Curves


def test_curves_are_named_once_each() -> None:
    x = np.arange(1.0, 6)
    series = [Curve(f"kl-{number}", x, x / 5 - number / 100, x / 6, x / 4) for number in range(12)]
    figure = curves(series, xlabel="k", ylabel="nCG@k")
    assert sorted(texts(figure)) == sorted([f"kl-{number}" for number in range(12)] + ["k", "nCG@k"])
    looks = {(line.get_color(), str(line._dash_pattern)) for line in figure.axes[0].lines}
    assert len(looks) == 12
    heights = sorted(text.get_position()[1] for text in figure.texts if text.get_text().startswith("kl"))
    assert np.diff(heights).min() * figure.get_size_inches()[1] * 72 >= 12.9


@pytest.mark.parametrize("log", [False, True])
def test_one_point_is_a_curve(log: bool) -> None:
    one = np.array([1.0])
    assert svg(curves([Curve("a", one, one, one, one)], log=log), "")


def test_long_curves_stay_small_and_keep_both_ends() -> None:
    x = np.arange(1.0, 20_001)
    y = np.sin(x) / 9
    figure = curves([Curve("a", x, y, y - 0.1, y + 0.1)], log=True)
    assert len(svg(figure, "")) < 150_000
    edge = figure.axes[0].collections[0].get_paths()[0].vertices
    assert (edge[:, 0].min(), edge[:, 0].max()) == (1, 20_000)


def test_marked_points_have_names_beside_them_and_lines_down() -> None:
    x = np.array([8.0, 20.0, 100.0])
    marks = [CurveMark("40 items", 40.0, 0.5), CurveMark("the same", 60.0, 0.5), CurveMark("edge", 99.0, 0.2)]
    figure = curves([Curve("a", x, 1 / x)], marks=marks)
    names = {text.get_text(): text for text in figure.axes[0].texts}
    assert list(names) == ["40 items", "the same", "edge"]
    sides = [names[each.name].get_horizontalalignment() for each in marks]
    assert sides == ["right", "right", "right"]  # the first two since another one is to the right, the last at the edge
    dashed = [line.get_xdata() for line in figure.axes[0].lines if line.is_dashed()]
    assert [list(map(float, each)) for each in dashed] == [[40.0, 40.0], [60.0, 60.0], [99.0, 99.0]]


@pytest.mark.parametrize(
    ("rising", "places"), [(False, [("left", 1), ("right", -1)]), (True, [("left", -1), ("right", 1)])]
)
def test_names_of_marked_points_stand_off_the_curve(rising: bool, places: list[tuple[str, int]]) -> None:
    x = np.array([0.0, 100.0])
    line = Curve("a", x, x if rising else -x)
    found = []
    for place in (10.0, 90.0):
        (text,) = curves([line], marks=[CurveMark("here", place, line.y[1] * place / 100)]).axes[0].texts
        found.append((text.get_horizontalalignment(), np.sign(text.xyann[1])))
    assert found == places


def test_reliability_curves_have_a_diagonal_and_points_by_size() -> None:
    x = np.array([1.5, 2.5, 4.0])
    sizes = np.array([10.0, 40.0, 0.1])
    series = [
        Curve("isotonic", x, x + 0.5, sizes=sizes),
        Curve("linear", x, x - 1, sizes=sizes / 2),
        Curve("none", x, x),
    ]
    figure = curves(series, diagonal=True)
    axes = figure.axes[0]
    assert axes.get_xlim() == axes.get_ylim()
    box = axes.get_position()
    wide, high = figure.get_size_inches()
    assert box.width * wide == pytest.approx(box.height * high)
    (line,) = [line for line in axes.lines if line.get_color() == GREY]
    assert np.array_equal(line.get_xdata(), line.get_ydata())
    of_curve = [points.get_sizes() for points in axes.collections]
    assert of_curve[0] == pytest.approx([50, 200, 2])  # the smallest can still be seen
    assert of_curve[1] == pytest.approx([25, 100, 2])
    assert [points.get_offsets().tolist() for points in axes.collections] == [
        np.column_stack([each.x, each.y]).tolist() for each in series[:2]
    ]
    assert "40 texts" in texts(figure)
    assert "40 texts</text>" in svg(figure, "")
    assert "texts" not in " ".join(texts(curves([Curve("a", x, x)], diagonal=True)))


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_names_are_spread(wanted: list[float]) -> None:
    places = _spread(wanted, 8, 0, 100)
    order = np.argsort(wanted, kind="stable")
    ordered = np.array(places)[order]
    assert np.all(np.diff(ordered) >= 8 - 1e-9)
    assert ordered[0] >= 4 - 1e-9
    assert ordered[-1] <= 96 + 1e-9


# Histograms


def test_histograms_show_shares_and_counts() -> None:
    figure = histograms(["ann", "bo"], ["1", "2", "3"], [[1, 2, 1], [0, 0, 0]])
    assert texts(figure)[:4] == ["ann", "n = 4", "bo", "n = 0"]
    assert [bar.get_height() for bar in figure.axes[0].patches[:3]] == [0.25, 0.5, 0.25]


def test_many_labels_are_thinned_out() -> None:
    figure = histograms(["ann"], [f"grade {number}" for number in range(40)], np.ones((1, 40)))
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels() if label.get_text()]
    assert shown[0] == "grade 0"
    assert len(shown) < 40


# What is refused

ONE, TWO, NAN = np.array([1.0]), np.array([1.0, 2.0]), np.array([np.nan])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: scatter([]), "panels: expected at least one"),
        (lambda: scatter([ScatterPanel("a", ONE, TWO)]), "a: expected a grade for each score, got 2 and 1"),
        (lambda: scatter([ScatterPanel("a", NAN, ONE)]), "a: scores: expected finite numbers"),
        (
            lambda: scatter([ScatterPanel("a", ONE, ONE)], noise=-1),
            "noise: expected a standard deviation from 0 up, got -1",
        ),
        (lambda: intervals([]), "rows: expected at least one"),
        (lambda: intervals([IntervalRow("a", float("nan"))]), "a: expected finite numbers"),
        (lambda: intervals([IntervalRow("a", 1, 0)]), "a: expected an interval from low to high, got 0 and None"),
        (lambda: intervals([IntervalRow("a", 1, 2, 0)]), "a: expected an interval from low to high, got 2 and 0"),
        (
            lambda: intervals([IntervalRow("a", 1)], landmarks=[Landmark("b", float("inf"))]),
            "b: expected a finite number",
        ),
        (lambda: matrix(["a"], [[0]]), "names: expected at least two, got 1"),
        (lambda: matrix(["a", "b"], [[0]]), "values: expected 2 x 2 numbers, got an array of shape (1, 1)"),
        (lambda: matrix(["a", "b"], np.eye(2), [True]), "marks: expected 2 x 2 numbers, got an array of shape (1,)"),
        (lambda: matrix(["a", "b"], [["x", 1], [1, 1]]), "values: expected an array of numbers"),
        (lambda: matrix(["a", "b"], np.full((2, 2), np.inf)), "values: expected finite numbers"),
        (lambda: confusion([], []), "labels: expected at least one"),
        (lambda: confusion(["a"], [[-1]]), "counts: expected numbers from 0 up"),
        (lambda: curves([]), "series: expected 1 to 12 curves, got 0"),
        (lambda: curves([Curve("a", ONE, ONE)] * 13), "series: expected 1 to 12 curves, got 13"),
        (lambda: curves([Curve("a", TWO[::-1], TWO)]), "a: x: expected at least one number, and numbers that rise"),
        (lambda: curves([Curve("a", TWO, ONE)]), "a: y: expected 2 numbers, got an array of shape (1,)"),
        (lambda: curves([Curve("a", ONE, ONE, ONE)]), "a: expected a band with two edges"),
        (lambda: curves([Curve("a", ONE, ONE, ONE, TWO)]), "a: high: expected 1 numbers, got an array of shape (2,)"),
        (lambda: curves([Curve("a", TWO, TWO, sizes=ONE)]), "a: sizes: expected 2 numbers, got an array of shape (1,)"),
        (lambda: curves([Curve("a", ONE, ONE, sizes=ONE * 0)]), "a: sizes: expected positive numbers"),
        (
            lambda: curves([Curve("a", ONE * 0, ONE)], log=True),
            "a: x: expected positive numbers on a logarithmic axis, got 0",
        ),
        (lambda: histograms([], ["1"], []), "expected at least one annotator and one label"),
        (lambda: histograms(["a"], ["1"], [[1, 2]]), "counts: expected 1 x 1 numbers, got an array of shape (1, 2)"),
        (lambda: histograms(["a"], ["1"], [[-1]]), "counts: expected numbers from 0 up"),
    ],
)
def test_what_is_refused(draw: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        draw()
    assert str(caught.value) == message


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
