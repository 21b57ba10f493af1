"""Names of writers and what they gave away must not be found in a corpus, in whatever file."""

from __future__ import annotations

import functools
import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from corpus_work import Row, built, files, loose, row, written

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.calls import build_corpus
from postil.corpus.options import Share
from postil.corpus.privacy import MASKS, HashKey, hash_user, masking
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus

PEOPLE = ("Xanthippe", "Yngwie", "Zbigniew", "90210345")


def told() -> list[Row]:
    comments = [
        {"text": "I said so.", "user": "Xanthippe", "ratings": [{"annotator": "Zbigniew", "grade": 4}]},
        {"text": "You did.", "user": "Yngwie", "ratings": [{"annotator": 90210345, "grade": 5},
                                                           {"annotator": "Zbigniew", "grade": 2}]},
        {"text": "Me again.", "user": "Xanthippe"},
        {"text": "Nobody.", "user": None},
    ]  # fmt: skip
    return [row(f"article{number}", comments) for number in range(6)]


def everything(folder: Path) -> str:
    """All bytes of a corpus and all values of its tables, which are compressed."""
    tables = [pq.read_table(path) for path in folder.rglob("*.parquet")]
    metadata = [str(table.schema.metadata) for table in tables]
    rows = [json.dumps(table.to_pylist(), ensure_ascii=False) for table in tables]
    return "\n".join([*rows, *metadata, *(data.decode("latin-1") for data in files(folder).values()), *files(folder)])


def people(corpus: Corpus) -> set[str]:
    comments = [comment for split in corpus.splits for article in corpus.articles(split)
                for comment in (*article.comments, *(article.held_out or ()))]  # fmt: skip
    users = {comment.user for comment in comments if comment.user is not None}
    return users | {rating.annotator for comment in comments for rating in comment.ratings}


SETS: dict[str, Any] = {"dev": Share(size=1), "test": Share(size=2)}  # with comments that are held out


def test_names_are_dropped_unless_asked_for(tmp_path: Path) -> None:
    corpus = built(tmp_path, told(), **SETS)
    text = everything(tmp_path / "out")
    assert "I said so." in text  # this looks where it should
    assert not [name for name in PEOPLE if name in text]
    assert people(corpus) == {"annotator-1", "annotator-2"}
    grades = [[rating.grade for rating in comment.ratings] for article in corpus.articles("train")
              for comment in article.comments]  # fmt: skip
    assert grades == [[4.0], [5.0, 2.0], [], []] * 3
    assert people(built(tmp_path, told(), "kept", **SETS, user_ids="keep")) == set(PEOPLE)


RATERS = ("Xanthippe", "Yngwie", "Zbigniew", "Ariadne", "Leander")


def rated_by(*pairs: tuple[str, ...]) -> list[Row]:
    """Articles, each with comments rated by these annotators."""
    comments = [
        {
            "text": f"Comment {number}.",
            "ratings": [{"annotator": who, "grade": (number + RATERS.index(who)) % 5 + 1} for who in pair],
        }
        for number, pair in enumerate(pairs)
    ]
    return [row(f"article{number}", comments) for number in range(4)]


def ratings(corpus: Corpus) -> list[tuple[str, str, str, float]]:
    return [
        (article.id, comment.id, rating.annotator, rating.grade)
        for split in corpus.splits
        for article in corpus.articles(split)
        for comment in article.comments
        for rating in comment.ratings
    ]


def test_pseudonyms_keep_who_is_who(tmp_path: Path) -> None:
    """Not the first and the second of a comment: every annotator has one pseudonym in the whole corpus."""
    articles = rated_by(*combinations(RATERS, 2))
    kept, dropped = (built(tmp_path, articles, name, user_ids=name) for name in ("keep", "drop"))
    names = dict(zip((row[2] for row in ratings(kept)), (row[2] for row in ratings(dropped)), strict=True))
    assert {(*row[:2], names[row[2]], row[3]) for row in ratings(kept)} == set(ratings(dropped))
    assert sorted(names.values()) == [f"annotator-{number}" for number in range(1, 6)]
    assert not [name for name in RATERS if name in everything(tmp_path / "drop")]


def test_pseudonyms_tell_nothing_of_names_and_depend_on_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    articles = rated_by(*combinations(RATERS, 2))
    other = {name: f"{9 - place}-{name}" for place, name in enumerate(RATERS)}  # sorted the other way round
    renamed = json.loads(json.dumps(articles))
    for rating in (rating for one in renamed for comment in one["comments"] for rating in comment["ratings"]):
        rating["annotator"] = other[rating["annotator"]]
    first = built(tmp_path, articles, "first")
    assert sorted(ratings(first)) == sorted(ratings(built(tmp_path, renamed, "renamed")))
    assert sorted(ratings(first)) == sorted(ratings(built(tmp_path, articles[::-1], "turned")))
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=1))  # a block for every article
    assert sorted(ratings(first)) == sorted(ratings(built(tmp_path, articles, "cut")))


def test_pseudonyms_do_not_depend_on_what_is_left_out(tmp_path: Path) -> None:
    """An article is left out when it is read, or later, as one whose id came before."""
    articles = rated_by(*combinations(RATERS, 2))
    alone = ratings(built(tmp_path, articles, "alone", min_content_words=2))
    raters = [{"annotator": name, "grade": 1} for name in ("Wolfram", "Leander")]
    thin = row("thin", [{"text": "Thin.", "ratings": raters}], content="Oh.")
    again = [row("article0", [{"id": f"x{number}", "text": "Again.", "ratings": raters}]) for number in range(9)]
    found = built(tmp_path, [thin, *articles, *again], "all", min_content_words=2, on_error="skip")
    assert found.metadata.seen["articles: id came before"] == 9
    assert ratings(found) == alone
    assert {name for _, _, name, _ in alone} == {f"annotator-{number}" for number in range(1, 6)}


@pytest.mark.parametrize("policy", [{}, {"user_ids": "keep"}, {"user_ids": "hash", "hash_key": HashKey(b"pepper")}])
def test_positions_never_become_people(tmp_path: Path, policy: dict[str, Any]) -> None:
    """As in corpora of earlier versions, which numbered the ratings of each comment."""
    articles = rated_by(("Xanthippe", "Yngwie"), ("Zbigniew", "Ariadne", "Leander"), ("Leander",))
    for comment in (comment for one in articles for comment in one["comments"]):
        for place, rating in enumerate(comment["ratings"], 1):
            rating["annotator"] = str(place)
    said: list[str] = []
    path = written(tmp_path / "rows.jsonl", articles)
    corpus = build_corpus([path], tmp_path / "out", loose(**policy), jobs=1, on_message=said.append)
    assert people(corpus) == {"1", "2", "3"}
    assert any("numbered from 1, by position, so nobody can be told apart" in line for line in said)
    articles[0]["comments"][0]["ratings"][0]["annotator"] = "7"  # so they are no positions
    corpus = built(tmp_path, articles, "people")
    assert people(corpus) == {f"annotator-{number}" for number in range(1, 5)}


def test_a_hash_stands_for_a_person_within_one_corpus(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.jsonl", told())
    one, _, other = (
        build_corpus([path], tmp_path / name, loose(**SETS, user_ids="hash", hash_key=HashKey(key)), jobs=1)
        for name, key in (("one", b"pepper"), ("again", b"pepper"), ("other", b"vinegar"))
    )
    assert files(tmp_path / "one") == files(tmp_path / "again")
    assert people(one) == {hash_user(name, HashKey(b"pepper")) for name in PEOPLE}
    assert not people(one) & people(other)
    assert [comment.user for comment in next(one.articles("train")).comments] == [
        *(hash_user(name, HashKey(b"pepper")) for name in ("Xanthippe", "Yngwie", "Xanthippe")), None,
    ]  # fmt: skip
    for name in ("one", "other"):
        text = everything(tmp_path / name)
        assert not [secret for secret in (*PEOPLE, "pepper", "vinegar", "hash_key") if secret in text]


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "key"
    key = HashKey.parse(path)
    assert len(key.secret) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert HashKey.parse(path) == key
    assert HashKey.parse(tmp_path / "more") != key
    assert str(key) == "HashKey()"
    assert len({hash_user(name, key) for name in ("", "a", "A", "名", "\ud800", "a" * 10_000)}) == 6


@pytest.mark.parametrize("data", [b"", b" \n", b"x" * 65])
def test_what_is_no_key(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "key").write_bytes(data)
    with pytest.raises(InvalidInput, match=r"/key: hash key: expected 1 to 64 bytes, got \d+$"):
        HashKey.parse(tmp_path / "key")
    with pytest.raises(PostilError, match=r"none/key: .*No such file or directory$"):
        HashKey.parse(tmp_path / "none" / "key")


@pytest.mark.parametrize(
    ("kind", "text", "masked"),
    [
        ("urls", "see http://a.org/b?c=1#d.", "see [url]."),
        ("urls", "(HTTPS://A.ORG/b)", "([url])"),
        ("urls", "www.a.org, or ftp", "[url], or ftp"),
        ("urls", "看https://a.cn/b，很好", "看[url]，很好"),
        ("urls", "看www.a.cn。很好", "看[url]。很好"),
        ("urls", "https://weibo.com/n/小明 好", "[url] 好"),  # a path may be a name
        ("urls", "awww. cute http and a.b", "awww. cute http and a.b"),
        ("emails", "Ana <ana.b+c@web-site.co.uk>.", "Ana <[email]>."),
        ("emails", "邮箱ana@web.org谢谢", "邮箱[email]谢谢"),
        ("emails", "me@home and 5 @ 3.50", "me@home and 5 @ 3.50"),
        ("handles", "@ana: hi @bob_1, @c.d.", "[user]: hi [user], [user]."),
        ("handles", "ask u/ana or /u/bob-1!", "ask [user] or [user]!"),
        ("handles", "回复@小明:说得好", "回复[user]:说得好"),
        ("handles", "谢谢@张三 好", "谢谢[user] 好"),
        ("handles", "看u/bob说", "看[user]说"),
        ("handles", "a@b, 5 @ 3, @ and you/me", "a@b, 5 @ 3, @ and you/me"),
        ("phones", "call 555-010-9999.", "call [phone]."),
        ("phones", "+86 138 1234 5678", "[phone]"),
        ("phones", "(555) 010-9999 or 555.010.9999", "[phone] or [phone]"),
        ("phones", "电话13812345678，谢谢", "电话[phone]，谢谢"),
        ("phones", "打010-62345678吧", "打[phone]吧"),
        ("phones", "2018-07-1555", "[phone]"),
        ("phones", "on 2018-07-15 at 12:30", "on 2018-07-15 at 12:30"),
        ("phones", "2018.7.15, 15.07.2018 and 7-15-2018", "2018.7.15, 15.07.2018 and 7-15-2018"),
        ("phones", "in 2018-2019, from 1999 2000 on", "in 2018-2019, from 1999 2000 on"),
        ("phones", "3.14159265 and 1,234,567 and 123456", "3.14159265 and 1,234,567 and 123456"),
        ("phones", "version 1.2.3, v1234567890, 3-0", "version 1.2.3, v1234567890, 3-0"),
    ],
)  # fmt: skip
def test_masks(kind: str, text: str, masked: str) -> None:
    assert masking([kind])(text) == masked
    others = [name for name in MASKS if name != kind]
    assert masked == text or masking(others)(text) != masked  # it is this mask that does it


def test_masks_together_in_any_order() -> None:
    text = "u/ana: write to ana@web.org or @ana, 555-010-9999, http://web.org/@ana/5550109999"
    expected = "[user]: write to [email] or [user], [phone], [url]"
    assert {masking(order)(text) for order in (list(MASKS), list(MASKS)[::-1])} == {expected}
    assert masking(MASKS)(expected) == expected
    assert masking([])(text) == text


@pytest.mark.parametrize(
    "part", ["@" + "." * 20_000, "www." + "," * 20_000, "a" * 20_000, "1-" * 10_000, "@.-" * 7_000]
)
def test_masks_take_their_time_on_nothing(part: str) -> None:
    """Long runs that are almost something; backtracking would never end."""
    assert len(masking(MASKS)(part)) <= len(part)


def test_masks_are_for_all_texts_and_come_before_words(tmp_path: Path) -> None:
    told = "mail ana@web.org"
    articles = [row(f"a{number}", [told], title=told, content=f"{told} {number}") for number in range(2)]
    plain = built(tmp_path, articles, "plain")
    assert "ana@web.org" in everything(tmp_path / "plain")
    corpus = built(tmp_path, articles, mask=("emails",))
    assert {"ana", "web", "org"} <= set(plain.words())
    assert corpus.words() == ["email", "mail", "0", "1"]
    assert "ana" not in everything(tmp_path / "out")
    assert next(corpus.articles("train")).title == "mail [email]"
    corpus = built(tmp_path, [row("a", ["http://a.org"])], "urls", mask=("urls",))  # no words, but a text
    assert [comment.text for article in corpus.articles("train") for comment in article.comments] == ["[url]"]


def test_rejected_rows_are_told_by_place_not_by_what_they_say(tmp_path: Path) -> None:
    built(tmp_path, [*told(), "Xanthippe's broken line"], on_error="skip")
    rejected = (tmp_path / "out.rejected.jsonl").read_text()
    assert rejected.count("\n") == 1
    assert not [name for name in PEOPLE if name in rejected]
