r"""Bring new posts of a Discourse forum to the attention of its moderators where postil would hold them.

    POSTIL_URL=https://suggest.example.org POSTIL_TOKEN=postil_… \
    DISCOURSE_URL=https://forum.example.org DISCOURSE_KEY=… DISCOURSE_USER=system DISCOURSE_SECRET=… \
    python examples/discourse_relay.py [--port 8010]

Discourse has no phase in which another server decides about a post, but it tells other servers of new ones. In *Admin →
API → Webhooks* give the address of this script, the secret, and the event *post is created*; in *API keys* make a key
that may write flags. A post that the service would hold is flagged for the moderators with its reasons: it stays
visible, and nothing is deleted. Posts of staff are passed over.

Discourse signs the body: ``X-Discourse-Event-Signature: sha256=`` and its HMAC. It waits only a few seconds, so the
answer is given before the service is asked.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LARGEST = 1024 * 1024
WAITING = 1000
FOR_MODERATORS = 7
"""Discourse's number of a flag with a message to the moderators."""


@dataclass(frozen=True)
class Settings:
    """Addresses and keys, from the environment."""

    postil_url: str
    postil_token: str
    discourse_url: str
    discourse_key: str
    discourse_user: str
    discourse_secret: str

    @classmethod
    def of_environment(cls) -> Settings:
        """Read the settings; SystemExit names those that are missing."""
        names = [name.upper() for name in cls.__dataclass_fields__]
        if missing := [name for name in names if not os.environ.get(name)]:
            raise SystemExit(f"set in the environment: {', '.join(missing)}")
        return cls(*(os.environ[name] for name in names))


def post_json(url: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    """Post JSON and read JSON."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"expected an address with http or https, got {url}")
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - the scheme is checked above
        return json.loads(answer.read(LARGEST) or b"null")


def screen(post: dict[str, Any], settings: Settings) -> str:
    """Screen a post, and flag it where the service would hold it; return what was done."""
    text, number = str(post.get("raw") or ""), post.get("id")
    if not text or not isinstance(number, int):
        return "passed over: no text or id"
    if post.get("staff"):
        return f"post {number}: of staff"
    bearer = {"Authorization": f"Bearer {settings.postil_token}"}
    asked = {"text": text, "article": {"title": str(post.get("topic_title") or "")}}
    found = post_json(f"{settings.postil_url}/v1/screen", asked, bearer)
    if found["decision"] != "hold":
        return f"post {number}: accepted"
    message = "postil would hold this post: " + "; ".join(found["reasons"])
    flag = {"id": number, "post_action_type_id": FOR_MODERATORS, "message": message}
    keys = {"Api-Key": settings.discourse_key, "Api-Username": settings.discourse_user}
    post_json(f"{settings.discourse_url}/post_actions.json", flag, keys)
    return f"post {number}: flagged"


class Relay(ThreadingHTTPServer):
    """A server of Discourse's webhook; one thread asks the service."""

    def __init__(self, address: tuple[str, int], settings: Settings) -> None:
        super().__init__(address, Hook)
        self.settings = settings
        self.posts: queue.Queue[dict[str, Any]] = queue.Queue(WAITING)
        threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        """Screen the posts one after another."""
        while True:
            post = self.posts.get()
            try:
                done = screen(post, self.settings)
            except (OSError, ValueError, KeyError, TypeError) as error:  # the forum goes on without the service
                done = f"post {post.get('id')}: not screened: {error}"
            print(done, file=sys.stderr, flush=True)
            self.posts.task_done()


class Hook(BaseHTTPRequestHandler):
    """One delivery of Discourse."""

    server: Relay
    timeout = 10

    def do_POST(self) -> None:
        """Check the signature, and take the post."""
        size = self.headers.get("Content-Length", "")
        if not size.isdigit() or int(size) > LARGEST:
            return self.answer(413)
        body = self.rfile.read(int(size))
        secret = self.server.settings.discourse_secret.encode()
        expected = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Discourse-Event-Signature", "")
        if not hmac.compare_digest(expected.encode(), given.encode()):
            return self.answer(403)
        if self.headers.get("X-Discourse-Event") != "post_created":
            return self.answer(204)
        try:
            post = json.loads(body)["post"]
            self.server.posts.put_nowait(dict(post))
        except (ValueError, KeyError, TypeError):
            return self.answer(400)
        except queue.Full:  # Discourse tries again
            return self.answer(503)
        return self.answer(202)

    def answer(self, status: int) -> None:
        """Answer with a status alone."""
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no line for each request."""


def main() -> None:
    """Serve until Ctrl+C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8010)
    given = parser.parse_args()
    with Relay((given.host, given.port), Settings.of_environment()) as relay:
        print(f"waiting for Discourse at http://{given.host}:{relay.server_port}", file=sys.stderr)
        with contextlib.suppress(KeyboardInterrupt):
            relay.serve_forever()


if __name__ == "__main__":
    main()
