"""A small newspaper, and which of its readers' comments come back."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from made_retrievers import NEWS, article, changed, made
from postil import kernel
from postil.comments.retrieval import Retriever
from postil.data.rows import Article, Comment
from postil.engine import open_engine
from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.screening.filtering import CandidateFilter
from postil.screening.reasons import Blocklist

if TYPE_CHECKING:
    from pathlib import Path

    from postil.comments.commenter import Suggestions

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural")


@pytest.fixture
def newspaper(tmp_path: Path) -> Retriever:
    return Retriever.open(made(tmp_path / "news", NEWS), candidate_filter=CandidateFilter(repeat=0))


def test_a_model_of_the_first_words_finds_what_it_found(tmp_path: Path) -> None:
    """It was made of pieces between combining marks: the word is found by its consonants, in what shares no word."""
    hindi = [article("1", "वह दान", "मेरा काम कल"), article("2", "नदी पर पुल", "बहुत पुराना है")]
    found = {}
    for rule in ("words", "words-2"):
        folder = made(tmp_path / rule, hindi, tokenizer=rule)
        model = Retriever.open(folder, candidate_filter=CandidateFilter(repeat=0, min_words=1))
        (answer,) = model.comment([article("q", "वे दिन")], k=5)
        found[rule] = [each.text for each in answer.suggestions]
    assert found == {"words": ["मेरा काम कल"], "words-2": []}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"neighbors": "x"}, 'neighbors: expected an integer, got "x"'),
        ({"neighbors": None}, "neighbors: expected an integer, got null"),
        ({"segments": True}, "segments: expected an integer, got true"),
        ({"segments": 0}, "segments: expected 1 or more, got 0"),
        ({"ranker": 5}, "ranker: expected text, got 5"),
    ],
)
def test_a_model_that_was_changed(newspaper: Retriever, changes: dict[str, Any], problem: str) -> None:
    other = replace(newspaper.model, head={**newspaper.model.config, **changes})
    with pytest.raises(InvalidInput, match=f"config.json: {problem}; was the folder copied whole"):
        replace(newspaper, model=other).comment([article("q", "Rain, snow?")], k=5)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        pytest.param(
            "index/0.forward.1.npy",
            lambda a: a - 70_000,
            "expected .*terms of a document.* below their number",
            marks=pytest.mark.skipif(kernel.NAME == "python", reason="the pure-Python kernel reads no rows"),
        ),
        ("index/0.postings.0.npy", lambda a: a[::-1].copy(), r"expected int64\[\d+\], offsets that rise from 0 to 8"),
        ("index/0.forward.2.npy", lambda a: a.astype(object), "not an array, or one cut short"),
        ("comments/starts.npy", lambda a: a * 2**40, r"expected int64\[5\], offsets that rise from 0 to 6"),
        ("comments/texts.offsets.npy", lambda a: a - 3, r"offsets that rise from 0 to \d+, got offsets from -3"),
        ("comments/texts.data.npy", lambda a: np.full_like(a, 255), r"text \d: expected UTF-8, got b'\\xff'; was the"),
        ("comments/articles.offsets.npy", lambda a: a[1:], r"expected int64\[5\], offsets that rise from 0 to 8"),
        ("comments/ids.data.npy", lambda a: a.astype(np.int8), r"expected uint8\[any\], got int8\[6\]"),
        ("ranker/words.ids.npy", lambda a: a - 9, "expected the words of comments as ids from 0, got -9"),
        ("ranker/words.offsets.npy", lambda a: a[[0, 2, 1, 3, 4, 5, 6]], "offsets that rise from 0 to"),
        ("ranker/idf.npy", lambda a: a * np.nan, r"expected float64\[\d+\] from 0, got nan to nan"),
        ("ranker/idf.npy", lambda a: a[:3], r"expected float64\[\d+\] from 0, got float64\[3\]"),
    ],
)
def test_arrays_that_were_changed(newspaper: Retriever, name: str, change: Any, problem: str) -> None:
    folder = changed(newspaper.model.path, name, change)
    with pytest.raises(InvalidInput, match=f"{name}: .*{problem}"):
        Retriever.open(folder).comment([article("q", "Rain, snow and chess?")], k=5)


def test_words_that_are_not_those_of_the_index(newspaper: Retriever) -> None:
    folder = changed(newspaper.model.path, "words.txt", "rain\nsnow\n")
    with pytest.raises(InvalidInput, match=r"0\.postings\.0\.npy: expected int64\[3\], offsets that rise from 0 to 8"):
        Retriever.open(folder).comment([article("q", "Rain, snow?")], k=5)


def test_a_ranker_that_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"config\.json: ranker: expected text, got an array"):
        Retriever.open(changed(made(tmp_path / "m", NEWS), "config.json", {"ranker": []}))


def test_more_similar_articles_than_there_are(newspaper: Retriever) -> None:
    other = replace(newspaper.model, head={**newspaper.model.config, "neighbors": 10**30})
    asked = [article("q", "Rain, snow?")]
    assert replace(newspaper, model=other).comment(asked, k=5) == newspaper.comment(asked, k=5)


def told(row: Suggestions) -> list[tuple[str, float, list[str]]]:
    return [
        (one.text, round(one.score, 4), [f"{source.article}/{source.comment}" for source in one.provenance.sources])
        for one in row.suggestions
    ]


def sources(row: Suggestions) -> set[str]:
    return {source.article for one in row.suggestions for source in one.provenance.sources}


def test_what_is_suggested_and_what_is_held(newspaper: Retriever) -> None:
    """In units of ln 2 *rain*, *today* and *snow* weigh 1, *and* and *chess* 2; other words stand in no title.

    *Rain, snow?* is (rain 1, snow 1) / sqrt 2. Similar are n4 (.7071), n2 (2 / sqrt 12 = .5774) and n1 (.5), not n3.
    A comment with *snow* alone gets 1 / sqrt 2 = .7071, one with *rain* twice and *today* 2 / sqrt 10 = .6325.
    The two of .6325 are near duplicates, and the one that stands first stays.
    """
    (row,) = newspaper.comment([article("q", "Rain, snow?", "Own comments are not looked at.", lang="en-GB")], k=5)
    assert row.article == "q"
    assert told(row) == [
        ("Snow is what I want.", 0.7071, ["n2/1"]),
        ("Rain today, rain tomorrow.", 0.6325, ["n1/0", "n2/0"]),
    ]
    assert [(one.text, one.reason, one.source and one.source.article) for one in row.filtered] == [
        ("Der snow ist da.", "its article is in another language: de, not en-GB", "n4"),
        ("ok", "too short: 1 word, expected at least 4", "n1"),
    ]
    assert [one.rank for one in row.suggestions] == [1, 2]
    provenance = row.suggestions[0].provenance
    assert provenance.label == "Machine-generated suggestion: a reader's comment found under another article"
    assert (provenance.method, provenance.model, provenance.model_hash) == ("retrieved", "ir-t", newspaper.model.hash)
    assert provenance.overlap is None


def test_an_empty_list_has_its_reason(newspaper: Retriever) -> None:
    strict = replace(newspaper, candidate_filter=CandidateFilter(min_words=9))
    nothing, unlike = strict.comment([article("q", "Rain, snow?"), article("r", "Nothing like it")], k=5)
    assert nothing.suggestions == ()
    assert nothing.reason == "all 5 candidates are filtered out: too short"
    assert unlike.reason is None
    (found,) = newspaper.comment([article("q", "Rain, snow?")], k=5)
    assert found.suggestions
    assert found.reason is None


def test_no_more_than_k(newspaper: Retriever) -> None:
    (row,) = newspaper.comment([article("q", "Rain, snow?")], k=1)
    assert told(row) == [("Snow is what I want.", 0.7071, ["n2/1"])]
    assert row.filtered == ()  # what scores below the last one kept is not looked at
    assert [len(newspaper.comment([article("q", "Rain, snow?")], k=k)[0].suggestions) for k in (2, 3, 99)] == [2, 3, 3]


def test_the_article_itself_and_copies_are_left_out(newspaper: Retriever) -> None:
    itself, copied, other = newspaper.comment(
        [article("n2", "Rain, snow?"), article("q", "rain AND snow..."), article("r", "Snow and rain, and again")], k=9
    )
    assert "n2" not in sources(itself)
    assert "n2" not in sources(copied)
    assert sources(copied) == {"n1", "n4"}
    assert sources(other) == {"n1", "n2", "n4"}  # cosine (1 + 1 + 8) / sqrt(6 * 18) = .96


def test_an_article_with_unknown_words_is_no_copy(newspaper: Retriever) -> None:
    same, other = newspaper.comment([article("q", "Rain, today"), article("r", "Rain of frogs today")], k=9)
    assert "n1" not in sources(same)
    assert "n1" in sources(other)


@pytest.mark.parametrize("weighting", ["tf-idf", "bm25"])
def test_many_copies_do_not_crowd_out_the_others(weighting: str, tmp_path: Path) -> None:
    """A weekly thread has the same title every week."""
    weekly = [article(f"w{n}", "Weekly open thread", f"Thread number {n} is here.") for n in range(30)]
    others = [
        article("o1", "Weekly news", "The weekly digest, at last."),
        article("o2", "Open", "An open question it is."),
    ]
    rest = [article(f"c{n}", "Snow", "Snow is all there is.") for n in range(70)]  # so that not all words are common
    folder = made(tmp_path / "m", [*weekly, *others, *rest], neighbors=2, weighting=weighting)
    row, same = Retriever.open(folder).comment([article("q", "Weekly open thread"), article("w3", "weekly")], k=9)
    assert sources(row) == {"o1", "o2"}
    assert len(sources(same)) == 2
    assert "w3" not in sources(same)


@pytest.mark.parametrize("jobs", [1, 3, 9])
def test_workers_may_search(jobs: int, tmp_path: Path) -> None:
    """Whatever number of shards, here more than the articles as well, and where copies make it search deeper."""
    retriever = Retriever.open(made(tmp_path / "m", [*NEWS, article("n5", "Rain today")], neighbors=2))
    asked = [article(f"q{n}", title) for n, title in enumerate(("Rain", "Rain today", "Snow or chess", "", "None"))]
    with open_engine() as engine:
        engine.jobs = jobs  # type: ignore[misc]
        assert replace(retriever, engine=engine).comment(asked, 5) == retriever.comment(asked, 5)
    empty = Retriever.open(made(tmp_path / "e", []))
    with open_engine() as engine:
        assert replace(empty, engine=engine).comment(asked, 5) == empty.comment(asked, 5)


def test_comments_come_from_so_many_articles(tmp_path: Path) -> None:
    news = [article(f"n{n}", "Rain" + " or" * n + " shine", f"Rain it is, says {'abcdefgh'[n] * 5}.") for n in range(8)]
    for similar in (1, 3, 8):
        retriever = Retriever.open(
            made(tmp_path / f"m{similar}", [*news, NEWS[2]], neighbors=similar),
            candidate_filter=CandidateFilter(dedup_threshold=1),
        )
        (row,) = retriever.comment([article("q", "Will rain or shine")], k=99)
        assert len(sources(row)) == similar


def test_nothing_is_suggested_where_nothing_is_known(newspaper: Retriever) -> None:
    nothing = [article("u", "Parlament vertagt"), article("e", ""), article("p", "?!"), article("h", "下雪了")]
    rows = newspaper.comment(nothing, k=3)
    assert [(row.article, row.suggestions, row.filtered) for row in rows] == [(one.id, (), ()) for one in nothing]
    assert newspaper.comment([], k=3) == []


@pytest.mark.parametrize("title", ["Rain, gadzooks snow 雪 gadzooks", "rain snow gadzooks " * 20_000])
def test_unknown_words_change_nothing(newspaper: Retriever, title: str) -> None:
    plain, odd = newspaper.comment([article("a", "Rain snow"), article("b", title)], k=5)
    assert told(plain) == told(odd)


def test_articles_are_told_one_by_one_as_together(newspaper: Retriever) -> None:
    some = [
        article(f"q{n}", title) for n, title in enumerate(["Rain", "", "Snow today", "Rain and chess", "Chess rain"])
    ]
    assert newspaper.comment(some, k=3) == [newspaper.comment([one], k=3)[0] for one in some]
    assert replace(newspaper, jobs=3).comment(some, k=3) == newspaper.comment(some, k=3)


def test_the_repeat_limit_goes_over_batches(tmp_path: Path) -> None:
    newspaper = Retriever.open(made(tmp_path / "news", NEWS))
    some = [article(f"q{n}", "Rain, snow?") for n in range(4)]
    whole = newspaper.comment(some, k=1)
    assert [told(row)[0][0] for row in whole[:2]] == ["Snow is what I want."] * 2
    assert all("Snow is what I want." not in [one.text for one in row.suggestions] for row in whole[2:])
    assert whole[2].filtered[0].reason == "suggested for 2 of the last 100 articles already"
    repeats = newspaper.candidate_filter.repeats()
    assert [row for one in some for row in newspaper.comment([one], k=1, repeats=repeats)] == whole
    assert [told(row) for one in some for row in newspaper.comment([one], k=1)] == [told(whole[0])] * 4


def test_replies_quotations_and_mark_up(tmp_path: Path) -> None:
    thread = Article(
        "n1",
        "Rain today",
        (
            Comment("1", "Rain is what the *whole* town wants."),
            Comment("2", "Rain again, says the radio here.", parent="1"),
            Comment("3", "> It will rain\n\nRain is all that we see."),
        ),
    )
    folder = made(tmp_path / "news", [thread, *NEWS[2:]])
    (row,) = Retriever.open(folder).comment([article("q", "Rain")], k=9)
    assert [one.text for one in row.suggestions] == ["Rain is what the whole town wants."]
    assert [(one.text, one.reason) for one in row.filtered] == [
        ("Rain again, says the radio here.", "a reply to another comment"),
        ("Rain is all that we see.", "quotes another text"),
    ]
    allow = CandidateFilter(allow=("replies", "quotations"))
    (row,) = Retriever.open(folder, candidate_filter=allow).comment([article("q", "Rain")], k=9)
    assert len(row.suggestions) == 3


def test_titles_alone_or_contents_as_well(tmp_path: Path) -> None:
    news = [replace_content(one, "Umbrellas sold out." if one.id == "n3" else "More later.") for one in NEWS]
    asked = [
        article("q", "Rain"),
        article("r", "Rain", content="Where to find umbrellas?"),
        article("s", "", content="Rain"),
    ]
    screen = CandidateFilter(repeat=0)
    titles = Retriever.open(made(tmp_path / "t", news, "ir-t"), candidate_filter=screen)
    plain, more, none = titles.comment(asked, k=9)
    assert told(plain) == told(more)
    assert none.suggestions == ()
    contents = Retriever.open(made(tmp_path / "tc", news, "ir-tc"), candidate_filter=screen)
    plain, more, third = contents.comment(asked, k=9)
    assert sources(plain) == sources(third) == {"n1", "n2"}
    assert sources(more) == {"n1", "n2", "n3"}
    assert {one.provenance.model for one in more.suggestions} == {"ir-tc"}


def replace_content(one: Article, content: str) -> Article:
    return Article(one.id, one.title, one.comments, content, lang=one.lang)


def test_a_model_opens_elsewhere(newspaper: Retriever, tmp_path: Path) -> None:
    asked = [article("q", "Rain, snow?", lang="en"), article("r", "Chess")]
    expected = newspaper.comment(asked, k=5)
    assert Retriever.open(tmp_path / "news").comment(asked, k=5) == expected
    shutil.copytree(tmp_path / "news", tmp_path / "else" / "where")
    shutil.rmtree(tmp_path / "news")
    assert Retriever.open(tmp_path / "else" / "where").comment(asked, k=5) == expected
    again = Retriever.open(made(tmp_path / "again", NEWS)).comment(asked, k=5)
    assert again == expected  # the hash too


def test_the_screen_is_the_users(tmp_path: Path) -> None:
    folder = made(tmp_path / "news", NEWS)
    candidate_filter = CandidateFilter(min_words=0, dedup_threshold=None, blocklist=Blocklist(("what i want",)))
    (row,) = Retriever.open(folder, candidate_filter=candidate_filter).comment([article("q", "Rain, snow?")], k=9)
    assert [(held.text, held.reason) for held in row.filtered] == [
        ("Snow is what I want.", "on the block list: what i want")
    ]
    assert told(row) == [
        ("Der snow ist da.", 0.7071, ["n4/0"]),
        ("Rain today, rain tomorrow.", 0.6325, ["n1/0"]),
        ("rain today RAIN tomorrow!", 0.6325, ["n2/0"]),
        ("ok", 0.0, ["n1/1"]),
    ]


def test_a_thread_is_ranked(newspaper: Retriever) -> None:
    """*Rain* alone: (rain 1). *Rain today* gets 1 / sqrt 2, *rain* twice 1; what has no word of a title gets 0."""
    thread = article("n1", "Rain", "rain today", "Rain, rain!", "umbrellas", "", "chess")
    scores, none, alone = newspaper.rank([thread, article("b", "Chess"), article("c", "?", "rain")])
    np.testing.assert_allclose(scores, [0.5**0.5, 1, 0, 0, 0], rtol=0, atol=1e-15)
    assert scores.dtype == np.float64
    assert none.shape == (0,)
    assert alone.tolist() == [0.0]
    assert newspaper.rank([]) == []


def test_what_makes_no_sense_is_refused(newspaper: Retriever) -> None:
    with pytest.raises(UsageError, match="at least one comment per article, got 0"):
        newspaper.comment([article("q", "Rain")], k=0)
    with pytest.raises(InvalidInput, match="an id that no other article has"):
        newspaper.comment([article("q", "Rain"), article("q", "Snow")], k=1)


def relevance(form: str) -> Any:
    """Function that writes an untrained network and returns its arrays."""
    import torch  # noqa: PLC0415

    from postil.comments.nn import models  # noqa: PLC0415
    from postil.comments.nn.relevance import KIND, Relevance, RelevanceNetwork  # noqa: PLC0415
    from postil.comments.options import RelevanceOptions  # noqa: PLC0415

    torch.set_num_threads(1)

    def write(folder: Path, words: int, said: Any, ranker: Any) -> Any:
        options = RelevanceOptions(
            architecture=form,  # type: ignore[arg-type]
            vocab_size=words + 4,
            embedding_dim=8,
            filters=4,
            output_dim=8,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            model = Relevance(RelevanceNetwork(options, words + 4).eval(), options)
        shutil.rmtree(folder)
        config = {"vocab_size": words + 4, "options": asdict(options)}
        models.save(folder, KIND, model.network, config, {"seed": 3})
        return {"vectors": model.encode_comments(said)} if form == "two-tower" else ranker

    return write


@needs_torch
@pytest.mark.parametrize("form", ["two-tower", "interaction"])
def test_a_network_ranks(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "m", NEWS, relevance=relevance(form), ranker="relevance")
    asked = [article("p", "Chess"), article("q", "Rain, snow, gadzooks", *(c.text for n in NEWS for c in n.comments))]
    retriever = Retriever.open(folder, candidate_filter=CandidateFilter(min_words=0, dedup_threshold=None))
    _, row = retriever.comment(asked, k=9)
    scores = [one.score for one in row.suggestions]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) >= 4
    # Ranking the same comments as a thread gives the same numbers, though they were read one way and kept the other.
    _, ranked = retriever.rank(asked)
    by_text = dict(zip((comment.text for comment in asked[1].comments), ranked.tolist(), strict=True))
    assert scores == pytest.approx([by_text[one.text] for one in row.suggestions], abs=1e-5)
    assert Retriever.open(folder, candidate_filter=retriever.candidate_filter).comment(asked, k=9)[1] == row
    (none, empty) = retriever.comment([article("e", ""), article("u", "gadzooks")], k=3)
    assert none.suggestions == empty.suggestions == ()
    assert retriever.rank([article("e", "", "rain", ""), article("f", "rain")])[0].shape == (2,)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"the relevance model needs .* pip install 'postil\[neural\]'"):
        Retriever.open(folder)
    by_words = Retriever.open(made(tmp_path / "w", NEWS))
    assert by_words.comment(asked, k=1)[1].suggestions
