"""State of a campaign on the page of leads: pause, resume, close, deadline, and the log of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fastapi import Request, Response  # noqa: TC002 - FastAPI reads annotations

from postil.annotation.models import Refused
from postil.annotation.state import moment, parse_moment
from postil.web.pages import redirect_to

if TYPE_CHECKING:
    from fastapi import FastAPI

    from postil.annotation.change_log import Change
    from postil.annotation.models import CampaignState
    from postil.annotation.state import Projection
    from postil.annotation.store import Store
    from postil.web.pages import Site

__all__ = ["Life", "add_life_pages", "life_of"]

ZONES: Final = (
    *(f"-{hours:02}:00" for hours in range(12, 0, -1)),
    *(f"+{hours:02}:00" for hours in range(15)),
    *("-03:30", "+03:30", "+04:30", "+05:30", "+05:45", "+06:30", "+09:30"),
)
"""Offsets from UTC that a deadline can be given in."""


class Life(NamedTuple):
    """State of a campaign, as the page of leads shows it.

    Args:
        state: The state.
        projection: Expected end, if there is one.
        changes: Log of changes, the latest first.
    """

    state: CampaignState
    projection: Projection | None
    changes: list[Change]


def life_of(store: Store) -> Life:
    """Read the state of a campaign for the page of leads.

    Args:
        store: Store of the campaign.
    """
    return Life(store.state.current(), store.state.projection(), store.state.changes()[::-1])


def add_life_pages(app: FastAPI, site: Site) -> None:
    """Add the form of leads that changes the state.

    Args:
        app: The application.
        site: Site of the campaign.
    """
    state = site.store.state
    site.show(moment=moment, zones=sorted(ZONES, key=_minutes))

    @app.post("/lead/state")
    def change(request: Request) -> Response:
        site.current_lead(request)
        lead, form = site.submitted(request)
        action, message = form.get("action", ""), form.get("message", "")
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


def _minutes(zone: str) -> int:
    """Offset from UTC in minutes."""
    return int(f"{zone[0]}{60 * int(zone[1:3]) + int(zone[4:])}")
