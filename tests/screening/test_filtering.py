"""Texts that are not suggested: filters, screening by needs, and the model of profanity."""

from __future__ import annotations

import sys
import time
import tracemalloc
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus.duplicates import BigramSets, jaccard_similarity
from postil.errors import InvalidInput, MissingExtra, UnknownName, UsageError
from postil.screening import reasons as profanity_model
from postil.screening.filtering import WINDOW, Accepted, CandidateFilter, FilterResult, RepeatLimit
from postil.screening.reasons import QUOTATION, REPLY, SCREENS, Blocklist, find_profanity, screen, stale_figures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


WORDS = st.lists(st.sampled_from(["so", "So", "proud", "of", "you", "我", "爱", "雨", "!", "😂", "“", ""]), max_size=7)
TEXTS = WORDS.map(" ".join)
CANDIDATES = st.lists(st.tuples(TEXTS, st.sampled_from([0.0, 0.5, 1.0, 2.0])), max_size=9)
ANYTHING = CandidateFilter(min_words=0, allow=["all"], dedup_threshold=None)


def pairs(text: str) -> set[tuple[str, str]]:
    """The definition again, for texts of WORDS."""
    units = [unit.lower() for unit in text.split() if unit.isalnum()] or text.split()
    marked = ["^", *units, "$"]
    return set(pairwise(marked))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # ^we we·need need·rain rain$ and ^we we·need need·sun sun$ share 2 of 6.
        ("We need rain.", "we need: SUN!", 2 / 6),
        # One of n = 5 words is another one: (n - 1) / (n + 3).
        ("a b c d e", "a b x d e", 4 / 8),
        # A word more at the end: ^a ab bc c$ and ^a ab bc cd d$ share 3 of 6.
        ("a b c", "a b c d", 3 / 6),
        # Other order: ^a ab b$ and ^b ba a$.
        ("a b", "b a", 0.0),
        # ^哈 哈哈 哈$ however often.
        ("哈哈哈", "哈哈哈哈哈哈！", 1.0),
        # Characters are words: ^我 我爱 爱雨 雨$ and ^我 我爱 爱你 你$.
        ("我爱雨", "我爱你", 2 / 6),
        # Full width, soft hyphen, zero-width space, kinds of apostrophe.
        ("ＳＯ proud", "so pro\u00adu\u200bd", 1.0),
        ("don’t", "Don't", 1.0),
        # No words: ^😂 😂$ and ^😂 😂😂 😂$.
        ("😂", "😂😂", 2 / 3),
        ("😂", "so", 0.0),
        ("", " ", 1.0),
    ],
)
def test_likeness_worked_out(one: str, other: str, expected: float) -> None:
    assert jaccard_similarity(one, other) == jaccard_similarity(other, one) == expected


@given(TEXTS, TEXTS)
def test_likeness_is_jaccard_of_pairs(one: str, other: str) -> None:
    assert jaccard_similarity(one, other) == len(pairs(one) & pairs(other)) / len(pairs(one) | pairs(other))
    assert jaccard_similarity(one, one) == 1.0


@given(st.lists(TEXTS, min_size=1, max_size=9))
def test_many_texts_are_compared_as_pairs_are(texts: list[str]) -> None:
    found = BigramSets(texts)
    for at, one in enumerate(texts):
        assert found.jaccard(at).tolist() == [jaccard_similarity(one, other) for other in texts]


@given(CANDIDATES, st.sampled_from([0.3, 0.6, 1.0]), st.sampled_from([0, 1, 3]))
def test_what_is_kept_merged_and_held(rows: list[tuple[str, float]], dedup_threshold: float, min_words: int) -> None:
    texts, scores = [text for text, _ in rows], [score for _, score in rows]
    found = CandidateFilter(min_words=min_words, dedup_threshold=dedup_threshold).apply(texts, scores)
    kept, held = [one.position for one in found.accepted], [position for position, _ in found.filtered]
    merged = [position for one in found.accepted for position in one.merged]
    assert sorted(kept + held + merged) == list(range(len(rows)))
    for one in found.accepted:
        assert all(jaccard_similarity(texts[one.position], texts[other]) >= dedup_threshold for other in one.merged)
        for order in ([one.position, *one.merged], kept, held):
            assert order == sorted(order, key=lambda position: (-scores[position], position))
    assert all(jaccard_similarity(texts[a], texts[b]) < dedup_threshold for a in kept for b in kept if a < b)


@given(CANDIDATES, st.integers(0, 9))
def test_keeping_k_is_the_beginning_of_keeping_all(rows: list[tuple[str, float]], k: int) -> None:
    texts, scores = [text for text, _ in rows], [score for _, score in rows]
    whole, cut = CandidateFilter().apply(texts, scores), CandidateFilter().apply(texts, scores, k=k)
    assert cut.accepted == whole.accepted[:k]
    assert cut.filtered == whole.filtered[: len(cut.filtered)]
    if len(whole.accepted) > k > 0:
        last = cut.accepted[-1].position
        ahead = [one for one in whole.filtered if (-scores[one[0]], one[0]) < (-scores[last], last)]
        assert list(cut.filtered) == ahead


@given(CANDIDATES)
def test_without_merging_and_reasons_it_is_the_ranking(rows: list[tuple[str, float]]) -> None:
    texts = [f"{text} x" for text, _ in rows]
    found = ANYTHING.apply(texts, [score for _, score in rows])
    assert found.filtered == ()
    assert [one.position for one in found.accepted] == sorted(range(len(rows)), key=lambda at: (-rows[at][1], at))


def test_the_key_decides_ties() -> None:
    texts = ["so very proud today", "So very proud today!", "today very much so"]
    assert CandidateFilter().apply(texts, [1, 1, 1], keys=["c", "a", "b"]).accepted == (Accepted(1, (0,)), Accepted(2))
    assert CandidateFilter().apply(texts, [1, 1, 1]).accepted == (Accepted(0, (1,)), Accepted(2))


def test_what_is_held_does_not_take_its_duplicates_along() -> None:
    texts = ["Read this: so proud of you, www.web.org", "read this so proud of you www web org"]
    assert CandidateFilter().apply(texts, [2, 1]) == FilterResult((Accepted(1),), ((0, "holds a web address"),))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n", "empty"),
        ("Nice!", "too short: 1 word, expected at least 4"),
        ("😂😂😂😂", "too short: 0 words, expected at least 4"),
        ("好看", "too short: 2 characters, expected at least 6"),
        ("哈哈哈哈哈哈哈！", "too short: 1 character without repetitions, expected at least 6"),
        ("no no no no way", "too short: 2 words without repetitions, expected at least 4"),
        ("我爱北京A", "too short: 5 characters, expected at least 6"),
        ("so much " * 5, "too long: 10 words, expected at most 8"),
        ("so " * 9, "too short: 1 word without repetitions, expected at least 4"),
        ("我觉得这个真的很不错", "too long: 10 characters, expected at most 8"),
        ("Oh just Shut\u00a0up!!", "on the block list: shut up"),
        ("他真的是个傻 逼啊", "on the block list: 傻逼"),
        ("Write to ana.b+c@web.org now", "holds an e-mail address"),
        ("see HTTPS://web.org/a?b=1 there", "holds a web address"),
        ("it is on t.cn/RxYz now", "holds a web address"),
        ("buy it at shop.com today", "holds a web address"),
        ("thanks a lot @ana_b", "holds a handle"),
        ("这个真好看啊 @张三", "holds a handle"),
        ("waiting for /u/ana-b here", "speaks to somebody: 'u/ana'"),
        ("Thank you so much /u/[user]", "holds a masked address"),
        ("see it at [url] please", "holds a masked address"),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    candidate_filter = CandidateFilter(max_words=8, blocklist=Blocklist(("shut up", "傻逼", "ass")))
    assert candidate_filter.apply([text], [1.0]) == FilterResult((), ((0, reason),))


@pytest.mark.parametrize(
    "text",
    [
        "a class for all",
        "please shut the window, up there",
        "你好傻，逼人太甚",
        "meet me @ seven please",
        "the menu/list and he/she and 3.5/5",
        "What a win. Come on",
        "e.g. this and/or that",
        "5:30 [sic] it is",
    ],
)
def test_what_is_not_held(text: str) -> None:
    assert CandidateFilter(blocklist=Blocklist(("shut up", "傻逼", "ass"))).apply([text], [1.0]).filtered == ()


def test_languages() -> None:
    texts = ["so very proud today", "much too late today", "who would know today"]
    found = CandidateFilter().apply(texts, [3, 2, 1], languages=["zh-CN", "EN-us", None], language="en")
    assert found == FilterResult(
        (Accepted(1), Accepted(2)), ((0, "its article is in another language: zh-CN, not en"),)
    )
    assert CandidateFilter().apply(texts, [3, 2, 1], languages=["zh", "en", None]).filtered == ()
    assert CandidateFilter().apply(texts, [3, 2, 1], language="zh").filtered == ()


def test_addresses_may_stay() -> None:
    assert CandidateFilter(allow=("addresses",)).apply(["write to ana@web.org now"], [1]).filtered == ()


def test_a_block_list_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "block.txt"
    path.write_bytes("\ufeff# people\r\nShut up\r\n\r\n  傻逼 \r\nC++\r\n".encode())
    block = Blocklist.read(path)
    assert block == Blocklist(("Shut up", "傻逼", "C++"))
    assert [block.find(text) for text in ("shut up", "我写c++")] == ["Shut up", "C++"]
    assert [block.find(text) for text in ("我写C+", "傻", "", "up")] == [None] * 4


def test_the_first_of_several_entries_is_named() -> None:
    block = Blocklist(("b c", "a b", "a", "don't"))
    assert [block.find(text) for text in ("x a b c", "b c a", "a x", "I DON’T")] == ["a b", "b c", "a", "don't"]


@given(st.lists(st.text("abA我雨 .*+(", min_size=1, max_size=3), max_size=4), st.text("abA我雨 .*+(", max_size=6))
def test_entries_are_no_patterns(entries: list[str], text: str) -> None:
    found = Blocklist(tuple(entries)).find(text)
    assert found is None or found in entries
    whole = f"b. {entries[0]} .b" if entries and entries[0].strip() else None
    assert whole is None or Blocklist(tuple(entries[:1])).find(whole) == entries[0]


def test_a_bad_block_list(tmp_path: Path) -> None:
    path = tmp_path / "block.txt"
    with pytest.raises(InvalidInput, match=r"block\.txt: cannot be read: No such file"):
        Blocklist.read(path)
    path.write_bytes("ok\n傻逼\n".encode("gbk"))
    with pytest.raises(InvalidInput, match=r"block\.txt:2: not UTF-8; save the file as UTF-8"):
        Blocklist.read(path)


@pytest.mark.parametrize(
    ("kind", "words", "act"),
    [
        (UsageError, "at least 5 and at most 4 words", lambda: CandidateFilter(min_words=5, max_words=4)),
        (UsageError, r"dedup_threshold: expected above 0 to 1, got 1\.5", lambda: CandidateFilter(dedup_threshold=1.5)),
        (UsageError, "repeat: expected at least 0, got -1", lambda: CandidateFilter(repeat=-1)),
        (UnknownName, "kind of comments to allow 'reply'; did you mean 'rep", lambda: CandidateFilter(allow=["reply"])),
        (UsageError, "k: expected at least 0, got -1", lambda: ANYTHING.apply(["a"], [1], k=-1)),
        (InvalidInput, "scores: expected one per text: 1, got 2", lambda: ANYTHING.apply(["a"], [1, 2])),
        (InvalidInput, "languages: expected one per text: 1, got 0", lambda: ANYTHING.apply(["a"], [1], languages=[])),
        (InvalidInput, "flags: expected one per text: 1, got 0", lambda: ANYTHING.apply(["a"], [1], flags=[])),
        (InvalidInput, "NaN", lambda: ANYTHING.apply(["a"], [float("nan")])),
    ],
)
def test_wrong_use(kind: type[Exception], words: str, act: Callable[[], object]) -> None:
    with pytest.raises(kind, match=words):
        act()


def test_words_of_han_text_are_one_and_a_half_characters() -> None:
    texts = ["我爱北京天安门", "我爱北京天", "app 很好用", "这个 app 很好用"]
    found = CandidateFilter(dedup_threshold=None).apply(texts, [4, 3, 2, 1])
    assert [one.position for one in found.accepted] == [0, 3]


TIMES = "suggested for {} of the last 100 articles already"


def test_a_text_is_suggested_for_so_many_articles() -> None:
    texts, scores = ["It rains again today.", "Bring a warm coat."], [2, 1]
    repeats = CandidateFilter(repeat=2).repeats()
    found = []
    for _ in range(5):
        found.append(CandidateFilter().apply(texts, scores, k=1, repeats=repeats))
        repeats.add(texts[one.position] for one in found[-1].accepted)
    first, second = Accepted(0), Accepted(1)
    assert [row.accepted for row in found] == [(first,), (first,), (second,), (second,), ()]
    assert found[3].filtered == ((0, TIMES.format(2)),)
    assert found[4].filtered == ((0, TIMES.format(2)), (1, TIMES.format(2)))


def test_the_window_moves_on() -> None:
    repeats = RepeatLimit(2)
    repeats.add(["It rains again today.", "Bring a warm coat."])
    repeats.add(["Bring a warm coat!"])
    for _ in range(WINDOW - 3):
        assert repeats.reason("bring a warm COAT") == TIMES.format(2)
        repeats.add([])
    assert repeats.reason("bring a warm COAT") == TIMES.format(2)  # the 100th article, with the first
    repeats.add([])
    assert repeats.reason("bring a warm COAT") is None


def test_any_number_of_times() -> None:
    repeats = CandidateFilter(repeat=0).repeats()
    for _ in range(5):
        repeats.add(["It rains again today."])
        assert repeats.reason("It rains again today.") is None


@given(st.lists(st.lists(TEXTS, max_size=3), max_size=9), TEXTS, st.sampled_from([0.3, 0.6, 1.0]))
def test_near_duplicates_count_as_the_same_text(said: list[list[str]], text: str, threshold: float) -> None:
    repeats = RepeatLimit(1, threshold)
    for texts in said:
        repeats.add(texts)
    expected = sum(any(jaccard_similarity(text, one) >= threshold for one in texts) for texts in said)
    assert repeats.reason(text) == (TIMES.format(expected) if expected else None)


def test_profanity_of_the_package() -> None:
    for text in ("What the FUCK", "It’s a shithole!", "such an idiot", "他就是个傻 逼", "白痴！"):
        assert find_profanity(text) is not None, text
    good = ("a class act in Scunthorpe", "summa cum laude with a BS", "妈妈的手机", "过去死了很多人", "水滚开了")
    assert [find_profanity(text) for text in good] == [None] * len(good)


def test_a_list_may_end_its_lines_with_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"# ours\rfoo\rbar\r")
    assert Blocklist.read(path).entries == ("foo", "bar")


def test_a_list_is_read_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"\n" * 200_000 + b"spam\r\n")
    Blocklist.read(path)  # modules that the first one imports are not of the list
    tracemalloc.start()
    try:
        assert Blocklist.read(path).entries == ("spam",)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    monkeypatch.setattr("postil.data.streams.LONGEST_LINE", 100_000)
    path.write_bytes(b"spam\n" + b"x" * 200_000)
    with pytest.raises(InvalidInput, match=r"words\.txt:2: expected a line of at most 100,000 bytes"):
        Blocklist.read(path)


def test_the_reason_of_an_empty_list_is_the_most_frequent_one() -> None:
    texts = ["one", "See www.web.org for more.", "two words"]
    assert CandidateFilter().apply(texts, [3, 2, 1]).nothing == (
        "all 3 candidates are filtered out, 2 of them with the reason: too short"
    )
    assert CandidateFilter().apply([*texts, "We really need more rain."], [3, 2, 1, 0]).nothing is None
    assert CandidateFilter().apply([], []).nothing is None


PLAIN = [
    "The council could build one every year for that money.",
    "Thanks to the firemen, nobody was hurt.",
    "I thought that you could see the sea from there.",
    "You never know what they will do next.",
    "She said “no” and that was that.",
    "They edited it badly: the end is missing.",
    "Hope is all that is left to us",
    "What do they think this is?",
    "Hey everyone, it rains again today.",
    "Update the list of towns every year.",
    "People above fifty pay less (and children nothing).",
    "Same as every year, the river froze in January.",
    "Add two eggs to this dough, and bake it for an hour.",
    "Adding to the cost, the bridge needs new paint.",
    "Which road is why nobody came? The one by the river.",
    "On 3 May the river froze again.",
    "+10 degrees would be fine by me.",
    "^_^ the sun is out again",
    "This is the best bridge of the county.",
    "Second homes should be taxed.",
    "I second the motion of the council.",
    "My first reply came after nine weeks.",
    "医务工作者们辛苦了，向你们致敬",
    "住在楼上的人都听见了这个声音",
    "العربية لغة جميلة جدا اليوم",
]


@pytest.mark.parametrize("text", PLAIN)
def test_comments_that_stand_by_themselves(text: str) -> None:
    assert list(screen(text)) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I'd say OP's plan is fine by me.", "speaks to somebody: 'OP's'"),
        ("@ana that is not true at all", "speaks to somebody: '@a'"),
        ("Hey Bob, that is not true", "speaks to somebody: 'Hey Bob'"),
        ("John, I agree about the rain.", "speaks to somebody: 'John, I agree'"),
        ("As others have said, it is the rain.", "speaks to somebody: 'As others have said'"),
        ("But you said that it rains.", "speaks to somebody: 'you said'"),
        ("The comment above has it all.", "speaks to somebody: 'comment above'"),
        ("I like your post on the rain.", "speaks to somebody: 'your post'"),
        ("Oh wow, thank you so much for sharing this", "speaks to somebody: 'Oh wow, thank you so much for sharing'"),
        ("Thanks!!", "speaks to somebody: 'Thanks'"),
        ("You’re so right about the rain", "speaks to somebody: 'You’re so right'"),
        ("Great point, it is the rain", "speaks to somebody: 'Great point'"),
        ("Feel free to PM me about the rain", "speaks to somebody: 'PM me'"),
        ("It rains. Where did you buy that coat?", "speaks to somebody: 'Where did you buy that coat'"),
        ("So what's your major, by the way?", "speaks to somebody: 'So what's your major, by the way'"),
        ("Same as you, I left before it rained.", "speaks to somebody: 'Same as you'"),
        ("similar to #2 it rains here", "speaks to somebody: 'similar to #2'"),
        ("To add to #3, take a coat.", "speaks to somebody: 'To add to #3'"),
        ("I'd also add something to what others wrote", "speaks to somebody: 'I'd also add something to what others'"),
        ("Just adding on to this, it rains.", "speaks to somebody: 'Just adding on to this'"),
        ("Piggybacking off of that: no, it rains", None),
        ("To piggyback off of that, it rains", "speaks to somebody: 'To piggyback off of that'"),
        ("Re: #4 it rains every day", "speaks to somebody: 'Re: #4'"),
        ("As for your point 2, it rains", "speaks to somebody: 'As for your point 2'"),
        ("Which is why it rains so much.", "speaks to somebody: 'Which is why'"),
        ("which explains exactly how it rains", "speaks to somebody: 'which explains exactly how'"),
        ("This.", "speaks to somebody: 'This'"),
        ("\\^ this, it rains", "speaks to somebody: '\\^'"),
        ("+1 for coats in the rain", "speaks to somebody: '+1'"),
        ("Seconded. It rains.", "speaks to somebody: 'Seconded'"),
        ("I second this, it rains", "speaks to somebody: 'I second this'"),
        ("To answer your worry, it rains", "speaks to somebody: 'To answer your'"),
        ("The person above me has no coat.", "speaks to somebody: 'person above me'"),
        ("See my original comment on the rain.", "speaks to somebody: 'my original comment'"),
        ("我和你一样，天天下雨", "speaks to somebody: '我和你一样'"),
        ("回复 @张三：不是这样的", "speaks to somebody: '回复'"),
        ("我觉得楼主说得不对", "speaks to somebody: '楼主'"),
        ("“Rain,” she said.", None),
        ("“It rains and rains and rains,” she said.", "mostly in quotation marks"),
        ("「下雨了，真的下雨了」他说", "mostly in quotation marks"),
        ("He wrote them this: “It rains and rains and rains.”", None),
        ("They are like 'no' and “it rains and rains and rains.”", "mostly in quotation marks"),
        ("People say “it rains and rains and rains and rains”", None),
        ("老师总是说「下雨了，真的下雨了」", None),
        ("> It rains\nIt does.", "quotes another text"),
        ("It rains.\nEdit: it does not.", "a note of an edit: 'Edit:'"),
        ("It rains. (Update 2: it does not.)", "a note of an edit: 'Update 2:'"),
        ("[…] the rain in the town was so […]", "a trackback"),
        ("The Weekly News » Blog Archive » Rain again", "a trackback"),
        ("Rain again in the town | The Weekly News", "a trackback"),
        ("for (int i = 0; i < n; i++) { sum += a[i]; } // so", "code"),
        ("what a stupid idea of theirs", "profanity or an insult: stupid"),
        ("这些人真的是脑残", "profanity or an insult: 脑残"),
        ("see it at shop.com today", "holds a web address"),
    ],
)
def test_reasons_of_comments_that_are_left_out(text: str, reason: str | None) -> None:
    assert next(screen(text), None) == reason


def test_flags() -> None:
    assert list(screen("It rains again.", REPLY | QUOTATION)) == ["a reply to another comment", "quotes another text"]
    assert list(screen("It rains again.", REPLY, allow=("replies",))) == []


ALL = "[…] Great point! “Rain and rain and shit at rain.org, and (){}[]=;<>$#(){}[]=;<>$#”\nEdit: no"


def test_each_kind_is_allowed_by_its_name() -> None:
    reasons = list(screen(ALL))
    assert len(reasons) == len(SCREENS)
    for number, name in enumerate(SCREENS):
        assert list(screen(ALL, allow=[name])) == [*reasons[:number], *reasons[number + 1 :]]
    assert list(screen(ALL, allow=["all"])) == []


UNITS = [
    *("[", "> ", "“", '"', "Edit", "edit: ", "thank you ", "ok ", "OP", "what ", "do you ", "? ", "\n", " ", ". "),
    *("傻", "as others have ", "» ", "| ", "a", "@", "楼", "\0", "\u202e", "😂", "[…]", "hey ", "good ", "shut ", "{"),
    *("do you what ", "\n > ", "ok, thanks ", ". so what ", "a | ", "“「", "\n(edit", "a@b.", "u/ "),
    *("to add ", "adding on to ", "which is ", "^", "\\^", "i said in my ", "#3 ", "same as ", "for the "),
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_text_alone(unit: str) -> None:
    """A pattern that reads the rest at every place takes minutes for this text, not a tenth of a second."""
    begin = time.process_time()
    list(screen(unit * (60_000 // len(unit))))
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("text", ["a" * 200_000, "a " * 100_000, "雨" * 200_000, "\x00\x1b" * 9, "\ud83d"])
def test_odd_texts(text: str) -> None:
    found = CandidateFilter().apply([text], [1.0])
    assert len(found.accepted) + len(found.filtered) == 1


STAND_IN = """
import numpy as np

calls = []

def predict_prob(texts):
    calls.append(list(texts))
    return np.array([1.0 if "ugly" in text else 0.5 if "mean" in text else 0.496 for text in texts])
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Texts that the stand-in was asked for."""
    (tmp_path / "profanity_check.py").write_text(STAND_IN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "profanity_check", raising=False)
    import profanity_check  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "profanity_check", profanity_check)  # and out again
    return profanity_check.calls  # type: ignore[no-any-return]


def texts_of(*words: str) -> list[str]:
    return [f"{word} weather in town number {number}" for number, word in enumerate(words)]


def test_probabilities_filter_beside_the_lists(calls: list[list[str]]) -> None:
    texts = texts_of("ugly", "fine", "stupid", "mean")
    found = CandidateFilter(profanity="model", dedup_threshold=None).apply(texts, [4, 3, 2, 1])
    assert found.accepted == (Accepted(1),)
    assert found.filtered == (
        (0, "profanity or an insult (probability 1.00)"),
        (2, "profanity or an insult: stupid"),
        (3, "profanity or an insult (probability .50)"),
    )
    assert calls == [texts]


def test_only_the_best_candidates_are_scored_and_in_batches(
    calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profanity_model, "_BATCH", 3)
    texts = texts_of("ugly", "fine", "ugly", "mean", "fine", "fine", "ugly", "fine")
    scores = [float(-number) for number in range(8)]
    found = CandidateFilter(profanity="model", dedup_threshold=None).apply(texts, scores, k=2)
    assert [one.position for one in found.accepted] == [1, 4]
    assert calls == [texts[:3], texts[3:6]]


@pytest.mark.parametrize("allow", ["profanity", "all"])
def test_the_model_is_not_asked_where_profanity_is_allowed(calls: list[list[str]], allow: str) -> None:
    found = CandidateFilter(profanity="model", allow=[allow]).apply(texts_of("ugly"), [1.0])
    assert found.accepted == (Accepted(0),)
    assert calls == []


def test_by_default_the_package_is_not_imported(calls: list[list[str]]) -> None:
    assert CandidateFilter().apply(texts_of("ugly"), [1.0]).accepted == (Accepted(0),)
    assert calls == []


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="unknown filter of profanity 'modle'; did you mean 'model'"):
        CandidateFilter(profanity="modle")  # type: ignore[arg-type]
    monkeypatch.setattr(profanity_model, "find_spec", lambda _: None)
    message = r"the profanity model needs an optional package: pip install 'postil\[profanity\]'"
    with pytest.raises(MissingExtra, match=message):
        CandidateFilter(profanity="model")


@pytest.mark.integration
@pytest.mark.skipif(find_spec("profanity_check") is None, reason="needs the extra profanity")
def test_the_package_itself() -> None:
    texts = ["What a lovely weather we have", "Nobody likes you, you ugly fat loser", "今天的天气真的很好很好"]
    found = CandidateFilter(profanity="model").apply(texts, [1.0, 2.0, 3.0])
    assert [one.position for one in found.accepted] == [2, 0]
    assert [reason.partition(" (probability ")[0] for _, reason in found.filtered] == ["profanity or an insult"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Drop her, not your time,", "unfinished: ends with ','"),
        ("希望疫情快点结束，", "unfinished: ends with '，'"),
        ("(glances over at the data) Yes.", "unfinished: begins with '('"),
        ("【转发】看看", "unfinished: begins with '【'"),
        ("Nothing (or nearly) is open.", None),
        ("Well, yes", None),
    ],
)
def test_unfinished_texts(text: str, reason: str | None) -> None:
    assert next(map(str, screen(text)), None) == reason
    assert next(map(str, screen(text, allow=["unfinished"])), None) is None


@pytest.mark.parametrize(
    ("text", "article", "day"),
    [
        ("截至6月14日13时，累计62例确诊", "6月15日新增12例", "6月14日"),
        ("截至6月14日13时，累计62例确诊", "截至6月14号，累计62例", None),
        ("6月14日是个好日子", "6月15日", None),
        ("Due on Nov 1 at 11:59", "Due on november 1", None),
        ("Due on Nov 1 at 11:59", "the 1st November", None),
        ("Due on Nov 1 at 11:59", "Nov 2", "Nov 1"),
        ("2020-06-18: 22 new cases", "22 new cases", "2020-06-18"),
        ("It may 10 times over be 12", "", "may 10"),
        ("In 2019 there were 38.", "", None),
    ],
)
def test_figures_of_another_day(text: str, article: str, day: str | None) -> None:
    found = stale_figures(text, article)
    assert (None if found is None else str(found)) == (day and f"figures of another day: '{day}'")
    kept = CandidateFilter(min_words=0, allow=["unfinished"])
    assert len(kept.apply([text], [1.0], article=article or "another").accepted) == (found is None)
    assert kept.apply([text], [1.0]).accepted
    assert CandidateFilter(min_words=0, allow=["figures"]).apply([text], [1.0], article="another").accepted
