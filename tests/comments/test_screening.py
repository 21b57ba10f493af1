from __future__ import annotations

import time

import pytest

from postil.comments.candidate_pool import QUOTATION, REPLY
from postil.comments.filtering import CandidateFilter
from postil.comments.needs import SCREENS, screen

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
def test_reasons(text: str, reason: str | None) -> None:
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
    *(
        "[",
        "> ",
        "“",
        '"',
        "Edit",
        "edit: ",
        "thank you ",
        "ok ",
        "OP",
        "what ",
        "do you ",
        "? ",
        "\n",
        " ",
        ". ",
        "傻",
    ),
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
