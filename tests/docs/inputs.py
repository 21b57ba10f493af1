"""Small files under the names that the pages use, made of the bundled sample."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import re
import runpy
import shutil
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from xml.sax.saxutils import escape

import numpy as np
import pyarrow.parquet
from job_files import job_files

import postil
from made_vectors import WORDS as LETTERS
from made_vectors import subword_folder
from postil.campaigns.planning import GoldLabel
from postil.comments.commenter import team_draft
from postil.corpus.calls import build_corpus
from postil.corpus.options import BuildOptions, Share
from postil.data.row_files import read, write
from postil.data.rows import Article, Candidate, Comment, Judgement, PairPreference, Passage, Reference
from postil.studies.demo import calls as demo
from tiny_models import write_bert, write_pooling
from wmt_folders import write_set

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[2]
SENTENCE = re.compile(r"(?<=[.!?]) ")


def make(folder: Path) -> None:
    """Write them all; in `demo` what `postil demo` leaves and prints, less the chapters that take longer."""
    said: list[str] = []
    longer = ("_audit", "_suggestions", "_comments", "_passages")
    with mock.patch.multiple(demo, **dict.fromkeys(longer, lambda _: None)):
        demo.run_demo(folder / "demo", 1, said.append, said.append)
    (folder / "demo.txt").write_text("\n".join(said), encoding="utf-8")
    sample = [each for each in read(folder / "demo/articles.jsonl", Article) if each.lang == "en"]
    names = {each.id for each in sample}
    candidates = [row for row in read(folder / "demo/candidates.jsonl", Candidate) if row.item in names]
    references = [row for each in sample for row in each.references()]
    grades = [row for row in read(folder / "demo/judgements.jsonl", Judgement) if row.item in names]
    write(folder / "candidates.jsonl", candidates)
    write(folder / "references.jsonl", references)
    write(folder / "judgements.jsonl", grades)
    half = sorted(names)[:6]
    for name, side in (("a", True), ("b", False)):
        write(folder / f"{name}.jsonl", [row for row in candidates if (row.item in half) == side])
    write(folder / "refs.jsonl", [row for row in references if row.item in half])
    write(folder / "ungraded.jsonl", [Reference(row.item, row.text) for row in references])
    labels = [GoldLabel(each.id, each.comments[0].id, float(2 + place % 3)) for place, each in enumerate(sample[:4])]
    check = GoldLabel(sample[0].id, "check", 2, attention=True, text="Please choose the grade 2.")
    write(folder / "gold.jsonl", [*labels, check])
    partly = [row if place % 3 else Reference(row.item, row.text) for place, row in enumerate(references)]
    write(folder / "partly-graded.jsonl", partly)
    write(folder / "other.jsonl", [row for row in references if row.item not in half])
    metrics_task(folder / "mt-metrics-eval-v2/wmt22", candidates, references, grades)
    job_files(folder)
    corpora(folder, sample)
    collections(folder, sample)
    wiki(folder)
    vectors(folder)
    jobs(folder)
    outcomes(folder)
    preferences(folder)
    write_bert(folder / "roberta-large", layers=17)
    for name in ("all-MiniLM-L6-v2", "e5-base-v2"):
        write_pooling(write_bert(folder / name), normalize=True)
    said_words = re.findall(r"\w+|[^\w\s]", " ".join(row.text for row in (*candidates, *references)).lower())
    subword_folder(folder / "wordllama", 8, words=tuple(dict.fromkeys([*LETTERS, *said_words])))


def preferences(folder: Path) -> None:
    """Preferences of two made-up annotators for three systems on 60 items, each annotator with two of the pairs."""
    random = np.random.default_rng(4)
    strengths = {"human": 0.7, "generator": 0.1, "retrieval": -0.4}
    rows = []
    for item in range(60):
        for annotator in ("A1", "A2"):
            for a, b in random.permutation(list(combinations(strengths, 2)))[:2].tolist():
                odds = np.exp([strengths[a], (strengths[a] + strengths[b]) / 2 - 0.9, strengths[b]])
                choice = str(random.choice(["a", "tie", "b"], p=odds / odds.sum()))
                left = str(random.choice(["a", "b"]))
                rows.append(PairPreference(f"a{item + 1}", a, b, annotator, choice, left))  # type: ignore[arg-type]
    write(folder / "preferences.jsonl", rows)


def metrics_task(
    folder: Path, candidates: list[Candidate], references: list[Reference], grades: list[Judgement]
) -> None:
    """A test set of WMT's: the sample's systems under its names, with the grades less 5 as their MQM."""
    items = list(dict.fromkeys(row.item for row in candidates))
    names = dict(zip(dict.fromkeys(row.system for row in candidates), ("A", "B", "C", "M2M100_1.2B-B4"), strict=True))
    texts = {names[row.system]: [""] * len(items) for row in candidates}
    mqm = {name: [0.0] * len(items) for name in texts}
    for row in candidates:
        texts[names[row.system]][items.index(row.item)] = " ".join(row.text.split())
    for row in grades:
        mqm[names[row.system]][items.index(row.item)] += (row.grade - 5) / 2
    first = {row.item: " ".join(row.text.split()) for row in reversed(references)}
    one = {name: postil.score(of, [[first[item]] for item in items], metrics=["rouge-1"]) for name, of in texts.items()}
    write_set(
        folder,
        "en-de",
        human={"mqm.seg": mqm, "mqm.sys": {name: [float(np.mean(of))] for name, of in mqm.items()}},
        metrics={
            "ROUGE-refA.seg": {name: result.items["rouge-1"].tolist() for name, result in one.items()},
            "ROUGE-refA.sys": {name: [result.corpus["rouge-1"]] for name, result in one.items()},
        },
        references={"refA": [first[item] for item in items]},
        outputs=texts,
    )


def corpora(folder: Path, sample: list[Article]) -> None:
    """A site of 66 articles, each of the sentences and comments of some of the sample's, in every format."""
    site = [merged(sample, a, b) for a, b in combinations(range(len(sample)), 2)]
    write(folder / "articles.jsonl", site)
    write(folder / "many-articles.jsonl", site)
    write(folder / "articles.jsonl.gz", site)
    write(folder / "new-articles.jsonl", sample[:3])
    write(folder / "threads.jsonl", sample[:3])
    how = BuildOptions(source="a site", license="ours", dev=Share(size=6))
    build_corpus([folder / "articles.jsonl"], folder / "corpus.made", how, jobs=1)
    lines(folder / "posts.jsonl.gz", (post(each) for each in site))
    parts = {"train": site[:40], "dev": site[40:50], "test": site[50:]}
    for split, articles in parts.items():
        lines(folder / f"data.{split}.json", (released(each, graded=split == "test") for each in articles))
    lines(folder / "contents.jsonl", ({"url": each.url, "content": each.content} for each in site))
    (folder / "release").mkdir()
    for name in (*(f"data.{split}.json" for split in parts), "contents.jsonl"):
        shutil.copy(folder / name, folder / "release")
    lines(
        folder / "tokenized.train.json",
        (
            {
                "id": each.id,
                "title": each.title,
                "body": each.content,
                "comment": [[comment.text, comment.upvotes] for comment in each.comments],
            }
            for each in site
        ),
    )
    lines(
        folder / "yahoo.json",
        (
            {
                "_id": each.id,
                "title": each.title,
                "paras": [each.content],
                "cmts": [{"cmt": comment.text} for comment in each.comments],
            }
            for each in site
        ),
    )
    pairs = [(each, comment) for each in site for comment in each.comments]
    table(
        folder / "articles.csv", ("id", "headline", "content"), ((each.id, each.title, each.content) for each in site)
    )
    table(folder / "comments.csv", ("post_id", "body"), ((each.id, comment.text) for each, comment in pairs))
    table(
        folder / "joined.tsv",
        ("post_id", "title", "reply"),
        ((each.id, each.title, comment.text) for each, comment in pairs),
        "\t",
    )
    exported = "".join(
        f"<item><title>{escape(each.title)}</title><content:encoded>{escape(each.content or '')}</content:encoded>"
        f"<wp:post_id>{number}</wp:post_id>"
        + "".join(
            f"<wp:comment><wp:comment_content>{escape(comment.text)}</wp:comment_content>"
            "<wp:comment_approved>1</wp:comment_approved></wp:comment>"
            for comment in each.comments
        )
        + "</item>"
        for number, each in enumerate(site)
    )
    (folder / "site.xml").write_text(f"<rss><channel>{exported}</channel></rss>")
    exports(folder, site[:10])
    annotations(folder)
    newsletter = runpy.run_path(str(ROOT / "examples/wordpress_export.py"))["Export"](1).text(240)
    (folder / "newsletter.xml").write_text(newsletter, encoding="utf-8")
    (folder / "moderated.xml").write_text(moderated(newsletter), encoding="utf-8")
    with (folder / "forum.csv").open("w", encoding="cp1252", newline="") as file:
        csv.writer(file, delimiter=";").writerows(forum(moderated(newsletter)))
    (folder / "my-dataset").mkdir()
    rows = [post(each) | {"body": each.content} for each in site]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "my-dataset/train-00000-of-00001.parquet")


def moderated(export: str) -> str:
    """An export of WordPress in which every sixth comment is spam or rude, and most of these were held."""
    random = np.random.default_rng(5)
    spam = (
        "Cheap {} at {}.example, order now",
        "I earn 90 dollars an hour with {}, see {}.example",
        "{}! Visit {}.example",
    )
    rude = (
        "Only {} would write about {} like this.",
        "You are {}, and so is your {}.",
        "Typical of {}: no idea of {}.",
    )
    things = ("watches", "pills", "loans", "coins", "followers", "phones", "tickets", "shoes")
    names = ("an idiot", "a liar", "a complete moron", "stupid people", "fools", "a pathetic clown")

    def judged(match: re.Match[str]) -> str:
        kind = random.integers(12)
        if kind > 1:
            return match[0]
        patterns, words, decision = ((spam, things, "spam"), (rude, names, "trash"))[kind]
        pattern, word, other = (str(random.choice(each)) for each in (patterns, words, things))
        decided = decision if random.random() < 0.92 else "1"
        return f"<![CDATA[{pattern.format(word, other)}]]>{match[1]}<wp:comment_approved>{decided}<"

    return re.sub(r"<!\[CDATA\[[^\]]*\]\]>(</wp:comment_content>\s*)<wp:comment_approved>1<", judged, export)


def forum(export: str) -> Iterable[tuple[str, str, str]]:
    """The same decisions as Excel writes them in Germany, in words of a forum; on some comments nobody has decided."""
    words = {"1": "freigegeben", "spam": "Spam", "trash": "gelöscht", "0": "n/a"}
    comments = re.findall(
        r"<wp:comment_content><!\[CDATA\[([^\]]*)\]\]></wp:comment_content>\s*<wp:comment_approved>(\w+)<", export
    )
    yield "Kommentar", "Status", "Datum"
    for number, (text, state) in enumerate(comments):
        day, hour = divmod(number, 24)
        yield text, words[state if number % 50 else "0"], f"{1 + day % 28:02}.{1 + day // 28:02}.2025 {hour:02}:37"


def annotations(folder: Path) -> None:
    """Annotations of other tools: two people rate three texts."""
    tasks, labels = [], {}
    for number in range(3):
        given = [
            {
                "completed_by": person,
                "result": [
                    {
                        "from_name": name,
                        "to_name": "text",
                        "type": "rating",
                        "value": {"rating": 1 + (number + person) % 5},
                    }
                    for name in ("fluency", "fit")
                ],
            }
            for person in (1, 2)
        ]
        data = {"text": f"Text {number}.", "source": "An article.", "source_id": number, "model": "A"}
        tasks.append({"id": number, "data": data, "annotations": given})
        labels[f"t{number}"] = {"fluency": {f"scale_{1 + number}": f"{1 + number}"}}
    (folder / "export.json").write_text(json.dumps(tasks))
    for person in ("ann", "bob"):
        (folder / "annotation_output" / person).mkdir(parents=True)
        state = {"user_id": person, "instance_id_to_label_to_value": labels}
        (folder / "annotation_output" / person / "user_state.json").write_text(json.dumps(state))


def exports(folder: Path, site: list[Article]) -> None:
    """Files of the sites whose exports are read."""
    threads = "".join(f'<thread dsq:id="{each.id}"><title>{escape(each.title)}</title></thread>' for each in site)
    pairs = [(each, f"{each.id}-{comment.id}", comment.text) for each in site for comment in each.comments]
    posts = "".join(
        f'<post dsq:id="{name}"><message>{escape(text)}</message><thread dsq:id="{each.id}"/></post>'
        for each, name, text in pairs
    )
    (folder / "disqus.xml").write_text(f"<disqus>{threads}{posts}</disqus>")
    topics = (
        {
            "id": each.id,
            "title": each.title,
            "post_stream": {
                "posts": [
                    {"id": f"{each.id}-{number}", "post_number": number, "cooked": text}
                    for number, text in enumerate([each.content, *(comment.text for comment in each.comments)], start=1)
                ]
            },
        }
        for each in site
    )
    lines(folder / "topics.jsonl", topics)
    lines(folder / "stories.json", ({"id": each.id, "metadata": {"title": each.title}} for each in site))
    lines(
        folder / "story-comments.json",
        ({"id": name, "storyID": each.id, "revisions": [{"body": text}]} for each, name, text in pairs),
    )
    lines(folder / "submissions.jsonl.gz", ({"id": each.id, "title": each.title} for each in site))
    lines(
        folder / "reddit-comments.jsonl.gz",
        ({"id": name, "link_id": f"t3_{each.id}", "body": text} for each, name, text in pairs),
    )
    stories = [{"id": each.id, "type": "story", "title": each.title} for each in site]
    comments = [{"id": name, "type": "comment", "parent": each.id, "text": text} for each, name, text in pairs]
    lines(folder / "items.jsonl", [*stories, *comments])


def merged(sample: list[Article], a: int, b: int) -> Article:
    one, other, third = sample[a], sample[b], sample[(a + b) % len(sample)]
    contents = [sentence for each in (one, other) for sentence in SENTENCE.split(each.content)]
    said = {comment.text: comment for each in (one, other, third) for comment in each.comments}
    comments = tuple(
        Comment(f"c{n}", each.text, upvotes=each.upvotes, user=f"u{n % 7}") for n, each in enumerate(said.values())
    )
    return Article(
        f"{a}-{b}",
        f"{one.title}; {other.title}",
        comments,
        " ".join(contents),
        one.category,
        url=f"https://site.example/{a}-{b}",
        date=f"2024-{a + 1:02}-{b + 1:02}",
    )


def post(each: Article) -> dict[str, Any]:
    """Under postil's names and under those of a forum."""
    comments = [
        {"id": c.id, "text": c.text, "body": c.text, "upvotes": c.upvotes, "score": c.upvotes, "author": c.user}
        for c in each.comments
    ]
    texts = {"title": each.title, "content": each.content, "selftext": each.content}
    sections = {"category": each.category, "subreddit": each.category}
    return {"id": each.id, **sections, "date": each.date, **texts, "comments": comments}


def released(each: Article, *, graded: bool) -> dict[str, Any]:
    comments = [[c.text, str(c.upvotes), *([0.25 + n % 4 / 4] if graded else [])] for n, c in enumerate(each.comments)]
    return {"url": each.url, "title": each.title, "channel": each.category, "comment": comments}


def collections(folder: Path, sample: list[Article]) -> None:
    """The sample's comments as passages, each article a topic, with the first grade less one."""
    rows = [
        Passage(
            each.id,
            comment.id,
            comment.text,
            anchors=tuple(comment.text.split()[:2]),
            grade=min(comment.ratings[0].grade - 1, 3),
        )
        for each in sample
        for comment in each.comments
    ]
    write(folder / "passages.jsonl", rows)
    (folder / "collection").mkdir()
    write(folder / "collection/passages.jsonl", rows)
    for name in ("qrels.txt", "2019qrels-pass.txt"):
        (folder / name).write_text("".join(f"{row.topic} 0 {row.id} {row.grade:g}\n" for row in rows))
    for name in ("passages.tsv", "collection.tsv"):
        (folder / name).write_text("".join(f"{row.id}\t{row.text}\n" for row in rows), encoding="utf-8")
    (folder / "page.txt").write_text("\n\n".join(each.content for each in sample[:3]), encoding="utf-8")
    (folder / "topics.xml").write_text(
        "<topics>"
        + "".join(f'<topic id="{each.id}"><title>{escape(each.title)}</title></topic>' for each in sample)
        + "</topics>",
        encoding="utf-8",
    )
    for run in (1, 2):
        chosen = [row for n, row in enumerate(rows) if n % 2 == run - 1]
        (folder / f"run{run}.txt").write_text(
            "".join(
                f"{row.topic} Q0 {row.id} {n} {1 / (n + 1):g} run{run} {row.text}\n" for n, row in enumerate(chosen)
            )
        )
    (folder / "trels.txt").write_text(
        "".join(f"{row.topic} Q0 {row.id} - - ann {row.text}\n" for row in rows if row.grade and row.grade > 2)
    )


def wiki(folder: Path) -> None:
    """A dump of a wiki, and judgements of its sentences for two questions."""
    texts = {
        "Duck": (
            "A [[duck]] that is in [[moult]] cannot fly for three or four weeks.",
            "It eats [[grass]] and the [[bread]] of people who come in summer.",
        ),
        "Rye": (
            "The [[bread]] of [[rye]] keeps for many weeks in a dry box.",
            "This [[grass]] grows on very poor [[soil]] where wheat does not.",
        ),
    }
    pages = "".join(
        f"<page><title>{title}</title><ns>0</ns><revision><text>{first}\n\n{second}</text></revision></page>"
        for title, (first, second) in texts.items()
    )
    dump = f"<mediawiki><siteinfo><dbname>simplewiki</dbname></siteinfo>{pages}</mediawiki>"
    (folder / "simplewiki-latest-pages-articles.xml.bz2").write_bytes(bz2.compress(dump.encode()))
    judged = [(f"q{at}", f"{title}#{number}", at) for at, title in enumerate(texts) for number in (1, 2)]
    lines = [f"{topic} 0 {document} {int(document[-1] == '1') + at}\n" for topic, document, at in judged]
    (folder / "wiki.qrels").write_text("".join(lines))


def jobs(folder: Path) -> None:
    """Files as people have them who start: an export, today's article, pages that a browser saved, and ratings."""
    shutil.copy(folder / "newsletter.xml", folder / "blog.xml")
    (folder / "today.html").write_text("<h1>The night bus</h1>\n<p>It stops at the outdoor pool from May.</p>\n")
    told = (
        "The bridge opened in 1868, and has never been closed since.",
        "Its engineer, Isabel Crane, drowned in the river.",
    )
    title = "The bridge that walked"
    article = "".join(f"<p>{sentence} Nobody has ever seen it from the other side.</p>" for sentence in told)
    page = f"<html lang=en><head><title>{title}</title></head><body><article>{article}</article></body></html>"
    for name in ("The bridge that walked.html", "saved/bridge.html", "saved/bridge_files/frame.html"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(page)
    (folder / "saved/bees.md").write_text(
        "# Bees\n\nA queen lives for five years. I bought my first hive because of a bet.\n"
    )
    texts = ("{} is the oldest of all.", "{} cost a penny.", "Nobody came to {} in the winter of {}.", "{} was sold.")
    rows = [
        (page, nr, text.format(f"The {page}", 1800 + nr), reader, 1 + (nr + reader) % 4)
        for page in ("mill", "inn", "lock", "church", "tower", "ferry")
        for nr, text in enumerate(texts)
        for reader in range(3)
    ]
    table(folder / "rated.csv", ("page", "nr", "sentence", "reader", "stars"), rows, ";")


def outcomes(folder: Path) -> None:
    """Impressions of suggestions of two models: readers click less at lower ranks, and more on those of new."""
    random = np.random.default_rng(4)
    rows = []
    for number in range(900):
        article = f"a{number * number % 211}"
        texts = [[f"{article} {name} {place}" for place in range(4)] for name in ("base", "new")]
        teams = [team for team, _ in team_draft(*texts, 4, seed=number)]
        likes = 0.25 * 0.65 ** np.arange(4) * np.where(teams, 1.35, 0.9)
        done = {"clicked": likes, "answered": likes / 12, "hidden": 0.06 - likes / 10}
        events = {name: (1 + np.flatnonzero(random.random(4) < p)).tolist() for name, p in done.items()}
        shown = bool(random.random() < 0.9)
        rows.append(
            {"impression": f"i{number}", "article": article, "models": ["base", "new"], "teams": teams, "shown": shown}
            | (events if shown else {name: [] for name in events})
        )
    lines(folder / "outcomes.jsonl", rows)


def vectors(folder: Path) -> None:
    words = ["night", "bus", "library", "river", "the", "town"]
    values = np.random.default_rng(1).normal(size=(len(words), 4)).astype(np.float32)
    listed = [f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in zip(words, values, strict=True)]
    (folder / "glove.6B.300d.txt").write_text("".join(listed))
    (folder / "wiki-news-300d-1M.vec").write_text(f"{len(words)} 4\n" + "".join(listed))
    binary = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, values, strict=True))
    (folder / "GoogleNews-vectors-negative300.bin.gz").write_bytes(gzip.compress(f"{len(words)} 4\n".encode() + binary))


def lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def table(path: Path, names: tuple[str, ...], rows: Iterable[tuple[object, ...]], apart: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=apart).writerows([names, *rows])
