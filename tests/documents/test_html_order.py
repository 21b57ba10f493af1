"""Pages as browsers put them in order, and pages that are made to take long or to grow."""

from __future__ import annotations

import pytest
from lxml import html as lxml_html

from limited_child import unfinished
from postil.documents.html_tree import ATTRIBUTES, TAGS, in_order

HEADS = {
    "neither": "<!doctype html><title>Rain</title>",
    "head": "<!doctype html><html><head><meta charset=utf-8><title>Rain</title>",
    "html": "<!doctype html><html lang=en><meta name=a content=b><link rel=icon href=i><title>Rain</title>",
    "script": "<!doctype html><script>if (a<b) c('<p>')</script><style>p>a{}</style><!-- <p> --><title>Rain</title>",
}


@pytest.mark.parametrize("size", [0, TAGS], ids=["small", "large"])
@pytest.mark.parametrize("tag", ["article", "main", "section", "header", "aside", "div", "p", "custom-element", "b"])
@pytest.mark.parametrize("head", HEADS)
def test_a_page_without_tags_that_may_be_left_out_has_a_body(head: str, tag: str, size: int) -> None:
    page = in_order(f"{HEADS[head]}<{tag}>It rained on Ely.{'<br>' * size}</{tag}>")
    tree = lxml_html.document_fromstring(page)
    assert tree.findtext("head/title") == "Rain"
    assert [element.tag for element in tree.find("body")] == [tag]
    assert tree.find("body").text_content() == "It rained on Ely."


@pytest.mark.parametrize(
    "page", ["<body>x", "<frameset><frame>", "<html><head></head>x", "", " ", "x", "<!--", "<title>"]
)
def test_a_large_page_with_a_body_stays(page: str) -> None:
    whole = page + "<br>" * (TAGS + 1)
    assert in_order(whole).replace("</head><body>", "") == whole
    assert in_order(whole).count("<body>") <= 1


@pytest.mark.parametrize(
    ("page", "body"),
    [
        ("<table>a<tr><td>b</table>c", "a<table><tbody><tr><td>b</td></tr></tbody></table>c"),
        ("<p>a<p>b<ul><li>c<li>d</ul>", "<p>a</p><p>b</p><ul><li>c</li><li>d</li></ul>"),
        ("<p>a<b>b<p>c</b>d", "<p>a<b>b</b></p><p><b>c</b>d</p>"),
        ("<select><div>a</div></select>b", "<select><div>a</div></select>b"),
        ("a<template><p>b</template>c", "a<template><p>b</p></template>c"),
        ("a<noscript><p>b</noscript>", "a<noscript><p>b</p></noscript>"),
        ("a\ud800\u00adb&shy;", "a?\u00adb\u00ad"),
    ],
)
def test_the_body_is_as_browsers_have_it(page: str, body: str) -> None:
    assert in_order(page) == f"<html><head></head><body>{body}</body></html>"


def test_what_xhtml_closes_where_it_begins_holds_nothing() -> None:
    head = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
    page = in_order(
        f'{head}<script src="a/b.js" /><title>Rain</title></head><body><a id="a"/>It <i/>rained.<br/></body></html>'
    )
    tree = lxml_html.document_fromstring(page.partition("-->")[2])
    assert (tree.findtext("head/title"), tree.findtext("body/a"), tree.find("body").text_content()) == (
        "Rain",
        "",
        "It rained.",
    )
    assert in_order("<a href=http://ely.example/>Ely</a>").count("Ely</a>") == 1


def test_pages_that_are_made_to_take_long_or_to_grow() -> None:
    done = unfinished(
        f"""
from postil.documents.html_tree import in_order
many, few = 250_000, {TAGS} // 4
def styles(name, number): return "".join(f"<{{name}} id={{k}}>" for k in range(number))
pages = dict(
    deep="<div>" * many,
    deepest="<div>" * few * 3,
    styles=styles("b", few) + "<p>x" * few,
    anew="".join(f"<font color={{k}}><p>" for k in range(few)),
    quoted="".join(f"<font title='>' color={{k}}><p>" for k in range(few)),
    unquoted="".join(f"<font face=x' title='>' color={{k}}><p>" for k in range(few)),
    code="".join(f"<code class={{k}}><p>" for k in range(few)),
    links="".join(f"<a href={{k}}><div>" for k in range(few)) + "</a>" * few,
    closed="<b>" * few + "<div>" * few + "</b>" * few,
    items="<span>" * few + "<li>x" * few,
    ends="<span>" * few + "</i>" * few,
    table="<table>" + "x" * 1_000_000 + "<tr>y" * few,
    attributes="<p " + " ".join(f"a{{k}}" for k in range(many)) + ">",
    hidden="<p " + " ".join(f'a{{k}}=">"' for k in range(many)) + ">",
    bodies="".join(f"<body a{{k}}=1>" for k in range(many)),
    quotes="<a b='\\" " * many,
    spaces=("<a" + " " * 1000) * 990,
    tag="<a " * many,
    comment="<!--" * many,
    title="<title><" * many,
)
for name, page in pages.items():
    print(name, flush=True)
    assert len(in_order(page)) < 100 * len(page) < 1 << 31
"""
    )
    assert not done


def test_a_page_with_a_tag_of_many_attributes_is_read() -> None:
    attributes = " ".join(f"a{number}='>'" for number in range(2 * ATTRIBUTES))
    assert in_order(f"<title>Rain</title><main {attributes}>It rained.</main>").count("<body>") == 1
