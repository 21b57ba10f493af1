"""`postil judge` against a server on loopback: the same bytes, resumption, limits, and a sentence for every failure."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from endpoint_stub import Answering, Asked, Reply, StubServer, completion, error
from postil.endpoint.cache import FILE
from postil.endpoint.client import Client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conftest import Outcome, Postil
    from postil.endpoint.chat import Answer, Failed, Request

TEXTS = ("Bring a coat.", "It will rain all day.", "No.", "I disagree with the mayor.", "Why?")
ITEMS = ("rain", "mayor")


def text_of(asked: Asked) -> str:
    return asked.prompt.rpartition("<candidate>")[2].partition("</candidate>")[0].strip()


def graded(asked: Asked) -> Reply:
    """Probabilities that depend on the text; the shortest texts are answered in prose, then sampled."""
    words = min(5, len(text_of(asked).split()))
    if not asked.body.get("logprobs"):
        return completion(f"Grade: {words}", usage=(100, 4))
    tokens = {"Well": math.log(0.7), "1": math.log(0.2)} if words == 1 else {str(words): math.log(0.9)}
    return completion("Well", tokens=tokens, usage=(100, 1))


class Judging:
    """Runs the command on ten texts of two items, in a folder of its own."""

    def __init__(self, postil: Postil) -> None:
        self._postil = postil
        self.arguments = [
            *("judge", "t.jsonl", "-r", "g.jsonl", "--articles", "a.jsonl", "--scale", "1:5", "--model", "m"),
            *("--out", "out.jsonl", "--retries", "0"),
        ]
        rows = [
            {"item": item, "system": f"s{number}", "text": text} for item in ITEMS for number, text in enumerate(TEXTS)
        ]
        references = [{"item": item, "text": f"grade {grade}", "grade": grade} for item in ITEMS for grade in (2, 4.5)]
        self._write("t.jsonl", rows)
        self._write("g.jsonl", references)
        self._write("a.jsonl", [{"id": item, "title": item.title(), "content": "One two three."} for item in ITEMS])

    @staticmethod
    def _write(name: str, rows: list[dict[str, object]]) -> None:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def __call__(self, url: str, *more: str) -> Outcome:
        return self._postil(*self.arguments, "--endpoint", url, *more)

    @property
    def rows(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def judging(postil: Postil) -> Judging:
    return Judging(postil)


def test_rows_are_scores_of_the_texts_in_their_order(judging: Judging) -> None:
    with StubServer(graded) as stub:
        found = judging(stub.url, "--format", "json")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert result["kind"] == "judge"
    assert [row["system"] for row in result["systems"]] == [f"s{number}" for number in range(5)]
    assert result["rows"] == judging.rows
    assert [(row["item"], row["system"]) for row in judging.rows] == [(i, f"s{n}") for i in ITEMS for n in range(5)]
    first, prose = judging.rows[0], judging.rows[2]
    assert (first["metric"], first["score"], first["mass"], first["calls"]) == ("judge(m)", 3.0, pytest.approx(0.9), 1)
    assert (prose["score"], prose["samples"], prose["mass"], prose["calls"]) == (1.0, 5, pytest.approx(0.2), 6)
    head, *parts = str(first["signature"]).split("|")
    assert head == "judge(model=m,served=stub-1,anchors=nearest,samples=5,temperature=0.7)"
    assert {part.partition(":")[0] for part in parts} == {
        *("prompt", "rubric", "scale", "weights", "anchors-per-grade", "anchor-metric", "tokenizer"),
        *("article-words", "seed", "postil"),
    }
    assert result["usage"] == {"calls": 30, "prompt_tokens": 3000, "completion_tokens": 90, "cost": None}
    assert "30 calls, 0 answers from the cache" in found.err


def test_a_second_run_makes_no_calls_and_the_same_bytes(judging: Judging) -> None:
    more = ("--cache", "answers", "--controls", "--price", "1:2")
    with StubServer(graded) as stub:
        first = judging(stub.url, *more)
        rows, asked = Path("out.jsonl").read_bytes(), len(stub.asked)
        second = judging(stub.url, *more, "--parallel", "1")
        assert len(stub.asked) == asked
    assert (first.code, second.code) == (0, 0)
    assert second.out == first.out
    assert Path("out.jsonl").read_bytes() == rows
    assert "0 calls" in second.err
    assert "cost 0.0" in first.out


def test_a_reached_limit_keeps_the_finished_rows(judging: Judging) -> None:
    with StubServer(graded) as stub:
        stopped = judging(stub.url, "--cache", "answers", "--limit-calls", "7", "--parallel", "1")
        assert stopped.code == 1
        assert stopped.out == ""
        assert "5 of 10 texts graded; their rows are in out.jsonl" in stopped.err
        assert "the limit of 7 calls is reached; answers so far are kept" in stopped.err
        assert [row["system"] for row in judging.rows] == ["s0", "s1", "s3", "s0", "s1"]
        assert judging(stub.url, "--cache", "answers").code == 0
        assert len(stub.asked) == 30
        assert len(judging.rows) == 10


def stored() -> int:
    """Number of answers on disk."""
    where = f"file:{Path('answers', FILE)}?mode=ro"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(where, uri=True)) as file:
        return int(file.execute("SELECT count(*) FROM answer").fetchone()[0])
    return 0


def test_an_interrupted_run_keeps_the_finished_rows(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Client.answers

    def interrupted(self: Client, requests: Iterable[Request]) -> Iterator[Answer | Failed]:
        for number, answer in enumerate(answers(self, requests)):
            if number == 2:
                raise KeyboardInterrupt
            yield answer

    with StubServer(graded) as stub:
        monkeypatch.setattr(Client, "answers", interrupted)
        found = judging(stub.url)
    assert found.code == 130
    assert "3 of 10 texts graded; their rows are in out.jsonl" in found.err
    assert [row["system"] for row in judging.rows] == ["s0", "s1", "s3"]  # of s2 the samples are missing


def test_a_killed_run_goes_on_where_it_stopped(judging: Judging) -> None:
    killed = Event()

    def answering(asked: Asked) -> Reply:
        late = text_of(asked) == TEXTS[3] and not killed.is_set()
        return Reply(graded(asked).body, until=killed if late else None, cut=late)

    with StubServer(answering) as stub:
        arguments = [sys.executable, "-m", "postil", *judging.arguments, "--endpoint", stub.url, "--cache", "answers"]
        child = subprocess.Popen(arguments, stderr=subprocess.PIPE)  # noqa: S603 - our own code
        end = time.monotonic() + 30
        while stored() < 8 and time.monotonic() < end:  # all but two are answered
            time.sleep(0.01)
        child.kill()
        child.communicate()
        killed.set()
        assert judging(stub.url, "--cache", "answers").code == 0
        resumed = Path("out.jsonl").read_bytes()
        assert stub.answered.total() == 30
    with StubServer(graded) as stub:
        assert judging(stub.url).code == 0
    assert Path("out.jsonl").read_bytes() == resumed


def test_a_dry_run_asks_nothing_and_follows_the_cache(judging: Judging) -> None:
    with StubServer(graded) as stub:
        planned = json.loads(judging(stub.url, "--dry-run", "--format", "json", "--price", "1:2").out)
        assert stub.asked == []
        assert (planned["calls"], planned["cached"], planned["completion_tokens"]) == (10, 0, 10)
        assert planned["cost"] == pytest.approx((planned["prompt_tokens"] + 20) / 1e6)
        judging(stub.url, "--cache", "answers", "--limit-calls", "10")
        planned = json.loads(judging(stub.url, "--dry-run", "--format", "json", "--cache", "answers").out)
        assert (planned["calls"], planned["cached"]) == (20, 10)


def test_the_prompt_can_be_seen_and_replaced(judging: Judging, postil: Postil) -> None:
    Path("prompt.txt").write_text(postil("judge", "--show-prompt").out, encoding="utf-8")
    Path("rubric.txt").write_text("5 is best.\n", encoding="utf-8")
    with StubServer(graded) as stub:
        judging(stub.url)
        usual = str(judging.rows[0]["signature"])
        judging(stub.url, "--prompt", "prompt.txt", "--rubric", "rubric.txt")
        signature = str(judging.rows[0]["signature"])
        assert "5 is best." in stub.asked[-1].prompt
    assert "|rubric:none|" in usual
    assert signature.split("|")[1] == usual.split("|")[1]
    assert "|rubric:none|" not in signature


def test_long_articles_are_cut_and_the_rows_say_so(judging: Judging) -> None:
    with StubServer(graded) as stub:
        found = judging(stub.url, "--article-words", "2")
        assert "One two …" in stub.asked[0].prompt
        assert "three" not in stub.asked[0].prompt
    assert {row["omitted"] for row in judging.rows} == {1}
    assert "10 texts judged with the first 2 words of the article" in found.out


def late(_: Asked) -> Reply:
    return Reply(b"", delay=0.5)


def failures() -> Iterator[tuple[str, Answering, str]]:
    """Name, what the endpoint does, what is said."""
    yield "prose", lambda _: completion("Hello!"), "no text has a grade: none of 5 answers is one number from 1 to 5"
    yield "key", lambda _: error(401, "no key"), "put a key of access into POSTIL_API_KEY"
    yield "model", lambda _: error(404, "no such model"), "check the model's name"
    yield "long", lambda _: error(400, "exceeds the context size of 512 tokens"), "--article-words N"
    yield "cut", lambda _: Reply(b"", cut=True), "the connection was cut"
    yield "lies", lambda _: Reply(b"<html>"), "the answer is no chat completion"
    yield "busy", lambda _: error(503, "overloaded"), "503: overloaded"
    yield "stalls", late, "no answer within 0.1 s"


@pytest.mark.parametrize(("answering", "said"), [pytest.param(*each[1:], id=each[0]) for each in failures()])
def test_a_failing_endpoint_is_a_sentence(judging: Judging, answering: Answering, said: str) -> None:
    with StubServer(answering) as stub:
        found = judging(stub.url, "--timeout", "0.1")
    assert found.code == 1
    assert said in found.err
    assert "Traceback" not in found.err
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--endpoint", "ftp://a"), 2, "endpoint: expected an http or https address"),
        (("--scale", "five"), 2, "scale"),
        (("--anchors", "nearst"), 2, "did you mean 'nearest'"),
        (("--rubric", "no.txt"), 3, "no.txt: cannot be read"),
        (("--judgements", "t.jsonl"), 2, "judgements are for the controls: --controls"),
        (("--out", "t.jsonl"), 2, "t.jsonl: would be written over t.jsonl"),
        (("--out", "out.txt"), 2, "out.txt: unknown kind of file"),
        (("--limit-cost", "1"), 2, "--price IN:OUT"),
        (("--prompt", "bad.txt"), 2, "unknown field of a prompt 'candidat'"),
        (("--extra-body", "[1]"), 2, "extra_body: expected a JSON object"),
        (("--extra-body", '{"stream": true}'), 2, "extra_body: stream cannot be changed"),
        (("--answer-tokens", "0"), 2, "'--answer-tokens': 0 is not in the range x>=1."),
    ],
)
def test_wrong_usage_is_a_sentence(judging: Judging, more: tuple[str, ...], code: int, said: str) -> None:
    Path("bad.txt").write_text("[user]\n{candidat}", encoding="utf-8")
    found = judging("http://127.0.0.1:9/v1", *more)
    assert found.code == code
    assert said in found.err


def test_an_endpoint_is_needed(judging: Judging, postil: Postil) -> None:
    found = postil(*judging.arguments)
    assert (found.code, "name the endpoint with --endpoint" in found.err) == (2, True)


def test_other_commands_read_the_rows(judging: Judging, postil: Postil) -> None:
    ratings = [
        {"item": item, "system": f"s{number}", "annotator": "ann", "grade": 1 + (number + len(item)) % 5}
        for item in ITEMS
        for number in range(5)
    ]
    judging._write("h.jsonl", ratings)
    with StubServer(graded) as stub:
        assert judging(stub.url, "--controls", "--judgements", "h.jsonl", "--report", "own.html").code == 0
        page = judging(stub.url, "--format", "json")
    Path("judge.json").write_text(page.out, encoding="utf-8")
    correlated = postil("correlate", "out.jsonl", "--judgements", "h.jsonl", "--format", "json")
    assert {row["metric"] for row in json.loads(correlated.out)["correlations"]} >= {"judge(m)"}
    compared = postil("compare", "out.jsonl", "--format", "json")
    assert {row["metric"] for row in json.loads(compared.out)["systems"]} == {"judge(m)"}
    assert postil("report", "judge.json", "--out", "page.html").code == 0
    for name in ("page.html", "own.html"):
        assert "Grades by" in Path(name).read_text(encoding="utf-8")
    assert "permuted grades of anchors" in Path("own.html").read_text(encoding="utf-8")


def refusing(*names: str, then: Answering = graded) -> Answering:
    """An endpoint that complains about one option at a time, as OpenAI does."""
    instead = {"max_tokens": "Use 'max_completion_tokens' instead."}

    def answering(asked: Asked) -> Reply:
        for name in names:
            if name in asked.body:
                said = f"Unsupported parameter: '{name}' is not supported with this model. {instead.get(name, '')}"
                return error(400, said, param=name, code="unsupported_parameter")
        return then(asked)

    return answering


def test_an_endpoint_that_refuses_options_is_asked_without_them(judging: Judging) -> None:
    more = ("--cache", "answers", "--format", "json", "--answer-tokens", "500", "--extra-body", '{"top_k": 1}')
    with StubServer(refusing("max_tokens", "temperature", "logprobs", "seed")) as stub:
        found = judging(stub.url, *more)
        rows, asked = judging.rows, len(stub.asked)
        again = judging(stub.url, *more)
        assert len(stub.asked) == asked
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert result["not_sent"] == ["logprobs", "max_tokens", "seed", "temperature"]
    note = "the endpoint refuses logprobs, max_tokens, seed, temperature: requests have max_completion_tokens instead"
    assert any(each.startswith(note) for each in result["notes"])
    assert "127.0.0.1 refuses logprobs, max_tokens, seed, temperature" in found.err
    assert (again.out, judging.rows) == (found.out, rows)
    (signature,) = {str(row["signature"]) for row in rows}
    assert "samples=5,temperature=default)" in signature
    assert "|answer-tokens:500|extra-body:" in signature
    assert "|not-sent:max_tokens+seed+temperature|" in signature
    assert {frozenset(each.body) for each in stub.asked[4:]} == {
        frozenset({"model", "messages", "max_completion_tokens", "top_k"})
    }
    assert asked == 4 + 1 + 10 * 5


def test_a_signature_does_not_name_what_own_fields_replace(judging: Judging) -> None:
    with StubServer(lambda _: completion("4")) as stub:
        found = judging(stub.url, "--extra-body", '{"temperature": 0.2, "seed": 3}')
        assert {(each.body["temperature"], each.body["seed"]) for each in stub.asked} == {(0.2, 3)}
    assert found.code == 0, found.err
    (signature,) = {str(row["signature"]) for row in judging.rows}
    assert "samples=5,temperature=extra-body)" in signature
    assert "|seed:extra-body|" in signature


@pytest.mark.parametrize("more", [(), ("--no-logprobs",)])
def test_a_model_that_thinks_is_given_up_after_a_few_answers(more: tuple[str, ...], judging: Judging) -> None:
    with StubServer(lambda _: completion(None, finish="length", reasoning_content="Let me see")) as stub:
        found = judging(stub.url, "--parallel", "1", *more)
    assert found.code == 1
    assert "the first 6 answers are all cut off at 16 tokens in the model's thoughts" in found.err
    assert "--answer-tokens N" in found.err
    assert len(stub.asked) < 12
    assert not Path("out.jsonl").exists()


def test_probabilities_of_thoughts_are_not_asked_for_all_texts_first(judging: Judging) -> None:
    def answering(asked: Asked) -> Reply:
        tokens = {"<think>": math.log(0.99)} if asked.body.get("logprobs") else None
        return completion("<think>", tokens=tokens, finish="length")

    with StubServer(answering) as stub:
        found = judging(stub.url, "--parallel", "1")
    assert found.code == 1
    assert "the first 6 answers are all cut off" in found.err
    assert sum("logprobs" in asked.body for asked in stub.asked) == 2
    assert len(stub.asked) < 12


def test_texts_before_that_are_not_lost_where_something_has_a_grade(judging: Judging) -> None:
    def answering(asked: Asked) -> Reply:
        return completion("<think>A long", finish="length") if text_of(asked) != "No." else completion("4")

    with StubServer(answering) as stub:
        found = judging(stub.url, "--no-logprobs", "--samples", "1", "--format", "json")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert [(row["item"], row["score"]) for row in result["rows"]] == [("rain", 4.0), ("mayor", 4.0)]
    (absent,) = result["absent"]
    assert (absent["reason"], absent["n"]) == ("cut", 8)
    assert absent["why"] == "the answer is cut off at 16 tokens, in thoughts"
    with StubServer(answering) as stub:
        out = judging(stub.url, "--no-logprobs", "--samples", "1").out
    assert "note: --answer-tokens N lets answers be longer" in out
    assert "8 of 10 texts without a grade: the answer is cut off at 16 tokens, in thoughts" in out


def test_every_text_without_a_grade_has_its_reason(judging: Judging) -> None:
    replies = {
        "Bring a coat.": completion("", finish="content_filter"),
        "It will rain all day.": completion(None, refusal="I can't help with that."),
        "No.": completion("<think>Is it 3?</think>\n"),
        "I disagree with the mayor.": completion("I would say 3 or 4"),
        "Why?": completion('<think>Is it 3?</think>```json\n{"grade": 4}\n```'),
    }
    with StubServer(lambda asked: replies[text_of(asked)]) as stub:
        found = judging(stub.url, "--no-logprobs", "--samples", "2", "--format", "json")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert {(each["reason"], each["why"], each["n"]) for each in result["absent"]} == {
        ("filtered", "all 2 answers are stopped by the endpoint's filter of contents", 2),
        ("refused", "all 2 answers are declined by the model", 2),
        ("empty", "all 2 answers are empty but for thoughts", 2),
        ("unreadable", "none of 2 answers is one number from 1 to 5", 2),
    }
    assert [row["score"] for row in result["rows"]] == [4.0, 4.0]


def test_limits_of_mean_grades(judging: Judging) -> None:
    with StubServer(graded) as stub:
        met = judging(stub.url, "--fail-below", "judge=1", "--junit", "limits.xml", "--format", "csv")
        missed = judging(stub.url, "--fail-below", "judge(m)=4.5", "--format", "csv")
        asked = len(stub.asked)
        wrong = judging(stub.url, "--fail-below", "meteor=.5")
        assert len(stub.asked) == asked, "a limit of another metric is refused before anything is asked for"
    assert (met.code, met.out, Path("limits.xml").read_text().count("<testcase")) == (0, missed.out, 5), met.err
    assert missed.code == 4
    assert "3 of 5 limits missed: s0: judge(m) is 3, below the limit of 4.5; " in missed.err
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == "postil: unknown metric with a limit 'meteor'. Known: judge(m)\n"


def test_a_system_without_a_grade_misses_its_limit(judging: Judging) -> None:
    with StubServer(lambda asked: completion("I cannot say" if "coat" in text_of(asked) else "Grade: 3")) as stub:
        found = judging(stub.url, "--fail-below", "judge=1", "--no-logprobs", "--junit", "limits.xml")
    assert found.code == 4, found.err
    assert "1 of 5 limits missed: s0: judge(m) has no value, and a limit of 1" in found.err
    assert 'message="s0: judge(m) has no value, and a limit of 1"' in Path("limits.xml").read_text()
