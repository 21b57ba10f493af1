"""`postil judge`: grades of texts by a language model at an endpoint."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.frames import ColumnNames, is_table, open_rows, with_texts
from postil.data.options import InputOptions
from postil.data.paired_tables import open_reference_table, pair_files
from postil.data.progress import OnMessage, progress
from postil.data.row_files import Writer, check_standard_input, kind_of, read
from postil.data.rows import ArticleContent, Candidate, Judgement, JudgeScore, Reference, Row
from postil.data.streams import file_bytes
from postil.endpoint.chat import AllCut
from postil.endpoint.options import DryRunResult, dry_run, usage_note
from postil.errors import InvalidInput, PostilError, UsageError
from postil.judging.judge import JudgeSpec, default_template, read_template
from postil.judging.options import JudgeOptions
from postil.judging.run import JudgeRun, Run, Tally, judge_result
from postil.judging.texts import TextSources, gather_texts
from postil.messages import Blank, Message, Setting
from postil.meta.rated import checked_judgements
from postil.meta.table import Judged, Key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.frames import Table
    from postil.data.row_locations import Source
    from postil.endpoint.client import Client
    from postil.judging.result import JudgeResult
    from postil.keywords import JudgeKeywords

__all__ = ["judge", "judge_rows", "open_sources", "plan_rows"]

T = TypeVar("T", bound=Row)
W = TypeVar("W", bound=Row)

ROLES: Final[dict[str, type[Row]]] = {
    "candidates": Candidate,
    "references": Reference,
    "articles": ArticleContent,
    "judgements": Judgement,
}
"""Row type of each table."""

GRADED: Final = ("grade", "ratings")
"""Fields of references that anchors need."""

SHORTEN: Final = Message("{words} shows the judge less of an article", words=Setting("article_words", Blank("N")))
"""Advice where a prompt is too long for the model."""

LENGTHEN: Final = Message(
    "a model that thinks needs more: {tokens}, or fewer thoughts by {extra}",
    tokens=Setting("answer_tokens", Blank("N")),
    extra=Setting("extra_body", Blank("JSON")),
)
"""Advice where answers are cut off."""


def open_sources(
    paths: Mapping[str, str | None], options: JudgeOptions, inputs: InputOptions | None, on_message: OnMessage
) -> TextSources:
    """Open the files of a command.

    Args:
        paths: File of each role in `ROLES`; ``-`` for standard input, None for none.
        options: The options.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        UsageError: Two of them are standard input, or one would be written over.
        InvalidInput: A file is missing.
    """
    named = {role: path for role, path in paths.items() if path is not None}
    check_standard_input(*named.values())
    if options.out is not None:
        kind_of(options.out)
        check_apart(options.out, [*named.values(), *filter(None, (options.rubric, options.prompt))])
    readings = (inputs or InputOptions()).readings({role: ROLES[role] for role in named}, on_message)
    texts: Source[Candidate] | None = None
    references: Source[Reference] | None = None
    if "references" in named:
        pair = pair_files(named["candidates"], named["references"], readings)
        readings, references = pair.readings, pair.references(named["references"], GRADED)
        texts = pair.candidates(named["candidates"])

    def opened(role: str, row_type: type[T]) -> Source[T] | None:
        return read(named[role], row_type, readings[role]) if role in named else None

    return TextSources(
        texts or read(named["candidates"], Candidate, readings["candidates"]),
        references,
        opened("articles", ArticleContent),
        opened("judgements", Judgement),
    )


def judge(
    candidates: Table,
    references: Table | None = None,
    articles: Table | None = None,
    *,
    options: JudgeOptions | None = None,
    judgements: Table | None = None,
    item: str | None = None,
    system: str | None = None,
    text: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    **keywords: Unpack[JudgeKeywords],
) -> JudgeResult:
    """Grade texts by a language model at an endpoint, with graded references as examples.

    Args:
        candidates: Table of texts (item, system, text): a data frame, a path, or a list of rows or dictionaries.
        references: Table of graded references (item, text, grade), of which the examples are chosen.
        articles: Table of articles (id, title, content), whose ids are the items.
        options: The options: endpoint, model and scale at least.
        keywords: Fields of the options, in place of an object.
        judgements: Table of human ratings of the texts (item, system, annotator, grade), for the controls.
        item: Column of the item, in all tables that have one.
        system: Column of the system, likewise.
        text: Column of the candidates' texts; or several, each of them of a system with its name.
        columns: Columns by field, such as ``{"references.grade": "stars"}``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``.

    Returns:
        Grades by system; its ``rows`` are score rows, which `postil.correlate` and `postil.compare` take.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: A column is missing, or a value is wrong; says where.
        LimitReached: A limit of calls or cost; with ``cache`` the answers so far are kept.
        PostilError: The endpoint refuses all calls, or no text has a grade.

    >>> from postil.judging.options import JudgeOptions
    >>> from postil.data.grades import Scale
    >>> options = JudgeOptions(endpoint="http://127.0.0.1:8080/v1", model="qwen3", scale=Scale(1, 5))
    >>> judge([{"item": 1, "text": "a"}], options=options)
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: anchors are graded references: give references, or anchors="none"
    """
    check_arguments(judge, locals())
    options = options_of(JudgeOptions, options, keywords)
    if options.dry_run:
        raise UsageError("dry_run: only the command has it")
    tables = {"candidates": candidates, "references": references, "articles": articles, "judgements": judgements}
    for role, table in tables.items():
        if not is_table(table) and (table is not None or role == "candidates"):
            raise UsageError(
                f"{role}: expected a table: a data frame, a path, or a list of rows or dictionaries, got "
                f"{type(table).__name__}"
            )
    names = ColumnNames(
        {role: ROLES[role] for role, table in tables.items() if table is not None},
        with_texts(columns, text),
        everywhere={"item": item, "system": system},
        missing=missing,
    )

    def opened(role: str, row_type: type[T]) -> Source[T] | None:
        table = tables[role]
        return None if table is None else open_rows(table, row_type, role, names)

    sources = TextSources(
        open_rows(candidates, Candidate, "candidates", names),
        None if references is None else open_reference_table(candidates, references, names, GRADED),
        opened("articles", ArticleContent),
        opened("judgements", Judgement),
    )
    return judge_rows(sources, options)


def judge_rows(
    sources: TextSources, options: JudgeOptions, *, command: str = "", on_message: OnMessage = lambda _: None
) -> JudgeResult:
    """Grade texts, and write their score rows where options name a file.

    Args:
        sources: Rows of the texts, with references, articles and ratings.
        options: The options.
        command: The command line, if there was one.
        on_message: Callback for status messages.

    Raises:
        UsageError: A combination of options makes no sense.
        InvalidInput: Something in the rows is wrong; says where.
        LimitReached: A limit of calls or cost; the rows so far are written.
        PostilError: The endpoint refuses all calls, or no text has a grade.
    """
    with _opened(sources, options, on_message) as (client, run):
        human = _human_means(sources.judgements, options)
        _keep_rows(run, JudgeScore, options.out, client, on_message)
        used = client.usage
    cost = "" if used.cost is None else f", cost {used.cost:.4g}"
    on_message(f"{counted(used.calls, 'call')}, {counted(used.cached, 'answer')} from the cache{cost}")
    return judge_result(run, human, options, command)


def plan_rows(sources: TextSources, options: JudgeOptions, on_message: OnMessage) -> DryRunResult:
    """Estimate the work of a run; nothing is asked.

    Args:
        sources: Rows of the texts.
        options: The options.
        on_message: Callback for status messages.

    Raises:
        UsageError: A combination of options makes no sense.
        InvalidInput: Something in the rows is wrong; says where.
    """
    with _opened(sources, options, on_message) as (client, run):
        return dry_run(client, run.requests(client.known))


@contextmanager
def _opened(sources: TextSources, options: JudgeOptions, on_message: OnMessage) -> Iterator[tuple[Client, JudgeRun]]:
    if options.anchors != "none" and sources.references is None:
        raise UsageError(
            "anchors are graded references: give references, or {anchors}", anchors=Setting("anchors", "none")
        )
    if sources.judgements is not None and not options.controls:
        raise UsageError("judgements are for the controls: {controls}", controls=Setting("controls", value=True))
    options.needed_scale()
    spec = _spec(options)
    texts = gather_texts(sources, options)
    with options.client(shorten=SHORTEN, on_message=on_message) as client:
        yield client, JudgeRun(texts, spec, Tally(client.answers, options.price))


def _spec(options: JudgeOptions) -> JudgeSpec:
    template, rubric = default_template(), ""
    if options.prompt is not None:
        template = read_template(file_bytes(options.prompt), options.prompt)
    if options.rubric is not None:
        try:
            rubric = file_bytes(options.rubric).decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise InvalidInput("not UTF-8; save the file as UTF-8", where=options.rubric) from None
    return JudgeSpec(options=options, template=template, rubric=rubric)


def _human_means(judgements: Source[Judgement] | None, options: JudgeOptions) -> dict[Key, float]:
    """Mean human rating of each text that has any."""
    if judgements is None:
        return {}
    judged = Judged(checked_judgements(judgements), options.aspect, options.needed_scale())
    return dict(zip(judged.rows, judged.of(list(judged.rows)).means.tolist(), strict=True))


def _keep_rows(run: Run[W], row_type: type[W], out: str | None, client: Client, on_message: OnMessage) -> None:
    """Judge the texts or pairs and write their rows; after an error or an interrupt those that are there."""
    problem: BaseException | None = None
    with ExitStack() as stack:
        writer = stack.enter_context(Writer(out, row_type)) if out is not None else None
        try:
            for rows in stack.enter_context(
                progress(f"{run.unit}s", run.rows(), len(run.outcomes), usage_note(client))
            ):
                if writer is not None:
                    for row in rows:
                        writer.write(row)
        except AllCut as error:
            raise PostilError("{problem}; {advice}", problem=error.message, advice=LENGTHEN) from None
        except (PostilError, KeyboardInterrupt) as error:
            if not run.written:
                raise
            problem = error
        if not run.written:
            unread = f"no {run.unit} has a {run.sought}: {next(run.unread)}"
            if any(each.reason == "cut" for each in run.absent):
                raise PostilError("{unread}; {advice}", unread=unread, advice=LENGTHEN)
            raise PostilError(unread)
    if problem is not None:
        done = sum(outcome is not None for outcome in run.outcomes)
        of = counted(len(run.outcomes), run.unit)
        kept = f"; their rows are in {out}" if out is not None else ""
        on_message(f"{done:,} of {of} {run.done}{kept}")
        raise problem
