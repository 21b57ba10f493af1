"""The journey of `postil evaluate`: commenters suggest for the articles of a split, readers' comments are references.

As in Table 7 of Automatic Article Commenting (ACL 2018), with readers beside the models: of each article one comment is
set aside as the candidate of the system ``human``, and is no reference for anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.app.commenting.files import check_cut, load_commenter
from postil.app.evaluating.references import HUMAN, needs_scale, read_readers, signature_of
from postil.app.scoring.files import SystemScore
from postil.commenters.ranking_evaluation import distinct
from postil.commenters.store import Model
from postil.corpus.store import Corpus
from postil.errors import Undefined, UnknownName, UsageError
from postil.metrics.metric_set import Panel, Total, parse_all
from postil.metrics.references import References
from postil.records.arguments import check_arguments, check_fields
from postil.records.rows import Candidate, Score
from postil.records.weights import DEFAULT
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.app.evaluating.references import Readers
    from postil.commenters.base import Commenter
    from postil.corpus.passes import Watch
    from postil.metrics.base import Metric
    from postil.records.row_files import FilePath
    from postil.records.rows import Article
    from postil.records.scale import Scale
    from postil.text.tokenizers import Tokenizer
    from postil.text.tokens import Tokens

    Cut = tuple[Vocabulary, Tokenizer]

__all__ = ["METRICS", "CommenterScores", "EvaluateOptions", "Said", "evaluate_commenters"]

METRICS: Final = ("meteor", "w-meteor", "rouge-l", "w-rouge-l", "cider", "w-cider", "bleu-1", "w-bleu-1")
"""Those of the paper's Table 7."""
AT_ONCE: Final = 64
SPLITS: Final = ("dev", "test")


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluateOptions:
    """How commenters are evaluated.

    Args:
        split: ``test`` or ``dev``.
        metrics: Specs, see `postil.metrics.spec`.
        weights: Where the references' weights come from: a name in `postil.records.weights.METHODS`, or ``consensus``.
            None takes people's grades where every reference has one, else votes where every reference has a number of
            them and these differ within some article, else consensus.
        scale: The scale of the grades, where these are taken.
        seed: Seed of the comments that are set aside.
        jobs: Threads; the numbers do not depend on it.
    """

    split: str = "test"
    metrics: tuple[str, ...] = METRICS
    weights: str | None = None
    scale: Scale | None = None
    seed: int = 20181
    jobs: int = 1

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Said:
    """What a system says, whatever the references.

    Args:
        system: The system.
        hash: Of the model's folder; None where it did not come from one.
        nothing: For how many articles it has no suggestion.
        words: The mean number of words of its suggestions; None where there are none.
        distinct_1: The share of different words among all that it says.
        distinct_2: The same of pairs of neighbours.
    """

    system: str
    hash: str | None
    nothing: int
    words: float | None
    distinct_1: float | None
    distinct_2: float | None


@dataclass(frozen=True, slots=True)
class CommenterScores:
    """What metrics say of commenters.

    Args:
        scores: System by system, metric by metric.
        said: System by system.
        candidates: What each system says of each article, empty where it says nothing.
        items: The score of each of them by each metric.
        articles: How many articles.
        left_out: How many more have no two comments that differ, one to set aside and one to be a reference.
        references: The least and the greatest number of references of an article, and their mean.
        weights: The method; None where no metric needs weights.
        scale: The scale of the grades, if they were taken.
        tied: Number of articles in which no reference has more votes than another, see `Readers.tied`.
    """

    scores: tuple[SystemScore, ...]
    said: tuple[Said, ...]
    candidates: tuple[Candidate, ...]
    items: tuple[Score, ...]
    articles: int
    left_out: int
    references: tuple[int, int, float]
    weights: str | None
    scale: Scale | None
    tied: int


def evaluate_commenters(
    commenters: Mapping[str, Commenter] | Sequence[FilePath],
    corpus: Corpus | FilePath,
    options: EvaluateOptions | None = None,
    *,
    watch: Watch = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> CommenterScores:
    """Score the best suggestion of each commenter for each article of a split.

    The references of an article are its comments. An article of a test set whose references were drawn has others, of
    which one is the candidate of the system ``human``; elsewhere it is one of the comments, which is then no reference.
    A commenter that has no suggestion for an article says nothing, which scores 0.

    Args:
        commenters: By the names that they shall have; or model folders, which are called as they are.
        corpus: The corpus, or its folder.
        options: How.
        watch: Shows progress.

    Raises:
        UnknownName, UsageError: There is no such split, metric or weights method, or names are not clear.
        InvalidInput: A model or the corpus is damaged, a model was trained with another tokenizer, or references lack
            what their weights should come from.
        Undefined: CIDEr of a single article.
        MissingExtra: A model needs torch, which is not installed.
    """
    check_arguments(evaluate_commenters, locals())
    options = options or EvaluateOptions()
    metrics = parse_all(options.metrics)
    if not isinstance(corpus, Corpus):
        corpus = Corpus.open(corpus)
    opened, hashes = _opened(commenters, corpus, options)
    if options.split not in SPLITS:
        raise UnknownName("split", options.split, SPLITS)
    if options.split not in corpus.splits:
        raise UsageError(f"{corpus.path}: it has no {options.split} set; it has {', '.join(corpus.splits)}")

    readers = read_readers(corpus, options.split, options.seed)
    articles, sets = readers.articles, np.arange(len(readers.articles), dtype=np.int32)
    vocabulary, cut = Vocabulary(), named_tokenizer(corpus.tokenizer)
    method = _method(readers, metrics, options)
    panel = _panel(readers, metrics, method, (vocabulary, cut), options)

    scores, said, candidates, items = list[SystemScore](), list[Said](), list[Candidate](), list[Score]()
    for name, texts in [*_texts(opened, articles, watch), (HUMAN, readers.humans)]:
        tokens = vocabulary.branch().encode(texts, cut, options.jobs, allow_han=True)
        said.append(_said(name, hashes.get(name), tokens, texts))
        candidates += [Candidate(one.id, name, text) for one, text in zip(articles, texts, strict=True)]
        for spec, stats in panel.measure(tokens, sets, options.jobs).items():
            total, signature = Total(), panel.signatures[spec]
            total.add(stats)
            scores.append(SystemScore(name, spec, panel.corpus(spec, total.sum()), total.count, signature))
            values = panel.items(spec, stats).tolist()
            items += [Score(one.id, name, spec, value, signature) for one, value in zip(articles, values, strict=True)]
    sizes = np.diff(readers.offsets)
    return CommenterScores(
        scores=tuple(scores),
        said=tuple(said),
        candidates=tuple(candidates),
        items=tuple(items),
        articles=len(articles),
        left_out=readers.left_out,
        references=(int(sizes.min()), int(sizes.max()), float(sizes.mean())),
        weights=method,
        scale=options.scale if needs_scale(method) else None,
        tied=readers.tied(),
    )


def _opened(
    commenters: Mapping[str, Commenter] | Sequence[FilePath], corpus: Corpus, options: EvaluateOptions
) -> tuple[Mapping[str, Commenter], dict[str, str]]:
    """Commenters by name, and the hashes of those that come from folders."""
    if isinstance(commenters, Mapping):
        names, found, hashes = list(commenters), dict(commenters), dict[str, str]()
    else:
        folders = [str(folder) for folder in commenters]
        names = [Path(folder).resolve().name for folder in folders]
        if len({*names, HUMAN}) <= len(names):
            names = folders
        found, hashes = {}, {}
        for name, folder in zip(names, folders, strict=True):
            model = Model.open(folder)
            check_cut(model, corpus)
            found[name], hashes[name] = load_commenter(folder, jobs=options.jobs), model.hash
    if not names:
        raise UsageError("expected at least one model")
    if len({*names, HUMAN}) <= len(names):
        raise UsageError(f"expected models of different names, none of them {HUMAN}, got {', '.join(names)}")
    return found, hashes


def _method(readers: Readers, metrics: Mapping[str, Metric], options: EvaluateOptions) -> str | None:
    """Where weights come from; None where no metric reads them."""
    if not any(metric.needs_weights for metric in metrics.values()):
        return None
    return options.weights or (DEFAULT if options.scale else readers.usual_method())


def _panel(
    readers: Readers, metrics: Mapping[str, Metric], method: str | None, cut: Cut, options: EvaluateOptions
) -> Panel:
    """The metrics, bound to what readers say."""
    vocabulary, tokenizer = cut
    tokens = vocabulary.encode(readers.references, tokenizer, options.jobs, allow_han=True)
    references = References(tokens, readers.offsets)
    if method is not None:
        lowest = max(metric.lowest_weight for metric in metrics.values() if metric.needs_weights)
        weights = readers.weights(references, method, options.scale, lowest=lowest, jobs=options.jobs)
        references = replace(references, weights=weights)
    how = signature_of(method, options.scale) if method is not None else ""
    try:
        return Panel(metrics, references, tokenizer=tokenizer.signature, weights=how)
    except Undefined:
        problem = "one article alone has no document frequencies for CIDEr; take other metrics: -m meteor"
        raise Undefined(f"{readers.where}: {problem}") from None


def _texts(
    commenters: Mapping[str, Commenter], articles: Sequence[Article], watch: Watch
) -> list[tuple[str, list[str]]]:
    """What each system says of each article; nothing where it has no suggestion."""
    asked = [msgspec.structs.replace(article, comments=()) for article in articles]
    found = list[tuple[str, list[str]]]()
    for name, commenter in commenters.items():
        texts: list[str] = []
        parts = [asked[begin : begin + AT_ONCE] for begin in range(0, len(asked), AT_ONCE)]
        with watch(f"{name}: articles, {AT_ONCE} at a time", parts, len(parts)) as batches:
            for batch in batches:
                texts += [row.suggestions[0].text if row.suggestions else "" for row in commenter.comment(batch, 1)]
        found.append((name, texts))
    return found


def _said(system: str, digest: str | None, tokens: Tokens, texts: Sequence[str]) -> Said:
    def share(n: int) -> float | None:
        try:
            return distinct(tokens.ids, tokens.offsets, n)
        except Undefined:
            return None

    given = sum(map(bool, texts))
    return Said(system, digest, len(texts) - given, len(tokens.ids) / given if given else None, share(1), share(2))
