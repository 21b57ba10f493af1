"""`postil judge`: grades of texts by a language model at an endpoint."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, Unpack

from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.frames import ColumnNames, is_table, open_rows, with_texts
from postil.data.options import InputOptions
from postil.data.paired_tables import PAIR, pair_tables
from postil.data.progress import OnMessage, progress
from postil.data.row_files import Writer, check_standard_input, kind_of, read
from postil.data.rows import (
    ArticleContent,
    Candidate,
    Judgement,
    JudgeScore,
    PairJudgement,
    PairPreference,
    Reference,
    Row,
)
from postil.data.streams import file_bytes
from postil.endpoint.asking import usage_note
from postil.endpoint.chat import AllCut
from postil.endpoint.dry_run import DryRunResult, dry_run
from postil.errors import InvalidInput, PostilError, UsageError
from postil.judging.judge import JudgeSpec, default_template, read_template
from postil.judging.options import JudgeOptions
from postil.judging.pair_run import PairRun, PeopleVerdicts, pairs_result
from postil.judging.pair_texts import gather_pairs
from postil.judging.pairs import PairSpec, default_pair_template, read_pair_template
from postil.judging.result import JudgeResult
from postil.judging.run import JudgeRun, Run, Tally, judge_result
from postil.judging.texts import TextSources, gather_texts
from postil.messages import Blank, Message, Setting
from postil.meta.rated import checked_judgements
from postil.meta.table import Judged, Key
from postil.results.limits import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.data.frames import Table
    from postil.data.row_locations import Source
    from postil.endpoint.client import Client
    from postil.endpoint.prompts import PromptTemplate
    from postil.judging.result import JudgePairsResult
    from postil.keywords import JudgeKeywords

__all__ = [
    "WIN_RATE",
    "check_roles",
    "judge",
    "judge_pair_rows",
    "judge_pairs",
    "judge_rows",
    "measured_scores",
    "open_sources",
    "plan_rows",
]

T = TypeVar("T", bound=Row)
W = TypeVar("W", bound=Row)

ROLES: Final[dict[str, type[Row]]] = {
    "candidates": Candidate,
    "references": Reference,
    "articles": ArticleContent,
    "judgements": Judgement,
    "preferences": PairPreference,
}
"""Row type of each table."""

WIN_RATE: Final = "win-rate"
"""Name of the share of won pairs, for limits."""
GRADED: Final = ("grade", "ratings")
"""Fields of references that anchors need."""

PAIRS: Final = Setting("pairs", value=True, instead="postil.judge_pairs")
"""The setting with which texts are compared in pairs."""

SHORTEN: Final = Message("{words} shows the judge less of an article", words=Setting("article_words", Blank("N")))
"""Advice where a prompt is too long for the model."""

LENGTHEN: Final = Message(
    "a model that thinks needs more: {tokens}, or fewer thoughts by {extra}",
    tokens=Setting("answer_tokens", Blank("N")),
    extra=Setting("extra_body", Blank("JSON")),
)
"""Advice where answers are cut off."""


def check_roles(paths: Mapping[str, str | None], *, pairs: bool) -> None:
    """Refuse a file that goes with the other kind of judging.

    Args:
        paths: File of each role.
        pairs: True to compare texts in pairs.

    Raises:
        UsageError: There is one.
    """
    if pairs and paths["judgements"] is not None:
        raise UsageError(
            "{ratings} go with grades; with {pairs}, {people} has what people say",
            ratings=Setting("judgements"),
            pairs=PAIRS,
            people=Setting("preferences", Blank("FILE")),
        )
    if not pairs and paths["preferences"] is not None:
        raise UsageError("{people} goes with {pairs}", people=Setting("preferences"), pairs=PAIRS)


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
        pair = pair_tables(named["candidates"], named["references"], readings)
        readings, references = pair.readings, pair.references(named["references"], GRADED)
        texts = pair.candidates(named["candidates"])

    def opened(role: str, row_type: type[T]) -> Source[T] | None:
        return read(named[role], row_type, readings[role]) if role in named else None

    return TextSources(
        texts or read(named["candidates"], Candidate, readings["candidates"]),
        references,
        opened("articles", ArticleContent),
        opened("judgements", Judgement),
        opened("preferences", PairPreference),
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
        missing: Texts of cells that hold no value, such as ``["n/a"]``; ``"references=n/a"`` is of that table alone.

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
    others = {"references": references, "articles": articles, "judgements": judgements}
    columns = with_texts(columns, text)
    return judge_rows(_open_tables(candidates, others, _Columns(columns, item, system, missing), options), options)


def judge_pairs(
    candidates: Table,
    references: Table | None = None,
    articles: Table | None = None,
    *,
    options: JudgeOptions | None = None,
    preferences: Table | None = None,
    item: str | None = None,
    system: str | None = None,
    text: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    **keywords: Unpack[JudgeKeywords],
) -> JudgePairsResult:
    """Compare texts in pairs by a language model at an endpoint, each pair in both orders.

    Args:
        candidates: Table of texts (item, system, text): a data frame, a path, or a list of rows or dictionaries.
        references: Table of graded references (item, text, grade), of which examples are chosen; without any there are
            no examples.
        articles: Table of articles (id, title, content), whose ids are the items.
        options: The options: endpoint and model at least, and the scale where there are references.
        keywords: Fields of the options, in place of an object.
        preferences: Table of preferences of people (item, system_a, system_b, annotator, preference), to compare with.
        item: Column of the item, in all tables that have one.
        system: Column of the candidates' system.
        text: Column of the candidates' texts; or several, each of them of a system with its name.
        columns: Columns by field, such as ``{"references.grade": "stars"}``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``; ``"references=n/a"`` is of that table alone.

    Returns:
        Win rates and strengths of the systems; its ``rows`` are preferences, which `postil.compare_preferences` takes.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: A column is missing, or a value is wrong; says where.
        LimitReached: A limit of calls or cost; with ``cache`` the answers so far are kept.
        PostilError: The endpoint refuses all calls, or no pair has a verdict.

    >>> judge_pairs([{"item": 1, "system": "x", "text": "a"}], endpoint="http://127.0.0.1:8080/v1", model="qwen3")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: candidates: expected texts of two systems for the same item, to compare them; got none
    """
    check_arguments(judge_pairs, locals())
    options = options_of(JudgeOptions, options, keywords)
    others = {"references": references, "articles": articles, "preferences": preferences}
    columns = with_texts(columns, text)
    sources = _open_tables(candidates, others, _Columns(columns, item, system, missing), options)
    return judge_pair_rows(sources, options)


class _Columns(NamedTuple):
    """Columns of tables by field, those of items and systems, and texts of cells without a value."""

    columns: Mapping[str, str]
    item: str | None
    system: str | None
    missing: Sequence[str]


def _open_tables(
    candidates: Table, others: Mapping[str, Table | None], given: _Columns, options: JudgeOptions
) -> TextSources:
    """Open the tables of a call by their roles."""
    if options.dry_run:
        raise UsageError("dry_run: only the command has it")
    tables = {"candidates": candidates, **others}
    for role, table in tables.items():
        if not is_table(table) and (table is not None or role == "candidates"):
            raise UsageError(
                f"{role}: expected a table: a data frame, a path, or a list of rows or dictionaries, got "
                f"{type(table).__name__}"
            )
    names = ColumnNames(
        {role: ROLES[role] for role, table in tables.items() if table is not None},
        given.columns,
        everywhere={"item": given.item, "system": given.system},
        missing=given.missing,
    )

    def opened(role: str, row_type: type[T]) -> Source[T] | None:
        table = tables.get(role)
        return None if table is None else open_rows(table, row_type, role, names)

    texts: Source[Candidate] | None = None
    references: Source[Reference] | None = None
    if (table := others["references"]) is not None:
        pair = pair_tables(candidates, table, {role: names.reading(role) for role in PAIR})
        texts, references = pair.candidates(candidates), pair.references(table, GRADED)
    return TextSources(
        texts or open_rows(candidates, Candidate, "candidates", names),
        references,
        opened("articles", ArticleContent),
        opened("judgements", Judgement),
        opened("preferences", PairPreference),
    )


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
        _say_used(client, on_message)
    return judge_result(run, human, options, command)


def judge_pair_rows(
    sources: TextSources, options: JudgeOptions, *, command: str = "", on_message: OnMessage = lambda _: None
) -> JudgePairsResult:
    """Compare texts in pairs, and write the preferences where options name a file.

    Args:
        sources: Rows of the texts, with references, articles and preferences of people.
        options: The options.
        command: The command line, if there was one.
        on_message: Callback for status messages.

    Raises:
        UsageError: A combination of options makes no sense.
        InvalidInput: Something in the rows is wrong; says where.
        LimitReached: A limit of calls or cost; the rows so far are written.
        PostilError: The endpoint refuses all calls, or no pair has a verdict.
    """
    with _opened_pairs(sources, options, on_message) as (client, run, given):
        people = PeopleVerdicts.read(sources.preferences, run.texts.pairs)
        _keep_rows(run, PairJudgement, options.out, client, on_message)
        _say_used(client, on_message)
    return pairs_result(run, people, given, command)


def measured_scores(result: JudgeResult | JudgePairsResult) -> list[Measured]:
    """Scores of a judge that may have limits: the mean grade of each system, or its share of won pairs.

    Args:
        result: Grades or verdicts; a tie is half a win.
    """
    if isinstance(result, JudgeResult):
        means = [(row.system, row.mean) for row in result.systems]
        return [Measured(system, result.metric, None if mean is None else mean.value) for system, mean in means]
    won, n = dict[str, float](), Counter[str]()
    for pair in result.pairs:
        for system, wins in ((pair.first, pair.wins), (pair.second, pair.losses)):
            won[system] = won.get(system, 0.0) + wins + pair.ties / 2
            n[system] += pair.n
    return [Measured(system, WIN_RATE, won[system] / number if number else None) for system, number in n.items()]


def _say_used(client: Client, on_message: OnMessage) -> None:
    used = client.usage
    cost = "" if used.cost is None else f", cost {used.cost:.4g}"
    on_message(f"{counted(used.calls, 'call')}, {counted(used.cached, 'answer')} from the cache{cost}")


def plan_rows(
    sources: TextSources, options: JudgeOptions, on_message: OnMessage, *, pairs: bool = False
) -> DryRunResult:
    """Estimate the work of a run; nothing is asked.

    Args:
        sources: Rows of the texts.
        options: The options.
        on_message: Callback for status messages.
        pairs: True to compare texts in pairs.

    Raises:
        UsageError: A combination of options makes no sense.
        InvalidInput: Something in the rows is wrong; says where.
    """
    if pairs:
        with _opened_pairs(sources, options, on_message) as (client, of_pairs, _):
            return dry_run(client, of_pairs.requests(client.known))
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
    for name in ("baseline", "pairs_per_item"):
        if getattr(options, name) is not None:
            raise UsageError("{given} goes with {pairs}", given=Setting(name), pairs=PAIRS)
    options.needed_scale()
    template, rubric = _prompt_of(options, default_template, read_template)
    spec = JudgeSpec(options=options, template=template, rubric=rubric)
    texts = gather_texts(sources, options)
    with options.client(shorten=SHORTEN, on_message=on_message) as client:
        yield client, JudgeRun(texts, spec, Tally(client.answers, options.price))


@contextmanager
def _opened_pairs(
    sources: TextSources, options: JudgeOptions, on_message: OnMessage
) -> Iterator[tuple[Client, PairRun, JudgeOptions]]:
    """Open a run of pairs; its options have no examples where there are no references to choose them of."""
    if options.controls:
        controls = Setting("controls", value=True)
        raise UsageError("{controls} is for grades; pairs are judged in both orders anyway", controls=controls)
    if sources.references is None or options.anchors == "none":
        options = replace(options, anchors="none", scale=None)
    else:
        options.needed_scale()
    template, rubric = _prompt_of(options, default_pair_template, read_pair_template)
    spec = PairSpec(options=options, template=template, rubric=rubric)
    texts = gather_pairs(sources, options)
    with options.client(shorten=SHORTEN, on_message=on_message) as client:
        yield client, PairRun(texts, spec, Tally(client.answers, options.price)), options


def _prompt_of(
    options: JudgeOptions, default: Callable[[], PromptTemplate], reader: Callable[[bytes, str], PromptTemplate]
) -> tuple[PromptTemplate, str]:
    """Template and rubric of the prompt."""
    template, rubric = default(), ""
    if options.prompt is not None:
        template = reader(file_bytes(options.prompt), options.prompt)
    if options.rubric is not None:
        try:
            rubric = file_bytes(options.rubric).decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise InvalidInput("not UTF-8; save the file as UTF-8", where=options.rubric) from None
    return template, rubric


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
            reasons = [each.reason for each in run.absent]
            advice = LENGTHEN if "cut" in reasons else run.advice.get(reasons[0])
            if advice is not None:
                raise PostilError("{unread}; {advice}", unread=unread, advice=advice)
            raise PostilError(unread)
    if problem is not None:
        done = sum(outcome is not None for outcome in run.outcomes)
        of = counted(len(run.outcomes), run.unit)
        kept = f"; their rows are in {out}" if out is not None else ""
        on_message(f"{done:,} of {of} {run.done}{kept}")
        raise problem
