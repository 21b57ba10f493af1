"""Bring the catalogues of translations up to date with the sources, or begin one for another language.

    python tools/update_catalogues.py        new texts get an empty translation, those that are gone are taken out
    python tools/update_catalogues.py fr     a new catalogue besides

Translated are the texts of templates and scripts of pages, and the templates of messages that pages show.
"""

from __future__ import annotations

import ast
import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from postil.campaigns.models import HEADINGS
from postil.campaigns.pages import lead, tables
from postil.data import suggestions
from postil.meta import parts
from postil.web import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "src" / "postil"
LOCALE: Final = SOURCE / "locale"
DESK: Final = "desk"
"""Context of the words of the desk."""

MODULES: Final = (
    *(f"campaigns/{name}.py" for name in ("add", "calls", "grading", "models", "people", "planning", "store")),
    *(f"campaigns/{name}.py" for name in ("quality", "results", "state", "validation", "view")),
    *("meta/agreement.py", "estimation/estimator.py", "raters/competence.py"),
    *("meta/estimation.py", "meta/severity.py", "meta/table.py"),
    *(f"data/{name}.py" for name in ("delimited", "explain", "jsonl", "reading", "record_rows")),
    *(f"data/{name}.py" for name in ("row_files", "tables", "workbooks")),
    "data/parts.py",
    *("meta/parts.py", "web/*.py", "campaigns/pages/*.py"),
)
"""Modules with messages that pages show."""
NOT_PAGES: Final = (
    "campaigns/pages/server.py",
    *(f"web/{name}.py" for name in ("audit_log", "guard", "problems", "routing", "stores", "tokens")),
)
NOT_SHOWN: Final = (
    "expected one array of objects, got several",
    "links begin with {known}, which was named before",
    "{count} item has one text left, so",
    "{count} text is empty or white space, left out",
    "only this machine can open links to {address}",
    "expected {width} numbers, as the first row",
    "judgements of more than one aspect",
    "ppi needs items without a grade",
    "the annotator with the highest competence agrees",
    "where each row is a text of a system: {context}",
)
"""Beginnings of the texts of these modules that only commands show."""

OTHER_SITES: Final = ("docs.html",)
CALLS: Final = {
    "HTTPError": (1, 2, 3),
    "Hint": (0, 1),
    "Listed": (1,),
    "Message": (0, 1),
    "NoColumn": (0, 1),
    "Note": (1, 2),
    "Refused": (1, 2),
    "Undefined": (0, 1),
    "_": (0,),
    "gettext": (0,),
    "ngettext": (0, 1),
    "pgettext": (0, 1),
}
"""Places of texts among the arguments of functions."""
TABLES_OF_PAGES: Final = SOURCE / "campaigns" / "pages" / "tables.py"
COLUMNS: Final = ("Count", "Decimal", "Name", "Part", "Share", "Text", "Written")
"""Columns of tables of pages, whose heads are texts; tables have captions."""
LISTED: Final = {"last": " and ", "between": ", "}
"""Texts of a list, where a call has no others."""


class Text(NamedTuple):
    """A text to translate.

    Args:
        one: The text, or that of one thing.
        many: The text of several things; empty where there is none.
        context: The context; empty for none.
        where: File that has it.
    """

    one: str
    many: str
    context: str
    where: str


TABLES: Final = {
    "web/pages.py": ("English", *pages.REASONS),
    "campaigns/pages/tables.py": tuple(tables.TITLES.values()),
    "campaigns/pages/lead.py": (*lead.SHOWN.values(), *(title for _, title in lead.TABS.values())),
    "campaigns/models.py": tuple(heading for headings in HEADINGS.values() for heading in headings),
    "meta/parts.py": tuple(parts.STATISTICS.values()),
}
"""Texts that are in tables."""


def texts() -> Iterator[Text]:
    """All texts, in the order of files; one that several files have comes several times."""
    for name, found in TABLES.items():
        for each in found:
            yield Text(each, "", "", name)
    for path in sorted(
        {path for pattern in MODULES for path in SOURCE.glob(pattern)} - {SOURCE / each for each in NOT_PAGES}
    ):
        yield from _of_module(path)
    for path in sorted((SOURCE / "web" / "templates").glob("*.html")):
        if path.name not in OTHER_SITES:
            context = DESK if path.name.startswith("desk") else ""
            yield from _of_file(path, "jinja2.ext:babel_extract", context)
    for path in sorted((SOURCE / "web" / "static").glob("desk*.js")):
        yield from _of_file(path, "javascript", DESK)
    yield from _of_module(SOURCE / "service" / "desk.py")
    for each in suggestions.REASONS:
        yield Text(each, "", DESK, "data/suggestions.py")


def _of_file(path: Path, method: str, context: str) -> Iterator[Text]:
    keywords = {"_": None, "ngettext": (1, 2), "t": None, "around": None, "count": (2, 3)}
    where = path.relative_to(SOURCE).as_posix()
    for _, found, _, _ in extract(
        method, BytesIO(path.read_bytes()), keywords, options={"encoding": "utf-8", "parse_template_string": True}
    ):
        one, many = (found, "") if isinstance(found, str) else found
        if context:  # the desk's scripts choose between the two by themselves
            yield from (Text(each, "", context, where) for each in (one, many) if each)
        else:
            yield Text(one, many, context, where)


def _of_module(path: Path) -> Iterator[Text]:
    where = path.relative_to(SOURCE).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = _name(node)
        if not isinstance(node, ast.Call):
            continue
        if path == TABLES_OF_PAGES:
            heads = (
                node.args[:1] if name in COLUMNS else [each.value for each in node.keywords if each.arg == "caption"]
            )
            yield from (Text(_literal(each), "", "", where) for each in heads if _literal(each))
        if name not in CALLS:
            continue
        one, *more = (_literal(node.args[at]) if at < len(node.args) else "" for at in CALLS[name])
        if name == "HTTPError":
            yield from (Text(each, "", "", where) for each in (one, *more) if each)
        elif name == "pgettext":
            yield Text(more[0], "", one, where)
        elif name == "Listed":
            words = {each.arg: _literal(each.value) for each in node.keywords}
            yield from (Text(found, "", "", where) for key, usual in LISTED.items() if (found := words.get(key, usual)))
        elif one and not one.startswith(NOT_SHOWN):
            yield Text(one, more[0] if more else "", "", where)
            for fact in node.keywords:  # the names of settings
                if _name(fact.value) == "Setting" and isinstance(fact.value, ast.Call) and _literal(fact.value.args[0]):
                    yield Text(_literal(fact.value.args[0]), "", "setting", where)


def _name(node: ast.AST) -> str:
    """Name of a function that is called; empty where there is none."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def template() -> Catalog:
    """A catalogue of all texts without translations."""
    found = Catalog(charset="utf-8")
    for one, many, context, where in texts():
        found.add((one, many) if many else one, context=context or None, locations=[(where, 1)])
    return found


def read(path: Path) -> Catalog:
    """Read a catalogue."""
    with path.open("rb") as file:
        return read_po(file, path.parent.parent.name, charset="utf-8")


def strings_of(message: Message) -> list[str]:
    """The translations of a text: one, or one for each plural form."""
    return [message.string] if isinstance(message.string, str) else list(message.string or [""])


def written(catalogue: Catalog) -> str:
    """A catalogue as text, without dates."""
    out = BytesIO()
    write_po(out, catalogue, width=110, omit_header=True, ignore_obsolete=True, include_lineno=False)
    header = (
        "Content-Type: text/plain; charset=UTF-8\\n",
        f"Language: {catalogue.locale_identifier}\\n",
        f"Plural-Forms: {catalogue.plural_forms}\\n",
    )
    return "\n".join(['msgid ""', 'msgstr ""', *(f'"{line}"' for line in header), "", out.getvalue().decode()])


def main() -> None:
    """Update all catalogues, and begin those of the languages that are named."""
    now = template()
    for lang in sys.argv[1:]:
        path = LOCALE / lang / "LC_MESSAGES" / "postil.po"
        path.parent.mkdir(parents=True)
        path.write_text(written(Catalog(lang, charset="utf-8")), encoding="utf-8")
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/postil.po")):
        catalogue = read(path)
        catalogue.update(now, no_fuzzy_matching=True)
        path.write_text(written(catalogue), encoding="utf-8")
        missing = sum(not all(strings_of(each)) for each in catalogue if each.id)
        print(f"{path.relative_to(ROOT)}: {len(catalogue):,} texts, {missing:,} without a translation")


if __name__ == "__main__":
    main()
