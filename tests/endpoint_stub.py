"""An OpenAI-compatible endpoint on loopback whose answers a test writes."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from threading import Event
    from types import TracebackType
    from typing import Self


@dataclass(frozen=True)
class Reply:
    """A response: `delay` holds it back for seconds, `until` until an event (ten seconds at most), `cut` for ever.

    With `drip`, every byte of the body is a tenth of a second late, with `drip_head` every one of the head as well.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    until: Event | None = None
    drip: bool = False
    drip_head: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as the server got it: its decoded body, and the number of equal ones before it."""

    body: dict[str, object]
    before: int
    headers: Mapping[str, str]

    @property
    def prompt(self) -> str:
        """The texts of all messages, or those whose vectors are asked for."""
        messages = self.body.get("messages", ())
        return "\n".join([*self.texts, *(message["content"] for message in messages)])  # type: ignore[attr-defined]

    @property
    def texts(self) -> list[str]:
        """The texts whose vectors are asked for."""
        return self.body.get("input", [])  # type: ignore[return-value]


Answering: TypeAlias = "Callable[[Asked], Reply]"


def completion(
    text: object,
    *,
    tokens: Mapping[str, float] | None = None,
    finish: str = "stop",
    usage: tuple[int, int] | None = (10, 2),
    model: str = "stub-1",
    **message: object,
) -> Reply:
    """A chat completion; `tokens` are the logarithms of the probabilities of first tokens, `message` further fields."""
    said = {"role": "assistant", "content": text, **message}
    choice: dict[str, object] = {"index": 0, "message": said, "finish_reason": finish}
    if tokens is not None:
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in tokens.items()]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    whole: dict[str, object] = {"id": "x", "object": "chat.completion", "model": model, "choices": [choice]}
    if usage is not None:
        whole["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(json.dumps(whole).encode(), headers={"Content-Type": "application/json"})


def embeddings(vectors: Sequence[Sequence[float]], *, tokens: int | None = 10) -> Reply:
    """Vectors of texts, the last one first."""
    rows = [{"object": "embedding", "index": at, "embedding": list(row)} for at, row in enumerate(vectors)]
    whole: dict[str, object] = {"object": "list", "model": "stub-1", "data": rows[::-1]}
    if tokens is not None:
        whole["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Reply(json.dumps(whole).encode(), headers={"Content-Type": "application/json"})


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: object) -> Reply:
    body = json.dumps({"error": {"message": message, "type": "error", **more}}).encode()
    return Reply(body, status, headers or {})


def echo(asked: Asked) -> Reply:
    """An answer that depends on the request alone."""
    return completion("answer " + hashlib.sha256(json.dumps(asked.body).encode()).hexdigest()[:8])


class StubServer:
    """A server in a thread, within a `with` block; `asked` has all requests in the order in which they came."""

    def __init__(self, answering: Answering = echo, *, tokenizes: bool = False) -> None:
        self.asked: list[Asked] = []
        self.answered = Counter[str]()
        self._answering, self._lock = answering, Lock()
        self._seen = Counter[bytes]()
        self._tokenizes = tokenizes
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def do_POST(self) -> None:
                stub._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                pass  # clients that were killed

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        data = handler.rfile.read(int(handler.headers["Content-Length"]))
        if handler.path == "/tokenize":
            tokens = json.loads(data)["content"].split()
            self._send(handler, Reply(json.dumps({"tokens": tokens}).encode(), 200 if self._tokenizes else 404))
            return
        assert handler.path in {"/v1/chat/completions", "/v1/embeddings"}, handler.path
        with self._lock:
            asked = Asked(json.loads(data), self._seen[data], dict(handler.headers))
            self._seen[data] += 1
            self.asked.append(asked)
        reply = self._answering(asked)
        if reply.until:
            reply.until.wait(10)
        time.sleep(reply.delay)
        if reply.cut:
            with suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        self._send(handler, reply)
        with self._lock:
            self.answered[asked.prompt] += 1

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        for part in map(bytes, zip(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100 if reply.drip_head else b"")):
            handler.wfile.write(part)
            handler.wfile.flush()
            time.sleep(0.1)
        handler.send_response_only(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        for part in map(bytes, zip(reply.body)) if reply.drip else (reply.body,):
            handler.wfile.write(part)
            handler.wfile.flush()
            time.sleep(0.1 * reply.drip)
