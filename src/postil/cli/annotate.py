"""`postil annotate`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import FormatOption, SeedOption, group
from postil.errors import UnknownName

__all__ = ["annotate"]

annotate = group(
    "annotate", "Collect grades from people: plan who grades what, serve the page, measure agreement, export."
)

Place: TypeAlias = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="The campaign: an SQLite file, sqlite:///FILE or postgresql://…")
]


@annotate.command()
@exits
def plan(
    texts: Annotated[
        str,
        typer.Argument(
            metavar="TEXTS",
            help="Article rows, whose comments are graded; candidate rows with --articles; or passage rows.",
        ),
    ],
    campaign: Place,
    *,
    annotators: Annotated[int, typer.Option("--annotators", "-n", min=1, metavar="N", help="How many annotators.")],
    each: Annotated[
        int, typer.Option("--each", "-k", min=1, metavar="K", help="How many of them grade each text.")
    ] = 2,
    articles: Annotated[
        str | None, typer.Option(metavar="FILE", help="The articles that the candidates were written for.")
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="comments, outputs or passages; outputs where --articles is given."),
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="en, zh, or a .json or .toml file; the texts' language without it."),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Known grades (item, system, grade); everyone gets these texts."),
    ] = None,
    repeats: Annotated[
        float,
        typer.Option(min=0, max=0.5, metavar="SHARE", help="Share of an annotator's texts that come a second time."),
    ] = 0.0,
    order: Annotated[str, typer.Option(metavar="NAME", help="Texts of one article: spread, or together.")] = "spread",
    name: Annotated[str, typer.Option(metavar="TEXT", help="What annotators see as the campaign's name.")] = "",
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Decide who grades what, and lay the campaign down.

    Every text gets exactly K of N annotators at random, such that annotators have equally many texts and every two of
    them share equally many. Each has an order of their own.

    Example: postil annotate plan articles.jsonl campaign.db --annotators 5 --each 2
    """
    from postil.app.annotating.files import PlanOptions, plan_campaign  # noqa: PLC0415
    from postil.app.annotating.output import plan_as, plan_remarks  # noqa: PLC0415

    options = PlanOptions(
        annotators=annotators,
        each=each,
        what=what,
        articles=articles,
        rubric=rubric,
        gold=gold,
        repeats=repeats,
        order=order,
        name=name,
        seed=seed,
    )
    made = plan_campaign(texts, campaign, options)
    emit(plan_as(format, made), format)
    for line in [*plan_remarks(made), f"seed {seed}"]:
        say(line)


@annotate.command()
@exits
def invite(
    campaign: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who; only the lead sees the name.")],
    *,
    role: Annotated[str, typer.Option(metavar="ROLE", help="annotator or lead.")] = "annotator",
    days: Annotated[float, typer.Option(metavar="N", help="For how many days the link holds.")] = 14.0,
    address: Annotated[
        str, typer.Option(metavar="URL", help="Where annotators reach the server.")
    ] = "http://localhost:8000",
) -> None:
    """Print a link for someone; it works once.

    Example: postil annotate invite campaign.db "Ann Lee"
    """
    from postil.app.annotating.files import welcome  # noqa: PLC0415

    if role not in {"annotator", "lead"}:
        raise UnknownName("role", role, ("annotator", "lead"))
    link = welcome(campaign, name, role, days, address)  # type: ignore[arg-type]  # checked above
    emit(f"{link}\n")


@annotate.command()
@exits
def serve(
    campaign: Place,
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen at; only this machine reaches the default.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port.")] = 8000,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="A name that the server is reached by; may be repeated."),
    ] = None,
    https: Annotated[
        bool, typer.Option("--https", help="It stands behind a server that people reach by https.")
    ] = False,
) -> None:
    """Serve the pages of annotators and lead until Ctrl+C.

    Example: postil annotate serve campaign.db
    """
    from postil.app.annotating.files import invite_first_lead  # noqa: PLC0415
    from postil.errors import MissingExtra  # noqa: PLC0415

    try:
        from postil.web.server import serve as serve_web  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "postil":
            raise
        raise MissingExtra("postil annotate serve", "web") from error
    server = f"https://{(name or ['localhost'])[0]}" if https else f"http://localhost:{port}"
    link = invite_first_lead(campaign, server)
    if link is not None:
        say(f"for the lead, once and today: {link}")
    serve_web(campaign, host=host, port=port, names=tuple(name or ()), secure=https, say=say)


@annotate.command()
@exits
def agreement(
    campaign: Place,
    *,
    resamples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Resamples of the articles, for intervals.")
    ] = 1000,
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Measure how far annotators agree, on what is graded so far.

    Cohen's kappa per pair and Scott's pi pooled (unweighted, linear, quadratic), Krippendorff's alpha, intervals, the
    confusion of grades, and the bias of each annotator.

    Example: postil annotate agreement campaign.db
    """
    from postil.app.annotating.files import measure  # noqa: PLC0415
    from postil.app.annotating.output import agreement_as  # noqa: PLC0415

    found = measure(campaign, resamples=resamples, seed=seed)
    emit(agreement_as(format, found), format)
    if found.agreement is not None and format != "json":
        for line in (*map(str, found.agreement.left_out), *found.agreement.notes):
            say(line)
        say(f"seed {seed}, {resamples} resamples")


@annotate.command()
@exits
def export(
    campaign: Place,
    *,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write; made if need be.")],
    table: Annotated[str, typer.Option(metavar="KIND", help="Tables as csv, jsonl or parquet.")] = "csv",
    times: Annotated[
        bool, typer.Option("--times", help="Say when each grade was given, and how long it took.")
    ] = False,
) -> None:
    """Write the grades under pseudonyms: two tables with a codebook, and rows for correlate, score and passages.

    Example: postil annotate export campaign.db --out grades
    """
    from postil.app.annotating.files import export as write  # noqa: PLC0415

    write(campaign, out, table=table, timed=times, say=say)


@annotate.command()
@exits
def leave(
    campaign: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who, by name or pseudonym.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Keep what is not graded for the next one who is invited.")
    ] = False,
) -> None:
    """Let someone go: their grades stay, and others get what is not graded.

    Example: postil annotate leave campaign.db "Ann Lee"
    """
    from postil.app.annotating.files import let_go  # noqa: PLC0415

    done = let_go(campaign, name, replace=replace)
    whom = "wait for the next one who is invited" if replace else "went to others"
    say(f"{name} has left; {done.moved:,} texts {whom}")
    if done.short:
        say(f"with fewer annotators than planned, since nobody else can take them: {done.short:,} texts")


@annotate.command()
@exits
def backup(
    campaign: Place,
    copy: Annotated[str, typer.Argument(metavar="COPY", help="The file to write; it must not exist.")],
    *,
    incomplete: Annotated[
        bool,
        typer.Option(
            "--incomplete",
            help="Take what a file holds that was copied without its write-ahead log; answers may be missing.",
        ),
    ] = False,
) -> None:
    """Copy a campaign with every answer given so far, also while its server runs.

    Example: postil annotate backup campaign.db backup.db
    """
    from postil.app.annotating.files import back_up  # noqa: PLC0415

    back_up(campaign, copy, incomplete=incomplete, say=say)
