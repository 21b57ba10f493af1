"""`postil study passages`: graded passages in, the figures of the paper on interestingness out.

Informativeness and interestingness, each for whole passages and for their anchors alone, with word vectors trained on
the collection. Each stage writes files and prints the command that does the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from postil.app.passages import BASELINES, MEASURES, PassagesOptions, RankingOptions, gains_of_file
from postil.app.report import check_report, write_report
from postil.app.study.passages_figures import Model, passages_study
from postil.app.study.stages import Stage, Stages, as_line, flags, read_result, write_text
from postil.app.vectors import VectorTrainingOptions, train_on_file
from postil.errors import InvalidInput
from postil.options import Flag, options
from postil.records.result_files import read_results
from postil.records.results import NcgResult, to_json
from postil.records.row_files import read
from postil.records.rows import Passage
from postil.render.study import study_text
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.app.passages import Asked
    from postil.app.progress import OnMessage

__all__ = ["PassagesStudyOptions", "study_passages"]

FILES: Final = ("passages.jsonl", "passages.jsonl.gz", "passages.parquet")
WEIGHTED: Final = tuple(f"w-{name}" for name in MEASURES if name.startswith(("f1", "logsim")))
PROTOCOLS: Final[Mapping[str, Asked]] = {"informativeness": "topic", "interestingness": "others"}
TRAINED: Final = {"w2v-words": False, "w2v-pairs": True}
"""Word vectors trained on the collection, by name; True for vectors of pairs of words."""


@options
class PassagesStudyOptions(RankingOptions):
    """Options of `postil study passages`; see `postil.app.passages.PassagesOptions`.

    Args:
        vectors: Word vectors besides those trained on the collection; repeatable.
        train: Train vectors of words and pairs of words on the collection.
        tokenizer: Tokenizer.
        stem: Stemmer, or none; vectors are of words without stemming.
        stop: List of stop words, or none.
        stage: Run this stage alone; by default all that are not done yet.
    """

    vectors: Annotated[Mapping[str, str], Flag(metavar="NAME=FOLDER")] = field(default_factory=dict)
    train: Annotated[bool, Flag(("--train/--no-train",))] = True
    tokenizer: Annotated[str, Flag(metavar="NAME")] = "words"
    stem: Annotated[str, Flag(metavar="NAME")] = "porter"
    stop: Annotated[str, Flag(metavar="LANG")] = "en"
    stage: Annotated[str | None, Flag(metavar="NAME")] = None

    def of(self, reference: Asked, measures: tuple[str, ...], *, anchors: bool) -> PassagesOptions:
        """Options of one run of `postil passages`.

        Args:
            reference: The protocol.
            measures: Specs.
            anchors: True to measure anchors in place of whole passages.
        """
        return PassagesOptions(
            measures=measures,
            reference=reference,
            folds=self.folds,
            leave_one_out=reference == "topic",
            pool=self.pool,
            k=self.k,
            tokenizer=self.tokenizer,
            stem=self.stem,
            stop=self.stop,
            anchors=anchors,
            scale=self.scale,
            resamples=self.resamples,
            seed=self.seed,
            jobs=self.jobs,
        )


def study_passages(collection: Path, out: Path, options: PassagesStudyOptions, on_message: OnMessage) -> Path:
    """Run the stages of the study that are not done yet.

    Args:
        collection: A folder with passages, or their file.
        out: Output folder.
        options: Options of the study.
        on_message: Callback for status messages.

    Returns:
        The page.

    Raises:
        UsageError, UnknownName, Undefined: The options contradict one another or the passages.
        InvalidInput: There are no passages, or they are invalid.
        MissingExtra: gensim, matplotlib or jinja2 is not installed.
        PostilError: The operating system reports an error.
    """
    for reference in PROTOCOLS.values():
        options.of(reference, (), anchors=False)  # refuses invalid options before anything is written
    passages = _file(collection)
    stages = Stages(out, on_message, options.stage)
    page = out / "report.html"
    check_report(page)
    for stage in _stages(passages, out, options, on_message):
        stages.run(stage)
    stages.close()
    return page


def _file(collection: Path) -> Path:
    """The passages of a collection."""
    if collection.is_file():
        return collection
    found = [collection / name for name in FILES if (collection / name).is_file()]
    if len(found) == 1:
        return found[0]
    problem = f"expected one of {', '.join(FILES)}; postil corpus import trec and inex write such files"
    raise InvalidInput(problem, where=str(collection))


def _named(passages: Path) -> str:
    """Name of a collection: that of its file, or of its folder where the file has the usual name."""
    return passages.resolve().parent.name if passages.name in FILES else passages.name


def _stages(passages: Path, out: Path, options: PassagesStudyOptions, on_message: OnMessage) -> Iterator[Stage]:
    models = {name: out / "vectors" / name for name in TRAINED if options.train}
    if models:
        (out / "vectors").mkdir(exist_ok=True)
    for name, folder in models.items():
        yield _vectors(name, passages, folder, options, on_message)
    models |= {name: Path(folder) for name, folder in options.vectors.items()}
    anchored = any(row.anchors for row in read(passages, Passage))
    made = []
    for name, reference in PROTOCOLS.items():
        for anchors in (False, True) if anchored else (False,):
            target = out / f"{name}{'-anchors' * anchors}.json"
            made.append(target)
            yield _gains(
                target, passages, {} if anchors else models, options.of(reference, _measures(anchors), anchors=anchors)
            )
    yield _figures(passages, out, made, models, options)
    yield _page(out, made, on_message)


def _measures(anchors: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Measures of the paper; also weighted ones where passages are whole."""
    return (*MEASURES, *(() if anchors else WEIGHTED), *BASELINES)


def _vectors(name: str, passages: Path, folder: Path, options: PassagesStudyOptions, on_message: OnMessage) -> Stage:
    how = VectorTrainingOptions(
        bigrams=TRAINED[name], seed=options.seed, tokenizer=options.tokenizer, stop=options.stop
    )
    words = flags({"tokenizer": options.tokenizer, "stop": options.stop, "seed": options.seed})
    words += ["--bigrams"] if how.bigrams else []
    return Stage(
        name=name,
        outputs=[folder],
        inputs=[passages],
        request={"flags": words},
        command=["vectors", "train", passages, "--out", folder, *words],
        work=lambda: train_on_file(str(passages), str(folder), how, on_message),
    )


def _gains(target: Path, passages: Path, models: Mapping[str, Path], options: PassagesOptions) -> Stage:
    specs = (*options.measures, *(f"cosine(vectors={folder})" for folder in models.values()))
    asked = replace(options, measures=specs)
    given = {
        "reference": asked.reference,
        "pool": asked.pool,
        "folds": asked.folds,
        "stem": asked.stem,
        "stop": asked.stop,
        "tokenizer": asked.tokenizer,
        "resamples": asked.resamples,
        "seed": asked.seed,
    }
    words = [word for spec in specs for word in ("-m", spec)] + flags(given)
    words += [word for k in asked.k for word in ("-k", k)]
    words += ["--leave-one-out"] * asked.leave_one_out + ["--anchors"] * asked.anchors + flags({"scale": asked.scale})
    command = ["passages", passages, *words, "--format", "json"]

    def work() -> None:
        result, _ = gains_of_file(str(passages), asked, command=as_line(command))
        write_text(target, to_json(result))

    return Stage(
        name=target.stem,
        outputs=[target],
        inputs=[passages, *models.values()],
        request={"flags": [str(word) for word in words]},
        command=command,
        printed=True,
        work=work,
    )


def _figures(
    passages: Path, out: Path, made: list[Path], folders: Mapping[str, Path], options: PassagesStudyOptions
) -> Stage:
    target, text = out / "study.json", out / "study.md"
    given = [word for name, folder in options.vectors.items() for word in ("--vectors", f"{name}={folder}")]
    words = [*given, *([] if options.train else ["--no-train"]), "--stage", "figures"]

    def work() -> None:
        models = []
        for name, folder in folders.items():
            vectors = Vectors.open(folder)
            models.append(Model(name, f"cosine(vectors={folder})", len(vectors), pairs=vectors.bigrams))
        study = passages_study(_named(passages), {path.stem: read_result(path, NcgResult) for path in made}, models)
        write_text(target, to_json(study))
        write_text(text, study_text("markdown", study))

    return Stage(
        name="figures",
        outputs=[target, text],
        inputs=[*made, *folders.values()],
        request={"name": _named(passages)},
        command=["study", "passages", "--collection", passages, "--out", out, *words],
        work=work,
    )


def _page(out: Path, made: list[Path], on_message: OnMessage) -> Stage:
    page, inputs = out / "report.html", [out / "study.json", *made]

    def work() -> None:
        write_report(read_results(inputs), page)
        on_message(f"written: {page}")

    return Stage(
        name="report",
        outputs=[page],
        inputs=inputs,
        request={},
        command=["report", *inputs, "--out", page],
        work=work,
    )
