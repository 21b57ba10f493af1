"""Errors in the words of those who hear them, and the log when nobody reads it."""

from __future__ import annotations

import os
import sys

import pytest

from postil.engine.worker import WorkerState, result_of, serialize
from postil.errors import InvalidInput, PostilError, Undefined, UsageError
from postil.messages import Json, Message, Setting
from postil.service.worker import for_clients
from postil.web.error_log import log_failure, unbroken
from postil.web.problems import problem_of

NEED = Message("expected {by}", by=Setting("by", "system"))


def errors() -> list[PostilError]:
    """An error of each kind that carries facts."""
    return [
        UsageError("{need}", need=NEED),
        Undefined("{need}", need=NEED),
        PostilError("{need}", need=NEED),
        InvalidInput(NEED, where="rows.jsonl", line=3, field="k"),
    ]


@pytest.mark.parametrize("number", range(4))
def test_a_problem_names_fields_of_requests(number: int) -> None:
    found = problem_of(errors()[number])
    assert found.detail.endswith('expected "by": "system"')
    assert [detail for _, detail in found.errors] == ['expected "by": "system"'] * (number == 3)


def failing(_: None, error: Exception) -> None:
    with for_clients():
        raise error


def of_worker(error: Exception) -> PostilError:
    """The error as it comes from a worker."""
    with pytest.raises(PostilError) as raised:
        result_of(WorkerState(serialize("these", (bool, [None]))).call(serialize("it", (failing, error))))
    return raised.value


@pytest.mark.parametrize("number", range(4))
def test_errors_of_another_process_keep_the_words_of_the_request_or_get_those_of_the_command(number: int) -> None:
    opening, request = errors()[number], errors()[number]
    request.freeze(Json(frozenset({"by"})))
    assert str(of_worker(opening)).endswith("expected --by system")
    assert problem_of(of_worker(request)).detail.endswith('expected "by": "system"')


def fail() -> None:
    try:
        {}["rain"]
    except KeyError:
        log_failure("request 1")


def test_a_failure_is_written_with_its_request(capsys: pytest.CaptureFixture[str]) -> None:
    fail()
    assert capsys.readouterr().err.startswith("request 1:\nTraceback (most recent call last)")


def test_a_pipe_without_a_reader_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stderr", type("Stream", (), {"write": lambda _, text: pipe.write(text.encode())})())
        fail()
    fail()  # and now the stream is closed
    told: list[str] = []
    unbroken(told.append)("reloaded")
    assert told == ["reloaded"]
