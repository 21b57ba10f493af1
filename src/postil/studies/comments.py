"""`postil study comments`: a corpus in, the tables of Automatic Article Commenting (Qin et al. 2018) out.

Commenters are trained on the corpus or taken as they are, and comment on its test articles; a reader's comment is one
more system. Metrics, unweighted and weighted, score all systems and are correlated with human ratings where there are
some. Each stage writes files and prints the command that does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.comments import neural_commenter, retrieval
from postil.comments.store import Model
from postil.corpus.store import Corpus
from postil.page.report import check_report
from postil.studies import comments_stages
from postil.studies.comments_data import CommentsStudy
from postil.studies.comments_systems import check
from postil.studies.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postil.data.progress import OnMessage
    from postil.studies.comments_options import CommentsOptions
    from postil.studies.stages import Stage

__all__ = ["study_comments"]


def study_comments(
    corpus: str, out: Path, options: CommentsOptions, on_message: OnMessage, stages: Stages | None = None
) -> Path:
    """Run the stages of the study that are not done yet.

    Args:
        corpus: A corpus with a test set.
        out: Output folder.
        options: Options of the study.
        on_message: Callback for status messages.
        stages: Stages that ran before these; None if there were none.

    Returns:
        The page.

    Raises:
        UsageError, UnknownName: The options contradict one another or the corpus.
        InvalidInput: The corpus, a model or a file is invalid.
        MissingExtra: An optional package is not installed.
        PostilError: The operating system reports an error, or a training fails.
    """
    opened = Corpus.open(corpus)
    stages = stages or Stages(out, on_message, options.stage)
    report = out / "report.html"
    check_report(report)  # before any stage runs
    study = CommentsStudy.of(opened, out, options, on_message)
    for name, folder in study.models.items():
        if name not in options.models and options.stage in {None, name} and not folder.exists():
            check(study, name)
    for each in study.by_seed:
        for name in ("models", "suggestions"):
            (each.out / name).mkdir(parents=True, exist_ok=True)
    for stage in _stages(study):
        stages.run(stage)
    stages.close()
    return report


def _stages(study: CommentsStudy) -> Iterator[Stage]:
    yield comments_stages.statistics(study)
    for each in study.by_seed:
        for name in study.models:
            if name not in study.options.models:
                yield comments_stages.training(each, name)
        _check_models(each)
    yield comments_stages.references(study)
    for each in study.by_seed:
        for name in study.models:
            yield comments_stages.suggestions(each, name)
        yield comments_stages.candidates(each)
    yield comments_stages.scores(study)
    yield comments_stages.comparison(study)
    if study.options.judgements:
        yield comments_stages.correlations(study)
    yield comments_stages.tables(study)
    yield comments_stages.page(study)


def _check_models(study: CommentsStudy) -> None:
    """Check that the commenters' tokenizer is that of the corpus."""
    for name, folder in study.models.items():
        if (not folder.exists() and study.options.stage) or (not study.is_first and name in study.options.models):
            continue
        model = Model.open(folder, (*retrieval.KINDS, *neural_commenter.KINDS))
        model.check_tokenizer(study.corpus.tokenizer, study.corpus.path, f"{name}: ")
        if not model.trained_on(study.corpus.metadata.origin):
            study.on_message(f"{name}: trained on another corpus, which may contain the test articles")
