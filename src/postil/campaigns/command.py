"""`postil annotate`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.campaigns import calls as app
from postil.campaigns.add import AddOptions
from postil.campaigns.add import add as add_texts
from postil.campaigns.agreement import CampaignAgreementOptions
from postil.campaigns.agreement import agreement as measured_agreement
from postil.campaigns.backup_files import BackupOptions
from postil.campaigns.backup_files import backup as copied
from postil.campaigns.backup_files import upgrade as upgraded
from postil.campaigns.calls import ExportOptions, InviteOptions, RemoveOptions
from postil.campaigns.imports.command import imports
from postil.campaigns.life import invite_late
from postil.campaigns.life_command import close, deadline, pause, print_latecomer, resume
from postil.campaigns.planning import PlanOptions
from postil.campaigns.planning import plan as planned
from postil.campaigns.quality_command import quality
from postil.campaigns.serving import ServeOptions
from postil.cli.command import command
from postil.cli.errors import emit, say
from postil.cli.options import CampaignArgument, FormatOption, group
from postil.data.options import InputOptions
from postil.errors import MissingExtra
from postil.raters.view import remarks
from postil.results.formats import counted
from postil.results.views import show, view_of

__all__ = ["annotate"]

annotate = group("annotate", "Collect human ratings: assign items, serve the pages, measure agreement, export.")
annotate.add_typer(imports, name="import")


@annotate.command()
@command
def plan(
    items: Annotated[
        str,
        typer.Argument(
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
    result = planned(items, campaign, options, inputs, say)
    emit(show(format, result), format)
    for line in (*(view_of(result).remarks if format != "table" else ()), f"seed {options.seed}"):
        say(line)


@annotate.command()
@command
def add(
    campaign: CampaignArgument,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files of texts, as plan takes them.")],
    options: AddOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Add texts to a campaign, also while its server runs.

    New texts get as many annotators as those of the plan; loads, with what everybody has already, are as even as
    possible. All texts of a call are added, or none. Texts that the campaign has already are skipped.

    Example: postil annotate add campaign.db more-articles.jsonl
    """
    done = add_texts(campaign, files, options, inputs, say)
    emit(show(format, done.plan), format)
    for line in view_of(done.plan).remarks if format != "table" else ():
        say(line)
    if not done.added:
        say(f"nothing to add: the campaign has them already ({counted(done.known, 'text')})")
        return
    texts = f"{counted(done.added, 'text')} {'would be ' if options.dry_run else ''}added"
    say(f"revision {done.revision}: {texts}, {done.known:,} known ones skipped; seed {options.seed}")
    if done.status != "running":
        say(f"the campaign is {done.status}; annotators get the texts after 'postil annotate resume'")


@annotate.command()
@command
def invite(
    campaign: CampaignArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the person; only leads see it.")],
    options: InviteOptions,
) -> None:
    """Print an invitation link for a person; it works once.

    A new annotator takes a free slot of the plan. With --late the plan grows by an annotator, who takes open items from
    the others: never one on a screen, and so that everybody has equally many open ones, as far as that is possible.

    Example: postil annotate invite campaign.db "Ann Lee"
    """
    if options.late:
        print_latecomer(name, invite_late(campaign, name, options))
    else:
        emit(f"{app.invite(campaign, name, options)}\n")


@annotate.command()
@command
def serve(campaign: CampaignArgument, options: ServeOptions) -> None:
    """Serve the pages of annotators and leads until Ctrl+C.

    Example: postil annotate serve campaign.db
    """
    try:
        from postil.campaigns.pages.server import serve as serve_web  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "postil":
            raise
        raise MissingExtra("postil annotate serve", "web") from error
    link = app.invite_first_lead(campaign, options.address)
    if link is not None:
        say(f"invitation for the lead, valid once and for one day: {link}")
    serve_web(campaign, options, on_message=say)


@annotate.command()
@command
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
    found = measured_agreement(campaign, options)
    emit(show(format, found), format)
    if found.agreement is not None and format != "json":
        for line in remarks(found.agreement):
            say(line)
        of_aspect = f"aspect {options.aspect}, " if options.aspect else ""
        say(f"{of_aspect}seed {options.seed}, {options.resamples} resamples")


@annotate.command()
@command
def export(campaign: CampaignArgument, options: ExportOptions) -> None:
    """Write the ratings under pseudonyms: two tables with a codebook, and rows for correlate, score and passages.

    Example: postil annotate export campaign.db --out grades
    """
    for file in app.export(campaign, options):
        say(f"written: {file.path}" + ("" if file.rows is None else f" ({counted(file.rows, 'row')})"))


@annotate.command()
@command
def remove(
    campaign: CampaignArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name or pseudonym of the annotator.")],
    options: RemoveOptions,
) -> None:
    """Remove an annotator: keep their ratings, reassign their open items.

    Example: postil annotate remove campaign.db "Ann Lee"
    """
    done = app.remove(campaign, name, options)
    outcome = "reserved for the next annotator who is invited" if options.reserve else "reassigned"
    say(f"removed {name}; {done.moved:,} open items {outcome}")
    if done.short:
        say(f"{counted(done.short, 'item')} with fewer annotators than planned, as nobody else can take them")


@annotate.command()
@command
def backup(
    campaign: CampaignArgument,
    copy: Annotated[str, typer.Argument(metavar="COPY", help="File to write; it must not exist.")],
    options: BackupOptions,
) -> None:
    """Copy a campaign with every annotation so far, also while its server runs.

    Example: postil annotate backup campaign.db backup.db
    """
    ratings = copied(campaign, copy, options)
    if options.incomplete:
        say(f"{copy}: annotations from shortly before {campaign} was copied may be missing")
    say(f"written: {copy} ({counted(ratings, 'rating')})")


@annotate.command()
@command
def upgrade(campaign: CampaignArgument) -> None:
    """Bring a campaign of an earlier version of postil to this one, as serve, invite and add do by themselves.

    Tables and columns are added; nothing else changes. Earlier versions cannot open the campaign any more.

    Example: postil annotate upgrade campaign.db
    """
    upgraded(campaign)
    say("the campaign can be used with this version of postil")


for changes_state in (pause, resume, close, deadline):
    annotate.command()(changes_state)
annotate.command()(quality)
