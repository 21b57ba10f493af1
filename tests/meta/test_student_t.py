"""Student's t: quantiles and power, compared with SciPy and with tabulated values."""

from __future__ import annotations

import pytest

from postil.meta.parametric import power, student_quantile

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("df", [1, 2, 3, 9, 39, 200, 10_000])
@pytest.mark.parametrize("p", [0.55, 0.9, 0.975, 0.99999])
def test_quantile(p: float, df: int) -> None:
    assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-11)


@pytest.mark.parametrize("df", [1, 2, 9, 39, 999])
@pytest.mark.parametrize("shift", [0.5, 2.0, 6.0])
def test_power(shift: float, df: int) -> None:
    critical = stats.t.ppf(0.975, df)
    expected = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
    assert power(shift, df) == pytest.approx(expected, abs=1e-11)
    assert power(-shift, df) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("df", [1, 9, 999])
def test_without_a_difference_power_is_the_level(df: int) -> None:
    assert power(0.0, df, level=0.01) == pytest.approx(0.01, abs=1e-12)
