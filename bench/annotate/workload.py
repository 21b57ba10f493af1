"""A campaign of made-up comments in the size of the paper's, mostly graded already."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from postil.campaigns.models import Campaign, Item
from postil.campaigns.plan import plan
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postil.campaigns.plan import Plan

SEED = 20181
COMMENTS_AN_ARTICLE = 30
ARTICLE_WORDS, COMMENT_WORDS = 500, 17


def make(file: Path, comments: int, annotators: int, left: int) -> None:
    """Create a campaign and rate it, but for the last items of each annotator."""
    rng = np.random.default_rng(SEED)
    known = np.array(["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 9))) for _ in range(5_000)])

    def words(n: int) -> str:
        return " ".join(known[(rng.random(n) ** 3 * len(known)).astype(int)]) + "."

    items = []
    for number in range(comments):
        if number % COMMENTS_AN_ARTICLE == 0:
            title, content = words(9), words(ARTICLE_WORDS)
        article = f"a{number // COMMENTS_AN_ARTICLE}"
        text = words(1 + int(rng.poisson(COMMENT_WORDS)))
        items.append(Item(item=article, system=f"c{number}", text=text, title=title, content=content, lang="en"))
    campaign = Campaign(name="Load", item_type="comments", annotators_per_item=2, seed=SEED)
    quality = {item.text: grade for item, grade in zip(items, rng.integers(1, 6, comments).tolist(), strict=True)}
    slips = rng.choice([0, 0, 0, 0, 1, -1, 2, -2], 100_000).tolist()
    with Store.open(str(file), make=True) as store:
        made = plan([(item.item, item.system) for item in items], annotators, 2, seed=SEED)
        store.create(campaign, items, made, Rubric.default())

        def grade(name: str) -> None:
            person = store.people.accept(store.people.invite(name, "annotator")).person
            first = store.grading.next(person)
            most = max(0, first.total - left) if first else 0
            for place in range(most):
                task = store.grading.task(person, place)
                value = min(5, max(1, quality[task.text] + slips[task.assignment % len(slips)]))
                store.grading.rate(
                    person, task.assignment, value, idempotency_key=f"before {place}", seconds=4.0 + place % 7
                )

        with ThreadPoolExecutor(annotators) as pool:
            list(pool.map(grade, names(annotators)))


def plans(comments: int) -> Iterator[tuple[int, int, Plan, float]]:
    """Make plans of several sizes: annotators, annotators per item, plan, seconds."""
    texts = [(f"a{number // COMMENTS_AN_ARTICLE}", f"c{number}") for number in range(comments)]
    for annotators, each in ((5, 2), (8, 2), (7, 3), (9, 3), (12, 4)):
        start = time.perf_counter()
        made = plan(texts, annotators, each, seed=SEED)
        yield annotators, each, made, time.perf_counter() - start


def names(annotators: int) -> list[str]:
    """Names of the annotators."""
    return [f"annotator-{number}" for number in range(annotators)]
