"""Texts in place of names of files, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import postil

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Boats wait here all day. The oldest lock of Ely never froze."


def best(*given: Any, **keywords: Any) -> list[str]:
    return [each.text for each in postil.interesting(*given, **{"lang": "en", **keywords}).passages]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace(". ", ".\n\n"), f"Locks\n\n{TEXT}\n"])
def test_a_text_is_taken_as_a_file_of_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(text, encoding="utf-8")
    of_file = best(tmp_path / "page.txt")
    assert best(text) == best(text=text) == of_file
    assert of_file[0].endswith("The oldest lock of Ely never froze.")


def test_a_page_as_a_text() -> None:
    assert best(f"<html><body>\n<p>{TEXT}</p><p>Rain fell.</p></body></html>") == best(text=f"{TEXT}\n\nRain fell.")


def test_a_text_without_spaces() -> None:
    assert best("咖啡最早在也门烘焙。山羊发现了咖啡。", lang="zh")


def test_the_kind_of_a_text() -> None:
    text = "# Locks\n\nThe *oldest* lock of Ely never froze."
    assert best(text=text, kind="markdown") == ["The oldest lock of Ely never froze."]


def test_a_file_whose_name_looks_like_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "A lock.").write_text(TEXT, encoding="utf-8")
    assert best("A lock.") == best(TEXT)


@pytest.mark.parametrize(
    ("given", "keywords", "problem"),
    [
        (("page.html",), {}, "page.html: no such file"),
        (("locks.",), {}, "locks.: no such file"),
        (("the oldest lock",), {}, "the oldest lock: no such file; a text of one line goes in as text=…"),
        ((), {}, "expected either source or text, got neither"),
        (("a.txt",), {"text": "a"}, "expected either source or text, got both"),
        ((), {"text": " "}, "text: "),
        ((), {"text": 5}, "text: expected text or None, got 5"),
    ],
)
def test_what_is_neither_text_nor_file(given: tuple[str, ...], keywords: dict[str, Any], problem: str) -> None:
    with pytest.raises(postil.PostilError) as error:
        best(*given, **keywords)
    assert str(error.value).startswith(problem)
