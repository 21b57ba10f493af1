"""Commands that change a campaign under way: pause, resume, close, deadline, annotators who join late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from postil.campaigns.calls import open_campaign
from postil.campaigns.serving import checked_base_url
from postil.options import Flag, options

if TYPE_CHECKING:
    from postil.campaigns.calls import InviteOptions
    from postil.campaigns.late import Share
    from postil.campaigns.plan_result import PlanResult
    from postil.campaigns.state import Outcome

__all__ = ["Latecomer", "MessageOptions", "close", "deadline", "invite_late", "pause", "resume"]


@options
class MessageOptions:
    """Options of `postil annotate pause` and `postil annotate close`.

    Args:
        message: Message that the annotators' page shows.
    """

    message: Annotated[str, Flag(metavar="TEXT")] = ""


def pause(url: str, options: MessageOptions) -> Outcome:
    """Hand out no new item; answers to items that are on screens are stored.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        Refused: The campaign is closed, or its deadline has passed.
    """
    with open_campaign(url) as store:
        return store.state.pause(options.message)


def resume(url: str) -> Outcome:
    """Go on after a pause, or reopen a closed campaign.

    Args:
        url: Location of the campaign.
    """
    with open_campaign(url) as store:
        return store.state.resume()


def close(url: str, options: MessageOptions) -> Outcome:
    """Accept no answers any more.

    Args:
        url: Location of the campaign.
        options: Options of the command.
    """
    with open_campaign(url) as store:
        return store.state.close(options.message)


def deadline(url: str, when: str) -> Outcome:
    """Set, move or remove the deadline.

    Args:
        url: Location of the campaign.
        when: Date and time with a time zone, in ISO 8601; none to remove the deadline.

    Raises:
        Refused: There is no zone, the time has passed already, or a lead has closed the campaign.
    """
    # Imported here, since it needs optional packages, which the help of the commands does not.
    from postil.campaigns.state import parse_moment  # noqa: PLC0415

    with open_campaign(url) as store:
        return store.state.set_deadline(None if when.strip().lower() == "none" else parse_moment(when))


class Latecomer(NamedTuple):
    """Outcome of `invite_late`.

    Args:
        link: The link to send; it works once.
        share: The share of the annotator.
        plan: The assignment of all items.
    """

    link: str
    share: Share
    plan: PlanResult


def invite_late(url: str, name: str, options: InviteOptions) -> Latecomer:
    """Invite an annotator besides those of the plan, who takes a fair share of the open items of the others.

    Args:
        url: Location of the campaign.
        name: Name of the person.
        options: Options of the command.

    Raises:
        Refused: See `postil.campaigns.people.People.invite_late`.
    """
    with open_campaign(url) as store:
        token, share = store.people.invite_late(name, options.days)
        link = f"{checked_base_url(options.base_url)}/join/{token}"
        return Latecomer(link, share, store.plan().statistics())
