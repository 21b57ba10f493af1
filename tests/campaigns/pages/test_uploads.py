"""Forms with files: what browsers send is read, and no body costs more than one pass over it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from starlette.requests import Request

from postil.campaigns.pages.site import MAX_FILES, HTTPError, uploads_of

KIND = "multipart/form-data; boundary=q"
CSRF = b'--q\r\nContent-Disposition: form-data; name="csrf"\r\n\r\ns3cret\r\n'
FILE = b'--q\r\nContent-Disposition: form-data; name="texts"; filename="a.jsonl"\r\nContent-Type: text/plain\r\n\r\n'
END = b"\r\n--q--\r\n"


def parsed(body: bytes, kind: str = KIND) -> Any:
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", kind.encode())]}
    return uploads_of(Request({**scope, "postil.body": body}))


@pytest.mark.parametrize("kind", [KIND, 'multipart/form-data; boundary="q"', "Multipart/Form-Data; Boundary=q"])
@pytest.mark.parametrize("content", [b"", b"one\r\n--two\r\n", b"\r\n--", b"\x00\xff" * 100_000])
def test_fields_and_files_are_read_as_they_were_sent(kind: str, content: bytes) -> None:
    fields, files = parsed(CSRF + FILE + content + END, kind)
    assert fields == {"csrf": "s3cret"}
    assert files == {"texts": ("a.jsonl", content)}


def test_a_field_without_a_chosen_file_is_missing_and_names_have_no_folders() -> None:
    assert parsed(FILE.replace(b"a.jsonl", b"") + END) == ({}, {})
    for name, known in (("../é.csv", "é.csv"), ("..", "file"), ("a\x1b[2J.csv", "a__2J.csv")):
        _, files = parsed(FILE.replace(b"a.jsonl", name.encode()) + b"x" + END)
        assert files["texts"].name == known


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (CSRF + FILE + b"cut off", KIND, 400),
        (CSRF + FILE + b"cut off\r\n--q", KIND, 400),
        (b"", KIND, 400),
        (b"x--q--", KIND, 400),
        (b'--q\r\nContent-Disposition: form-data; name="x"\r\n\r\n' + b"x" * 100_000 + END, KIND, 400),
        (b"--q\r\nContent-Type: text/plain\r\n\r\nx" + END, KIND, 400),
        ((CSRF * 31) + b"--q--", KIND, 400),
        ((FILE + b"\r\n") * (MAX_FILES + 1) + b"--q--", KIND, 400),
        (CSRF + b"--q--", "multipart/form-data", 415),
        (CSRF + b"--q--", "multipart/form-data; boundary=q; charset=idna", 415),
        (CSRF + b"--q--", "application/x-www-form-urlencoded", 415),
        (CSRF + b"--q--", f"multipart/form-data; boundary={'q' * 71}", 415),
    ],
)
def test_what_is_no_form_is_refused(body: bytes, kind: str, status: int) -> None:
    with pytest.raises(HTTPError) as refused:
        parsed(body, kind)
    assert refused.value.status == status


HOSTILE = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from starlette.requests import Request
from postil.campaigns.pages.site import HTTPError
from postil.campaigns.pages.site import uploads_of
SIZE = 1 << 20
FILE = b'--q\\r\\nContent-Disposition: form-data; name="texts"; filename="a"'
heads = [b"content-disposition:", b"Content-Disposition: form-data; name", b"a: b\\r\\n", b"; ", b'\\\\"', b" ", b"%"]
bodies = [b"--q\\r\\n" + part * (SIZE // len(part)) + b"\\r\\n\\r\\nx" for part in heads]
bodies += [FILE + part * (SIZE // len(part)) + b"\\r\\n\\r\\nx" for part in heads]
runs = [b"\\r\\n--", b"\\r\\n--r", b"\\r", b"\\r\\n", b"-", b"\\n", b"--q\\r\\n"]
bodies += [before + part * (SIZE // len(part)) for part in runs for before in (b"", FILE + b"\\r\\n\\r\\n")]
for body in bodies:
    headers = [(b"content-type", b"multipart/form-data; boundary=q")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    try:
        uploads_of(Request({**scope, "postil.body": body + b"\\r\\n--q--\\r\\n"}))
    except HTTPError as error:
        assert error.status == 400
print(len(bodies))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processor time are POSIX")
def test_a_megabyte_of_any_repetition_is_read_or_refused_in_time() -> None:
    """Not to finish within the processor time of the child is the failure."""
    ran = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, check=False)  # noqa: S603
    assert (ran.returncode, ran.stdout) == (0, "28\n"), ran.stderr
