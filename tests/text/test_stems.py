from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import UnknownName
from postil.text.stems import STEMMERS, stems, stems_signature


@pytest.mark.parametrize(
    ("word", "stem"),
    [("running", "run"), ("skis", "ski"), ("dying", "die"), ("news", "news"), ("gases", "gase"), ("dog's", "dog")],
)
def test_english_is_snowball_english(word: str, stem: str) -> None:
    assert stems([word]) == [stem]


STARTS = "a by yell commun gener arsen hopp hop fr str nation argu conspir rel x qu enjoy bl siz 't Y sky oo"
ENDINGS = (
    "s ed ing ly li ational ative ion sion ement e y ll lle ogi logi ies ied sses us 's ' eed eedly izer iviti ness"
)


@pytest.mark.parametrize(("algorithm", "digest"), [("english", "1874761e618967b7"), ("porter", "911ae97dbc19a51b")])
def test_stems_are_those_of_pystemmer_2(algorithm: str, digest: str) -> None:
    endings = ["", *ENDINGS.split()]
    words = [f"{start}{one}{other}" for start in STARTS.split() for one in endings for other in endings]
    assert sha256("\n".join(stems(words, algorithm)).encode()).hexdigest()[:16] == digest


def test_porter_is_another_algorithm() -> None:
    assert stems(["dying"], "porter") == ["dy"]


def test_case_counts() -> None:
    assert stems(["RUNNING", "Running"]) == ["RUNNING", "Run"]


def test_no_words_have_no_stems() -> None:
    assert stems([]) == []
    assert stems([""]) == [""]


def test_a_lone_surrogate_is_its_own_stem() -> None:
    assert stems(["cats", "\ud800s", "dogs"]) == ["cat", "\ud800s", "dog"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=8))
def test_a_batch_is_its_words(words: list[str]) -> None:
    assert stems(words) == [stems([word])[0] for word in words]


def test_threads_agree() -> None:
    words = [f"{start}{end}" for start in ("run", "walk", "nation", "argu") for end in ("s", "ing", "ed", "ality")] * 50
    expected = stems(words)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lambda _: stems(words), range(40)))


def test_names() -> None:
    assert {"english", "porter", "french"} <= set(STEMMERS)
    with pytest.raises(UnknownName, match=r"unknown stemmer 'englsh'; did you mean 'english'\?"):
        stems(["a"], "englsh")
    with pytest.raises(UnknownName):
        stems_signature("none")


def test_the_signature_names_algorithm_and_version() -> None:
    assert stems_signature() == "english-2.2.0.3"
    assert stems_signature("french") == f"french-{version('snowballstemmer')}"


def test_rouge_is_porter_by_nltk_for_words_of_more_than_three_characters() -> None:
    words = ["ies", "dies", "dying", "enjoys", "rationally", "geology", "2018", "news", "hopefully", "feed", "agreed"]
    expected = ["ies", "die", "die", "enjoy", "ration", "geolog", "2018", "news", "hope", "feed", "agre"]
    assert stems(words, "rouge") == expected
    assert stems_signature("rouge") == "rouge"
