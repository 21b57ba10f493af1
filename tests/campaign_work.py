"""Work of people in a campaign, without pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.campaigns.models import AnnotationTask, Event, Person, Role
    from postil.campaigns.store import Store


def join(store: Store, name: str, role: Role = "annotator") -> Person:
    return store.people.accept(store.people.invite(name, role)).person


def rate(store: Store, person: Person, place: int, value: Any, key: str = "", **more: Any) -> Event:
    """Rate the item at a place of somebody's order."""
    number = store.grading.task(person, place).assignment
    return store.grading.rate(person, number, value, idempotency_key=key or f"r{place}", **more)


def rate_all(store: Store, person: Person, value: Any = 4) -> None:
    """Rate what is open: the same for all, or as a function of the task says."""
    of: Callable[[AnnotationTask], Any] = value if callable(value) else lambda _: value
    while (task := store.grading.next(person)) is not None:
        store.grading.rate(person, task.assignment, of(task), idempotency_key=f"all-{task.assignment}")
