"""The journey of `postil demo`: the bundled sample, scored in both languages and held against its annotators."""

from __future__ import annotations

import shutil
from importlib.resources import files
from shlex import quote
from typing import TYPE_CHECKING

from postil.app.correlating import CorrelateOptions, correlate_files
from postil.app.correlating_output import findings_as
from postil.app.scoring import ScoringOptions, default_metrics, score_files
from postil.app.scoring_output import scores_as
from postil.records.files import read, write
from postil.records.rows import Article, Candidate
from postil.records.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["run_demo"]

LANGUAGES = {"en": ("English, 12 articles", "words"), "zh": ("Chinese, 12 articles", "rjieba")}


def run_demo(out: Path, jobs: int, show: Callable[[str], None], say: Callable[[str], None]) -> None:
    """Write the sample's files to a folder, score them, compare with people and print what to do next.

    Args:
        out: The folder; made where it is missing.
        jobs: Threads.
        show: Takes results.
        say: Takes remarks for people.
    """
    out.mkdir(parents=True, exist_ok=True)
    sample = files("postil") / "sample"
    for name in ("articles.jsonl", "candidates.jsonl", "judgements.jsonl", "README.md"):
        with (sample / name).open("rb") as source, (out / name).open("wb") as target:
            shutil.copyfileobj(source, target)
    articles = {article.id: article for article in read(out / "articles.jsonl", Article)}
    candidates = list(read(out / "candidates.jsonl", Candidate))
    for lang, (title, tokenizer) in LANGUAGES.items():
        here = {article.id: article for article in articles.values() if article.lang == lang}
        write(out / f"references.{lang}.jsonl", (ref for article in here.values() for ref in article.references()))
        write(out / f"candidates.{lang}.jsonl", (row for row in candidates if row.item in here))
        options = ScoringOptions(
            metrics=default_metrics(weighted=True),
            tokenizer=tokenizer,
            scale=Scale(1, 5),
            items=str(out / f"scores.{lang}.jsonl"),
            jobs=jobs,
        )
        scores = score_files(str(out / f"candidates.{lang}.jsonl"), str(out / f"references.{lang}.jsonl"), options, say)
        show(f"{title} (tokenizer {tokenizer}): four commenters against readers' comments with grades 1 to 5\n")
        show(scores_as("table", scores))
    show("English: do the metrics follow the two people who graded the commenters?\n")
    found = correlate_files(
        [str(out / "scores.en.jsonl")],
        str(out / "judgements.jsonl"),
        CorrelateOptions(scale=Scale(1, 5), jobs=jobs),
        str(out / "candidates.en.jsonl"),
    )
    show(findings_as("table", found))
    show(
        f"The files are in {out}. Next, with controls that tell whether the weights did anything, and a page to read:\n"
    )
    candidates_en, references, scores_en, judgements, page = (
        quote(str(out / name))
        for name in ("candidates.en.jsonl", "references.en.jsonl", "scores.jsonl", "judgements.jsonl", "report.html")
    )
    show(f"  postil score {candidates_en} -r {references} --scale 1:5 --items {scores_en} --controls")
    show(f"  postil correlate {scores_en} --judgements {judgements} --scale 1:5 \\")
    show(f"      --candidates {candidates_en} --report {page}")
