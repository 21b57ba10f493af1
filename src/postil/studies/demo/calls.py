"""`postil demo`: the bundled sample in chapters, each with the command that a user types for it."""

from __future__ import annotations

import random
import shlex
import shutil
import textwrap
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from statistics import fmean
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from postil.comments.result import SuggestionsResult
from postil.correlation.calls import correlate_files
from postil.correlation.options import CorrelateOptions
from postil.data.atomic_file import AtomicFile, write_file
from postil.data.grades import Scale
from postil.data.row_files import read, write
from postil.data.rows import Article, Candidate, Judgement
from postil.documents.reading import read_document
from postil.errors import MissingExtra
from postil.estimation.calls import estimate_rated
from postil.estimation.options import EstimateOptions
from postil.interest.calls import rank_sources
from postil.interest.highlights import Element, made_by, node, page_html
from postil.interest.options import InterestingOptions
from postil.interest.result import InterestingResult
from postil.messages import Command, Message
from postil.meta.rated import Rated
from postil.results.formats import card, grid_as
from postil.results.page.report import check_report, write_report
from postil.results.views import view_of
from postil.scoring.files import score_files
from postil.scoring.options import ScoreOptions
from postil.studies.result import StudyResult
from postil.studies.stages import Stage, Stages, as_line, read_result, settings_of
from postil.studies.view import study_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from postil.corpus.options import Share
    from postil.data.progress import OnMessage
    from postil.results.table import Table
    from postil.results.views import View

__all__ = ["DESK", "MODEL", "DemoChapter", "is_prepared", "run_demo"]


@dataclass(frozen=True, slots=True)
class DemoChapter:
    """A chapter of the demo.

    Args:
        title: Its heading.
        words: Subject of the chapter, in a sentence or two.
        commands: Its commands, as a user types them.
        page: The page that it leaves, relative to the index; None if there is none.
    """

    title: str
    words: str
    commands: Sequence[str] = ()
    page: str | None = None


def _demo_page(chapters: Sequence[DemoChapter], serve: str) -> str:
    """Render the index.

    Args:
        chapters: The chapters.
        serve: The command that serves the pages of people.

    Returns:
        The HTML. It asks the network for nothing.
    """
    title = "postil demo"
    people = DemoChapter(
        "The editor's desk and the grading page",
        "Pages for people, with this sample: an editor labels suggestions, annotators grade texts, a lead looks on.",
        [serve],
    )
    main = node(
        "main",
        node("header", node("h1", title), node("p", "What postil does, on its bundled sample.", class_="facts")),
        node("ol", *map(_card, (*chapters, people)), class_="pages"),
        class_="index",
    )
    foot = node("footer", made_by("took its sample, which is invented, through these chapters"))
    return page_html(title, ["tokens.css", "shared.css", "index.css"], "index.js", [main, foot])


def _card(chapter: DemoChapter) -> Element:
    heading = node("a", chapter.title, href=quote(chapter.page)) if chapter.page else chapter.title
    return node(
        "li",
        node("h2", heading),
        node("p", chapter.words, class_="facts"),
        *(node("p", node("code", command), class_="why") for command in chapter.commands),
        class_="card",
    )


FILES: Final = (
    *("articles.jsonl", "candidates.jsonl", "judgements.jsonl", "passages.jsonl", "README.md"),
    "night-train.md",
)
INDEX: Final = "index.html"
MODEL: Final = "model"
TODAY: Final = "today.jsonl"
DESK: Final = "desk.jsonl"
LANGUAGES: Final = {"en": ("English", "words"), "zh": ("Chinese", "rjieba")}
SCALE: Final = Scale(1, 5)
GRADED: Final = 9
"""Number of the twelve English articles whose ratings the estimate sees."""
TESTED: Final = 8
"""Number of test articles of the first study among the twelve; its commenters are trained on the others."""
CUTS: Final = (5, 10, 20, 30)
SEED: Final = 20181
ESTIMATED: Final = ("w-meteor", "control:length")
"""Metrics of the estimate: overlap, and the length alone."""
SUGGESTIONS: Final = 3
STARTERS: Final = 5
WIDTH: Final = 116
"""Largest number of characters of a line of words or of a command."""
SAMPLE: Final = ("the sample of postil", "Apache-2.0")
"""Source and license of the corpora."""
ANY_ARTICLE: Final[Mapping[str, int]] = {
    "min_content_words": 0,
    "min_comments": 1,
    "test_min_comments": 0,
    "test_min_upvotes": 0,
    "references_per_article": 0,
}
"""Thresholds of a corpus that leave no article of the sample out."""


@dataclass(frozen=True, slots=True)
class _Demo:
    """A run of the demo.

    Args:
        out: Output folder.
        jobs: Number of threads.
        show: Callback for results.
        on_message: Callback for status messages.
        chapters: The chapters so far, for the index.
    """

    out: Path
    jobs: int
    show: OnMessage
    on_message: OnMessage
    chapters: list[DemoChapter] = field(default_factory=list)

    def file(self, name: str) -> str:
        """Path of a file of the demo."""
        return str(self.out / name)

    def run(self, part: Callable[[_Demo], None]) -> None:
        """Run a chapter, or tell which extra it needs."""
        try:
            part(self)
        except MissingExtra as missing:
            self.on_message(Message("left out: {missing}", missing=missing.message))

    def begin(self, title: str, words: str, commands: Sequence[str], page: str | None = None) -> None:
        """Show the heading of a chapter, and its commands."""
        self.chapters.append(DemoChapter(title, words, commands, page))
        self.show(f"{len(self.chapters)}. {title}\n")
        self.show(f"{textwrap.fill(words, WIDTH)}\n")
        self.show("\n".join(map(_typed, commands)) + "\n")

    def begun(self, page: str) -> None:
        """Link a page from the chapter, once it was written."""
        self.chapters[-1] = replace(self.chapters[-1], page=page)


def run_demo(out: Path, jobs: int, show: OnMessage, on_message: OnMessage) -> None:
    """Take the sample through all chapters, and print where to look.

    Args:
        out: The folder; made where it is missing.
        jobs: Threads.
        show: Callback for results.
        on_message: Callback for status messages.
    """
    out.mkdir(parents=True, exist_ok=True)
    _copy_sample(out)
    demo = _Demo(out, jobs, show, on_message)
    for part in (_scores, _audit, _estimate, _suggestions, _starters, _comments, _passages):
        demo.run(part)
    write_file(out / INDEX, _demo_page(demo.chapters, _serve_command(out)).encode())
    pages = [(INDEX, "all chapters on one page"), *((each.page, each.title) for each in demo.chapters if each.page)]
    width = max(len(demo.file(page)) for page, _ in pages)
    show("Where to look\n")
    show("".join(f"  {demo.file(page):{width}}  {what}\n" for page, what in pages))
    show("The editor's desk and the grading page, with this sample:\n")
    show(_typed(_serve_command(out)))


def _serve_command(out: Path) -> str:
    """The command that serves the desk and the grading page.

    Args:
        out: The folder of the demo.
    """
    return as_line(Command("demo", settings=settings_of({"out": out, "serve": True})))


def is_prepared(out: Path) -> bool:
    """True if an earlier run left all that is served.

    Args:
        out: The folder of the demo.
    """
    return (out / INDEX).is_file() and (out / MODEL).is_dir()


def _copy_sample(out: Path) -> None:
    """The files of the sample, and each language by itself."""
    sample = files("postil") / "sample"
    for name in FILES:
        with (sample / name).open("rb") as source, AtomicFile(str(out / name)) as target:
            shutil.copyfileobj(source, target)
    for lang in LANGUAGES:
        articles = [article for article in read(out / "articles.jsonl", Article) if article.lang == lang]
        here = {article.id for article in articles}
        write(out / f"articles.{lang}.jsonl", articles)
        write(out / f"references.{lang}.jsonl", (ref for article in articles for ref in article.references()))
        write(
            out / f"candidates.{lang}.jsonl",
            (row for row in read(out / "candidates.jsonl", Candidate) if row.item in here),
        )


def _scores(demo: _Demo) -> None:
    commands = []
    for lang, (_, tokenizer) in LANGUAGES.items():
        settings = {
            "r": demo.file(f"references.{lang}.jsonl"),
            "tokenizer": tokenizer if tokenizer != "words" else None,
            "scale": SCALE,
            "controls": True,
            "items": demo.file(f"scores.{lang}.jsonl"),
        }
        commands.append(as_line(Command("score", (demo.file(f"candidates.{lang}.jsonl"),), settings_of(settings))))
    demo.begin(
        "Score texts against graded references",
        "Four commenters on 12 English and 12 Chinese articles, whose readers' comments have grades from 1 to 5. "
        "Metrics with w- weight each comment by its grade. The files of scores have the signature of each number.",
        commands,
    )
    for lang, (name, tokenizer) in LANGUAGES.items():
        demo.run(partial(_scores_of, lang=lang, name=name, tokenizer=tokenizer))


def _scores_of(demo: _Demo, lang: str, name: str, tokenizer: str) -> None:
    options = ScoreOptions(
        tokenizer=tokenizer,
        scale=SCALE,
        controls=True,
        items=demo.file(f"scores.{lang}.jsonl"),
        jobs=demo.jobs,
    )
    candidates, references = (demo.file(f"{what}.{lang}.jsonl") for what in ("candidates", "references"))
    found = score_files(candidates, references, options, lambda _: None)
    demo.show(f"{name}:\n")
    demo.show(grid_as("table", view_of(found).grids[0]))


def _audit(demo: _Demo) -> None:
    scores, judgements, candidates, report = map(
        demo.file, ("scores.en.jsonl", "judgements.jsonl", "candidates.en.jsonl", "report.html")
    )
    settings = {"judgements": judgements, "scale": SCALE, "candidates": candidates, "audit": True, "report": report}
    command = as_line(Command("correlate", (scores,), settings_of(settings)))
    demo.begin(
        "Audit the metrics by people's ratings",
        "Two people have graded the commenters' texts. Do the metrics follow them, more than chance and length do, and "
        "could one replace a person?",
        [command],
    )
    options = CorrelateOptions(scale=SCALE, audit=True, jobs=demo.jobs)
    found = correlate_files([scores], judgements, options, candidates, command=command)
    shown = view_of(found)
    demo.show("".join(f"{textwrap.fill(line, WIDTH, subsequent_indent='    ')}\n" for line in shown.findings))
    demo.show(_grid(shown.grids[0], lambda name: not name.startswith("control:") or name == "control:length"))
    check_report(report)
    write_report([found], report)
    demo.begun("report.html")


def _estimate(demo: _Demo) -> None:
    scores, few = map(demo.file, ("scores.en.jsonl", "few-judgements.jsonl"))
    items = [article.id for article in read(demo.out / "articles.en.jsonl", Article)]
    known = [row for row in read(demo.out / "judgements.jsonl", Judgement) if row.item in items]
    graded = set(random.Random(SEED).sample(items, GRADED))  # noqa: S311 - a sample of articles, no secret
    write(few, (row for row in known if row.item in graded))
    settings = settings_of({"judgements": few, "metric": ESTIMATED, "target": "items"})
    demo.begin(
        "Estimate mean grades from few ratings",
        f"The ratings of {GRADED} articles, drawn at random, and the scores of all {len(items)}: each commenter's mean "
        "grade with its interval. Commenters that share a letter cannot be told apart.",
        [as_line(Command("estimate", (scores,), settings))],
    )
    found = estimate_rated(Rated.files([scores], few), EstimateOptions(metrics=ESTIMATED, target="items"))
    shown = view_of(found)
    demo.show(f"{shown.head}\n")
    demo.show(
        grid_as("table", shown.grids[0]) + "\n" + "".join(f"{textwrap.fill(line, WIDTH)}\n" for line in shown.remarks)
    )
    means = {row.system: fmean(each.grade for each in known if each.system == row.system) for row in found.systems}
    demo.show(
        f"For comparison, the ratings of all {len(items)} articles: "
        + ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
        + "\n"
    )


def _suggestions(demo: _Demo) -> None:
    articles, corpus, model, today = (demo.out / name for name in ("articles.en.jsonl", "corpus", MODEL, TODAY))
    build = _build_command(articles, corpus, 0)
    trained = settings_of({"corpus": corpus, "out": model, "ranker": "tf-idf"})
    train = as_line(Command("train ir-tc", settings=trained))
    comment = as_line(Command("comment", (str(today),), settings_of({"model": model, "k": SUGGESTIONS})))
    demo.begin(
        "Suggest comments for a new article, with their sources",
        "A commenter is trained on the English articles and their readers' comments, and suggests some of these for an "
        "article of today. An editor chooses.",
        [build, train, comment],
    )
    from postil.comments.call_options import CommentOptions  # noqa: PLC0415
    from postil.comments.calls import comment_articles  # noqa: PLC0415  # more is behind it
    from postil.comments.options import RetrieverTrainOptions  # noqa: PLC0415
    from postil.training.retrievers import train_retriever  # noqa: PLC0415

    new = _article_of_today(demo.out / "night-train.md")
    write(today, [new])
    write(demo.out / DESK, [new, *read(articles, Article)])
    stages = Stages(demo.out, lambda _: None)
    stages.run(_build_stage(articles, corpus, 0))
    options = RetrieverTrainOptions(ranker="tf-idf", jobs=demo.jobs)
    stages.run(
        Stage(
            name=MODEL,
            outputs=[model],
            inputs=[corpus],
            request={},
            command=train,
            work=lambda: train_retriever("ir-tc", corpus, model, options),
        )
    )
    found = tuple(comment_articles(str(today), str(model), CommentOptions(k=SUGGESTIONS, jobs=demo.jobs)))
    shown = view_of(SuggestionsResult(suggestions=found))
    demo.show(f"For “{new.title}”:\n")
    demo.show(_cards(shown))
    demo.show(f"{shown.remarks[0]}\n")


def _article_of_today(path: Path) -> Article:
    """The page whose passages are highlighted, as an article without comments."""
    page = read_document(path.read_bytes(), path.name)
    texts = [" ".join(page.text_of(block).split()) for block in page.blocks]
    return Article(
        path.stem, page.title, (), "\n\n".join(text for text in texts if text != page.title), "transport", "en"
    )


def _starters(demo: _Demo) -> None:
    source, page = map(demo.file, ("night-train.md", "highlighted.html"))
    demo.begin(
        "Find the interesting passages of a page",
        "The same article: what a conversation could begin with, and what speaks for it.",
        [as_line(Command("interesting", (source,), settings_of({"k": STARTERS, "page": page})))],
        "highlighted.html",
    )
    found = rank_sources([source], InterestingOptions(k=STARTERS, jobs=demo.jobs), page=page)
    if isinstance(found, InterestingResult):  # of one document
        demo.show(_cards(view_of(found)))


def _comments(demo: _Demo) -> None:
    """The study of commenters, on the English articles."""
    articles, folder = demo.out / "articles.en.jsonl", demo.out / "study-comments"
    corpus, candidates, judgements = folder / "corpus", demo.file("candidates.jsonl"), demo.file("judgements.jsonl")
    build = _build_command(articles, corpus, TESTED)
    given = {"corpus": corpus, "out": folder, "systems": "ir-t,ir-tc", "ranker": "tf-idf"}
    given |= {"candidates": candidates, "judgements": judgements, "scale": SCALE}
    demo.begin(
        "The study of commenters, in miniature",
        f"Automatic Article Commenting (Qin et al. 2018) on {TESTED} of the English articles: do metrics follow people "
        "better with weights? So few texts show what a study makes and prove nothing.",
        [build, as_line(Command("study comments", settings=settings_of(given)))],
    )
    from postil.studies.comments.calls import study_comments  # noqa: PLC0415  # pyarrow and more are behind it
    from postil.studies.options import CommentsOptions, Names  # noqa: PLC0415

    stages = Stages(folder, lambda _: None)
    stages.run(_build_stage(articles, corpus, TESTED))
    options = CommentsOptions(
        systems=Names(("ir-t", "ir-tc")),
        ranker="tf-idf",
        candidates=candidates,
        judgements=judgements,
        scale=SCALE,
        jobs=demo.jobs,
    )
    study_comments(str(corpus), folder, options, lambda _: None, stages)
    demo.begun("study-comments/report.html")
    table = study_text("table", read_result(folder / "study.json", StudyResult), ["table-3"])
    demo.show("".join(f"{line}\n" for line in table.splitlines() if not line.startswith("… ")))
    demo.show("The controls of each metric, and the other tables, are on the page.\n")


def _passages(demo: _Demo) -> None:
    """The study of passages."""
    folder, train = demo.out / "study-passages", find_spec("gensim") is not None
    settings = {"collection": demo.out, "out": folder, "train": None if train else False, "k": CUTS}
    demo.begin(
        "The study of passages, in miniature",
        "64 short texts on eight topics, graded by hand: which measure finds what is informative for a topic?",
        [as_line(Command("study passages", settings=settings_of(settings)))],
    )
    from postil.studies.passages.calls import study_passages  # noqa: PLC0415
    from postil.studies.passages.options import PassagesStudyOptions  # noqa: PLC0415

    study_passages(demo.out, folder, PassagesStudyOptions(train=train, k=CUTS, jobs=demo.jobs), lambda _: None)
    demo.begun("study-passages/report.html")
    if not train:
        demo.on_message("left out: measures by word vectors; pip install 'postil[vectors]'")
    demo.show(study_text("table", read_result(folder / "study.json", StudyResult), ["figure-2"]))
    demo.show("The other figures are on the page.\n")


def _build_command(articles: Path, corpus: Path, test: int) -> str:
    """The command that builds a corpus of all articles, some of them as a test set."""
    source, license_ = SAMPLE
    given = {"out": corpus, "source": source, "license": license_, "dev": 0, "test": test, **_thresholds(test)}
    return as_line(Command("corpus build", (str(articles),), settings_of(given)))


def _thresholds(test: int) -> dict[str, int]:
    """The thresholds that matter: those of test articles only where there are some."""
    return {name: least for name, least in ANY_ARTICLE.items() if test or name.startswith("min_")}


def _build_stage(articles: Path, corpus: Path, test: int) -> Stage:
    from postil.corpus.calls import build_corpus  # noqa: PLC0415  # pyarrow is behind it
    from postil.corpus.options import BuildOptions, Share  # noqa: PLC0415

    thresholds, (source, license_) = _thresholds(test), SAMPLE
    sizes: dict[str, Share] = {"dev": Share(size=0), "test": Share(size=test)}
    how = BuildOptions(source=source, license=license_, **sizes, **thresholds)  # type: ignore[arg-type]  # all numbers
    return Stage(
        name="corpus",
        outputs=[corpus],
        inputs=[articles],
        request=thresholds,
        command=_build_command(articles, corpus, test),
        work=lambda: build_corpus([articles], corpus, how, jobs=1),
    )


def _typed(command: str) -> str:
    """A command in lines that fit, to be copied; a flag and its value stay together."""
    lines: list[str] = []
    for words in _flagged(shlex.split(command)):
        if lines and len(lines[-1]) + len(words) < WIDTH - 3:
            lines[-1] += f" {words}"
        else:
            lines.append(f"{'      ' if lines else '  '}{words}")
    return " \\\n".join(lines)


def _flagged(words: Sequence[str]) -> Iterator[str]:
    """The words of a command, quoted, each flag with its value."""
    held = ""
    for word in map(shlex.quote, words):
        if held and word.startswith("-"):
            yield held
            held = ""
        if held or not word.startswith("-"):
            yield f"{held} {word}".strip()
            held = ""
        else:
            held = word
    if held:
        yield held


def _cards(view: View) -> str:
    """Whole texts with what is said of them, further in than the numbers of the chapters."""
    return textwrap.indent("\n".join(card(*each, WIDTH - 2) for each in view.cards), "  ")


def _grid(table: Table, wanted: Callable[[str], bool]) -> str:
    """Some rows of a table, by name."""
    head, *rows = table.grid()
    return grid_as("table", [head, *(row for row in rows if wanted(row[0]))])
