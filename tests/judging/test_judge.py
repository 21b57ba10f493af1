"""The judge: which requests it makes, and what comes of the answers."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import pytest

from postil.data.scale import Scale
from postil.endpoint.chat import Answer, Failed
from postil.judging.judge import Case, Graded, Judge, JudgeSpec, Template, Trial, Ungraded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from postil.endpoint.chat import Request

GOOD = (("4", log(0.75)), ("5", log(0.25)))
POOR = (("Well", log(0.9)), ("4", log(0.1)))


class Endpoint:
    """Answers by a function, and remembers the requests."""

    def __init__(self, answer: Callable[[Request], Answer | Failed]) -> None:
        self.asked: list[Request] = []
        self._answer = answer

    def __call__(self, requests: Iterable[Request]) -> Iterator[Answer | Failed]:
        for request in requests:
            self.asked.append(request)
            yield self._answer(request)


def judge(endpoint: Endpoint, **given: object) -> Judge:
    spec = {"model": "m", "scale": Scale(1, 5), "template": Template.default(), "samples": 3, **given}
    return Judge(JudgeSpec(**spec), endpoint)  # type: ignore[arg-type]


def outcomes(made: Judge, *trials: Trial) -> list[Graded | Ungraded]:
    found: dict[int, Graded | Ungraded] = {}
    made.grade(trials, found)
    return [found[index] for index in range(len(trials))]


def test_probabilities_take_one_call_at_temperature_0() -> None:
    endpoint = Endpoint(lambda _: Answer(text="4", top_logprobs=GOOD, model="served"))
    (found,) = outcomes(judge(endpoint), Trial(Case("a")))
    assert isinstance(found, Graded)
    assert (found.grade, found.mass, found.samples, found.served) == (
        pytest.approx(4.25),
        pytest.approx(1.0),
        0,
        "served",
    )
    (request,) = endpoint.asked
    assert (request.max_tokens, request.temperature, request.top_logprobs) == (1, 0.0, 20)


def test_too_little_mass_is_followed_by_samples() -> None:
    def answer(request: Request) -> Answer:
        if request.top_logprobs:
            return Answer(text="Well", top_logprobs=POOR)
        return Answer(text=["3", "no idea", "Grade: 4"][request.sample])

    endpoint = Endpoint(answer)
    (found,) = outcomes(judge(endpoint), Trial(Case("a")))
    assert isinstance(found, Graded)
    assert (found.grade, found.mass, found.samples, len(found.answers)) == (3.5, pytest.approx(0.1), 2, 4)
    samples = endpoint.asked[1:]
    assert [request.sample for request in samples] == [0, 1, 2]
    assert len({request.seed for request in samples}) == 3
    assert {request.temperature for request in samples} == {0.7}


def test_the_first_answer_tells_if_there_are_probabilities() -> None:
    endpoint = Endpoint(lambda _: Answer(text="3"))
    found = outcomes(judge(endpoint), Trial(Case("a")), Trial(Case("b")))
    assert [each.grade for each in found if isinstance(each, Graded)] == [3.0, 3.0]
    assert [each.mass for each in found if isinstance(each, Graded)] == [None, None]
    assert [bool(request.top_logprobs) for request in endpoint.asked] == [True] + [False] * 6


@pytest.mark.parametrize("given", [{"scale": Scale(0, 4.5)}, {"logprobs": False}])
def test_samples_alone(given: dict[str, object]) -> None:
    endpoint = Endpoint(lambda _: Answer(text="3", top_logprobs=GOOD))
    (found,) = outcomes(judge(endpoint, **given), Trial(Case("a")))
    assert found == Graded(3.0, None, 3, (Answer(text="3", top_logprobs=GOOD),) * 3)
    assert not any(request.top_logprobs for request in endpoint.asked)


def test_the_first_answer_tells_if_grades_of_two_characters_are_tokens() -> None:
    def answer(request: Request) -> Answer:
        whole = (("10", log(0.1)),) if "whole" in request.messages[-1].content else ()
        return Answer(text="3", top_logprobs=(("8", log(0.9)), *whole) if request.top_logprobs else ())

    whole, parts = (
        outcomes(judge(Endpoint(answer), scale=Scale(0, 10)), Trial(Case(text)), Trial(Case("whole")))
        for text in ("whole", "parts")
    )
    assert [each.grade for each in whole if isinstance(each, Graded)] == [pytest.approx(8.2)] * 2
    assert [each.grade for each in parts if isinstance(each, Graded)] == [3.0, 3.0]


def test_the_same_again_is_another_sample_of_the_same_request() -> None:
    endpoint = Endpoint(lambda request: Answer(text="3", top_logprobs=POOR if request.top_logprobs else ()))
    outcomes(judge(endpoint), Trial(Case("a")), Trial(Case("a"), again=True))
    assert len({request.key() for request in endpoint.asked}) == len(endpoint.asked) == 8
    assert len({request.body() for request in endpoint.asked}) == 4


def test_an_unreadable_text_has_a_reason_and_an_example() -> None:
    endpoint = Endpoint(lambda _: Answer(text="I cannot\nsay " + "x" * 80))
    (found,) = outcomes(judge(endpoint), Trial(Case("a")))
    assert isinstance(found, Ungraded)
    assert found.reason == "none of 3 answers is one number from 1 to 5"
    assert found.example.startswith("I cannot say xx")
    assert len(found.example) == 61


def test_an_answer_that_is_cut_off_may_lack_digits() -> None:
    endpoint = Endpoint(lambda _: Answer(text="1", finish_reason="length"))
    (found,) = outcomes(judge(endpoint, scale=Scale(0, 10)), Trial(Case("a")))
    assert isinstance(found, Ungraded)


def test_a_failed_call_gives_no_grade_of_the_others() -> None:
    def answer(request: Request) -> Answer | Failed:
        return Failed("timeout") if request.sample == 1 else Answer(text="3")

    (found,) = outcomes(judge(Endpoint(answer)), Trial(Case("a")))
    assert isinstance(found, Ungraded)
    assert found.reason == "timeout"
    (first,) = outcomes(judge(Endpoint(lambda _: Failed("refused"))), Trial(Case("a")))
    assert first == Ungraded("refused")


def test_grades_before_an_interrupt_are_there() -> None:
    def answer(request: Request) -> Answer:
        if "third" in request.messages[-1].content:
            raise KeyboardInterrupt
        return Answer(text="4", top_logprobs=GOOD)

    found: dict[int, Graded | Ungraded] = {}
    with pytest.raises(KeyboardInterrupt):
        judge(Endpoint(answer)).grade([Trial(Case(text)) for text in ("first", "second", "third")], found)
    assert list(found) == [0, 1]


def test_a_plan_follows_the_answers_that_are_known() -> None:
    trials = [Trial(Case("good")), Trial(Case("poor")), Trial(Case("unknown"))]

    def known(request: Request) -> Answer | None:
        text = request.messages[-1].content
        return None if "unknown" in text else Answer(text="", top_logprobs=GOOD if "good" in text else POOR)

    planned = list(judge(Endpoint(lambda _: Failed(""))).planned(trials, known))
    assert [bool(request.top_logprobs) for request in planned] == [True, True, False, False, False, True]
    silent = list(judge(Endpoint(lambda _: Failed(""))).planned(trials, lambda _: Answer(text="4")))
    assert [bool(request.top_logprobs) for request in silent] == [True] + [False] * 9
