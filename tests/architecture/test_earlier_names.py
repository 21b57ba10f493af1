"""Import paths of version 0.2 lead to the names that they had, with a warning."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

from postil.earlier import MODULES, NAMES

PATHS = (
    "postil.records.Passage",
    "postil.records.read",
    "postil.records.rows.TopicArticle",
    "postil.records.results.CorrelationResult",
    "postil.records.results.HumanAgreement",
    "postil.metaeval.table.Table",
    "postil.metaeval.resampling.Draws",
    "postil.app.score.score",
    "postil.commenters.retrieval.Retriever",
    "postil.corpus.merge_duplicates",
    "postil.corpus.formats.trec.run_lines",
    "postil.endpoint.AnswerCache",
    "postil.metrics.RougeL",
    "postil.metrics.passage_collection.Preprocessing",
    "postil.text.Vocabulary",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_version_0_2_leads_to_its_name(path: str) -> None:
    module, _, name = path.rpartition(".")
    sys.modules.pop(path, None)
    vars(import_module(module)).pop(name, None)
    found: dict[str, Any] = {}
    with pytest.warns(DeprecationWarning, match=f"{name} is in postil[.]") as caught:
        exec(f"from {module} import {name}", found)  # noqa: S102 - our own words
    assert found[name].__name__ == name
    assert {each.filename for each in caught} == {"<string>"}


@pytest.mark.parametrize(("module", "names"), NAMES.items())
def test_every_name_is_where_it_is_said_to_be(module: str, names: str) -> None:
    assert [name for name in names.split() if not hasattr(import_module(module), name)] == []


def test_no_module_is_there_twice() -> None:
    for package, leaves in MODULES.items():
        for leaf in leaves.split():
            assert type(import_module(f"{package}.{leaf}")).__name__ == "_Module"


def test_what_never_was_is_an_error() -> None:
    with pytest.raises(ImportError):
        import_module("postil.records.nothing")
    with pytest.raises(AttributeError, match=r"docs/migrating[.]md"):
        _ = import_module("postil.records").nothing
    with pytest.raises(ImportError):
        import_module("postil.metrics.nothing")
