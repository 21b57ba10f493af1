"""Exports of sites and of the systems that hold their comments.

WordPress: WXR, which is RSS with posts as items and their comments inside. Disqus: threads, which are the articles, and
posts, which are the comments, in one XML file. Discourse: topics, as `/t/ID.json` gives them: the first post is the
article, the others are the comments. Coral (Talk 5 and later): stories and comments, as mongoexport writes its
collections `stories` and `comments`. Reddit: submissions and comments, in dumps of Pushshift and its successors, and
listings of its API. Hacker News: items of its API and of BigQuery, and those of Algolia, also as trees.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from postil.corpus.importers.article_builder import (
    EXPORTED,
    Threads,
    read_articles,
    read_threads,
    text_at,
)
from postil.corpus.importers.import_report import ImportReport, json_objects
from postil.corpus.importers.importer import EXPORTS, ExportOptions, Importer, Sign, articles_in
from postil.corpus.importers.verdicts import (
    GONE,
    KEPT,
    READERS,
    author,
    of_coral,
    of_discourse,
    of_disqus,
    of_hackernews,
    of_reddit,
    of_wordpress,
    plain,
    rejection,
)
from postil.data.explain import shown
from postil.data.fields import is_integer
from postil.documents.markup import html_text, unescaped
from postil.documents.xml import Element, elements
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.corpus.importers.import_report import Place
    from postil.corpus.importers.verdicts import Verdict
    from postil.data.parquet import Record
    from postil.data.rows import Article
    from postil.data.streams import FilePath

__all__ = [
    "IMPORTERS",
    "read_coral",
    "read_discourse",
    "read_disqus",
    "read_hackernews",
    "read_reddit",
    "read_wordpress",
    "without_quotes",
    "without_shortcodes",
]

Decided: TypeAlias = "tuple[Verdict, Callable[[], Record], str | None]"
"""The verdict on a comment, a function that makes its fields, and a text that only its author has."""
NO_DATE: Final = "0000-00-00 00:00:00"
MEDIA: Final = re.compile(r"(?<!\[)\[(embed|audio|video)\b[^\[\]]*\][^\[\]]{0,2000}\[/\1\]")
"""Shortcodes around an address, which is no text."""
EMBEDDED: Final = re.compile(r"^[ \t]*https?://\S+[ \t\r]*$", re.MULTILINE)
"""An address on a line of its own, in whose place WordPress shows a video or a post."""
SHORTCODE: Final = re.compile(r"""(?<!\[)\[(/?)([a-zA-Z][\w-]*)((?:[\s=][^\[\]]*)?)\](?![\](])""")
MARKED: Final = re.compile(r"""=["']|\bid=\d+|/\s*$""")
"""Marks of the attributes of a shortcode: quotes, a number as ``id``, or a slash at the end."""
KNOWN: Final = frozenset(("audio", "caption", "embed", "gallery", "playlist", "video", "wp_caption"))
"""Shortcodes of WordPress itself."""


def read_wordpress(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    """Read exports of WordPress.

    Posts that are published are articles, and so are pages and others with comments. Comments that wait, are spam or in
    the trash, and pingbacks are left out; names, addresses and IPs are not kept.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the articles; by default that of the site.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.

    >>> import pathlib, tempfile
    >>> export = '''<rss><channel><language>en-US</language><item><title>Rain</title><wp:post_id>7</wp:post_id>
    ... <wp:comment><wp:comment_id>1</wp:comment_id><wp:comment_content>Oh &amp;lt;3</wp:comment_content>
    ... <wp:comment_approved>1</wp:comment_approved></wp:comment></item></channel></rss>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "site.xml")).write_text(export)
    ...     [article] = read_wordpress([path])
    >>> article.id, article.lang, article.comments[0].text
    ('7', 'en-US', 'Oh <3')
    """
    yield from read_articles(paths, report, EXPORTED, partial(_items, lang))


def _items(lang: str | None, path: FilePath, report: ImportReport) -> Iterator[tuple[int, Record]]:
    site_lang = lang
    for element in elements(path, report, "rss", {"item", "language"}):
        if element.name == "language":
            site_lang = lang or element.text.strip() or None
            continue
        comments = [one for one in element.all("wp:comment") if _approved(one)]
        report.withheld += sum(1 for _ in element.all("wp:comment")) - len(comments)
        if _public(element):
            article = element.said("wp:post_id") or element.said("link") or None
            place = os.fspath(path), element.line
            _decide(_decided_of_wordpress(element), article, site_lang, place, report)
        if not _published(element, comments):
            report.unpublished += 1
            continue
        try:
            row = _post(element, comments, site_lang)
        except InvalidInput as error:
            report.refuse_at(error, os.fspath(path), element.line)
        else:
            yield element.line, row


def without_shortcodes(html: str) -> str:
    r"""The content of a post without its shortcodes and embedded addresses; what `caption` and the like enclose stays.

    A shortcode is one of WordPress, has an attribute in quotes or a number as `id`, ends with a slash, or is closed.
    Other words in brackets are text.

    Args:
        html: The content.

    >>> without_shortcodes('[caption id="a" width="9"]<img src="a.jpg"> A duck[/caption] Oh [sic]![gallery ids="1,2"]')
    '<img src="a.jpg"> A duck Oh [sic]!'
    >>> without_shortcodes("Look:\nhttps://tube.org/watch?v=1\nhttps://a.org is a page.")
    'Look:\n\nhttps://a.org is a page.'
    >>> without_shortcodes("Ducks [table id=4 /] and [poll id=7] geese [and so on / etc.]")
    'Ducks  and  geese [and so on / etc.]'
    """
    html = EMBEDDED.sub("", html)
    if "[" not in html:
        return html
    html = MEDIA.sub("", html)
    closed = {name for slash, name, _ in SHORTCODE.findall(html) if slash}

    def text(found: re.Match[str]) -> str:
        slash, name, attributes = found.groups()
        known = slash or name in KNOWN or name in closed or MARKED.search(attributes) is not None
        return "" if known else found.group()

    return SHORTCODE.sub(text, html)


def _approved(comment: Element) -> bool:
    return comment.said("wp:comment_approved") == "1" and comment.said("wp:comment_type") in READERS


def _published(item: Element, comments: Sequence[Element]) -> bool:
    return _public(item) and (item.said("wp:post_type") in {"", "post"} or bool(comments))


def _public(item: Element) -> bool:
    return item.said("wp:status") in {"", "publish"} and not item.said("wp:post_password")


def _without_spam(report: ImportReport) -> str | None:
    """Remark on decisions that lack spam."""
    if report.decisions is None or report.decisions.held["spam"]:
        return None
    return "no comment is spam: WordPress leaves spam out of its exports, unless a plug-in keeps it in"


def _decided_of_wordpress(item: Element) -> Iterator[Decided]:
    for comment in item.all("wp:comment"):
        user, mail = comment.said("wp:comment_user_id"), comment.said("wp:comment_author_email").lower()
        person = author(id=None if user == "0" else user, mail=mail, name=comment.said("wp:comment_author"))
        yield of_wordpress(comment), partial(_comment_of_post, comment), person


def _decide(
    found: Iterable[Decided], article: str | None, lang: str | None, place: Place, report: ImportReport
) -> None:
    """Hand on the decisions on the comments of an article, where they are wanted."""
    if (decisions := report.decisions) is None:
        return
    for verdict, comment, person in found:
        try:
            decisions.add(verdict, comment, article=article, author=person, lang=lang)
        except InvalidInput as error:
            report.refuse_at(error, *place)


def _post(item: Element, comments: Sequence[Element], lang: str | None) -> Record:
    categories = (html_text(each.text) for each in item.all("category") if each.attributes.get("domain") == "category")
    return {
        "id": item.said("wp:post_id") or None,
        "title": html_text(item.said("title")),
        "content": html_text(without_shortcodes(item.said("content:encoded")), lines=True) or None,
        "category": next(filter(None, categories), None),
        "lang": lang,
        "url": item.said("link") or None,
        "date": _date(item.said("wp:post_date_gmt")),
        "comments": list(map(_comment_of_post, comments)),
    }


def _comment_of_post(comment: Element) -> Record:
    parent = comment.said("wp:comment_parent")
    return {
        "id": comment.said("wp:comment_id") or None,
        "text": html_text(comment.said("wp:comment_content"), quotes=False, lines=True),
        "date": _date(comment.said("wp:comment_date_gmt")),
        "parent": None if parent == "0" else parent or None,
    }


def _date(text: str) -> str | None:
    return None if text == NO_DATE else text


ID: Final = "dsq:id"


def read_disqus(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    """Read exports of Disqus.

    They hold titles and addresses of articles, but not their contents, and no votes. Posts that are deleted or spam are
    left out; names, addresses and IPs are not kept.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the articles.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> export = '''<disqus><thread dsq:id="1"><link>https://site.org/rain</link><title>Rain</title></thread>
    ... <post dsq:id="5"><message>&lt;p&gt;Oh&lt;/p&gt;</message>
    ... <thread dsq:id="1"/><parent dsq:id="4"/></post></disqus>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "disqus.xml")).write_text(export)
    ...     [article] = read_disqus([path])
    >>> article.title, article.comments[0].text, article.comments[0].parent
    ('Rain', 'Oh', '4')
    """
    yield from read_threads(paths, report or ImportReport(), lang, _add_post, _posts)


def _posts(path: FilePath, report: ImportReport) -> Iterator[tuple[int, Element]]:
    for element in elements(path, report, "disqus", {"thread", "post"}):
        yield element.line, element


def _add_post(element: Element, where: str, line: int, threads: Threads) -> None:
    name = element.attributes.get(ID, "")
    if not name:
        raise InvalidInput(f"expected the id of a {element.name}, got none", field=ID)
    if "true" in {element.said("isDeleted"), element.said("isSpam")}:
        threads.report.unpublished += element.name == "thread"
        if element.name == "post":
            threads.report.withheld += 1
            _decide_disqus(element, name, threads)
    elif element.name == "thread":
        row = {
            "id": name,
            "title": html_text(element.said("title")),
            "content": html_text(element.said("message")) or None,
            "url": element.said("link") or None,
            "date": element.said("createdAt"),
        }
        threads.add_article(row, where, line)
    else:
        article, parent = _reference(element, "thread"), _reference(element, "parent")
        if article is None:
            raise InvalidInput("expected the id of the post's thread, got none", field=f"thread.{ID}")
        _decide_disqus(element, name, threads)
        threads.add_comment(
            _comment_of_thread(element, name, parent), where, line, name=name, above=parent, article=article
        )


def _comment_of_thread(element: Element, name: str, parent: str | None = None) -> Record:
    return {
        "id": name,
        "text": html_text(element.said("message"), quotes=False),
        "date": element.said("createdAt"),
        "parent": parent,
    }


def _decide_disqus(post: Element, name: str, threads: Threads) -> None:
    by, article = post.first("author"), _reference(post, "thread")
    person = author(user=by.said("username"), mail=by.said("email").lower(), name=by.said("name")) if by else None
    make = partial(_comment_of_thread, post, name)
    threads.decide(of_disqus(post), make, name=name, author=person, article=article)


def _reference(element: Element, name: str) -> str | None:
    child = element.first(name)
    return child.attributes.get(ID) or None if child else None


LIKE: Final = 2
"""Number of the action `like` in the summary of a post's actions."""


def read_discourse(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    """Read topics of Discourse.

    Likes are upvotes. Posts that are deleted or hidden, notes of moderators and whispers are left out; names are not
    kept. Posts that a topic names and does not hold, since a page of it has 20, are counted.

    Args:
        paths: The files: a topic each, an array of topics, or a topic per line.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the topics.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.

    >>> import pathlib, tempfile
    >>> posts = '{"id": 1, "post_number": 1, "cooked": "<p>It will.</p>"}, {"id": 2, "post_number": 2, "cooked": "Oh"}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "7.json")
    ...     _ = path.write_text(f'{{"id": 7, "title": "Rain", "post_stream": {{"posts": [{posts}]}}}}')
    ...     [article] = read_discourse([path])
    >>> article.content, article.comments[0].text
    ('It will.', 'Oh')
    """
    yield from read_articles(paths, report, EXPORTED.mapped(lang=lang), partial(_topics, lang))


def _topics(lang: str | None, path: FilePath, report: ImportReport) -> Iterator[tuple[int, Record]]:
    for line, topic in json_objects(path, report):
        try:
            row = _topic(topic, report)
        except InvalidInput as error:
            report.refuse_at(error, os.fspath(path), line)
        else:
            _decide(_decided_of_topic(topic), text_at(topic, "id"), lang, (os.fspath(path), line), report)
            yield line, row


def _decided_of_topic(topic: Record) -> Iterator[Decided]:
    stream = cast("dict[str, list[Record]]", topic["post_stream"])  # the topic was read before
    for post in stream["posts"]:
        if post.get("post_number") != 1:
            person = author(id=post.get("user_id"), name=post.get("username"))
            yield of_discourse(post), partial(_comment_of_topic, post, {}), person


def _topic(topic: Record, report: ImportReport) -> Record:
    stream = topic.get("post_stream")
    posts = stream.get("posts") if isinstance(stream, dict) else None
    if not isinstance(stream, dict) or not isinstance(posts, list) or not all(isinstance(post, dict) for post in posts):
        raise InvalidInput("expected a topic with an array of posts", field="post_stream.posts")
    named = stream.get("stream")
    held = {post.get("id") for post in posts if _is_id(post.get("id"))}
    report.absent += sum(_is_id(name) and name not in held for name in named) if isinstance(named, list) else 0
    ids = {post.get("post_number"): text_at(post, "id") for post in posts if _is_id(post.get("post_number"))}
    first = next((post for post in posts if post.get("post_number") == 1), None)
    answers = [post for post in posts if post is not first and of_discourse(post) is KEPT]
    report.withheld += len(posts) - len(answers) - (first is not None)
    return {
        "id": text_at(topic, "id"),
        "title": html_text(text_at(topic, "title") or ""),
        "content": html_text(text_at(first, "cooked", "raw") or "") or None
        if first and of_discourse(first) is KEPT
        else None,
        "category": text_at(topic, "category_id"),
        "date": text_at(topic, "created_at"),
        "comments": [_comment_of_topic(post, ids) for post in answers],
    }


def _comment_of_topic(post: Record, ids: dict[object, str | None]) -> Record:
    answered = post.get("reply_to_post_number")
    text = text_at(post, "cooked", "raw")
    if text is None:
        raise InvalidInput(f"missing in post {shown(post.get('id'))}", field="cooked")
    return {
        "id": text_at(post, "id"),
        "text": html_text(text, quotes=False),
        "upvotes": _likes(post.get("actions_summary")),
        "date": text_at(post, "created_at"),
        "parent": ids.get(answered) if _is_id(answered) and answered != 1 else None,
    }


def _likes(actions: object) -> object:
    """Likes of a post; a summary leaves out what nobody did."""
    if not isinstance(actions, list):
        return None
    likes = (each.get("count") for each in actions if isinstance(each, dict) and each.get("id") == LIKE)
    return next(likes, None) or 0


def _is_id(value: object) -> bool:
    return isinstance(value, str | int)


def read_coral(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read stories and comments of Coral.

    Stories have a title and an address, but no content. Reactions are upvotes, and the last revision of a comment is
    its text. Comments that are neither approved nor without a status are left out; people's ids are not kept.

    Args:
        paths: The files, of stories, of comments or of both, in any order.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the stories.

    Yields:
        The articles, in the order of the stories.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> story = '{"id": "s", "url": "https://site.org/rain", "metadata": {"title": "Rain"}}'
    >>> comment = '{"id": "c", "storyID": "s", "status": "NONE", "revisions": [{"body": "<div>Oh</div>"}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "coral.json")).write_text(f"{story}\n{comment}")
    ...     [article] = read_coral([path])
    >>> article.title, article.comments[0].text
    ('Rain', 'Oh')
    """
    yield from read_threads(paths, report or ImportReport(), lang, _add_coral, json_objects)


def _add_coral(row: Record, where: str, line: int, threads: Threads) -> None:
    name = text_at(row, "id", "_id")
    if name is None:
        raise InvalidInput("missing", field="id")
    article, of_action = text_at(row, "storyID"), text_at(row, "commentID")
    if of_action is not None:
        if reason := rejection(row):
            threads.add_reason(of_action, reason)
        return
    if article is None:
        threads.add_article(_story(row, name), where, line)
        return
    verdict, make = of_coral(row), partial(_comment_of_story, row, name)
    threads.decide(verdict, make, name=name, author=author(id=row.get("authorID")), article=article)
    if verdict is KEPT:
        parent = text_at(row, "parentID")
        threads.add_comment(make(parent), where, line, name=name, above=parent, article=article)
    else:
        threads.report.withheld += 1


def _story(row: Record, name: str) -> Record:
    said = row.get("metadata")
    metadata: Record = said if isinstance(said, dict) else {}
    return {
        "id": name,
        "title": html_text(text_at(metadata, "title") or ""),
        "category": html_text(text_at(metadata, "section") or "") or None,
        "url": text_at(row, "url"),
        "date": plain(metadata.get("publishedAt")) or plain(row.get("createdAt")),
    }


def _comment_of_story(row: Record, name: str, parent: str | None = None) -> Record:
    revisions = row.get("revisions")
    last = revisions[-1] if isinstance(revisions, list) and revisions else None
    body = text_at(last, "body") if isinstance(last, dict) else None
    if body is None:
        raise InvalidInput("expected an array with the text of the comment", field="revisions[-1].body")
    counts = row.get("actionCounts")
    upvotes = plain(counts.get("REACTION", 0)) if isinstance(counts, dict) else None
    return {
        "id": name,
        "text": html_text(body, quotes=False),
        "upvotes": upvotes,
        "date": plain(row.get("createdAt")),
        "parent": parent,
    }


REDDIT: Final = "https://www.reddit.com"
AUTOMATIC: Final = "AutoModerator"
LISTING: Final = "Listing"
OF_COMMENTS, OF_SUBMISSIONS = "t1_", "t3_"
"""Prefixes of ids."""


def read_reddit(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read submissions and comments of Reddit.

    The score is the upvotes, and the subreddit the category. Comments that were deleted or removed are left out, as are
    those of moderators as such (distinguished, pinned, AutoModerator) and lines that quote (`>`); names are not kept.
    Other Markdown stays.

    A listing is what an address that ends in ``.json`` gives: posts, or a post and its comments, with the replies
    inside. Comments that it names but does not hold are counted.

    Args:
        paths: The files, of submissions, of comments or of both, in any order; they may be compressed with Zstandard.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the submissions.

    Yields:
        The articles, in the order of the submissions.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: A file is compressed with Zstandard, which is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> post = '{"id": "a1", "title": "Rain", "selftext": "", "subreddit": "weather"}'
    >>> comment = '{"id": "c1", "body": "&gt; Rain\\n\\nOh", "link_id": "t3_a1", "parent_id": "t3_a1", "score": 3}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "reddit.jsonl")).write_text(f"{post}\n{comment}")
    ...     [article] = read_reddit([path])
    >>> article.category, article.comments[0].text, article.comments[0].upvotes
    ('weather', 'Oh', 3)
    """
    yield from read_threads(paths, report or ImportReport(), lang, _add_reddit, json_objects)


def _add_reddit(row: Record, where: str, line: int, threads: Threads) -> None:
    """Add an object of a dump, or all in a listing."""
    things: list[object] = [row]
    while things:  # and no recursion, as replies may be a thousand deep
        thing = things.pop()
        if not isinstance(thing, dict):
            raise InvalidInput(f"expected an object with kind and data, got {shown(thing)}", field="children")
        kind, data = thing.get("kind"), thing.get("data")
        if isinstance(data, dict) and kind == LISTING:
            children = data.get("children")
            if not isinstance(children, list):
                raise InvalidInput(f"expected an array, got {shown(children)}", field="data.children")
            things += reversed(children)
        elif isinstance(data, dict) and kind == "more":
            count = data.get("count")
            threads.report.absent += count if is_integer(count) else 1
        else:
            one = data if isinstance(data, dict) and isinstance(kind, str) else thing
            _add_one(one, where, line, threads)
            replies = one.get("replies")
            if isinstance(replies, dict):
                things.append(replies)


def _add_one(row: Record, where: str, line: int, threads: Threads) -> None:
    name = text_at(row, "id")
    if name is None:
        raise InvalidInput("missing", field="id")
    body, link = text_at(row, "body"), text_at(row, "link_id")
    if link is None:
        _add_submission(row, name, where, line, threads)
        return
    if body is None:
        raise InvalidInput("missing", field="body")
    if _is_of_moderators(row):
        threads.report.withheld += 1
        return
    article, by = link.removeprefix(OF_SUBMISSIONS), row.get("author")
    make, person = partial(_comment_of_submission, row, name, body), author(name=None if by in GONE else by)
    threads.decide(of_reddit(row, body.strip()), make, name=name, author=person, article=article)
    if body.strip() in GONE:
        threads.report.withheld += 1
    else:
        above = text_at(row, "parent_id") or ""
        parent = above.removeprefix(OF_COMMENTS) if above.startswith(OF_COMMENTS) else None
        threads.add_comment(make(parent), where, line, name=name, above=parent, article=article)


def _comment_of_submission(row: Record, name: str, body: str, parent: str | None = None) -> Record:
    return {
        "id": name,
        "text": without_quotes(unescaped(body)),
        "upvotes": row.get("score"),
        "date": row.get("created_utc"),
        "parent": parent,
    }


def _is_of_moderators(row: Record) -> bool:
    """True if a comment is an announcement: of a moderator as such, of an admin, of AutoModerator, or pinned."""
    return bool(row.get("distinguished") or row.get("stickied")) or row.get("author") == AUTOMATIC


def _add_submission(row: Record, name: str, where: str, line: int, threads: Threads) -> None:
    title, text, path = text_at(row, "title"), text_at(row, "selftext"), text_at(row, "permalink")
    if title is None:
        raise InvalidInput("missing; expected a submission, or a comment with link_id", field="title")
    fields = {
        "id": name,
        "title": unescaped(title),
        "content": unescaped(text).strip() or None if text and text.strip() not in GONE else None,
        "category": text_at(row, "subreddit"),
        "url": f"{REDDIT}{path}" if path else (text_at(row, "url") or "").replace("&amp;", "&") or None,
        "date": row.get("created_utc"),
    }
    threads.add_article(fields, where, line)


def without_quotes(text: str) -> str:
    r"""A text without the lines that quote another one, and without those that are empty.

    Args:
        text: The text, in which such lines begin with ``>``.

    >>> without_quotes("> It will rain.\n\nNo.\n> Snow?\nYes.")
    'No.\nYes.'
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(">"))


HACKERNEWS: Final = "https://news.ycombinator.com/item?id="
ARTICLES: Final = ("story", "job", "poll")


def read_hackernews(
    paths: Sequence[FilePath], report: ImportReport | None = None, *, lang: str | None = None
) -> Iterator[Article]:
    r"""Read stories and comments of Hacker News.

    A comment belongs to the story that its answers lead up to. Comments have no votes. Items that are deleted or dead
    are left out, as are lines that quote (`>`) and items that are null; names are not kept.

    Args:
        paths: The files, with an item per line or an array of items, in any order.
        report: Counts; what is broken is rejected, by default raised.
        lang: Language of the stories.

    Yields:
        The articles, in the order of the stories.

    Raises:
        InvalidInput: Something in a file is broken; says where.
        MissingExtra: lxml is not installed.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> items = ['{"id": 3, "type": "comment", "parent": 2, "text": "Yes"}', '{"id": 2, "type": "comment", "parent": 1,'
    ...     '"text": "Oh<p>no"}', '{"id": 1, "type": "story", "title": "Rain"}']
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "items.jsonl")).write_text("\n".join(items))
    ...     [story] = read_hackernews([path])
    >>> [(comment.text, comment.parent) for comment in story.comments]
    [('Yes', '2'), ('Oh\nno', None)]
    """
    yield from read_threads(paths, report or ImportReport(), lang, _add_items, json_objects)


def _add_items(item: Record, where: str, line: int, threads: Threads) -> None:
    waiting = [item]
    while waiting:
        one = waiting.pop()
        try:
            _add_hackernews(one, where, line, threads)
        except InvalidInput as error:
            threads.report.refuse_at(error, where, line)
        children = one.get("children")
        if isinstance(children, list):  # Algolia's lists of hits have numbers there
            waiting += [child for child in reversed(children) if isinstance(child, dict)]


def _add_hackernews(item: Record, where: str, line: int, threads: Threads) -> None:
    name = text_at(item, "id", "objectID")
    if name is None:
        raise InvalidInput("missing", field="id or objectID")
    hidden = bool(item.get("deleted") or item.get("dead"))
    above, kind = text_at(item, "parent", "parent_id"), text_at(item, "type")
    date = text_at(item, "created_at_i", "time", "created_at")
    if kind is None:
        kind = "story" if above is None else "comment"
    if kind in ARTICLES:
        if hidden:
            threads.report.unpublished += 1
            return
        row = {
            "id": name,
            "title": html_text(text_at(item, "title") or ""),
            "content": html_text(text_at(item, "text", "story_text") or "") or None,
            "category": None if kind == "story" else kind,
            "url": text_at(item, "url") or f"{HACKERNEWS}{name}",
            "date": date,
        }
        threads.add_article(row, where, line)
    elif kind != "comment":
        threads.report.unpublished += 1
    elif above is None:
        raise InvalidInput(f"missing in comment {shown(name)}; what does it answer?", field="parent")
    else:
        threads.report.withheld += hidden
        article = text_at(item, "story_id")
        said = text_at(item, "text", "comment_text") or ""
        text = without_quotes(html_text(said, quotes=False))
        fields = {"id": name, "text": text, "upvotes": item.get("points"), "date": date}
        fields["parent"] = None if above == article else above
        verdict, person = of_hackernews(item, said), author(name=item.get("by") or item.get("author"))
        threads.decide(verdict, lambda: fields, name=name, author=person, above=above, article=article)
        threads.add_comment(None if hidden else fields, where, line, name=name, above=above, article=article)


ITEMS: Final = frozenset(("story", "comment", "job", "poll", "pollopt"))
"""Types of the items of Hacker News."""


def _is_hackernews(row: Mapping[str, object]) -> bool:
    return "objectID" in row or bool(
        (kind := row.get("type")).__class__ is str
        and kind in ITEMS
        and row.keys() & {"by", "time", "kids", "parent", "children"}
    )


def _fields(*names: str) -> frozenset[str]:
    return frozenset(names)


IMPORTERS: Final = (
    Importer(
        "wordpress",
        """Exports of WordPress: posts with their approved comments.

        The files are those of Tools, Export; names and addresses of people are not kept.

        Example: postil corpus import wordpress site.xml --out articles.jsonl
        """,
        ExportOptions,
        articles_in(read_wordpress, _without_spam),
        EXPORTS,
        sign=Sign(head=re.compile(r"<rss\b[^>]{0,2000}\bxmlns:wp=")),
        job="Exports of sites",
    ),
    Importer(
        "disqus",
        """Exports of Disqus: threads with their posts.

        They have titles of articles, but no contents, and no votes.

        Example: postil corpus import disqus disqus.xml.gz --out articles.jsonl
        """,
        ExportOptions,
        articles_in(read_disqus),
        EXPORTS,
        sign=Sign(head=re.compile(r"<disqus\b")),
        job="Exports of sites",
    ),
    Importer(
        "discourse",
        """Topics of Discourse, as /t/ID.json gives them.

        The first post is the article; likes are upvotes.

        Example: postil corpus import discourse topics.jsonl --out articles.jsonl
        """,
        ExportOptions,
        articles_in(read_discourse),
        EXPORTS,
        sign=Sign(fields=(_fields("post_stream"),)),
        job="Exports of sites",
    ),
    Importer(
        "coral",
        """Stories and comments of Coral, as mongoexport writes them.

        The files hold stories, comments or both; reactions are upvotes.

        Example: postil corpus import coral stories.json comments.json --out articles.jsonl
        """,
        ExportOptions,
        articles_in(read_coral),
        EXPORTS,
        sign=Sign(fields=(_fields("storyID"), _fields("metadata", "url", "id"), _fields("revisions", "id"))),
        job="Exports of sites",
    ),
    Importer(
        "reddit",
        """Submissions and comments of Reddit, as in the dumps of Pushshift or listings of its API.

        The files hold submissions, comments or both; the score is the upvotes.

        Example: postil corpus import reddit submissions.zst comments.zst --out articles.jsonl
        """,
        ExportOptions,
        articles_in(read_reddit),
        EXPORTS,
        sign=Sign(
            fields=(_fields("link_id", "body"), _fields("subreddit"), _fields("selftext"), _fields("kind", "data"))
        ),
        job="Exports of sites",
    ),
    Importer(
        "hackernews",
        """Stories and comments of Hacker News.

        Items of its API, of BigQuery or of Algolia, in any order; comments have no votes.

        Example: postil corpus import hackernews items.jsonl --out articles.jsonl
        """,
        ExportOptions,
        articles_in(read_hackernews),
        EXPORTS,
        sign=Sign(test=_is_hackernews),
        job="Exports of sites",
    ),
)
