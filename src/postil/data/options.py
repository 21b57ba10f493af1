"""Options that several commands share; a command's own class extends these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.data.progress import OnMessage
    from postil.data.reading import Reading
    from postil.data.rows import Row

__all__ = [
    "EngineOptions",
    "InputOptions",
    "JudgedInputOptions",
    "ListenOptions",
    "PluginOptions",
    "RatingInputOptions",
    "ResamplingOptions",
    "ScoreInputOptions",
    "SeedOptions",
    "TableInputOptions",
    "ThreadOptions",
]


@options(group="Running")
class SeedOptions:
    """Options of what draws at random.

    Args:
        seed: Random seed.
    """

    seed: Annotated[int, Flag(min=0)] = 20181


@options(group="Running")
class ThreadOptions:
    """Options of what runs in threads.

    Args:
        jobs: Number of threads; the numbers do not depend on it.
    """

    jobs: Annotated[int, Flag("jobs", short="j", min=1)] = 1


@options(group="Server")
class ListenOptions:
    """Options of what listens for requests.

    Args:
        host: Address to listen on; only this machine reaches the default.
        port: Port to listen on; 0 for a free one.
        name: Host name of the server, besides localhost; repeatable.
        https: The server is behind a reverse proxy that speaks HTTPS.
    """

    host: Annotated[str, Flag(metavar="ADDRESS", first=True)] = "127.0.0.1"
    port: Annotated[int, Flag(min=0, max=65535, first=True)] = 8000
    name: Annotated[tuple[str, ...], Flag(metavar="HOST")] = ()
    https: bool = False


@options(group="Running")
class EngineOptions(ThreadOptions):
    """Options of what can run on a cluster.

    Args:
        engine: Engine that does the work: local or ray; the results do not depend on it.
        address: Address of a running Ray cluster, or auto, with --engine ray.
    """

    engine: Annotated[str, Flag(metavar="NAME")] = "local"
    address: Annotated[str | None, Flag(metavar="ADDRESS")] = None


@options(group="Metrics")
class PluginOptions:
    """Options of what can score by own metrics.

    Args:
        plugins: Python code with own metrics to import: a .py file, or the name of a module; repeatable.
    """

    plugins: Annotated[tuple[str, ...], Flag("plugin", metavar="MODULE")] = ()


@options(group="Resampling")
class ResamplingOptions(SeedOptions):
    """Options of intervals and tests.

    Args:
        resamples: Number of resamples of the items, for confidence intervals.
        permutations: Number of permutations, for tests.
    """

    resamples: Annotated[int, Flag(min=1)] = 1000
    permutations: Annotated[int, Flag(min=1)] = 10_000


@options(group="Reading tables")
class TableInputOptions:
    """Options of reading tables.

    Args:
        column: Column of a field: text=Answer, references.text=gold (of one file), system==ours (a constant),
            'text=A *' or 'text=A|B' (side by side); repeatable.
        input_format: Format of standard input, or of files whose name does not tell: csv, tsv, json, jsonl, parquet,
            arrow, xlsx, ods. Like all that follow, ROLE=VALUE is for one file.
        encoding: Encoding of text tables; by default UTF-8, else detected.
        delimiter: Character between the columns of text tables; by default detected.
        decimal: Decimal mark of numbers in text tables, . or , where both could be one; the other separates thousands.
        quotes: Treat double quotes around a cell as quotes, or as text.
        sheet: Sheet of a workbook, or path of the array of rows in JSON.
        fill_down: Take an empty cell of an id (item, system, annotator) as the one above it, as merged cells become.
        missing: Text of cells that hold no value, such as n/a; repeatable.
    """

    column: Annotated[tuple[str, ...], Flag(metavar="FIELD=COLUMN", first=True)] = ()
    input_format: Annotated[tuple[str, ...], Flag(metavar="FORMAT")] = ()
    encoding: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    delimiter: Annotated[tuple[str, ...], Flag(metavar="CHAR")] = ()
    decimal: Annotated[tuple[str, ...], Flag(metavar="CHAR")] = ()
    quotes: bool = True
    sheet: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    fill_down: bool = False
    missing: Annotated[tuple[str, ...], Flag(metavar="TEXT")] = ()

    @property
    def _splits(self) -> tuple[str, ...]:
        return ()

    def readings(self, roles: Mapping[str, type[Row]], on_message: OnMessage) -> dict[str, Reading]:
        """Options of reading each file of a command.

        Args:
            roles: Row type of each file by its role; the first one is the main file.
            on_message: Callback for what was guessed and what is not read.

        Raises:
            UnknownName: A role, field or format does not exist.
            UsageError: A mapping is not one, or stands twice.
        """
        from postil.data.reading import readings  # noqa: PLC0415 - help does without it

        return readings(
            roles,
            on_message,
            column=self.column,
            input_format=self.input_format,
            encoding=self.encoding,
            delimiter=self.delimiter,
            decimal=self.decimal,
            quotes=self.quotes,
            sheet=self.sheet,
            fill_down=self.fill_down,
            missing=self.missing,
            split=self._splits,
        )


@options(group="Reading tables")
class InputOptions(TableInputOptions):
    """Options of reading tables and dataset folders.

    Args:
        split: Split of a dataset folder.
    """

    split: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()

    @property
    def _splits(self) -> tuple[str, ...]:
        return self.split


@options(group="Reading tables")
class ScoreInputOptions(InputOptions):
    """Options of reading item scores.

    Args:
        metric_columns: Columns of the scores that are a metric each, as in bleu,meteor or 'score *'; repeatable.
    """

    metric_columns: Annotated[tuple[str, ...], Flag(metavar="NAMES")] = ()


@options(group="Reading tables")
class RatingInputOptions(InputOptions):
    """Options of reading judgements.

    Args:
        annotator_columns: Columns of the judgements that are the ratings of an annotator each, as in ann,bob or
            'Rater *'; repeatable.
    """

    annotator_columns: Annotated[tuple[str, ...], Flag(metavar="NAMES")] = ()


@options
class JudgedInputOptions(RatingInputOptions, ScoreInputOptions):
    """Options of reading item scores and judgements.

    Args:
        maxima: Highest grade of each item (item, maximum), such as the points of questions: ratings become shares of
            it; of several rows of an item the highest counts.
    """

    maxima: Annotated[str | None, Flag(metavar="FILE", group="Ratings")] = None
