"""Small corpora of articles about a topic each, with comments on it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from postil.corpus.calls import build_corpus
from postil.corpus.options import BuildOptions, Share
from postil.data.row_files import write
from postil.data.rows import Article, Comment

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from postil.corpus.store import Corpus

TOPICS = ("rain", "chess", "votes", "trains", "bread")


def articles(count: int, *, content: bool = True, upvotes: bool = True) -> list[Article]:
    """Articles about a topic each, with comments on it."""
    draw = random.Random(5)  # noqa: S311 - no secret
    words = [f"w{n}" for n in range(300)]

    def text(topic: str, length: int) -> str:
        said = [topic, *draw.choices(words, k=length)]
        draw.shuffle(said)
        return " ".join(said)

    return [
        Article(
            f"a{n:02}",
            text(topic, 4),
            tuple(Comment(str(c), text(topic, 5), upvotes=draw.randint(0, 9) if upvotes else None) for c in range(4)),
            text(topic, 20) if content else None,
            lang="en",
        )
        for n, topic in enumerate(TOPICS[n % len(TOPICS)] for n in range(count))
    ]


def corpus_of(
    folder: Path, some: Iterable[Article], dev: int = 10, test: int = 0, name: str = "corpus", **options: Any
) -> Corpus:
    """A corpus of all of some articles, whatever they lack."""
    write(str(folder / f"{name}.jsonl"), list(some))
    free = {"min_content_words": 0, "min_comments": 1, "test_min_comments": 0, "test_min_upvotes": 0, **options}
    built = BuildOptions(source="a site", license="ours", dev=Share(size=dev), test=Share(size=test), **free)
    return build_corpus([folder / f"{name}.jsonl"], folder / name, built, jobs=1)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
