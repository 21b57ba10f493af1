"""PDF files for tests, written by hand: pages of text at given places, and files that are broken in one way each."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

FONTS = {"F1": "Times-Roman", "F2": "Times-Bold", "F3": "Courier"}
WIDTHS = {"F1": 0.45, "F2": 0.5, "F3": 0.6}
"""About the mean width of a character, for a font of size 1."""


def escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


@dataclass
class Page:
    """A page whose content grows line by line."""

    content: list[str] = field(default_factory=list)
    rotate: int = 0

    def text(self, x: float, y: float, text: str, *, size: float = 10, font: str = "F1", scale: float = 100) -> None:
        self.content.append(f"BT /{font} {size} Tf {scale} Tz 1 0 0 1 {x} {y} Tm ({escaped(text)}) Tj ET")

    def lines(self, x: float, y: float, *texts: str, size: float = 10, leading: float = 12, font: str = "F1") -> float:
        """Lines below one another; the height below the last one."""
        for text in texts:
            self.text(x, y, text, size=size, font=font)
            y -= leading
        return y

    def paragraph(
        self, x: float, y: float, text: str, *, width: int = 70, size: float = 10, indent: float = 0
    ) -> float:
        """A paragraph whose lines, but for the last, are equally long; the height below it."""
        line: list[str] = []
        rows = []
        for word in text.split():
            if len(" ".join([*line, word])) > width:
                rows.append(" ".join(line))
                line = []
            line.append(word)
        for at, row in enumerate([*rows, " ".join(line)]):
            start = x + indent * (at == 0)
            natural = len(row) * WIDTHS["F1"] * size
            full = width * WIDTHS["F1"] * size - (start - x)
            self.text(start, y, row, size=size, scale=100 * full / natural if at < len(rows) else 100)
            y -= 1.2 * size
        return y


def pdf_objects(pages: list[Page], *, info: str = "", catalog: str = "", compress: bool = True) -> list[bytes]:
    """The objects of a file, from number 1: catalog, page tree, facts, fonts, then a page and its content in turn."""
    first = 4 + len(FONTS)
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(pages)))
    fonts = " ".join(f"/{name} {4 + at} 0 R" for at, name in enumerate(FONTS))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        f"<< {info} >>".encode(),
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()
            for name in FONTS.values()
        ),
    ]
    for at, page in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate {page.rotate} "
            f"/Resources << /Font << {fonts} >> >> /Contents {first + 2 * at + 1} 0 R >>".encode()
        )
        objects.append(stream("\n".join(page.content).encode("cp1252"), compress=compress))
    return objects


def stream(data: bytes, extra: str = "", *, compress: bool = True) -> bytes:
    if compress:
        data, extra = zlib.compress(data), f"/Filter /FlateDecode {extra}"
    return f"<< /Length {len(data)} {extra} >>\nstream\n".encode() + data + b"\nendstream"


def pdf_file(objects: list[bytes], trailer: str = "") -> bytes:
    """A file of these objects."""
    data = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer << /Size {len(places) + 1} /Root 1 0 R /Info 3 0 R {trailer} >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()


def pdf_of(*pages: Page, info: str = "", catalog: str = "") -> bytes:
    return pdf_file(pdf_objects(list(pages), info=info, catalog=catalog))
