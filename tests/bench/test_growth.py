"""Growth of cost with size: exponents, sizes that are left out, and tables of a page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("bench.growth")
from bench.growth import dimensions, run
from bench.growth.dimensions import DIMENSIONS
from bench.growth.run import Found, Point

if TYPE_CHECKING:
    from pathlib import Path


def points(power: float, *sizes: int) -> list[Point]:
    return [Point(size, size**power, 2 * size**power, 100.0) for size in sizes]


def test_an_exponent_is_the_slope_of_the_largest_sizes() -> None:
    assert run.exponent([Point(1, 50, 50, 50), *points(1.5, 10, 30, 90)], 2) == pytest.approx(1.5)
    assert run.exponent(points(2.0, 10, 30, 90), 3) == pytest.approx(0.0)


def test_costs_are_extrapolated_from_the_last_two_sizes() -> None:
    expected = run.expect([Point(1, 9, 9, 9), *points(2.0, 10, 20)], 40)
    assert expected == pytest.approx(Point(40, 1600, 3200, 100))
    assert run.expect(points(0.1, 10, 20), 40).cpu == pytest.approx(4 * 20**0.1)  # at least in proportion


def test_sizes_are_in_constant_ratio() -> None:
    assert dimensions.series(1000) == [10, 32, 100, 316, 1000]
    for dimension in DIMENSIONS:
        assert len(dimension.sizes) >= 5
        largest = max(line.before or 0 for line in dimension.lines)
        assert dimension.sizes[-1] >= 10 * largest or dimension.name in {"systems, soft", "HTML"}


def test_a_later_run_replaces_its_own_rows_of_a_page() -> None:
    given = run.parser().parse_args([])
    first, second = (line for dimension in DIMENSIONS[:2] for line in dimension.lines)
    page = f"# Title\n\n{run.START}\n{run.END}\nThe end.\n"
    page = run.with_section(page, run.section(page, [Found(second, points(1, 10, 30, 90))], given))
    left_out = [Point(99_999, 1, 77, 1)]
    page = run.with_section(page, run.section(page, [Found(first, points(1, 10, 30, 90), left_out)], given))
    page = run.with_section(page, run.section(page, [Found(second, points(2, 10, 30, 80))], given))
    assert page.startswith("# Title\n")
    assert page.endswith("The end.\n")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith(("| texts |", "| references |"))]
    assert [row[0] for row in rows] == ["| texts", "| references"] * 2
    assert [row[4] for row in rows[:2]] == ["90", "80"]
    assert [row[8] for row in rows[:2]] == ["1.00", "2.00"]
    assert "99,999: left out, about 77 s of processor time" in rows[2][1]


def test_a_process_is_measured(tmp_path: Path) -> None:
    dimensions.candidates(tmp_path, 4000)
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len({(row["item"], row["system"]) for row in rows}) == 4000
    point = run.measure(DIMENSIONS[0].lines[0].arguments(tmp_path), 4000, together=False, limit=4)
    assert point is not None
    assert point.size == 4000
    assert point.cpu > 0
    assert 20 < point.memory < 4096
    assert run.measure(["-c", "import time; time.sleep(60)"], 1, together=False, limit=1e-4) is None
    with pytest.raises(SystemExit, match="failed"):
        run.measure(["-c", "raise SystemExit(3)"], 1, together=False, limit=4)
