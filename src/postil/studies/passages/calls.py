"""`postil study passages`: graded passages in, the figures of the paper on interestingness out.

Informativeness and interestingness, each for whole passages and for their anchors alone, with word vectors trained on
the collection. Each stage writes files and prints the command that does the same. With the preset ``paper`` it is the
paper's experiment, and ends with the deviations from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.row_files import read
from postil.data.rows import Passage
from postil.errors import InvalidInput
from postil.messages import Command, Message, Setting
from postil.passages.calls import BASELINES, MEASURES, gains_of_file
from postil.passages.options import OF_OTHERS, Asked, PassagesOptions
from postil.passages.result import NcgResult, SummaryResult
from postil.passages.summaries import SummariesOptions, SummaryFiles
from postil.results.page.report import check_report
from postil.studies.passages.figures import (
    PAPER,
    TRAINED,
    Training,
    given_vectors,
    opened,
    passages_study,
    vectors_stage,
)
from postil.studies.passages.options import PAPER_PRESET, PassagesStudyOptions
from postil.studies.passages.paper import (
    Facts,
    anchors_stage,
    collection_stage,
    paper_study,
    scaled_cutoffs,
    summaries_stage,
)
from postil.studies.stages import (
    Stage,
    Stages,
    as_line,
    read_result,
    report_stage,
    settings_of,
    words_of,
    write_result,
    write_study,
)
from postil.vectors.options import VectorTrainingOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.data.progress import OnMessage
    from postil.studies.result import StudyResult

__all__ = ["study_passages"]

FILES: Final = ("passages.jsonl", "passages.jsonl.gz", "passages.parquet")
WEIGHTED: Final = tuple(f"w-{name}" for name in MEASURES if name.startswith(("f1", "logsim")))
PROTOCOLS: Final[Mapping[str, Asked]] = {"informativeness": "topic", "interestingness": "others"}
RANKED: Final = ("pool", "folds", *OF_OTHERS, "tokenizer", "stem", "stop", "scale", "resamples", "seed")
"""Options of rankings but the rank cutoffs."""
PAPER_OPTIONS: Final[Mapping[str, object]] = {"pool": "all", "folds": 12, "stem": "porter", "stop": "en"}
"""Options of the paper; they are the defaults of the study as well."""


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
    if options.preset:
        given_vectors(options.vectors)
    for path in (options.summaries, options.articles):
        if path is not None and not Path(path).is_file():
            raise InvalidInput("no such file", where=path)
    stages = Stages(out, on_message, options.stage)
    page = out / "report.html"
    check_report(page)
    stages.finish(_stages(passages, out, options, on_message))
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
    study = _Study(passages, passages, out, options, on_message)
    if options.preset:
        study = replace(study, passages=out / "passages.jsonl")
        yield collection_stage(passages, study.passages, study.command("collection"))
        study = replace(study, options=_scaled(study.passages, options))
    if study.trained:
        (out / "vectors").mkdir(exist_ok=True)
    for name in study.trained:
        yield vectors_stage(name, study.passages, out / "vectors" / name, study.training(name), on_message)
    anchored = any(row.anchors for row in read(study.passages, Passage))
    made = []
    for name, reference in PROTOCOLS.items():
        for anchors in (False, True) if anchored else (False,):
            target = out / f"{name}{'-anchors' * anchors}.json"
            made.append(target)
            if anchors and options.preset:
                asked = study.options.of(reference, (), anchors=False)
                yield anchors_stage(target, study.passages, asked, study.command(target.stem), words_of(study.settings))
            else:
                asked = study.options.of(reference, study.measures(anchors=anchors), anchors=anchors)
                yield _gains(target, study.passages, {} if anchors else study.models, asked)
    if options.summaries is not None:
        files = SummaryFiles(passages=str(study.passages), summaries=str(options.summaries), articles=options.articles)
        asked_of_runs = SummariesOptions(
            scale=options.scale,
            tokenizer=options.tokenizer,
            stem=options.stem,
            stop=options.stop,
            resamples=options.resamples,
            seed=options.seed,
            jobs=options.jobs,
        )
        yield summaries_stage(study.summaries, files, asked_of_runs)
    yield _figures(study, made)
    chapters = [path for path in made if not (options.preset and path.stem.endswith("-anchors"))]
    yield report_stage(out / "report.html", [out / "study.json", *chapters], on_message)


@dataclass(frozen=True, eq=False)
class _Study:
    """A study under way.

    Args:
        collection: The file of the passages as they were given.
        passages: The file of the passages that are measured.
        out: Output folder.
        options: Options, with rank cutoffs where the preset has them.
        on_message: Callback for status messages.
    """

    collection: Path
    passages: Path
    out: Path
    options: PassagesStudyOptions
    on_message: OnMessage

    @property
    def trained(self) -> Mapping[str, Training]:
        """Word vectors that are trained on the collection."""
        return (PAPER if self.options.preset else TRAINED) if self.options.train else {}

    @property
    def models(self) -> dict[str, Path]:
        """Folders of all word vectors, by name."""
        given = self.options.vectors
        folders = given_vectors(given) if self.options.preset else {name: Path(path) for name, path in given.items()}
        return {name: self.out / "vectors" / name for name in self.trained} | folders

    def training(self, name: str) -> VectorTrainingOptions:
        """Training options of some word vectors."""
        how, options = self.trained[name], self.options
        return VectorTrainingOptions(
            bigrams=how.pairs,
            model=how.model,
            output=how.output,
            seed=options.seed,
            tokenizer=options.tokenizer,
            stop=options.stop,
        )

    def measures(self, *, anchors: bool) -> tuple[str, ...]:
        """Measures of the paper; without the preset also weighted and given ones where passages are whole."""
        more = () if anchors or self.options.preset else (*WEIGHTED, *self.options.measures)
        return tuple(dict.fromkeys((*MEASURES, *more, *BASELINES)))

    @property
    def summaries(self) -> Path:
        """Result of scoring whole runs."""
        return self.out / "summaries.json"

    def command(self, stage: str) -> str:
        """The line of the study's command for one stage."""
        options = self.options
        more = {
            "vectors": tuple(f"{name}={folder}" for name, folder in options.vectors.items()),
            "summaries": options.summaries,
            "articles": options.articles,
            "train": None if options.train else False,
            "stage": stage,
        }
        places = settings_of({"collection": self.collection, "out": self.out})
        settings = (*places, *(self.settings if options.preset else ()), *settings_of(more))
        return as_line(Command("study passages", settings=settings))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The preset, and the options of rankings that are not the defaults."""
        usual, options = PassagesStudyOptions(), self.options
        changed = {name: getattr(options, name) for name in RANKED if getattr(options, name) != getattr(usual, name)}
        return settings_of({"preset": options.preset, **changed, "k": options.k})

    def otherwise(self) -> list[tuple[Setting, str, str]]:
        """Options that contradict the paper: the settings, the paper's values and those given."""
        pairs = [(name, paper, getattr(self.options, name)) for name, paper in PAPER_OPTIONS.items()]
        return [(Setting(name), str(paper), str(given)) for name, paper, given in pairs if given != paper] + [
            (Setting("train", False), "vectors trained on the collection", "none")  # noqa: FBT003 - a value
        ] * (not self.options.train)


def _scaled(passages: Path, options: PassagesStudyOptions) -> PassagesStudyOptions:
    """The options with the paper's rank cutoffs in proportion to the collection, unless others were given."""
    if options.k or options.pool != "all":
        return options
    try:
        grades = [row.grade or 0.0 for row in read(passages, Passage)]
    except InvalidInput:
        if options.stage is None:
            raise
        raise InvalidInput("no such file; run the stages before this one", where=str(passages)) from None
    return replace(options, k=scaled_cutoffs(sum(grade > 0 for grade in grades), len(grades)))


def _gains(target: Path, passages: Path, models: Mapping[str, Path], options: PassagesOptions) -> Stage:
    specs = (*options.measures, *(f"cosine(vectors={folder})" for folder in models.values()))
    asked = replace(options, measures=specs)
    given: dict[str, object] = {
        "measures": specs,
        "reference": asked.reference,
        "pool": asked.pool,
        "folds": asked.folds,
        "stem": asked.stem,
        "stop": asked.stop,
        "tokenizer": asked.tokenizer,
        "resamples": asked.resamples,
        "seed": asked.seed,
    }
    usual, others = PassagesOptions(), OF_OTHERS if asked.reference == "others" else ()
    changed = [name for name in others if getattr(asked, name) != getattr(usual, name)]
    given |= {name: getattr(asked, name) for name in changed}
    given |= {
        "k": asked.k,
        "leave_one_out": asked.leave_one_out or None,
        "anchors": asked.anchors or None,
        "scale": asked.scale,
    }
    settings = settings_of(given)
    command = as_line(Command("passages", (str(passages),), (*settings, *settings_of({"format": "json"}))))
    return Stage(
        name=target.stem,
        outputs=[target],
        inputs=[passages, *models.values()],
        request={"flags": words_of(settings)},
        command=command,
        printed=True,
        work=partial(write_result, target, lambda: gains_of_file(str(passages), asked, command=command)[0]),
    )


def _figures(study: _Study, made: list[Path]) -> Stage:
    def work() -> None:
        found = {path.stem: read_result(path, NcgResult) for path in made}
        if study.options.preset:
            write_study(study.out, _paper_study(study, found))
        else:
            models = [opened(name, folder) for name, folder in study.models.items()]
            write_study(study.out, passages_study(_named(study.collection), found, models))

    return Stage(
        name="figures",
        outputs=[study.out / "study.json", study.out / "study.md"],
        inputs=[*made, *study.models.values(), *([study.summaries] if study.options.summaries else [])],
        request={"name": _named(study.collection)} | ({"preset": study.options.preset} if study.options.preset else {}),
        command=study.command("figures"),
        work=work,
    )


def _paper_study(study: _Study, found: Mapping[str, NcgResult]) -> StudyResult:
    rows = read(study.passages, Passage)
    how = study.options.of("topic", (), anchors=False)
    collection = how.collection(list(rows), rows.places, study.options.jobs)
    merged = sum(1 for _ in read(study.collection, Passage)) - len(collection)
    for option, paper, given in study.otherwise():
        study.on_message(
            Message(
                "{preset}: {option} is taken as given: {given}; the paper has {paper}",
                preset=PAPER_PRESET,
                option=option,
                given=given,
                paper=paper,
            )
        )
    facts = Facts(
        name=_named(study.collection),
        models=[opened(name, folder, collection) for name, folder in study.models.items()],
        trained=tuple(study.trained),
        merged=merged,
        otherwise=study.otherwise(),
        summaries=read_result(study.summaries, SummaryResult) if study.options.summaries else None,
    )
    return paper_study(found, facts)
