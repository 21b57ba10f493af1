"""From exports of real comments in the shapes of WordPress and Disqus to a screen, in three commands."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner

from postil.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytest.importorskip("sklearn")

DATA: Final = (
    Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "moderated"
    / "youtube_spam.en.jsonl.gz"
)
Row = dict[str, Any]


def comments() -> list[Row]:
    if not DATA.exists():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def plain(text: str) -> str:
    """Text that a file of XML can hold, as it stands in one of HTML."""
    return escape(escape(re.sub(r"[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text), quote=False))


def wordpress(rows: Sequence[Row]) -> str:
    items = []
    for article, inside in groupby(rows, key=lambda row: row["article"]):
        written = "".join(
            f"<wp:comment><wp:comment_id>{number}</wp:comment_id><wp:comment_author>{row['author']}</wp:comment_author>"
            f"<wp:comment_author_email>{row['author']}@site.example</wp:comment_author_email>"
            f"<wp:comment_date_gmt>{row['date'][:19].replace('T', ' ')}</wp:comment_date_gmt>"
            f"<wp:comment_content>{plain(row['text'])}</wp:comment_content>"
            f"<wp:comment_approved>{'spam' if row['decision'] == 'hold' else 1}</wp:comment_approved></wp:comment>"
            for number, row in enumerate(inside, 1000 * (len(items) + 1))
        )
        items.append(f"<item><title>Video {article}</title><wp:post_id>{article}</wp:post_id>{written}</item>")
    head = '<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><language>en</language>'
    return f"{head}{''.join(items)}</channel></rss>"


def disqus(rows: Sequence[Row]) -> str:
    articles = sorted({row["article"] for row in rows})
    threads = "".join(f'<thread dsq:id="{name}"><title>Video {name}</title></thread>' for name in articles)
    posts = "".join(
        f'<post dsq:id="{number}"><message>{plain(row["text"])}</message><createdAt>{row["date"][:19]}Z</createdAt>'
        f"<isSpam>{str(row['decision'] == 'hold').lower()}</isSpam>"
        f"<author><name>{row['author']}</name><username>{row['author']}</username></author>"
        f'<thread dsq:id="{row["article"]}"/></post>'
        for number, row in enumerate(rows, 1000)
    )
    return f'<disqus xmlns:dsq="http://disqus.com/disqus-internals">{threads}{posts}</disqus>'


def postil(*words: str) -> str:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(("name", "export"), [("wordpress", wordpress), ("disqus", disqus)])
def test_an_export_with_spam_becomes_a_screen_in_three_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, export: Callable[[Sequence[Row]], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = comments()
    videos = sorted({row["article"] for row in rows})
    known = [row for row in rows if row["article"] != videos[-1]]
    others = [row for row in rows if row["article"] == videos[-1]]
    Path("export.xml").write_text(export(known), encoding="utf-8")
    Path("new.jsonl").write_text("".join(json.dumps({"text": row["text"]}) + "\n" for row in others), encoding="utf-8")

    postil("corpus", "import", name, "export.xml", "--out", "articles.jsonl", "--decisions", "decisions.jsonl")
    trained = json.loads(postil("train", "screen", "decisions.jsonl", "--out", "screen", "--format", "json"))
    found = list(csv.DictReader(postil("screen", "new.jsonl", "--model", "screen", "--format", "csv").splitlines()))

    assert (trained["split"], trained["held"]) == ("date", sum(row["decision"] == "hold" for row in known))
    assert trained["auc"]["value"] > 0.95
    assert len(found) == len(others)
    right = [(each["decision"] == row["decision"]) for each, row in zip(found, others, strict=True)]
    assert sum(right) / len(right) > 0.85  # half of them are spam
