"""Headlines: titles of generators and of simple baselines, scored against the article's own title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import numpy as np

from postil.comments.index import Index
from postil.comments.neural_commenter import detokenize
from postil.comments.ranking_evaluation import distinct
from postil.data.explain import counted
from postil.data.groups import nested
from postil.data.rows import Article, Candidate, Reference
from postil.errors import Undefined
from postil.meta.resampling import bootstrap_counts
from postil.metrics.evaluation import Batch, Evaluation, ReferenceTexts
from postil.metrics.metric_set import parse_all
from postil.studies.result import StudyCell, StudyPart, StudyRow, StudyTable, interval_cells
from postil.text.tokenizers import stored_tokenizer
from postil.training.texts import CorpusTexts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.corpus.store import Corpus
    from postil.kernel.arrays import Floats
    from postil.studies.options import UsesOptions
    from postil.text.tokens import Ragged, Tokens

__all__ = ["GENERATORS", "Untitled", "baseline_titles", "read_untitled", "titles_part"]

GENERATORS: Final[Mapping[str, Literal["content", "comments"]]] = {
    "title-content": "content",
    "title-comments": "comments",
}
"""Names of the trained generators, and the text that each reads."""
METRICS: Final = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider")
"""The metrics of the paper; an article has one title, so there is nothing to weigh."""
BASELINES: Final = ("first-words", "top-comment")
"""The system that the others are compared with: the first that there is."""
WORDS: Final = (
    "Systems write a title for each test article without seeing its own, which is the only reference. Values are "
    "corpus scores, as postil score prints them for candidates.jsonl and references.jsonl, with 95 % bootstrap "
    "intervals over articles."
)
SYSTEMS: Final = (
    "title-content, title-comments: Att, trained on titles, reads the content, or the comments in their order. "
    "nearest-content, nearest-comments: the title of the training article with the most similar content or comments, "
    "by TF-IDF cosine. first-words, top-comment: the first {} of the content, or of the comment with the most votes: "
    "as many as a title has on average in train."
)


@dataclass(frozen=True, eq=False)
class Untitled:
    """Test articles whose titles are to be found.

    Args:
        articles: The articles without their titles.
        titles: Their titles, as references.
        generators: The generators of `GENERATORS` that have something to read.
    """

    articles: Sequence[Article]
    titles: Sequence[Reference]
    generators: Mapping[str, Literal["content", "comments"]]


def read_untitled(corpus: Corpus) -> Untitled:
    """Read the test articles that have a title, and whatever the generators read.

    Args:
        corpus: The corpus.

    Raises:
        Undefined: There are no titles in train, or fewer than two such articles.
    """
    if not len(corpus.tokens("train", "title").ids):
        raise Undefined("no article of train has a title, so that there is none to learn from")
    generators = {
        name: source
        for name, source in GENERATORS.items()
        if all(len(corpus.tokens(split, source).ids) for split in ("train", "test"))
    }
    some = [
        one
        for one in corpus.articles("test")
        if one.title.strip() and all(_read(one, source).strip() for source in generators.values())
    ]
    if not generators or len(some) < 2:
        raise Undefined(f"{counted(len(some), 'test article')} with a title and texts to read; expected two or more")
    hidden = [msgspec.structs.replace(one, title="", held_out=()) for one in some]
    return Untitled(hidden, [Reference(one.id, one.title) for one in some], generators)


def _read(article: Article, source: str) -> str:
    """The text of an article that a generator reads."""
    return article.content or "" if source == "content" else "\n".join(said.text for said in article.comments)


def baseline_titles(corpus: Corpus, untitled: Untitled, jobs: int) -> Iterator[Candidate]:
    """Titles that need no network.

    Args:
        corpus: The corpus.
        untitled: The test articles.
        jobs: Number of threads.
    """
    titles, ids = [one.title for one in corpus.articles("train")], [one.id for one in corpus.articles("test")]
    words = corpus.metadata.words
    for source in untitled.generators.values():
        texts = CorpusTexts(corpus, source, "title")
        found = nearest_titles(texts.articles("train"), titles, texts.articles("test"), words, jobs=jobs)
        by_id = dict(zip(ids, found, strict=True))
        yield from (Candidate(one.id, f"nearest-{source}", by_id[one.id]) for one in untitled.articles)
    count = _title_words(corpus)
    for one in untitled.articles:
        best = max(one.comments, key=lambda said: said.upvotes or 0)
        if "content" in untitled.generators.values():
            yield Candidate(one.id, "first-words", first_words(one.content or "", count, corpus.tokenizer))
        yield Candidate(one.id, "top-comment", first_words(best.text, count, corpus.tokenizer))


def _title_words(corpus: Corpus) -> int:
    """Mean number of words of the titles of train, rounded, at least 1."""
    return max(1, round(float(np.diff(corpus.tokens("train", "title").offsets).mean())))


def titles_part(
    corpus: Corpus, candidates: Sequence[Candidate], references: Sequence[Reference], options: UsesOptions
) -> StudyPart:
    """Score the titles of all systems.

    Args:
        corpus: The corpus.
        candidates: A title of each system for each article.
        references: The articles' titles.
        options: Options of the study.
    """
    items = [row.item for row in references]
    texts = nested((row.system, row.item, row.text) for row in candidates)
    asked = ReferenceTexts([row.text for row in references], np.arange(len(items) + 1))
    evaluation = Evaluation(parse_all(METRICS), asked, tokenizer=corpus.tokenizer, jobs=options.jobs, allow_han=True)
    counts = bootstrap_counts(len(items), options.resamples, options.seed)
    drawn = np.concatenate([np.ones((1, len(items))), counts])
    sets = np.arange(len(items), dtype=np.int32)
    scored = evaluation.measure(Batch([said[item] for item in items], sets) for said in texts.values())
    samples: dict[str, Floats] = {}
    about: dict[str, tuple[StudyCell, StudyCell]] = {}
    for name, batch in zip(texts, scored, strict=True):
        scores = (evaluation.metrics.scorer(spec).score(drawn @ stats) for spec, stats in batch.stats.items())
        samples[name] = np.stack(list(scores))  # [metrics, 1 + R]
        about[name] = _about(batch.tokens)
    table = StudyTable(
        key="titles",
        caption=f"Titles for {counted(len(items), 'test article')}, scored against their own titles",
        head=("", *METRICS, "mean words", "distinct-2"),
        rows=tuple(
            StudyRow(name=name, cells=(*interval_cells(each, len(items)), *about[name]))
            for name, each in samples.items()
        ),
    )
    baseline = next(name for name in BASELINES if name in samples)
    differences = StudyTable(
        key="title-differences",
        caption=f"Minus {baseline}, 95 % intervals over the same resamples of articles",
        head=("", *METRICS),
        rows=tuple(
            StudyRow(name=name, cells=tuple(interval_cells(each - samples[baseline], len(items))))
            for name, each in samples.items()
            if name != baseline
        ),
    )
    nothing = [
        f"{name} has no title for {counted(count, 'article')}, where it scores 0."
        for name, said in texts.items()
        if (count := sum(not text for text in said.values()))
    ]
    words = SYSTEMS.format(counted(_title_words(corpus), "word"))
    return StudyPart(key="headlines", title="Headlines", words=(WORDS, words, *nothing), tables=(table, differences))


def _about(tokens: Tokens) -> tuple[StudyCell, StudyCell]:
    """Mean number of words and distinct-2 of the titles of a system."""
    try:
        variety = distinct(tokens.ids, tokens.offsets, 2)
    except Undefined:
        variety = None
    return float(np.diff(tokens.offsets).mean()), variety


def nearest_titles(train: Ragged, titles: Sequence[str], asked: Ragged, words: int, *, jobs: int = 1) -> list[str]:
    """Titles of the most similar training articles, by TF-IDF cosine.

    Args:
        train: Texts of the n training articles.
        titles: Their n titles.
        asked: Texts of the articles that need a title.
        words: Size of the vocabulary.
        jobs: Number of threads; the result does not depend on it.

    Returns:
        One title per article, empty where no training article shares a word with it.

    >>> import numpy as np
    >>> from postil.text.tokens import Ragged
    >>> train = Ragged(np.array([0, 1, 2, 3], np.int32), np.array([0, 2, 4]))
    >>> nearest_titles(train, ["Rain", "Chess"], Ragged(np.array([3, 9], np.int32), np.array([0, 1, 2])), 10)
    ['Chess', '']
    """
    index = Index.of(train.ids, train.offsets, words, jobs=jobs)
    best = index.search(asked.ids, asked.offsets, 1, jobs=jobs).documents
    return [titles[found] if found >= 0 else "" for found in best[:, 0].tolist()]


def first_words(text: str, count: int, tokenizer_name: str) -> str:
    """The first words of a text.

    Args:
        text: The text.
        count: Maximum number of words.
        tokenizer_name: Name of the tokenizer that splits it.

    >>> first_words("It rains, and it pours.", 3, "words")
    'It rains and'
    """
    return detokenize(stored_tokenizer(tokenizer_name).split(text)[:count], tokenizer_name)
