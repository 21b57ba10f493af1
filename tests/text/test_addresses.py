"""Detection of addresses. How masks work on texts: tests/corpus/test_privacy.py."""

from __future__ import annotations

import pytest

from postil.text.addresses import MASKS, kinds_of_address

MASKED, EMAIL, WEB, HANDLE = "a masked address", "an e-mail address", "a web address", "a handle"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", []),
        ("Nothing here: 5 @ 3, a.b and you/me", []),
        ("and/or, e.g. this, 3.14 or v2.0", []),
        ("call 555-010-9999", []),
        ("HTTPS://", [WEB]),  # cut off, and still told
        ("看www.a.cn。很好", [WEB]),
        ("it is on t.cn/RxYz now", [WEB]),
        ("buy at SHOP.COM", [WEB]),
        ("shop.community", []),
        ("write to ana.b+c@web", [HANDLE]),
        ("write to ana@web.io", [EMAIL, HANDLE]),
        ("Ana@Web.org", [EMAIL, WEB, HANDLE]),
        ("回复@小明:说得好", [HANDLE]),
        ("ask /U/bob", [HANDLE]),
        ("menu/ana", []),
        ("[user] and [url]", [MASKED]),
        ("[users], [URL]", [MASKED]),
        ("[users]", []),
    ],
)
def test_kinds_of_address(text: str, kinds: list[str]) -> None:
    assert list(kinds_of_address(text)) == kinds


def test_what_a_mask_leaves_is_told_as_masked() -> None:
    assert [list(kinds_of_address(word)) for word, _ in MASKS.values()] == [[MASKED]] * len(MASKS)


@pytest.mark.parametrize("text", ["see http://web.org/a", "mail ana@web.org", "hi @ana", "ask u/ana"])
def test_what_is_masked_is_held_back_as_well(text: str) -> None:
    assert any(pattern.search(text) for _, pattern in MASKS.values())
    assert list(kinds_of_address(text))
