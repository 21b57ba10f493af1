"""Unicode forms: those of Python, and in linear time where a text has very many marks."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limited_child import unfinished
from postil.kernel.unicode_forms import MOST_MARKS, SHORT, is_composed, normalized

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(
    st.sampled_from("ae\u0301\u0323\u0344\u0f73\u0f75\u1100\u1161\u11a8ﬁ\u212b\u3099か .\U0001d15e"), max_size=60
)


@given(TEXTS, st.sampled_from(["NFC", "NFKC"]))
def test_texts_with_few_marks_have_the_form_of_python(text: str, form: str) -> None:
    long = "x".join([text] * (SHORT // max(1, len(text)) + 2))
    for one in (text, long):
        assert normalized(form, one) == unicodedata.normalize(form, one)  # type: ignore[arg-type]
        assert is_composed(one) == unicodedata.is_normalized("NFC", one)


def test_long_runs_are_normalized_in_pieces() -> None:
    text = "a" + "\u0301\u0323" * SHORT
    assert sorted(unicodedata.normalize("NFD", normalized("NFC", text))) == sorted(text)
    assert normalized("NFC", text)[:2] == "\u1ea1\u0323"
    assert not is_composed(text)
    assert is_composed(normalized("NFC", "é" * SHORT))
    assert len(text) > MOST_MARKS


USES = {
    "ids": "from postil.data.fields import as_id; hash(as_id(text)); print(as_id(text) == as_id(text + 'a'))",
    "score": "import postil; postil.score([text], [[text, 'b']], metrics=['rouge-l'])",
    "tokens": "from postil.text.tokenizers import tokenizer; tokenizer('13a').split(text)",
    "near duplicates": "from postil.corpus.duplicates import normalize_text; normalize_text(text)",
    "documents": "open(sys.argv[1], 'w').write(text + '. Rain fell on Ely for nine days. ' * 9)\n"
    "import postil; postil.interesting(sys.argv[1])",
}
"""Code that brings a text in a variable of that name into a form."""


@pytest.mark.parametrize("use", USES)
def test_many_marks_hold_no_process(use: str, tmp_path: Path) -> None:
    code = f"text = 'Rain a' + '\\u0323\\u0301' * 200_000\n{USES[use]}"
    assert unfinished(code, str(tmp_path / "page.txt")) == ""
