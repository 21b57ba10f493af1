"""Catalogues of translations: they have what pages show and nothing else, and a language is one file."""

from __future__ import annotations

import re
from gettext import GNUTranslations
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

import pytest
from babel.messages.mofile import write_mo

from postil.web import pages
from postil.web.pages import PAGES, page_in, pages_of, preferred_language
from postil.web.po_files import compiled

if TYPE_CHECKING:
    from types import ModuleType

Make = Any
TOOL = Path(__file__).parents[2] / "tools" / "update_catalogues.py"
HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = spec_from_file_location("update_catalogues", TOOL)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module", params=sorted(PAGES.keys() - {"en"}))
def path(tool: ModuleType, request: pytest.FixtureRequest) -> Path:
    (found,) = tool.LOCALE.glob(f"{request.param}/LC_MESSAGES/postil.po")
    return Path(found)


def blanks(text: str) -> list[tuple[str, str]]:
    """Names in braces with their formats, and signs that scripts replace."""
    return sorted((name, form or "") for _, name, form, _ in Formatter().parse(text) if name) + [
        ("%", "")
    ] * text.count("%")


def test_a_catalogue_has_what_pages_show_and_nothing_else(tool: ModuleType, path: Path) -> None:
    wanted = {(each.context, each.id) for each in tool.template() if each.id}
    assert len(wanted) > 500
    there = {(each.context, each.id) for each in tool.read(path) if each.id}
    assert wanted - there == set(), "run tools/update_catalogues.py and translate"
    assert there - wanted == set(), "run tools/update_catalogues.py"


def test_every_text_is_translated_with_its_blanks(tool: ModuleType, path: Path) -> None:
    for each in tool.read(path):
        if each.id:
            said = tool.strings_of(each)
            assert all(said), each.id
            last = each.id[-1] if each.pluralizable else each.id
            assert [blanks(text) for text in said] == [blanks(last)] * len(said), each.id


def test_compiled_it_is_what_babel_makes_of_it(tool: ModuleType, path: Path) -> None:
    made = BytesIO()
    write_mo(made, tool.read(path))
    made.seek(0)
    ours = GNUTranslations(BytesIO(compiled(path.read_text(encoding="utf-8"))))
    expected = GNUTranslations(made)
    assert {**vars(ours)["_catalog"], "": ""} == {**vars(expected)["_catalog"], "": ""}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('msgid "a"\nmsgstr b\n', "line 2: expected a text in quotation marks, got 'b'"),
        ('msgid "a"\nmsgtsr "b"\n', "line 2: expected one of msgctxt, msgid, msgid_plural, msgstr, got 'msgtsr"),
        ('msgid "a"\nmsgid "b"\n', "line 2: expected one of"),
        ('"a"\n', "line 1: expected one of"),
        ('#, fuzzy\nmsgid "a"\nmsgstr "b"\n', "line 1: a fuzzy entry"),
        ('msgid "a"\n\n', "line 2: the entry before it is not whole, or there twice: 'a'"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr "c"\n', "not whole"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[1] "c"\n', "not whole"),
        ('msgid "a"\nmsgstr "b"\n\nmsgid "a"\nmsgstr "c"', "there twice: 'a'"),
    ],
)
def test_a_wrong_line_is_named(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        compiled(text)


def test_a_language_is_one_file(tmp_path: Path, place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pt_BR" / "LC_MESSAGES").mkdir(parents=True)
    forms = '"Plural-Forms: nplurals=2; plural=n > 1;\\n"\n\n'
    entries = (
        'msgid "English"\nmsgstr "Português"\n\n'
        'msgid "Progress"\nmsgstr ""\n"Pro"\n"gresso"\n\n'
        'msgid "1 item was adjudicated."\nmsgid_plural "{n} items were adjudicated."\n'
        'msgstr[0] "{n} item foi julgado."\nmsgstr[1] "{n} itens foram julgados."\n\n'
        'msgctxt "desk"\nmsgid "Keys"\nmsgstr "Teclas"\n\n'
        '# not translated yet\nmsgid "Conflicts"\nmsgstr ""'
    )
    (tmp_path / "pt_BR" / "LC_MESSAGES" / "postil.po").write_text(HEADER + forms + entries, encoding="utf-8")
    monkeypatch.setattr(pages, "PAGES", {**PAGES, **pages_of(tmp_path)})
    assert [preferred_language(each) for each in ("pt-BR", "pt_br", "pt-BR-x-a", "pt")] == ["pt-br"] * 3 + ["en"]
    page = page_in("pt-BR")
    few, many = ("1 item was adjudicated.", "{n} items were adjudicated.")
    assert [page.ngettext(few, many, n).format(n=n) for n in (0, 2)] == [
        "0 item foi julgado.",
        "2 itens foram julgados.",
    ]
    assert (page.within("desk"), page.gettext("Conflicts"), page.gettext("Keys")) == (
        {"Keys": "Teclas"},
        "Conflicts",
        "Keys",
    )
    lead = place().visitor("Lee", "lead")
    lead.client.headers["accept-language"] = "pt-BR,pt;q=0.9"
    shown = lead.get("/lead").text
    assert '<html lang="pt-br">' in shown
    assert "<h1>Progresso</h1>" in shown
    lead.client.headers["accept-language"] = "zh"
    assert 'href="/lead?lang=pt-br" hreflang="pt-br" lang="pt-br">Português</a>' in lead.get("/lead").text
