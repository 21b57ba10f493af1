"""Choice of hyperparameters on the dev set: the best combination of a grid."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING, Final, Generic, Literal, NamedTuple, TypeVar, get_type_hints

import msgspec

from postil.comments.nn.distributed import broadcast_from_main, is_main_process
from postil.comments.options import GeneratorTrainOptions, RetrieverTrainOptions
from postil.comments.result import GridPoint, GridSearch, GridValue, value_text
from postil.data.explain import counted
from postil.data.model_folders import Model
from postil.errors import UnknownName, UsageError
from postil.messages import Message, Setting
from postil.options import Flag, flag_name, split_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from postil.data.progress import OnMessage
    from postil.training.texts import TrainingDirectory

__all__ = ["Combination", "Grid"]

Options = TypeVar("Options", GeneratorTrainOptions, RetrieverTrainOptions)

_GRID: Final = Setting("grid")
_FIXED: Final = {
    "seed": "all combinations have the same one",
    **dict.fromkeys(
        ("epochs", "steps"),
        Message("{limit} limits the training of every combination", limit=Setting("grid_epochs")),
    ),
    **dict.fromkeys(("device", "bf16", "tensorboard"), "it belongs to the machine"),
}
"""Options that never vary, with the reason."""
_DEV_TOKENS: Final = ("vocab-size", "comment-words", "comments-per-article")
"""Options that change the tokens of a generator's dev loss, so that losses would not be comparable."""


@dataclass(frozen=True)
class Combination(Generic[Options]):
    """A combination of values.

    Args:
        values: Values by the option's name.
        options: Options of the training with these values.
    """

    values: Mapping[str, GridValue]
    options: Options

    @property
    def label(self) -> str:
        """The values in words."""
        return ", ".join(f"{name} {value_text(value)}" for name, value in self.values.items())

    def folder(self, epochs: int) -> str:
        """Name of the folder of its training.

        Args:
            epochs: Maximum number of epochs.
        """
        return f"grid-{sha256(json.dumps([self.values, epochs]).encode()).hexdigest()[:16]}"

    def settings(self) -> list[Setting]:
        """The settings that give these values: a grid of one value for an option without a flag."""
        found: list[Setting] = []
        for name, value in self.values.items():
            option = _option(name, self.options)
            if option.flag.hidden:
                found.append(Setting("grid", f"{name}={value_text(value)}"))
            else:
                found.append(Setting(option.field, value if isinstance(value, bool) else value_text(value)))
        return found


class _Option(NamedTuple):
    """An option of the network or its training: its place in the options, its type and its flag."""

    part: str
    field: str
    kind: object
    flag: Flag


@dataclass(frozen=True)
class Grid:
    """A grid of hyperparameters: the values to try of each option.

    Args:
        values: Values by the name of the option's flag, without ``--``; those of an option without a flag by its name,
            with ``-`` for ``_``.
        epochs: Maximum number of epochs of each combination.

    >>> Grid({"learning-rate": (0.0005, 0.001)}).settings()[0].value
    'learning-rate=0.0005,0.001'
    """

    values: Mapping[str, tuple[GridValue, ...]]
    epochs: int = 2

    @classmethod
    def parse(
        cls, texts: Sequence[str], options: GeneratorTrainOptions | RetrieverTrainOptions, epochs: int = 2
    ) -> Grid:
        """Parse the values of ``--grid``.

        Args:
            texts: One text per option, such as ``dropout=0.2,0.5``.
            options: Options of the training, which give the types.
            epochs: Maximum number of epochs of each combination.

        Raises:
            UsageError: A text has another form, names no option that may vary, or has a value of another type.

        >>> Grid.parse(["dropout=0.2,0.5", "softmax=full"], GeneratorTrainOptions()).values
        {'dropout': (0.2, 0.5), 'softmax': ('full',)}
        """
        values: dict[str, tuple[GridValue, ...]] = {}
        for text in texts:
            name, _, listed = text.partition("=")
            if not name or not listed:
                raise UsageError("{grid}: expected OPTION=V1,V2,…, got '{text}'", grid=_GRID, text=text)
            if name in values:
                raise UsageError(
                    "{setting}: expected each option once, with all its values, got '{text}' as well",
                    setting=Setting("grid", name),
                    text=text,
                )
            kind = _option(name, options).kind
            values[name] = tuple(_parsed(name, each, kind) for each in listed.split(","))
        return cls(values, epochs)

    def settings(self) -> list[Setting]:
        """The settings that give this grid."""
        pairs = (f"{name}={','.join(map(value_text, values))}" for name, values in self.values.items())
        return [*(Setting("grid", pair) for pair in pairs), Setting("grid_epochs", self.epochs)]

    def without(self, options: Options) -> Options:
        """Options of the training with the defaults of all that the grid varies, for commands that give the grid.

        Args:
            options: Options of the training.
        """
        usual, known = type(options)(), _options(options)
        return _with(
            options, {name: getattr(getattr(usual, known[name].part), known[name].field) for name in self.values}
        )

    def combinations(self, options: Options) -> list[Combination[Options]]:
        """All combinations, the values of the last option varying fastest.

        Args:
            options: Options of the training; the values of the grid take the place of theirs.

        Raises:
            UsageError: The grid is empty, an option may not vary, or values are out of range or do not fit together.
        """
        if (ranker := _without_network(options)) is not None:
            raise UsageError(
                "{grid}: expected a ranker with a network, relevance or both, got {ranker}", grid=_GRID, ranker=ranker
            )
        if not self.values:
            raise UsageError("{grid}: expected at least one option with its values, got none", grid=_GRID)
        if self.epochs < 1:
            raise UsageError("{limit}: expected at least 1, got {got}", limit=Setting("grid_epochs"), got=self.epochs)
        for name, values in self.values.items():
            least, setting = _option(name, options).flag.min, Setting("grid", name)
            if not values or len(set(values)) < len(values):
                got = ",".join(map(value_text, values)) or "none"
                raise UsageError("{setting}: expected values that differ, got {got}", setting=setting, got=got)
            for value in values:
                if least is not None and isinstance(value, int | float) and value < least:
                    raise UsageError(
                        "{setting}: expected at least {least}, got {value}", setting=setting, least=least, value=value
                    )
        rows = (dict(zip(self.values, row, strict=True)) for row in product(*self.values.values()))
        return [Combination(row, _with(options, row)) for row in rows]

    def choose(
        self,
        combinations: Sequence[Combination[Options]],
        directory: TrainingDirectory,
        train: Callable[[Options, str], object],
        on_message: OnMessage,
    ) -> tuple[Options, GridSearch]:
        """Train every combination and choose the one that is best on dev, the first of tied ones.

        A combination that an interrupted run has trained is not trained again. Under torchrun all processes choose the
        same.

        Args:
            combinations: The combinations.
            directory: Working directory of the training.
            train: Function that trains a network, given its options and the name of its folder in the directory.
            on_message: Callback for status messages.

        Returns:
            Options of the chosen combination, and what was found.
        """
        measure = _measure(combinations[0].options)
        tried: list[GridPoint] = []
        for each in combinations:
            name = each.folder(self.epochs)
            short = replace(
                each.options.training, epochs=min(self.epochs, each.options.training.epochs), tensorboard=None
            )
            train(replace(each.options, training=short), name)
            if is_main_process():
                trained = Model.open(directory.folder / name).metadata
                dev, steps = trained["dev"][measure], trained["history"][-1]["step"]
                tried.append(GridPoint(values=dict(each.values), dev=dev, steps=steps))
                on_message(f"combination {len(tried)} of {len(combinations)}: {each.label}: dev {measure} {dev:.3f}")
        # The other processes open no model, so the main one tells them all that was found.
        points = broadcast_from_main(lambda: _with_best(measure, tried), combinations[0].options.training.device)
        place = next(place for place, point in enumerate(points) if point.chosen)
        chosen = combinations[place]
        if is_main_process():
            limits = f"{counted(len(points), 'combination')}, {counted(self.epochs, 'epoch')} each"
            on_message(f"chosen on dev: {chosen.label} (dev {measure} {points[place].dev:.3f}; {limits})")
        return chosen.options, GridSearch(measure=measure, epochs=self.epochs, points=points)


def _without_network(options: GeneratorTrainOptions | RetrieverTrainOptions) -> str | None:
    """The ranker of a retriever without a network."""
    return options.ranker if isinstance(options, RetrieverTrainOptions) and not options.has_network else None


def _measure(options: GeneratorTrainOptions | RetrieverTrainOptions) -> Literal["loss", "mrr"]:
    return "mrr" if isinstance(options, RetrieverTrainOptions) else "loss"


def _with_best(measure: str, tried: Sequence[GridPoint]) -> tuple[GridPoint, ...]:
    """The combinations, the best one chosen, the first of tied ones."""
    sign = 1 if measure == "loss" else -1
    best = min(range(len(tried)), key=lambda place: sign * tried[place].dev)
    return tuple(msgspec.structs.replace(point, chosen=place == best) for place, point in enumerate(tried))


def _options(options: GeneratorTrainOptions | RetrieverTrainOptions) -> dict[str, _Option]:
    """The options of a network and its training, by name."""
    found: dict[str, _Option] = {}
    for part, cls in (("network", type(options.network)), ("training", type(options.training))):
        for field, hint in get_type_hints(cls, include_extras=True).items():
            kind, flag = split_hint(hint)
            found[flag_name(field, flag)] = _Option(part, field, kind, flag)
    return found


def _option(name: str, options: GeneratorTrainOptions | RetrieverTrainOptions) -> _Option:
    """An option that may vary.

    Raises:
        UsageError: There is no such option, or it must not vary.
    """
    known, fixed = _options(options), dict(_FIXED)
    if isinstance(options, GeneratorTrainOptions):
        fixed |= dict.fromkeys(_DEV_TOKENS, "the dev losses would be over other tokens, so not comparable")
    if options.embeddings not in ("corpus", "none"):
        fixed["embedding-dim"] = Message("it is that of the vectors of {given}", given=Setting("embeddings"))
    outer = {each.name.replace("_", "-") for each in fields(options)} - {"network", "training"}
    reason = fixed.get(name) or ("it belongs to no network" if name in outer else None)
    free = sorted(known.keys() - fixed.keys())
    if reason is not None:
        raise UsageError(
            "{setting}: {reason}; expected one of {free}",
            setting=Setting("grid", name),
            reason=reason,
            free=", ".join(free),
        )
    if name not in known:
        raise UnknownName("option of the grid", name, free)
    return known[name]


_READERS: Final[Mapping[object, tuple[str, Callable[[str], GridValue]]]] = {
    bool: ("true or false", {"true": True, "false": False}.__getitem__),
    int: ("a whole number", int),
    float: ("a number", float),
    tuple[int, ...]: ("whole numbers such as 1+2+3", lambda text: tuple(map(int, text.split("+")))),
}
"""Expected text and parser by the type of an option; others are names."""


def _parsed(name: str, text: str, kind: object) -> GridValue:
    expected, read = _READERS.get(kind, ("a name", str))
    try:
        return read(text)
    except (KeyError, ValueError):
        raise UsageError(
            "{setting}: expected {expected}, got '{text}'", setting=Setting("grid", name), expected=expected, text=text
        ) from None


def _with(options: Options, values: Mapping[str, GridValue]) -> Options:
    """Options with the values of a combination."""
    known = _options(options)
    try:
        return replace(
            options,
            **{
                part: replace(
                    getattr(options, part),
                    **{known[name].field: value for name, value in values.items() if known[name].part == part},
                )
                for part in ("network", "training")
            },
        )
    except UsageError as error:
        named = error.message.facts.get("setting")
        for name in values:  # the setting is a field, and people know the option of the grid
            if isinstance(named, Setting) and named.name == known[name].field:
                raise UsageError(error.message.but(setting=Setting("grid", name))) from None
        raise UsageError("{grid}: {problem}", grid=_GRID, problem=error.message) from None
