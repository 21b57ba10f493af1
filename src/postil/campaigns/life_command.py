"""`postil annotate pause`, `resume`, `close`, `deadline`, and annotators who join late: what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from postil.campaigns import life as app
from postil.campaigns.life import MessageOptions
from postil.cli.command import command
from postil.cli.errors import emit, say
from postil.cli.options import CampaignArgument
from postil.results.formats import counted
from postil.results.views import show

if TYPE_CHECKING:
    from postil.campaigns.life import Latecomer
    from postil.campaigns.state import Outcome

__all__ = ["close", "deadline", "pause", "print_latecomer", "resume"]


@command
def pause(campaign: CampaignArgument, options: MessageOptions) -> None:
    """Hand out no new texts; the one on an annotator's screen can still be rated.

    The annotators' pages show the message, and continue by themselves after postil annotate resume.

    Example: postil annotate pause campaign.db --message "Back on Monday."
    """
    _tell(app.pause(campaign, options), "paused; 'postil annotate resume' continues")


@command
def resume(campaign: CampaignArgument) -> None:
    """Continue a campaign after a pause, or reopen a closed one.

    Example: postil annotate resume campaign.db
    """
    before, after = app.resume(campaign)
    if before.status == "running":
        say("the campaign is running; nothing changed")
        return
    say("resumed" if before.status == "paused" else "reopened: annotators get texts, and answers are stored again")
    if before.deadline is not None and after.deadline is None:
        from postil.campaigns.state import moment  # noqa: PLC0415 - it needs optional packages

        say(f"the deadline, {moment(before.deadline)}, had passed and is removed")


@command
def close(campaign: CampaignArgument, options: MessageOptions) -> None:
    """Accept no more answers; those that come late stay in the annotators' browsers.

    Example: postil annotate close campaign.db --message "Thank you all!"
    """
    _tell(app.close(campaign, options), "closed; 'postil annotate resume' reopens it")


@command
def deadline(
    campaign: CampaignArgument,
    when: Annotated[
        str,
        typer.Argument(metavar="WHEN", help="Date and time with a zone, such as 2026-12-01T18:00+01:00; or none."),
    ],
) -> None:
    """Set, move or remove the deadline: after it no new texts are handed out.

    The text on an annotator's screen can be rated for 15 more minutes; then the campaign is closed.

    Example: postil annotate deadline campaign.db 2026-12-01T18:00+01:00
    """
    from postil.campaigns.state import moment  # noqa: PLC0415 - it needs optional packages

    before, after = app.deadline(campaign, when)
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


def print_latecomer(name: str, late: Latecomer) -> None:
    """Print the link of an annotator who joins late, and the balance after it.

    Args:
        name: Name of the annotator.
        late: The link and the share of the annotator.
    """
    emit(f"{late.link}\n")
    for line in show("table", late.plan).splitlines():
        say(line)
    share = late.share
    others = "there is no other annotator"
    if share.open:
        few, many = share.open[0], share.open[-1]
        others = f"each of the others has {few:,}{f' to {many:,}' if many > few else ''} left"
    say(f"{name} has {counted(share.items, 'open item')}; {others}")
    if share.nobody:
        say(f"{share.nobody:,} of them had fewer annotators than planned")
    if max(share.open, default=0) > share.items + 1:
        say("others have more, as items that are on screens or repeated stay, and nobody can have an item twice")
