"""Small inputs and what becomes of them; child processes run it too."""

from __future__ import annotations

import functools
import json
import os
import random
import sys
import time
from typing import TYPE_CHECKING, Any

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.calls import build_corpus
from postil.corpus.options import BuildOptions, Share
from postil.corpus.passes import BuildDirectory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from postil.corpus.store import Corpus, Field

Row = dict[str, Any]
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def row(name: str, comments: Sequence[str | Row] = (), **fields: Any) -> Row:
    """An article row; comments given as texts are numbered, and each article has words of its own."""
    told = [{"text": each} if isinstance(each, str) else each for each in comments]
    return {
        "id": name,
        "title": f"About {name}",
        "content": " ".join(f"{name}{number}" for number in range(30)),
        "comments": [{"id": f"c{number}", **each} for number, each in enumerate(told)],
        **fields,
    }


def rows(count: int, *, comments: int = 5, content: int = 40, seed: int = 0) -> list[Row]:
    """Articles of random words, no two alike."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    words = [f"w{number}" for number in range(500)]

    def text(length: int) -> str:
        return " ".join(draw.choices(words, k=length))

    return [
        {
            "id": f"a{number:03d}",
            "title": text(6),
            "content": text(content),
            "category": draw.choice(["news", "sport"]),
            "lang": "en",
            "comments": [
                {
                    "id": str(place),
                    "text": text(draw.randint(1, 12)),
                    "upvotes": draw.randint(-3, 40),
                    "grade": draw.choice([None, 1.0, 4.5]),
                    "ratings": [{"annotator": name, "grade": 3.0} for name in draw.sample(NAMES, draw.randint(0, 2))],
                    "user": draw.choice(NAMES),
                }
                for place in range(comments)
            ],
        }
        for number in range(count)
    ]


def written(path: Path, articles: Iterable[Row | str]) -> Path:
    lines = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in articles)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def loose(**changes: Any) -> BuildOptions:
    """Options that take every article; no dev and no test set."""
    none: Row = {
        "source": "a site",
        "license": "ours",
        "min_content_words": 0,
        "min_comments": 1,
        "test_min_comments": 0,
        "test_min_upvotes": 0,
        "references_per_article": 2,
        "dev": Share(size=0),
        "test": Share(size=0),
    }
    return BuildOptions(**none | changes)


def built(folder: Path, articles: Iterable[Row | str], name: str = "out", **changes: Any) -> Corpus:
    """A corpus of some rows."""
    return build_corpus([written(folder / f"{name}.jsonl", articles)], folder / name, loose(**changes), jobs=1)


def ids(corpus: Corpus) -> dict[str, list[str]]:
    return {split: [article.id for article in corpus.articles(split)] for split in corpus.splits}


def decoded(corpus: Corpus, split: str, field: Field) -> list[list[str]]:
    """The texts that a token array holds."""
    words, tokens = corpus.words(), corpus.tokens(split, field)
    return [[words[word] for word in tokens.ids[a:b]] for a, b in zip(tokens.offsets, tokens.offsets[1:], strict=False)]


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def small_blocks(size: int) -> None:
    """Cut inputs into blocks of so many bytes."""
    passes.blocks = functools.partial(cutting.blocks, size=size)  # type: ignore[assignment]


def halt(step: str, number: int) -> None:
    """Stand still for ever when so many files of a step are kept and one more is half written."""
    keep = BuildDirectory.keep
    kept = 0

    def until(self: BuildDirectory, path: Path, *data: bytes | memoryview) -> None:
        nonlocal kept
        if path.parent.name == step:
            kept += 1
        if kept > number:
            path.with_name(f".{path.name}.1-halted.part").write_bytes(b"half of it")
            time.sleep(600)
        keep(self, path, *data)

    BuildDirectory.keep = until  # type: ignore[method-assign]


def child(size: str, step: str, number: str, *arguments: str) -> None:
    """`postil corpus build` with small blocks, which stands still in a step."""
    from postil.cli.main import main  # noqa: PLC0415

    small_blocks(int(size))
    os.fsync = lambda _: None  # no test is about power cuts
    if step != "-":
        halt(step, int(number))
    sys.argv = ["postil", "corpus", "build", *arguments]
    main()


if __name__ == "__main__":
    child(*sys.argv[1:])
