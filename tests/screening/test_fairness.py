"""Shares that a screen holds of kept texts that name groups of people, and terms found without the texts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from postil.data.row_files import write
from postil.errors import InvalidInput
from postil.results.base import read_result
from postil.results.views import show
from postil.screening.evaluation import Predicted
from postil.screening.fairness import (
    LISTED,
    GroupTerm,
    compared,
    difference,
    kinds_named,
    packaged_terms,
    read_terms,
)
from postil.screening.features import count_grams
from postil.screening.reasons import find_profanity
from postil.screening.view import training
from postil.text.stop_words import stop_words
from screen_decisions import rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from postil.data.rows import Decision
    from postil.kernel.arrays import Booleans
    from postil.screening.result import ScreenFairness

FAITH, AGE = GroupTerm("muslims", "religion"), GroupTerm("old people", "age")


def found(texts: Sequence[str], *terms: GroupTerm) -> dict[str, list[bool]]:
    return {kind: named.tolist() for kind, named in kinds_named(count_grams(texts), terms).items()}


@pytest.mark.parametrize(
    ("term", "text", "there"),
    [
        ("muslims", "MUSLIMS!", True),
        ("muslims", "<b>muslims</b>, they say", True),
        ("muslims", "#muslims @muslims", True),
        ("muslims", "muslim s", False),
        ("muslims", "nonmuslims", False),
        ("muslims", "muslims2", False),
        ("muslims", "", False),
        ("old people", "Old\n people's homes", True),
        ("old people", "old, people", False),
        ("old people", "cold people", False),
        ("old people", "people old", False),
        ("non-binary", "a non-binary person", True),
        ("non-binary", "non binary", False),
        ("jüdin", "Die Ju\u0308din", True),
        ("外国人", "有很多外国人在这里", True),
        ("外国人", "外国的人", False),
        ("外国人", "外国 人", False),
        ("90后", "我是90后", True),
        ("gay", "😀gay😀", True),
    ],
)
def test_a_term_is_found_as_whole_words_and_in_chinese_anywhere(term: str, text: str, there: bool) -> None:
    assert found(["some other text", text], GroupTerm(term, "kind")) == {"kind": [False, there]}


def test_terms_are_found_in_columns_as_an_expression_finds_them_in_texts() -> None:
    random = np.random.default_rng(50)
    terms = packaged_terms([])
    pieces = [*(term.term for term in terms), "old", "people", "frau", "x", "人", "外国", "de", "ü"]
    texts = [
        "".join(f"{random.choice(pieces)}{random.choice([' ', ', ', '', '-', ' ', ' '])}" for _ in range(6))
        for _ in range(600)
    ]
    no_letter = (r"(?<![^\W\u4e00-\u9fff])", r"(?![^\W\u4e00-\u9fff])")
    for kind, named in kinds_named(count_grams(texts), terms).items():
        wanted = [term.term for term in terms if term.kind == kind]
        words = [word if word[-1] >= "\u4e00" else rf"{no_letter[0]}{word}{no_letter[1]}" for word in wanted]
        expected = [re.search("|".join(words), text) is not None for text in texts]
        assert named.tolist() == expected
        assert 0 < sum(expected) < len(texts)


def test_no_texts_and_no_terms_name_nothing() -> None:
    assert found([], FAITH) == {"religion": []}
    assert found(["muslims"]) == {}


def test_the_packages_lists_have_some_forty_neutral_terms_each() -> None:
    common = {word for name in LISTED for word in stop_words(name)}
    for language in LISTED:
        terms = packaged_terms([language])
        assert len(terms) >= 40
        assert {term.kind for term in terms} == {"religion", "origin", "gender", "orientation", "disability", "age"}
        assert len({term.term for term in terms}) == len(terms)
        assert all(term.term == term.term.lower() for term in terms)
        assert [term.term for term in terms if find_profanity(term.term)] == []
        assert [term.term for term in terms if term.term in common] == []
    kinds = dict[str, set[str]]()
    for term in packaged_terms([]):
        kinds.setdefault(term.term, set()).add(term.kind)
    assert {term: kind for term, kind in kinds.items() if len(kind) > 1} == {}


def test_terms_are_those_of_the_languages_of_the_texts() -> None:
    assert GroupTerm("frauen", "gender") in packaged_terms(["de"])
    assert GroupTerm("women", "gender") not in packaged_terms(["de"])
    assert set(packaged_terms(["de", "en"])) == {*packaged_terms(["de"]), *packaged_terms(["en"])}
    assert packaged_terms(["nl"]) == ()
    assert set(packaged_terms([])) == {term for language in LISTED for term in packaged_terms([language])}


@pytest.mark.parametrize(
    ("content", "terms"),
    [
        ("Sorben\nSorbin\n", (GroupTerm("Sorben"), GroupTerm("Sorbin"))),
        ("term,kind\n# ours\n\nSorben,origin\n", (GroupTerm("Sorben", "origin"),)),
        ('\ufeffTerm;Kind\r\n"old people";age\r\n', (GroupTerm("old people", "age"),)),
        ("term\nterm\tword\nterm\tword\n", (GroupTerm("term", "word"),)),
        ("Sorben,\n", (GroupTerm("Sorben"),)),
    ],
)
def test_a_list_has_a_term_per_line_with_its_kind_or_without(
    tmp_path: Path, content: str, terms: tuple[GroupTerm, ...]
) -> None:
    (tmp_path / "own.txt").write_text(content, encoding="utf-8")
    assert read_terms(tmp_path / "own.txt") == terms


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"Sorben,origin,Saxony\n", r"own.txt:1: expected a term, or a term and its kind, got 3 cells"),
        (b"term,kind\n!?,sign\n", r"own.txt:2: expected a term with a letter or digit, got '!\?'"),
        (b"term,kind\n", "own.txt: expected a term per line, got none"),
        (b"Sor\xffben\n", "own.txt:1: not UTF-8"),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "own.txt").write_bytes(content)
    with pytest.raises(InvalidInput, match=problem):
        read_terms(tmp_path / "own.txt")
    with pytest.raises(InvalidInput, match=r"none\.txt: cannot be read"):
        read_terms(tmp_path / "none.txt")


def of_texts(
    naming: Booleans, held: Booleans, probabilities: Sequence[float], **languages: Booleans
) -> list[ScreenFairness]:
    n = len(naming)
    texts = Predicted(np.zeros(n), held, np.arange(n), np.zeros(n, int), in_time=False)
    return [*compared(texts, np.array(probabilities), 0.7, {"religion": naming, "age": np.zeros(n, bool)}, languages)]


def test_shares_and_their_difference_by_hand() -> None:
    # 30 kept texts name a group, 3 of them at the threshold; of 40 others 2 are above it. Held texts do not count.
    naming = np.arange(90) < 30
    probabilities = [0.7] * 3 + [0.1] * 27 + [0.9] * 2 + [0.2] * 38 + [0.99] * 20
    one = of_texts(naming, np.arange(90) >= 70, probabilities)[0]
    assert (one.by, one.name, one.texts, one.others) == ("all", "", 30, 40)
    assert one.held is not None
    assert one.others_held is not None
    assert one.difference is not None
    assert (one.probability, one.others_probability) == (pytest.approx(0.16), pytest.approx(0.235))
    assert (one.base_rate, one.others_base_rate) == (0.0, pytest.approx(20 / 60))
    # Wilson's intervals of 2.9 of 29 and 1.95 of 39, as n texts tell n - 1 of a variance: with z = 1.96,
    # (.1 + z² / 58 ± z √(.09 / 29 + z² / 3364)) / (1 + z² / 29), and so on.
    assert (one.held.value, one.held.low, one.held.high) == pytest.approx((0.1, 0.03402, 0.25955), abs=5e-5)
    assert (one.others_held.value, one.others_held.low, one.others_held.high) == pytest.approx(
        (0.05, 0.01362, 0.16708), abs=5e-5
    )
    # Newcombe's: .05 - √((.1 - .03402)² + (.16708 - .05)²) to .05 + √((.25955 - .1)² + (.05 - .01362)²).
    assert (one.difference.value, one.difference.low, one.difference.high) == pytest.approx(
        (0.05, -0.08439, 0.21365), abs=5e-5
    )


@pytest.mark.parametrize(
    ("naming", "others", "told"), [(19, 50, False), (20, 50, True), (50, 19, False), (50, 20, True)]
)
def test_below_twenty_texts_of_either_kind_only_their_numbers_are_told(naming: int, others: int, told: bool) -> None:
    n = naming + others + 30
    one = of_texts(np.arange(n) < naming, np.arange(n) >= naming + others, [0.5] * n)[0]
    assert (one.texts, one.others) == (naming, others)
    numbers = (one.held, one.others_held, one.difference, one.probability, one.others_probability, one.base_rate)
    assert [number is not None for number in (*numbers, one.others_base_rate)] == [told] * 7


def test_no_text_that_names_a_group_is_told_as_none() -> None:
    everything, religion, age = of_texts(np.zeros(50, bool), np.zeros(50, bool), [0.1] * 50)
    assert [(one.texts, one.others, one.held) for one in (everything, religion, age)] == [(0, 50, None)] * 3
    assert list(compared(Predicted(*[np.zeros(0)] * 4, in_time=False), np.zeros(0), 0.5, {}, {})) == []  # type: ignore[arg-type]


def test_kinds_are_beside_texts_that_name_no_group_and_languages_beside_their_own() -> None:
    n = 100
    texts = Predicted(np.zeros(n), np.zeros(n, bool), np.arange(n), np.zeros(n, int), in_time=False)
    named = {"religion": np.arange(n) < 30, "age": (np.arange(n) >= 20) & (np.arange(n) < 50), "": np.arange(n) == 99}
    languages = {"de": np.arange(n) % 2 == 0, "en": np.arange(n) % 2 == 1}
    told = [*compared(texts, np.full(n, 0.5), 0.7, named, languages)]
    assert [(one.by, one.name, one.texts, one.others) for one in told] == [
        ("all", "", 51, 49),
        ("kind", "religion", 30, 49),
        ("kind", "age", 30, 49),
        ("language", "de", 25, 25),
        ("language", "en", 26, 24),
    ]


def test_a_difference_within_authors_is_surer_than_one_between_them() -> None:
    # Forty authors have two texts of each kind; half of them have all theirs held, but for four of the others.
    author = np.repeat(np.arange(40), 4)
    ones = np.arange(160) % 4 < 2
    hits = (author < 20) & (ones | (author >= 4))
    within, between = (difference(hits, ones, ~ones, owner) for owner in (author, author + 40 * ones))
    assert within is not None
    assert between is not None
    assert within.value == between.value == pytest.approx(0.1)
    assert between.low < within.low < within.high < between.high  # type: ignore[operator]
    assert difference(hits, ones, np.zeros(160, bool), author) is None


@pytest.mark.parametrize(("authors", "spread"), [(1, 0.0), (5, 1.0)])
def test_intervals_of_a_difference_hold_the_truth_as_often_as_they_say(authors: int, spread: float) -> None:
    random, hits, draws, size = np.random.default_rng(1998), 0, 400, 2_000
    places = np.linspace(-6, 6, 601)
    weights = np.exp(-(places**2) / 2)
    logits = np.array([-2.0, -3.0])
    means = (weights / (1 + np.exp(-(logits[:, None] + spread * places)))).sum(axis=1) / weights.sum()
    for _ in range(draws):
        author = np.arange(size) // authors
        ones = random.random(size) < 0.1
        chance = 1 / (1 + np.exp(-(np.where(ones, *logits) + random.normal(0, spread, size)[author])))
        told = difference(random.random(size) < chance, ones, ~ones, author)
        assert told is not None
        hits += told.low <= means[0] - means[1] <= told.high  # type: ignore[operator]
    assert 0.92 < hits / draws < 0.98  # 400 draws leave ±.02


def with_groups(n: int = 240, lang: str | None = "en") -> list[Decision]:
    """Decisions: muslims are named by every fifth text, and by more of what is held."""
    found = []
    for at, row in enumerate(rows(n)):
        named = at % 5 == 0 or (row.decision == "hold" and at % 3 == 0)
        text = f"{row.text} muslims" if named else row.text
        found.append(msgspec.structs.replace(row, text=text, lang=lang))
    return found


def trained(folder: Path, decisions: Sequence[Decision], out: str | None = "screen", **options: Any) -> Any:
    pytest.importorskip("sklearn")
    from postil.screening.options import ScreenTrainOptions  # noqa: PLC0415
    from postil.screening.training import train_screen  # noqa: PLC0415

    said: list[str] = options.pop("said", [])
    files = [str(folder / "decisions.jsonl")] * bool(decisions)
    if decisions:
        write(folder / "decisions.jsonl", decisions)
    where = None if out is None else str(folder / out)
    return train_screen(files, where, ScreenTrainOptions(**options), on_message=said.append)


def test_a_training_tells_what_it_would_hold_of_kept_texts_that_name_groups(tmp_path: Path) -> None:
    decisions = with_groups()
    result = trained(tmp_path, decisions)
    everything, religion, *others = result.fairness
    kept = [row.text for row in decisions if row.decision == "keep"]
    naming = sum("muslims" in text for text in kept)
    assert (everything.texts, everything.others) == (naming, len(kept) - naming)
    assert (religion.name, religion.texts, religion.held) == ("religion", naming, everything.held)
    assert [one.texts for one in others] == [0] * 5  # no other kind; one language is none to tell apart
    assert everything.probability > everything.others_probability
    shown = training(result)
    assert any("where it names groups of people" in line for line in shown.findings)
    assert re.search(rf"any group +{naming} +\.\d+ \[", show("table", result))
    assert "kept texts that name" in show("html", result)
    metadata = json.loads((tmp_path / "screen" / "metadata.json").read_text())
    assert metadata["evaluation"]["fairness"][0]["texts"] == naming


def test_an_update_without_texts_tells_the_same(tmp_path: Path) -> None:
    whole = trained(tmp_path, with_groups())
    again = trained(tmp_path, [], None, update=str(tmp_path / "screen"))
    assert again.fairness == whole.fairness


def test_own_terms_stand_in_place_of_those_of_the_package_and_are_kept(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("bus\n")
    decisions = with_groups()
    (only,) = trained(tmp_path, decisions, groups=str(tmp_path / "own.txt")).fairness
    assert only.texts == sum("bus" in row.text.split() for row in decisions if row.decision == "keep")
    assert trained(tmp_path, [], None, update=str(tmp_path / "screen")).fairness == (only,)
    (tmp_path / "other.txt").write_text("rain,weather\n")
    told = trained(tmp_path, [], None, update=str(tmp_path / "screen"), groups=str(tmp_path / "other.txt")).fairness
    assert [one.name for one in told] == ["", "weather"]


def test_languages_are_told_apart_where_there_are_several(tmp_path: Path) -> None:
    decisions = [msgspec.structs.replace(row, lang="de" if at % 2 else "en-GB") for at, row in enumerate(with_groups())]
    told = {(one.by, one.name): one for one in trained(tmp_path, decisions).fairness}
    both = [told["language", "de"], told["language", "en"]]
    assert sum(one.texts for one in both) == told["all", ""].texts
    assert sum(one.others for one in both) == told["all", ""].others


def test_a_language_without_a_list_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    result = trained(tmp_path, with_groups(lang="nl"), said=said)
    assert result.fairness == ()
    assert [*map(str, said)] == ["no list of terms that name groups of people in nl; groups=FILE names your own"]
    assert not any("groups of people" in line for line in training(result).findings)


def test_too_few_texts_are_said_and_an_older_result_has_none(tmp_path: Path) -> None:
    result = trained(tmp_path, [msgspec.structs.replace(row, lang="en") for row in rows()])
    assert result.fairness[0].texts == 0
    assert "none of 180 kept texts names a group of people" in [*map(str, training(result).findings)]
    assert "kept texts that name" not in show("table", result)  # a table of zeros says no more
    decisions = [msgspec.structs.replace(row, lang="en") for row in rows()]
    one = msgspec.structs.replace(decisions[5], text="a Muslim walked home", id="x")
    few = trained(tmp_path, [one, *decisions], "few")
    assert "1 kept text names groups of people and 180 do not: too few to compare what is held of them" in [
        *map(str, training(few).findings)
    ]
    assert "kept texts that name" in show("table", few)
    older = json.loads(result.to_json())
    del older["fairness"]
    (tmp_path / "older.json").write_text(json.dumps(older))
    assert read_result(tmp_path / "older.json").fairness == ()  # type: ignore[attr-defined]
