"""`postil forget`: erase comments from models, corpora, labels of services and answers of language models, for good."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, Unpack

import msgspec

from postil.corpus.duplicates import compact_text
from postil.corpus.erasure import erase_comments, rows
from postil.corpus.forgotten import Chosen, Erasure, comment_key, erasures, keys_of
from postil.corpus.result import ForgottenFolder
from postil.corpus.store import METADATA, Corpus
from postil.corpus.view import card
from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import empty_folder, locked
from postil.data.fields import plain_id
from postil.data.model_folders import Change, Model, changing, training_folder
from postil.data.row_files import read
from postil.data.suggestions import Source
from postil.endpoint.cache import AnswerCache
from postil.erasure.models import ErasableModel, noted, unserved
from postil.erasure.options import ForgetOptions
from postil.erasure.result import ForgetResult
from postil.erasure.screens import ErasableScreen, keys_to_erase
from postil.erasure.store import NAME, erase_stored, stored_comments
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.screening.model import KIND as SCREEN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from postil.data.streams import FilePath
    from postil.keywords import ForgetKeywords

Pair: TypeAlias = tuple[str, str]
Screens: TypeAlias = "dict[str, ErasableScreen]"

__all__ = ["Screens", "find_comments", "forget", "forget_while_served"]

RUN: Final = 8
"""Number of words in sequence by which an answer is taken to show a comment."""
QUOTED: Final = 5
"""Least number of words of a text for which comments that contain it are told."""
ROWS: Final = Setting("listed", Blank("FILE"))
WANTED: Final = (Setting("comments", Blank("ARTICLE:COMMENT")), ROWS, Setting("articles", Blank("ID")))
"""Settings that name what is to be erased."""


@dataclass(frozen=True, eq=False, slots=True)
class _Source:
    """Comments that may be named.

    Args:
        name: Name of the folder that has them.
        known: Keys of what was erased before; of a screen, which has no ids, also of what it has.
        rows: Function that yields ids of article and comment, and the text, of each comment.
    """

    name: str
    known: frozenset[str]
    rows: Callable[[], Iterator[tuple[str, str, str]]]


@dataclass(frozen=True, eq=False, slots=True)
class _Place(_Source):
    """A folder with comments.

    Args:
        erase: Function that erases comments, with words that nothing else elsewhere uses, or tells in a dry run what it
            would; returns the outcome, and the words that nothing else there uses.
        check: Function that raises what keeps it from erasing comments, before anything is changed.
        has_texts: True if its rows have texts, by which copies elsewhere are found.
    """

    erase: Callable[[Chosen, Collection[str], bool], tuple[ForgottenFolder, list[str]]]
    check: Callable[[Chosen], object] = lambda _: None
    has_texts: bool = True


def forget(
    models: Sequence[FilePath], options: ForgetOptions | None = None, **keywords: Unpack[ForgetKeywords]
) -> ForgetResult:
    """Erase comments for good.

    From models: texts, ids, vectors and word ids of the comments, words that nothing else uses, and the checkpoints of
    an interrupted training. From corpora: the same, in tables and token arrays. From stores of services, those that
    have served a model among them: labels, decisions of moderators and waiting deliveries. Each folder is replaced in
    one step where the system can. A record in its ``metadata.json`` names no text and no id, but keeps the comments out
    of later updates. Weights of a network that was trained on the comments stay: only training again removes what it
    learned. Screens are learned again without the decisions on the comments, which they know by hashes of their ids.

    Args:
        models: Model folders.
        options: The comments, and further folders.
        keywords: Fields of the options, in place of an object.

    Raises:
        UsageError: Nothing to erase or to erase from, an ambiguous comment, a folder that is changed or served now, or
            a store that is not there any more while no other one is named.
        InvalidInput: No folder has a comment or article, or a folder is damaged; nothing is changed.
        MissingExtra: A model needs torch, or a corpus pyarrow, which is not installed.
        PostilError: The operating system reports an error.
    """
    check_arguments(forget, locals())
    return _forget(models, options_of(ForgetOptions, options, keywords), None)


def forget_while_served(
    models: Sequence[FilePath],
    options: ForgetOptions,
    store: str,
    chosen: Chosen | None = None,
    screens: Screens | None = None,
) -> ForgetResult:
    """Erase comments for a service that serves the models and keeps others from doing so; see `forget`.

    Args:
        models: Model folders.
        options: The comments.
        store: Folder of its store, from which it erases itself; empty for none.
        chosen: The comments that `find_comments` has found, some in the store alone.
        screens: The screens that it has learned again.

    Raises:
        PostilError: See `forget`.
    """
    found = () if chosen is None else (_Source(store, frozenset(chosen.keys), lambda: iter(())),)
    return _forget(models, options, store, found, screens)


def _forget(
    models: Sequence[FilePath],
    options: ForgetOptions,
    service: str | None,
    more: Sequence[_Source] = (),
    screens: Screens | None = None,
) -> ForgetResult:
    """Erase comments, for a service with the folder of its store (empty for none) or for none."""
    if not (models or options.corpora or options.caches or options.data or service):
        raise UsageError(
            "expected a model, or {corpus} or {cache}, to erase from",
            corpus=Setting("corpora"),
            cache=Setting("caches"),
        )
    if not (options.comments or options.listed or options.articles):
        raise UsageError("expected {some}", some=Listed(WANTED, last=" or "))
    paths = [os.path.realpath(one) for one in (*models, *options.corpora, *options.caches, *options.data)]
    if twice := next((path for at, path in enumerate(paths) if path in paths[:at]), None):
        raise UsageError(f"{twice} is named twice")
    with ExitStack() as held:
        for folder in () if options.dry_run else (*models, *options.corpora):
            if Path(folder).is_dir():
                held.enter_context(changing(folder))
        stores = _Stores.found(models, options, service, held)
        places = [_corpus(folder) for folder in options.corpora]
        places += [_model(os.fspath(folder), screens) for folder in models]
        if options.caches and not (stores.there or service or any(place.has_texts for place in places)):
            raise UsageError(
                "expected a model, {corpus} or {data} besides {cache}: texts of comments are needed",
                corpus=Setting("corpora"),
                data=Setting("data"),
                cache=Setting("caches"),
            )
        found = _find([*places, *map(_decisions, stores.there), *more], options)

        def copies(*, dry_run: bool) -> list[ForgottenFolder]:
            answers = [_answers(folder, found.texts, dry_run=dry_run) for folder in options.caches]
            return answers + [_labels(folder, found, dry_run=dry_run) for folder in stores.there]

        for place in places:
            place.check(found.chosen)
        without_ids = copies(dry_run=True)  # which finds what is wrong with them before anything is changed
        if not options.dry_run:
            without_ids = copies(dry_run=False)  # first, since they are known by texts that the others have
        words, folders = set[str](), list[ForgottenFolder]()
        for place in places:
            outcome, orphans = place.erase(found.chosen, words, options.dry_run)
            same, quoting = found.same.get(place.name, ()), found.quoting.get(place.name, ())
            folders.append(msgspec.structs.replace(outcome, same_text=same, quoting=quoting))
            words.update(orphans)
    chosen = found.chosen
    return ForgetResult(
        folders=(*folders, *without_ids),
        comments=len(chosen.comments),
        articles=len(chosen.articles),
        dry_run=options.dry_run,
        serving=stores.serving,
        missing=stores.missing,
    )


def find_comments(
    models: Sequence[FilePath], options: ForgetOptions, store: str, screens: Screens | None = None
) -> tuple[Chosen, tuple[str, ...]]:
    """Find the comments that `forget_while_served` would erase, to erase them where it does not reach.

    Args:
        models: Model folders.
        options: The comments.
        store: Folder of the store of the service, which has decisions on comments; empty for none.
        screens: Gets the screens, which are learned again without the comments, so that this is done once.

    Returns:
        The comments, and their texts, without differences of case and spaces.

    Raises:
        UsageError: A comment is ambiguous, or a service uses the store of one that has served a model.
        InvalidInput: No folder has a comment, or a folder is damaged.
        MissingExtra: A screen has a comment, and scikit-learn is not installed.
    """
    with ExitStack() as held:
        _Stores.found(models, options, store, held)
    places = [_model(os.fspath(folder), screens) for folder in models]
    found = _find([*places, *map(_decisions, [store] if store else [])], options)
    for place in places:
        place.check(found.chosen)
    return found.chosen, found.texts


@dataclass(frozen=True, slots=True)
class _Stores:
    """Folders of stores to erase from, those that are not there any more, and models that are served now."""

    there: tuple[str, ...]
    missing: tuple[str, ...]
    serving: tuple[str, ...]

    @classmethod
    def found(cls, models: Sequence[FilePath], options: ForgetOptions, service: str | None, held: ExitStack) -> _Stores:
        """Find the stores, and keep services from the models and from the stores until the stack is unwound."""
        there = {os.path.realpath(folder): folder for folder in options.data}
        missing: dict[str, None] = {}
        serving: list[str] = []
        for model in (one for one in models if Path(one).is_dir()):
            if options.dry_run or service is not None:
                stores, served = noted(model)
                serving += [os.fspath(model)] * (served and service is None)
            else:
                stores = held.enter_context(unserved(model))
            for store in stores:
                if service and os.path.realpath(service) == store:
                    continue
                if Path(store, NAME).is_file():
                    there.setdefault(store, store)
                else:
                    missing[store] = None
        for store in there.values():
            if Path(store).is_dir() and not options.dry_run:
                problem = "a service that runs stores its data there; erase by its POST /v1/forget, or stop it first"
                held.enter_context(locked(store, f"{store}: {problem}"))
        if missing and service is None and not (options.data or options.dry_run):
            raise UsageError(
                "{folders}: a service stored labels there, which are known by texts that are erased with the comments, "
                "and it is not there any more; name that folder by {data} if it was moved, or remove the file "
                ".MODEL.served beside the model",
                folders=", ".join(missing),
                data=Setting("data"),
            )
        return cls(tuple(there.values()), tuple(missing), tuple(serving))


@dataclass(frozen=True, slots=True)
class _Found:
    """The comments to erase, and others with the same text or a quotation of it, by folder."""

    chosen: Chosen
    texts: tuple[str, ...]
    same: dict[str, tuple[Pair, ...]]
    quoting: dict[str, tuple[Pair, ...]]


def _find(places: Sequence[_Source], options: ForgetOptions) -> _Found:
    """Look the comments up in all folders, and then their texts."""
    wanted = _wanted(options)
    spelled = {pair for pairs in wanted.values() for pair in pairs}
    articles = frozenset(options.articles)
    there: set[Pair] = set()
    known_articles: set[str] = set()
    texts: set[str] = set()
    for place in places:
        for article, comment, text in place.rows():
            if article in articles or (article, comment) in spelled:
                there.add((article, comment))
                known_articles.add(article)
                texts.add(compact_text(text))
    before = frozenset().union(*(place.known for place in places))
    chosen = {_one_of(name, pairs, there, before) for name, pairs in wanted.items()}
    for article in articles:
        if article not in known_articles and comment_key(article) not in before:
            names = ", ".join(place.name for place in places)
            raise InvalidInput(f"no article '{article}' in {names}; nothing was changed")
    texts.discard("")
    same, quoting = _copies(places, Chosen(frozenset(chosen), articles), texts)
    if options.same_text:
        chosen |= {pair for pairs in same.values() for pair in pairs}
        same = {}
    return _Found(Chosen(frozenset(chosen), articles), tuple(sorted(texts)), same, quoting)


def _wanted(options: ForgetOptions) -> dict[str, list[Pair]]:
    """For each comment that is named, the pairs of ids that it may be."""
    wanted: dict[str, list[Pair]] = {}
    for name in options.comments:
        parts = name.split(":")
        wanted[name] = [(":".join(parts[:at]), ":".join(parts[at:])) for at in range(1, len(parts))]
        if not wanted[name]:
            raise UsageError(
                "{comment}: expected ARTICLE:COMMENT, the ids of the article and of the comment",
                comment=Setting("comments", name),
            )
    for row in read(options.listed, Source) if options.listed else ():
        wanted[f"{row.article}:{row.comment}"] = [(row.article, row.comment)]
    return wanted


def _one_of(name: str, pairs: Sequence[Pair], there: set[Pair], before: frozenset[str]) -> Pair:
    """The pair of ids that exists, or was erased before."""
    found = [pair for pair in pairs if pair in there] or [pair for pair in pairs if comment_key(*pair) in before]
    if not found:
        raise InvalidInput(f"no comment '{name}' in the folders; expected ARTICLE:COMMENT; nothing was changed")
    if len(found) > 1:
        both = [
            Message("comment '{comment}' of article '{article}'", comment=comment, article=article)
            for article, comment in found
        ]
        raise UsageError(
            "{comment}: {both}? Name it in a file of rows: {file}",
            comment=Setting("comments", name),
            both=Listed(both, last=" or ", between=" or "),
            file=ROWS,
        )
    return found[0]


def _copies(
    places: Sequence[_Source], chosen: Chosen, texts: Collection[str]
) -> tuple[dict[str, tuple[Pair, ...]], dict[str, tuple[Pair, ...]]]:
    """Other comments with the same text, and those that contain it, by folder."""
    long = [text for text in texts if len(text.split()) >= QUOTED or (not text.isascii() and len(text) >= 2 * QUOTED)]
    same: dict[str, tuple[Pair, ...]] = {}
    quoting: dict[str, tuple[Pair, ...]] = {}
    for place in places if texts else ():
        equal: list[Pair] = []
        within: list[Pair] = []
        for article, comment, text in place.rows():
            if not chosen.has(article, comment):
                plain = compact_text(text)
                if plain in texts:
                    equal.append((article, comment))
                elif any(one in plain for one in long):
                    within.append((article, comment))
        same[place.name], quoting[place.name] = tuple(equal), tuple(within)
    return same, quoting


def _model(name: str, screens: Screens | None) -> _Place:
    if Model.open(name, {*ErasableModel.KINDS, SCREEN}).kind == SCREEN:
        found = None if screens is None else screens.get(name)
        if found is None:
            found = ErasableScreen.open(name)
        if screens is not None:
            screens[name] = found
        return _screen(name, found)
    erasable = ErasableModel.open(name)
    model = erasable.model
    done = erasures(model.metadata.get("forgotten"), model.path / METADATA)
    known = keys_of(done)

    def erase(chosen: Chosen, words: Collection[str], dry_run: bool) -> tuple[ForgottenFolder, list[str]]:  # noqa: FBT001
        erased = erasable.erased(chosen, words)
        files, after = erased.change.files, model.hash
        if not dry_run and (files or not known.issuperset(chosen.keys)):
            record = Erasure(erased.comments, erased.articles, model.hash, files, chosen.keys)
            forgotten = msgspec.to_builtins([*done, record], enc_hook=plain_id)
            erased.change.write(os.path.realpath(name), {"forgotten": forgotten}, replace=True)
            after = ErasableModel.open(name).model.hash
        if not dry_run:
            empty_folder(training_folder(name))  # of the checkpoints of an interrupted training
        return ForgottenFolder(
            folder=name,
            content=model.kind,
            comments=erased.comments,
            articles=erased.articles,
            words=erased.words,
            same_text=(),
            quoting=(),
            network=erasable.has_network and bool(erased.comments),
            files=files,
            hash_before=model.hash,
            hash=after,
        ), []

    return _Place(name, known, erasable.rows, erase)


def _screen(name: str, erasable: ErasableScreen) -> _Place:
    model = erasable.model

    def erase(chosen: Chosen, _words: Collection[str], dry_run: bool) -> tuple[ForgottenFolder, list[str]]:  # noqa: FBT001
        erased, after = erasable.erased(chosen), model.hash
        keys = keys_to_erase(chosen)
        if not dry_run and (erased.files or not keys_of(erasable.done).issuperset(keys)):
            record = Erasure(erased.comments, erased.articles, model.hash, erased.files, keys)
            forgotten = msgspec.to_builtins([*erasable.done, record], enc_hook=plain_id)
            where = os.path.realpath(name)
            if erased.screen is None:
                Change(model, {}, {}).write(where, {"forgotten": forgotten}, replace=True)
            else:
                erased.screen.write(where, forgotten)
            after = Model.open(name).hash
        return ForgottenFolder(
            folder=name,
            content=model.kind,
            comments=erased.comments,
            articles=erased.articles,
            words=0,
            same_text=(),
            quoting=(),
            network=False,
            files=erased.files,
            hash_before=model.hash,
            hash=after,
        ), []

    return _Place(name, erasable.known, lambda: iter(()), erase, erasable.erased, has_texts=False)


def _corpus(name: str) -> _Place:
    corpus = Corpus.open(name)
    known = keys_of(corpus.metadata.forgotten)

    def erase(chosen: Chosen, _words: Collection[str], dry_run: bool) -> tuple[ForgottenFolder, list[str]]:  # noqa: FBT001
        again = known.issuperset(chosen.keys)
        found = erase_comments(corpus, chosen, card, dry_run=dry_run or again)
        return ForgottenFolder(
            folder=name,
            content="corpus",
            comments=found.comments,
            articles=found.articles,
            words=len(found.words),
            same_text=(),
            quoting=(),
            network=False,
            files=() if again else tuple(found.files),
            hash_before=None,
            hash=None,
        ), found.words

    return _Place(name, known, partial(rows, corpus), erase)


def _answers(folder: str, texts: Sequence[str], *, dry_run: bool) -> ForgottenFolder:
    """Erase the answers that show a text."""
    erased = AnswerCache.erase(folder, _shows(texts), dry_run=dry_run)
    return ForgottenFolder(
        folder=folder,
        content="answers",
        comments=erased,
        articles=0,
        words=0,
        same_text=(),
        quoting=(),
        network=False,
        files=("answers.sqlite",) if erased else (),
        hash_before=None,
        hash=None,
    )


def _decisions(folder: str) -> _Source:
    """The comments that a service has decisions of moderators on."""
    return _Source(folder, frozenset(), partial(stored_comments, folder))


def _labels(folder: str, found: _Found, *, dry_run: bool) -> ForgottenFolder:
    """Erase the labels, decisions and waiting deliveries of a service that show a comment."""
    erased = erase_stored(folder, found.chosen, found.texts, dry_run=dry_run)
    return ForgottenFolder(
        folder=folder,
        content="labels",
        comments=erased.labels,
        articles=0,
        words=0,
        same_text=(),
        quoting=found.quoting.get(folder, ()),
        network=False,
        files=(NAME,) if erased.labels or erased.deliveries or erased.decisions else (),
        hash_before=None,
        hash=None,
        deliveries=erased.deliveries,
        decisions=erased.decisions,
    )


def _shows(texts: Sequence[str]) -> Callable[[str], bool]:
    """A function that is True for an answer with a text in it, or with 8 words in sequence of one.

    A text of one or two words has to be the whole answer.
    """
    short = {text for text in texts if len(text.split()) < 3 and (text.isascii() or len(text) < QUOTED)}
    within = [text for text in texts if text not in short]
    runs = {run for text in within for run in _runs(text)}

    def shows(answer: str) -> bool:
        plain = compact_text(answer)
        return plain in short or any(text in plain for text in within) or not runs.isdisjoint(_runs(plain))

    return shows


def _runs(text: str) -> set[tuple[str, ...]]:
    """All runs of 8 words."""
    words = text.split()
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
