"""A made-up export of a WordPress site, to try `postil corpus import wordpress` with.

The site is the newsletter of a small town: posts on its buses, library, pool, market and the like, with comments,
replies, spam, pending comments, pingbacks, drafts, pictures and shortcodes, as *Tools, Export* writes them. The same
seed writes the same file. Run it with::

    python examples/wordpress_export.py site.xml
    postil corpus import wordpress site.xml --out articles.jsonl
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

SITE: Final = "https://newsletter.example"
START: Final = datetime(2021, 1, 4, 8, 0)  # noqa: DTZ001 - dates of the export are in UTC, and written without it
DATE: Final = "%Y-%m-%d %H:%M:%S"
NAMES: Final = ("Ana", "Ben", "Cleo", "Dora", "Emil", "Faye", "Gus", "Hana", "Ivo", "Jude", "Kim", "Lars")


@dataclass(frozen=True)
class Topic:
    """Topic of a part of the posts.

    Args:
        name: The category.
        things: Things that a post is about.
        news: Beginnings of a title, before the thing.
        details: Facts of the body and of comments.
        wishes: What readers want.
        memories: What readers remember.
    """

    name: str
    things: tuple[str, ...]
    news: tuple[str, ...]
    details: tuple[str, ...]
    wishes: tuple[str, ...]
    memories: tuple[str, ...]


TOPICS: Final = (
    Topic(
        "Transport",
        ("the night bus", "bus line 7", "the bus to the station", "the school bus"),
        ("More trips for", "New timetable for", "Strike stops", "Free rides on"),
        ("twenty minutes of waiting", "a ticket at two euros", "a stop at the hospital", "drivers from the depot"),
        ("a shelter at the last stop", "a bus after midnight", "one ticket for the whole county", "low floors"),
        ("The driver once waited for me in the snow.", "I missed my train three times last winter."),
    ),
    Topic(
        "Library",
        ("the library", "the reading room", "the book bus", "the children's library"),
        ("Longer hours for", "New roof over", "Volunteers run", "Fewer books in"),
        ("four thousand loans a month", "a quiet room with six desks", "no fines for late books", "Sunday opening"),
        ("more audio books", "the newspapers back on the shelf", "desks with sockets", "a late evening for workers"),
        ("My daughter learned to read there.", "The librarian found me a map of our street from 1911."),
    ),
    Topic(
        "Pool",
        ("the outdoor pool", "the swimming hall", "the paddling pool", "the diving tower"),
        ("Repairs close", "Season ticket for", "Warm water in", "Early swim at"),
        ("cracked tiles in the deep end", "water at 24 degrees", "three lifeguards a shift", "a season of five months"),
        ("lanes for slow swimmers", "showers that stay warm", "a ladder at the shallow end", "swimming lessons in May"),
        ("We jumped from the tower every summer.", "I taught both my boys to swim in that water."),
    ),
    Topic(
        "Market",
        ("the farmers' market", "the flea market", "the Christmas market", "the market hall"),
        ("More stalls at", "Higher rents for", "Rain empties", "New square for"),
        (
            "forty stalls on a Saturday",
            "cheese from the valley",
            "rents of thirty euros a stall",
            "parking in the lane",
        ),
        ("fewer burger vans", "a tap for drinking water", "stalls that open at seven", "more bread and less plastic"),
        ("The egg woman has known me since I was six.", "We bought our first table there."),
    ),
    Topic(
        "Cycling",
        ("the bicycle lane", "the cycle path by the river", "the bike park", "the bridge for bicycles"),
        ("Gravel covers", "Green light for", "Parked vans block", "Lamps along"),
        ("two metres of width", "a kerb that nobody lowered", "six hundred riders a day", "glass after every match"),
        (
            "a railing on the bend",
            "sweeping in the autumn",
            "stands with a roof",
            "a lane that does not end at the church",
        ),
        ("A door opened in front of me last May.", "I ride there with a trailer and two children."),
    ),
    Topic(
        "Gardens",
        ("the allotments", "the rose garden", "the old orchard", "the school garden"),
        ("Waiting list for", "Frost damages", "Water meters for", "Open day in"),
        (
            "ninety plots behind the railway",
            "apples that nobody picks",
            "a well of eleven metres",
            "slugs after the rain",
        ),
        ("shared tools in the shed", "compost from the town", "benches in the shade", "a hedge instead of the fence"),
        ("My grandfather grafted the tree by the gate.", "We swapped seedlings over that fence for years."),
    ),
)
PARAGRAPHS: Final = (
    (
        "<strong>{thing}</strong> was the first item on the council's list this week. After an hour, and "
        "<em>{one}</em>, the members put off their decision."
    ),
    (
        "The report of the administration names {two} and {three}. Readers who wrote to us want {wish} &amp; an answer "
        "before the holidays."
    ),
)
OPENINGS: Final = (
    "I have lived here for {years} years and {thing} was never this much talked about.",
    "{thing} matters to people without much money, and the council knows it.",
    "Good news about {thing}, and it took them {years} months.",
    "Nobody asked those of us who use {thing} every week.",
    "I wrote to the council about {thing} in the spring and got a letter of two lines.",
    "My neighbor and I argue about {thing} over the fence.",
    "It is always {thing} that has to save, is it not?",
    "Finally somebody writes about {thing} as it is.",
)
SENTENCES: Final = (
    "What {thing} needs is {wish}.",
    "{memory}",
    "With {detail}, I am not surprised.",
    "Give us {wish} and people will come.",
    "{detail} sounds fine on paper, but go and look on a Monday morning.",
    "Who counted {detail}?",
    "{wish} would cost less than the consultants did.",
    "I would rather pay for {wish} than for another study.",
    "They promised {wish} before the last election as well.",
    "Compare that with {detail} in the next town.",
)
THANKS: Final = ("First!", "Thanks for writing this up.", "Agreed.", "Well said, as always.")
REPLIES: Final = ("You are right about {wish}.", "But {detail} costs money too.", "It was the same before: {memory}")


def sentence(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]


class Export:
    """Writer of an export.

    Args:
        seed: Seed of what is drawn.
    """

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)  # noqa: S311 - no secret
        self._comments = 0

    def text(self, posts: int) -> str:
        """The export as XML.

        Args:
            posts: Number of published posts.
        """
        items = [self._post(number) for number in range(1, posts + 1)]
        page = {"title": "Imprint", "type": "page", "status": "publish", "date": f"{START:{DATE}}"}
        picture = {"title": "p4.jpg", "type": "attachment", "status": "inherit", "date": f"{START:{DATE}}"}
        items += [item(9001, page, "<p>The newsletter association</p>"), item(9002, picture)]
        items += [self._post(number, status="draft") for number in range(9010, 9013)]
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"'
        names = ' xmlns:content="http://purl.org/rss/1.0/modules/content/">\n<channel>\n<title>The Newsletter</title>'
        return f"{head}{names}\n<link>{SITE}</link><language>en-GB</language>\n{''.join(items)}</channel>\n</rss>\n"

    def _post(self, number: int, status: str = "publish") -> str:
        topic = self._draw.choice(TOPICS)
        thing = self._draw.choice(topic.things)
        date = START + timedelta(hours=41 * number)
        title = f"{self._draw.choice(topic.news)} {thing}"
        one, two, three = self._draw.sample(topic.details, 3)
        paragraphs = [
            text.format(thing=sentence(thing), wish=self._draw.choice(topic.wishes), one=one, two=two, three=three)
            for text in PARAGRAPHS
        ]
        blocks = [f"<!-- wp:paragraph -->\n<p>{each}</p>\n<!-- /wp:paragraph -->" for each in paragraphs]
        if number % 4 == 0:
            blocks.insert(1, f'[caption id="a{number}" width="640"]<img src="p{number}.jpg" /> {title}[/caption]')
        if number % 9 == 0:
            blocks.append('[gallery ids="11,12,13"]')
        comments = self._thread(topic, thing, date) if status == "publish" else ""
        fields = {"title": title, "type": "post", "status": status, "date": f"{date:{DATE}}", "category": topic.name}
        return item(number, fields, "\n\n".join(blocks), comments)

    def _thread(self, topic: Topic, thing: str, date: datetime) -> str:
        written, ids = [], list[int]()
        for _ in range(self._draw.choice((0, 1, 3, 4, 4, 5, 6, 6, 8, 9, 12))):
            date += timedelta(minutes=self._draw.randrange(5, 900))
            parent = self._draw.choice(ids) if ids and self._draw.random() < 0.25 else 0
            text = self._said(topic, thing, reply=parent != 0)
            ids.append(self._comments + 1)
            written.append(self._comment(text, date, parent))
        if self._draw.random() < 0.2:
            written.append(self._comment('Cheap watches <a href="http://spam.example">here</a>', date, approved="spam"))
        if self._draw.random() < 0.1:
            written.append(self._comment("Is this on?", date, approved="0"))
        if self._draw.random() < 0.1:
            written.append(self._comment("[&#8230;] more on this [&#8230;]", date, kind="pingback"))
        return "".join(written)

    def _said(self, topic: Topic, thing: str, *, reply: bool) -> str:
        if self._draw.random() < 0.12:
            return self._draw.choice(THANKS)
        parts = [self._draw.choice(REPLIES)] if reply else [self._draw.choice(OPENINGS)]
        parts += self._draw.sample(SENTENCES, self._draw.choice((1, 1, 2)))
        said = " ".join(
            sentence(
                part.format(
                    thing=thing,
                    years=self._draw.randrange(2, 40),
                    wish=self._draw.choice(topic.wishes),
                    detail=self._draw.choice(topic.details),
                    memory=self._draw.choice(topic.memories),
                )
            )
            for part in parts
        )
        return said if self._draw.random() < 0.8 else said.replace("never", "<em>never</em>").replace("&", "&amp;")

    def _comment(
        self, text: str, date: datetime, parent: int = 0, *, approved: str = "1", kind: str = "comment"
    ) -> str:
        self._comments += 1
        name = self._draw.choice(NAMES)
        return (
            f"<wp:comment><wp:comment_id>{self._comments}</wp:comment_id>"
            f"<wp:comment_author>{name}</wp:comment_author>"
            f"<wp:comment_author_email>{name.lower()}@mail.example</wp:comment_author_email>"
            f"<wp:comment_date_gmt>{date:{DATE}}</wp:comment_date_gmt>"
            f"<wp:comment_content><![CDATA[{text}]]></wp:comment_content>"
            f"<wp:comment_approved>{approved}</wp:comment_approved><wp:comment_type>{kind}</wp:comment_type>"
            f"<wp:comment_parent>{parent}</wp:comment_parent></wp:comment>\n"
        )


def item(number: int, fields: Mapping[str, str], content: str = "", comments: str = "") -> str:
    """An item of an export.

    Args:
        number: Its id.
        fields: Its title, type, status and date, and its category if it has one.
        content: Its content, as HTML.
        comments: Its comments.
    """
    category = (
        f"<category domain='category'><![CDATA[{fields['category']}]]></category>" if "category" in fields else ""
    )
    return (
        f"<item><title>{escape(fields['title'])}</title><link>{SITE}/?p={number}</link>\n"
        f"<content:encoded><![CDATA[{content}]]></content:encoded>\n"
        f"<wp:post_id>{number}</wp:post_id><wp:post_date_gmt>{fields['date']}</wp:post_date_gmt>"
        f"<wp:status>{fields['status']}</wp:status><wp:post_type>{fields['type']}</wp:post_type>{category}\n"
        f"{comments}</item>\n"
    )


def main() -> None:
    """Write an export."""
    parser = argparse.ArgumentParser(description="Write a made-up export of a WordPress site.")
    parser.add_argument("out", type=Path, help="file to write")
    parser.add_argument("--posts", type=int, default=240, help="number of posts")
    parser.add_argument("--seed", type=int, default=1, help="seed of what is drawn")
    given = parser.parse_args()
    given.out.write_text(Export(given.seed).text(given.posts), encoding="utf-8")


if __name__ == "__main__":
    main()
