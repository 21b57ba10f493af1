"""Calls of `postil annotate` on a campaign (invite, pause, close, measure, export), and how commands open one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.campaigns.export import export_files, judgements, preferences
from postil.campaigns.options import (
    CampaignAgreementOptions,
    ExportOptions,
    InviteOptions,
    QualityOptions,
    RemoveOptions,
    ServeOptions,
    checked_base_url,
    is_local,
)
from postil.campaigns.quality import (
    InferredGrades,
    annotator_quality,
    inferred_grades,
    with_gold_labels,
    with_themselves,
)
from postil.campaigns.result import QualityResult
from postil.campaigns.rubric import Rubric, ratings_of
from postil.data.atomic_file import check_apart, write_file
from postil.data.grades import Scale
from postil.data.row_files import Writer
from postil.errors import Undefined
from postil.messages import Blank, Message, Setting
from postil.raters.result import AgreementResult, AnnotatorCompetence
from postil.results.base import replace
from postil.results.formats import file_bytes, rows_as_cells
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.campaigns.models import Campaign, Rating, Reassignment
    from postil.campaigns.store import Store
    from postil.comparison.result import PreferencesResult
    from postil.data.progress import OnMessage
    from postil.data.rows import Row
    from postil.estimation.designs import Prospects
    from postil.estimation.result import EstimateResult
    from postil.raters.options import AgreementOptions

__all__ = [
    "CampaignEstimate",
    "agreement",
    "agreement_of",
    "estimate_so_far",
    "export",
    "invite",
    "invite_first_lead",
    "link",
    "note_address",
    "on_this_machine",
    "open_campaign",
    "quality",
    "quality_of",
    "remove",
    "write_rows",
]


class Written(NamedTuple):
    """A file that was written.

    Args:
        path: The file.
        rows: Number of rows; None for a file that is no table.
    """

    path: str
    rows: int | None


DEFAULT_ADDRESS: Final = ServeOptions().address


def invite(url: str, name: str, options: InviteOptions, *, on_message: OnMessage = lambda _: None) -> str:
    """Invite a person.

    Args:
        url: Location of the campaign.
        name: Name of the person.
        options: Options of the command.
        on_message: Callback for status messages.

    Returns:
        The link to send; it works once.

    Raises:
        Refused: See `postil.campaigns.people.People.invite`.
    """
    with open_campaign(url) as store:
        return link(store, store.people.invite(name, options.role, options.days), options, on_message)


def link(store: Store, token: str, options: InviteOptions, on_message: OnMessage) -> str:
    """The link of an invitation, where the pages are or are going to be.

    Args:
        store: The campaign, which remembers the address of the last server, or else of a link.
        token: Token of the invitation.
        options: Options of the command.
        on_message: Callback for status messages: one where only this machine can open the link, and nobody has named
            its address. Of several links whose invitations are open together, the first one has it.
    """
    known = store.campaign().address
    address = checked_base_url(options.base_url) if options.base_url else known or DEFAULT_ADDRESS
    if not known or (is_local(known) and not is_local(address)):
        store.remember_address(address)
    if is_local(address) and not options.base_url:
        others = store.people.open_invitations("annotator") - (options.role == "annotator")
        if others < 1:
            on_message(on_this_machine(address))
    return f"{address}/join/{token}"


def on_this_machine(address: str) -> Message:
    """Sentence on links that only this machine can open.

    Args:
        address: URL that they begin with.
    """
    return Message(
        "only this machine can open links to {address}; for others, name the address at which they reach the pages: "
        "{base_url}",
        address=address,
        base_url=Setting("base_url", Blank("URL")),
    )


def note_address(store: Store, address: str, on_message: OnMessage, *, named: bool = True) -> None:
    """Remember where a campaign is served, for further links, and tell if open ones begin otherwise.

    Args:
        store: The campaign.
        address: URL where people reach the pages.
        on_message: Callback for status messages.
        named: False for an address that nobody asked for: one of this machine alone does not replace one that others
            can open.
    """
    known = store.campaign().address
    if not named and is_local(address) and known and not is_local(known):
        on_message(
            Message(
                "links begin with {known}, which was named before, and this server does not answer to it; start it "
                "with {other} behind a reverse proxy, with {host} in a local network, or with {own} for links that "
                "only this machine can open",
                known=known,
                other=Setting("base_url", known),
                host=Setting("host", Blank("ADDRESS")),
                own=Setting("base_url", address),
            )
        )
        return
    before = store.remember_address(address)
    if before not in {"", address} and store.people.open_invitations():
        on_message(
            f"links that nobody has opened yet begin with another address, such as {before}: put {address} in its "
            "place, or invite again"
        )


def invite_first_lead(url: str, base_url: str) -> str | None:
    """Invite a lead to a campaign that has none yet.

    Args:
        url: Location of the campaign.
        base_url: URL where people reach the pages.

    Returns:
        The link to open; it works once. None if there is a lead.
    """
    with open_campaign(url) as store:
        everyone = store.people.everyone()
        if any(person.role == "lead" and not person.left for person in everyone):
            return None
        taken = {person.name for person in everyone}  # by a lead who was removed, or an annotator
        name = next(name for name in ("lead", *(f"lead {n}" for n in range(2, len(taken) + 3))) if name not in taken)
        return f"{checked_base_url(base_url)}/join/{store.people.invite(name, 'lead', days=1)}"


def remove(url: str, name: str, options: RemoveOptions) -> Reassignment:
    """Remove a person from a campaign; open items of an annotator are reassigned, or reserved.

    Args:
        url: Location of the campaign.
        name: Name or pseudonym of the person.
        options: Options of the command.

    Raises:
        UnknownName: There is no such person.
        Refused: The person was removed already.
    """
    with open_campaign(url) as store:
        return store.people.remove(store.people.named(name), reserve=options.reserve)


def export(url: str, options: ExportOptions) -> list[Written]:
    """Write the ratings: two tables with a codebook, and rows that other commands read.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        InvalidInput: There are no ratings yet.
    """
    with open_campaign(url, read_only=True) as store:
        files = export_files(
            store,
            inferred_grades,
            table_format=options.table_format,
            timestamps=options.timestamps,
            texts=options.texts,
        )
    paths = {name: f"{options.out}/{name}" for name in files}
    for path in paths.values():
        check_apart(path, [url.removeprefix("sqlite:///")])
    Path(options.out).mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        write_rows(paths[name], rows)
    return [Written(paths[name], None if isinstance(rows, str) else len(rows)) for name, rows in files.items()]


def write_rows(path: str, rows: Sequence[Row] | str) -> None:
    """Write a file of an export atomically.

    Args:
        path: The file; its suffix names the format.
        rows: Rows of one type, or the text of the file.
    """
    if isinstance(rows, str) or path.endswith((".csv", ".xlsx")):
        write_file(path, file_bytes(path, rows if isinstance(rows, str) else rows_as_cells(rows)))
        return
    with Writer(path, type(rows[0])) as out:
        for row in rows:
            out.write(row)


def open_campaign(
    url: str, *, make: bool = False, read_only: bool = False, incomplete: bool = False, earlier: bool = False
) -> Store:
    """Open a campaign; see `postil.campaigns.store.Store.open`.

    Args:
        url: Location of the campaign.
        make: True to create the tables if there are none.
        read_only: True to refuse transactions that write.
        incomplete: True to read a file without its write-ahead log.
        earlier: True to read one of an earlier version as it is.
    """
    # Imported here, since it needs optional packages, which the help of the commands does not.
    from postil.campaigns.store import Store  # noqa: PLC0415

    return Store.open(url, make=make, read_only=read_only, incomplete=incomplete, earlier=earlier)


def agreement(url: str, options: CampaignAgreementOptions) -> AgreementResult:
    """Measure inter-annotator agreement on the ratings so far.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        UnknownName: There is no such aspect.
    """
    with open_campaign(url, read_only=True) as store:
        rubric, ratings = ratings_of(store.results.ratings(), store.rubric(), options.aspect)
        revisions = store.results.revisions(ratings)
    return replace(agreement_of(ratings, rubric, options), revisions=revisions if len(revisions) > 1 else ())


def agreement_of(
    ratings: Sequence[Rating], rubric: Rubric, options: AgreementOptions, inferred: InferredGrades | None = None
) -> AgreementResult:
    """Measure inter-annotator agreement, and the consistency of annotators.

    Args:
        ratings: Ratings of a campaign, of one aspect.
        rubric: Rubric of the campaign, or of the aspect.
        options: Options of the command.
        inferred: Competence of the annotators, where it is known already.
    """
    from postil.meta.agreement import FEWEST  # noqa: PLC0415 - it loads statistics
    from postil.meta.agreement import agreement as measure  # noqa: PLC0415
    from postil.meta.resampling import Draws  # noqa: PLC0415

    found = None
    reason: str = Message("agreement needs grades, and there are none")
    rows = list(judgements(ratings, single_texts=True))
    if rows:
        try:
            labels, scale = (rubric.grades, None) if rubric.grades else (None, Scale(0, 1))  # marks are shares of texts
            draws = Draws(resamples=options.resamples, seed=options.seed)
            found = measure(rows, labels=labels, scale=scale, draws=draws, fewest=FEWEST)
            reason = ""
            if rubric.kind == "pair":  # neither text of a pair is the higher grade
                found = replace(found, raters=tuple(replace(rater, severity=None) for rater in found.raters))
        except Undefined as error:
            reason = error.message
    known = (inferred or inferred_grades(ratings, rubric)).competence
    return AgreementResult(
        agreement=found,
        reason=reason,
        repeated=with_themselves(ratings),
        gold=with_gold_labels(ratings),
        competence=tuple(AnnotatorCompetence(annotator=name, competence=value) for name, value in known.items()),
        competence_model="one-factor",
    )


def quality(url: str, options: QualityOptions) -> QualityResult:
    """Measure the quality of each annotator's ratings.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        UnknownName: There is no such aspect.
    """
    with open_campaign(url, read_only=True) as store:
        rubric, ratings = ratings_of(store.results.ratings(), store.rubric(), options.aspect)
        lengths = store.results.lengths()
    return quality_of(ratings, lengths, rubric, options)


def quality_of(
    ratings: Sequence[Rating],
    lengths: Mapping[int, float],
    rubric: Rubric,
    options: QualityOptions,
    inferred: InferredGrades | None = None,
) -> QualityResult:
    """Measure the quality of each annotator's ratings.

    Args:
        ratings: Ratings of a campaign, of one aspect.
        lengths: Length of each item's text by its number.
        rubric: Rubric of the campaign, or of the aspect.
        options: Options of the command.
        inferred: Competence of the annotators, where it is known already.
    """
    inferred = inferred or inferred_grades(ratings, rubric, options.model)
    return QualityResult(
        annotators=annotator_quality(ratings, lengths, rubric, inferred.competence),
        ratings=len(ratings),
        model=options.model,
        undefined=inferred.reason,
    )


@dataclass(frozen=True, slots=True)
class CampaignEstimate:
    """Mean grades of systems from the ratings so far.

    Args:
        result: The estimate; None where there is none yet.
        reason: The reason, in words, where there is none.
        prospects: Expected intervals with more ratings.
        preferences: Strengths of systems, in a campaign of pairs.
    """

    result: EstimateResult | None = None
    reason: str = ""
    prospects: Prospects | None = None
    preferences: PreferencesResult | None = None


def estimate_so_far(ratings: Sequence[Rating], campaign: Campaign, articles: int) -> CampaignEstimate:
    """Estimate the mean grade of each system from the ratings so far, and what more ratings would bring.

    Args:
        ratings: Ratings of the campaign.
        campaign: Its settings.
        articles: Number of its articles.
    """
    if campaign.pairs is not None:
        return _strengths(ratings, campaign)
    from postil.estimation.designs import FEWEST_ITEMS, prospects  # noqa: PLC0415 - the same
    from postil.estimation.estimator import estimate  # noqa: PLC0415 - it loads statistics
    from postil.estimation.result import EstimateSettings  # noqa: PLC0415 - the same
    from postil.meta.estimation import outputs_of  # noqa: PLC0415 - the same
    from postil.meta.table import Judged  # noqa: PLC0415 - the same

    if campaign.rows != "candidates":
        kind = Message("readers' comments") if campaign.rows == "articles" else Message("passages")
        return CampaignEstimate(
            reason=Message("it compares systems, and the items of this campaign are {kind}", kind=kind)
        )
    rows = list(judgements(ratings))
    rated = len({row.item for row in rows})
    if rated < FEWEST_ITEMS:
        return CampaignEstimate(reason=_too_few(rated, FEWEST_ITEMS, campaign))
    found = outputs_of(None, Judged(rows), severity="auto")
    if sum(found.outputs.n > 1) < 2:
        two = Message("it needs two systems, each with ratings of two {groups} or more", groups=campaign.groups)
        return CampaignEstimate(reason=two)
    result = estimate(found, method="human", settings=EstimateSettings(postil=VERSION))
    return CampaignEstimate(result, prospects=prospects(found.outputs, articles))


def _strengths(ratings: Sequence[Rating], campaign: Campaign) -> CampaignEstimate:
    """Strengths of systems from the preferences so far."""
    from postil.comparison.preferences import preferred_systems  # noqa: PLC0415 - it loads statistics
    from postil.estimation.designs import FEWEST_ITEMS  # noqa: PLC0415 - the same

    rows = list(preferences(ratings))
    rated = len({row.item for row in rows})
    if rated < FEWEST_ITEMS:
        return CampaignEstimate(reason=_too_few(rated, FEWEST_ITEMS, campaign))
    try:
        return CampaignEstimate(preferences=preferred_systems(rows))
    except Undefined:
        return CampaignEstimate(reason=Message("it needs preferences that connect all systems"))


def _too_few(rated: int, enough: int, campaign: Campaign) -> Message:
    return Message("it needs {n} rated {groups}, and there are {rated}", n=enough, groups=campaign.groups, rated=rated)
