"""`postil label`: a campaign of suggestions to label *show* or *do not show*, and its labels as rows."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.campaigns.calls import invite, invite_first_lead, note_address, open_campaign, write_rows
from postil.campaigns.models import Adjudication, Campaign, Drawn, Item, NoCampaign, Rating
from postil.campaigns.options import InviteOptions, ServeOptions
from postil.campaigns.plan import plan
from postil.campaigns.rubric import Rubric
from postil.comments.articles import checked_articles, open_articles
from postil.comments.commenter import load_commenter
from postil.comments.retrieval import Retriever
from postil.comments.sentence_vectors import MODEL, NAME, SIGNATURE
from postil.comments.show_filter import DEPTH
from postil.data.explain import counted
from postil.data.row_files import read
from postil.data.suggestions import REASONS, Label, Suggestion, Suggestions
from postil.encoders.endpoint_encoder import EncoderEndpoint
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Command, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.calibration.options import LabelOptions
    from postil.campaigns.store import Store
    from postil.comments.neural_commenter import NeuralCommenter
    from postil.data.model_folders import Model
    from postil.data.options import InputOptions
    from postil.data.progress import OnMessage
    from postil.data.rows import Article

__all__ = [
    "RUBRICS",
    "Labeling",
    "among_of",
    "campaign_of",
    "drawing_order",
    "drawn_suggestions",
    "invitation",
    "label_item",
    "label_rows",
    "labels_of",
    "plan_labels",
    "write_labels",
]

SHOW: Final = 1
"""Grade of a suggestion to show."""

_REASON_OF: Final = {2: "other", **{(number + 3) % 10: reason for number, reason in enumerate(REASONS[1:])}}
"""Reason by grade; the keys are 2 to 9, then 0."""

RUBRICS: Final = {
    "en": Rubric(
        name="show",
        question="Would you show this comment to your readers, under this article?",
        low=0,
        high=9,
        words=(
            "Do not show: it repeats what readers have already been shown.",
            "Show: on the matter, stands by itself, not unkind, not false to the article.",
            "Do not show, for another reason or none.",
            "Do not show: off the matter.",
            "Do not show: a fragment or joke that does not stand by itself.",
            "Do not show: a reply to somebody, or a question to the author.",
            "Do not show: advice for another case.",
            "Do not show: unkind.",
            "Do not show: false to the article, or of the opposite mood.",
            "Do not show: spam, code or mark-up.",
        ),
    ),
    "zh": Rubric(
        name="show",
        question="您会把这条评论展示在这篇文章下面吗？",
        low=0,
        high=9,
        words=(
            "不展示：与已经展示的内容重复。",
            "展示：切题，能独立成文，不伤人，与文章不矛盾。",
            "不展示：其他原因，或不说明原因。",
            "不展示：与文章无关。",
            "不展示：片段或玩笑，不能独立成文。",
            "不展示：是对别人的回复，或向作者提问。",
            "不展示：针对其他情况的建议。",
            "不展示：不友善。",
            "不展示：与文章内容或情绪不符。",
            "不展示：广告、代码或标记。",
        ),
        lang="zh",
    ),
}
"""The rubric in each language."""


def label_item(article: Article, suggestion: Suggestion) -> Item:
    """Make the item of a suggestion; annotators see neither its rank nor its source.

    Args:
        article: The article.
        suggestion: The suggestion.
    """
    source = next(iter(suggestion.provenance.sources), None)
    origin = [suggestion.rank, source and source.article, source and source.comment, suggestion.provenance.model_hash]
    return Item(
        item=article.id,
        system=json.dumps(origin),
        text=suggestion.text,
        title=article.title,
        content=article.content or "",
        lang=article.lang or "",
    )


def label_rows(
    items: Sequence[Item],
    ratings: Sequence[Rating],
    adjudications: Sequence[Adjudication],
    campaign: Campaign,
    where: str,
) -> Iterator[Label]:
    """Convert the ratings of a campaign to label rows; the decision of a lead takes the place of an item's ratings.

    Args:
        items: The items.
        ratings: The ratings.
        adjudications: Decisions of leads.
        campaign: Its settings.
        where: Name of the campaign, for messages.

    Raises:
        InvalidInput: The campaign is one of another kind.
    """
    if campaign.drawn is None:
        raise InvalidInput("not a campaign of labels; postil label makes one", where=where)
    decided = {one.number: one for one in adjudications}
    for number, one in decided.items():
        yield _row(items[number], one.grade, one.lead)
    for rating in ratings:
        if rating.round == 1 and rating.number not in decided:
            yield _row(items[rating.number], rating.grade, rating.annotator)


def _row(item: Item, grade: float, annotator: str) -> Label:
    rank, article, comment, model_hash = json.loads(item.system)
    return Label(
        article=item.item,
        text=item.text,
        show=grade == SHOW,
        reason=_REASON_OF.get(int(grade)),
        annotator=annotator,
        rank=rank,
        source_article=article,
        source_comment=comment,
        model_hash=model_hash,
        title=item.title,
        content=item.content or None,
        lang=item.lang or None,
    )


FIRST: Final = 20
"""Number of articles of the first round, of a campaign in rounds."""

BATCH: Final = 32
"""Number of articles that are commented on together."""

_OTHER: Final = Message("name another {out}, or move that file away", out=Setting("out"))
EDITOR: Final = "editor"
"""Name of the annotator of a campaign of one."""


def campaign_of(options: LabelOptions) -> str:
    """Location of the campaign.

    Args:
        options: Options of the command.
    """
    return options.campaign or str(Path(options.out).with_suffix(".db"))


class Labeling(NamedTuple):
    """A campaign of labels that was made or is continued.

    Args:
        commenter: The model.
        articles: The articles by id.
        options: Options of the command, those of the campaign as it was made.
        is_new: True if the campaign was made now.
    """

    commenter: Retriever | NeuralCommenter
    articles: Mapping[str, Article]
    options: LabelOptions
    is_new: bool


def plan_labels(
    articles: str,
    folder: str,
    options: LabelOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> Labeling:
    """Draw suggestions and create the campaign, or continue the one of the same model that is there.

    The articles are a simple random sample of those with suggestions: the order of the draw depends on seed and ids
    alone, so a larger one with the same seed contains a smaller one.

    Args:
        articles: A file of article rows; ``-`` for standard input.
        folder: The model.
        options: Options of the command.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Returns:
        The model and the articles.

    Raises:
        InvalidInput: The file or the model is invalid, or the model suggests nothing for any article; or the database
            holds something else than a campaign of labels.
        UsageError: The numbers allow no plan, the campaign is of another model, or the file of labels holds something
            else than labels of the campaign.
    """
    url = campaign_of(options)
    endpoint = None if options.encoder is None else EncoderEndpoint(url=options.encoder, on_message=on_message)
    commenter = load_commenter(folder, jobs=options.jobs, encoder=endpoint)
    if options.teach and not isinstance(commenter, Retriever):
        raise UsageError(
            "{folder} writes comments itself, and a filter of suggestions is of found ones; leave out {teach}",
            folder=folder,
            teach=Setting("teach"),
        )
    rows = {article.id: article for article in checked_articles(open_articles(articles, inputs, on_message))}
    drawn = Drawn(
        model=_hash(commenter.model),
        articles=_digest(rows),
        sample=options.sample,
        per_article=options.per_article,
        among=options.among,
        annotators=options.annotators,
        teach=options.teach,
    )
    try:
        with open_campaign(url, read_only=True) as store:
            found, labels = store.campaign(), labels_of(store)
    except NoCampaign:
        _check_out(options.out, url, [])
    else:
        others = _differences(found, drawn, options, folder)
        _check_out(options.out, url, labels)
        made_with = _as_made(found, drawn, options)
        drawn_now = "" if made_with.teach else "; nothing new is drawn"
        on_message(f"{url}: the campaign is there and is continued{drawn_now}")
        if others:
            listed = Listed(others, last="; ", between="; ")
            on_message(Message("{url}: the campaign stays as it was made: {others}", url=url, others=listed))
        return Labeling(commenter, rows, made_with, is_new=False)
    wanted = min(FIRST, options.sample) if options.teach else options.sample
    items = list(_drawn(rows, commenter, options, wanted))
    asked = len({item.item for item in items})
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
        item_type="comment",
        annotators_per_item=options.annotators_per_item,
        seed=options.seed,
        by_item=True,
        drawn=drawn,
    )
    with open_campaign(url, make=True) as store:
        store.create(campaign, items, made, RUBRICS[usual])
    if asked < wanted:
        on_message(f"expected {wanted:,} articles with suggestions, got {asked:,}; they are all drawn")
    on_message(f"{url}: {counted(len(items), 'suggestion')} for {counted(asked, 'article')}, seed {options.seed}")
    return Labeling(commenter, rows, options, is_new=True)


def _hash(model: Model) -> str:
    """The hash of a model as it was before labels calibrated it, which changes no order of the ranker's suggestions."""
    return model.hash_without(folders=("show", "encoder"), settings=(SIGNATURE, NAME, MODEL))


def _digest(articles: Mapping[str, Article]) -> str:
    """Hash of what the draw and the commenter read of articles."""
    texts = [(one.id, one.title, one.content, one.lang) for one in map(articles.__getitem__, sorted(articles))]
    return blake2b(json.dumps(texts).encode(), digest_size=8).hexdigest()


def _as_made(found: Campaign, asked: Drawn, options: LabelOptions) -> LabelOptions:
    """Options with the settings of a campaign that is there, which draws no more from other articles than its own."""
    made = found.drawn or asked
    return replace(
        options,
        sample=options.sample if made.teach else made.sample,
        per_article=made.per_article,
        among=made.among,
        teach=made.teach and made.articles == asked.articles,
        annotators=made.annotators,
        annotators_per_item=found.annotators_per_item,
        seed=found.seed,
    )


def _differences(found: Campaign, asked: Drawn, options: LabelOptions, folder: str) -> list[str]:
    """Describe the settings in which a request differs from a campaign that is there.

    Raises:
        UsageError: The model is another one.
    """
    made = found.drawn or asked
    if made.model != asked.model:
        problem = f"this campaign labels the suggestions of another model ({made.model}) than {folder} ({asked.model})"
        raise UsageError(
            "{url}: {problem}; go on with {model} as it was, or begin another campaign with another {out} "
            "(or {campaign})",
            url=campaign_of(options),
            problem=problem,
            model=Setting("model"),
            out=Setting("out"),
            campaign=Setting("campaign"),
        )
    numbers = (
        *(() if made.teach else (("sample", made.sample, asked.sample),)),
        ("per_article", made.per_article, asked.per_article),
        ("among", made.among, asked.among),
        ("annotators", made.annotators, asked.annotators),
        ("annotators_per_item", found.annotators_per_item, options.annotators_per_item),
        ("seed", found.seed, options.seed),
    )
    others = ["drawn from other articles than these"] if made.articles != asked.articles else []
    if made.teach != asked.teach:
        how = Message("in rounds") if made.teach else Message("at once")
        others.append(Message("drawn {how}, as {setting} says", how=how, setting=Setting("teach")))
    return others + [
        Message("{setting} {then}, not {now}", setting=Setting(name), then=_or_none(then), now=_or_none(now))
        for name, then, now in numbers
        if then != now
    ]


def _or_none(number: int | None) -> str:
    return "none" if number is None else f"{number}"


def _check_out(out: str, url: str, labels: Sequence[Label]) -> None:
    """Refuse a file of labels that a campaign did not write.

    Args:
        out: The file.
        url: Location of the campaign.
        labels: The labels of the campaign so far.
    """
    if not Path(out).is_file() or not Path(out).stat().st_size:
        return
    known = {(label.article, " ".join(label.text.split())) for label in labels}
    try:
        strange = next(
            (row for row in read(out, Label) if (row.article, " ".join(row.text.split())) not in known), None
        )
    except InvalidInput as error:
        raise UsageError(
            "{out}: exists and does not hold labels ({problem}); {other}", out=out, problem=error.message, other=_OTHER
        ) from error
    if strange is not None:
        problem = (
            f"exists and holds labels that are not of the campaign {url}, such as one of article {strange.article}"
        )
        raise UsageError("{out}: {problem}; {other}", out=out, problem=problem, other=_OTHER)


def labels_of(store: Store) -> list[Label]:
    """Read the labels of a campaign so far.

    Args:
        store: Store of the campaign.

    Raises:
        InvalidInput: The campaign is one of another kind.
    """
    results = store.results
    return list(label_rows(store.items(), results.ratings(), results.adjudications(), store.campaign(), store.where))


def _place(options: LabelOptions, *names: str) -> bytes:
    """Place of something in a random order that depends on the seed and on its own names alone."""
    said = " ".join([f"{options.seed}", *names])
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def drawing_order(articles: Iterable[str], options: LabelOptions) -> list[str]:
    """Ids of articles in the order in which they are drawn.

    Args:
        articles: The ids.
        options: Options of the command.
    """
    return sorted(articles, key=lambda name: _place(options, name))


def drawn_suggestions(found: Suggestions, options: LabelOptions) -> list[Suggestion]:
    """The first suggestions of an article, or its first one and others at random.

    Args:
        found: The suggestions.
        options: Options of the command.
    """
    first, *others = found.suggestions
    if among_of(options) is not None:
        others = sorted(others, key=lambda one: _place(options, found.article, f"{one.rank}"))
    return [first, *others[: options.per_article - 1]]


def among_of(options: LabelOptions) -> int | None:
    """Number of first suggestions that those to label are drawn from; None for the first ones themselves.

    Args:
        options: Options of the command.
    """
    return max(DEPTH, options.per_article) if options.among is None and options.teach else options.among


def _drawn(
    articles: Mapping[str, Article], commenter: Retriever | NeuralCommenter, options: LabelOptions, wanted: int
) -> Iterator[Item]:
    """Items of the first suggestions for articles in random order."""
    drawn = 0
    order = iter(drawing_order(articles, options))
    while batch := [articles[each] for each in islice(order, BATCH)]:
        if options.teach and isinstance(commenter, Retriever):  # what each article would be suggested by itself
            suggested = [found for found, _ in commenter.first(batch, among_of(options) or DEPTH)]
        else:
            suggested = commenter.comment(batch, among_of(options) or options.per_article)
        for article, found in zip(batch, suggested, strict=True):
            if found.suggestions and drawn < wanted:
                drawn += 1
                yield from (label_item(article, one) for one in drawn_suggestions(found, options))
        if drawn == wanted:
            return


def invitation(options: LabelOptions, on_message: OnMessage) -> Iterator[str]:
    """Sentences with a link to the labeling page, for a campaign of one annotator, or on how to invite several.

    Args:
        options: Options of the command.
        on_message: Callback for status messages.
    """
    url, address = campaign_of(options), ServeOptions(port=options.port).address
    with open_campaign(url) as store:
        alone = sum(person.role == "annotator" for person in store.people.everyone()) == 1
        if alone:
            store.remember_address(address)  # this link replaces whichever there was
        else:
            note_address(store, address, on_message)
    if alone:
        yield f"label at {invite(url, EDITOR, InviteOptions(days=1, base_url=address))}"
        return
    lead = invite_first_lead(url, address)
    yield Message(
        "invite annotators: {invite}{lead}",
        invite=Command("annotate invite", (url, Blank("NAME"))),
        lead=f", or at {lead}" if lead else "",
    )
    yield Message(
        "only this machine can open links to {address}; others can label where {serve} serves the campaign",
        address=address,
        serve=Command("annotate serve", (url,), (Setting("base_url", Blank("URL")),)),
    )


def write_labels(options: LabelOptions) -> int:
    """Write the labels so far.

    Args:
        options: Options of the command.

    Returns:
        Number of labels; no file is written for none.

    Raises:
        InvalidInput: It is another campaign.
    """
    with open_campaign(campaign_of(options), read_only=True) as store:
        rows = labels_of(store)
    if rows:
        write_rows(options.out, rows)
    return len(rows)
