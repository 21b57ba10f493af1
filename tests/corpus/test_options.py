from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from corpus_work import loose

from postil.corpus.options import BuildOptions, Share
from postil.corpus.privacy import HashKey
from postil.errors import UsageError
from refusals import refused


def test_the_defaults_are_those_of_the_paper_or_chosen_from_the_data() -> None:
    options = BuildOptions(source="a site", license="ours")
    least = {"min_content_words": 30, "min_comments": 20, "test_min_comments": 30, "test_min_upvotes": 201}
    assert list(options.settings(least)) == [
        name for name in options.__annotations__ if name in options.settings(least)
    ]
    assert options.settings() == {name: value for name, value in options.settings(least).items() if name not in least}
    assert options.settings(least) == {
        "source": "a site",
        "license": "ours",
        "tokenizer": "words",
        "min_content_words": 30,
        "min_comments": 20,
        "max_comment_words": 50,
        "long_comments": "drop",
        "dev": "0.05",
        "test": "0.05",
        "test_min_comments": 30,
        "test_min_words": 6,
        "test_min_upvotes": 201,
        "references_per_article": 27,
        "sample_references_from": "all",
        "dedup_threshold": 0.8,
        "vocab_size": 30_000,
        "html": "clean",
        "user_ids": "drop",
        "mask": (),
        "seed": 20181,
    }


def test_settings_say_all_but_the_secret() -> None:
    options = loose(user_ids="hash", hash_key=HashKey(b"secret"), mask=("urls",), dev=Share(size=7), on_error="skip")
    found = json.loads(json.dumps(options.settings()))
    assert "secret" not in f"{found} {options}"
    assert (found["user_ids"], found["mask"], found["dev"]) == ("hash", ["urls"], "7")
    assert found.keys() == set(BuildOptions.__annotations__) - {"hash_key", "on_error", "split_by", "dates"}
    assert loose(split_by="date").settings() == loose().settings() | {"split_by": "date"}
    assert pickle.loads(pickle.dumps(options)) == options  # noqa: S301 - our own; workers get it so


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ""}, "source is empty"),
        ({"license": " "}, "license is empty"),
        ({"dedup_threshold": 1.5}, "dedup threshold: expected a similarity from 0 to 1, got 1.5"),
        ({"dedup_threshold": float("nan")}, "dedup_threshold: expected a number, got NaN"),
        ({"min_comments": 0}, "min comments: expected 1 or more, got 0"),
        ({"max_comment_words": 0}, "max comment words: expected 1 or more, got 0"),
        ({"vocab_size": 0}, "vocab size: expected 1 or more, got 0"),
        ({"min_content_words": -1}, "min content words: expected 0 or more, got -1"),
        ({"test_min_upvotes": -1}, "test min upvotes: expected 0 or more, got -1"),
        ({"references_per_article": -1}, "references per article: expected 0 or more, got -1"),
        ({"seed": -1}, "seed: expected a whole number from 0 up, got -1"),
        ({"user_ids": "hash"}, 'user_ids="hash" and hash_key must be given together'),
        ({"hash_key": HashKey(b"x")}, "must be given together"),
        ({"long_comments": "truncat"}, "unknown policy for long comments 'truncat'; did you mean 'truncate'?"),
        ({"sample_references_from": "al"}, "unknown comments to sample references from 'al'; did you mean 'all'?"),
        ({"user_ids": "hide"}, "unknown policy for user ids 'hide'"),
        ({"mask": ("urls", "phone")}, "unknown mask 'phone'; did you mean 'phones'?"),
    ],
)
def test_what_makes_no_sense(changes: dict[str, Any], message: str) -> None:
    assert message in refused(UsageError, loose, **changes)
