from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from postil.data.rows import Judgement, Score
from postil.meta.table import Judged, Scored

ROWS = st.lists(st.tuples(*(st.sampled_from(names) for names in ("123", "ab", "zyx")), st.floats(0, 9)), min_size=1)


@given(ROWS, st.randoms(use_true_random=False))
def test_ratings_are_the_means_of_each_annotator(rows: list[tuple[str, str, str, float]], random) -> None:
    by_hand: dict[tuple[str, str], dict[str, list[float]]] = {}
    for item, system, annotator, grade in rows:
        by_hand.setdefault((item, system), {}).setdefault(annotator, []).append(grade)
    rated = Judged(Judgement(*row) for row in rows)
    assert list(rated.rows) == list(by_hand)
    assert list(rated.repeated) == [key for key, by in by_hand.items() if max(map(len, by.values())) > 1]
    keys = random.sample(list(by_hand), random.randint(1, len(by_hand)))
    found = rated.of(keys)
    assert found.names == tuple(sorted({name for key in keys for name in by_hand[key]}))
    assert found.counts.tolist() == [len(by_hand[key]) for key in keys]
    assert [(found.names[who], grade) for who, grade in zip(found.annotators, found.grades.tolist(), strict=True)] == [
        (name, math.fsum(several) / len(several)) for key in keys for name, several in sorted(by_hand[key].items())
    ]


def test_draws_stand_in_the_order_of_their_numbers() -> None:
    names = [f"control:shuffled(meteor,draw={draw})" for draw in (10, 2, 0)]
    scored = Scored([Score("1", "a", name, 0.5, "") for name in ("meteor", *names, "control:top(meteor)")])
    assert scored.metrics == ("meteor", "control:top(meteor)")
    assert scored.draws == {"control:shuffled(meteor)": names[::-1]}
    assert scored.corpus == 0
