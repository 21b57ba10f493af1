"""Dimensions of size: the input of each size, made up with fixed seeds, and the command that is measured on it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.corpus import workload as corpus_workload
from bench.documents import workload as documents
from bench.metrics import references as reference_files
from bench.metrics.workload import SHAPES, Shape, workloads
from bench.passages.workload import PASSAGES
from bench.passages.workload import workload as passages_workload
from bench.retrieval.workload import TYPES, Workload, drawn
from bench.retrieval.workload import workload as articles_workload
from postil.comments.index import Index
from postil.data.arrays import open_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SEED: Final = 20181
BLOCK: Final = 1000
"""Number of items that are written at a time."""
TEN: Final = 10**0.5
"""Ratio of two sizes: two of them make ten."""
JOBS, K, TITLE = 2, 20, 15
POINT: Final = ("-m", "bench.growth.run", "--point")


@dataclass(frozen=True)
class Line:
    """Measurement of an input, a row of the tables.

    Args:
        name: Name of the row.
        what: What grows, and what stays.
        command: Command or function that is measured, as the page shows it.
        arguments: Arguments of Python that measure it on the input in a folder.
        before: Largest size measured by other benchmarks; None where nothing was.
        first: Name of the function of `POINTS` that prepares the input, unmeasured.
        after: True if it needs what the line before it has written.
        together: True where the command starts processes, whose memory counts together.
    """

    name: str
    what: str
    command: str
    arguments: Callable[[Path], Sequence[str]]
    before: int | None = None
    first: str | None = None
    after: bool = False
    together: bool = False


@dataclass(frozen=True)
class Dimension:
    """A series of sizes.

    Args:
        name: Name of the series.
        expected: Seconds of the whole series on the machine of the page, inputs included.
        sizes: Sizes, in constant ratio.
        make: Function that writes the input of a size into a folder.
        lines: What is measured on the same input, one after the other.
    """

    name: str
    expected: float
    sizes: Sequence[int]
    make: Callable[[Path, int], object]
    lines: Sequence[Line]


def series(largest: int, ratio: float = TEN, count: int = 5) -> list[int]:
    """Sizes in constant ratio, the largest last."""
    return [round(largest / ratio**step) for step in reversed(range(count))]


def postil(line: str) -> Callable[[Path], list[str]]:
    """Arguments that run postil; ``{}`` in the line is the folder."""
    return lambda folder: ["-m", "postil", *(part.replace("{}", str(folder)) for part in line.split())]


def point(name: str) -> Callable[[Path], list[str]]:
    """Arguments that run a function of `POINTS` on the folder."""
    return lambda folder: [*POINT, name, str(folder)]


# Scores


def candidates(folder: Path, size: int) -> None:
    """Candidates of more and more systems for the 2,000 items of ``zh27``; a system's are another's, shifted."""
    (workload,) = workloads(2000, shapes=SHAPES[:1])
    _references(folder, workload.references)
    texts = [json.dumps(text, ensure_ascii=False) for text in workload.candidates]
    with (folder / "c.jsonl").open("w", encoding="utf-8") as file:
        for system in range(-(-size // len(texts))):
            count = min(len(texts), size - system * len(texts))
            file.writelines(
                f'{{"item": "{item}", "system": "s{system}", "text": {texts[(item + system) % len(texts)]}}}\n'
                for item in range(count)
            )


def many_references(folder: Path, size: int) -> None:
    """200 items of ``zh27``, each with as many weighted references as asked for."""
    shape = Shape("zh27", SHAPES[0].seed, size, SHAPES[0].candidate_length, SHAPES[0].reference_length)
    (workload,) = workloads(200, shapes=[shape])
    _references(folder, workload.references, workload.weights)
    with (folder / "c.jsonl").open("w", encoding="utf-8") as file:
        for item, text in enumerate(workload.candidates):
            file.write(json.dumps({"item": str(item), "system": "s", "text": text}, ensure_ascii=False) + "\n")


def _references(
    folder: Path, references: Sequence[Sequence[str]], weights: Sequence[Sequence[float]] | None = None
) -> None:
    with (folder / "r.jsonl").open("w", encoding="utf-8") as file:
        for item, texts in enumerate(references):
            for place, text in enumerate(texts):
                weight = {} if weights is None else {"weight": weights[item][place]}
                file.write(json.dumps({"item": str(item), "text": text, **weight}, ensure_ascii=False) + "\n")


def long_texts(folder: Path, size: int) -> None:
    """Three candidates with ten references each, all of as many words as asked for."""
    reference_files.files(folder, 3 * reference_files.EACH, size, shuffled=False)


# Meta-evaluation


def ratings(  # noqa: PLR0917
    folder: Path, items: int, systems: int, metrics: int, raters: int, rated: float = 1.0
) -> None:
    """Scores of every item by every system, and ratings of a share of the items by all raters.

    Args:
        folder: Folder to write ``s.jsonl`` and ``j.jsonl`` to.
        items: Number of items.
        systems: Number of systems.
        metrics: Number of metrics, of which some are better.
        raters: Number of raters, each with an error.
        rated: Share of the items that are rated.
    """
    rng = np.random.default_rng(SEED)
    quality = rng.normal(size=systems) * 0.5
    noise = 0.5 + 3 * np.arange(metrics) / metrics
    with (folder / "s.jsonl").open("w") as scores, (folder / "j.jsonl").open("w") as judgements:
        for first in range(0, items, BLOCK):
            shape = (min(BLOCK, items - first), systems)
            good = rng.normal(size=(shape[0], 1)) + quality + rng.normal(size=shape)
            found = good[..., None] + rng.normal(size=(*shape, metrics)) * noise
            given = np.clip(np.round(3 + good[..., None] + rng.normal(size=(*shape, raters)) * 0.7), 1, 5)
            for at in range(shape[0]):
                for system in range(systems):
                    head = f'{{"item": "{first + at}", "system": "s{system}", '
                    scores.writelines(
                        f'{head}"metric": "m{metric}", "score": {score:.6f}}}\n'
                        for metric, score in enumerate(found[at, system].tolist())
                    )
                    if first + at < rated * items:
                        judgements.writelines(
                            f'{head}"annotator": "r{rater}", "grade": {grade}}}\n'
                            for rater, grade in enumerate(given[at, system].tolist())
                        )


# Articles and comments


def articles(folder: Path, size: int) -> None:
    """Articles as word numbers."""
    data = articles_workload(size)
    np.save(folder / "ids.npy", data.ids)
    np.save(folder / "offsets.npy", data.offsets)


def _articles(folder: Path) -> Workload:
    return Workload(np.load(folder / "ids.npy", mmap_mode="r"), np.load(folder / "offsets.npy"))


def index(folder: Path) -> None:
    """Build the index of the articles and write it."""
    data = _articles(folder)
    made = Index.of(data.ids, data.offsets, TYPES, idf="smooth", jobs=JOBS)
    for name, values in made.arrays().items():
        np.save(folder / f"index-{name}", values)


def search(folder: Path) -> None:
    """Open an index and find the articles nearest to 400 of its articles and to 1,600 titles."""
    data = _articles(folder)
    made = Index.of_arrays(
        lambda name, expected: open_array(folder / f"index-{name}.npy", expected, remake="this"),
        1,
        "tf-idf",
        "smooth",
        TYPES,
    )
    for queries in (drawn(data, 400, None), drawn(data, 1600, TITLE)):
        made.search(queries.ids, queries.offsets, K, jobs=JOBS)


def comments(folder: Path, size: int) -> None:
    """A site with as many comments as asked for."""
    corpus_workload.write(folder / "a.jsonl", size)


def threads(folder: Path, size: int) -> None:
    """One article with as many comments as asked for."""
    rng = np.random.default_rng(SEED)
    words = corpus_workload.vocabulary()[:20_000]
    lengths = 1 + rng.poisson(16, size)
    drawn_words = np.minimum(rng.zipf(1.3, int(lengths.sum())), len(words)) - 1
    bounds = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    ids = drawn_words.tolist()
    said = [
        {"id": str(n), "text": " ".join([words[i] for i in ids[begin:end]]), "upvotes": int(votes)}
        for n, ((begin, end), votes) in enumerate(zip(pairwise(bounds), rng.geometric(0.1, size), strict=True))
    ]
    article = {"id": "a", "title": "One article", "content": "Words of it.", "comments": said}
    (folder / "a.jsonl").write_text(json.dumps(article) + "\n", "utf-8")


def fill(folder: Path) -> None:
    """Rate all texts of a campaign at once, as if its annotators had."""
    with sqlite3.connect(folder / "c.db") as database:
        database.executescript(
            """
            INSERT INTO event (id, person, assignment, kind, grade, reason, seconds, time, idempotency_key, previous)
            SELECT id, person, id, 'rate', 1 + (item * 7 % 11 + (id * 13 % 7 = 0)) % 5, '', 4, 1000 + position,
                'made-' || id, lag(id) OVER (PARTITION BY person ORDER BY id)
            FROM assignment ORDER BY id;
            UPDATE assignment SET state = 1, event = id;
            UPDATE person SET done = total,
                latest = (SELECT max(id) FROM assignment WHERE assignment.person = person.id)
            WHERE role = 'annotator';
            """
        )


# Passages and documents


def passages(folder: Path, size: int) -> None:
    """Passages of 63 topics, in the shape of the paper's collection."""
    with (folder / "p.jsonl").open("w", encoding="utf-8") as file:
        for part, first in enumerate(range(0, size, 10 * PASSAGES)):
            count = min(10 * PASSAGES, size - first)
            data = passages_workload(count / PASSAGES, seed=SEED + part)
            file.writelines(
                f'{{"topic": "t{topic}", "id": "{first + number}", "text": "{" ".join(words)}", "grade": {grade}}}\n'
                for number, (topic, words, grade) in enumerate(
                    zip(data.topic.tolist(), data.words, data.grade.tolist(), strict=True)
                )
            )


def document(name: str, made: Callable[[int], bytes]) -> Callable[[Path, int], int]:
    """Function that writes a document of a size."""
    return lambda folder, size: (folder / name).write_bytes(made(size))


POINTS: Final = {"index": index, "search": search, "fill": fill}
"""Functions that a process of its own runs on a folder."""
SCORE: Final = "score {}/c.jsonl -r {}/r.jsonl --format json --jobs 2"
CORRELATE: Final = "correlate {}/s.jsonl --judgements {}/j.jsonl --format json --jobs 2"
ESTIMATE: Final = "estimate {}/s.jsonl --judgements {}/j.jsonl --format json"
INTERESTING: Final = "interesting {{}}/{} --page {{}}/out.html"

DIMENSIONS: Final = (
    Dimension(
        "texts",
        200,
        series(10_000_000),
        candidates,
        [
            Line(
                "texts",
                "candidates of 12 words; 2,000 items of 27 references",
                "postil score",
                postil(SCORE + " --tokenizer space"),
                1_000_000,
            )
        ],
    ),
    Dimension(
        "references",
        200,
        series(100_000_000, count=6),
        lambda folder, size: reference_files.files(folder, size, 20, shuffled=False),
        [
            Line(
                "references",
                "references of 20 words, ten per item",
                "postil score -m bleu-4 -m rouge-l",
                postil(SCORE + " -m bleu-4 -m rouge-l"),
                10_000_000,
            )
        ],
    ),
    Dimension(
        "references per item",
        60,
        series(2_700),
        many_references,
        [
            Line(
                "references per item",
                "references per item; 200 items; default metrics, weighted too",
                "postil score --weights given",
                postil(SCORE + " --weights given --tokenizer space"),
                27,
            )
        ],
    ),
    Dimension(
        "words",
        60,
        series(1_000_000),
        long_texts,
        [
            Line(
                "words",
                "words per text; three candidates of ten references each",
                "postil score -m bleu-4 -m cider-d",
                postil(SCORE + " -m bleu-4 -m cider-d"),
                391,
            ),
            Line(
                "words, ROUGE-L",
                "words per text; three candidates of ten references each",
                "postil score -m rouge-l",
                postil(SCORE + " -m rouge-l"),
                391,
            ),
            Line(
                "words, METEOR",
                "words per text; three candidates of ten references each",
                "postil score -m meteor",
                postil(SCORE + " -m meteor"),
                391,
            ),
        ],
    ),
    Dimension(
        "metrics",
        60,
        series(200, 10**0.25),
        lambda folder, size: ratings(folder, 500, 20, size, 2),
        [
            Line(
                "metrics",
                "metrics of 10,000 texts of 20 systems, two raters; every pair is tested",
                "postil correlate",
                postil(CORRELATE),
                20,
            )
        ],
    ),
    Dimension(
        "rated texts",
        60,
        series(2_000_000),
        lambda folder, size: ratings(folder, size // 4, 4, 3, 2),
        [
            Line(
                "rated texts",
                "texts of four systems by three metrics and two raters",
                "postil correlate",
                postil(CORRELATE),
                200_000,
            )
        ],
    ),
    Dimension(
        "systems",
        60,
        series(200, 10**0.25),
        lambda folder, size: ratings(folder, 200, size, 3, 3),
        [
            Line(
                "systems",
                "systems of 200 items each, three metrics, three raters; every pair is ranked",
                "postil correlate -c pearson -c pa --by system",
                postil(CORRELATE + " -c pearson -c pa --by system"),
                20,
            ),
            Line(
                "estimated systems",
                "the same systems; every pair is compared",
                "postil estimate",
                postil(ESTIMATE),
                10,
            ),
        ],
    ),
    Dimension(
        "systems, soft",
        60,
        series(63, 10**0.25),
        lambda folder, size: ratings(folder, 200, size, 3, 3),
        [
            Line(
                "systems, soft",
                "the same systems; every pair is tested in every resample",
                "postil correlate -c spa --by system",
                postil(CORRELATE + " -c spa --by system"),
                16,
            ),
        ],
    ),
    Dimension(
        "raters",
        60,
        series(120, 10**0.25),
        lambda folder, size: ratings(folder, 250, 4, 3, size),
        [
            Line(
                "raters",
                "raters of the same 1,000 texts of four systems, three metrics",
                "postil correlate --audit",
                postil(CORRELATE + " --audit"),
                12,
            )
        ],
    ),
    Dimension(
        "estimated items",
        60,
        series(31_623),
        lambda folder, size: ratings(folder, size, 10, 8, 2, 0.1),
        [
            Line(
                "estimated items",
                "items by ten systems with eight scores; a tenth is rated by two raters",
                "postil estimate",
                postil(ESTIMATE),
                1_000,
            )
        ],
    ),
    Dimension(
        "articles",
        60,
        series(1_915_020),
        articles,
        [
            Line("articles", "articles of 569 words: an index, written", "Index.of", point("index"), 191_502),
            Line(
                "searched articles",
                "articles of an index on disk; 400 whole articles and 1,600 titles are searched",
                "Index.search",
                point("search"),
                191_502,
                after=True,
            ),
        ],
    ),
    Dimension(
        "comments",
        60,
        series(100_000_000, count=7),
        comments,
        [
            Line(
                "comments",
                "comments of 17 words with their articles; two processes",
                "postil corpus build --jobs 2",
                postil("corpus build {}/a.jsonl --out {}/corpus --source made --license none --jobs 2"),
                10_000_000,
                together=True,
            )
        ],
    ),
    Dimension(
        "thread",
        60,
        series(10_000),
        threads,
        [
            Line(
                "thread",
                "comments of one article",
                "postil rank-comments --by votes --diversity 0.3",
                postil("rank-comments {}/a.jsonl --by votes --diversity 0.3 --format json"),
            )
        ],
    ),
    Dimension(
        "campaign",
        60,
        series(450_000),
        comments,
        [
            Line(
                "campaign",
                "comments for eight annotators, two per comment",
                "postil annotate plan",
                postil("annotate plan {}/a.jsonl {}/c.db --annotators 8"),
                45_000,
            ),
            Line(
                "agreement",
                "comments of that campaign, all rated by two",
                "postil annotate agreement",
                postil("annotate agreement {}/c.db --format json"),
                45_000,
                first="fill",
                after=True,
            ),
        ],
    ),
    Dimension(
        "passages",
        60,
        series(3_450_700, count=6),
        passages,
        [
            Line(
                "passages",
                "passages of 50 words of 63 topics",
                "postil passages",
                postil("passages {}/p.jsonl --format json --jobs 2"),
                345_070,
            )
        ],
    ),
    Dimension(
        "text",
        60,
        series(200_000_000),
        document("d.txt", documents.plain),
        [Line("text", "bytes of a plain text", "postil interesting", postil(INTERESTING.format("d.txt")), 20_000_000)],
    ),
    Dimension(
        "HTML",
        60,
        series(16_000_000),  # larger pages are refused
        document("d.html", documents.html),
        [Line("HTML", "bytes of an HTML page", "postil interesting", postil(INTERESTING.format("d.html")), 2_000_000)],
    ),
    Dimension(
        "PDF",
        60,
        series(3_000),
        document("d.pdf", documents.pdf),
        [Line("PDF", "pages of a PDF", "postil interesting", postil(INTERESTING.format("d.pdf")), 300)],
    ),
)
"""All series, in the order of the page."""
