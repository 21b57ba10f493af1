"""Pages of leads: numbers that are computed in the background, conflicts, people, more texts, downloads.

Annotating comes first: the numbers are computed only when something was added, by one thread, which then rests for
several times as long as it computed.
"""

from __future__ import annotations

import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from postil.campaigns.add import Addition, add_apart, add_to
from postil.campaigns.calls import CampaignEstimate, agreement_of, estimate_so_far, quality_of, write_rows
from postil.campaigns.export import export_files
from postil.campaigns.models import AnnotatorProgress, Campaign, ItemRows, Person, Rating, Refused, Role
from postil.campaigns.options import TABLE_FORMATS, AddOptions, QualityOptions
from postil.campaigns.pages import tables
from postil.campaigns.pages.site import (
    LANGUAGE_COOKIE,
    LARGEST_UPLOAD,
    NEVER_CACHED,
    Form,
    HTTPError,
    Site,
    Upload,
    new_key,
    redirect_to,
    uploads_of,
)
from postil.campaigns.pages.tables import forest, heat, histogram, paths, severities, shares
from postil.campaigns.quality import inferred_grades
from postil.campaigns.rubric import Rubric, ratings_by_aspect
from postil.campaigns.state import moment, parse_moment
from postil.campaigns.view import concern_sentence
from postil.errors import InvalidInput, PostilError
from postil.messages import Command, Message, Setting
from postil.meta.parts import Agreement, severity_remarks
from postil.meta.resampling import RESAMPLES
from postil.raters.calls import AgreementOptions
from postil.web.pages import languages, page_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request

    from postil.campaigns.result import PlanBalance, QualityResult
    from postil.campaigns.store import Store
    from postil.raters.result import AgreementResult

__all__ = ["UPLOADS", "DashboardCache", "DashboardSnapshot", "TextPages", "lead_routes"]

REST: Final = 10.0
"""Seconds of rest per second of computing: annotating comes first."""


@dataclass(frozen=True, slots=True, eq=False)
class AspectNumbers:
    """Statistics of the grades of one aspect.

    Args:
        agreement: Inter-annotator agreement.
        estimate: Mean grades of systems so far.
        quality: Quality of each annotator's ratings.
    """

    agreement: AgreementResult
    estimate: CampaignEstimate
    quality: QualityResult

    @classmethod
    def of(
        cls, rubric: Rubric, ratings: Sequence[Rating], campaign: Campaign, articles: int, lengths: Mapping[int, float]
    ) -> AspectNumbers:
        """Compute the statistics of one aspect.

        Args:
            rubric: Rubric with the scale of the aspect.
            ratings: Ratings with its grades.
            campaign: Settings of the campaign.
            articles: Number of its articles whose items are rated.
            lengths: Length of each item's text by its number.
        """
        inferred = inferred_grades(ratings, rubric)
        return cls(
            agreement=agreement_of(ratings, rubric, AgreementOptions(), inferred),
            estimate=estimate_so_far(ratings, campaign, articles),
            quality=quality_of(ratings, lengths, rubric, QualityOptions(), inferred),
        )


@dataclass(frozen=True, slots=True, eq=False)
class DashboardSnapshot:
    """Statistics of a campaign at one moment.

    Args:
        version: Version of the store.
        annotator_progress: Progress of each annotator.
        items: Number of rated items.
        ratings: Number of ratings.
        conflicts: Numbers of the items with disagreement that are not adjudicated, largest first.
        adjudicated: Numbers of the adjudicated items, ascending.
        aspects: Numbers of each aspect by name; one entry where the rubric has no aspects.
    """

    version: tuple[int, ...]
    annotator_progress: tuple[AnnotatorProgress, ...]
    items: int
    ratings: int
    conflicts: tuple[int, ...]
    adjudicated: tuple[int, ...]
    aspects: dict[str, AspectNumbers]

    @classmethod
    def of(cls, store: Store, far: float) -> DashboardSnapshot:
        """Compute a snapshot.

        Args:
            store: Store of the campaign.
            far: Smallest distance of grades that is a disagreement.
        """
        version = store.version()  # read first, so that changes during the computation make the snapshot stale
        ratings, rubric = store.results.ratings(), store.rubric()
        adjudicated = {one.number for one in store.results.adjudications()}
        campaign, articles, lengths = store.campaign(), store.results.articles(), store.results.lengths()
        return cls(
            version=version,
            annotator_progress=tuple(store.people.annotator_progress()),
            items=len({rating.number for rating in ratings}),
            ratings=len(ratings),
            conflicts=tuple(number for number in store.results.apart(far) if number not in adjudicated),
            adjudicated=tuple(sorted(adjudicated)),
            aspects={
                scale.name: AspectNumbers.of(scale, some, campaign, articles, lengths)
                for scale, some in ratings_by_aspect(ratings, rubric)
            },
        )


class DashboardCache:
    """Cache of the latest snapshot, computed in a thread of its own.

    Args:
        store: Store of the campaign.
        far: Smallest distance of grades that is a disagreement.
        patience: Seconds that `latest` waits for a fresh snapshot, if the last one took no longer.
    """

    def __init__(self, store: Store, far: float, patience: float) -> None:
        self._store, self._far, self._patience = store, far, patience
        self._changed = Condition()
        self._numbers: DashboardSnapshot | None = None
        self._working = False
        self._not_before = self._took = 0.0
        self._problem = ""

    def latest(self) -> tuple[DashboardSnapshot | None, bool]:
        """Return the latest snapshot, and True if it is up to date; None before the first.

        Raises:
            PostilError: It cannot be computed.
        """
        version = self._store.version()

        def fresh() -> bool:
            return self._numbers is not None and self._numbers.version == version

        with self._changed:
            if not fresh() and not self._working:
                self._working = True  # at most one thread computes, however many pages are requested
                Thread(target=self._work, name="postil-numbers", daemon=True).start()
            if self._working and self._took <= self._patience:
                self._changed.wait_for(lambda: fresh() or not self._working, self._patience)
            if self._numbers is None and self._problem:
                raise PostilError(self._problem)
            return self._numbers, fresh()

    def _work(self) -> None:
        time.sleep(max(0.0, self._not_before - time.monotonic()))
        began, numbers, problem = time.monotonic(), None, ""
        try:
            numbers = DashboardSnapshot.of(self._store, self._far)
        except Exception as error:
            problem = str(error) or type(error).__name__
        with self._changed:
            self._numbers, self._problem = numbers or self._numbers, problem
            self._took = time.monotonic() - began
            self._not_before = time.monotonic() + REST * self._took
            self._working = False
            self._changed.notify_all()


YEAR: Final = 365 * 86_400
PAGE_SIZE: Final = 10
"""Number of conflicts per page."""

ZONES: Final = sorted(
    (
        *(f"-{hours:02}:00" for hours in range(12, 0, -1)),
        *(f"+{hours:02}:00" for hours in range(15)),
        *("-03:30", "+03:30", "+04:30", "+05:30", "+05:45", "+06:30", "+09:30"),
    ),
    key=lambda zone: int(f"{zone[0]}{zone[1:3]}{zone[4:]}"),
)
"""Offsets from UTC that a deadline can be given in."""

TABS: Final = {
    "overview": ("/lead", "Progress"),
    "agreement": ("/lead/agreement", "Agreement"),
    "quality": ("/lead/quality", "Quality"),
    "estimate": ("/lead/estimate", "Estimate"),
    "conflicts": ("/lead/conflicts", "Conflicts"),
}
"""Pages of leads: the path and the title of each; its template has the same name."""


def _labels(found: Agreement, names: Mapping[float, str]) -> list[str]:
    """The grades, or the names of some."""
    return [names.get(label, f"{label:g}") for label in found.labels]


SHOWS: Final[Mapping[str, Mapping[str, object]]] = {
    "overview": {"link": ""},
    "agreement": {"labels_of": _labels, "histogram": histogram, "heat": heat, "resamples": RESAMPLES},
    "quality": {"shares": shares, "paths": paths, "concern": concern_sentence},
    "estimate": {"forest": forest, "on_severity": severity_remarks},
}
"""Variables of the templates of the pages that show numbers alone."""

SHOWN: Final = {
    "kappa-quadratic-pooled": "Scott's pi, quadratic",
    "alpha-ordinal": "Alpha, ordinal",
    "within-1": "Adjacent agreement",
}
"""Statistics at the top of the first page."""


KINDS: Final = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
"""Media types by suffix."""

_NAMES: Final = {
    "ratings": (Message("one row per rating"), TABLE_FORMATS),
    "resolved": (Message("one row per item: mean, adjudicated grade, number of ratings"), TABLE_FORMATS),
    "annotators": (Message("one row per annotator: number of ratings, competence"), TABLE_FORMATS),
    "judgements": (Message("for {command}", command=Command("correlate", (), (Setting("judgements"),))), ("jsonl",)),
    "preferences": (Message("for {command}", command=Command("compare", (), (Setting("preferences"),))), ("jsonl",)),
    "references": (Message("for {command}", command=Command("score", (), (Setting("references"),))), ("jsonl",)),
    "passages": (Message("for {command}", command=Command("passages")), ("jsonl",)),
    "codebook": (Message("meaning of columns and grades"), ("json",)),
}


def lead_routes(site: Site, *, patience: float) -> list[Route]:
    """Routes of leads.

    Args:
        site: Site of the campaign.
        patience: Seconds that a page waits for fresh numbers.
    """
    pages = _Pages(site, patience)
    return [
        *(Route(TABS[tab][0], partial(pages.show, tab=tab)) for tab in SHOWS),
        Route("/lead/conflicts", pages.conflicts),
        Route("/lead/files/{name}", pages.file),
        Route("/lead/adjudicate", pages.adjudicate, methods=["POST"]),
        Route("/lead/invite", pages.invite, methods=["POST"]),
        Route("/lead/remove", pages.remove, methods=["POST"]),
        Route("/lead/state", pages.state, methods=["POST"]),
    ]


class _Pages:
    def __init__(self, site: Site, patience: float) -> None:
        self._site, self._store = site, site.store
        self._files = _names_of(site.campaign.rows, pairs=site.rubric.kind == "pair")
        self._scales = site.rubric.scales
        self._far = 0.5 if site.rubric.kind == "spans" else 2.0
        self._dashboard = DashboardCache(site.store, self._far, patience)
        site.show(severities=severities, number=tables.number, ago=_ago, tabs=TABS, languages=languages())
        site.show(life=site.store.state, moment=moment, zones=ZONES)

    def show(self, request: Request, tab: str) -> Response:
        """Show the page of a tab that takes nothing but the numbers."""
        return self._page(request, tab, **SHOWS[tab])

    def conflicts(self, request: Request) -> Response:
        """Show items with disagreement, or adjudicated ones."""
        self._site.current_lead(request)
        numbers, _ = self._dashboard.latest()
        adjudicated = request.query_params.get("show") == "adjudicated"
        rest = () if numbers is None else numbers.adjudicated if adjudicated else numbers.conflicts
        page = request.query_params.get("page", "1")
        page_number = int(page) if re.fullmatch("[0-9]{1,6}", page) and int(page) else 1
        first = (page_number - 1) * PAGE_SIZE
        cases = self._store.results.cases(rest[first : first + PAGE_SIZE])
        return self._page(
            request,
            "conflicts",
            # The snapshot may be older than the last adjudication.
            cases=[one for one in cases if adjudicated or one.adjudication is None],
            adjudicated=adjudicated,
            page=page_number,
            pages=max(1, -(-len(rest) // PAGE_SIZE)),
            key=new_key,
            total=len(rest),
        )

    def file(self, request: Request) -> Response:
        """Download a file."""
        self._site.current_lead(request)
        name: str = request.path_params["name"]
        stem, _, kind = name.partition(".")
        if stem not in self._files or kind not in self._files[stem][1]:
            raise HTTPError(404, "There is no such page")
        content = _file_of(self._store, stem, kind)
        if content is None:
            raise HTTPError(404, "There are no ratings yet")
        headers = NEVER_CACHED | {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=KINDS[kind], headers=headers)

    def adjudicate(self, request: Request) -> Response:
        """Store an adjudication."""
        lead, form = self._submitted(request)
        number = form.number("number")
        grade, reason = form.real("grade"), form.get("reason", "")
        self._store.results.adjudicate(lead, number, grade, reason, idempotency_key=form.get("idempotency_key", ""))
        if "hx-request" not in request.headers:
            return redirect_to("/lead/conflicts")
        parts = self._site.parts("case.html", self._site.language(request))
        case = parts.case(self._store.results.conflict(number), self._site.csrf(request), new_key())
        return HTMLResponse(case, headers=NEVER_CACHED)

    def invite(self, request: Request) -> Response:
        """Invite a person and show the link once."""
        lead, form = self._submitted(request)
        name = form.get("name", "")
        role: Role = "lead" if form.get("role") == "lead" else "annotator"
        share = None
        if form.get("late"):
            if role == "lead":
                raise Refused("invalid", "a lead needs no items, so there is no late one")
            token, share = self._store.people.invite_late(name, by=lead)
        else:
            token = self._store.people.invite(name, role, keep=request.cookies[self._site.cookie])
        link = self._site.link(request, f"/join/{token}")
        here = self._site.is_here(link)
        return self._page(request, "overview", link=link, here=here, invited=name, share=share)

    def remove(self, request: Request) -> Response:
        """Remove an annotator."""
        lead, form = self._submitted(request)
        number = form.number("person")
        person = next(
            (one for one in self._store.people.everyone() if one.id == number and one.role == "annotator"), None
        )
        if person is None:
            raise HTTPError(404, "There is no such annotator")
        self._store.people.remove(person, reserve=form.get("then") == "reserve", by=lead)
        return redirect_to("/lead")

    def state(self, request: Request) -> Response:
        """Pause, resume or close the campaign, or set its deadline."""
        lead, form = self._submitted(request)
        state, action, message = self._store.state, form.get("action", ""), form.get("message", "")
        if action == "pause":
            state.pause(message, by=lead)
        elif action == "resume":
            state.resume(by=lead)
        elif action == "close":
            state.close(message, by=lead)
        elif action == "deadline":
            state.set_deadline(parse_moment(f"{form.get('when', '')}{form.get('zone', '')}"), by=lead)
        elif action == "no-deadline":
            state.set_deadline(None, by=lead)
        else:
            raise Refused(
                "invalid", "action: expected pause, resume, close, deadline or no-deadline, got '{got}'", got=action
            )
        return redirect_to("/lead")

    def _page(self, request: Request, tab: str, **values: object) -> Response:
        self._site.current_lead(request)
        numbers, fresh = self._dashboard.latest()
        lang = self._site.language(request)
        aspect = request.query_params.get("aspect", "")
        scale = next((each for each in self._scales if each.name == aspect), self._scales[0])
        response = self._site.page(
            "lead.html",
            tab=tab,
            numbers=numbers,
            measured=numbers.aspects[scale.name] if numbers else None,
            aspect=scale.name,
            scales=self._scales,
            fresh=fresh,
            csrf=self._site.csrf(request),
            lang=lang,
            now=time.time(),
            people={person.id: person for person in self._store.people.everyone()},
            conflicts=len(numbers.conflicts) if numbers else 0,
            far=self._far,
            heads=SHOWN,
            files=self._files,
            **values,
        )
        if "lang" in request.query_params:
            self._site.set_cookie(response, LANGUAGE_COOKIE, lang, YEAR)
        return response

    def _submitted(self, request: Request) -> tuple[Person, Form]:
        self._site.current_lead(request)
        return self._site.submitted(request)


def _names_of(source: ItemRows | None, *, pairs: bool = False) -> dict[str, tuple[Message, tuple[str, ...]]]:
    """Names of the files of a campaign, each with its description and its suffixes."""
    only = {"references": "articles", "passages": "passages", "preferences": source if pairs else None}
    return {name: about for name, about in _NAMES.items() if only.get(name, source) == source}


def _file_of(store: Store, name: str, kind: str) -> bytes | None:
    """One of the files of `postil annotate export` with the current ratings; None if there are none yet."""
    file = f"{name}.{kind}"
    try:
        rows = export_files(
            store, inferred_grades, table_format=kind if kind in TABLE_FORMATS else TABLE_FORMATS[0]
        ).get(file)
    except InvalidInput:
        return None
    if rows is None:
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        write_rows(str(path), rows)
        return path.read_bytes()


def _ago(then: float | None, now: float, _: Callable[[str], str]) -> str:
    """Format the time since a moment."""
    if then is None:
        return "–"
    past = max(0, int(now - then))
    for size, said in ((86_400, _("{n} d ago")), (3_600, _("{n} h ago")), (60, _("{n} min ago"))):
        if past >= size:
            return said.format(n=past // size)
    return _("now")


UPLOADS: Final = "/lead/texts"
"""Path of the only form with files."""

ROLES: Final = ("texts", "articles", "gold")
"""Files of the form; the first one is required."""

LIFETIME: Final = 3_600.0
"""Seconds for which uploaded files wait for confirmation."""


class _Pending(NamedTuple):
    """Uploaded files that wait for confirmation."""

    token: str
    since: float
    folder: TemporaryDirectory[str]
    names: Mapping[str, str]


class TextPages:
    """The page of leads with the texts of the campaign; `close` must follow.

    Args:
        site: Site of the campaign.
        url: Location of the campaign, for a process of its own that adds texts, as the work would keep annotators
            waiting in this one; None to add them in this process.
    """

    def __init__(self, site: Site, url: str | None) -> None:
        self._site, self._store, self._url = site, site.store, url
        self._pending: dict[int, _Pending] = {}  # by lead
        self._lock = Lock()

    def routes(self) -> list[Route]:
        """Routes of the page."""
        return [
            Route(UPLOADS, self.show),
            Route(UPLOADS, self.preview, methods=["POST"]),
            Route(f"{UPLOADS}/add", self.confirm, methods=["POST"]),
        ]

    def close(self) -> None:
        """Remove the files that nobody confirmed."""
        while self._pending:
            _remove(self._pending.popitem()[1])

    def show(self, request: Request) -> Response:
        """Show the revisions of the plan, its balance, and the form."""
        self._site.current_lead(request)
        return self._page(request)

    def preview(self, request: Request) -> Response:
        """Show what uploaded files would add; they wait for confirmation."""
        lead = self._site.current_lead(request)
        form, files = uploads_of(request)
        self._site.check_csrf(request, form)
        if ROLES[0] not in files:
            return self._page(request, 422, problem=Message("Choose a file with texts."))
        campaign = self._store.campaign()
        if "articles" not in files and campaign.rows == "candidates" and "article" in (campaign.context or ()):
            return self._page(request, 422, problem=Message("Choose a file with the articles of these texts, too."))
        with self._lock:
            pending = self._keep(lead, {role: files[role] for role in ROLES if role in files})
        try:
            found = self._add(pending, lead, dry_run=True)
        except PostilError as error:
            with self._lock:
                self._drop(lead)
            return self._page(request, 422, problem=self._told(request, error, pending))
        return self._page(request, found=found, pending=pending)

    def confirm(self, request: Request) -> Response:
        """Add the texts of uploaded files."""
        lead, form = self._site.submitted(request)
        self._site.current_lead(request)
        with self._lock:  # of two requests at once, one takes the files
            pending = self._pending.get(lead.id)
            if pending is None or not secrets.compare_digest(pending.token.encode(), form.get("token", "").encode()):
                raise HTTPError(404, "These files are not here any more", "Choose them again.")
            del self._pending[lead.id]
        try:
            found = self._add(pending, lead, dry_run=False)
        except PostilError as error:
            return self._page(request, 422, problem=self._told(request, error, pending))
        finally:
            _remove(pending)
        return self._page(request, done=found)

    def _page(self, request: Request, status: int = 200, **values: object) -> Response:
        lang, campaign = self._site.language(request), self._store.campaign()
        shown = campaign.context or () if campaign.rows == "candidates" else campaign.shown  # which cannot do without
        return self._site.page(
            "growth.html",
            status,
            csrf=self._site.csrf(request),
            lang=lang,
            revisions=self._store.results.revisions(()),
            balance=self._balance(),
            beside="article" in shown and campaign.rows != "passages",
            drawn=campaign.drawn is not None,
            largest=LARGEST_UPLOAD // 2**20,
            path=UPLOADS,
            **{"problem": "", "found": None, "done": None, "pending": None, **values},
        )

    def _balance(self) -> PlanBalance | None:
        left = frozenset(person.pseudonym for person in self._store.people.everyone() if person.left)
        return self._store.plan().balance(left)

    def _keep(self, lead: Person, files: Mapping[str, Upload]) -> _Pending:
        """Store uploaded files until they are confirmed; a lead has one set of them."""
        self._drop(lead, before=time.monotonic() - LIFETIME)
        folder = TemporaryDirectory(prefix="postil-texts-")
        names: dict[str, str] = {}
        for role, file in files.items():
            path = Path(folder.name, role, file.name)
            path.parent.mkdir()
            path.write_bytes(file.content)
            names[role] = str(path)
        self._pending[lead.id] = _Pending(secrets.token_hex(16), time.monotonic(), folder, names)
        return self._pending[lead.id]

    def _drop(self, lead: Person, before: float = 0.0) -> None:
        """Remove the files of a lead, and those of others that have waited for too long; the lock is held."""
        for number, one in list(self._pending.items()):
            if number == lead.id or one.since < before:
                _remove(self._pending.pop(number))

    def _told(self, request: Request, error: PostilError, pending: _Pending) -> str:
        """Words of an error, with the names of the files as the lead knows them."""
        text = error.words(page_in(self._site.language(request)))
        for path in pending.names.values():
            text = text.replace(path, Path(path).name)
        return text

    def _add(self, pending: _Pending, lead: Person, *, dry_run: bool) -> Addition:
        names = pending.names
        options = AddOptions(articles=names.get("articles"), gold=names.get("gold"), dry_run=dry_run)
        if self._url is None:
            return add_to(self._store, [names["texts"]], options, lead=lead)
        return add_apart(self._url, [names["texts"]], options, lead=lead)


def _remove(pending: _Pending) -> None:
    with suppress(OSError):
        pending.folder.cleanup()
