"""Settings of campaigns in the words of each interface, and the address of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.campaigns.models import parse_context
from postil.campaigns.options import InviteOptions, ServeOptions, checked_base_url
from postil.campaigns.planning import ItemFiles, sampled_items, with_training
from postil.errors import UsageError
from postil.messages import CommandLine

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN = CommandLine({"sample": "--items"})


@pytest.mark.parametrize(
    ("call", "python", "command_line"),
    [
        (lambda: InviteOptions(role="lead", late=True), "late goes with annotators", "--late goes with annotators"),
        (
            lambda: ItemFiles("candidates", ("article",)),
            'articles=FILE; or name columns to show: context=NAME,NAME; or context="none"',
            "--articles FILE; or name columns to show: --context NAME,NAME; or --context none",
        ),
        (lambda: parse_context("hint,hint"), "context: expected none, or", "--context: expected none, or"),
        (lambda: sampled_items([], 2, 1), "sample: expected a number from", "--items: expected a number from"),
        (lambda: with_training([], 2, 1), "training: expected at most 0", "--training: expected at most 0"),
    ],
)
def test_each_interface_spells_the_settings(call: Callable[[], object], python: str, command_line: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert python in str(caught.value)
    assert command_line in caught.value.words(PLAN)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://grading.example.org", "https://grading.example.org"),
        (" HTTPS://Grading.Example.ORG/ ", "https://grading.example.org"),
        ("http://192.168.1.5:8000", "http://192.168.1.5:8000"),
        ("http://[fd00::5]:8000/", "http://[fd00::5]:8000"),
    ],
)
def test_a_base_url(url: str, address: str) -> None:
    assert checked_base_url(url) == address


@pytest.mark.parametrize(
    "url",
    [
        *("", "grading.example.org", "grading.example.org:8000", "ftp://a.example", "https://", "https:///lead"),
        "//a.example",
        *("https://a.example/grading", "https://a.example/?x=1", "https://a.example/#x", "https://user@a.example"),
        *("https://a.example:0", "https://a.example:http", "https://a.example:99999", "https://[::1"),
    ],
)
def test_what_is_no_base_url(url: str) -> None:
    with pytest.raises(UsageError, match=r"^base_url: expected .* such as https://grading\.example\.org; got "):
        checked_base_url(url)
    with pytest.raises(UsageError, match=r"^base_url: "):
        ServeOptions(base_url=url)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        *(("127.0.0.1", "localhost"), ("0.0.0.0", "localhost"), ("::", "localhost"), ("localhost", "localhost")),  # noqa: S104
        *(("192.168.1.5", "192.168.1.5"), ("fd00::5", "[fd00::5]"), ("annotate.lan", "annotate.lan")),
    ],
)
def test_links_lead_to_the_host_that_is_listened_on(host: str, address: str) -> None:
    found = ServeOptions(host=host, port=9000)
    assert found.address == f"http://{address}:9000"
    assert found.names == (address.strip("[]"),)


def test_a_base_url_gives_name_and_scheme() -> None:
    outside = ServeOptions(base_url="https://Grading.example.org/", name=("other.example",))
    assert (outside.address, outside.secure) == ("https://grading.example.org", True)
    assert outside.names == ("other.example", "grading.example.org")
    inside = ServeOptions(base_url="http://annotate.lan:8000")
    assert (inside.names, inside.secure) == (("annotate.lan",), False)
    with pytest.raises(UsageError, match=r"^base_url: expected https:// with https, got http://annotate\.lan$"):
        ServeOptions(base_url="http://annotate.lan", https=True)
