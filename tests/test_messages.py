"""Messages: one template, and the words of each interface."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from click.testing import CliRunner

import postil
from postil.cli.main import app
from postil.comments.options import (
    GeneratorOptions,
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceOptions,
    RetrieverTrainOptions,
)
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.messages import COMMAND_LINE, JSON, PYTHON, Blank, CommandLine, Hint, Json, Listed, Message, Setting
from postil.options import changed_settings

INTERFACES = (COMMAND_LINE, PYTHON, JSON)


@pytest.mark.parametrize(
    ("setting", "flag", "keyword", "field"),
    [
        (Setting("by"), "--by", "by", '"by"'),
        (Setting("by", "system"), "--by system", 'by="system"', '"by": "system"'),
        (Setting("item_means", value=True), "--item-means", "item_means=True", '"item_means": true'),
        (Setting("folds", 3), "--folds 3", "folds=3", '"folds": 3'),
        (Setting("aspect", "how well"), "--aspect 'how well'", 'aspect="how well"', '"aspect": "how well"'),
        (Setting("sheet", Blank("NAME")), "--sheet NAME", "sheet=NAME", '"sheet": "NAME"'),
        (Setting("scale", Blank("L:H"), "Scale(L, H)"), "--scale L:H", "scale=Scale(L, H)", '"scale": "L:H"'),
    ],
)
def test_each_face_spells_a_setting(setting: Setting, flag: str, keyword: str, field: str) -> None:
    message = Message("see {setting}", setting=setting)
    assert [interface.words(message) for interface in INTERFACES] == [f"see {flag}", f"see {keyword}", f"see {field}"]


def test_a_command_may_have_another_flag_for_a_setting() -> None:
    message = Message("choose {one}", one=Setting("metrics", Blank("NAME")))
    assert CommandLine({"metrics": "--metric"}).words(message) == "choose --metric NAME"


def test_names_of_users_are_not_read_as_templates() -> None:
    strange = "{by} {0} {{x}} {"
    message = Message("{name}: {rest}", name=strange, rest=Message(strange))
    assert all(interface.words(message) == f"{strange}: {strange}" for interface in INTERFACES)
    assert str(UsageError(strange)) == UsageError(strange).words(COMMAND_LINE) == strange
    assert str(InvalidInput(strange, where=strange, field=strange)) == ": ".join([strange] * 3)


def test_the_count_chooses_the_words() -> None:
    said = [str(Message("{count} row is empty", "{count:,} rows are empty", count=n)) for n in (0, 1, 1200)]
    assert said == ["0 rows are empty", "1 row is empty", "1,200 rows are empty"]


def test_a_list_has_messages_and_settings() -> None:
    parts = (Setting("by", "item"), Message("{n} more", n=2), "x")
    message = Message("expected {parts}", parts=Listed(parts, last=" or "))
    assert COMMAND_LINE.words(message) == "expected --by item, 2 more or x"
    assert PYTHON.words(Message("{one}", one=Listed(("a",)))) == "a"


def test_a_hint_is_left_out_where_a_setting_is_unknown() -> None:
    inner = Listed((Message("{saved}", saved=Setting("background", Blank("FOLDER"))),))
    message = Message("no frequencies{hint}", hint=Hint("; or give {inner}", inner=inner))
    assert Json(frozenset({"scale"})).words(message) == "no frequencies"
    assert Json(frozenset({"background"})).words(message) == 'no frequencies; or give "background": "FOLDER"'


@pytest.mark.parametrize("kind", [PostilError, UsageError, Undefined])
def test_an_error_keeps_its_message_in_another_process(kind: type[PostilError]) -> None:
    error = kind("{name} needs {need}", name="spa", need=Setting("by", "system"))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert type(again) is kind
    assert str(again) == 'spa needs by="system"'
    assert again.words(COMMAND_LINE) == "spa needs --by system"


def test_an_error_of_a_row_keeps_its_place_in_every_face() -> None:
    problem = Message("choose one: {aspect}", aspect=Setting("aspect", Blank("NAME")))
    error = pickle.loads(pickle.dumps(InvalidInput(problem, where="j.jsonl", line=3, field="aspect")))  # noqa: S301
    assert str(error) == "j.jsonl:3: aspect: choose one: aspect=NAME"
    assert error.words(COMMAND_LINE) == "j.jsonl:3: aspect: choose one: --aspect NAME"
    assert (error.problem, error.message) == ("choose one: aspect=NAME", problem)


def test_other_errors_have_words_as_well() -> None:
    error = UnknownName("metric", "metor", ["meteor"])
    assert str(error) == error.words(COMMAND_LINE) == error.words(JSON)


SCORES, GRADES = [0.2, 0.9, 0.4], [1.0, 5.0, 3.0]


def test_python_hears_of_keywords() -> None:
    with pytest.raises(UsageError, match=r'^spa compares systems, so it needs by="system", got by="pool"$'):
        postil.correlate({"m": SCORES}, GRADES, options=postil.CorrelateOptions(coefficients=("spa",)))
    with pytest.raises(Undefined, match=r"plan from assumptions: sd=GRADES$"):
        postil.budget({"m": SCORES}, GRADES)
    with pytest.raises(UsageError, match=r"^graded: expected at least 2, got 1$"):
        postil.BudgetOptions(graded=(1,))


def test_the_command_line_hears_of_flags() -> None:
    result = CliRunner().invoke(app, ["budget", "--items", "9", "--sd", "1", "--metric", "m"])
    assert (result.exit_code, result.stderr) == (
        2,
        "postil: --metric is for a pilot, and there is none: --judgements FILE\n",
    )


def test_defaults_need_no_words() -> None:
    assert changed_settings(GeneratorTrainOptions()) == changed_settings(RetrieverTrainOptions()) == ()


def test_options_within_options_are_compared_with_their_defaults_there() -> None:
    given = GeneratorTrainOptions(
        seed=7, network=GeneratorOptions(loss="sampled", cell="lstm"), training=GeneratorTraining(epochs=3)
    )
    seed, epochs = Setting("seed", "7"), Setting("epochs", "3")
    assert changed_settings(given) == (seed, Setting("cell", "lstm"), Setting("loss", "sampled"), epochs)
    assert changed_settings(replace(given, network=GeneratorOptions())) == (seed, epochs)


def test_an_option_without_a_flag_is_refused() -> None:
    with pytest.raises(ValueError, match="filters: it has no flag"):
        changed_settings(RetrieverTrainOptions(ranker="both", network=RelevanceOptions(filters=3)))
