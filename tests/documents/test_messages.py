"""Pages that browsers saved in one file, mails, and other saved pages."""

from __future__ import annotations

import gzip
import plistlib
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from limited_child import unfinished
from postil.documents.raw_files import message_text
from postil.documents.reading import read_document
from postil.errors import InvalidInput

SENTENCES = (
    "The engine burned five tons of coal a day, said the keeper of Müller’s mill in 1941.",
    "It is one of only three that are left, and the only one with its wheel.",
    "The wheel weighs 25 tons and had to be made larger three times.",
)
PAGE = (
    "<!DOCTYPE html><html lang=en><head><title>Old Engine - Pumps</title></head><body><nav><a href=/>Home</a></nav>"
    f"<article><h1>Old Engine</h1>{''.join(f'<p>{each}</p>' for each in SENTENCES)}</article></body></html>"
)


def saved(encoding: str, charset: str = "utf-8", newline: str = "\r\n") -> bytes:
    """A page as Chromium and Internet Explorer save it."""
    page = MIMEText(PAGE, "html", charset)
    del page["Content-Transfer-Encoding"]
    body = PAGE.encode(charset)
    if encoding == "8bit":
        page["Content-Transfer-Encoding"] = "8bit"
        page.set_payload(body.decode("latin-1"))
    else:
        page.set_payload(body)
        page = EmailMessage()
        page.set_content(body, "text", "html", cte=encoding)
        page.set_param("charset", charset)
    page["Content-ID"] = "<frame-1@mhtml.blink>"
    page["Content-Location"] = "https://pumps.example/engine"
    whole = MIMEMultipart("related", boundary="----MultipartBoundary--x----")
    whole["Snapshot-Content-Location"] = "https://pumps.example/engine"
    style = MIMEText("p { color: red }", "css")
    whole.attach(style)
    whole.attach(page)
    text = whole.as_bytes() if encoding != "8bit" else whole.as_string().encode("latin-1")
    return text.replace(b"\r\n", b"\n").replace(b"\n", newline.encode())


@pytest.mark.parametrize("newline", ["\r\n", "\n"], ids=["crlf", "lf"])
@pytest.mark.parametrize("charset", ["utf-8", "windows-1252"])
@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
@pytest.mark.parametrize("name", ["page.mht", "page.MHTML", "page.txt", "-", "page.eml"])
def test_a_page_saved_in_one_file(name: str, encoding: str, charset: str, newline: str) -> None:
    document = read_document(saved(encoding, charset, newline), name)
    assert (document.title, document.url, document.lang) == ("Old Engine", "https://pumps.example/engine", "en")
    assert [document.text_of(block) for block in document.blocks] == ["Old Engine", *SENTENCES]


def test_the_part_that_is_named_as_the_start_is_the_page() -> None:
    head = b'MIME-Version: 1.0\nContent-Type: multipart/related; start="<b@x>"; boundary=z\n\n'
    part = b"--z\nContent-Type: text/html\nContent-ID: <%s@x>\n\n<p>%s</p>\n"
    found = message_text(head + part % (b"a", b"A frame.") + part % (b"b", b"The page.") + b"--z--\n", "page.mht")
    assert found is not None
    assert found.data == b"<p>The page.</p>"


def mail(*, html: bool) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Old Engine", "keeper@pumps.example"
    message.set_content("\n\n".join(SENTENCES) + "\n", cte="base64")
    if html:
        message.add_alternative(PAGE, subtype="html")
        message.add_attachment(b"\x89PNG", maintype="image", subtype="png")
    return message.as_bytes()


@pytest.mark.parametrize("html", [True, False])
@pytest.mark.parametrize("name", ["mail.eml", "mail.txt", "-"])
def test_a_mail(name: str, *, html: bool) -> None:
    document = read_document(mail(html=html), name)
    prose = [document.text_of(block) for block in document.blocks if block.kind == "paragraph"]
    assert prose == list(SENTENCES)


def test_a_mail_of_plain_text_is_a_letter_as_it_stands() -> None:
    letter = f"From: keeper@pumps.example\nSubject: Old Engine\nMIME-Version: 1.0\n\n{SENTENCES[1]} {SENTENCES[2]}\n"
    assert message_text(letter.encode(), "mail.eml") is None
    assert read_document(letter.encode(), "mail.eml").text == letter


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=z\n\n<p>It rained.</p>", "it is damaged"),
        (
            b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n--z\n\n<p>It rained.</p>",
            "page or a text in the parts",
        ),
        (
            b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=z\n\n--z\nContent-Type: image/png\n\n--z--",
            "expected a page or a text in the parts of the message, got none",
        ),
    ],
)
def test_a_message_without_a_page_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=f"^page.mht: .*{problem}"):
        read_document(data, "page.mht")


def test_other_saved_pages_are_refused_by_name() -> None:
    archive = {"WebMainResource": {"WebResourceData": PAGE.encode(), "WebResourceMIMEType": "text/html"}}
    with pytest.raises(InvalidInput, match=r"got a web archive of Safari, .*; save it as HTML first"):
        read_document(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY), "page.webarchive")
    with pytest.raises(InvalidInput, match="save it as HTML or text first"):
        read_document(plistlib.dumps(archive), "page.webarchive")
    with pytest.raises(InvalidInput, match="got a gzip file; unpack it first"):
        read_document(gzip.compress(PAGE.encode()), "page.html.gz")


def test_hostile_messages() -> None:
    assert not unfinished(
        """
from postil.documents.reading import read_document
from postil.errors import InvalidInput
head = b"MIME-Version: 1.0\\n"
nested = b"".join(b"Content-Type: multipart/mixed; boundary=%d\\n\\n--%d\\n" % (n, n) for n in range(100_000))
page = b"Content-Type: multipart/related; boundary=z\\n\\n"
messages = dict(
    nested=head + nested,
    parts=head + page + b"--z\\nContent-Type: text/html\\n\\nx\\n" * 500_000,
    same=head + b"Content-Type: multipart/related; boundary=z\\n\\n" + (b"--z\\n" + page) * 100_000,
    heads=head + page + b"--z\\n" + b"a: b\\n" * 1_000_000,
    boundary=head + b'Content-Type: multipart/related; boundary="' + b';"' * 8_000 + b'"\\n\\nx',
    long=head + b"a" * 1_000_000,
    digits=head + b"Content-Transfer-Encoding: base64\\nContent-Type: text/html\\n\\n" + b"=A" * 1_000_000,
    quoted=head + b"Content-Transfer-Encoding: quoted-printable\\nContent-Type: text/html\\n\\n" + b"= " * 1_000_000,
    ends=head + page + b"\\r\\n" * 1_000_000,
)
for name, data in messages.items():
    print(name, flush=True)
    try:
        read_document(data, "page.mht")
    except InvalidInput:
        pass
"""
    )
