"""Hostile documents: repetitions of fragments in the places of each format, as long as one asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GROUPS", "documents"]

_SENTENCES: Final = "".join(
    f"<p>Rain fell on the {place} all day, and nobody went out.</p>" for place in ("town", "fen", "sea", "hills")
)
_PAGE: Final = f"<!DOCTYPE html><head><title>Rain</title>%s</head><body><article>{_SENTENCES}</article></body>"
_BODY: Final = f"<!DOCTYPE html><title>Rain</title><body><article>{_SENTENCES}%s</article></body>"
_FEED: Final = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>Rain</title>'
    "<item><title>Rain</title><description>%s</description></item></channel></rss>"
)
_MAIL: Final = (
    "From: <Saved by Blink>\nSubject: Rain\nMIME-Version: 1.0\n"
    'Content-Type: multipart/related; type="text/html"; boundary="b"\n\n%s'
)
_PART: Final = "--b\nContent-Type: text/html\nContent-Transfer-Encoding: {}\n\n<p>Rain.</p>%s\n--b--\n"
_LD: Final = _PAGE % "<script type='application/ld+json'>%s</script>"


def _units(text: str) -> list[str]:
    return text.split("¦")


GROUPS: Final = {
    "metas": [
        *(
            ("page.html", _PAGE % f"<meta {name} content='%s'>", unit)
            for name in ("name=author", "property=og:title", "name=date", "name=description", "name=keywords")
            for unit in ("[", "<!--", "<", "{'", "1 ", "2024-01-", "a b;", " to ", "&quot;", "http://", "\\u0041")
        ),
        ("page.html", _PAGE, "<meta name=author content='Ann Lee {}'>"),
        ("page.html", _PAGE, "<meta property=article:tag content='<!--{}'>"),
        ("page.html", _PAGE, "<link rel=canonical href='http://a.example/{}'>"),
    ],
    "json": [
        *(
            ("page.html", _LD, unit)
            for unit in (
                *("<!--", "<", "[", "{", '"', "\\", '"author":'),
                *('"author":"name', '"@type":["', '"@type":"WebPage",'),
                *('"headline":', '"datePublished":"', '"person""name"', "\\u0022author\\u0022:", '{"@graph":'),
            )
        ),
        *(
            ("page.html", _LD.replace("%s", f'[%s {{"@context":"https://schema.org","a":{end}}}]'), unit)
            for unit in (
                '{"@type":"Person","name":"Ann Lee{}"},',
                '{"headline":"<!--{}"},',
                '{"author":{"name":"A {}"}},',
            )
            for end in ("1", "")
        ),
    ],
    "marks": [
        ("page.html", _BODY, unit)
        for unit in _units(
            "<!--¦<!-- -->¦-->¦<!¦<?¦</¦<![CDATA[¦<¦>¦</p>¦</b>¦<p¦<p a='¦]]>¦&¦&#¦&amp¦&#x¦&lt;¦"
            "&#0;¦&a¦&#x110000;¦\0¦\ufffd¦e\u0301¦[1]¦[¦^"
        )
    ],
    "elements": [
        ("page.html", _BODY, unit)
        for unit in _units(
            "<table>¦<tr>¦<td>¦<table><tr><td>¦<table><tr><td>a</table>¦<tr><td>a¦<caption>¦<b>¦"
            "<i><b>¦<b></i>¦<a href=#a>¦<a href=#a>1</a>¦<span>¦<sup>¦<sup>1</sup>¦<font>¦<p>¦<p>a¦"
            "<div>¦<div>a¦<div></p>¦<form>¦<select>¦<option>¦<svg>¦<math>¦<br>¦<template>¦<script>¦"
            "<style>¦<textarea>¦<title>¦<li>¦<ul><li>¦<dl><dt>¦<h1>¦<h2>a¦<pre>¦<code>¦"
            "<blockquote>¦<article>¦<main>¦<aside>¦<figure>¦<img>¦<noscript>¦<iframe>¦<button>¦"
            "<ruby><rt>¦<section><h2>¦<time>¦<time datetime=2024-01-01>¦<q>¦<nav>¦"
            "<abbr class=published>¦<p itemprop=articleBody>a¦<span class=date>1¦<head>¦<body>¦"
            "<html>"
        )
    ],
    "attributes": [
        ("page.html", _BODY % f"<div {place}>a</div>", unit)
        for place in ("%s", "class='%s'", "style='%s'", "id='%s'", "title='%s'", "data-a='%s'")
        for unit in (" a{}=1", " a=", "=", "'", " comment", "display:", "-", " post-body", "&quot;", "\n")
    ]
    + [
        ("page.html", _BODY % f"<{element}='%s'>a</{element.split()[0]}>", unit)
        for element in ("a href", "img src", "time datetime")
        for unit in ("http://", "/", "2024-01-", "?a=", "#", "%2", ".a")
    ],
    "feed": [
        ("feed.xml", _FEED, unit)
        for unit in (
            *("&lt;", "&amp;", "&", "<", "<a>", "</a>", "<![CDATA["),
            *("<![CDATA[a]]>", "]]>", "<!--", "&lt;b&gt;", "&#"),
            *(
                "</description></item><item><title>a</title><description>b",
                "&lt;table&gt;",
                "&lt;!--",
                "&lt;p&gt;a",
                "\n",
            ),
        )
    ]
    + [
        ("feed.json", '{"version":"https://jsonfeed.org/version/1.1","title":"a","items":[%s]}', unit)
        for unit in (
            '{"id":"{}","content_html":"<p>a</p>"},',
            '{"id":"1","content_html":"<!--',
            "[",
            '{"a":',
            '"',
            "\\",
            "{",
        )
    ]
    + [
        ("feed.json", '{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_html":"%s"}]}', unit)
        for unit in ("<!--", "<b>", "&lt;", "\\u003c", "<table>")
    ],
    "markdown": [
        ("page.md", "# Rain\n\nRain fell on the town.\n\n%s", unit)
        for unit in (
            *("[", "]", "[a](", "![", "[a][", "[a]: ", "[^1]: a\n"),
            *("[^1]", "<", "<!--", "<a ", "</", "&", "&#", "\\"),
            *_units("*¦**¦_a_¦*a¦**a¦`¦``a¦```\n¦~~~\n¦$¦$$\n¦~~¦> ¦>\n¦- ¦- a\n"),
            *_units("1. a\n¦#¦# a\n¦|¦|a\n¦|-|\n¦| a | b |\n¦---\n¦===\n¦a\n---\n¦    a\n¦  \n"),
            *_units("http://a.a/¦www.¦a@b.c ¦:::¦::: a\n¦{¦{{¦{%¦{{ a }}¦{% a %}¦{% raw %}¦{#"),
            *_units("<div>\n¦</div>\n¦<details>¦: a\n¦a\n: b\n¦!!! a\n¦import a\n¦export a\n¦*[a]: b\n"),
            *("[ ](", "![a](b)", "[![", "((", "<!-- a -->", "{: .a}", "\t", "\n\n", "\\[", "<<", "-" * 3, "+", "="),
        )
    ],
    "wikitext": [
        ("page.wiki", "== Rain ==\nRain fell on the town.\n%s", unit)
        for unit in _units(
            "[[¦]]¦[[a|¦[[File:a|¦[[a]]¦[¦[http://a ¦{{¦}}¦{{a|¦{{a}}¦{{{¦{|\n¦|}\n¦{|\n|-\n| a\n¦"
            "{|\n|a\n|}\n¦|-\n¦''¦'''¦'''''¦'''a¦<ref>¦</ref>¦<ref>a</ref>¦<ref name=a/>¦<!--¦"
            "<nowiki>¦<math>¦<pre>¦<¦<b>¦==¦== a ==\n¦* ¦*a\n¦:¦;a:¦#¦&lt;¦&¦__TOC__¦~~~~¦----\n¦"
            "<gallery>¦<div>¦{{#if:¦-{¦}-¦#REDIRECT [[¦\n"
        )
    ],
    "plain": [
        ("page.txt", "Rain\n\nRain fell on the town.\n%s", unit)
        for unit in _units(
            "a¦A. ¦.¦..¦\n¦\r¦\x0c¦ ¦\t¦-\n¦a-\n¦1 ¦1\n¦1. a\n¦* a\n¦_a_¦*¦Fig. ¦e.g.¦“¦”¦\"¦'¦(¦)¦"
            "[¦[1]¦_¦=¦==\n¦--¦...¦. . ¦|¦| a |\n¦> a\n¦http://a¦@¦a@a.¦a.a¦。¦「¦…¦\xad¦\u200b¦\0¦"
            "a: b\n¦A\n\n¦                a\n¦*** START OF¦Page 1\n¦CHAPTER I\n¦Mr. ¦a \n¦\u2028¦<¦"
            "&¦©¦{{¦{%"
        )
    ],
    "saved": [
        *(
            ("page.mhtml", _MAIL % _PART.format(encoding), unit)
            for encoding in ("8bit", "quoted-printable", "base64")
            for unit in ("--b\n", "--", "=", "=\n", "=3D", "PGI+", "\n", "<!--", "<b>")
        ),
        *(
            ("page.mhtml", _MAIL, unit)
            for unit in (
                "--b\n",
                "--b\n\n",
                "--b\nContent-Type: text/html\n\n",
                "--b\nA: b\n",
                "--b\n A",
                "\n",
                "A: b\n",
            )
        ),
        *(
            ("page.mhtml", "MIME-Version: 1.0\n%s\n\n--b\n\n<p>a", unit)
            for unit in (
                "A: b\n",
                " a\n",
                "=?utf-8?q?",
                'Content-Type: multipart/related; boundary="',
                ";",
                '"',
                "(",
                "\\",
                "<",
            )
        ),
    ],
    "templates": [
        ("page.md", page, unit)
        for page in ("---\ntitle: Rain\n---\nRain fell on the town.\n%s", "---\n%s\n---\nRain fell.", "%s\nRain fell.")
        for unit in _units(
            "{{¦}}¦{%¦%}¦{% if a %}¦{% endif %}¦{% raw %}¦{{ a }}¦{{ a¦{% a¦{#¦#}¦{{'¦{{< a >}}¦"
            "{{< a¦{{% a %}}¦{{/*¦<%¦%>¦<%= a %>¦${¦{a}¦{a:¦{¦}¦<A>¦<A {a}/>¦import a from 'a'\n¦"
            "export const a = {¦import {a¦a: b\n¦- a\n¦a: [¦a: {¦&a ¦*a¦? ¦|\n"
        )
    ],
}
"""Name of a file, a page with a place, and what is repeated there, numbered at {}; by group."""


def documents(group: str, length: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield the documents of a group.

    Args:
        group: The group.
        length: Number of characters that are repeated in each.

    Returns:
        What is repeated and where, the name of the file and the document.
    """
    for name, page, unit in GROUPS[group]:
        times = length // len(unit)
        run = "".join(unit.replace("{}", str(k)) for k in range(times)) if "{}" in unit else unit * times
        yield f"{unit!a} in {ascii(page)[-120:]}", name, page.replace("%s", run).encode("utf-8", "replace")
