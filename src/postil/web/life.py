"""State of a campaign on the page of leads: pause, resume, close, deadline, and the log of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import Request, Response  # noqa: TC002 - FastAPI reads annotations

from postil.annotation.models import Refused
from postil.annotation.state import moment, parse_moment
from postil.web.pages import redirect_to

if TYPE_CHECKING:
    from fastapi import FastAPI

    from postil.web.pages import Site

__all__ = ["add_life_pages"]

ZONES: Final = (
    *(f"-{hours:02}:00" for hours in range(12, 0, -1)),
    *(f"+{hours:02}:00" for hours in range(15)),
    *("-03:30", "+03:30", "+04:30", "+05:30", "+05:45", "+06:30", "+09:30"),
)
"""Offsets from UTC that a deadline can be given in."""


def add_life_pages(app: FastAPI, site: Site) -> None:
    """Add the form of leads that changes the state.

    Args:
        app: The application.
        site: Site of the campaign.
    """
    state = site.store.state
    site.show(life=state, moment=moment, zones=sorted(ZONES, key=_minutes))

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
