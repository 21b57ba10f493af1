from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from corpus_work import loose

from postil.corpus.options import BuildOptions
from postil.corpus.split import Share
from postil.errors import UnknownName, UsageError


def test_the_defaults_are_those_of_the_paper() -> None:
    options = BuildOptions(source="a site", license="ours")
    assert options.settings() == {
        "source": "a site",
        "license": "ours",
        "tokenizer": "words",
        "content_words": 30,
        "comments": 20,
        "comment_words": 50,
        "long_comments": "drop",
        "dev": "0.05",
        "test": "0.05",
        "test_comments": 30,
        "test_words": 6,
        "test_upvotes": 201,
        "draw": 27,
        "draw_from": "all",
        "near_duplicates": 0.8,
        "vocabulary": 30_000,
        "users": "drop",
        "mask": (),
        "seed": 20181,
    }


def test_what_is_written_down_says_all_but_the_secret() -> None:
    options = loose(users="hash", salt=b"secret", mask=("urls",), dev=Share(size=7), skip_bad=True)
    made = json.loads(json.dumps(options.settings()))
    assert "secret" not in str(made)
    assert (made["users"], made["mask"], made["dev"]) == ("hash", ["urls"], "7")
    fields = set(BuildOptions.__dataclass_fields__) - {"salt", "skip_bad"}
    assert made.keys() == fields
    assert pickle.loads(pickle.dumps(options)) == options  # noqa: S301 - our own; workers get it so


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ""}, "source is empty"),
        ({"license": " "}, "license is empty"),
        ({"near_duplicates": 1.5}, "near duplicates: expected a likeness from 0 to 1, got 1.5"),
        ({"near_duplicates": float("nan")}, "near_duplicates: expected a number, got NaN"),
        ({"comments": 0}, "comments: expected 1 or more, got 0"),
        ({"comment_words": 0}, "comment words: expected 1 or more, got 0"),
        ({"vocabulary": 0}, "vocabulary: expected 1 or more, got 0"),
        ({"content_words": -1}, "content words: expected 0 or more, got -1"),
        ({"test_upvotes": -1}, "test upvotes: expected 0 or more, got -1"),
        ({"draw": -1}, "draw: expected 0 or more, got -1"),
        ({"seed": -1}, "seed: expected a whole number from 0 up, got -1"),
        ({"users": "hash"}, "give both or neither"),
        ({"salt": b"x"}, "give both or neither"),
    ],
)
def test_what_makes_no_sense(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as failure:
        loose(**changes)
    assert str(failure.value).endswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"long_comments": "cat"}, "unknown fate of long comments 'cat'; did you mean 'cut'? Known: drop, cut, keep"),
        ({"draw_from": "al"}, "unknown comments to draw from 'al'; did you mean 'all'? Known: all, long"),
        ({"users": "hide"}, "unknown fate of users 'hide'"),
        ({"mask": ("urls", "phone")}, "unknown mask 'phone'; did you mean 'phones'?"),
    ],
)
def test_unknown_names(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownName) as failure:
        loose(**changes)
    assert str(failure.value).startswith(message)
