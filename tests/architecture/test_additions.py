"""Additions: what is added to a copy of the source touches few files, and is there wherever people look for it.

CONTRIBUTING.md tells how to add each of these.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from sources import ROOT

from postil.meta.coefficients import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Patch: TypeAlias = "Mapping[str, str | Mapping[str, str]]"  # by file: a new one, or texts after which others are added

FACTS, KINDS = "meta/coefficients.py", "meta/coefficient_kinds.py"
# Lin's coefficient of concordance (1989): what is added after which lines, by file.
COEFFICIENT: Patch = {
    FACTS: {
        'Literal["pearson", "spearman", "kendall-b", "kendall-c", ': '"ccc", ',
        'Coefficient("kendall-c", "Kendall τ-c", "kendall-c", most=_FEW, untested=_KENDALL),\n': (
            '            Coefficient("ccc", "Lin’s concordance", "concordance", untested="concordance has no test"),\n'
        ),
    },
    KINDS: {
        'Correlated("pearson", pearson, SummedRows, swaps="values"),\n': (
            '            Correlated("ccc", _concordance, _Concordance),\n'
        ),
        'Rows: TypeAlias = "Sequence[Correlation | UndefinedResult]"\n': '''

def _concordance(
    x: Floats,
    y: Floats,
    starts: Int64s,
    /,
    *,
    weights: Int32s | None = None,
    magnitudes: Floats | None = None,
) -> Floats:
    """Lin's coefficients within groups of rows, 1 for equal numbers."""
    del magnitudes
    times = np.ones((len(y), 1)) if weights is None else weights[:, None]
    n = np.maximum(1, np.add.reduceat(times, starts))
    both = np.column_stack([x, y])
    means, squares, products = (
        np.add.reduceat(times * each, starts) / n for each in (both, both**2, both[:, :-1] * both[:, -1:])
    )
    variances, apart = squares - means**2, means[:, :-1] - means[:, -1:]
    covariances = products - means[:, :-1] * means[:, -1:]
    return np.where(n > 1, 2 * covariances / (variances[:, :-1] + variances[:, -1:] + apart**2), np.nan)


@dataclass(frozen=True, eq=False)
class _Concordance:
    x: Floats
    y: Floats
    item: Int32s

    def __call__(self, counts: Int32s, /, jobs: int = 1) -> Floats:
        del jobs
        several, n = len(counts), len(self.y)
        rows = np.tile(self.x, (several, 1)), np.tile(self.y, several)
        return _concordance(*rows, n * np.arange(several), weights=counts[:, self.item].ravel())
''',
    },
}
METRIC: Patch = {
    "metrics/length_share.py": '''"""The length of a candidate beside its references'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from postil.metrics.base import Metric, Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.metrics.background import DocumentFrequencies
    from postil.metrics.references import Matches, References


@dataclass(frozen=True, kw_only=True)
class LengthShare(Metric):
    """The shorter length over the longer one, with the most similar reference."""

    @property
    def name(self) -> str:
        return "length-share"

    @property
    def aggregation(self) -> Literal["mean", "sums"]:
        return "mean"

    def bind(self, references: References, background: DocumentFrequencies | None) -> Scorer:
        return _LengthScorer(self, references)


class _LengthScorer(Scorer):
    def measure(self, matches: Matches) -> NDArray[np.float64]:
        own, theirs = np.diff(matches.candidates.offsets), np.diff(self.references.tokens.offsets)
        bounds = self.references.offsets
        best = [
            max(min(n, m) / max(n, m, 1) for m in theirs[bounds[place] : bounds[place + 1]])
            for n, place in zip(own, matches.sets, strict=True)
        ]
        return np.column_stack([best, np.ones(len(best))])
''',
    "metrics/spec.py": {
        "from postil.metrics.cider import Cider, CiderD\n": "from postil.metrics.length_share import LengthShare\n",
        '        "delta-bleu": DeltaBleu,\n': '        "length-share": LengthShare,\n',
    },
}
COLUMN_OF_A_FIELD: Patch = {
    "comparison/view.py": {'            Text("metric", "metric"),\n': '            Count("number of items", "n"),\n'},
}
COMPUTED_COLUMN: Patch = {
    "comparison/result.py": {"    p_holm: float | None = None\n": "    halves: float | None = None\n"},
    "comparison/baseline.py": {
        "                p_holm=corrected[number],\n": (
            "                halves=float(test.differences[number, column]) / 2,\n"
        ),
    },
    "comparison/view.py": {
        '            Text("metric", "metric"),\n': '            Number("half a difference", "halves", digits=4),\n'
    },
}
FORMAT: Patch = {
    "results/formats.py": {
        'Format = Literal["table", ': '"wiki", ',
        "ESCAPES: Final[Mapping[Text, Callable[[str], str]]] = {\n": '    "wiki": one_line,\n',
        "LAYOUTS: Final[Mapping[Text, Callable[[Grid], str]]] = {\n": (
            '    "wiki": lambda rows: "".join(f"|| {\' || \'.join(row)} ||\\n" for row in rows),\n'
        ),
    },
}
IMPORTER: Patch = {
    "corpus/importers/slashdot.py": '''"""Stories of Slashdot with their comments, as its feed has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import Fields, read_articles
from postil.corpus.importers.import_report import json_lines
from postil.corpus.importers.importer import EXPORTS, Importer, LangOptions, Sign, articles_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.corpus.importers.import_report import ImportReport
    from postil.data.rows import Article
    from postil.data.streams import FilePath

STORY: Final = Fields({"id": ("sid",), "title": ("headline",), "comments": ("said",)}, {"text": ("words",)})


def read_slashdot(paths: Sequence[FilePath], report: ImportReport, *, lang: str | None = None) -> Iterator[Article]:
    """Read stories."""
    return read_articles(paths, report, STORY.mapped(lang=lang), json_lines)


IMPORTERS: Final = (
    Importer(
        "slashdot",
        """Stories of Slashdot.

        Example: postil corpus import slashdot stories.jsonl --out articles.jsonl
        """,
        LangOptions,
        articles_in(read_slashdot),
        EXPORTS,
        Sign(fields=(frozenset(("sid", "headline")),)),
    ),
)
''',
}
OPERATION: Patch = {
    "service/operations.py": {
        "OPERATIONS: Final[Mapping[str, Operation[Any]]] = MappingProxyType(\n    {\n": (
            '        "count": Operation(CountRequest, CountResponse, count, "Count words", scope="score"),\n'
        ),
        "        return Json(frozenset(self.request.__struct_fields__))\n": '''

class CountRequest(Request, frozen=True):
    """A text."""

    text: str


class CountResponse(msgspec.Struct, frozen=True):
    """Its words."""

    words: int


def count(models: OpenModels, request: CountRequest) -> CountResponse:
    """Count the words of a text."""
    return CountResponse(len(request.text.split()))
''',
    },
}
READER: Patch = {
    "documents/readers/underlined.py": '''"""Reader of texts whose headings are underlined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.documents.document import Piece, Reader, assembled
from postil.documents.raw_files import decoded

if TYPE_CHECKING:
    from postil.documents.document import Document


def read_underlined(data: bytes, source: str, charset: str | None = None) -> Document:
    """Read a text with underlined headings."""
    text, notes = decoded(data, source, charset)
    pieces = []
    for block in text.split("\\n\\n"):
        first, _, under = block.strip().partition("\\n")
        heading = bool(under) and set(under) <= set("=-~")
        pieces.append(Piece("heading", first, 1) if heading else Piece("paragraph", block.strip()))
    return assembled(pieces, source, notes=notes)


READER = Reader(read=read_underlined, endings=(".und",), media=("text/x-underlined",))
''',
}
LANGUAGE: Patch = {
    "locale/fr/LC_MESSAGES/postil.po": """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: fr\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

msgid "English"
msgstr "Français"

msgid "Percent agreement"
msgstr "Taux d’accord"
""",
}
CAPABILITY: Patch = {
    "capabilities.py": {'CAPABILITIES: Final = (\n    "scoring",\n': '    "counting",\n'},
    "counting/__init__.py": '''"""Words of texts, counted."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

CAPABILITY: Final = Capability(
    __name__,
    "Measure texts",
    commands={"count": Command("command:count", "Count the words of texts.")},
    kinds={"count": Kind("result:CountResult", "view:view", title="Counted words")},
    names={"calls": "count_words"},
)
''',
    "counting/calls.py": '''"""Counts of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.counting.result import Counted, CountResult

if TYPE_CHECKING:
    from collections.abc import Sequence


def count_words(texts: Sequence[str]) -> CountResult:
    """Count the words of texts."""
    return CountResult(rows=tuple(Counted(text=text, words=len(text.split())) for text in texts))
''',
    "counting/result.py": '''"""Results of counting."""

from __future__ import annotations

from postil.results.base import Result
from postil.data.parts import Part


class Counted(Part, frozen=True, kw_only=True):
    """A text and the number of its words."""

    text: str
    words: int


class CountResult(Result, frozen=True, kw_only=True, tag="count"):
    """Texts and the numbers of their words."""

    rows: tuple[Counted, ...]
''',
    "counting/view.py": '''"""View of counted words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.explain import counted
from postil.results.table import Count, Name, Table
from postil.results.views import View

if TYPE_CHECKING:
    from postil.counting.result import CountResult


def view(result: CountResult) -> View:
    """One row per text."""
    table = Table(key="words", rows=result.rows, columns=(Name("text", "text"), Count("words", "words")))
    return View(line=counted(len(result.rows), "text"), rows=result.rows, grids=[table])
''',
    "counting/command.py": '''"""`postil count`: words of texts."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, command
from postil.cli.output import emit
from postil.counting.calls import count_words
from postil.results.views import show


@command
def count(
    texts: Annotated[list[str], Argument(metavar="TEXTS", help="Texts.")],
    *,
    format: FormatOption = "table",
) -> None:
    """Count the words of texts."""
    emit(show(format, count_words(texts)), format)
''',
}

GRADES = [1, 2, 3, 4, 5, 3, 2, 4, 5, 1]
SCORES = [2, 2, 3, 5, 5, 2, 1, 3, 4, 1]


@pytest.fixture
def added(tmp_path: Path) -> Callable[[Patch], Callable[..., str]]:
    """Makes a copy of the package with something added, and gives a function that runs Python or a command with it."""

    def add(patch: Patch) -> Callable[..., str]:
        shutil.copytree(ROOT, tmp_path / "postil")
        for name, additions in patch.items():
            path = tmp_path / "postil" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(additions, str):
                assert not path.exists()
                path.write_text(additions, encoding="utf-8")
                continue
            text = path.read_text(encoding="utf-8")
            for place, addition in additions.items():
                assert text.count(place) == 1, f"{name}: {place}"
                text = text.replace(place, place + addition)
            path.write_text(text, encoding="utf-8")

        def said(*words: str, python: str = "") -> str:
            environment = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": ""}
            found = subprocess.run(  # noqa: S603 - our own words
                [sys.executable, *(["-c", python] if python else ["-m", "postil", *words])],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
            return found.stdout + found.stderr

        return said

    return add


def rows(folder: Path, name: str, *rows: Mapping[str, object]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_metric_touches_two_files(added: Callable[[Patch], Callable[..., str]], tmp_path: Path) -> None:
    assert len(METRIC) == 2
    said = added(METRIC)
    rows(tmp_path, "c.jsonl", {"item": "1", "system": "a", "text": "one two three"})
    rows(tmp_path, "r.jsonl", {"item": "1", "text": "one two three four"}, {"item": "1", "text": "one"})
    asked = "score", "c.jsonl", "-r", "r.jsonl", "-m", "length-share"
    assert json.loads(said(*asked, "--format", "json"))["scores"][0]["score"] == 0.75
    for form, cell in {"table": "0.75", "csv": "0.75", "markdown": ".75", "latex": ".75", "html": ".75"}.items():
        assert "length-share" in said(*asked, "--format", form)
        assert cell in said(*asked, "--format", form)
    assert "length-share" in said("score", "c.jsonl", "-r", "r.jsonl", "-m", "length-shar")
    assert said(python="import postil; print(postil.score(['a b'], [['a']], metrics=['length-share']).corpus)") == (
        "{'length-share': 0.5}\n"
    )


@pytest.mark.parametrize(
    ("patch", "files", "shown"),
    [(COLUMN_OF_A_FIELD, 1, ("number of items", "4")), (COMPUTED_COLUMN, 3, ("half a difference", ".1250"))],
)
def test_a_column_touches_the_files_of_its_capability(
    added: Callable[[Patch], Callable[..., str]], tmp_path: Path, patch: Patch, files: int, shown: tuple[str, str]
) -> None:
    assert len(patch) == files
    said = added(patch)
    scores = {"a": [0.5, 0.25, 0.5, 0.75], "b": [0.75, 0.5, 0.75, 1.0]}
    rows(
        tmp_path,
        "s.jsonl",
        *(
            {"item": str(item), "system": system, "metric": "m", "score": score}
            for system, each in scores.items()
            for item, score in enumerate(each)
        ),
    )
    asked = "compare", "s.jsonl", "--baseline", "a", "--resamples", "100", "--permutations", "100"
    for form in ("table", "markdown", "latex", "html"):
        told = said(*asked, "--format", form)
        assert all(each in told for each in shown)
    (tmp_path / "c.json").write_text(said(*asked, "--format", "json"), encoding="utf-8")
    said("report", "c.json", "--out", "page.html")
    assert shown[0] in (tmp_path / "page.html").read_text(encoding="utf-8")
    if files > 1:
        assert '"halves": 0.125' in said(*asked, "--format", "json")
        assert "halves" in said(*asked, "--format", "csv")


def test_a_format_touches_one_file(added: Callable[[Patch], Callable[..., str]], tmp_path: Path) -> None:
    assert len(FORMAT) == 1
    said = added(FORMAT)
    rows(tmp_path, "c.jsonl", {"item": "1", "system": "a", "text": "one two"})
    rows(tmp_path, "r.jsonl", {"item": "1", "text": "one two"})
    asked = "score", "c.jsonl", "-r", "r.jsonl", "-m", "rouge-l"
    assert said(*asked, "--format", "wiki").splitlines()[:2] == [
        "|| system || n || rouge-l ||",
        "|| a || 1 || 1.0000 ||",
    ]
    assert "||" in said(*asked, "--format", "wiki", "--layout", "systems")
    assert "wiki" in said("correlate", "--help")
    assert "wiki" in said(*asked, "--format", "wikis")


def test_an_importer_touches_one_file(added: Callable[[Patch], Callable[..., str]], tmp_path: Path) -> None:
    assert len(IMPORTER) == 1
    run = added(IMPORTER)
    stories = {"sid": "s1", "headline": "Rain", "said": [{"words": "Oh"}, {"words": ""}]}, {"sid": "s2", "said": []}
    rows(tmp_path, "stories.jsonl", *stories)

    def said(*words: str) -> str:
        return run("corpus", *words)

    assert "  slashdot    Stories of Slashdot.\n" in said("import", "--help")
    assert "--lang TAG" in said("import", "slashdot", "--help")
    asked = "import", "slashdot", "stories.jsonl", "--out", "a.jsonl"
    assert "stories.jsonl:2: headline: missing; the line has: sid, said" in said(*asked)
    told = said(*asked, "--lang", "en", "--on-error", "skip")
    assert "1 comment without text, left out" in told
    assert "1 article with 1 comment in a.jsonl" in told
    article = {"id": "s1", "title": "Rain", "comments": [{"id": "1", "text": "Oh"}], "lang": "en"}
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8")) == article
    build = "build", "stories.jsonl", "--out", "c", "--source", "s", "--license", "l"
    assert "stories.jsonl:2: headline: missing; the line has: sid, said" in said(*build)
    assert "1 article with 1 comment in c.articles.jsonl" in said(*build, "--on-error", "skip")


def test_an_operation_touches_one_file(added: Callable[[Patch], Callable[..., str]]) -> None:
    assert len(OPERATION) == 1
    said = added(OPERATION)
    code = """
from postil.service.operations import OPERATIONS, OpenModels
from postil.service.config import ServiceConfig
from postil.service.routes import model_routes
print(OpenModels.open(ServiceConfig()).call("count", b'{"text": "one two three"}').decode())
print([(route.method, route.scope, route.summary) for route in model_routes(None) if route.path == "/v1/count"])
"""
    assert said(python=code).splitlines() == ['{"words":3}', "[('POST', 'score', 'Count words')]"]


def test_a_reader_of_documents_touches_one_file(added: Callable[[Patch], Callable[..., str]], tmp_path: Path) -> None:
    assert len(READER) == 1
    said = added(READER)
    (tmp_path / "notes").mkdir()
    text = "The lock\n========\n\nThe oldest lock of Ely never froze.\n"
    for name in ("lock.und", "notes/lock.und", "lock"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for asked in (["lock.und"], ["lock", "--kind", "underlined"]):
        found = json.loads(said("interesting", *asked, "--lang", "en", "--format", "json"))
        assert [block["kind"] for block in found["document"]["blocks"]] == ["heading", "paragraph"]
        assert [each["text"] for each in found["passages"]] == ["The oldest lock of Ely never froze."]
    assert "never froze" in said("interesting", "notes")
    assert "text, underlined or wikitext." in " ".join(said("interesting", "--help-all").split())
    assert "did you mean 'underlined'? Known: html" in said("interesting", "lock", "--kind", "underline")
    code = "import postil; print(postil.interesting('lock', kind='underlined', lang='en').passages[0].text)"
    assert said(python=code) == "The oldest lock of Ely never froze.\n"


def test_a_language_touches_one_file(added: Callable[[Patch], Callable[..., str]]) -> None:
    assert len(LANGUAGE) == 1
    said = added(LANGUAGE)
    code = """
from postil.web.pages import languages, page_in
print(languages()["fr"], page_in("fr-CA").gettext("Percent agreement"), page_in("fr").gettext("Rater"))
"""
    assert said(python=code) == "Français Taux d’accord Rater\n"


def test_a_capability_is_a_folder_and_one_line(added: Callable[[Patch], Callable[..., str]], tmp_path: Path) -> None:
    assert [name for name in CAPABILITY if not name.startswith("counting/")] == ["capabilities.py"]
    said = added(CAPABILITY)
    assert "  count " in said("--help")
    assert "TEXTS" in said("count", "--help")
    asked = "count", "one two", "three"
    found = json.loads(said(*asked, "--format", "json"))
    assert (found["kind"], [row["words"] for row in found["rows"]]) == ("count", [2, 1])
    told = {form: said(*asked, "--format", form) for form in ("table", "csv", "markdown", "latex", "html")}
    assert all("one two" in text and "words" in text for text in told.values())
    (tmp_path / "c.json").write_text(said(*asked, "--format", "json"), encoding="utf-8")
    said("report", "c.json", "--out", "page.html")
    assert "Counted words" in (tmp_path / "page.html").read_text(encoding="utf-8")
    code = """
import postil
print("count_words" in dir(postil), postil.Result.from_json(postil.count_words(["a"]).to_json()))
print(postil.read_result("c.json").rows[0].words)
"""
    assert said(python=code).splitlines() == ["True CountResult(1 text)", "2"]


def test_a_coefficient_touches_two_files(added: Callable[[Patch], Callable[..., str]], tmp_path: Path) -> None:
    assert len(COEFFICIENT) == 2
    run = added(COEFFICIENT)
    texts = [{"item": str(i), "system": "a"} for i in range(len(GRADES))]
    tables = {
        "scores": [text | {"metric": "m", "score": score} for text, score in zip(texts, SCORES, strict=True)],
        "judgements": [text | {"annotator": "ann", "grade": grade} for text, grade in zip(texts, GRADES, strict=True)],
    }
    for name, each in tables.items():
        rows(tmp_path, f"{name}.jsonl", *each)

    def said(*words: str) -> str:
        return run("correlate", *words)

    asked = "scores.jsonl", "--judgements", "judgements.jsonl"
    found = json.loads(said(*asked, "-c", "ccc", "-c", "pearson", "--resamples", "100", "--format", "json"))
    row, _ = found["correlations"]
    x, y = np.array(SCORES), np.array(GRADES)
    value = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert (row["coefficient"], row["value"]) == ("ccc", pytest.approx(value, abs=1e-12))
    assert row["low"] < value < row["high"]
    assert row["n"] == len(GRADES)
    assert "concordance has no test" in found["notes"]
    for form, head in {
        "table": "ccc",
        "markdown": "| ccc |",
        "csv": "m,ccc,pool,",
        "latex": "Lin's concordance",
    }.items():
        told = said(*asked, "-c", "ccc", "--resamples", "100", "--format", form)
        assert head in told
        assert f"{value:.3f}".removeprefix("0")[:3] in told
    page = said(*asked, "-c", "ccc", "--report", "page.html") and (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Lin’s concordance" in page
    assert "kendall-c, ccc, " in " ".join(said("--help").split())
    assert ", ".join((*list(TABLE)[:4], "ccc", *list(TABLE)[4:])) in said(*asked, "-c", "cc")
