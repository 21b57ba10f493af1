"""Clients that send too much, too slowly, or half of it, over real sockets."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import socket
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from postil.messages import COMMAND_LINE
from postil.web.connections import ConnectionLimits, listen, make_server, tell_unencrypted
from postil.web.security import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import uvicorn

Make = Any
HEAD = b"GET /static/icon.svg HTTP/1.1\r\nhost: localhost\r\n"
LATE = ConnectionLimits(head_seconds=60, body_seconds=60, idle_seconds=60, linger_seconds=60, tick=0.02)


class Line:
    """A connection, and what comes over it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(20)
        self._got = b""

    def send(self, *parts: bytes) -> Line:
        for part in parts:
            self.socket.sendall(part)
        return self

    def flood(self, *parts: bytes) -> Line:
        """Send until the server has heard enough."""
        with contextlib.suppress(OSError):
            self.send(*parts)
        return self

    def drip(self) -> None:
        for _ in range(1000):
            self.send(b"x")
            time.sleep(0.01)

    def rest(self) -> bytes:
        """All that comes until the server closes; fails where it does not."""
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                self._receive()
        return self._got

    def answer(self) -> tuple[int, bytes]:
        """The status and body of the next answer."""
        while b"\r\n\r\n" not in self._got:
            self._receive()
        head, _, body = self._got.partition(b"\r\n\r\n")
        size = next(int(line[16:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: "))
        while len(body) < size:
            body += self._receive()
        self._got = body[size:]
        return int(head.split()[1]), body[:size]

    def _receive(self) -> bytes:
        part = self.socket.recv(65536)
        if not part:
            raise EOFError
        self._got += part
        return part


def status(answer: bytes) -> int:
    return int(answer.split()[1])


@pytest.fixture
def serving(place: Make) -> Iterator[Callable[..., tuple[Any, uvicorn.Server, Callable[[], Line]]]]:
    """Serves a campaign from a thread."""
    ends: list[Callable[[], None]] = []

    def make(limits: ConnectionLimits, *, secure: bool = False) -> tuple[Any, uvicorn.Server, Callable[[], Line]]:
        here = place()
        server = make_server(here.app, secure=secure, limits=limits)
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        lines: list[Line] = []

        def end() -> None:
            for line in lines:
                line.socket.close()
            server.should_exit = True
            thread.join()

        def line() -> Line:
            lines.append(Line(port))
            return lines[-1]

        ends.append(end)
        return here, server, line

    yield make
    for end in ends:
        end()


def none_is_left(server: uvicorn.Server) -> bool:
    for _ in range(1000):
        if not server.server_state.connections:
            return True
        time.sleep(0.01)
    return False


def form(ann: Any, *, grade: str = "4") -> tuple[bytes, bytes]:
    """The head of a request with a grade, but for the size, and the body."""
    fields = {**ann.form(), "grade": grade, "seconds": "12.34"}
    cookies = "; ".join(f"{one.name}={one.value}" for one in ann.client.cookies.jar)
    head = (
        f"POST /rate HTTP/1.1\r\nhost: localhost\r\ncookie: {cookies}\r\naccept: application/json\r\n"
        "content-type: application/x-www-form-urlencoded\r\n"
    )
    return head.encode(), urlencode(fields).encode()


def sized(size: int) -> bytes:
    return f"content-length: {size}\r\n\r\n".encode()


def test_a_head_that_is_too_large_is_refused(serving: Make) -> None:
    _, server, line = serving(LATE)
    fits = line().send(HEAD, b"x: " + b"y" * (LATE.head_bytes - len(HEAD) - 7) + b"\r\n\r\n")
    assert fits.answer()[0] == 200
    fits.socket.close()
    large = [
        [HEAD, b"x: " + b"y" * (LATE.head_bytes - len(HEAD) - 6) + b"\r\n\r\n"],
        [HEAD, b"x: ", *[b"y" * 10_000] * 10],  # never complete
        [b"GET /" + b"y" * 100_000],
        [HEAD, b"x:y\r\n" * 200, b"\r\n"],
        [HEAD, b"x:y\r\n" * 200],
        [b"\r\n" * 40_000],
    ]
    for parts in large:
        one = line().send(HEAD, b"\r\n")  # the limit holds for each request
        assert one.answer()[0] == 200
        got = one.flood(*parts).rest()
        assert status(got) == 431
        one.socket.close()
        assert b"content-security-policy" in got
        assert b"Delete this server's cookies" in got
    assert none_is_left(server)


def test_a_body_that_is_too_large_is_refused_and_the_client_hears_it(serving: Make) -> None:
    here, server, line = serving(LATE)
    head, _ = form(here.visitor("Ann"))
    chunked = head + b"transfer-encoding: chunked\r\n\r\n"
    for parts in (
        [head, sized(10**6), *[b"x" * 10_000] * 100],
        [chunked, *[b"2710\r\n" + b"x" * 10_000 + b"\r\n"] * 100],
        [chunked, b"1;" + b"x" * 10**6],
        [chunked, b"1\r\nx\r\n0\r\n", b"trailer: x\r\n" * 50_000],
        [chunked, b"1\r\nx\r\n0\r\n", b"trailer: " + b"x" * 10**6],
        [chunked, *[b"1\r\nx\r\n"] * 60_000],
    ):
        one = line().flood(*parts)
        got = one.answer()
        assert (got[0], json.loads(got[1])) == (413, {"problem": f"The request is larger than {LARGEST:,} bytes."})
        one.socket.close()
    assert none_is_left(server)
    assert here.store.results.events() == []


def test_trailers_are_no_headers(serving: Make) -> None:
    here, _, line = serving(LATE)
    head, body = form(here.visitor("Ann"))
    one = line().send(head + b"transfer-encoding: chunked\r\n\r\n")
    one.send(f"{len(body):x}\r\n".encode(), body, b"\r\n0\r\nhost: evil.example\r\norigin: http://evil.example\r\n\r\n")
    assert one.answer()[0] == 200
    assert one.send(HEAD, b"\r\n").answer()[0] == 200
    assert len(here.store.results.events()) == 1


def test_what_takes_too_long_is_ended(serving: Make) -> None:
    _, server, line = serving(replace(LATE, head_seconds=0.3, body_seconds=0.2, linger_seconds=0.2))
    again = line().send(HEAD, b"\r\n")
    assert again.answer()[0] == 200
    for one in [line().send(b"GET"), line().send(HEAD, b"x: y"), again.send(HEAD)]:
        assert status(one.rest()) == 408
    for one in [line(), line().send(b"\r\n")]:
        assert one.rest() == b""
    for head in (HEAD, b"POST /rate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\n\r\n"):
        with pytest.raises(ConnectionError):  # whatever still comes after the answer
            line().send(head).drip()
    assert none_is_left(server)


def test_idle_connections_end(serving: Make) -> None:
    _, server, line = serving(replace(LATE, idle_seconds=0.2))
    for more in (b"", b"\r\n"):
        one = line().send(HEAD, b"\r\n")
        assert one.answer()[0] == 200
        assert one.flood(more).rest() == b""
    one = line()
    one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.socket.settimeout(0.5)
    one.flood(*[HEAD.replace(b"icon.svg", b"htmx.min.js") + b"\r\n"] * 10_000)  # stalls, as the answers are not read
    assert none_is_left(server)


def test_half_a_form_is_never_an_answer(serving: Make) -> None:
    here, server, line = serving(replace(LATE, body_seconds=0.2, linger_seconds=0.2))
    head, body = form(here.visitor("Ann"))
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n"
    chunked = head + b"transfer-encoding: chunked\r\n\r\n"
    slow = (head + sized(len(body) + 1) + body, chunked + chunk, chunked + chunk + b"0\r\nx: y")
    for sent in slow:
        got = line().send(sent).answer()
        assert (got[0], json.loads(got[1])["problem"]) == (408, "The request took longer than 0.2 s. Send it again.")
    for sent in slow:
        one = line().send(sent)
        one.socket.shutdown(socket.SHUT_WR)
        assert b" 200 OK" not in one.rest()
    assert status(line().send(chunked + chunk + b"no size\r\n").rest()) == 400
    assert status(line().send(head + b"content-length: 10\r\ncontent-length: 20\r\n\r\n" + body).rest()) == 400
    assert none_is_left(server)
    assert here.store.results.events() == []
    assert line().send(head + sized(len(body)) + body).answer()[0] == 200
    assert len(here.store.results.events()) == 1


def test_connections_are_counted(serving: Make) -> None:
    few = ConnectionLimits(connections=4, per_address=2, tick=0.02)
    for secure, most in ((False, 2), (True, 4)):
        _, server, line = serving(few, secure=secure)
        lines = [line().send(HEAD, b"\r\n") for _ in range(most)]
        assert [one.answer()[0] for one in lines] == [200] * most
        with_answer = line()
        assert status(with_answer.rest()) == 503
        assert lines[0].send(HEAD, b"\r\n").answer()[0] == 200
        for one in lines:
            one.socket.close()
        assert none_is_left(server)
        assert line().send(HEAD, b"\r\n").answer()[0] == 200


def test_few_requests_wait_for_the_answers_to_others(serving: Make) -> None:
    _, server, line = serving(LATE)
    some = line().send((HEAD + b"\r\n") * 5)
    assert [some.answer()[0] for _ in range(5)] == [200] * 5
    some.socket.close()
    assert line().flood((HEAD + b"\r\n") * 1000).rest().count(b" 200 OK") < 100
    assert none_is_left(server)


def test_requests_that_are_not_complete_do_not_hold_up_the_end(serving: Make, capfd: Any) -> None:
    here, server, line = serving(LATE)
    head, body = form(here.visitor("Ann"))
    halves = [line().send(head + sized(len(body) + 1) + body), line().send(HEAD), line().send(b"\0"), line()]
    assert status(halves[2].rest()) == 400
    served = line().send(HEAD, b"\r\n")
    assert served.answer()[0] == 200
    server.should_exit = True
    assert [status(one.rest()) for one in halves[:2]] == [503, 503]
    assert halves[3].rest() == served.rest() == b""
    assert none_is_left(server)
    assert "Traceback" not in capfd.readouterr().err
    assert here.store.results.events() == []


@pytest.mark.parametrize(
    ("host", "secure", "told"),
    [
        ("0.0.0.0", False, True),  # noqa: S104 - it is told
        ("0.0.0.0", True, False),  # noqa: S104
        ("127.0.0.1", False, False),
        ("localhost", False, False),
    ],
)
def test_that_nothing_is_encrypted_is_told_where_others_reach_it(host: str, secure: bool, told: bool) -> None:
    said: list[str] = []
    with listen(host, 0) as (listening, _):
        tell_unencrypted(listening, said.append, secure=secure)
    warning = (
        "other machines reach this address by HTTP: passwords, tokens and texts travel unencrypted, unless a reverse "
        "proxy in front speaks HTTPS; --https says that one does"
    )
    assert list(map(COMMAND_LINE.words, said)) == [warning] * told


def test_a_server_leaves_the_logging_of_its_process_alone() -> None:
    """uvicorn's own configuration closes all handlers, and with them the files of a program that serves."""
    closed: list[bool] = []
    handler = logging.StreamHandler(io.StringIO())
    handler.close = lambda: closed.append(True)  # type: ignore[method-assign]
    logging.getLogger("host").addHandler(handler)
    try:
        make_server(lambda *_: None)
    finally:
        logging.getLogger("host").removeHandler(handler)
    assert not closed
