"""A small newspaper, and the commenters that `postil train` makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner
from msgspec.structs import replace

from postil.cli.main import app
from postil.data.row_files import write
from postil.data.rows import Article, Comment

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = ("rain", "chess", "votes", "bread")
BY_WORDS = ("--ranker", "tf-idf", "--eval-negatives", 3)


def article(number: int) -> Article:
    topic = TOPICS[number % len(TOPICS)]
    comments = (f"All about {topic}, says reader {number}.", f"{topic}!", f"{topic} at word{number} and nowhere else")
    return Article(
        f"a{number:02}",
        f"{topic} in town{number}",
        tuple(Comment(f"c{place}", text, upvotes=place) for place, text in enumerate(comments)),
        f"content{number} of {topic} town{number - len(TOPICS)}",
        lang="en",
    )


def train_retrievers(folder: Path, *more: str, kinds: tuple[str, ...] = ("ir-t", "ir-tc")) -> Path:
    """Build the corpus ``corpus`` and train the models ``t`` (ir-t) and ``tc`` (ir-tc) in a folder.

    `more` are comments that every article has besides.
    """
    comments = tuple(Comment(f"more{place}", text) for place, text in enumerate(more))
    articles = map(article, range(24))
    write(str(folder / "raw.jsonl"), [replace(one, comments=one.comments + comments) for one in articles])
    least = ("--min-content-words", 0, "--min-comments", 1, "--test-min-comments", 0, "--test-min-upvotes", 0)
    sizes = ("--dev", 8, "--test", 0)
    origin = ("--source", "a site", "--license", "ours")
    build = ("corpus", "build", folder / "raw.jsonl", *least, *sizes, *origin, "-j", 1)
    corpus = folder / "corpus"
    for words in (
        (*build, "--out", corpus),
        *(("train", kind, "--corpus", corpus, "--out", folder / kind[3:], *BY_WORDS) for kind in kinds),
    ):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.stderr
    return folder
