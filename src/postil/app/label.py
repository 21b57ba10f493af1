"""`postil label`: a campaign of suggestions to label *show* or *do not show*, and its labels as rows."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from postil.annotation.labels import RUBRICS, label_item, label_rows
from postil.annotation.models import Campaign
from postil.annotation.plan import plan
from postil.app.annotate import InviteOptions, ServeOptions, invite, invite_first_lead, open_campaign, write_rows
from postil.app.article_files import checked_articles, open_articles
from postil.app.options import SeedOptions, ThreadOptions
from postil.commenters.loading import load_commenter
from postil.errors import InvalidInput, UsageError
from postil.options import Flag, options
from postil.records.row_files import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.annotation.models import Item
    from postil.app.options import InputOptions
    from postil.app.progress import OnMessage

__all__ = ["LabelOptions", "campaign_of", "invitation", "plan_labels", "write_labels"]

BATCH: Final = 32
"""Number of articles that are commented on together."""

EDITOR: Final = "editor"
"""Name of the annotator of a campaign of one."""


@options
class LabelOptions(SeedOptions, ThreadOptions):
    """Options of `postil label`.

    Args:
        out: File to write the labels to: .jsonl, .csv or .parquet.
        campaign: Campaign that keeps the answers, as of postil annotate; by default a file beside the labels, with the
            ending .db. One that exists is continued.
        sample: Number of articles to draw at random.
        per_article: Number of suggestions per article: its first ones.
        among: Number of first suggestions to draw them from: the first one, and others of them at random.
        annotators: Number of annotators.
        annotators_per_item: Number of annotators per suggestion.
        port: Port to listen on, on this machine alone.
        serve: Serve the labeling page until Ctrl+C; without it, make the campaign and write the labels so far.
    """

    out: Annotated[str, Flag(("--out", "-o"), metavar="FILE")]
    campaign: Annotated[str | None, Flag(metavar="FILE")] = None
    sample: Annotated[int, Flag(("--articles",), min=1)] = 60
    per_article: Annotated[int, Flag(min=1)] = 3
    among: Annotated[int | None, Flag(min=1)] = None
    annotators: Annotated[int, Flag(min=1)] = 1
    annotators_per_item: Annotated[int, Flag(min=1)] = 1
    port: Annotated[int, Flag(min=1, max=65535)] = 8000
    serve: Annotated[bool, Flag(("--serve/--no-serve",))] = True

    def __post_init__(self) -> None:
        kind_of(self.out)
        if self.among is not None and self.among < self.per_article:
            problem = f"expected at least the {self.per_article} suggestions per article, got {self.among}"
            raise UsageError(f"among: {problem}")
        if self.campaign is None and self.out.endswith(".db"):
            raise UsageError(f"{self.out}: the campaign is kept there; name a file of labels, such as labels.jsonl")


def campaign_of(options: LabelOptions) -> str:
    """Location of the campaign.

    Args:
        options: Options of the command.
    """
    return options.campaign or str(Path(options.out).with_suffix(".db"))


def plan_labels(
    articles: str,
    folder: str,
    options: LabelOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> None:
    """Draw suggestions and create the campaign, unless it exists.

    The articles are a simple random sample of those with suggestions: the order of the draw depends on seed and ids
    alone, so a larger one with the same seed contains a smaller one.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        folder: The model.
        options: Options of the command.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: The file or the model is invalid, or the model suggests nothing for any article.
        UsageError: The numbers allow no plan.
    """
    url = campaign_of(options)
    if "://" not in url and Path(url).exists():
        on_message(f"{url}: the campaign is there and is continued; nothing new is drawn")
        return
    items = list(_drawn(articles, folder, options, inputs, on_message))
    drawn = len({item.item for item in items})
    if not items:
        raise InvalidInput(f"{folder} suggests nothing for any of its articles", where=articles)
    languages = Counter(item.lang.partition("-")[0].lower() for item in items)
    usual = next((lang for lang, _ in languages.most_common() if lang in RUBRICS), "en")
    made = plan(
        [(item.item, item.system) for item in items],
        options.annotators,
        options.annotators_per_item,
        seed=options.seed,
        together=True,
        balance="article",
        by_item=True,
    )
    campaign = Campaign(
        name=Path(options.out).stem,
        item_type="comments",
        annotators_per_item=options.annotators_per_item,
        seed=options.seed,
        by_item=True,
    )
    with open_campaign(url, make=True) as store:
        store.create(campaign, items, made, RUBRICS[usual])
    if drawn < options.sample:
        on_message(f"expected {options.sample:,} articles with suggestions, got {drawn:,}; they are all drawn")
    on_message(f"{url}: {len(items):,} suggestions for {drawn:,} articles, seed {options.seed}")


def _drawn(
    path: str, folder: str, options: LabelOptions, inputs: InputOptions | None, on_message: OnMessage
) -> Iterator[Item]:
    """Items of the first suggestions for articles in random order."""
    commenter = load_commenter(folder, jobs=options.jobs)
    articles = {article.id: article for article in checked_articles(open_articles(path, inputs, on_message))}

    def place(*names: str) -> bytes:
        return blake2b(" ".join([f"{options.seed}", *names]).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    drawn = 0
    order = iter(sorted(articles, key=place))
    while batch := [articles[each] for each in islice(order, BATCH)]:
        for article, found in zip(batch, commenter.comment(batch, options.among or options.per_article), strict=True):
            if found.suggestions and drawn < options.sample:
                drawn += 1
                first, *others = found.suggestions
                if options.among is not None:
                    others = sorted(others, key=lambda one: place(found.article, f"{one.rank}"))
                yield from (label_item(article, one) for one in (first, *others[: options.per_article - 1]))
        if drawn == options.sample:
            return


def invitation(options: LabelOptions) -> str:
    """Sentence with a link to the labeling page, for a campaign of one annotator, or how to invite several.

    Args:
        options: Options of the command.
    """
    url, address = campaign_of(options), ServeOptions(port=options.port).address
    with open_campaign(url, read_only=True) as store:
        alone = sum(person.role == "annotator" for person in store.people.everyone()) == 1
    if alone:
        return f"label at {invite(url, EDITOR, InviteOptions(days=1, address=address))}"
    lead = invite_first_lead(url, address)
    return f"invite annotators: postil annotate invite {url} NAME" + (f", or at {lead}" if lead else "")


def write_labels(options: LabelOptions) -> int:
    """Write the labels so far.

    Args:
        options: Options of the command.

    Returns:
        Number of labels; no file is written for none.

    Raises:
        InvalidInput: It is another campaign.
    """
    url = campaign_of(options)
    with open_campaign(url, read_only=True) as store:
        results = store.results
        rows = list(label_rows(store.items(), results.ratings(), results.adjudications(), store.rubric(), store.where))
    if rows:
        write_rows(options.out, rows)
    return len(rows)
