"""A window of Chromium: a person's browser, with keys, sizes, colors and what it complains about."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conftest import Chromium

DESKTOP, TABLET, PHONE = (1440, 900), (820, 1180), (390, 844)
CODES = {
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    " ": 32,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
PATIENCE = 20


class Window:
    """A person's browser: with cookies and storage of its own unless it shares another's."""

    def __init__(self, browser: Chromium, size: tuple[int, int] = DESKTOP, beside: Window | None = None) -> None:
        self.browser = browser
        self.context = beside.context if beside else browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for room in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{room}.enable")
        self.look(size)

    def call(self, method: str, **params: object) -> dict[str, Any]:
        return self.browser.call(method, self.session, **params)

    def look(self, size: tuple[int, int], *, dark: bool = False) -> None:
        wide, tall = size
        self.call("Emulation.setDeviceMetricsOverride", width=wide, height=tall, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def go(self, url: str) -> None:
        self.browser.events[:] = [e for e in self.browser.events if e["method"] != "Page.loadEventFired"]
        self.call("Page.navigate", url=url)
        self.browser.wait("Page.loadEventFired", self.session)

    def __call__(self, expression: str) -> Any:
        options = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        found = self.call("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if self(f"!!({expression})"):
                    return
            except AssertionError:  # the page was just left
                pass
            assert time.monotonic() < end, f"{expression} does not come: {self('document.body.innerText')[:500]}"
            time.sleep(0.02)

    def key(self, key: str, *, shift: bool = False, repeat: bool = False) -> None:
        code = f"Digit{key}" if key.isdigit() else key
        pressed = {"key": key, "code": code, "windowsVirtualKeyCode": CODES.get(key, ord(key[0].upper()))}
        pressed["modifiers"] = 8 if shift else 0
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, autoRepeat=repeat, **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def middle(self, selector: str) -> tuple[float, float]:
        box = f"document.querySelector({selector!r}).getBoundingClientRect()"
        x, y = self(f"(() => {{ const b = {box}; return [(b.left + b.right) / 2, (b.top + b.bottom) / 2]; }})()")
        return x, y

    def tap(self, selector: str) -> None:
        """Tap the middle of an element with a finger."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        x, y = self.middle(selector)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def shoot(self, name: str) -> None:
        """Keep a picture where POSTIL_SHOTS says, to look at."""
        if folder := os.environ.get("POSTIL_SHOTS"):
            time.sleep(0.3)
            found = self.call("Page.captureScreenshot")
            Path(folder, f"{name}.png").write_bytes(base64.b64decode(found["data"]))

    def complaints(self) -> list[object]:
        """Complaints of the browser about the page: errors, and what its policy stopped."""
        bad = ("Log.entryAdded", "Runtime.exceptionThrown")
        return [
            event["params"]
            for event in self.browser.events
            if event.get("sessionId") == self.session
            and event["method"] in bad
            and "ERR_CONNECTION_REFUSED" not in str(event)
        ]

    def asked(self) -> set[str]:
        """The servers that the page asked."""
        return {
            event["params"]["request"]["url"].split("/")[2]
            for event in self.browser.events
            if event.get("sessionId") == self.session
            and event["method"] == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith("data:")  # the browser's own pictures of controls
        }
