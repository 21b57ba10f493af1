"""`postil study comments --tencent`: import of the published release, corpus, study."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from postil.corpus.calls import build_corpus
from postil.corpus.importers.articles import TencentOptions, import_tencent
from postil.corpus.options import BuildOptions
from postil.data.row_files import read
from postil.data.rows import Article
from postil.data.scale import Scale
from postil.errors import InvalidInput
from postil.messages import Command
from postil.results.formats import listed
from postil.studies.comments import study_comments
from postil.studies.comments_options import SYSTEMS, CommentsOptions, Names
from postil.studies.stages import Stage, Stages, as_line, settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from postil.data.progress import OnMessage

__all__ = ["study_tencent"]

SPLITS: Final = ("train", "dev", "test")
CONTENTS: Final = ("contents.jsonl", "contents.jsonl.gz", "contents.tsv", "contents.tsv.gz")
SCALES: Final = (Scale(0, 1), Scale(1, 5))
"""The scale of the release, and that of the paper."""
WITHOUT_CONTENTS: Final = ("ir-t", "seq2seq", "att")
"""Commenters that read titles alone."""
SOURCE: Final = "Qin et al. 2018, Automatic Article Commenting"
LICENSE: Final = "research only"
TOKENIZER: Final = "rjieba"
COMMENTS: Final = 20


def study_tencent(release: Path, out: Path, options: CommentsOptions, on_message: OnMessage) -> Path:
    """Import the release, build its corpus, and run the study on it.

    Args:
        release: A folder with ``data.train.json``, ``data.dev.json`` and ``data.test.json``, and ``contents.jsonl`` or
            ``contents.tsv`` (url, content) where contents were fetched; each may be compressed (``.gz``). Without
            contents the systems are those that read titles.
        out: Output folder.
        options: Options of the study. The default scale of the references is 0 to 1 if all their grades are in that
            range, else 1 to 5; that of the judgements is 1 to 5.
        on_message: Callback for status messages.

    Returns:
        The page.

    Raises:
        InvalidInput: A file of the release is missing or invalid.
        UsageError, MissingExtra, PostilError: As `study_comments`.
    """
    files = _files(release)
    contents = [path for path in (release / name for name in CONTENTS) if path.is_file()]
    if not contents and options.systems is None and options.names == SYSTEMS:
        options = replace(options, systems=Names(WITHOUT_CONTENTS))
        on_message(f"no contents.jsonl in {release}: no commenter that reads contents is trained")
    stages = Stages(out, on_message, options.stage)
    rows = {split: out / f"{split}.jsonl.gz" for split in SPLITS}
    for split, path in files.items():
        stages.run(_imported(split, path, contents, rows[split], on_message))
    if options.stage not in stages.names:
        stages.run(_built(rows, out / "corpus", options, on_message, least=30 if contents else 0))
    if options.stage in stages.names:
        return out / "report.html"
    scale = options.scale or _scale(rows["test"])
    options = replace(options, scale=scale, judgement_scale=options.judgement_scale or options.scale or SCALES[1])
    return study_comments(str(out / "corpus"), out, options, on_message, stages)


def _files(release: Path) -> dict[str, Path]:
    """The file of each split."""
    plain = {split: release / f"data.{split}.json" for split in SPLITS}
    found = {split: path if path.is_file() else path.with_name(f"{path.name}.gz") for split, path in plain.items()}
    missing = [plain[split].name for split, path in found.items() if not path.is_file()]
    if missing:
        below = [path.parent for path in sorted(release.glob("*/data.train.json*"))]
        hint = f"; is it {below[0]}?" if below and len(missing) == len(SPLITS) else ""
        where, problem = str(release), f"{listed(missing)} missing; expected the folder of the Tencent release{hint}"
        raise InvalidInput(problem if release.is_dir() else "no such folder", where=where)
    return found


def _scale(test: Path) -> Scale:
    """The scale of the release's grades."""
    grades = [
        comment.grade for article in read(test, Article) for comment in article.comments if comment.grade is not None
    ]
    return SCALES[max(grades, default=0) > 1]


def _imported(split: str, path: Path, contents: list[Path], target: Path, on_message: OnMessage) -> Stage:
    settings = settings_of({"contents": tuple(contents), "out": target})
    return Stage(
        name=f"import-{split}",
        outputs=[target],
        inputs=[path, *contents],
        request={},
        command=as_line(Command("corpus import tencent", (str(path),), settings)),
        work=lambda: import_tencent(
            [path], str(target), TencentOptions(contents=tuple(str(each) for each in contents)), on_message
        ),
    )


def _built(
    rows: dict[str, Path], target: Path, options: CommentsOptions, on_message: OnMessage, *, least: int
) -> Stage:
    how = BuildOptions(
        source=SOURCE,
        license=LICENSE,
        tokenizer=TOKENIZER,
        min_content_words=least,
        min_comments=COMMENTS,
        seed=options.seed,
    )
    given = {"min_content_words": least, "min_comments": COMMENTS, "tokenizer": TOKENIZER}
    about = {"source": SOURCE, "license": LICENSE, "seed": options.seed, "out": target}
    settings = settings_of({"dev_from": rows["dev"], "test_from": rows["test"], **given, **about})
    return Stage(
        name="corpus",
        outputs=[target],
        inputs=list(rows.values()),
        request={**given, "seed": options.seed},
        command=as_line(Command("corpus build", (str(rows["train"]),), settings)),
        work=lambda: build_corpus(
            [rows["train"]], target, how, dev=rows["dev"], test=rows["test"], jobs=options.jobs, on_message=on_message
        ),
    )
