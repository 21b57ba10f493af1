"""The journey of `postil study comments`: a corpus in, the tables of Automatic Article Commenting (ACL 2018) out.

Commenters are trained on the corpus or taken as they are, and comment on its test articles; a comment of a reader
stands beside them. Metrics score them all, plain and weighted, and are held against people's grades where there are
some. Each stage leaves files, and does what a command does that is printed.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.app.commenting.files import CommentOptions, comment_files
from postil.app.commenting.output import suggestions_as
from postil.app.comparing import CompareOptions, compare_files, comparison_as
from postil.app.corpus.stats import count_corpus
from postil.app.corpus.stats import statistics_as as corpus_as
from postil.app.correlating.files import CorrelateOptions, correlate_files
from postil.app.correlating.output import as_json as correlations_as_json
from postil.app.evaluating.references import HUMAN, Readers, needs_scale, read_readers
from postil.app.output import to_json
from postil.app.progress import progress
from postil.app.report import check_report, read_results, write_report
from postil.app.scoring.files import ScoringOptions, score_files
from postil.app.scoring.output import scores_as
from postil.app.study.candidates import read_given
from postil.app.study.comments_tables import Told, comments_study
from postil.app.study.output import study_as
from postil.app.study.stages import Stage, Stages, read_json, write_text
from postil.app.training.generators import GeneratorTrainOptions, train_commenter
from postil.app.training.retrievers import TrainOptions, train_retriever
from postil.commenters import generation, retrieval
from postil.commenters.base import Suggestions
from postil.commenters.store import Model
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.metaeval.disagreement import worst
from postil.metrics.controls import ControlOptions
from postil.metrics.panel import parse_all
from postil.records.files import read, write
from postil.records.replace import Replacement
from postil.records.rows import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.app.study.stages import Say
    from postil.records.scale import Scale

__all__ = ["FITTING", "METRICS", "SYSTEMS", "CommentsOptions", "study_comments"]

SYSTEMS: Final = ("ir-t", "ir-tc", "seq2seq", "att", "att-tc")
"""The five of the paper."""

FITTING: Final = "w-meteor(params=en,characters=true,corpus=chosen)"
"""What comes nearest to the W-METEOR of the paper's own tables, with weights grade / 5."""

METRICS: Final = (
    *(
        f"{w}{name}"
        for name in ("meteor", "rouge-l", "cider", "bleu-1", "bleu-2", "bleu-3", "bleu-4")
        for w in ("", "w-")
    ),
    FITTING.removeprefix("w-").replace(",corpus=chosen", ""),
    FITTING,
)

PAIRS: Final = (("meteor", "bleu-1"), ("w-meteor", "meteor"))
"""Whose disagreements Tables 5 and 6 show."""


@dataclass(frozen=True, kw_only=True)
class CommentsOptions:
    """What `postil study comments` is asked for.

    Args:
        systems: The commenters to train, each by its kind.
        models: Trained ones to take, name -> folder; one that is among ``systems`` is then not trained.
        ranker: Of ``ir-t`` and ``ir-tc``: ``both``, ``relevance`` (the paper's) or ``tf-idf``.
        softmax: Of those that write: ``full`` or ``sampled``.
        epochs: The most each network goes through the corpus.
        device: Where networks are trained.
        candidates: What systems that were run elsewhere say of the test articles, beside the commenters; a system
            `HUMAN` among them is then the reader's comment.
        judgements: People's grades of the candidates.
        scale: The scale of all grades.
        judged_scale: That of the judgements, where it is another.
        weights: Where the references' weights come from; None for people's grades where every reference has one, else
            votes, else consensus.
        metrics: Specs.
        draws: How many times controls shuffle weights.
        resamples: How many resamples of the articles.
        permutations: How many permutations, for tests.
        seed: Seed of all that is random.
        jobs: Threads; but for what is trained, nothing depends on it.
        stage: The one stage to run; None for all.
    """

    systems: tuple[str, ...] = SYSTEMS
    models: Mapping[str, str] = field(default_factory=dict)
    ranker: str = "both"
    softmax: str = "full"
    epochs: int | None = None
    device: str | None = None
    candidates: str | None = None
    judgements: str | None = None
    scale: Scale | None = None
    judged_scale: Scale | None = None
    weights: str | None = None
    metrics: tuple[str, ...] = METRICS
    draws: int = 100
    resamples: int = 1000
    permutations: int = 10_000
    seed: int = 20181
    jobs: int = 1
    stage: str | None = None

    def __post_init__(self) -> None:
        for name in self.systems:
            if name not in (*SYSTEMS, *self.models):
                raise UnknownName("commenter", name, SYSTEMS)
        if HUMAN in self.models:
            raise UsageError(f"--model {HUMAN}: that is what the readers' comment is called")
        if not self.names and self.candidates is None:
            raise UsageError("no commenter: expected --systems, --model or --candidates")
        parse_all(self.metrics)

    @property
    def names(self) -> tuple[str, ...]:
        """The commenters, those of the paper in its order."""
        return tuple(dict.fromkeys([*self.systems, *self.models]))


def study_comments(corpus: str, out: Path, options: CommentsOptions, say: Say, stages: Stages | None = None) -> Path:
    """Run the study, or what of it is not done yet.

    Args:
        corpus: A corpus with a test set.
        out: The folder to leave everything in.
        options: What is asked for.
        say: Takes words for people.
        stages: The stages before these, if there were some.

    Returns:
        The page.

    Raises:
        UsageError, UnknownName: The request makes no sense.
        InvalidInput: Something in the corpus, a model or a file is wrong; says where.
        MissingExtra: Something that is needed is not installed.
        PostilError: The system refuses to write, or a training fails.
    """
    opened = Corpus.open(corpus)
    stages = stages or Stages(out, say, options.stage)
    page = out / "report.html"
    check_report(page)  # before the work is done
    (out / "models").mkdir(exist_ok=True)
    (out / "suggestions").mkdir(exist_ok=True)
    study = _Study(opened, out, options, say)
    for stage in study.stages():
        stages.run(stage)
    stages.close()
    return page


@dataclass(eq=False)
class _Study:
    """A study under way."""

    corpus: Corpus
    out: Path
    options: CommentsOptions
    say: Say

    def __post_init__(self) -> None:
        self.folder = Path(self.corpus.path)
        self.models = {
            name: Path(self.options.models.get(name, self.out / "models" / name)) for name in self.options.names
        }
        if "test" not in self.corpus.splits:
            raise UsageError(f"{self.corpus.path}: it has no test set; it has {', '.join(self.corpus.splits)}")
        self.readers = read_readers(self.corpus, "test", self.options.seed)
        self.given: dict[str, list[Candidate]] = {}
        if self.options.candidates is not None:
            articles = list(self.corpus.articles("test"))
            self.given = read_given(self.options.candidates, articles, self.options.names, self.say)
            if HUMAN in self.given:  # nobody is drawn, so that all comments are references
                kept = [msgspec.structs.replace(article, held_out=()) for article in articles]
                self.readers = Readers(self.readers.where, kept, [], 0)
            here = {article.id for article in self.readers.articles}
            self.given = {name: [row for row in rows if row.item in here] for name, rows in self.given.items()}
        self.weights = self.options.weights or self.readers.usual_method()
        if needs_scale(self.weights) and self.options.scale is None:
            raise UsageError(f"{self.corpus.path}: its references have grades; say their scale, such as --scale 1:5")

    @property
    def _drawn(self) -> tuple[str, ...]:
        """The readers' comment, unless it is given."""
        return () if HUMAN in self.given else (HUMAN,)

    def _scale_of_weights(self) -> Scale | None:
        return self.options.scale if needs_scale(self.weights) else None

    def stages(self) -> Iterator[Stage]:
        """All stages, in order."""
        yield self._statistics()
        for name in self.models:
            if name not in self.options.models:
                yield self._training(name)
        self._check_models()
        yield self._references()
        for name in self.models:
            yield self._suggestions(name)
        yield self._candidates()
        yield self._scores()
        yield self._comparison()
        if self.options.judgements:
            yield self._correlations()
        yield self._tables()
        yield self._page()

    def _statistics(self) -> Stage:
        target, scale = self.out / "statistics.json", self._scale_of_weights()
        return Stage(
            name="statistics",
            outputs=[target],
            inputs=[self.folder],
            request={"scale": str(scale)},
            command=["corpus", "stats", self.folder, "--format", "json", *_scale(scale)],
            printed=True,
            work=lambda: write_text(
                target,
                corpus_as("json", count_corpus(self.folder, scale=scale, jobs=self.options.jobs, say=self.say)),
            ),
        )

    def _training(self, name: str) -> Stage:
        options, target = self.options, self.models[name]
        training = {"epochs": options.epochs, "device": options.device}
        given = {key: value for key, value in training.items() if value is not None}
        flags = [word for key, value in given.items() for word in (f"--{key}", value)]
        work: Callable[[], object]
        if name in retrieval.KINDS:
            asked = TrainOptions(
                ranker=options.ranker,
                training=given if options.ranker != "tf-idf" else {},
                seed=options.seed,
                jobs=options.jobs,
            )
            flags = ["--ranker", options.ranker, *(flags if options.ranker != "tf-idf" else [])]
            work = partial(train_retriever, name, self.folder, target, asked, say=self.say, watch=progress)
        else:
            network = {} if options.softmax == "full" else {"softmax": options.softmax}
            writing = GeneratorTrainOptions(network=network, training=given, seed=options.seed)
            flags = ["--softmax", options.softmax, *flags]
            work = partial(train_commenter, name, self.folder, target, writing, say=self.say, watch=progress)
        command = ["train", name, "--corpus", self.folder, "--out", target, *flags, "--seed", options.seed]
        return Stage(
            name=name,
            outputs=[target],
            inputs=[self.folder],
            request={"train": [str(word) for word in flags if word != options.device], "seed": options.seed},
            command=command,
            work=work,
        )

    def _check_models(self) -> None:
        """What is there was made for texts that are cut as the corpus's are."""
        for name, folder in self.models.items():
            if not folder.exists() and self.options.stage:
                continue
            model = Model.open(folder, (*retrieval.KINDS, *generation.KINDS))
            if (theirs := model.config.get("tokenizer", self.corpus.tokenizer)) != self.corpus.tokenizer:
                problem = f"its tokenizer is {theirs}, that of {self.corpus.path} {self.corpus.tokenizer}"
                raise InvalidInput(f"{name}: {problem}; train it on a corpus cut the same way", where=str(folder))
            if self._is_of_another_corpus(model):
                self.say(f"{name}: made of another corpus; whether it has seen the test articles is not known")

    def _is_of_another_corpus(self, model: Model) -> bool:
        theirs, ours = model.made.get("corpus") or {}, self.corpus.made
        return any(theirs.get(key) != ours.get(key) for key in ("inputs", "options"))

    def _references(self) -> Stage:
        """The test articles without comments, their references, and a comment of each that is none."""
        articles, references, *humans = (
            self.out / f"{name}.jsonl" for name in ("articles", "references", *self._drawn)
        )
        readers = self.readers

        def work() -> None:
            write(articles, (msgspec.structs.replace(article, comments=()) for article in readers.articles))
            write(references, (row for article in readers.articles for row in article.references()))
            for target in humans:
                drawn = zip(readers.articles, readers.humans, strict=True)
                write(target, (Candidate(article.id, HUMAN, text) for article, text in drawn))

        return Stage(
            name="references",
            outputs=[articles, references, *humans],
            inputs=[self.folder],
            request={"seed": self.options.seed, "drawn": list(self._drawn)},
            command=self._self("references"),
            work=work,
        )

    def _suggestions(self, name: str) -> Stage:
        target, articles, model = (
            self.out / "suggestions" / f"{name}.jsonl",
            self.out / "articles.jsonl",
            self.models[name],
        )

        def work() -> None:
            with Replacement(str(target)) as stream:
                for row in comment_files(str(articles), str(model), CommentOptions(k=1, jobs=self.options.jobs)):
                    stream.write(suggestions_as("jsonl", [row]).encode())

        return Stage(
            name=f"suggestions-{name}",
            outputs=[target],
            inputs=[articles, model],
            request={},
            command=["comment", articles, "--model", model, "-k", 1, "--format", "jsonl"],
            printed=True,
            work=work,
        )

    def _candidates(self) -> Stage:
        """What each system says of each article in one file; empty where it says nothing."""
        target, humans = self.out / "candidates.jsonl", [self.out / f"{name}.jsonl" for name in self._drawn]
        sources = {name: self.out / "suggestions" / f"{name}.jsonl" for name in self.models}
        elsewhere = [Path(self.options.candidates)] if self.options.candidates else []

        def work() -> None:
            rows = [
                Candidate(row.article, name, row.suggestions[0].text if row.suggestions else "")
                for name, source in sources.items()
                for row in read(source, Suggestions)
            ]
            rows += [one for said in self.given.values() for one in said]
            rows += [one for each in humans for one in read(each, Candidate)]
            rows.sort(key=lambda one: one.system == HUMAN)  # readers come last
            write(target, rows)

        return Stage(
            name="candidates",
            outputs=[target],
            inputs=[*sources.values(), *humans, *elsewhere],
            request={"systems": list(sources)},
            command=self._self("candidates"),
            work=work,
        )

    def _scores(self) -> Stage:
        items, totals = self.out / "scores.jsonl.gz", self.out / "scores.json"
        candidates, references = self.out / "candidates.jsonl", self.out / "references.jsonl"
        options, tokenizer = self.options, self.corpus.tokenizer
        judged = options.judgements is not None
        asked = ScoringOptions(
            metrics=options.metrics,
            tokenizer=tokenizer,
            scale=self._scale_of_weights(),
            weights=self.weights,
            items=str(items),
            controls=ControlOptions(draws=options.draws, seed=options.seed) if judged else None,
            jobs=options.jobs,
            allow_han=True,
        )
        flags: list[object] = [word for spec in options.metrics for word in ("-m", spec)]
        flags += ["--tokenizer", tokenizer, "--weights", self.weights, *_scale(asked.scale), "--items", items]
        flags += ["--controls", "--draws", options.draws, "--seed", options.seed] if judged else []
        return Stage(
            name="scores",
            outputs=[totals, items],
            inputs=[candidates, references],
            request={
                "metrics": list(options.metrics),
                "tokenizer": tokenizer,
                "weights": self.weights,
                "scale": str(asked.scale),
                "controls": [options.draws, options.seed] if judged else None,
            },
            command=["score", candidates, "--references", references, *flags, "--format", "json"],
            printed=True,
            work=lambda: write_text(
                totals, scores_as("json", score_files(str(candidates), str(references), asked, self.say))
            ),
        )

    def _comparison(self) -> Stage:
        target, items, options = self.out / "comparison.json", self.out / "scores.jsonl.gz", self.options
        asked = CompareOptions(
            baseline=HUMAN, resamples=options.resamples, permutations=options.permutations, seed=options.seed
        )
        flags = ["--resamples", options.resamples, "--permutations", options.permutations, "--seed", options.seed]
        command = ["compare", items, "--baseline", HUMAN, *flags, "--format", "json"]

        def work() -> None:
            write_text(target, comparison_as("json", compare_files([str(items)], asked), _line(command)))

        return Stage(
            name="comparison",
            outputs=[target],
            inputs=[items],
            request={"resamples": options.resamples, "permutations": options.permutations, "seed": options.seed},
            command=command,
            printed=True,
            work=work,
        )

    def _correlations(self) -> Stage:
        target, items, options = self.out / "correlations.json", self.out / "scores.jsonl.gz", self.options
        candidates, judgements = self.out / "candidates.jsonl", Path(str(options.judgements))
        scale = options.judged_scale or options.scale
        asked = CorrelateOptions(
            coefficients=("spearman", "pearson", "kendall-b"),
            scale=scale,
            resamples=options.resamples,
            permutations=options.permutations,
            seed=options.seed,
            jobs=options.jobs,
        )
        chosen = ["-c", "spearman", "-c", "pearson", "-c", "kendall-b", *_scale(scale)]
        flags = ["--resamples", options.resamples, "--permutations", options.permutations, "--seed", options.seed]
        command = ["correlate", items, "--judgements", judgements, "--candidates", candidates, *chosen, *flags]

        def work() -> None:
            found = correlate_files([str(items)], str(judgements), asked, str(candidates))
            shown = {}
            for first, second in PAIRS:  # Tables 5 and 6
                with suppress(Undefined, UnknownName):
                    shown[first, second] = worst(found.table, first, second, asked.worst)
            found = replace(found, disagreements={**shown, **found.disagreements})
            line = _line([*command, "--format", "json"])
            write_text(target, to_json(correlations_as_json(found, points=True, command=line)))

        return Stage(
            name="correlations",
            outputs=[target],
            inputs=[items, candidates, judgements],
            request={
                "scale": str(scale),
                "resamples": options.resamples,
                "permutations": options.permutations,
                "seed": options.seed,
            },
            command=[*command, "--format", "json"],
            printed=True,
            work=work,
        )

    def _tables(self) -> Stage:
        """The tables as the paper has them, its own beside ours."""
        target, text, options = self.out / "study.json", self.out / "study.md", self.options
        names = ["statistics.json", "scores.json", "candidates.jsonl", "references.jsonl", "comparison.json"]
        names += ["correlations.json"] if options.judgements else []
        inputs = [self.out / name for name in names]

        def work() -> None:
            models = {name: Model.open(folder) for name, folder in self.models.items()}
            told = Told(
                where=str(self.folder),
                tokenizer=self.corpus.tokenizer,
                articles=len(self.readers.articles),
                left_out=self.readers.left_out,
                weights=self.weights,
                scale=self._scale_of_weights(),
                chosen=options.weights is not None,
                fitting=FITTING,
                seed=options.seed,
                models=models,
                others=[name for name, model in models.items() if self._is_of_another_corpus(model)],
                given=dict.fromkeys(self.given, self.options.candidates or ""),
                statistics=read_json(self.out / "statistics.json"),
                scores=read_json(self.out / "scores.json"),
                candidates=list(read(self.out / "candidates.jsonl", Candidate)),
                judged=read_json(self.out / "correlations.json") if options.judgements else None,
            )
            made = comments_study(told)
            write_text(target, to_json(made))
            write_text(text, study_as("markdown", made))

        return Stage(
            name="tables",
            outputs=[target, text],
            inputs=[*inputs, *self.models.values()],
            request={
                "weights": self.weights,
                "scale": str(options.scale),
                "chosen": options.weights is not None,
                "given": dict.fromkeys(self.given, options.candidates),
            },
            command=self._self("tables"),
            work=work,
        )

    def _page(self) -> Stage:
        page = self.out / "report.html"
        names = ["study.json", *(["correlations.json"] if self.options.judgements else []), "comparison.json"]
        inputs = [self.out / name for name in names]

        def work() -> None:
            results = read_results(inputs)
            weights = results[0]["weights"]
            write_report([results[0], *({**result, "weights": weights} for result in results[1:])], page)
            self.say(f"written: {page}")

        return Stage(
            name="report",
            outputs=[page],
            inputs=inputs,
            request={},
            command=["report", *inputs, "--out", page],
            work=work,
        )

    def _self(self, stage: str) -> list[object]:
        """A stage that is a command by ``--stage`` alone."""
        options = self.options
        taken = [word for name, folder in options.models.items() for word in ("--model", f"{name}={folder}")]
        given = [
            ("--candidates", options.candidates),
            ("--judgements", options.judgements),
            ("--scale", options.scale),
            ("--judged-scale", options.judged_scale),
            ("--weights", options.weights),
        ]
        flags = [word for name, value in given if value is not None for word in (name, value)]
        systems = [name for name in options.names if name not in options.models]
        taken += ["--systems", ",".join(systems)] if systems else []
        return [
            "study",
            "comments",
            "--corpus",
            self.folder,
            "--out",
            self.out,
            *taken,
            *flags,
            "--seed",
            options.seed,
            "--stage",
            stage,
        ]


def _scale(scale: Scale | None) -> list[object]:
    return [] if scale is None else ["--scale", scale]


def _line(words: Sequence[object]) -> str:
    return shlex.join(["postil", *map(str, words)])
