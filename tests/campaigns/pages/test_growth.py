"""The lead's page with the texts of the campaign: revisions, balance, files with more texts."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from postil.campaigns.models import Item
from postil.campaigns.pages import lead as growth
from postil.campaigns.pages.site import LARGEST_UPLOAD

Make = Any
PATH = growth.UPLOADS


def rows(*made: tuple[str, str, str], name: str = "more.jsonl") -> tuple[str, bytes]:
    texts = [{"item": item, "system": system, "text": text} for item, system, text in made]
    return name, "".join(json.dumps(row) + "\n" for row in texts).encode()


def articles(*ids: str) -> tuple[str, bytes]:
    made = [{"id": one, "title": f"title {one}", "content": "Words.", "comments": []} for one in ids]
    return "articles.jsonl", "".join(json.dumps(row) + "\n" for row in made).encode()


def sent(lead: Any, **files: tuple[str, bytes]) -> Any:
    return lead.client.post(PATH, data={"csrf": lead.csrf}, files=files)


def token_of(page: str) -> str:
    found = re.search(r'name="token" value="(\w+)"', page)
    assert found
    return found[1]


@pytest.fixture
def lead(place: Make) -> Any:
    items = [Item(item=f"a{n // 2}", system=f"system-{n % 2}", text=f"text {n}") for n in range(4)]
    here = place(items)
    found = here.visitor("Lee", "lead")
    found.here = here
    return found


NEW = rows(("n1", "s", "one"), ("n1", "t", "two"), ("n2", "s", "three"))


def test_texts_are_shown_first_and_added_when_the_lead_says_so(lead: Any) -> None:
    store = lead.here.store
    preview = sent(lead, texts=NEW, articles=articles("n1", "n2"))
    assert preview.status_code == 200
    assert "New texts: 3." in preview.text
    assert len(store.items()) == 4
    page = lead.post(f"{PATH}/add", token=token_of(preview.text))
    assert "Texts added: 3." in page.text
    assert [item.text for item in store.items()][4:] == ["one", "two", "three"]
    assert 'scope="row"><bdi>2</bdi></th>' in page.text
    again = lead.post(f"{PATH}/add", token=token_of(preview.text))
    assert (again.status_code, "are not here any more" in again.text) == (404, True)
    change = store.state.changes()[-1]
    assert (change.kind, change.pseudonym, change.detail) == (
        "added",
        "lead 1",
        {"revision": 2, "items": 3, "known": 0},
    )
    assert "texts added: 3" in lead.get("/lead").text
    known = sent(lead, texts=NEW, articles=articles("n1", "n2"))
    assert "There is nothing to add." in known.text


def test_empty_texts_are_named_and_left_out(lead: Any) -> None:
    some = [("n1", "s", "one"), *(("n2", f"s{n}", " " * n) for n in range(6))]
    for lang, said in (("en", "Empty texts, which are left out: 6."), ("zh", "空文本（略去）：6。")):
        lead.client.headers["accept-language"] = lang
        preview = unescape(sent(lead, texts=rows(*some), articles=articles("n1", "n2")).text)
        assert said in preview
    assert "n2 的 s0, n2 的 s1, n2 的 s2, n2 的 s3, n2 的 s4, …" in preview
    lead.post(f"{PATH}/add", token=token_of(preview))
    assert [item.text for item in lead.here.store.items()][4:] == ["one"]
    alone = sent(lead, texts=rows(("n2", "s", "")), articles=articles("n2")).text
    assert "空文本（略去）：1。" in alone


def test_a_file_with_an_error_changes_nothing_and_is_named_as_the_lead_knows_it(lead: Any) -> None:
    for name, shown in (("../mine.jsonl", "mine.jsonl"), ("C:\\texts\\other file.jsonl", "other file.jsonl")):
        answer = sent(lead, texts=rows(("n1", "s", "one"), ("zz", "s", "x"), name=name), articles=articles("n1"))
        assert answer.status_code == 422
        assert f"</strong> {shown}:2: item: there is no article" in answer.text.replace("&#39;", "'")
    for strange in (("x.exe", b"MZ"), ("x.jsonl", b"\xff\xfe\x00"), ("x.jsonl", b""), ("x.xlsx", b"no workbook")):
        answer = sent(lead, texts=strange, articles=articles("n1"))
        assert answer.status_code == 422
        assert "Nothing was added." in answer.text
        assert "/tmp" not in answer.text  # noqa: S108
    assert "Choose a file with texts." in sent(lead, articles=articles("n1")).text
    assert "Choose a file with the articles of these texts, too." in sent(lead, texts=NEW).text
    assert len(lead.here.store.items()) == 4


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        (rows(("zz", "s", "x")), "there is no article 'zz' in articles.jsonl", "articles.jsonl 中没有文章“zz”"),
        (rows(("n1", "s", "x"), ("n1", "s", "x")), "two items with the name s and one text", "n1 有两个名为 s 的条目"),
        (
            ("x.jsonl", b'{"item": "n1"}'),
            "missing; a candidate needs item, system",
            "缺少；a candidate 需要 item",
        ),
        (("x.jsonl", b'{"item":'), "the JSON ends too early; is the line cut off?", "这一行是否被截断？"),
        (("x.jsonl", b"\xff\xfe\x00"), "the file is in UTF-16; save it as UTF-8", "请另存为 UTF-8"),
        (("x.jsonl", b""), "the file holds no rows", "文件中没有任何行"),
        (
            ("x.csv", b"item,system,tekst\nn1,s,x\n"),
            "did you mean 'tekst'? The file has",
            "是否为“tekst”？文件中有：",
        ),
        (("x.csv", b"item,system,text\nn1,s\n"), "expected 3 columns, got 2", "应有 3 列，得到 2 列"),
        (("x.exe", b"MZ"), "x.exe: unknown kind of file", "x.exe: 不认识的文件类型"),
        (("x.xlsx", b"no workbook"), "not a workbook of Excel", "不是 Excel（.xlsx）"),
    ],
)
def test_an_error_in_a_file_is_in_the_language_of_the_lead(
    lead: Any, texts: tuple[str, bytes], english: str, chinese: str
) -> None:
    for lang, said in (("en", english), ("zh", chinese)):
        lead.client.headers["accept-language"] = lang
        page = unescape(sent(lead, texts=texts, articles=articles("n1")).text)
        found = re.search(r'role="alert"><div><strong>[^<]*</strong>([^<]*)</div>', page)
        assert found
        assert said in found[1]
        assert not re.search("input_format|COLUMN|Content-Type", found[1])  # a page has no such settings


def test_only_leads_send_files_and_only_from_the_page(lead: Any) -> None:
    ann = lead.here.visitor("Ann")
    files = {"texts": NEW}
    assert ann.client.post(PATH, data={"csrf": ann.csrf}, files=files).status_code == 403
    assert lead.here.visitor().client.post(PATH, files=files).status_code == 401
    assert lead.client.post(PATH, data={"csrf": "x"}, files=files).status_code == 403
    large = {"texts": ("more.jsonl", b" " * 100_000)}
    assert ann.client.post(PATH, data={"csrf": ann.csrf}, files=large).status_code == 413
    assert sent(lead, **large).status_code == 422
    assert sent(lead, texts=("more.jsonl", b" " * LARGEST_UPLOAD)).status_code == 413
    assert lead.post("/lead/invite", name="x" * 100_000).status_code == 413
    form = "multipart/form-data"
    for body, kind in ((b"x", f"{form}; boundary=q"), (b"--q--", form), (b"", "text/plain")):
        answer = lead.client.post(PATH, content=body, headers={"content-type": kind})
        assert answer.status_code in {400, 415}


def test_somebody_elses_files_are_not_confirmed(lead: Any) -> None:
    token = token_of(sent(lead, texts=NEW, articles=articles("n1", "n2")).text)
    other = lead.here.visitor("Mo", "lead")
    assert other.post(f"{PATH}/add", token=token).status_code == 404
    assert lead.post(f"{PATH}/add", token="").status_code == 404
    assert len(lead.here.store.items()) == 4
