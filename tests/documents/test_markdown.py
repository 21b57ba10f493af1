"""Texts in Markdown as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.documents.readers.markdown import read_markdown

if TYPE_CHECKING:
    from postil.documents.document import Document


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text_of(block)) for block in document.blocks]


BLOG = """---
title: "Why I stopped measuring rain"
date: 2021-05-04T10:00:00Z
lang: en-GB
tags: [rain, gauges]
---

# Rain

[![Build](https://x.example/b.svg)](https://x.example)

- [The gauge](#the-gauge)
- [The numbers](#the-numbers) and more

## The *gauge*

I bought a **rain gauge** for `£4.50`, and it outlived two cars.[^1] It
has survived a [storm](https://x.example/g "of 2011"), <b>twice</b>.<br>Twice!

![The gauge in snow](gauge.jpg)

> [!NOTE]
> It rains every day.

```python
print(gauge.read())
```

| Year | mm |
|------|---:|
| 2009 | **612** |

1. The wettest day was in 2012.
   - Not the driest.
- [x] Buy a gauge

<script>alert("rain")</script>

<div class=x><p>Written <i>by hand</i> &amp; in HTML.</p><p>Twice.</p><style>p {}</style></div>

A line with <script>alert("rain")</script> a script.

$$ E = m c^2 $$

Figure 1: The gauge.

[^1]: Both were small cars.
    One was red.
[^two words]: is none.

## References

- Smith. Rain.
"""


def test_a_blog_post() -> None:
    document = read_markdown(BLOG, "rain.md")
    assert (document.title, document.lang, document.date) == ("Why I stopped measuring rain", "en-GB", "2021-05-04")
    assert kinds(document) == [
        ("heading", "Rain"),
        ("caption", "Build"),
        ("contents", "The gauge"),
        ("item", "The numbers and more"),
        ("heading", "The gauge"),
        (
            "paragraph",
            "I bought a rain gauge for £4.50, and it outlived two cars. It\nhas survived a storm, twice.\nTwice!",
        ),
        ("caption", "The gauge in snow"),
        ("quote", "It rains every day."),
        ("code", "print(gauge.read())"),
        ("table", "Year\tmm\n2009\t612"),
        ("item", "The wettest day was in 2012."),
        ("item", "Not the driest."),
        ("item", "Buy a gauge"),
        ("paragraph", "Written by hand & in HTML."),
        ("paragraph", "Twice."),
        ("paragraph", "A line with a script."),
        ("code", "$$ E = m c^2 $$"),
        ("caption", "Figure 1: The gauge."),
        ("note", "Both were small cars.\nOne was red.\n[^two words]: is none."),
        ("heading", "References"),
        ("note", "Smith. Rain."),
    ]
    assert [block.level for block in document.blocks if block.kind in {"heading", "item"}] == [1, 1, 2, 1, 2, 1, 2]


@pytest.mark.parametrize(
    ("front", "title", "lang", "date"),
    [
        ("---\nTitle: Rain: a life\n---\n", "Rain: a life", None, None),
        ("---\r\nlang: 'de'\r\n...\r\n", "Ely", "de", None),
        ('+++\ntitle = "Rain"\ndate = 1931-02-03\n+++\n', "Rain", None, "1931-02-03"),
        ("---\nlang: not a language\ndate: yesterday\n---\n", "Ely", None, None),
        ("", "Ely", None, None),
    ],
)
def test_front_matter(front: str, title: str, lang: str | None, date: str | None) -> None:
    document = read_markdown(f"{front}# Ely\n\nIt rained.\n", "rain.md")
    assert (document.title, document.lang, document.date) == (title, lang, date)
    assert document.text == "Ely\n\nIt rained."


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    assert (
        read_markdown("---\n\nIt rained all day.\n\n---\n\nNobody left.", "a.md").text
        == "It rained all day.\n\nNobody left."
    )


@pytest.mark.parametrize(
    "part", ["[", "![", "<", "*a", "_", "`", "> ", "- ", "[^1]: ", "<script>", "<!--", "\\", "&", "|", "$$"]
)
def test_a_run_of_marks_takes_no_time_to_speak_of(part: str) -> None:
    document = read_markdown("It rained all day.\n\n" + part * 100_000, "a.md")
    assert document.text.startswith("It rained all day.")


def test_nested_quotes_and_lists_of_any_depth() -> None:
    text = "".join("  " * depth + f"- Level {depth} of the list.\n" for depth in range(60))
    assert "Level 7 of the list." in read_markdown(text, "a.md").text
    assert "It rained." in read_markdown("> " * 15 + "It rained.", "a.md").text
