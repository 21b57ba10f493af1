"""A browser with the desk in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from browser_window import DESKTOP, Window

if TYPE_CHECKING:
    from conftest import Chromium
    from desk_stub import DeskStub

READY = "['suggestions', 'thread'].every((name) => document.querySelector(`#${name}-list :is(.item, .empty)`))"
"""True when an article is open with suggestions and its thread."""


class DeskWindow(Window):
    """A reader of the desk."""

    @classmethod
    def opened(
        cls, chromium: Chromium, stub: DeskStub, article: int = 0, size: tuple[int, int] = DESKTOP
    ) -> DeskWindow:
        window = cls(chromium, size)
        window.open(stub, article)
        return window

    def open(self, stub: DeskStub, article: int) -> None:
        self.open_at(stub.url, article)

    def open_at(self, url: str, article: int) -> None:
        """Open an article of the list."""
        self.go(f"{url}/?article={article}")
        self.until(READY)

    def text(self, selector: str) -> str:
        return str(self(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")).replace("\xa0", " ")

    def all(self, selector: str, what: str) -> list[Any]:
        return list(self(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => {what})"))

    def count(self, selector: str) -> int:
        return len(self.all(selector, "0"))

    def seen(self, selector: str) -> bool:
        return any(self.all(selector, "one.checkVisibility()"))

    def click(self, selector: str) -> None:
        self(f"document.querySelector({json.dumps(selector)}).click()")

    def focus(self, selector: str) -> None:
        self(f"document.querySelector({json.dumps(selector)}).focus()")

    def put(self, selector: str, value: object) -> None:
        """Give a field a value, as if it was typed or chosen."""
        field = f"document.querySelector({json.dumps(selector)})"
        self(f"{field}.value = {json.dumps(value)}")
        self(f"['input', 'change'].forEach((name) => {field}.dispatchEvent(new Event(name)))")

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.key(key)

    def stored(self) -> None:
        """Wait until the server has everything."""
        self.until("document.querySelector('#state').classList.contains('saved') && !Object.keys(localStorage).length")
