from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comments.candidate_pool import MISSING, QUOTATION, REPLY, CandidatePool
from postil.data.rows import Article, Comment
from postil.data.suggestions import Source
from postil.documents.markup import plain_text
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

DATES = st.none() | st.datetimes().map(lambda at: f"{at.isoformat(timespec='seconds')}Z")
COMMENTS = st.builds(
    lambda text, votes, date, parent: (text, votes, date, parent),
    st.text(max_size=8),
    st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
    DATES,
    st.none() | st.just("0"),
)
ARTICLES = st.lists(
    st.builds(
        lambda title, url, date, comments: Article(
            "",
            title,
            tuple(Comment(str(n), t, upvotes=v, date=d, parent=p) for n, (t, v, d, p) in enumerate(comments)),
            url=url,
            date=date,
        ),
        st.text(max_size=5),
        st.none() | st.just("https://news.example/1"),
        DATES,
        st.lists(COMMENTS, max_size=4),
    ),
    max_size=4,
)


def facts(pool: CandidatePool) -> list[tuple[Source, str, int]]:
    return [(pool.source(at), pool.texts[at], int(pool.flags[at])) for at in range(len(pool))]


def expected(articles: Sequence[Article]) -> list[tuple[Source, str, int]]:
    return [
        (
            Source(
                one.id,
                comment.id,
                title=one.title or None,
                url=one.url,
                date=comment.date or one.date,
                upvotes=comment.upvotes,
            ),
            plain_text(comment.text)[0],
            REPLY * (comment.parent is not None) | QUOTATION * plain_text(comment.text)[1],
        )
        for one in articles
        for comment in one.comments
    ]


def opened(arrays: dict[str, Any], articles: int) -> CandidatePool:
    def array(name: str, wanted: Any) -> Any:
        assert wanted.problem(arrays[name]) is None, name
        return arrays[name]

    return CandidatePool.open(array, articles)


@given(ARTICLES, ARTICLES, st.randoms(use_true_random=False))
def test_pools_are_appended_and_thinned(some: list[Article], others: list[Article], random: Any) -> None:
    pool = CandidatePool.concatenate([CandidatePool.of(some), CandidatePool.of(others), CandidatePool.of([])])
    everything = expected([*some, *others])
    assert facts(pool) == everything
    again = CandidatePool.of([*some, *others])
    written, direct = dict(pool.arrays()), dict(again.arrays())
    assert written.keys() == direct.keys()
    assert all(written[name].dtype == direct[name].dtype for name in written)
    assert all(written[name].tobytes() == direct[name].tobytes() for name in written)
    keep = [random.random() < 0.5 for _ in everything]
    kept = opened(dict(pool.select(keep).arrays()), len(some) + len(others))
    assert facts(kept) == [fact for fact, there in zip(everything, keep, strict=True) if there]
    assert len(kept.starts) == len(some) + len(others) + 1


def test_a_date_that_no_calendar_has() -> None:
    pool = CandidatePool.of([Article("a", "Rain", (Comment("1", "Again!", date="2020-03-21"),))])
    assert pool.source(0).date == "2020-03-21T00:00:00Z"
    np.asarray(pool.dates)[0] = 2**62
    with pytest.raises(InvalidInput, match="expected a date in Unix seconds, got 4611686018427387904; was the folder"):
        pool.source(0)
    np.asarray(pool.dates)[0] = MISSING
    assert pool.source(0) == Source("a", "1", title="Rain")
