"""Every regular expression over what users give takes a time that grows with its text alone."""

from __future__ import annotations

import json
import re
from functools import partial
from importlib import import_module
from itertools import chain
from string import ascii_lowercase
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import pytest

from expressions import Site, expressions, run, sites, worst_texts
from limited_child import unfinished
from postil.data.reading import pattern_of, system_pattern
from postil.documents.furniture import _LONG_TEXT, _NOTICE, _SHORT_TEXT
from postil.endpoint.transport import _spellings
from postil.text.ptb import _scanner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLACED: Final = {
    "postil.text.sentences._END": "at marks, none of which stands in what was read at another",
    "postil.documents.readers.wikitext._END_OF_TAG": "behind the name of a tag, and not beyond the next one",
    "postil.data.workbooks._SHOWN": "behind a tag, up to the next one",
    "postil.judging.judge._UNIT": "behind a number, twice at most",
    "postil.judging.judge._VALUE": "behind the name of a field",
    "postil.documents.templates._IN_SETS": "behind an opening, up to the next brace",
    "postil.documents.html_blocks._ATTRIBUTES": "behind the names of tags, over at most eight times the page",
    "postil.documents.html_blocks._EACH_ATTRIBUTE": "within what is known to be attributes, one behind the other",
}
"""Expressions that are matched at chosen places, and why each text is read once."""
BOUNDED: Final = {
    "postil.documents.furniture._LEADERS": "lines of at most 200 characters",
    "postil.documents.furniture._TO_PAGE": "lines of at most 200 characters",
    "postil.documents.readers.text._CODE": "lines of at most 200 characters",
    "postil.documents.readers.text._WIKI_HEADING": "lines of at most 200 characters",
    "postil.documents.readers.pdf._SOURCES": "lines of less than 40 characters",
    "postil.documents.pdf_content._ELEMENT": "arrays whose strings are known to end",
    "postil.documents.html_blocks._SKIPPED_NAME": "names of at most 200 characters, from end to end",
    "postil.options._MARKS": "descriptions in our own source",
    "postil.service.documentation.MARKS": "descriptions in our own source",
    "postil.data.workbooks._UNUSUAL": "the first 16 KiB of a part",
    "postil.data.folders.SHARD": "names of files",
    "postil.data.reading.pattern_of": "names of columns, which it has to match from end to end",
}
"""Expressions that never see a long text, and why."""


SHORT: Final = 2_000
"""Length of the texts among which the worst is chosen."""


def _held(path: str) -> list[re.Pattern[Any]]:
    """Expressions that a module has under a name, or makes."""
    module, _, name = path.rpartition(".")
    found = getattr(import_module(module), name)
    found = found() if callable(found) else found
    found = found.values() if isinstance(found, dict) else found
    return [found] if isinstance(found, re.Pattern) else list(found)


_OF_CONSTANTS: Final = (
    "postil.screening.reasons._BEGINNINGS",
    "postil.screening.reasons._ADDRESSES",
    "postil.kernel.python.interning._marked_word",
    "postil.kernel.python.interning.unspaced_word",
    "postil.data.cells._MARKED",
    "postil.text.han._SCRIPTS",
    "postil.kernel.unicode_forms._long_run",
    "postil.metrics.languages._LETTERS",
    "postil.text.tokenizers._word",
)
KEY: Final = "sk-" + "a" * 40
MADE: Final[dict[str, Callable[[], list[re.Pattern[Any]]]]] = {
    **{path: partial(_held, path) for path in _OF_CONSTANTS},
    "postil.campaigns.backups._files": lambda: [re.compile(r"campaign-\d{4}-\d\d-\d\d\.db")],
    "postil.service.config.without_paths": lambda: [re.compile(r"/srv/m(/[^\s:,;]+)?")],
    "postil.documents.furniture._any": lambda: [_SHORT_TEXT, _LONG_TEXT, _NOTICE],
    "postil.endpoint.transport._hide": lambda: [re.compile(_spellings(KEY), re.IGNORECASE)],
    "postil.endpoint.transport._exchange": lambda: [re.compile(_spellings(KEY).encode(), re.IGNORECASE)],
    "postil.judging.judge._leading": lambda: [re.compile(r"(?:/|out of|of)\s*5(?![\w%]|[.,]\d)")],
    "postil.data.reading.pattern_of": lambda: [pattern_of("Rater * (2024)"), pattern_of("*a")],
    "postil.data.reading.system_pattern": lambda: [system_pattern(each)[0] for each in ("* R*", "**", "a*a*a")],
    "postil.interest.text_fragments._pattern": lambda: [re.compile("a +a")],
    "postil.text.ptb._scanner": lambda: [_scanner(web=False), _scanner(web=True)],
    "postil.campaigns.pages.site._matching": lambda: [re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")],
}
"""Expressions of sites that only a function can make."""


GROUPS: Final = (
    ("postil.documents.",),
    ("postil.j", "postil.k", "postil.m", "postil.p", "postil.v"),
    ("postil.text.ptb",),
    ("postil.s",),
    ("postil.text.stems", *(f"postil.text.{letter}" for letter in ascii_lowercase if letter != "p")),
    ("postil.c",),
    ("postil.b", "postil.data.", "postil.e", "postil.i", "postil.o", "postil.r", "postil.th", "postil.tr", "postil.w"),
)
"""Beginnings of the names of modules whose expressions share a child."""


def test_every_site_is_in_a_group_and_every_exception_at_a_site() -> None:
    found = {site.key for site in sites()}
    assert [site for site in sites() if not site.module.startswith(tuple(chain(*GROUPS)))] == []
    assert [key for key in (*PLACED, *BOUNDED, *MADE) if key not in found] == []
    assert len(found) > 300


RUN: Final = """
import json
import sys
from resource import RLIMIT_CPU, getrlimit, setrlimit
from time import process_time
from expressions import Site
from test_linear_expressions import steps

length, seconds, found = sys.argv[1:]
most = getrlimit(RLIMIT_CPU)[1]
for step in steps([Site(*each) for each in json.loads(found)], int(length)):
    print(step, flush=True)
    setrlimit(RLIMIT_CPU, (min(most, int(process_time()) + int(seconds)), most))
"""
"""Reads texts of a length, each in a number of seconds of processor time."""


def steps(calls: list[Site], length: int) -> Iterator[str]:
    """Let each expression read a long text of the kind that takes it longest, in each way that it is used."""
    for expression in expressions(calls, MADE, PLACED):
        pattern = expression.pattern
        texts = [] if expression.where in BOUNDED else worst_texts(pattern)
        for use in sorted(expression.uses) if texts else ():
            yield f"{expression.where} {use}"
            worst = max(texts, key=lambda text: _time(pattern, use, _text(pattern, text, SHORT)))
            yield f"{expression.where} {use} {ascii(worst)[:300]}"
            run(pattern, use, _text(pattern, worst, length))


def _time(pattern: re.Pattern[Any], use: str, text: Any) -> int:
    begin = perf_counter_ns()
    run(pattern, use, text)
    return perf_counter_ns() - begin


def _text(pattern: re.Pattern[Any], parts: tuple[str, str, str], length: int) -> Any:
    head, unit, end = parts
    text = head + unit * (length // len(unit)) + end
    return text.encode("latin-1") if isinstance(pattern.pattern, bytes) else text


@pytest.mark.parametrize("within", GROUPS)
def test_worst_texts(within: tuple[str, ...]) -> None:
    assert unfinished(RUN, "100000", "8", _calls(within)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("within", GROUPS)
def test_long_worst_texts(within: tuple[str, ...]) -> None:
    assert unfinished(RUN, "500000", "40", _calls(within)) == ""


def _calls(within: tuple[str, ...]) -> str:
    """The sites in some modules, for a child, which need not look for them again."""
    found = [site for site in sites() if site.module.startswith(within)]
    return json.dumps([[each.module, each.name, each.pattern, each.flags, sorted(each.uses)] for each in found])
