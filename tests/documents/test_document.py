"""Documents and their blocks: what cannot be one is refused."""

from __future__ import annotations

import msgspec
import pytest

from postil.documents.document import Block, Document


def test_a_document_survives_json() -> None:
    document = Document(text="Rain.", blocks=(Block(kind="paragraph", start=0, end=5, page=2),), source="a.pdf")
    assert msgspec.json.decode(msgspec.json.encode(document), type=Document) == document


@pytest.mark.parametrize(("start", "end"), [(3, 3), (4, 2), (-1, 2)])
def test_a_block_has_text(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="expected a block of text"):
        Block(kind="paragraph", start=start, end=end)


@pytest.mark.parametrize("bounds", [[(0, 3), (2, 4)], [(2, 4), (0, 1)], [(0, 6)]])
def test_blocks_are_in_order_and_within_the_text(bounds: list[tuple[int, int]]) -> None:
    blocks = tuple(Block(kind="paragraph", start=start, end=end) for start, end in bounds)
    with pytest.raises(ValueError, match="overlap, or end after the text"):
        Document(text="Rain.", blocks=blocks, source="a.txt")
