"""Command `postil annotate add`: texts for a campaign that is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from postil.campaigns.calls import open_campaign
from postil.campaigns.pairs import new_gold, planned_pairs, single_texts
from postil.campaigns.planning import EmptyTexts, GoldLabel, ItemFiles, ItemPlace, roles_of, with_gold
from postil.data.options import InputOptions
from postil.data.row_files import PLAIN, check_standard_input, read
from postil.errors import PostilError, UsageError
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Campaign, Item, Person
    from postil.campaigns.options import AddOptions
    from postil.campaigns.result import PlanResult
    from postil.campaigns.rubric import Rubric
    from postil.campaigns.store import Store
    from postil.data.progress import OnMessage
    from postil.data.reading import Reading

__all__ = [
    "Addition",
    "add",
    "add_apart",
    "add_to",
]

MEMORY: Final = 2 << 30
"""Memory of the process that adds texts apart, in bytes."""


class Addition(NamedTuple):
    """Outcome of `add`.

    Args:
        plan: The assignment of all items.
        revision: Number of the revision; that of the plan as it is where there is nothing to add.
        added: Number of new items.
        known: Number of items that the campaign had already.
        status: Status of the campaign; see `postil.campaigns.models.CampaignState`.
        empty: Number of texts of the files that were left out, as they are empty or white space alone.
        first_empty: Names of the first of these.
    """

    plan: PlanResult
    revision: int
    added: int
    known: int
    status: str
    empty: int = 0
    first_empty: tuple[str, ...] = ()


def add(
    url: str,
    files: Sequence[str],
    options: AddOptions,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    *,
    lead: Person | None = None,
) -> Addition:
    """Add items to a campaign as a new revision of its plan, also while its server runs.

    Texts that are empty or white space alone are left out, as in a plan.

    Args:
        url: Location of the campaign.
        files: Files of items, of the kinds that `plan` takes.
        options: Options of the command.
        inputs: Options of reading the files.
        on_message: Callback for status messages.
        lead: The lead who adds them; None on the command line.

    Raises:
        InvalidInput: A row of a file is invalid, or the campaign has another text of the same name; names the row.
        UsageError: The campaign cannot take items.
    """
    with open_campaign(url, read_only=options.dry_run) as store:
        return add_to(store, files, options, inputs, on_message, lead=lead)


def add_to(
    store: Store,
    files: Sequence[str],
    options: AddOptions,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    *,
    lead: Person | None = None,
) -> Addition:
    """Add items to an open campaign; see `add`.

    Args:
        store: Store of the campaign.
        files: Files of items.
        options: Options of the command.
        inputs: Options of reading the files.
        on_message: Callback for status messages.
        lead: The lead who adds them; None on the command line.
    """
    check_standard_input(*files, options.articles, options.gold)
    campaign = store.campaign()
    if campaign.drawn is not None:
        raise UsageError("a campaign of labels asks about drawn suggestions; make another one with postil label")
    reading = ItemFiles(campaign.rows or "articles", campaign.context or (), options.articles)
    there = store.items()
    new = _NewItems(list(single_texts(there)), campaign)
    of_gold: Reading | None = None
    empty = EmptyTexts()
    for file in files:
        given = (inputs or InputOptions()).readings(
            roles_of(reading, file, pairs=campaign.pairs is not None), on_message
        )
        of_gold = of_gold or given["gold"]
        for item, place in empty.left_out_of(reading.located(file, given)):
            new.take(item, place)
    empty.tell(on_message)
    found = new.found
    if campaign.pairs is not None:
        labels = {} if options.gold is None else new_gold(options.gold, there, store.rubric(), of_gold or PLAIN)
        found = empty.without_single_texts(found, on_message)
        labels = empty.with_texts(labels)
        found = planned_pairs(found, campaign.pairs, labels, options.gold or "", seed=options.seed)
    elif options.gold and of_gold is not None:
        known = new.check_gold(options.gold, of_gold, rubric := store.rubric()) | empty.keys
        found = with_gold(found, options.gold, rubric, of_gold, known=known)
    made = store.add(found, known=new.known, seed=options.seed, dry_run=options.dry_run, lead=lead)
    status, first = store.state.current().status, tuple(empty.first)
    return Addition(made.statistics(), made.revision, len(found), new.known, status, len(empty.keys), first)


def add_apart(url: str, files: Sequence[str], options: AddOptions, *, lead: Person) -> Addition:
    """Add items as `add` does, in a process of its own with a limit on its memory, as the work takes long.

    Args:
        url: Location of the campaign.
        files: Files of items.
        options: Options of the command.
        lead: The lead who adds them.

    Raises:
        PostilError: The process takes too much memory, or it was ended.
    """
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415 - for servers only
    from multiprocessing import get_context  # noqa: PLC0415 - the same

    # A fresh process, not a fork: this one may have threads, and connections to the database.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=limit_memory) as apart:
        try:
            return apart.submit(add, url, files, options, lead=lead).result()
        except (BrokenProcessPool, MemoryError):
            problem = Message(
                "the files take more than {n} GiB of memory, or the process was ended; give fewer texts at once, or "
                "try again",
                n=MEMORY >> 30,
            )
            raise PostilError(problem) from None


def limit_memory() -> None:
    """Limit the memory of this process to `MEMORY`, where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY if most < 0 else min(MEMORY, most), most))


class _NewItems:
    """Items of files that a campaign does not have.

    Args:
        items: Items of the campaign.
        campaign: Its settings.
    """

    def __init__(self, items: Sequence[Item], campaign: Campaign) -> None:
        self.found: list[Item] = []
        self.known = 0
        self._by_item, self._pairs = campaign.by_item, campaign.pairs
        self._there: dict[tuple[str, str, int], tuple[Item, str]] = {
            _key(item): (item, Message("the campaign")) for item in items
        }
        self._articles: dict[str, tuple[Item, str]] = {item.item: (item, Message("the campaign")) for item in items}
        self._assigned = frozenset(self._articles)

    def take(self, item: Item, place: ItemPlace) -> None:
        """Take an item that is new, count one that is known, and refuse one that differs from what is there.

        Args:
            item: The item.
            place: Its location.
        """
        name = Message("{system} of {item}", system=item.system, item=item.item)
        article, where = self._articles.setdefault(item.item, (item, str(place)))
        if (article.title, article.content) != (item.title, item.content):
            part = Message("title") if article.title != item.title else Message("content")
            problem = Message(
                "{where} has another {part} of the article {item}; give it another id",
                where=where,
                part=part,
                item=item.item,
            )
            raise place.error(problem, "item")
        if _key(item) in self._there:
            other, where = self._there[_key(item)]
            if other.text != item.text:
                problem = Message(
                    "{where} has another text of {name}; give the changed text another name", where=where, name=name
                )
                raise place.error(problem)
            if other.context != item.context:
                problem = Message("{where} has another context of {name}; give it another name", where=where, name=name)
                raise place.error(problem)
            self.known += 1
            return
        if self._pairs and item.item in self._assigned:
            self.known += 1  # not all systems of an article are in one of its pairs
            return
        if self._pairs == 0 and item.item in self._assigned:
            problem = Message(
                "the campaign has all pairs of the texts of {item}, and none is of {system}; add texts with another "
                "item",
                item=item.item,
                system=item.system,
            )
            raise place.error(problem)
        if self._by_item and item.item in self._assigned:
            problem = Message(
                "the texts of {item} are assigned already, and here all texts with one item have the same annotators; "
                "add texts with another item",
                item=item.item,
            )
            raise place.error(problem, "item")
        self._there[_key(item)] = item, str(place)
        self.found.append(item)

    def check_gold(self, path: str, reading: Reading, rubric: Rubric) -> frozenset[tuple[str, str, int]]:
        """Compare gold labels with those of the campaign.

        Args:
            path: File of gold labels.
            reading: Options of reading it.
            rubric: The rubric.

        Returns:
            Names of the items that have their label already.
        """
        known: set[tuple[str, str, int]] = set()
        new = {_key(item) for item in self.found}
        rows = read(path, GoldLabel, reading)
        for index, row in enumerate(rows):
            key = row.item, row.system, row.sample
            if key in new or key not in self._there:
                continue
            item, _ = self._there[key]
            if item.gold is None:
                problem = Message(
                    "the campaign has {system} of {item} as a text to be rated; a text becomes gold when it is added, "
                    "not later",
                    system=row.system,
                    item=row.item,
                )
                raise rows.places.error(index, "item", problem)
            labels = dict(zip([scale.name for scale in rubric.scales], item.golds, strict=False))
            label = labels.get(row.aspect) if row.aspect else item.gold
            if label != row.grade:
                problem = Message(
                    "the campaign has the gold label {label} of {system} of {item}, and annotators were compared with "
                    "it",
                    label=Message("none") if label is None else f"{label:g}",
                    system=row.system,
                    item=row.item,
                )
                raise rows.places.error(index, "grade", problem)
            known.add(key)
        return frozenset(known)


def _key(item: Item) -> tuple[str, str, int]:
    return item.item, item.system, item.sample
