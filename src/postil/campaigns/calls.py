"""`postil annotate invite`, `remove` and `export`, and how every command opens a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args

from postil.campaigns.export import TABLE_FORMATS, export_files
from postil.campaigns.inferred_grades import inferred_grades
from postil.campaigns.models import Role
from postil.campaigns.serving import checked_base_url
from postil.data.atomic_file import AtomicFile, check_apart
from postil.data.row_files import Writer
from postil.errors import UnknownName, UsageError
from postil.messages import Setting
from postil.options import Flag, options
from postil.results.formats import rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Reassignment
    from postil.campaigns.store import Store
    from postil.data.rows import Row

__all__ = [
    "ExportOptions",
    "InviteOptions",
    "RemoveOptions",
    "Written",
    "export",
    "invite",
    "invite_first_lead",
    "open_campaign",
    "remove",
    "write_rows",
]


@options
class InviteOptions:
    """Options of `postil annotate invite`.

    Args:
        role: annotator or lead.
        days: Validity of the link, in days.
        base_url: URL where people reach the pages, as serve has it.
        late: Invite an annotator besides those of the plan, who takes a fair share of the open items of the others.
    """

    role: Annotated[Role, Flag(metavar="ROLE")] = "annotator"
    days: Annotated[float, Flag(metavar="N")] = 14.0
    base_url: Annotated[str, Flag(metavar="URL")] = "http://localhost:8000"
    late: bool = False

    def __post_init__(self) -> None:
        checked_base_url(self.base_url)
        UnknownName.check("role", self.role, get_args(Role))
        if self.late and self.role != "annotator":
            raise UsageError("{late} goes with annotators: a lead needs no items", late=Setting("late"))


@options
class ExportOptions:
    """Options of `postil annotate export`.

    Args:
        out: Folder to write; created if it does not exist.
        table_format: File format of the tables: csv, jsonl or parquet.
        timestamps: Include the time of each rating and the seconds that it took.
        texts: Include the texts, and what was shown beside them, in the tables.
    """

    out: Annotated[str, Flag("out", short="o", metavar="FOLDER")]
    table_format: Annotated[str, Flag(metavar="NAME")] = "csv"
    timestamps: bool = False
    texts: bool = True

    def __post_init__(self) -> None:
        UnknownName.check("table format", self.table_format, TABLE_FORMATS)


@options
class RemoveOptions:
    """Options of `postil annotate remove`.

    Args:
        reserve: Reserve the open items for the next annotator who is invited.
    """

    reserve: bool = False


class Written(NamedTuple):
    """A file that was written.

    Args:
        path: The file.
        rows: Number of rows; None for a file that is no table.
    """

    path: str
    rows: int | None


def invite(url: str, name: str, options: InviteOptions) -> str:
    """Invite a person.

    Args:
        url: Location of the campaign.
        name: Name of the person.
        options: Options of the command.

    Returns:
        The link to send; it works once.

    Raises:
        Refused: See `postil.campaigns.people.People.invite`.
    """
    with open_campaign(url) as store:
        return f"{checked_base_url(options.base_url)}/join/{store.people.invite(name, options.role, options.days)}"


def invite_first_lead(url: str, base_url: str) -> str | None:
    """Invite a lead to a campaign that has none yet.

    Args:
        url: Location of the campaign.
        base_url: URL where people reach the pages.

    Returns:
        The link to open; it works once. None if there is a lead.
    """
    with open_campaign(url) as store:
        everyone = store.people.everyone()
        if any(person.role == "lead" and not person.left for person in everyone):
            return None
        taken = {person.name for person in everyone}  # by a lead who was removed, or an annotator
        name = next(name for name in ("lead", *(f"lead {n}" for n in range(2, len(taken) + 3))) if name not in taken)
        return f"{checked_base_url(base_url)}/join/{store.people.invite(name, 'lead', days=1)}"


def remove(url: str, name: str, options: RemoveOptions) -> Reassignment:
    """Remove a person from a campaign; open items of an annotator are reassigned, or reserved.

    Args:
        url: Location of the campaign.
        name: Name or pseudonym of the person.
        options: Options of the command.

    Raises:
        UnknownName: There is no such person.
        Refused: The person was removed already.
    """
    with open_campaign(url) as store:
        return store.people.remove(store.people.named(name), reserve=options.reserve)


def export(url: str, options: ExportOptions) -> list[Written]:
    """Write the ratings: two tables with a codebook, and rows that other commands read.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        InvalidInput: There are no ratings yet.
    """
    with open_campaign(url, read_only=True) as store:
        files = export_files(
            store,
            inferred_grades,
            table_format=options.table_format,
            timestamps=options.timestamps,
            texts=options.texts,
        )
    paths = {name: f"{options.out}/{name}" for name in files}
    for path in paths.values():
        check_apart(path, [url.removeprefix("sqlite:///")])
    Path(options.out).mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        write_rows(paths[name], rows)
    return [Written(paths[name], None if isinstance(rows, str) else len(rows)) for name, rows in files.items()]


def write_rows(path: str, rows: Sequence[Row] | str) -> None:
    """Write a file of an export atomically.

    Args:
        path: The file; its suffix names the format.
        rows: Rows of one type, or the text of the file.
    """
    if isinstance(rows, str) or path.endswith(".csv"):
        text = rows if isinstance(rows, str) else rows_as_csv(rows)
        with AtomicFile(path) as stream:
            stream.write(text.encode())
        return
    with Writer(path, type(rows[0])) as out:
        for row in rows:
            out.write(row)


def open_campaign(
    url: str, *, make: bool = False, read_only: bool = False, incomplete: bool = False, earlier: bool = False
) -> Store:
    """Open a campaign; see `postil.campaigns.store.Store.open`.

    Args:
        url: Location of the campaign.
        make: True to create the tables if there are none.
        read_only: True to refuse transactions that write.
        incomplete: True to read a file without its write-ahead log.
        earlier: True to read one of an earlier version as it is.
    """
    # Imported here, since it needs optional packages, which the help of the commands does not.
    from postil.campaigns.store import Store  # noqa: PLC0415

    return Store.open(url, make=make, read_only=read_only, incomplete=incomplete, earlier=earlier)
