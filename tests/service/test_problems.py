"""Errors in the words of those who hear them: requests name fields, and whoever runs the service knows flags."""

from __future__ import annotations

import pytest

from postil.errors import InvalidInput, PostilError, Undefined, UsageError
from postil.messages import Json, Message, Setting
from postil.service.worker_loop import encode_error, raised
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


@pytest.mark.parametrize("number", range(4))
def test_errors_of_another_process_keep_the_words_of_the_request_or_get_those_of_the_command(number: int) -> None:
    opening, request = errors()[number], errors()[number]
    request.freeze(Json(frozenset({"by"})))
    assert str(raised(encode_error(opening))).endswith("expected --by system")
    assert problem_of(raised(encode_error(request))).detail.endswith('expected "by": "system"')
