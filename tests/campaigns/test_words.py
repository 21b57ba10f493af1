"""Settings of campaigns in the words of Python and of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.campaigns.calls import InviteOptions, ServeOptions
from postil.campaigns.imports.calls import LabelStudioOptions
from postil.campaigns.item_files import ItemFiles, sampled_items, with_training
from postil.campaigns.models import parse_context
from postil.errors import UsageError
from postil.messages import CommandLine

if TYPE_CHECKING:
    from collections.abc import Callable

PLAN = CommandLine({"sample": "--items"})


@pytest.mark.parametrize(
    ("call", "python", "command_line"),
    [
        (
            lambda: InviteOptions(role="lead", late=True),
            "late goes with annotators: a lead needs no items",
            "--late goes with annotators: a lead needs no items",
        ),
        (
            LabelStudioOptions,
            "nothing to write: give out=FILE for judgements, campaign=NEW.db for a campaign, or both",
            "nothing to write: give --out FILE for judgements, --campaign NEW.db for a campaign, or both",
        ),
        (
            lambda: ServeOptions(https=True, base_url="http://a.example"),
            "base_url: expected https:// with https, got http://a.example",
            "--base-url: expected https:// with --https, got http://a.example",
        ),
        (
            lambda: ItemFiles("candidates", ("article",)),
            (
                "candidates are shown beside their articles: articles=FILE; or name columns to show: "
                'context=NAME,NAME; or context="none"'
            ),
            (
                "candidates are shown beside their articles: --articles FILE; or name columns to show: --context "
                "NAME,NAME; or --context none"
            ),
        ),
        (
            lambda: parse_context("hint,hint"),
            (
                "context: expected none, or distinct names of article, source, thread and columns, separated by "
                "commas; got 'hint,hint'"
            ),
            (
                "--context: expected none, or distinct names of article, source, thread and columns, separated by "
                "commas; got 'hint,hint'"
            ),
        ),
        (
            lambda: sampled_items([], 2, 1),
            "sample: expected a number from 1 to 0, the number of articles (or topics); got 2",
            "--items: expected a number from 1 to 0, the number of articles (or topics); got 2",
        ),
        (
            lambda: with_training([], 2, 1),
            "training: expected at most 0, the number of gold items that are no attention checks; got 2",
            "--training: expected at most 0, the number of gold items that are no attention checks; got 2",
        ),
    ],
)
def test_each_face_spells_the_settings(call: Callable[[], object], python: str, command_line: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert (str(caught.value), caught.value.words(PLAN)) == (python, command_line)
