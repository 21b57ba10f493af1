"""How `postil evaluate` shows its numbers."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from postil.errors import UsageError
from postil.records.atomic_file import check_apart
from postil.records.results import SCHEMA, to_json
from postil.records.row_files import Writer
from postil.records.rows import Candidate, Score
from postil.render.formats import grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.app.evaluating.files import CommenterScores, EvaluateOptions
    from postil.records.row_files import FilePath
    from postil.render.formats import Format, Grid

__all__ = ["commenter_scores_as", "remarks", "writing"]


def commenter_scores_as(form: Format, found: CommenterScores, options: EvaluateOptions) -> str:
    """A row a system and a column a metric.

    Args:
        form: ``json``, ``jsonl`` and ``csv`` have a row a number.
        found: The scores.
        options: What was asked for.
    """
    rows = [asdict(score) for score in found.scores]
    if form == "json":
        return to_json({"schema": SCHEMA, "kind": "commenters", "scores": rows, **_about(found, options)})
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    text = grid_as(form, _scores(found)) + "\n" + grid_as(form, _said(found))
    if form == "table":
        text += "\n" + "".join(f"{line}\n" for line in remarks(found, options))
    return text


def remarks(found: CommenterScores, options: EvaluateOptions) -> list[str]:
    """What to know of the numbers, a line each.

    Args:
        found: The scores.
        options: What was asked for.
    """
    least, most, mean = found.references
    count = f"{least}" if least == most else f"{least} to {most}, on average {mean:.1f}"
    lines = [f"{found.articles:,} articles of {options.split}, references an article: {count}"]
    if found.left_out:
        lines.append(f"{found.left_out:,} more articles are left out: one comment alone, or all the same")
    lines.append(_weights(found, options))
    lines.append(f"human: a comment of each article, drawn with seed {options.seed}, that is no reference")
    lines += [
        f"{one.system}: no suggestion for {one.nothing:,} of {found.articles:,} articles, which score 0"
        for one in found.said
        if one.nothing
    ]
    return lines


@contextmanager
def writing(
    *, items: str | None, candidates: str | None, inputs: Sequence[FilePath] = ()
) -> Iterator[Callable[[CommenterScores], None]]:
    """Files for what was scored; they appear when the block ends well.

    Args:
        items: A file for the score of every suggestion.
        candidates: A file for the suggestions.
        inputs: The folders that are read.

    Yields:
        What to call with the scores.

    Raises:
        UsageError: A file is of an unknown kind, its folder is missing, or it is standard output.
        PostilError: The system refuses to write.
    """
    if "-" in (items, candidates):
        raise UsageError("--items, --candidates: expected a file; standard output is for the table")
    if items is not None and items == candidates:
        raise UsageError(f"{items}: --items and --candidates are the same file")
    for path in filter(None, (items, candidates)):
        check_apart(path, inputs)
    with ExitStack() as stack:
        scores = stack.enter_context(Writer(items, Score)) if items else None
        texts = stack.enter_context(Writer(candidates, Candidate)) if candidates else None

        def write(found: CommenterScores) -> None:
            for score in found.items if scores else ():
                scores.write(score)  # type: ignore[union-attr]  # there is one
            for text in found.candidates if texts else ():
                texts.write(text)  # type: ignore[union-attr]  # there is one

        yield write


def _weights(found: CommenterScores, options: EvaluateOptions) -> str:
    if found.weights is None:
        return "weights: no metric asks for any"
    if found.scale is not None:
        return f"weights: people's grades on the scale {found.scale} ({found.weights})"
    if found.weights == "votes":
        if found.tied == found.articles:
            problem = "all 1, since no reference has more votes than another of its article (votes)"
            return f"weights: {problem}: metrics with w- are the same as without"
        level = (
            f"; all 1 in {found.tied:,} of {found.articles:,} articles, where no reference has more votes than another"
        )
        return f"weights: the readers' votes for each reference (votes){level if found.tied else ''}"
    votes = "no reference has more votes than another" if found.tied == found.articles else "not every one has upvotes"
    why = "" if options.weights else f"; not every reference has a grade, and {votes}"
    return f"weights: how much a reference is like the others of its article ({found.weights}){why}"


def _scores(found: CommenterScores) -> Grid:
    metrics = list(dict.fromkeys(score.metric for score in found.scores))
    systems: dict[str, list[str]] = {}
    for score in found.scores:
        systems.setdefault(score.system, []).append(f"{score.score:.4f}")
    return [["commenter", *metrics], *([name, *cells] for name, cells in systems.items())]


def _said(found: CommenterScores) -> Grid:
    grid = [["commenter", "suggestions", "mean words", "distinct-1", "distinct-2"]]
    for one in found.said:
        shares = ("–" if share is None else f"{share:.3f}" for share in (one.distinct_1, one.distinct_2))
        words = "–" if one.words is None else f"{one.words:.1f}"
        grid.append([one.system, f"{found.articles - one.nothing:,}", words, *shares])
    return grid


def _about(found: CommenterScores, options: EvaluateOptions) -> dict[str, Any]:
    least, most, mean = found.references
    return {
        "suggestions": [asdict(one) for one in found.said],
        "articles": found.articles,
        "left_out": found.left_out,
        "references": {"least": least, "most": most, "mean": mean},
        "settings": {
            "split": options.split,
            "weights": found.weights,
            "scale": None if found.scale is None else str(found.scale),
            "seed": options.seed,
        },
        "remarks": remarks(found, options),
    }
