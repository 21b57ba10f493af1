"""Drills: what is added to a copy of the source is there everywhere, and touches few files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sources import ROOT

from postil.meta.coefficients import TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FACTS, KINDS = "meta/coefficients.py", "meta/coefficient_kinds.py"
# Lin's coefficient of concordance (1989): what is added after which lines, by file.
COEFFICIENT = {
    FACTS: {
        'Literal["pearson", "spearman", "kendall-b", "kendall-c", ': '"ccc", ',
        'Coefficient("kendall-c", "Kendall τ-c", "kendall-c", most=_FEW, untested=_KENDALL),\n': (
            '            Coefficient("ccc", "Lin’s concordance", "concordance", untested="concordance has no test"),\n'
        ),
    },
    KINDS: {
        'Correlated("pearson", pearson, SummedRows),\n': '            Correlated("ccc", _concordance, _Concordance),\n',
        'Rows: TypeAlias = "Sequence[Correlation | UndefinedResult]"\n': '''

def _concordance(
    x: Floats,
    y: Floats,
    starts: Int64s,
    /,
    *,
    weights: Int32s | None = None,
    magnitudes: Floats | None = None,
) -> Floats:
    """Lin's coefficients within groups of rows, 1 for equal numbers."""
    del magnitudes
    times = np.ones((len(y), 1)) if weights is None else weights[:, None]
    n = np.maximum(1, np.add.reduceat(times, starts))
    both = np.column_stack([x, y])
    means, squares, products = (
        np.add.reduceat(times * each, starts) / n for each in (both, both**2, both[:, :-1] * both[:, -1:])
    )
    variances, apart = squares - means**2, means[:, :-1] - means[:, -1:]
    covariances = products - means[:, :-1] * means[:, -1:]
    return np.where(n > 1, 2 * covariances / (variances[:, :-1] + variances[:, -1:] + apart**2), np.nan)


@dataclass(frozen=True, eq=False)
class _Concordance:
    x: Floats
    y: Floats
    item: Int32s

    def __call__(self, counts: Int32s, /, jobs: int = 1) -> Floats:
        del jobs
        several, n = len(counts), len(self.y)
        rows = np.tile(self.x, (several, 1)), np.tile(self.y, several)
        return _concordance(*rows, n * np.arange(several), weights=counts[:, self.item].ravel())
''',
    },
}
GRADES = [1, 2, 3, 4, 5, 3, 2, 4]
SCORES = [2, 2, 3, 5, 5, 2, 1, 3]


def patched(folder: Path, patch: Mapping[str, Mapping[str, str]]) -> None:
    """Copy the package into a folder, and add texts after others."""
    shutil.copytree(ROOT, folder / "postil", ignore=shutil.ignore_patterns("__pycache__"))
    for name, additions in patch.items():
        path = folder / "postil" / name
        text = path.read_text(encoding="utf-8")
        for place, addition in additions.items():
            assert text.count(place) == 1, f"{name}: {place}"
            text = text.replace(place, place + addition)
        path.write_text(text, encoding="utf-8")


def test_a_coefficient_touches_two_files(tmp_path: Path) -> None:
    patched(tmp_path, COEFFICIENT)
    texts = [{"item": str(i), "system": "a"} for i in range(len(GRADES))]
    rows = {
        "scores": [text | {"metric": "m", "score": score} for text, score in zip(texts, SCORES, strict=True)],
        "judgements": [text | {"annotator": "ann", "grade": grade} for text, grade in zip(texts, GRADES, strict=True)],
    }
    for name, each in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in each), encoding="utf-8")

    def said(*words: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"}
        found = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-m", "postil", "correlate", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return found.stdout + found.stderr

    asked = "scores.jsonl", "--judgements", "judgements.jsonl"
    found = json.loads(said(*asked, "-c", "ccc", "-c", "pearson", "--resamples", "100", "--format", "json"))
    row, _ = found["correlations"]
    x, y = np.array(SCORES), np.array(GRADES)
    value = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert (row["coefficient"], row["value"]) == ("ccc", pytest.approx(value, abs=1e-12))
    assert row["low"] < value < row["high"]
    assert row["n"] == len(GRADES)
    assert "concordance has no test" in found["notes"]
    for form, head in {
        "table": "ccc",
        "markdown": "| ccc |",
        "csv": "m,ccc,pool,",
        "latex": "Lin's concordance",
    }.items():
        told = said(*asked, "-c", "ccc", "--resamples", "100", "--format", form)
        assert head in told
        assert f"{value:.3f}".removeprefix("0")[:3] in told
    page = said(*asked, "-c", "ccc", "--report", "page.html") and (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Lin’s concordance" in page
    assert "kendall-c, ccc, acc-eq (accuracy with ties), pa or spa" in " ".join(said("--help").split())
    assert ", ".join((*list(TABLE)[:4], "ccc", *list(TABLE)[4:])) in said(*asked, "-c", "cc")
