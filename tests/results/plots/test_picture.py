"""Pictures as SVG for a page, and as files."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread

from postil.errors import MissingExtra, PostilError, UsageError
from postil.results.plots.bars import histograms
from postil.results.plots.figure import BLUE, INK, VERMILION, save, svg
from postil.results.plots.forest import IntervalRow, Landmark, intervals
from postil.results.plots.heatmaps import confusion, matrix
from postil.results.plots.lines import Curve, curves
from postil.results.plots.points import ScatterPanel, scatter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

NASTY = "<b>&\"'$x^2$ 数学\x00\x9b\u202e"
SEEN = r"""<b>&"'$x^2$ 数学\x00\x9b\u202e"""  # in visible characters


def panels(number: int, n: int) -> list[ScatterPanel]:
    generator = np.random.default_rng(3)
    grades = generator.integers(1, 6, n).astype(np.float64)
    return [
        ScatterPanel(f"metric-{place} {NASTY}", grades / 9 + generator.normal(0, 0.2, n), grades, "ρ = .42 [.38, .46]")
        for place in range(number)
    ]


def a_curve() -> Curve:
    x = np.arange(1.0, 40)
    return Curve(NASTY, x, 1 - 1 / x, 0.9 - 1 / x, 1.1 - 1 / x)


PICTURES: dict[str, Callable[[], Figure]] = {
    "points": lambda: scatter(panels(3, 60)),
    "cells": lambda: scatter(panels(2, 3000)),
    "intervals": lambda: intervals(
        [IntervalRow(NASTY, 0.4, 0.3, 0.5, NASTY), IntervalRow("length", 0.1, 0, 0.2, "controls", control=True)],
        landmarks=[Landmark(NASTY, 0.7)],
        xlabel=NASTY,
    ),
    "matrix": lambda: matrix([NASTY, "a", "b"], [[0, 1, np.nan], [-1, 0, 1], [np.nan, -1, 0]], np.eye(3, k=1)),
    "large matrix": lambda: matrix([f"{NASTY}{n}" for n in range(14)], np.ones((14, 14)), np.eye(14, k=1)),
    "curves": lambda: curves([a_curve(), a_curve()], xlabel="k", ylabel=NASTY, log=True),
    "histograms": lambda: histograms([NASTY, "bo"], ["非常无趣", NASTY], [[1, 2], [3, 4]]),
    "confusion": lambda: confusion([NASTY, "2"], [[1, 2], [3, 4]], row=NASTY, column=NASTY),
}


@pytest.fixture(params=PICTURES)
def draw(request: pytest.FixtureRequest) -> Callable[[], Figure]:
    return PICTURES[request.param]


def attributes(text: str) -> list[tuple[str, str, str]]:
    return [(node.tag, *pair) for node in ET.fromstring(text).iter() for pair in node.attrib.items()]  # noqa: S314


def test_the_same_bytes_twice(draw: Callable[[], Figure]) -> None:
    figure = draw()
    once = svg(figure, "a")
    assert svg(figure, "a") == once
    assert svg(draw(), "a") == once


def test_the_same_bytes_whatever_the_users_settings(draw: Callable[[], Figure]) -> None:
    once = svg(draw(), "a")
    settings = {
        "font.size": 30,
        "axes.grid": True,
        "lines.linewidth": 9,
        "svg.fonttype": "path",
        "savefig.bbox": "tight",
    }
    with mpl.rc_context(settings):
        assert svg(draw(), "a") == once
        assert mpl.rcParams["font.size"] == 30


def test_threads_draw_the_same(draw: Callable[[], Figure]) -> None:
    once = svg(draw(), "a")
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: svg(draw(), "a"), range(4))) == {once}


def test_it_stands_in_a_page(draw: Callable[[], Figure]) -> None:
    text = svg(draw(), NASTY)
    whole = ET.fromstring(text)  # noqa: S314 - our own
    assert text.startswith("<svg ")
    assert whole.attrib["role"] == "img"
    assert whole.attrib["aria-label"] == SEEN
    assert not {"\x9b", "\u202e"} & set(text)
    assert {name for _, name, _ in attributes(text)} & {"style", "class"} == set()
    assert {tag.rpartition("}")[2] for tag, _, _ in attributes(text)} <= {
        "svg",
        "g",
        "path",
        "text",
        "use",
        "clipPath",
        "rect",
    }
    assert "<b>" not in text


def test_texts_are_escaped_and_not_read_as_mathematics(draw: Callable[[], Figure]) -> None:
    said = "".join(ET.fromstring(svg(draw(), "")).itertext())  # noqa: S314 - our own
    assert "<b>&\"'$x^2$ 数学" in said or "…" in said


def test_ids_are_the_pictures_own() -> None:
    texts = [svg(draw(), "") for draw in PICTURES.values()]
    ids = [{value for _, name, value in attributes(text) if name == "id"} for text in texts]
    assert len(set.union(*ids)) == sum(map(len, ids)) > 0
    for text, known in zip(texts, ids, strict=True):
        used = {value for _, name, value in attributes(text) if name == "href"}
        clipped = {value[4:-1] for _, _, value in attributes(text) if value.startswith("url(")}
        assert {name.removeprefix("#") for name in used | clipped} == known


def test_colours_are_those_of_the_data_or_of_the_page(draw: Callable[[], Figure]) -> None:
    text = svg(draw(), "")
    colours = {value for _, name, value in attributes(text) if name in {"fill", "stroke"}}
    assert "currentColor" in colours
    assert INK not in text
    assert colours & {BLUE, VERMILION}
    assert all(colour in {"none", "currentColor"} or re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


def test_an_unlabelled_picture_is_hidden_from_screen_readers() -> None:
    whole = ET.fromstring(svg(PICTURES["matrix"](), ""))  # noqa: S314 - our own
    assert whole.attrib["aria-hidden"] == "true"
    assert "role" not in whole.attrib


@pytest.mark.parametrize(
    ("number", "n", "most"),
    [(4, 2000, 300), (4, 10_000, 100), pytest.param(20, 2000, 1500, marks=pytest.mark.slow), (20, 10_000, 400)],
)
def test_scatters_are_small(number: int, n: int, most: int) -> None:
    assert len(svg(scatter(panels(number, n)), "").encode()) < most * 1000


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<svg "), ("a.pdf", b"%PDF-"), ("a.PNG", b"\x89PNG")])
def test_files(name: str, start: bytes, tmp_path: Path) -> None:
    draw = PICTURES["intervals"]
    figure = draw()
    contents = []
    for _ in range(2):
        save_quietly(figure, tmp_path / name)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]
    assert b"currentColor" not in contents[0]
    assert svg(figure, "") == svg(draw(), "")


def save_quietly(figure: Figure, path: Path) -> None:
    """Save where no font may have Chinese characters."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no installed font has")
        save(figure, path)


def test_characters_that_no_font_has_are_said_once(tmp_path: Path) -> None:
    figure = intervals([IntervalRow("\U00013000\U00013001", 1)])
    with pytest.warns(UserWarning, match="no installed font has \U00013000 \U00013001: install one") as caught:
        save(figure, tmp_path / "a.png")
    assert len(caught) == 1
    save(figure, tmp_path / "a.svg")


def test_files_use_the_chinese_fonts_that_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # DejaVu Sans Mono stands for a Chinese font.
    figure = intervals([IntervalRow("数学", 1)])
    once = svg(figure, "")
    used = []
    monkeypatch.setattr("postil.results.plots.figure.FALLBACK", ("No Such Font", "DejaVu Sans Mono"))
    real = figure.savefig

    def spied(*args: Any, **options: Any) -> None:
        used.extend(figure.texts[0].get_fontfamily())
        real(*args, **options)

    monkeypatch.setattr(figure, "savefig", spied)
    save_quietly(figure, tmp_path / "a.png")
    assert used == ["DejaVu Sans", "DejaVu Sans Mono"]
    assert svg(figure, "") == once


def test_every_point_is_in_the_png(tmp_path: Path) -> None:
    # 20 texts, each with a grade of its own: 20 blue dots side by side, that is 40 borders of columns with blue pixels.
    x = np.arange(20.0)
    save(scatter([ScatterPanel("a", np.zeros(20) + x % 2, x)], noise=0), tmp_path / "a.png")
    red, _, blue, _ = np.moveaxis(imread(tmp_path / "a.png"), -1, 0)
    columns = (blue - red > 0.2).any(axis=0)
    assert np.count_nonzero(np.diff(columns)) == 40


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a name that ends in \.svg, \.png or \.pdf"):
        save(PICTURES["matrix"](), tmp_path / "a.gif")


def test_a_picture_that_cannot_be_written_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(type(tmp_path), "write_bytes", full)
    with pytest.raises(PostilError, match=r"a\.svg: cannot be written: No space left on device$"):
        save(PICTURES["matrix"](), tmp_path / "a.svg")


def test_without_matplotlib_the_extra_is_named(draw: Callable[[], Figure], monkeypatch: pytest.MonkeyPatch) -> None:
    figure = draw()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for attempt in (draw, lambda: svg(figure, "")):
        with pytest.raises(MissingExtra, match=r"a picture needs an optional package: pip install 'postil\[report\]'"):
            attempt()


def test_the_room_loads_no_matplotlib_and_drawing_no_pyplot() -> None:
    code = """
import sys
from postil.results.plots.forest import IntervalRow, intervals
from postil.results.plots.figure import svg
assert "matplotlib" not in sys.modules
svg(intervals([IntervalRow("a", 1)]), "a")
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)  # noqa: S603 - our own code
