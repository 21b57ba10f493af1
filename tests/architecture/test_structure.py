"""Structure: no cycles between files, no struct twice, and hardly any `Any`."""

from __future__ import annotations

import ast

from sources import FILES, annotations, imports, module_of, name_of, tree

MOST_ANY = 80
FEWEST_FIELDS = 3


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in graph:
        if node not in index:
            visit(node)
    return found


def test_no_files_import_each_other() -> None:
    """Imports for types count: a cycle is one for the reader."""
    known = {module_of(path) for path in FILES}
    graph = {module_of(path): {each for each in imports(path) if each in known} for path in FILES}
    graph.pop("postil")  # the root names every module, by name and for type checkers
    assert cycles(graph) == []


def test_cycles_are_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def fields(node: ast.ClassDef) -> tuple[str, ...]:
    return tuple(
        f"{each.target.id}: {ast.unparse(each.annotation)}"
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and "ClassVar" not in ast.unparse(each)
    )


def test_no_struct_is_defined_twice() -> None:
    seen: dict[tuple[str, ...], str] = {}
    twice = []
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and len(names := fields(node)) >= FEWEST_FIELDS:
                here = f"{name_of(path)}: {node.name}"
                if names in seen:
                    twice.append((seen[names], here))
                seen.setdefault(names, here)
    assert twice == []


def test_any_is_left_to_what_libraries_force() -> None:
    found = [
        f"{name_of(path)}:{annotation.lineno}"
        for path in FILES
        for node in ast.walk(tree(path))
        for annotation in annotations(node)
        if any(isinstance(part, ast.Name) and part.id == "Any" for part in ast.walk(annotation))
    ]
    assert len(found) < MOST_ANY, "\n".join(found)
