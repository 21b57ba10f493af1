"""Erased comments are out of a screen: it is what it would have been without them, and an update keeps them out."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import postil
from postil.cli.main import app
from postil.corpus.forgotten import comment_key
from postil.data.model_folders import Model
from postil.data.row_files import write
from postil.data.rows import Article, Comment, Decision
from postil.endpoint.cache import AnswerCache
from postil.erasure.calls import find_comments, forget_while_served
from postil.erasure.models import AlsoServed, ServedModels
from postil.results.views import view_of
from postil.screening.model import read_decisions
from postil.screening.options import ScreenTrainOptions
from postil.screening.training import train_screen
from postil.service.config import ServiceConfig
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Sequence

pytest.importorskip("sklearn")

NICE = ("the", "bus", "was", "late", "we", "walked", "home", "in", "rain", "with", "coat", "and", "bread", "baker")
RUDE = ("idiot", "moron", "stupid", "liar")


def decisions(n: int = 200) -> list[Decision]:
    """Decisions on four articles; every third comment is held."""
    random, found = np.random.default_rng(3), []
    for at in range(n):
        held = at % 3 == 0
        words = [*random.choice(NICE, 8), *(random.choice(RUDE, 2) if held else ())]
        kind, reason = ("hold", "insult") if held else ("keep", None)
        found.append(Decision(f"{' '.join(words)} {at}", kind, reason, article=f"a{at % 4}", id=f"c{at}"))  # type: ignore[arg-type]
    return found


def train(rows: Sequence[Decision], out: str | None, **options: Any) -> Any:
    write("rows.jsonl", rows)
    return train_screen(["rows.jsonl"], out, ScreenTrainOptions(**options))


def forget(*names: str, models: Sequence[str] = ("screen",), **options: Any) -> Any:
    return postil.forget(models, postil.ForgetOptions(comments=names, **options))


def files(folder: str) -> dict[str, bytes]:
    return {f"{file}": file.read_bytes() for file in sorted(Path(folder).rglob("*")) if file.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screens")
    write(folder / "rows.jsonl", decisions())
    train_screen([str(folder / "rows.jsonl")], str(folder / "screen"), ScreenTrainOptions())
    return folder / "screen"


@pytest.fixture(autouse=True)
def site(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path / "screen")
    monkeypatch.chdir(tmp_path)


def test_a_screen_becomes_what_it_had_been_without_the_comments() -> None:
    found = forget("a3:c3", "a0:c4")
    (one,) = found.folders
    assert (one.content, one.comments, one.articles, one.network) == ("screen", 2, 0, False)
    assert one.hash != one.hash_before
    assert "screen: learned again without 2 decisions" in list(view_of(found).remarks)
    Model.open("screen").verify()
    train([row for row in decisions() if row.id not in {"c3", "c4"}], "never")
    never, left = (
        {name.partition("/")[2]: data for name, data in files(folder).items()} for folder in ("never", "screen")
    )
    assert {name for name in never if never[name] != left[name]} == {"metadata.json"}


def test_an_article_goes_with_all_its_decisions() -> None:
    (one,) = postil.forget(["screen"], postil.ForgetOptions(articles=("a1",))).folders
    assert (one.comments, one.articles) == (50, 1)
    assert comment_key("a1") not in {key.tobytes().hex() for key in read_decisions(Model.open("screen")).keys[:, 16:]}


def test_an_update_keeps_out_what_was_erased_and_the_record_names_nothing() -> None:
    forget("a3:c3")
    text = Path("screen/metadata.json").read_text()
    (record,) = json.loads(text)["forgotten"]
    assert record["comments"] == 1
    assert comment_key("a3", "c3") in record["keys"]
    assert '"c3"' not in text
    again = train(decisions(), None, update="screen")
    assert again.decisions == 199
    assert len(json.loads(Path("screen/metadata.json").read_text())["forgotten"]) == 1


def test_a_dry_run_tells_what_would_go_and_changes_nothing() -> None:
    before = files(".")
    found = forget("a3:c3", dry_run=True)
    assert found.folders[0].comments == 1
    assert "decisions/keys.npy" in found.folders[0].files
    assert files(".") == before


def test_forgetting_twice_changes_nothing() -> None:
    forget("a3:c3")
    before = files("screen")
    assert forget("a3:c3").folders[0].comments == 0
    assert files("screen") == before


def test_decisions_without_an_article_are_known_by_the_id_of_the_comment() -> None:
    rows = decisions()
    train([*rows, Decision("nobody knows where", "keep", id="lost")], "other")
    assert forget(":lost", models=["other"], dry_run=True).folders[0].comments == 1
    corpus_of(Path(), [Article("a9", "Rain", (Comment("lost", "Nobody knows where."), Comment("x", "So.")))], 0)
    found = forget("a9:lost", models=["other"], corpora=("corpus",))
    assert [(one.content, one.comments) for one in found.folders] == [("corpus", 1), ("screen", 1)]


def test_a_comment_that_the_corpus_alone_has_is_kept_out_of_the_screen_later() -> None:
    corpus_of(Path(), [Article("a9", "Rain", (Comment("c1", "It rains."), Comment("c2", "So.")))], 0)
    hash_before = Model.open("screen").hash
    assert [one.comments for one in forget("a9:c1", corpora=("corpus",)).folders] == [1, 0]
    assert Model.open("screen").hash == hash_before
    later = [*decisions(), Decision("It rains.", "keep", article="a9", id="c1")]
    assert train(later, None, update="screen").decisions == 200


def test_too_few_decisions_left_are_refused_before_anything_is_changed() -> None:
    train(decisions(60), "small")
    names = tuple(f"a{at % 4}:c{at}" for at in range(20))
    before = files(".")
    for dry_run in (True, False):
        with pytest.raises(
            postil.UsageError,
            match=r"small: without 20 of its 60 decisions no screen can be learned; remove the folder",
        ):
            forget(*names, models=["screen", "small"], dry_run=dry_run)
    assert files(".") == before


def test_an_attribute_whose_reason_becomes_rare_is_no_longer_answered() -> None:
    train(decisions(155), "named", attribute=("THREAT=insult",))  # 52 insults
    forget("a0:c0", "a3:c3", "a2:c6", models=["named"])
    assert "THREAT" not in Model.open("named").config["attributes"]
    assert json.loads(Path("named/metadata.json").read_text())["options"]["attributes"] == {}


def test_a_screen_that_is_served_is_refused_but_for_its_own_service() -> None:
    served = ServedModels(None)
    with closing(served):
        with served.moving_to(ServiceConfig(screens={"site": "screen"}).kept):
            pass
        with pytest.raises(AlsoServed, match=r"screen: a service that runs serves it"):
            forget("a3:c3")
        options = postil.ForgetOptions(comments=("a3:c3",))
        chosen, texts = find_comments(["screen"], options, "")
        assert (chosen.has("a3", "c3"), texts) == (True, ())
        assert forget_while_served(["screen"], options, "", chosen).folders[0].comments == 1
    assert len(read_decisions(Model.open("screen"))) == 199


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("screen", "--comment", "a0:nope"), "no comment 'a0:nope' in the folders"),
        (("screen", "--article", "zz"), "no article 'zz' in screen; nothing was changed"),
        (("screen", "--cache", "answers", "--comment", "a0:c0"), "texts of comments are needed"),
    ],
)
def test_what_cannot_be_forgotten(words: tuple[str, ...], problem: str) -> None:
    with AnswerCache("answers"):
        pass
    before = files("screen")
    done = CliRunner().invoke(app, ["forget", *words])
    assert done.exit_code != 0
    assert problem in done.stderr
    assert files("screen") == before
