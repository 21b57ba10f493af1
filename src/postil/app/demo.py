"""`postil demo`: the bundled sample scored, correlated with human ratings, and taken through both studies."""

from __future__ import annotations

import shutil
from importlib.resources import files
from importlib.util import find_spec
from shlex import quote
from typing import TYPE_CHECKING, Final

from postil.app.correlate import correlate_files
from postil.app.correlate_options import CorrelateOptions
from postil.app.score_files import notes, score_files
from postil.app.score_options import ScoreOptions
from postil.errors import MissingExtra
from postil.metrics.metric_set import default_metrics
from postil.records.atomic_file import AtomicFile
from postil.records.results import StudyResult
from postil.records.row_files import read, write
from postil.records.rows import Article, Candidate
from postil.records.scale import Scale
from postil.render.study import study_text
from postil.render.views import show as shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.app.progress import OnMessage

__all__ = ["run_demo"]

LANGUAGES: Final = {"en": ("English, 12 articles", "words"), "zh": ("Chinese, 12 articles", "rjieba")}
FILES: Final = ("articles.jsonl", "candidates.jsonl", "judgements.jsonl", "passages.jsonl", "README.md")
SCALE: Final = Scale(1, 5)
TESTED: Final = 8
"""Number of test articles among the twelve English ones; commenters are trained on the others."""
METRICS: Final = tuple(f"{w}{name}" for name in ("meteor", "rouge-l", "cider", "bleu-1") for w in ("", "w-"))
CUTS: Final = (5, 10, 20, 30)

COMMENTS: Final = """\
The first study, of commenters, on {tested} of the English articles. ir-t and ir-tc chose among the comments of the
{rest} others, by words alone; the other texts are in the sample. So few show what a study makes and prove nothing.
"""
PASSAGES: Final = """\
The second study, of passages: 64 short texts on eight topics, graded by hand. Which measure finds what is informative
for a topic (Figure 2), and for other topics (Figure 5)? The other figures are on the page.
"""
UNTRAINED: Final = "the second study goes without word vectors; pip install 'postil[vectors]'"
NEXT: Final = """\
Pages to read: {pages}
The files are in {out}. Next, with controls that tell whether the weights did anything, and a page to read:
"""


def run_demo(out: Path, jobs: int, show: OnMessage, on_message: OnMessage) -> None:
    """Score the sample, compare with people, run both studies, and print what to do next.

    Args:
        out: The folder; made where it is missing.
        jobs: Threads.
        show: Callback for results.
        on_message: Callback for status messages.
    """
    out.mkdir(parents=True, exist_ok=True)
    sample = files("postil") / "sample"
    for name in FILES:
        with (sample / name).open("rb") as source, AtomicFile(str(out / name)) as target:
            shutil.copyfileobj(source, target)
    for lang in LANGUAGES:
        _tried(on_message, _scores, out, lang, jobs, show)
    _people(out, jobs, show)
    pages = [_tried(on_message, _comments, out, jobs, show), _tried(on_message, _passages, out, jobs, show, on_message)]
    _next(out, [page for page in pages if page is not None], show)


def _tried(on_message: OnMessage, part: Callable[..., Path | None], *given: object) -> Path | None:
    """Run a part of the demo, or tell which extra it needs."""
    try:
        return part(*given)
    except MissingExtra as missing:
        on_message(f"skipped: {missing}")
        return None


def _scores(out: Path, lang: str, jobs: int, show: OnMessage) -> None:
    title, tokenizer = LANGUAGES[lang]
    articles = [article for article in read(out / "articles.jsonl", Article) if article.lang == lang]
    here = {article.id for article in articles}
    write(out / f"articles.{lang}.jsonl", articles)
    write(out / f"references.{lang}.jsonl", (ref for article in articles for ref in article.references()))
    write(
        out / f"candidates.{lang}.jsonl",
        (row for row in read(out / "candidates.jsonl", Candidate) if row.item in here),
    )
    options = ScoreOptions(
        metrics=default_metrics(weighted=True),
        tokenizer=tokenizer,
        scale=SCALE,
        items=str(out / f"scores.{lang}.jsonl"),
        jobs=jobs,
    )
    scores = score_files(
        str(out / f"candidates.{lang}.jsonl"), str(out / f"references.{lang}.jsonl"), options, lambda _: None
    )
    show(f"{title} (tokenizer {tokenizer}): four commenters against readers' comments with grades 1 to 5\n")
    show(shown("table", scores, remarks=notes(scores)))


def _people(out: Path, jobs: int, show: OnMessage) -> None:
    show("English: do the metrics follow the two people who graded the commenters?\n")
    found = correlate_files(
        [str(out / "scores.en.jsonl")],
        str(out / "judgements.jsonl"),
        CorrelateOptions(scale=SCALE, jobs=jobs),
        str(out / "candidates.en.jsonl"),
    )
    show(shown("table", found))


def _comments(out: Path, jobs: int, show: OnMessage) -> Path:
    """The study of commenters, on the English articles."""
    from postil.app.corpus.building import build_corpus  # noqa: PLC0415  # pyarrow and more are behind it
    from postil.app.study.comments import study_comments  # noqa: PLC0415
    from postil.app.study.comments_options import FITTING, CommentsOptions, Names  # noqa: PLC0415
    from postil.app.study.stages import Stage, Stages, read_result  # noqa: PLC0415
    from postil.corpus.options import BuildOptions  # noqa: PLC0415
    from postil.corpus.split import Share  # noqa: PLC0415

    articles, folder = out / "articles.en.jsonl", out / "study-comments"
    small = {
        "min_content_words": 0,
        "min_comments": 1,
        "test_min_comments": 0,
        "test_min_upvotes": 0,
        "references_per_article": 0,
    }
    how = BuildOptions(
        source="the sample of postil",
        license="Apache-2.0",
        dev=Share(size=0),
        test=Share(size=TESTED),
        **small,  # type: ignore[arg-type]  # all of them numbers
    )
    flags = [word for name, size in small.items() for word in (f"--{name.replace('_', '-')}", size)]
    command = ["corpus", "build", articles, "--out", folder / "corpus", "--source", how.source]
    command += ["--license", how.license, "--dev", 0, "--test", TESTED, *flags]
    show(COMMENTS.format(tested=TESTED, rest=len(list(read(articles, Article))) - TESTED))
    stages = Stages(folder, lambda _: None)
    stages.run(
        Stage(
            name="corpus",
            outputs=[folder / "corpus"],
            inputs=[articles],
            request=small,
            command=command,
            work=lambda: build_corpus([articles], folder / "corpus", how, jobs=1),
        )
    )
    options = CommentsOptions(
        systems=Names(("ir-t", "ir-tc")),
        ranker="tf-idf",
        candidates=str(out / "candidates.jsonl"),
        judgements=str(out / "judgements.jsonl"),
        scale=SCALE,
        metrics=(*METRICS, FITTING),
        jobs=jobs,
    )
    page = study_comments(str(folder / "corpus"), folder, options, lambda _: None, stages)
    show(study_text("table", read_result(folder / "study.json", StudyResult), ["table-7", "table-3"]))
    return page


def _passages(out: Path, jobs: int, show: OnMessage, on_message: OnMessage) -> Path:
    """The study of passages."""
    from postil.app.study.passages import PassagesStudyOptions, study_passages  # noqa: PLC0415
    from postil.app.study.stages import read_result  # noqa: PLC0415

    folder, train = out / "study-passages", find_spec("gensim") is not None
    show(PASSAGES)
    if not train:
        on_message(UNTRAINED)
    page = study_passages(out, folder, PassagesStudyOptions(train=train, k=CUTS, jobs=jobs), lambda _: None)
    show(study_text("table", read_result(folder / "study.json", StudyResult), ["figure-2", "figure-5"]))
    return page


def _next(out: Path, pages: list[Path], show: OnMessage) -> None:
    show(NEXT.format(pages=", ".join(map(str, pages)) or "none", out=out))
    candidates_en, references, scores_en, judgements, page = (
        quote(str(out / name))
        for name in ("candidates.en.jsonl", "references.en.jsonl", "scores.jsonl", "judgements.jsonl", "report.html")
    )
    show(f"  postil score {candidates_en} -r {references} --scale 1:5 --items {scores_en} --controls")
    show(f"  postil correlate {scores_en} --judgements {judgements} --scale 1:5 \\")
    show(f"      --candidates {candidates_en} --report {page}")
