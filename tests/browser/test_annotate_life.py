"""A campaign that is paused, closed and resumed below an open page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from browser_window import DESKTOP, PHONE
from campaign_window import Grading, sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from campaign_window import Server
    from conftest import Chromium


def test_a_pause_and_a_close_reach_an_open_page_and_lose_nothing(
    serve: Callable[..., Server], chromium: Chromium
) -> None:
    server = serve(**sample("en", 4))
    ann = Grading(chromium).join(server, "Ann")
    lead = Grading(chromium).join(server, "Lee", "lead")
    state, online = server.store.state, "dispatchEvent(new Event('online'))"  # the page looks again at once
    state.pause("Back on Monday.")
    ann.grade("4")  # it was on the screen
    ann.until("document.querySelector('#task').dataset.again === '30'")
    assert "Back on Monday." in ann("document.querySelector('#task').innerText")
    ann.saved()
    ann.shoot("paused")
    for size in (PHONE, DESKTOP):
        ann.look(size)
        heading = ann("document.querySelector('#task h1').getBoundingClientRect().width")
        assert heading > 0.5 * min(size[0], 600)  # across the page, and not in a column of it
        assert ann("document.documentElement.scrollWidth") <= size[0]
    lead.go(f"{server.url}/lead")
    lead.shoot("lead-paused")
    lead("document.querySelectorAll('.life details').forEach((one) => { one.open = true; })")
    lead("document.querySelector('.life').scrollIntoView()")
    lead.shoot("lead-paused-open")
    lead("document.querySelector('.tick').scrollIntoView()")
    lead.shoot("lead-late")
    state.resume()
    ann(online)
    ann.until("document.querySelector('#task').dataset.position === '1'")
    state.close("Thank you all!")
    ann.grade("5")
    ann.until("document.querySelector('#task').dataset.again === '30'")
    assert ann("document.querySelector('#state').textContent") == "Closed. Your answers are saved in this browser."
    assert "Thank you all!" in ann("document.querySelector('#notice').textContent")
    assert ann("Object.keys(localStorage).length") == 1
    ann.shoot("closed")
    assert len(server.store.results.ratings()) == 1
    state.resume()
    ann(online)
    ann.saved()
    ann.until("document.querySelector('#task').dataset.position === '2'")
    assert [rating.grade for rating in sorted(server.store.results.ratings(), key=lambda one: one.order)] == [4, 5]
