"""View of a dry run: one row per number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.messages import Blank, Message, Setting
from postil.render.formats import counted
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import DryRunResult

__all__ = ["summary", "view"]


def view(result: DryRunResult) -> View:
    """Make the view of a dry run.

    Args:
        result: The estimate.
    """
    row = {
        "calls": result.calls,
        "cached": result.cached,
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "cost": result.cost,
        "seconds": result.seconds,
    }
    grid = [
        ["calls", "cached", "prompt tokens", "completion tokens", "cost", "time"],
        [
            f"{result.calls:,}",
            f"{result.cached:,}",
            f"{result.prompt_tokens:,}",
            f"at most {result.completion_tokens:,}",
            "" if result.cost is None else f"{result.cost:.6g}",
            _time(result.seconds),
        ],
    ]
    remarks: list[str] = ["tokens and time are estimates; nothing was asked"]
    if result.cost is None:
        price = Setting("price", Blank("IN:OUT"))
        remarks.append(Message("{price}, per million tokens, estimates the cost", price=price))
    return View(rows=[row], grids=[grid], remarks=remarks)


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def summary(result: DryRunResult) -> str:
    """Number of calls, and their cost.

    Args:
        result: The estimate.
    """
    cost = "" if result.cost is None else f", cost {result.cost:.6g}"
    return f"{counted(result.calls, 'call')}, {result.cached:,} cached{cost}"
