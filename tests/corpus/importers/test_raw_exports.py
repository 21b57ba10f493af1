"""Exports that are told by their beginning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from postil.corpus.importers.raw_exports import import_of

if TYPE_CHECKING:
    from conftest import Lines

ROW = {"id": 1, "title": "Rain", "comments": [{"id": "c1", "text": "Oh"}]}
EXPORTS = [
    ("a.xml.gz", '<?xml version="1.0"?>\n<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/">', "wordpress"),
    ("a.xml", '<disqus xmlns="http://disqus.com">', "disqus"),
    ("a.xml", "<rss>", None),
    ("a.jsonl", '{"id": "a1", "title": "Rain", "selftext": "", "subreddit": "weather"}', "reddit"),
    ("a.json", '[{"kind": "Listing", "data": {"children": []}}]', "reddit"),
    ("a.jsonl.gz", '{"id": "c1", "body": "Oh", "link_id": "t3_a1"}', "reddit"),
    ("a.json", '{\n "id": 7,\n "post_stream": {"posts": []}}', "discourse"),
    ("a.jsonl", '{"id": "s", "url": "https://ely.example", "metadata": {"title": "Rain"}}', "coral"),
    ("a.jsonl", '{"id": "c", "storyID": "s", "revisions": []}', "coral"),
    ("a.jsonl", 'null\n{"id": 3, "type": "story", "by": "ann", "title": "Rain"}', "hackernews"),
    ("a.jsonl", '{"objectID": "4", "comment_text": "Yes"}', "hackernews"),
    ("a.json", '{"_id": "y1", "title": "Rain", "paras": ["Rain."], "cmts": [{"cmt": "Oh"}]}', "deepcom"),
    ("a.json", '{"channel": "nba", "comment": [["Oh", 9]], "title": "Rain", "url": "x"}', "tencent"),
    ("a.json", '{"id": 7, "title": "明天 有 雨", "body": "带 伞", "comment": [["好 的", 3]]}', "tokenized"),
    ("a.jsonl", '{"id": 1, "title": "Rain", "comments": [{"body": "Oh"}]}', "forum"),
    ("a.json", '[{"id": 1, "title": "Rain", "body": "x", "comments": [["Oh", "ann"]]}]', "forum"),
    ("a.jsonl", '{"id": 1, "headline": "Rain", "replies": [{"id": 1, "text": "Oh"}]}', "forum"),
    ("a.jsonl", json.dumps(ROW), None),
    ("a.jsonl", json.dumps({**ROW, "comments": []}), None),
    ("a.jsonl", f"{json.dumps({**ROW, 'subreddit': 'weather', 'type': 'story'})}", None),
    ("a.jsonl", f'{{"id": 1, "title": "Rain", "comments": [{{}}]}}\n{json.dumps(ROW)}', None),
    ("a.csv", "id,title,text", None),
    ("a.jsonl", "not JSON", None),
    ("a.jsonl.gz", b"", None),
]


@pytest.mark.parametrize(("name", "text", "kind"), EXPORTS)
def test_the_import_of_an_export(lines: Lines, name: str, text: str, kind: str | None) -> None:
    assert import_of(lines(name, text)) == kind


def test_damaged_files_are_of_no_import(lines: Lines) -> None:
    path = lines("a.jsonl", "x")
    path.write_bytes(b"\x1f\x8b\x08 no gzip")
    assert import_of(path) is None
