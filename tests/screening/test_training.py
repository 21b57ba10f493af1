"""Screens learned from decisions: what they say, keep and refuse."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

from postil.corpus.forgotten import comment_key
from postil.data.model_folders import Model
from postil.data.options import InputOptions
from postil.data.parts import Estimate
from postil.data.row_files import write
from postil.data.rows import Decision
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.messages import COMMAND_LINE
from postil.results.views import show
from postil.screening import learning
from postil.screening import training as module
from postil.screening.calls import screen_file, screening_command
from postil.screening.model import Screen, read_decisions
from postil.screening.options import ScreenOptions, ScreenTrainOptions
from postil.screening.result import ScreeningResult
from postil.screening.training import train_screen
from postil.screening.view import training
from screen_decisions import NICE, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Postil

pytest.importorskip("sklearn")


def trained(folder: Path, decisions: Sequence[Decision], out: str | None = "screen", **options: Any) -> Any:
    write(folder / "decisions.jsonl", decisions)
    where = None if out is None else str(folder / out)
    return train_screen([str(folder / "decisions.jsonl")], where, ScreenTrainOptions(**options))


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screen")
    trained(folder, rows())
    return folder / "screen"


def test_a_screen_tells_what_is_held_and_why(screen: Path) -> None:
    opened = Screen.open(screen)
    kind, rude, spam = opened.judge(["we walked home in the rain", "you stupid liar", "buy cheap watches now"])
    assert (kind.decision, rude.decision, spam.decision) == ("keep", "hold", "hold")
    assert rude.reasons["insult"] > 0.5 > rude.reasons["spam"]
    assert spam.reasons["spam"] > 0.5 > spam.reasons["insult"]
    assert opened.attributes == {
        "TOXICITY": "hold but for spam and off topic",
        "INSULT": "insult",
        "SPAM": "spam",
    }
    assert rude.attributes["TOXICITY"] > 0.5 > spam.attributes["TOXICITY"]


def test_a_screen_holds_from_another_threshold(screen: Path, tmp_path: Path) -> None:
    kind = "we walked home in the rain"
    assert [Screen.open(screen).holding_from(each).judge([kind])[0].decision for each in (None, 0.0)] == [
        "keep",
        "hold",
    ]
    write(tmp_path / "texts.jsonl", [Decision(kind, "keep")])
    for threshold, held in ((None, "keep"), (0.0, "hold")):
        found = screen_file(str(tmp_path / "texts.jsonl"), ScreenOptions(model=str(screen), threshold=threshold))
        assert found.rows[0].decision == held
        assert found.threshold == (Screen.open(screen).threshold if threshold is None else threshold)


def test_the_share_of_texts_to_look_at_stands_beside_the_precision(tmp_path: Path) -> None:
    found = trained(tmp_path, rows())
    points = [replace(found.points[0], held=held, texts=801) for held in (177, 0)]
    grid = training(replace(found, points=(*points, replace(points[0], held=0, texts=0)))).grids[0].grid(typeset=False)
    assert [row[-1] for row in grid] == ["share", ".221", ".000", "-"]


def test_decisions_in_the_words_of_a_site(tmp_path: Path) -> None:
    lines = ["text,decision,reason"]
    for at, row in enumerate(rows()):
        word = " Approved" if row.decision == "keep" else ("trash", "hold")[at % 2] if row.reason != "spam" else "SPAM"
        lines.append(f'"{row.text}",{word},{"rude" if word == "trash" else ""}')
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines), encoding="utf-8")
    options = ScreenTrainOptions(hold="spam, trash", keep="approved")
    train_screen([str(table)], str(tmp_path / "screen"), options)
    found = read_decisions(Model.open(tmp_path / "screen"))
    assert found.held.tolist() == [row.decision == "hold" for row in rows()]
    assert found.reasons == ("rude", "spam")
    reasons = {None if at < 0 else found.reasons[at] for at, held in zip(found.reason, found.held, strict=True) if held}
    assert reasons == {"spam", "rude", None}
    with pytest.raises(InvalidInput, match=r"table.csv: decision: expected one of hold, keep, spam, got 'Approved' \("):
        train_screen([str(table)], str(tmp_path / "other"), ScreenTrainOptions(hold="spam"))
    for hold, keep, problem in (
        ("spam,", None, 'hold="spam,": expected words'),
        ("spam", " SPAM", 'keep="SPAM": this word means hold as well'),
    ):
        with pytest.raises(UsageError, match=problem):
            train_screen([str(table)], str(tmp_path / "other"), ScreenTrainOptions(hold=hold, keep=keep))
    with pytest.raises(UsageError, match='skip="new": this word means keep as well'):
        train_screen([str(table)], str(tmp_path / "other"), ScreenTrainOptions(keep="new", skip="new"))
    table.write_text("text,decision,date\nA text.,spam,2026-13-45\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"table.csv:2.*date"):
        train_screen([str(table)], str(tmp_path / "other"), ScreenTrainOptions(hold="spam"))


@pytest.mark.parametrize("name", ["d.csv", "d.json", "d.jsonl", "d.parquet"])
def test_rows_without_a_decision_and_words_that_are_none_are_left_out_and_counted(tmp_path: Path, name: str) -> None:
    found: list[dict[str, str | None]] = [
        {"text": row.text, "status": "Frei" if row.decision == "keep" else "Weg"} for row in rows()
    ]
    found += [{"text": f"undecided {at}", "status": None if at % 2 else " "} for at in range(12)]
    found += [{"text": "a new one", "status": "NEU"}]
    table = tmp_path / name
    if name == "d.csv":
        lines = [f"{row['text']},{row['status'] or ''}" for row in found]
        table.write_text("\n".join(["text,status", *lines]), encoding="utf-8")
    elif name == "d.parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(found), table)
    else:
        table.write_text(json.dumps(found) if name == "d.json" else "\n".join(map(json.dumps, found)))
    said: list[str] = []
    options, inputs = ScreenTrainOptions(hold="weg", keep="frei", skip="neu"), InputOptions(column=("decision=status",))
    made = train_screen([str(table)], str(tmp_path / "screen"), options, inputs, on_message=said.append)
    assert (made.decisions, made.held) == (300, 120)
    assert said[-1] == f"{table}: 12 rows without a decision, left out; 1 decision that skip names, left out"
    with pytest.raises(InvalidInput) as caught:
        train_screen([str(table)], str(tmp_path / "other"), ScreenTrainOptions(hold="weg"), inputs)
    assert caught.value.words(COMMAND_LINE) == (
        f"{table}: status: expected one of hold, keep, weg, got 'Frei' (180 rows) and 'NEU' (1 row); name each word in "
        "--hold WORDS, --keep WORDS or, where nobody decided, --skip WORDS"
    )


def test_cells_that_are_said_to_hold_no_value_are_no_decision(tmp_path: Path) -> None:
    lines = [f"{row.text},{row.decision}" for row in rows()]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["text,decision", *lines, "one,n/a", "two,"]), encoding="utf-8")
    said: list[str] = []
    inputs = InputOptions(missing=("n/a",))
    made = train_screen([str(table)], str(tmp_path / "s"), ScreenTrainOptions(), inputs, on_message=said.append)
    assert made.decisions == 300
    assert said[-1] == f"{table}: 2 rows without a decision, left out"


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.parquet", "d.xlsx"])
def test_words_for_none_among_reasons_and_authors_are_told_and_are_none_where_they_are_named(
    tmp_path: Path, name: str
) -> None:
    words = {"insult": "n/a", None: "-", "spam": "spam"}
    decisions = [replace(row, reason=words[row.reason], author="None") for row in rows()]
    write(tmp_path / name, decisions)
    said: list[str] = []
    args = ScreenTrainOptions(), InputOptions()
    found = train_screen([str(tmp_path / name)], str(tmp_path / "s"), *args, on_message=said.append)
    assert {one.name for one in found.reasons} == {"n/a", "spam"}
    reasons = "240 cells in reason are 'n/a' or '-', taken as texts; --missing n/a --missing - takes them as empty"
    authors = "300 cells in author are 'None', taken as texts; --missing None takes them as empty"
    assert [COMMAND_LINE.words(line) for line in said] == [f"{tmp_path / name}: {reasons}; {authors}"]
    named = InputOptions(missing=("n/a", "-", "None"))
    found = train_screen([str(tmp_path / name)], str(tmp_path / "t"), ScreenTrainOptions(), named)
    assert {one.name for one in found.reasons} == {"spam"}
    assert found.split == "text"  # as no author is known


def test_a_bad_date_and_unknown_words_are_told_at_once(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("text,Status,Datum\na,frei,02/01/2023\nb,weg,01.02.2023\nc,neu,", encoding="utf-8")
    inputs = InputOptions(column=("decision=Status", "date=Datum"))
    with pytest.raises(InvalidInput) as caught:
        train_screen([str(table)], str(tmp_path / "s"), ScreenTrainOptions(hold="weg"), inputs)
    assert str(caught.value).startswith(
        f"{table}: Status: expected one of hold, keep, weg, got 'frei' (1 row) and 'neu'"
    )
    assert "; and Datum in line 2: expected a date such as " in str(caught.value)


def test_what_a_text_is_told_does_not_depend_on_those_around_it(screen: Path) -> None:
    texts = ["we walked home in the rain", "you stupid liar", "", "😀" * 50, "\ud800 liar", "我们"]
    opened = Screen.open(screen)
    together = opened.probabilities(texts)
    assert np.isfinite(together).all()
    np.testing.assert_array_equal(together, np.concatenate([opened.probabilities([text]) for text in texts]))


def test_the_same_decisions_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = trained(tmp_path, rows(), "one"), trained(tmp_path, rows(), "two")
    assert first.to_json() == second.to_json()
    assert Model.open(tmp_path / "one").hash == Model.open(tmp_path / "two").hash


def test_a_folder_holds_no_text_and_no_id(tmp_path: Path) -> None:
    decisions = [*rows(), Decision("Zanzibarians complain", "keep", author="Zebedee", article="zephyr", id="zonk")]
    trained(tmp_path, decisions)
    content = b"".join(file.read_bytes() for file in (tmp_path / "screen").rglob("*") if file.is_file()).lower()
    for word in (b"zanzibar", b"zebedee", b"zephyr", b"zonk", b"watches"):
        assert word not in content


def test_dated_decisions_are_split_by_time_else_by_author_else_by_text(tmp_path: Path) -> None:
    assert trained(tmp_path, rows(), "a").split == "text"
    by_author = [
        Decision(row.text, row.decision, row.reason, author=f"author {at % 40}") for at, row in enumerate(rows())
    ]
    assert trained(tmp_path, by_author, "b").split == "author"
    dated = [
        Decision(row.text, row.decision, row.reason, date=f"2024-01-{1 + at // 12:02}", author="one")
        for at, row in enumerate(rows())
    ]
    found = trained(tmp_path, dated, "c")
    assert (found.split, found.decisions) == ("date", 300)
    assert found.predicted < 300  # the first part is for training alone


def test_an_update_learns_further_decisions_and_replaces_those_on_the_same_comments(tmp_path: Path) -> None:
    trained(tmp_path, rows(200))
    whole = trained(tmp_path, rows(300), "whole")
    again = trained(tmp_path, rows(300)[100:], None, update=str(tmp_path / "screen"))
    assert (again.decisions, again.auc) == (300, whole.auc)
    texts = ["we walked home", "you stupid liar"]
    np.testing.assert_allclose(
        Screen.open(tmp_path / "screen").probabilities(texts),
        Screen.open(tmp_path / "whole").probabilities(texts),
        rtol=1e-6,
    )
    changed = [Decision(row.text, "keep", article="a", id=row.id) for row in rows(300)[:1]]
    assert trained(tmp_path, changed, None, update=str(tmp_path / "screen")).held == whole.held - 1


def test_an_update_says_what_is_new(tmp_path: Path) -> None:
    trained(tmp_path, rows(200))
    write(tmp_path / "later.jsonl", rows(210)[195:])
    said: list[str] = []
    options = ScreenTrainOptions(update=str(tmp_path / "screen"))
    train_screen([str(tmp_path / "later.jsonl")], None, options, on_message=said.append)
    assert said == ["10 new decisions, 5 in place of earlier ones"]


def test_equal_texts_are_one_disagreement(tmp_path: Path) -> None:
    wrong = [Decision("You stupid liar", "keep", id=f"x{at}") for at in range(8)]
    told = [one.text for one in trained(tmp_path, [*rows(), *wrong]).disagreements if one.decision == "keep"]
    assert len(told) == len(set(told))
    assert "You stupid liar" in told


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
def test_disagreements_name_file_and_line_of_their_rows(tmp_path: Path, ending: str) -> None:
    wrong = [Decision("You stupid liar", "keep", id="x"), Decision("You moron", "keep")]
    blank = Decision(" ", "keep", id="b")
    write(tmp_path / f"first.{ending}", rows())
    write(tmp_path / f"second.{ending}", [blank, blank, *rows(20, start=300), *wrong])
    files = [str(tmp_path / f"{name}.{ending}") for name in ("first", "second")]
    found = train_screen(files, str(tmp_path / "screen"), ScreenTrainOptions())
    places = {one.text: one.row for one in found.disagreements}
    head = ending in {"csv", "xlsx"}  # which is a line
    assert places["You stupid liar"] == f"{files[1]}:{23 + head}"
    assert places["You moron"] == f"{files[1]}:{24 + head}"
    by_text = {row.text: int(row.id) for row in rows(320)}
    for text, place in places.items():
        if text in by_text and by_text[text] < 300:
            assert place == f"{files[0]}:{by_text[text] + 1 + head}"


def test_rows_that_are_skipped_count_for_the_lines_of_disagreements(tmp_path: Path) -> None:
    lines = [f"{row.decision},{row.id},{row.text}" for row in rows()]
    lines[50:50] = ["new,n,A new one", "keep,x,You stupid liar"]
    (tmp_path / "d.csv").write_text("\n".join(["decision,id,text", *lines]), encoding="utf-8")
    found = train_screen([str(tmp_path / "d.csv")], str(tmp_path / "screen"), ScreenTrainOptions(skip="new"))
    assert next(one.row for one in found.disagreements if one.id == "x") == f"{tmp_path / 'd.csv'}:53"


def test_disagreements_are_printed_whole_where_a_table_would_cut_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "You stupid liar, you moron and idiot, with more to say than a column of sixty characters holds"
    monkeypatch.chdir(tmp_path)
    write("decisions.jsonl", [*rows(), Decision(long, "keep", "a reason", id="x")])
    found = train_screen(["decisions.jsonl"], "screen", ScreenTrainOptions())
    narrow, wide = (show("table", found, width=width) for width in (80, 1000))
    told = next(one for one in found.disagreements if one.id == "x")
    words = " ".join(narrow.split())
    assert f"disagreement: {long} moderators keep · probability {told.probability:.3f}".replace("0.", ".") in words
    assert " decisions.jsonl:301 · x · a reason" in words
    assert max(map(len, narrow.partition("disagreement: ")[2].partition("\n\npredicted")[0].splitlines())) <= 80
    assert narrow.partition("disagreement: ")[0] == wide.partition("disagreement")[0]
    assert long not in wide
    assert long[:59] in wide
    assert long in show("markdown", found)


def test_the_command_to_go_on_with_reads_texts_as_the_decisions(postil: Postil) -> None:
    lines = [f"{row.decision};x;{row.id};{row.text};{row.reason or 'n/a'}" for row in rows()]
    Path("d.csv").write_text("\n".join(["status;text;nummer;Kommentar zum Artikel;reason", *lines]), "utf-16")
    columns = ("text=Kommentar zum Artikel", "decisions.id=nummer", "decision=status")
    read = [word for each in columns for word in ("--column", each)]
    read += ["--missing", "n/a", "--missing", "decisions=-", "--encoding", "decisions=utf-16", "--delimiter", ";"]
    done = postil("train", "screen", "d.csv", "--out", "my screen", *read)
    assert done.code == 0, done.err
    said = done.err.splitlines()[-1]
    assert said == (
        "screen in my screen; go on with: postil screen TEXTS --model 'my screen' "
        "--column 'text=Kommentar zum Artikel' --column id=nummer "
        "--encoding texts=utf-16 --delimiter ';' --missing n/a --missing texts=-"
    )
    _, *words = shlex.split(said.partition("go on with: ")[2])
    screened = postil(*("d.csv" if word == "TEXTS" else word for word in words), "--format", "jsonl")
    assert screened.code == 0, screened.err
    assert [(row["id"], row["text"]) for row in map(json.loads, screened.out.splitlines())] == [
        (row.id, row.text) for row in rows()
    ]


def test_of_reading_decisions_the_command_to_go_on_with_keeps_what_texts_have() -> None:
    inputs = InputOptions(sheet=("2024",), split=("train",), decimal=(",",), fill_down=True, quotes=False)
    command = screening_command("s", "http://127.0.0.1:9/v1", inputs)
    assert COMMAND_LINE.command(command) == (
        "postil screen TEXTS --model s --no-quotes --fill-down --encoder http://127.0.0.1:9/v1"
    )


def test_an_endpoint_that_a_screen_has_no_use_for_is_refused(screen: Path, tmp_path: Path) -> None:
    write(tmp_path / "texts.jsonl", rows()[:1])
    address = "http://127.0.0.1:9/v1"
    for ask in (
        lambda: screen_file(str(tmp_path / "texts.jsonl"), ScreenOptions(model=str(screen), encoder=address)),
        lambda: train_screen([], None, ScreenTrainOptions(update=str(screen), encoder=address)),
    ):
        with pytest.raises(UsageError, match="no encoder behind an endpoint"):
            ask()


def test_what_is_printed_says_why_a_threshold_is_one_half_and_a_reason_has_no_area(tmp_path: Path) -> None:
    found = trained(tmp_path, [*rows(), Decision("a rare one", "hold", "rare")], precision=0.6)
    shown = training(found)
    assert found.threshold == 0.5
    assert "texts are held from a probability of 0.50 on: " in shown.findings[0]
    assert any(remark.startswith("reasons without an AUC") for remark in shown.remarks)
    without = training(trained(tmp_path, rows(), "all-learned"))
    assert not any(remark.startswith("reasons without an AUC") for remark in without.remarks)


def test_the_line_on_the_threshold_names_the_precision_that_was_measured(tmp_path: Path) -> None:
    """The wanted precision has a row of its own, whichever it is."""
    mixed = [
        replace(row, decision="keep" if at % 7 == 0 else row.decision, reason=None) for at, row in enumerate(rows())
    ]
    dated = [replace(row, date=f"2024-01-{1 + at // 12:02}") for at, row in enumerate(mixed)]
    for decisions, others, name in ((mixed, "other", "a"), (dated, "later", "b")):
        found = trained(tmp_path, decisions, name, precision=0.83)
        assert [point.goal for point in found.points] == [0.5, 0.6, 0.7, 0.8, 0.83, 0.9, 0.95, 0.99]
        point = replace(found.points[4], threshold=0.7, precision=Estimate(value=0.8124, low=0.71, high=0.9))
        [first, second, *_] = training(replace(found, threshold=0.7, goal=0.83, points=(point,))).findings
        assert first == (
            "texts are held from a probability of 0.700 on, chosen for a precision of 0.83; "
            f"measured on {others} texts, it is 0.812 [0.710, 0.900]"
        )
        assert f"of {others} texts: " in second or "could take over none" in second


def test_reasons_with_few_texts_are_told_once_with_the_way_to_learn_without(tmp_path: Path) -> None:
    words = ("Ton", "pers\u00f6nlich", "OT", "doppelt")
    split = [
        replace(row, reason=words[at % 4] if row.reason == "insult" else row.reason) for at, row in enumerate(rows())
    ]
    shown = training(trained(tmp_path, split))
    [said] = [remark for remark in shown.remarks if "texts each" in remark]
    assert COMMAND_LINE.words(said) == (
        "4 reasons have fewer than 50 texts each, 60 together, and no probability of their own: write one word for "
        "those that are alike, or learn without reasons: --column reason="
    )
    assert not any(remark.startswith("reasons without an AUC") for remark in shown.remarks)


def test_what_is_printed_says_which_reasons_are_toxic(tmp_path: Path) -> None:
    found = trained(
        tmp_path, [replace(row, reason="Off-Topic" if row.reason == "spam" else row.reason) for row in rows()]
    )
    assert found.not_toxic == ("Off-Topic",)
    [said] = [finding for finding in training(found).findings if "TOXICITY leaves out" in finding]
    assert COMMAND_LINE.words(said) == (
        "of what is held, TOXICITY leaves out 'Off-Topic', and counts all others: 'insult'; --attribute "
        "TOXICITY=REASON names one reason instead"
    )
    other = trained(tmp_path, [replace(row, reason="Werbung" if row.reason else None) for row in rows()], "b")
    assert other.not_toxic == ()
    [said] = [finding for finding in training(other).findings if "TOXICITY leaves out" in finding]
    assert "no reason, as none is called spam or off topic, and counts all others: 'Werbung'; " in said
    for name, decisions, options in (
        ("c", rows(), {"attribute": ("TOXICITY=insult",)}),
        ("d", [replace(row, reason=None) for row in rows()], {}),
    ):
        shown = training(trained(tmp_path, decisions, name, **options))
        assert not any("TOXICITY leaves out" in finding for finding in shown.findings)


def test_languages_are_detected_in_some_of_many_texts_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DETECTED", 200)
    english = [
        replace(row, text=f"{row.text} because nobody has ever asked the people who live there") for row in rows()
    ]
    write(tmp_path / "d.jsonl", english)
    said: list[str] = []
    found = train_screen([str(tmp_path / "d.jsonl")], str(tmp_path / "s"), ScreenTrainOptions(), on_message=said.append)
    assert said == ["languages detected in 200 of 300 texts, evenly over the rows"]
    assert sum(one.texts for one in found.groups if one.by == "language") == 200
    assert any(
        remark.startswith("200 of 300 texts are in a language of the table; ") for remark in training(found).remarks
    )
    monkeypatch.setattr(module, "DETECTED", 300)
    whole = training(trained(tmp_path, english, "whole"))
    assert not any("language of the table" in remark for remark in whole.remarks)


def test_decisions_on_equal_texts_without_ids_are_all_kept(tmp_path: Path) -> None:
    plain = [Decision(row.text, row.decision, row.reason) for row in rows()]
    found = trained(tmp_path, [*plain, *[Decision("buy now", "hold", "spam")] * 20])
    assert found.decisions == 320


def test_what_was_erased_stays_out_of_an_update(tmp_path: Path) -> None:
    trained(tmp_path, rows(200))
    decisions = read_decisions(Model.open(tmp_path / "screen"))
    left = decisions.without(frozenset({comment_key("a", "3"), comment_key("b", "4")}))
    assert len(left) == 199
    assert len(decisions.without(frozenset({comment_key("a")}))) == 0


@pytest.mark.parametrize(
    ("decisions", "problem"),
    [
        (rows(20), "20 decisions, 8 to hold and 12 to keep: a screen needs at least 50"),
        ([row for row in rows() if row.decision == "keep"], "0 to hold and 180 to keep"),
        ([row for row in rows() if row.decision == "hold"], "120 to hold and 0 to keep"),
    ],
    ids=["few", "kept", "held"],
)
def test_too_few_decisions_and_those_of_one_kind_are_refused(
    tmp_path: Path, decisions: list[Decision], problem: str
) -> None:
    with pytest.raises(Undefined, match=problem):
        trained(tmp_path, decisions)
    assert not (tmp_path / "screen").exists()


def test_decisions_by_chance_give_no_screen(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    decisions = [
        Decision(" ".join(random.choice(NICE, 6)), "hold" if at % 2 else "keep", id=str(at)) for at in range(120)
    ]
    turned = [Decision(row.text, "keep" if row.decision == "hold" else "hold") for row in decisions]
    with pytest.raises(Undefined, match="cannot be told from what is kept"):
        trained(tmp_path, [*decisions, *turned])


def test_attributes_are_named_by_reasons_of_the_site(tmp_path: Path) -> None:
    found = trained(tmp_path, rows(), "a", attribute=("IDENTITY_ATTACK=insult",))
    assert found.attributes["IDENTITY_ATTACK"] == "insult"
    with pytest.raises(UnknownName, match="unknown reason 'insults'; did you mean 'insult'"):
        trained(tmp_path, rows(), "b", attribute=("IDENTITY_ATTACK=insults",))
    with pytest.raises(UnknownName, match="unknown attribute 'INSULTS'; did you mean 'INSULT'"):
        trained(tmp_path, rows(), "c", attribute=("INSULTS=insult",))
    with pytest.raises(UsageError, match="expected NAME=REASON"):
        trained(tmp_path, rows(), "d", attribute=("INSULT",))


def test_reasons_that_are_spam_alone_answer_no_toxicity(tmp_path: Path) -> None:
    decisions = [row for row in rows() if row.reason != "insult"]
    assert trained(tmp_path, decisions, "a").attributes == {"SPAM": "spam"}
    bare = [Decision(row.text, row.decision) for row in decisions]
    assert trained(tmp_path, bare, "b").attributes == {"TOXICITY": "hold"}


def test_texts_of_a_file_are_screened_in_order(screen: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in ({"text": "you stupid liar", "id": 7}, {"text": "we walked"}))
    )
    found = screen_file(str(tmp_path / "texts.jsonl"), ScreenOptions(model=str(screen)))
    assert [(row.id, row.decision) for row in found.rows] == [("7", "hold"), ("2", "keep")]
    strict = screen_file(str(tmp_path / "texts.jsonl"), ScreenOptions(model=str(screen), threshold=1.0))
    assert [row.decision for row in strict.rows] == ["keep", "keep"]


def test_texts_are_ordered_by_probability_and_keep_what_tells_which_they_are(screen: Path, tmp_path: Path) -> None:
    table = tmp_path / "texts.csv"
    table.write_text(
        "text,user,date,article\nwe walked home,,01/02/2023,\nyou stupid liar,[gone],,7\nwe walked home,ann,soon,\n"
    )
    inputs = InputOptions(column=("author=user",))
    found = screen_file(str(table), ScreenOptions(model=str(screen), sort=True), inputs)
    assert [(row.id, row.author, row.date, row.article) for row in found.rows] == [
        ("2", "[gone]", None, "7"),
        ("1", None, "01/02/2023", None),  # equal ones stay in their order
        ("3", "ann", "soon", None),
    ]
    assert str(show("csv", found)).splitlines()[0] == "id,probability,decision,reasons,text,article,author,date"
    [first, *_] = [json.loads(line) for line in show("jsonl", found).splitlines()]
    assert (first["id"], first["author"], first["date"], first["reasons"]["insult"] > 0.5) == (
        "2",
        "[gone]",
        None,
        True,
    )
    assert ScreeningResult.from_json(found.to_json()) == found
    assert "article" not in found.to_dict()["rows"][1]


def test_fields_of_other_kinds_are_not_carried_along(screen: Path, tmp_path: Path) -> None:
    row = {"text": "we walked home", "author": {"name": "ann"}, "date": ["2020"], "article": True}
    (tmp_path / "texts.jsonl").write_text(json.dumps(row))
    found = screen_file(str(tmp_path / "texts.jsonl"), ScreenOptions(model=str(screen)))
    assert set(json.loads(show("jsonl", found))) == {"id", "probability", "decision", "reasons", "text"}


def test_a_folder_that_is_no_screen_or_was_damaged_is_refused(screen: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such folder"):
        Screen.open(tmp_path / "nowhere")
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in screen.rglob("*"):
        if file.is_file():
            target = copy / file.relative_to(screen)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    (copy / "idf.npy").write_bytes((copy / "idf.npy").read_bytes()[:-4])
    with pytest.raises(InvalidInput, match=r"idf\.npy: expected \d+ bytes"):
        Screen.open(copy)


def test_nothing_to_learn_from_or_nowhere_to_write_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected files of decisions"):
        train_screen([], str(tmp_path / "a"), ScreenTrainOptions())
    with pytest.raises(UsageError, match="expected"):
        train_screen(["x.jsonl"], None, ScreenTrainOptions())


def test_of_many_decisions_some_are_predicted_and_all_are_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "COMPARED", 200)
    found = trained(tmp_path, rows(400))
    assert (found.decisions, found.predicted) == (400, 200)
    assert {one.name: one.texts for one in found.reasons} == {"spam": 80, "insult": 80}
    assert len(read_decisions(Model.open(tmp_path / "screen"))) == 400
