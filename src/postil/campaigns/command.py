"""`postil annotate`: flags, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.campaigns.options import (
    AddOptions,
    BackupOptions,
    CampaignAgreementOptions,
    ExportOptions,
    InviteOptions,
    LabelStudioOptions,
    MessageOptions,
    PlanOptions,
    PotatoOptions,
    QualityOptions,
    RemoveOptions,
    ServeOptions,
    is_local,
)
from postil.cli.command import Argument, CampaignArgument, FormatOption, Group
from postil.cli.output import emit, say
from postil.data.explain import counted
from postil.data.options import InputOptions
from postil.errors import needs
from postil.raters.command import print_agreement

if TYPE_CHECKING:
    from postil.campaigns.importing import Imported
    from postil.campaigns.state import Outcome

__all__ = ["annotate"]


annotate = Group("annotate", "Collect human ratings: assign items, serve the pages, measure agreement, export.")
imports = Group(
    "import", "Bring annotations of other tools: as judgements, or as a campaign with its ratings.", job="Set up"
)
annotate.add_command(imports)


@annotate.add(job="Set up")
def plan(
    items: Annotated[
        str,
        Argument(
            metavar="ITEMS",
            help="Article rows, whose comments are rated; rows of weights plan; candidate rows with --articles or "
            "--context; or passage rows.",
        ),
    ],
    campaign: CampaignArgument,
    options: PlanOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Assign items to annotators and create the campaign.

    Every item gets the same number of annotators at random, in a balanced block design: annotators have equally many
    items, and every two of them share equally many. Each annotator has a presentation order of their own. --items,
    --overlap and --by-item plan few ratings of a random sample, for postil estimate.

    Example: postil annotate plan articles.jsonl campaign.db --annotators 5 --annotators-per-item 2
    """
    from postil.campaigns import planning  # noqa: PLC0415
    from postil.results.views import show, view_of  # noqa: PLC0415

    result = planning.plan(items, campaign, options, inputs, say)
    emit(show(format, result), format)
    for line in (*(view_of(result).remarks if format != "table" else ()), f"seed {options.seed}"):
        say(line)


@annotate.add(job="Set up")
def add(
    campaign: CampaignArgument,
    files: Annotated[list[str], Argument(metavar="FILE...", help="Files of texts, as plan takes them.")],
    options: AddOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Add texts to a campaign, also while its server runs.

    New texts get as many annotators as those of the plan; loads, with what everybody has already, are as even as
    possible. All texts of a call are added, or none. Texts that the campaign has already are skipped.

    Example: postil annotate add campaign.db more-articles.jsonl
    """
    from postil.campaigns.add import add as add_texts  # noqa: PLC0415
    from postil.results.views import show, view_of  # noqa: PLC0415

    done = add_texts(campaign, files, options, inputs, say)
    emit(show(format, done.plan), format)
    for line in view_of(done.plan).remarks if format != "table" else ():
        say(line)
    if not done.added:
        known = f"the campaign has them already ({counted(done.known, 'text')})"
        say(f"nothing to add: {known if done.known else 'there is no text to rate'}")
        return
    texts = f"{counted(done.added, 'text')} {'would be ' if options.dry_run else ''}added"
    say(f"revision {done.revision}: {texts}, {done.known:,} known ones skipped; seed {options.seed}")
    if done.status != "running":
        say(f"the campaign is {done.status}; annotators get the texts after 'postil annotate resume'")


@annotate.add(job="Set up")
def invite(
    campaign: CampaignArgument,
    name: Annotated[str, Argument(metavar="NAME", help="Name of the person; only leads see it.")],
    options: InviteOptions,
) -> None:
    """Print an invitation link for a person; it works once.

    A new annotator takes a free slot of the plan. With --late the plan grows by an annotator, who takes open items from
    the others: never one on a screen, and so that everybody has equally many open ones, as far as that is possible.

    Example: postil annotate invite campaign.db "Ann Lee"
    """
    from postil.campaigns import calls  # noqa: PLC0415

    if options.late:
        _invite_late(campaign, name, options)
    else:
        notes: list[str] = []
        emit(f"{calls.invite(campaign, name, options, on_message=notes.append)}\n")
        for note in notes:
            say(note)


def _invite_late(campaign: str, name: str, options: InviteOptions) -> None:
    """Print the link of an annotator who joins late, and the balance after it."""
    from postil.campaigns import calls  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    with calls.open_campaign(campaign) as store:
        token, share = store.people.invite_late(name, options.days)
        plan = store.plan().statistics(store.campaign().grouped_by)
        notes: list[str] = []
        link = calls.link(store, token, options, notes.append)
    emit(f"{link}\n")
    for line in (*notes, *str(show("table", plan)).splitlines()):
        say(line)
    others = "there is no other annotator"
    if share.open:
        few, many = share.open[0], share.open[-1]
        others = f"each of the others has {few:,}{f' to {many:,}' if many > few else ''} left"
    say(f"{name} has {counted(share.items, 'open item')}; {others}")
    if share.nobody:
        say(f"{share.nobody:,} of them had fewer annotators than planned")
    if max(share.open, default=0) > share.items + 1:
        say("others have more, as items that are on screens or repeated stay, and nobody can have an item twice")


@annotate.add(job="Run")
def serve(campaign: CampaignArgument, options: ServeOptions) -> None:
    """Serve the pages of annotators and leads until Ctrl+C.

    Example: postil annotate serve campaign.db
    """
    from postil.campaigns import calls  # noqa: PLC0415

    with needs("postil annotate serve", "serve"):
        from postil.campaigns.pages.server import serve as serve_web  # noqa: PLC0415

    def ready(address: str) -> None:
        link = calls.invite_first_lead(campaign, address)
        if link is not None:
            say(f"invitation for the lead, valid once and for one day: {link}")
            if options.base_url is None and is_local(address):
                say(calls.on_this_machine(address))

    serve_web(campaign, options, on_message=say, on_ready=ready)


@annotate.add(job="Check")
def agreement(
    campaign: CampaignArgument,
    options: CampaignAgreementOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Measure inter-annotator agreement on the ratings so far.

    Cohen's kappa per pair and Scott's pi pooled (unweighted, linear, quadratic), Krippendorff's alpha, confidence
    intervals, the confusion matrix of grades, and the bias of each annotator.

    Example: postil annotate agreement campaign.db
    """
    from postil.campaigns import calls  # noqa: PLC0415

    print_agreement(calls.agreement(campaign, options), format, options, options.aspect)


@annotate.add(job="Export and keep")
def export(campaign: CampaignArgument, options: ExportOptions) -> None:
    """Write the ratings under pseudonyms: two tables with a codebook, and rows for correlate, score and passages.

    Example: postil annotate export campaign.db --out grades
    """
    from postil.campaigns import calls  # noqa: PLC0415

    for file in calls.export(campaign, options):
        say(f"written: {file.path}" + ("" if file.rows is None else f" ({counted(file.rows, 'row')})"))


@annotate.add(job="Set up")
def remove(
    campaign: CampaignArgument,
    name: Annotated[str, Argument(metavar="NAME", help="Name or pseudonym of the annotator.")],
    options: RemoveOptions,
) -> None:
    """Remove an annotator: keep their ratings, reassign their open items.

    Example: postil annotate remove campaign.db "Ann Lee"
    """
    from postil.campaigns import calls  # noqa: PLC0415

    done = calls.remove(campaign, name, options)
    outcome = "reserved for the next annotator who is invited" if options.reserve else "reassigned"
    say(f"removed {name}; {done.moved:,} open items {outcome}")
    if done.short:
        say(f"{counted(done.short, 'item')} with fewer annotators than planned, as nobody else can take them")


@annotate.add(job="Export and keep")
def backup(
    campaign: CampaignArgument,
    copy: Annotated[str, Argument(metavar="COPY", help="File to write; it must not exist.")],
    options: BackupOptions,
) -> None:
    """Copy a campaign with every annotation so far, also while its server runs.

    Example: postil annotate backup campaign.db backup.db
    """
    from postil.campaigns import backups  # noqa: PLC0415

    ratings = backups.backup(campaign, copy, options)
    if options.incomplete:
        say(f"{copy}: annotations from shortly before {campaign} was copied may be missing")
    say(f"written: {copy} ({counted(ratings, 'rating')})")


@annotate.add(job="Export and keep")
def upgrade(campaign: CampaignArgument) -> None:
    """Bring a campaign of an earlier version of postil to this one, as serve, invite and add do by themselves.

    Tables and columns are added; nothing else changes. Earlier versions cannot open the campaign any more.

    Example: postil annotate upgrade campaign.db
    """
    from postil.campaigns import backups  # noqa: PLC0415

    backups.upgrade(campaign)
    say("the campaign can be used with this version of postil")


@annotate.add(job="Run")
def pause(campaign: CampaignArgument, options: MessageOptions) -> None:
    """Hand out no new texts; the one on an annotator's screen can still be rated.

    The annotators' pages show the message, and continue by themselves after postil annotate resume.

    Example: postil annotate pause campaign.db --message "Back on Monday."
    """
    from postil.campaigns import calls  # noqa: PLC0415

    with calls.open_campaign(campaign) as store:
        outcome = store.state.pause(options.message)
    _tell(outcome, "paused; 'postil annotate resume' continues")


@annotate.add(job="Run")
def resume(campaign: CampaignArgument) -> None:
    """Continue a campaign after a pause, or reopen a closed one.

    Example: postil annotate resume campaign.db
    """
    from postil.campaigns import calls  # noqa: PLC0415

    with calls.open_campaign(campaign) as store:
        before, after = store.state.resume()
    if before.status == "running":
        say("the campaign is running; nothing changed")
        return
    say("resumed" if before.status == "paused" else "reopened: annotators get texts, and answers are stored again")
    if before.deadline is not None and after.deadline is None:
        from postil.campaigns.state import moment  # noqa: PLC0415 - it needs optional packages

        say(f"the deadline, {moment(before.deadline)}, had passed and is removed")


@annotate.add(job="Run")
def close(campaign: CampaignArgument, options: MessageOptions) -> None:
    """Accept no more answers; those that come late stay in the annotators' browsers.

    Example: postil annotate close campaign.db --message "Thank you all!"
    """
    from postil.campaigns import calls  # noqa: PLC0415

    with calls.open_campaign(campaign) as store:
        outcome = store.state.close(options.message)
    _tell(outcome, "closed; 'postil annotate resume' reopens it")


@annotate.add(job="Run")
def deadline(
    campaign: CampaignArgument,
    when: Annotated[
        str,
        Argument(metavar="WHEN", help="Date and time with a zone, such as 2026-12-01T18:00+01:00; or none."),
    ],
) -> None:
    """Set, move or remove the deadline: after it no new texts are handed out.

    The text on an annotator's screen can be rated for 15 more minutes; then the campaign is closed.

    Example: postil annotate deadline campaign.db 2026-12-01T18:00+01:00
    """
    from postil.campaigns import calls  # noqa: PLC0415
    from postil.campaigns.state import moment, parse_moment  # noqa: PLC0415 - they need optional packages

    with calls.open_campaign(campaign) as store:
        until = None if when.strip().lower() == "none" else parse_moment(when)
        before, after = store.state.set_deadline(until)
    if before == after:
        there = "no deadline" if after.deadline is None else f"this deadline, {moment(after.deadline)},"
        say(f"the campaign has {there} already; nothing changed")
        return
    say("the deadline is removed" if after.deadline is None else f"deadline: {moment(after.deadline)}")
    if before.status in {"ending", "closed"}:
        say("the campaign is open again")


def _tell(outcome: Outcome, done: str) -> None:
    """Say that the state was changed, or that the campaign had it already."""
    before, after = outcome
    if before.status != after.status:
        say(done)
    else:
        same = "nothing changed" if before == after else "its message is changed"
        say(f"the campaign is {after.status} already; {same}")


@annotate.add(job="Check")
def quality(
    campaign: CampaignArgument,
    options: QualityOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Measure the quality of each annotator's ratings, those who need attention first.

    Gold items, attention checks, repeated items, time per rating, agreement with the mean of the others and its drift,
    and the competence that a one-factor model, MACE or the model of Dawid and Skene infers from the ratings.

    Example: postil annotate quality campaign.db
    """
    from postil.campaigns import calls  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    emit(show(format, calls.quality(campaign, options)), format)


@imports.add("label-studio")
def label_studio(
    files: Annotated[list[str], Argument(metavar="FILES...", help="Exports: JSON, JSON-MIN, CSV or TSV.")],
    options: LabelStudioOptions,
) -> None:
    """Exports of Label Studio: choices, ratings, numbers, and labels of spans in texts.

    Example: postil annotate import label-studio export.json --out judgements.jsonl --campaign campaign.db
    """
    from postil.campaigns.importing import import_label_studio  # noqa: PLC0415

    _tell_imported(import_label_studio(files, options, say))


@imports.add()
def potato(
    paths: Annotated[
        list[str],
        Argument(metavar="PATHS...", help="Output folders, or exported tables: JSON Lines, CSV or TSV."),
    ],
    options: PotatoOptions,
) -> None:
    """Annotations of Potato: choices, Likert scales, numbers, and spans.

    Example: postil annotate import potato annotation_output --data texts.jsonl --campaign campaign.db
    """
    from postil.campaigns.importing import import_potato  # noqa: PLC0415

    _tell_imported(import_potato(paths, options, say))


def _tell_imported(done: Imported) -> None:
    parts = counted(done.ratings, "rating"), counted(done.tasks, "task"), counted(done.annotators, "annotator")
    say(f"{parts[0]} of {parts[1]} by {parts[2]}, of {', '.join(done.questions)}")
