"""Principles of measures of passages: each cell of the two tables of research/passage-measures.md, which defines them.

Items are units here. The passages of a reference hold a unit once or not at all; c(u) is how many of them hold u, each
counted with its weight. The principles of Hilderman and Hamilton are about the counts of a passage over units that the
reference holds equally often.

``yes``: always so. ``weakly``: never the other way round, but it can make no difference. ``no``: it can be the other
way round; there is an example below for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import law

from postil.metrics.passage_measures import HILDERMAN, PRINCIPLES, of_paper
from postil.metrics.passage_pools import UNITS, PassageCollection, informativeness
from postil.metrics.spec import MEASURES, parse_measure
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

LAW = law(60, python=15)
FEWER = law(20, python=8)
EXACT = 1e-12
GUIDE = Path(__file__).parents[2] / "research" / "passage-measures.md"

PROPERTIES = tuple(PRINCIPLES["f1"])
FOUND = {family: tuple(row.values()) for family, row in PRINCIPLES.items()}
SPECS = {
    family: [f"{family}-1"] if family in {"f1", "w-f1"} else [f"{family}-1", f"w-{family}-1"]
    for family in ("f1", "w-f1", "kl", "js", "logsim", "rouge", "tf-idf")
} | {"length": ["length"], "random": ["random"]}


@dataclass(frozen=True)
class Case:
    """Pair of passages, of which a principle says that the first is the better one."""

    references: list[list[str]]
    better: list[str]
    worse: list[str]
    elsewhere: list[list[str]]
    """Passages of another topic: they make the background."""
    weights: list[float]

    def scores(self, spec: str) -> tuple[float, float]:
        """Scores of the better and the worse passage; higher is better."""
        assert all(len(set(text)) == len(text) for text in self.references)
        texts = [*self.references, self.better, self.worse, *self.elsewhere]
        n = len(self.references)
        pools = informativeness([0] * (n + 2) + [1] * len(self.elsewhere), [*self.weights, *[0.0] * (len(texts) - n)])
        measure = parse_measure(spec)
        ranked = measure.ranked(measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools))
        better, worse = ranked[np.isin(pools.texts, [n, n + 1])].tolist()
        return better, worse


def case(
    references: str, better: str, worse: str, elsewhere: str = "", weights: tuple[float, ...] | None = None
) -> Case:
    """A case from texts: a letter a unit, a space between passages."""
    texts = references.split()
    return Case(
        [list(text) for text in texts],
        list(better),
        list(worse),
        [list(text) for text in elsewhere.split()],
        list(weights or [1.0] * len(texts)),
    )


# Cases for what always holds


WEIGHTS = st.sampled_from([1.0, 0.5, 1 / 3, 0.02])
ELSEWHERE = st.lists(st.text("abcuvxyz", max_size=12).map(list), max_size=4)


def sets(letters: str, least: int = 0) -> SearchStrategy[list[str]]:
    """Units, none twice."""
    return st.lists(st.sampled_from(letters), unique=True, min_size=least, max_size=len(letters))


@st.composite
def concentration(draw: DrawFn) -> Case:
    references = draw(st.lists(sets("abc", 1), min_size=1, max_size=5))
    one = draw(st.sampled_from([unit for text in references for unit in text]))
    better = [one, *draw(st.lists(st.sampled_from("abcxyz"), max_size=10))]
    worse = draw(st.lists(st.sampled_from("xyz"), max_size=10))
    weights = draw(st.lists(WEIGHTS, min_size=len(references), max_size=len(references)))
    return Case(references, better, worse, draw(ELSEWHERE), weights)


@st.composite
def dispersion(draw: DrawFn) -> Case:
    texts = draw(st.lists(st.tuples(sets("abc"), st.booleans()), min_size=1, max_size=5))
    references = [["u", "v"], *([*text, *("uv" if both else "")] for text, both in texts)]
    base = draw(st.lists(st.sampled_from("abcxyz"), max_size=8))
    weights = draw(st.lists(WEIGHTS, min_size=len(references), max_size=len(references)))
    return Case(references, [*base, "u", "v"], [*base, "u", "u"], draw(ELSEWHERE), weights)


@st.composite
def weight(draw: DrawFn) -> Case:
    texts = draw(st.lists(st.tuples(sets("abc"), st.sampled_from(["", "u", "uv"])), max_size=4))
    references = [["u", "v"], ["u"], *([*text, *more] for text, more in texts)]
    base = draw(st.lists(st.sampled_from("abcxyz"), max_size=8))
    weights = draw(st.lists(WEIGHTS, min_size=len(references), max_size=len(references)))
    return Case(references, [*base, "u"], [*base, "v"], draw(ELSEWHERE), weights)


@st.composite
def transfer(draw: DrawFn) -> Case:
    n, h = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    low = draw(st.sampled_from([each for each in range(1, h) if n * h % each == 0]))
    few = [f"few{i}" for i in range(n)]
    many = [f"many{i}" for i in range(n * h // low)]
    references = [draw(sets("abc")) for _ in range(h + draw(st.integers(0, 2)))]
    for units, often in ((few, h), (many, low)):
        for unit in units:
            for place in draw(st.permutations(range(len(references))))[:often]:
                references[place].append(unit)
    references = [text or ["a"] for text in references]
    return Case(references, few, many, draw(ELSEWHERE), [draw(WEIGHTS)] * len(references))


@st.composite
def padding(draw: DrawFn) -> Case:
    drawn = draw(concentration())
    return Case(drawn.references, drawn.better, [*drawn.better, "new"], drawn.elsewhere, drawn.weights)


CASES = {
    "concentration": concentration(),
    "dispersion": dispersion(),
    "transfer": transfer(),
    "weight": weight(),
    "padding": padding(),
}

# Cases where it is the other way round, or makes no difference; of the measures named

NO = {
    # eight words of nothing divide what is smoothed by 10, one by 2
    ("kl", "concentration"): case("abcd", "axxxxxxxx", "y"),
    # u is half of all units elsewhere, so that holding it takes little from the divergence
    ("kl", "weight"): case("uv u", "u", "v", "uuuuuuuuuuuuuuuuuuuu"),
    ("kl", "transfer"): case("uv uw", "u", "vw", "uuuuuuuuuuuuuuuuuuuu"),
    ("tf-idf", "weight"): case("uv u", "u", "v", "u u u u u u u u u u u u u u u u"),
    ("tf-idf", "transfer"): case("uv uw", "u", "vw", "u u u u u u u u u u u u u u u u"),
    # u is rare and v is not: twice u weighs more than u and v
    ("tf-idf", "dispersion"): case("uv", "xxxxxxxxuv", "xxxxxxxxuu", "v v v v v v v v v v v v v v v v x x x x x x x x"),
    # two shared units of four and one of three
    ("f1", "transfer"): case("uv uw", "u", "vw"),
    ("w-f1", "transfer"): case("uv uw", "u", "vw"),
    # v brings .01 to the shared and 1 to the units
    ("w-f1", "dispersion"): case("abc uv", "abcuv", "abcuu", weights=(1.0, 0.01)),
    # a = ln(1 + 2 / 1) for one word, ln(1 + 2 / 2) for two, and b = ln(1 + 1): the same
    ("logsim", "padding"): case("ab", "a", "ax"),
    ("length", "concentration"): case("ab", "ax", "x"),
}
WEAKLY = {
    ("f1", "weight"): case("uv u", "u", "v"),
    ("w-f1", "weight"): case("uv u", "u", "v"),
    # whatever covers the same share evenly is as far
    ("js", "transfer"): case("uv uw", "u", "vw"),
    ("rouge", "transfer"): case("uv uw", "u", "vw"),
    ("rouge", "padding"): case("ab", "a", "ax"),
    ("length", "dispersion"): case("uv", "uv", "uu"),
    ("length", "weight"): case("uv u", "u", "v"),
} | {("random", name): case("uv uw", "u", "vw") for name in CASES}


def cells(found: str) -> list[tuple[str, str]]:
    return [
        (family, name)
        for family, row in FOUND.items()
        for name, cell in zip(PROPERTIES, row, strict=True)
        if cell == found and name != "permutation" and family != "cosine"
    ]


@pytest.mark.parametrize(("family", "name"), cells("yes"))
def test_what_always_holds(family: str, name: str) -> None:
    @LAW
    @given(CASES[name])
    def law(drawn: Case) -> None:
        for spec in SPECS[family]:
            better, worse = drawn.scores(spec)
            assert better > worse + (EXACT if math.isfinite(worse) else 0.0), spec

    law()


@pytest.mark.parametrize(("family", "name"), cells("weakly"))
def test_what_is_never_the_other_way_round_but_may_make_no_difference(family: str, name: str) -> None:
    @LAW
    @given(CASES[name])
    def law(drawn: Case) -> None:
        for spec in SPECS[family]:
            better, worse = drawn.scores(spec)
            assert better >= worse - EXACT, spec

    law()
    for spec in SPECS[family]:
        better, worse = WEAKLY[family, name].scores(spec)
        assert better == pytest.approx(worse, abs=EXACT), spec


@pytest.mark.parametrize(("family", "name"), cells("no"))
def test_what_can_be_the_other_way_round(family: str, name: str) -> None:
    for spec in SPECS[family]:
        better, worse = NO[family, name].scores(spec)
        assert better < worse - EXACT, spec


# Permutation

MIXED = {
    "1": ("abcab", "bacba"),
    "2": ("abaca", "acaba"),
    "3": ("aabaacaa", "aacaabaa"),
    "sk": ("aabbaaccaa", "aaccaabbaa"),
}


@pytest.mark.parametrize("family", [family for family in FOUND if family not in {"cosine", "length", "random"}])
@pytest.mark.parametrize("unit", UNITS)
def test_units_in_another_order(family: str, unit: str) -> None:
    """Words may stand in any other order; n-grams only in one that leaves them whole, as here."""
    one, other = (list(text) for text in MIXED[unit])
    collection = PassageCollection(Vocabulary().encode_tokens([list("aabacc"), list("cabaaabca"), one, other]))
    bags = collection.bags(unit).units
    assert sorted(bags.units[slice(*bags.offsets[2:4])]) == sorted(bags.units[slice(*bags.offsets[3:5])])
    pools = informativeness([0] * 4, [1.0, 0.5, 0.0, 0.0])
    values = parse_measure(f"{family}-{unit}").values(collection, pools)
    assert 0.0 < values[2] < math.inf
    assert values[2] == pytest.approx(values[3], rel=EXACT)


@pytest.mark.parametrize("spec", ["length", "random"])
def test_baselines_do_not_look_at_order(spec: str) -> None:
    better, worse = case("abc", "abca", "aacb").scores(spec)
    assert better == worse


# Cosine of word vectors: u stands along the first axis, v and w along others; near is nearly u


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("vectors") / "v"
    rows = {"u": (1, 0, 0), "v": (0, 1, 0), "w": (0, 0, 1), "n": (1, 0.1, 0.1), "x": (-1, 0, 0)}
    Vectors(tuple(rows), np.array(list(rows.values()), np.float32)).save(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        # n is not in the reference, and closer to it than u with v
        ("concentration", case("u", "uv", "n")),
        # n turns the reference to where u points
        ("dispersion", case("uv n n n", "uv", "uu")),
        # x is the opposite of u, so that nothing is left of it in the reference
        ("transfer", case("uvx uwx", "u", "vw")),
        ("weight", case("uvx ux", "u", "v")),
        # n is not in the reference, but lies a little on the side of v
        ("padding", case("uv", "u", "un")),
    ],
)
def test_cosine_can_have_everything_the_other_way_round(vectors: str, name: str, drawn: Case) -> None:
    assert FOUND["cosine"][PROPERTIES.index(name)] == "no"
    for w in ("", "w-"):
        better, worse = drawn.scores(f"{w}cosine(vectors={vectors})")
        assert better < worse - EXACT, name


# The principles of Hilderman and Hamilton

UNITS_OF = "abcdef"


def counts_case(
    better: Sequence[int], worse: Sequence[int], elsewhere: str = "", units: int = 6, copies: int = 1
) -> Case:
    """Passages with these counts of the units of a reference that holds all of them equally often."""
    one, other = ("".join(unit * n for unit, n in zip(UNITS_OF, counts, strict=False)) for counts in (better, worse))
    return case(" ".join([UNITS_OF[:units]] * copies), one, other, elsewhere)


@st.composite
def counts(draw: DrawFn, m: int, n: int) -> list[int]:
    """Counts of m units, n in all, none of them 0."""
    cuts = sorted(draw(st.lists(st.integers(1, n - 1), unique=True, min_size=m - 1, max_size=m - 1)) if m > 1 else [])
    return [end - begin for begin, end in pairwise([0, *cuts, n])]


@st.composite
def minimum(draw: DrawFn) -> tuple[list[int], list[int]]:
    m, each = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    other = draw(st.integers(1, min(6, m * each)))
    return draw(counts(other, m * each)), [each] * m


@st.composite
def maximum(draw: DrawFn) -> tuple[list[int], list[int]]:
    m = draw(st.integers(2, 6))
    n = draw(st.integers(m + 1, m + 9))
    return [n - m + 1] + [1] * (m - 1), draw(counts(m, n))


@st.composite
def skewness(draw: DrawFn) -> tuple[list[int], list[int]]:
    m = draw(st.integers(1, 5))
    c = draw(st.integers(1, 6 - m))
    first = draw(st.integers(c + 2, c + 8))
    return [first] + [1] * (m - 1), [first - c] + [1] * (m + c - 1)


@st.composite
def permutation(draw: DrawFn) -> tuple[list[int], list[int]]:
    m = draw(st.integers(2, 6))
    some = draw(counts(m, draw(st.integers(m, m + 9))))
    return some, draw(st.permutations(some))


@st.composite
def richer(draw: DrawFn) -> tuple[list[int], list[int]]:
    some = draw(st.lists(st.integers(1, 6), min_size=2, max_size=6))
    low, high = sorted(draw(st.permutations(range(len(some))))[:2], key=lambda i: some[i])
    some[low] += 1
    moved = draw(st.integers(1, some[low] - 1))
    unequal = some.copy()
    some[high] = max(some[high], some[low])
    unequal[high] = some[high] + moved
    unequal[low] = some[low] - moved
    return unequal, some


COUNTS = {
    "minimum": minimum(),
    "maximum": maximum(),
    "skewness": skewness(),
    "permutation": permutation(),
    "transfer": richer(),
}
EVEN = counts_case((1, 3), (2, 2), units=2)
"""Each measure of overlap that looks at counts prefers the even passage."""
UNIQUE = "aaaaaaaaaaaaaaaa a a a a a a"
"""Passages of another topic that make a frequent in the collection."""
COUNTED = {
    "minimum": counts_case((2,), (1, 1), copies=2),
    "maximum": EVEN,
    "skewness": counts_case((3,), (2, 1)),
    "permutation": counts_case((3, 1), (1, 3), elsewhere=UNIQUE),
    "transfer": EVEN,
}
"""Cases where a principle does not hold, for each measure whose cell is no."""


def hilderman(found: str) -> list[tuple[str, str]]:
    return [
        (family, name)
        for family, row in HILDERMAN.items()
        for name, cell in row.items()
        if cell == found and family != "cosine"
    ]


@pytest.mark.parametrize(("family", "name"), hilderman("yes") + hilderman("weakly"))
def test_principles_of_counts_that_hold(family: str, name: str) -> None:
    """Permutation (yes) needs equal scores; the others (weakly) a score that never falls, but need not rise."""

    @FEWER
    @given(COUNTS[name], st.integers(1, 3), ELSEWHERE)
    def law(drawn: tuple[list[int], list[int]], copies: int, elsewhere: list[list[str]]) -> None:
        made = counts_case(*drawn, copies=copies)
        for spec in SPECS[family]:
            better, worse = replace(made, elsewhere=elsewhere).scores(spec)
            assert better >= worse - EXACT, spec
            if name == "permutation":
                assert better == pytest.approx(worse, abs=EXACT), spec

    law()
    if name != "permutation":
        for spec in SPECS[family]:
            better, worse = COUNTED[name].scores(spec)
            assert better == pytest.approx(worse, abs=EXACT), spec


@pytest.mark.parametrize(("family", "name"), hilderman("no"))
def test_principles_of_counts_that_do_not_hold(family: str, name: str) -> None:
    for spec in SPECS[family]:
        better, worse = COUNTED[name].scores(spec)
        if name == "permutation":
            assert abs(better - worse) > EXACT, spec
        else:
            assert better < worse - EXACT, spec


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("minimum", case("uvw", "uuu", "uvw")),
        ("maximum", case("uv", "uuuv", "uuvv")),
        ("skewness", case("uvw", "uuu", "uuv")),
        # n is not where u and v are, so that its place in the counts matters
        ("permutation", case("un", "uuun", "unnn")),
        ("transfer", case("uv", "uuuv", "uuvv")),
    ],
)
def test_cosine_has_none_of_the_principles_of_counts(vectors: str, name: str, drawn: Case) -> None:
    assert HILDERMAN["cosine"][name] == "no"
    for w in ("", "w-"):
        better, worse = drawn.scores(f"{w}cosine(vectors={vectors})")
        assert better != worse if name == "permutation" else better < worse - EXACT, name


# What follows


def has(family: str, *names: str) -> bool:
    return all(FOUND[family][PROPERTIES.index(name)] == "yes" for name in names)


def test_the_table_is_of_all_measures() -> None:
    families = {getattr(parse_measure(name), "family", name) for name in MEASURES}
    assert set(FOUND) == families - {"interest"} | {"w-f1"}  # which compares with no reference


def test_what_the_paper_says_holds_in_this_reading() -> None:
    assert of_paper() == ("logsim",)
    assert has("kl", "dispersion")
    assert not has("kl", "concentration")
    assert has("f1", "permutation", "concentration", "dispersion")
    assert not has("f1", "transfer")


def test_where_transfer_ends_for_logsim() -> None:
    """One unit of c = 4 is below two of c = 1 and 3: the long passage is no better than even, and wins by its 3."""
    better, worse = case("uvw uw uw u", "u", "vw").scores("logsim-1")
    # |R| = 8: ln 5 / ln 9 of 4/8; a = ln(1 + 8/2) for both, ln 2 / ln 5 of 1/8 and ln 4 / ln 5 of 3/8
    assert better == pytest.approx(4 / 8 * math.log(5) / math.log(9))
    assert worse == pytest.approx(1 / 8 * math.log(2) / math.log(5) + 3 / 8 * math.log(4) / math.log(5))
    assert better < worse


def test_logsim_rewards_padding_up_to_the_share_of_the_reference() -> None:
    """a falls with every word of padding until k |R| / |S| = c; after that the score falls too."""
    found = [case("abcd ab", "a", "a" + "x" * n).scores("logsim-1")[1] for n in range(8)]
    # |R| = 6 and c = 2: the top is at |S| = 3, where a = ln(1 + 6 / 3) = b
    assert found.index(max(found)) == 2
    assert found[2] == pytest.approx(2 / 6)
    assert found == sorted(found[:3]) + sorted(found[3:], reverse=True)


@pytest.mark.parametrize("table", [PRINCIPLES, HILDERMAN], ids=["paper", "hilderman"])
@pytest.mark.parametrize("family", FOUND)
def test_the_table_in_the_guide(family: str, table: Mapping[str, Mapping[str, str]]) -> None:
    head = f"| | {' | '.join(table[family])} |"
    guide = GUIDE.read_text(encoding="utf-8")
    assert head in guide
    lines = guide[guide.index(head) :].split("\n\n")[0].splitlines()
    assert f"| `{family}` | {' | '.join(table[family].values())} |" in lines


def test_every_cell_is_tested() -> None:
    assert set(cells("no")) == set(NO)
    assert set(cells("weakly")) == set(WEAKLY)
    assert {cell for row, column in product(FOUND, PROPERTIES) for cell in FOUND[row]} == {"yes", "weakly", "no"}
