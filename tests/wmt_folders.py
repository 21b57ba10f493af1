"""Folders in the layout of mt-metrics-eval, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Scores = Mapping[str, Sequence[float | None]]


def write_set(
    root: Path,
    pair: str,
    *,
    human: Mapping[str, Scores],
    metrics: Mapping[str, Scores],
    references: Mapping[str, Sequence[str]] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """Write the files of a language pair; the keys of scores are `NAME.LEVEL`."""
    for folder, files in (("human-scores", human), (f"metric-scores/{pair}", metrics)):
        (root / folder).mkdir(parents=True, exist_ok=True)
        start = f"{pair}." if folder == "human-scores" else ""
        for name, scores in files.items():
            lines = [f"{system}\t{value}\n" for system, values in scores.items() for value in values]
            (root / folder / f"{start}{name}.score").write_text("".join(lines))
    for folder, start, texts in (("references", f"{pair}.", references), (f"system-outputs/{pair}", "", outputs)):
        for name, lines in (texts or {}).items():
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / f"{start}{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return root
