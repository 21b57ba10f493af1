"""The regular expressions of postil's source, how each is used, and texts that are the worst for them.

The texts of an expression are derived from its syntax tree: repetitions of what each of its repeats accepts, behind
what has to stand before that repeat and before what lets the whole fail.
"""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, AnyStr, Final, TypeGuard

import postil

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

__all__ = ["Expression", "Site", "expressions", "run", "sites", "worst_texts"]

SOURCE: Final = Path(postil.__file__).parent
CALLS: Final = frozenset(["compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"])
"""Functions of `re` that take an expression."""
_EVERYWHERE: Final = frozenset({"split", "findall", "sub", "subn"})
_ANY_USE: Final = ("search", "finditer", "match", "fullmatch")

_SAMPLE: Final = (
    "".join(map(chr, range(128))) + "\x85\xa0\xad«»·éßİıſ\u0130٣۵आ\u093c雨あア０。，、“”‘’…—–（）「」『』【】：；！？⁂•"
    "\u200b\u200d\u2028\u3000\ufeff😀\u1100\ue000\udc80"
)
_REPEATS: Final = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
_LONG: Final = 64
"""Repeats up to fewer times than this add but a constant."""
_MOST: Final = 160
"""Largest number of texts of one expression."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call of `re` in the source.

    Args:
        module: The module.
        name: The constant or function that it is in.
        pattern: The first argument, as it is written.
        flags: The flags, as they are written.
        uses: How the expression is used: as `re` names it, or "finditer" for all that look for every place.
    """

    module: str
    name: str
    pattern: str
    flags: str
    uses: frozenset[str]

    @property
    def key(self) -> str:
        """The site as lists name it."""
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression.

    Args:
        where: Its place, for people.
        pattern: The expression.
        uses: As in `Site`.
    """

    where: str
    pattern: re.Pattern[Any]
    uses: frozenset[str]


@cache
def sites() -> list[Site]:
    """All calls of `re` in the source."""
    texts = {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items() if "\nimport re\n" in text}
    calls = {path: list(_calls(tree)) for path, tree in trees.items()}
    public = {name for each in calls.values() for _, name, _ in each if name and not name.startswith("_")}
    used: dict[tuple[Path | None, str], set[str]] = {}
    for path, text in texts.items():
        if path in trees or any(name in text for name in public):
            for name, use in _uses(trees[path] if path in trees else ast.parse(text)):
                used.setdefault((path if name.startswith("_") else None, name), set()).add(use)
    found = []
    for path in trees:
        module = ".".join(("postil", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for call, name, alone in calls[path]:
            use = call.func.attr  # type: ignore[attr-defined]
            uses = {use}
            if use == "compile":
                uses = used.get((path if name.startswith("_") else None, name), set()) if alone else set()
            flags = [each.value for each in call.keywords if each.arg == "flags"]
            flags += (
                call.args[1:2] if use == "compile" else call.args[2:3] if use not in {"sub", "subn", "split"} else []
            )
            found.append(
                Site(
                    module,
                    name,
                    ast.unparse(call.args[0]),
                    ast.unparse(flags[0]) if flags else "0",
                    frozenset("finditer" if each in _EVERYWHERE else each for each in uses or _ANY_USE),
                )
            )
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str, bool]]:
    """Calls of `re`, the constant or function that each is in, and whether it is the whole value of the constant."""
    inside: dict[ast.AST, tuple[str, bool]] = {}
    for node in ast.walk(tree):  # from outside to inside, so that the innermost function stays
        if isinstance(node, ast.FunctionDef):
            inside |= dict.fromkeys(ast.walk(node), (node.name, False))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            inside |= {each: (ast.unparse(target), each is node.value) for each in ast.walk(node.value)}
    for node in ast.walk(tree):
        if _is_call_of_re(node):
            yield (node, *inside.get(node, ("", False)))


def _is_call_of_re(call: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "re"
        and call.func.attr in CALLS
    )


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names of a module and methods of expressions that they are used with; any method of one that is handed on."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            continue
        parent = parents[node]
        if not isinstance(parent, ast.Attribute):
            yield from ((node.id, use) for use in _ANY_USE)
        elif parent.attr in CALLS:
            call = parents[parent]
            moving = isinstance(call, ast.Call) and call.func is parent and len(call.args) > 1
            # Matched at one place after the other, it is looked for at every place.
            yield node.id, "finditer" if moving and parent.attr in {"match", "search"} else parent.attr


def expressions(
    calls: Iterable[Site], made: Mapping[str, Callable[[], Iterable[re.Pattern[Any]]]], placed: Collection[str]
) -> Iterator[Expression]:
    """The expressions of sites.

    Args:
        calls: The sites.
        made: Expressions of the sites whose pattern is made of what is known in a function alone, by `Site.key`.
        placed: Sites that are matched at chosen places alone, so that each text is read once.
    """
    for site in calls:
        uses = frozenset({"match"}) if site.key in placed else site.uses
        names = dict(vars(importlib.import_module(site.module)))
        try:
            pattern, flags = (eval(each, names) for each in (site.pattern, site.flags))  # noqa: S307 - our own source
        except NameError:
            yield from (Expression(site.key, each, uses) for each in made[site.key]())
        else:
            yield Expression(site.key, re.compile(pattern, flags), uses)


def run(pattern: re.Pattern[AnyStr], use: str, text: AnyStr) -> None:
    """Use an expression.

    Args:
        pattern: The expression.
        use: As in `Site`.
        text: The text.
    """
    if use == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, use)(text)


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A repeat of an expression, with texts for what stands before it, for itself and for what follows."""

    before: str
    bodies: tuple[str, ...]
    after: str
    chars: tuple[str, ...]


def worst_texts(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Texts that may be the worst for an expression: what they begin with, what is repeated, what they end with.

    Args:
        pattern: The expression.
    """
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    maker = _Witness(tree, isinstance(pattern.pattern, bytes))
    heads_units: dict[tuple[str, str], None] = {}
    ends = ["", "\0"]
    for repeat in maker.repeats(tree):
        before, after = repeat.before, repeat.after
        ends.append(after[:-1])
        for body in repeat.bodies:
            for head, unit in (
                ("", body),
                (before, body),
                ("", before + body),
                ("", before + body * 3),
                ("", before + body + after[:-1]),
                ("", body + after[:-1]),
                ("", body + after),
                ("", before + body + after),
            ):
                heads_units[head, unit] = None
        heads_units["", before] = None
        for one, other in product(repeat.chars, repeat.chars):
            if one != other:
                heads_units[before, one + other] = None
    for char in maker.chars:
        heads_units["", char] = None
    ends = list(dict.fromkeys(ends))[:4]
    units = [each for each in heads_units if each[1]]
    texts = [(head, unit, end) for head, unit in units for end in ends]
    return texts[:: 1 + len(texts) // _MOST]


class _Witness:
    """Texts that parts of an expression accept."""

    def __init__(self, tree: Any, is_bytes: bool) -> None:
        self._state = tree.state
        self._bytes = is_bytes
        self._groups: dict[int, Any] = {}
        atoms = dict.fromkeys(map(repr, self._atoms(tree)))
        self._tests: dict[str, frozenset[str]] = {}
        literals = {chr(value) for node in self._atoms(tree) for value in _literals(node)}
        pool = sorted(set(_SAMPLE) | literals)
        if is_bytes:
            pool = [each for each in pool if ord(each) < 256]
        for node in self._atoms(tree):
            if repr(node) not in self._tests:
                self._tests[repr(node)] = self._accepted(node, pool)
        kinds: dict[tuple[bool, ...], str] = {}
        for char in sorted(pool, key=lambda each: (not each.isprintable(), ord(each) > 127, not each.isalnum(), each)):
            kinds.setdefault(tuple(char in self._tests[each] for each in atoms), char)
        chars = list(kinds.values())
        self.chars = (*chars[:40], *(each for each in " \t\n" if each not in chars[:40]))

    def _accepted(self, node: Any, pool: list[str]) -> frozenset[str]:
        compiled = _compiler.compile(_parser.SubPattern(self._state, [node]), self._state.flags)
        return frozenset(each for each in pool if compiled.fullmatch(each.encode("latin-1") if self._bytes else each))

    def _atoms(self, tree: Any) -> Iterator[Any]:
        """Parts that accept one character."""
        for node in tree:
            kind, value = node
            if kind in {_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY}:
                yield node
            else:
                for part in _parts(kind, value):
                    yield from self._atoms(part)

    def text(self, tree: Any, choice: int = 0) -> str:
        """A text that a tree accepts, one of several."""
        made = []
        for node in tree:
            kind, value = node
            if repr(node) in self._tests:
                made.append(self._char(node, choice))
            elif kind is _constants.BRANCH:
                made.append(self.text(value[1][choice % len(value[1])], choice))
            elif kind in _REPEATS:
                least, most, part = value
                made.append(self.text(part, choice) * max(least, min(most, choice % 2)))
            elif kind is _constants.SUBPATTERN:
                self._groups[value[0]] = value[3]
                made.append(self.text(value[3], choice))
            elif kind is _constants.ATOMIC_GROUP:
                made.append(self.text(value, choice))
            elif kind is _constants.GROUPREF and value in self._groups:
                made.append(self.text(self._groups[value], choice))
        return "".join(made)

    def _char(self, node: Any, choice: int) -> str:
        kind, value = node
        if kind is _constants.LITERAL:
            return chr(value)
        accepted = self._tests[repr(node)]
        own = [each for each in self.chars if each in accepted] or sorted(accepted)
        return own[choice % len(own)] if own else ""

    def repeats(self, tree: Any, before: str = "", after: str = "") -> Iterator[_Repeat]:
        """The repeats of a tree, with what stands around them."""
        for place, (kind, value) in enumerate(tree):
            head = before + self.text(tree[:place])
            tail = self.text(tree[place + 1 :]) + after
            if kind in _REPEATS:
                _, most, part = value
                if most is _constants.MAXREPEAT or most >= _LONG:
                    bodies = dict.fromkeys(self.text(part, choice) for choice in range(6))
                    chars = [
                        each for node in self._atoms(part) for each in self.chars if each in self._tests[repr(node)]
                    ]
                    yield _Repeat(head, tuple(filter(None, bodies)), tail, tuple(dict.fromkeys(chars))[:6])
                yield from self.repeats(part, head, tail)
            else:
                for part in _parts(kind, value):
                    yield from self.repeats(part, head, tail)


def _parts(kind: Any, value: Any) -> list[Any]:
    """Trees in a part of one."""
    if kind is _constants.BRANCH:
        return list(value[1])
    if kind is _constants.GROUPREF_EXISTS:
        return [each for each in value[1:] if each is not None]
    if kind is _constants.ATOMIC_GROUP:
        return [value]
    places = {_constants.SUBPATTERN: 3, _constants.ASSERT: 1, _constants.ASSERT_NOT: 1} | dict.fromkeys(_REPEATS, 2)
    return [value[places[kind]]] if kind in places else []


def _literals(node: Any) -> Iterator[int]:
    """Characters that a part names."""
    kind, value = node
    if kind in {_constants.LITERAL, _constants.NOT_LITERAL}:
        yield value
    elif kind is _constants.IN:
        for inner, named in value:
            if inner is _constants.LITERAL:
                yield named
            elif inner is _constants.RANGE:
                yield named[0]
