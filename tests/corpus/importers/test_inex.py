"""Tweet contextualisation: topics, runs and what people highlighted.

The files in `inex/` are in the format of the track and were written for these tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus.importers.inex import Stretch, grade_of, read_inex, read_stretches, read_topics
from postil.data.rows import Passage
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from conftest import File, Refused

HERE = Path(__file__).parent / "inex"
TOPICS, RUNS, JUDGEMENTS = HERE / "topics.xml", [HERE / "run_a.txt", HERE / "run_b.txt"], [HERE / "trels.txt"]
DUCK = "A duck is a water bird with a broad bill."
GEESE = "Geese are larger than ducks. They fly in the shape of a V, and they are loud."
V = "They fly in the shape of a V"


def test_the_pool_and_its_grades() -> None:
    found = read_inex(TOPICS, RUNS, JUDGEMENTS)
    assert found.passages == [
        Passage("2012001", "7001/1", DUCK, grade=2),  # ann took it at once, bob in two pieces
        # runA's; runB's begins and ends like it. 28 of 77 characters
        Passage("2012001", "7002/2", GEESE, grade=len(V) / len(GEESE)),
        Passage("2012001", "7003/1", "Lakes are bodies of water.", grade=0),
        Passage("2012002", "7004/1", "A night train has beds.", grade=0),
    ]
    assert (found.submitted, found.merged) == (6, 1)
    assert found.unknown == ("2012009", "2012008")
    assert found.unjudged == ("2012004",)
    assert found.without == ("2012003",)
    assert found.unmatched == (Stretch("2012001", "7002", "bob", "Swans are white.", 5),)
    assert read_inex(TOPICS, RUNS[::-1], JUDGEMENTS).passages == found.passages
    found = read_inex(TOPICS, RUNS, JUDGEMENTS, characters=0)  # without the rule of 25 characters
    assert [(row.id, row.grade) for row in found.passages[1:3]] == [("7002/1", 0), ("7002/2", len(V) / len(GEESE))]
    assert found.merged == 0


def test_the_same_words_in_two_files_are_two_passages(file: File) -> None:
    topics, run = file("topics", "7 Rain\n"), file("run", "7 Q0 b 1 1 x Rain.\n7 Q0 a 2 1 x Rain.\n")
    judgements = file("trels", "7 Q0 b - - ann Rain.\n")
    found = read_inex(topics, [run], [judgements], characters=0)
    assert [(row.id, row.grade) for row in found.passages] == [("a/1", 0), ("b/1", 1)]
    # merged, the grade is that of the one that was highlighted
    assert [(row.id, row.grade) for row in read_inex(topics, [run], [judgements]).passages] == [("b/1", 1)]


DOCUMENT = "0123456789A duck is a bird. It flies."
STRETCH = "expected a stretch of the 37 characters of document a, got"
OFFSETS = "7 Q0 a 1 0.9 run1 10 17\n7 Q0 a 2 0.8 run1 28 9\n"


def test_offsets(file: File) -> None:
    topics, documents = file("topics", "7 Ducks\n"), [file("documents.tsv", f"a\t{DOCUMENT}\nb\tOther.\n")]
    run = file("run.gz", OFFSETS)
    found = read_inex(topics, [run], [file("trels", "7 Q0 a - - ann 12 4\n7 Q0 - - - bob\n")], documents=documents)
    assert found.passages == [
        Passage("7", "a/1", "A duck is a bird.", grade=4 / 17),
        Passage("7", "a/2", "It flies.", grade=0),
    ]
    judgements = file("texts", "7 Q0 a - - ann A duck is\n")
    found = read_inex(topics, [run], [judgements], documents=documents)
    assert [row.grade for row in found.passages] == [9 / 17, 0]


def test_two_numbers_are_a_text_where_other_lines_have_words(file: File) -> None:
    stretches = read_stretches(file("run", "7 Q0 a 1 1 x 10 17\n7 Q0 a 2 1 x Rain.\n"))
    assert [stretch.text for stretch in stretches] == ["10 17", "Rain."]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("7 Q0 a 1 1\n", "run:1: expected qid Q0 file rank rsv run_id and a text, got 5 columns"),
        ("7 Q0 a 1 1 x Rain.\n7 Q0 a 2 1 x\n", "run:2: text: expected a passage, got none"),
        ("7 Q0 a 1 1 x 10 999\n", f"run:1: offset: {STRETCH} 10 and 999"),
        (f"7 Q0 a 1 1 x {'9' * 5000} 5\n", f"run:1: offset: {STRETCH} 1000000000000000 and 5"),
        ("7 Q0 a 1 1 x 10 0\n", f"run:1: offset: {STRETCH} 10 and 0"),
        ("7 Q0 a 1 1 x 10 4\n7 Q0 c 1 1 x 10 4\n", "run:2: file: there is no document 'c'"),
    ],
)
def test_bad_runs(file: File, write_error: Refused, run: str, message: str) -> None:
    topics, documents = file("topics", "7 Ducks\n"), [file("documents.tsv", f"a\t{DOCUMENT}\n")]
    trels = file("trels", "7 Q0 - - - ann\n")
    write_error(lambda path: read_inex(topics, [path], [trels], documents=documents), "run", run, message)


def test_requests_that_make_no_sense(file: File) -> None:
    with pytest.raises(UsageError, match="name at least one of each"):
        read_inex(TOPICS, [], JUDGEMENTS)
    with pytest.raises(UsageError, match="name at least one of each"):
        read_inex(TOPICS, RUNS, [])
    with pytest.raises(UsageError, match="has offsets in place of texts; the texts of the documents are needed"):
        read_inex(TOPICS, [file("run", OFFSETS)], JUDGEMENTS)
    with pytest.raises(InvalidInput, match=r"topics: none of the topics has both passages in the runs and judgements"):
        read_inex(file("topics", "5 Rain\n"), RUNS, JUDGEMENTS)


IN_XML = """\
<xml>
<tweet id="2012001">Ducks &amp; geese
are back</tweet>
<Tweet><id> 2012002 </id><text>Night trains</text></Tweet>
</xml>"""
TWEETS = {"2012001": "Ducks & geese are back", "2012002": "Night trains"}


@pytest.mark.parametrize(
    "text",
    [
        '"2012001" "Ducks & geese are back"\n2012002\tNight trains\n',
        '{"id_str": "2012001", "id": 1, "text": "Ducks & geese are back"}\n{"id": 2012002, "text": "Night  trains"}\n',
        IN_XML,
    ],
    ids=["columns", "json", "xml"],
)
def test_topics(file: File, text: str) -> None:
    assert read_topics(file("topics", text)) == TWEETS
    assert list(read_topics(TOPICS)) == ["2012001", "2012002", "2012003", "2012004"]
    assert read_topics(TOPICS)["2012001"] == "Ducks & geese are back at the lake"  # the title


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<xml>\n<topic id='1'>Ducks < geese</topic>\n</xml>", "t:2: not XML at column …"),
        ('<?xml version="1.0" encoding="klingon"?><xml/>', "t: not XML in a known encoding: unknown encoding: kling…"),
        ("<xml>\n<topic>\n<title>Ducks</title></topic></xml>", "t:2: id: expected the id of a topic, got none"),
        ("<xml>\n<topic id='1'/>\n<topic id='1'/></xml>", "t:3: id: topic 1 stands there twice"),
        ("<xml><query/></xml>", "t: expected elements topic or tweet, got none"),
        ('{"id": 1}\n', "t:1: text: expected the text of a tweet"),
        ('{"text": "a"}\n', "t:1: id: expected the id of a topic, got none"),
        ("1 a\n\n1 b\n", "t:3: id: topic 1 stands there twice"),
    ],
)
def test_bad_topics(write_error: Refused, text: str, message: str) -> None:
    write_error(read_topics, "t", text, message)


@pytest.mark.parametrize(
    ("highlights", "grade"),
    [
        ({"ann": []}, 0),
        ({"ann": ["aa bb cc"]}, 1),  # nobody agrees with a single person
        ({"ann": ["aa bb cc"], "bob": []}, 1),
        ({"ann": ["aa"], "bob": ["bb cc"]}, 7 / 8),  # the space between what two people took is nobody's
        ({"ann": ["aa", "bb"], "bob": []}, 5 / 8),  # with the space between
        ({"ann": ["aa bb"], "bob": ["bb cc"]}, 1),
        ({"ann": ["aa", "bb", "cc"], "bob": ["aa bb cc"]}, 2),
        ({"ann": ["aa bb cc"], "bob": ["xx aa bb cc yy"]}, 2),
        ({"ann": ["aa bb cc"], "bob": ["aa bb cc"], "cyd": ["aa"]}, 1),
        ({"ann": ["cc dd"], "bob": ["dd"]}, 0),  # not in the passage as a whole
        ({"ann": ["aa", "aa"], "bob": []}, 2 / 8),
    ],
)
def test_grades(highlights: dict[str, list[str]], grade: float) -> None:
    assert grade_of("aa bb cc", highlights) == grade


def test_words_that_stand_twice_and_none() -> None:
    assert grade_of("aa bb aa", {"ann": ["aa"]}) == 2 / 8  # one after the other
    assert grade_of("aa bb aa", {"ann": ["aa", "aa"]}) == 4 / 8
    assert grade_of("aa bb aa", {"ann": ["aa", "bb", "aa"]}) == 1
    assert grade_of("", {"ann": [""], "bob": [""]}) == 0


SPANS = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 12)), max_size=4)


@given(st.lists(SPANS, min_size=1, max_size=3))
def test_grades_against_a_plain_reading(people: list[list[tuple[int, int]]]) -> None:
    text = "abcdefghijkl"  # each stretch stands in one place
    taken = [{place for start, length in spans for place in range(start, min(start + length, 12))} for spans in people]
    pieces = {str(i): [text[a : a + n] for a, n in spans] for i, spans in enumerate(people)}
    share = len(set().union(*taken)) / 12
    assert grade_of(text, pieces) == (2 if len(people) > 1 and all(len(places) == 12 for places in taken) else share)
