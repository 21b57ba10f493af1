"""Laws of every engine, tested with each of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import engine_work as work
import pytest

from postil.engine import Engine, open_engine
from postil.errors import InvalidInput, MissingExtra, PostilError, Undefined, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., Engine]

KINDS = ("here", "processes", pytest.param("ray", marks=pytest.mark.integration))
WITH_WORKERS = KINDS[1:]


@pytest.fixture
def opened(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens the engine that the test is run with."""
    engines: list[Engine] = []
    if request.param == "ray":
        request.getfixturevalue("cluster")

    def make(**options: Any) -> Engine:
        name = "ray" if request.param == "ray" else "local"
        engines.append(open_engine(name, jobs=1 if request.param == "here" else 2, **options))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


every_engine = pytest.mark.parametrize("opened", KINDS, indirect=True)
with_workers = pytest.mark.parametrize("opened", WITH_WORKERS, indirect=True)


@every_engine
def test_results_come_in_the_order_of_the_shards(opened: Open) -> None:
    with opened() as engine:
        assert list(engine.map(work.late_square, range(9))) == [n * n for n in range(9)]
        assert list(engine.map(work.square, iter([3]))) == [9]
        assert list(engine.map(work.square, [])) == []


@every_engine
def test_shards_are_taken_when_there_is_room(opened: Open) -> None:
    taken = 0

    def shards() -> Iterator[int]:
        nonlocal taken
        for number in range(1, 1_000_000):
            taken = number
            yield number

    with opened() as engine:
        results = engine.map(work.square, shards())
        assert taken == 0
        for done in range(1, 8):
            assert next(results) == done * done
            time.sleep(0.02)
            assert taken <= done + 2 * 2


@every_engine
@pytest.mark.parametrize(
    ("name", "kind", "attributes"),
    [
        ("input", InvalidInput, {"where": "a.jsonl", "line": 3, "field": "grade", "problem": "expected 1, got 2"}),
        ("name", UnknownName, {"kind": "metric", "name": "metor", "known": ("bleu", "meteor")}),
        ("extra", MissingExtra, {"what": "x", "extra": "zh"}),
        ("undefined", Undefined, {"args": ("constant",)}),
        ("builtin", FileNotFoundError, {"errno": 2, "filename": "x.txt"}),
        ("exit", SystemExit, {"code": 3}),
    ],
)
def test_an_exception_of_the_function_has_its_turn(
    opened: Open, name: str, kind: type[BaseException], attributes: dict[str, object]
) -> None:
    said: list[str] = []
    with opened(on_message=said.append) as engine:
        results = engine.map(work.failing, ["a", "b", name, "c"])
        assert [next(results), next(results)] == ["a", "b"]
        with pytest.raises(kind) as caught:
            next(results)
        assert type(caught.value) is kind
        assert str(caught.value) == str(work.RAISES[name]())
        assert {each: getattr(caught.value, each) for each in attributes} == attributes
        assert list(results) == []
        assert list(engine.map(work.square, [4])) == [16]
    assert said == []


@every_engine
def test_an_exception_of_the_shards_has_its_turn(opened: Open) -> None:
    def shards() -> Iterator[int]:
        yield from (1, 2, 3)
        raise InvalidInput("broken", where="x")

    with opened() as engine:
        results = engine.map(work.late_square, shards())
        assert [next(results) for _ in range(3)] == [1, 4, 9]
        with pytest.raises(InvalidInput, match="broken"):
            next(results)


@with_workers
def test_the_note_says_where_in_the_worker(opened: Open) -> None:
    with opened() as engine, pytest.raises(Undefined) as caught:
        list(engine.map(work.failing, ["undefined"]))
    assert "engine_work.py" in caught.value.__notes__[0]


@with_workers
def test_what_cannot_be_sent_is_said(opened: Open) -> None:
    with opened() as engine:
        with pytest.raises(PostilError, match=r"^the function cannot be sent between processes: .*lambda"):
            engine.map(lambda n: n, [1])
        results = engine.map(work.unsendable, [0, 1, 2])
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(PostilError, match=r"^a result cannot be sent between processes: .*lambda"):
            next(results)
        results = engine.map(work.square, [1, lambda: 2])
        assert next(results) == 1
        with pytest.raises(PostilError, match=r"^shard 2 cannot be sent between processes: .*lambda"):
            next(results)
        with pytest.raises(PostilError, match=r"^StubbornError: 1 and 2 \(raised in a worker"):
            list(engine.map(work.failing, ["stubborn"]))


@every_engine
def test_the_function_is_sent_once(opened: Open, tmp_path: Path) -> None:
    with opened() as engine:
        assert list(engine.map(work.Heavy(tmp_path), range(20))) == [1_000_000 + n for n in range(20)]
    assert 1 <= len((tmp_path / "built").read_text()) <= 2


@every_engine
def test_two_maps_at_once(opened: Open) -> None:
    with opened() as engine:
        one, two = engine.map(work.square, range(6)), engine.map(work.failing, "abcdef")
        assert list(zip(one, two, strict=True)) == [(n * n, "abcdef"[n]) for n in range(6)]


@every_engine
def test_large_shards_and_results(opened: Open) -> None:
    shards = [bytes([n]) * (16 << 20) + b"end" for n in range(3)]
    with opened() as engine:
        assert list(engine.map(work.turned, shards)) == [shard[::-1] for shard in shards]


@with_workers
def test_a_killed_worker_is_replaced(opened: Open, tmp_path: Path) -> None:
    said: list[str] = []
    with opened(on_message=said.append) as engine:
        assert list(engine.map(work.Fragile(tmp_path, times=2), range(6))) == [n * n for n in range(6)]
    assert len(said) == 2
    assert said[0].startswith("shard 3: its worker was killed")
    assert said[0].endswith("running it again in a new one (2 left)")
    assert "out of memory?" in said[0]


@with_workers
def test_a_shard_that_kills_every_worker_ends_the_run(opened: Open, tmp_path: Path) -> None:
    said: list[str] = []
    with opened(on_message=said.append, retries=1) as engine:
        results = engine.map(work.Fragile(tmp_path, times=9), range(6))
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(PostilError, match=r"^shard 3: its worker was killed .*attempt 2, the last"):
            list(results)
        assert len(said) == 1
        assert list(engine.map(work.square, [5])) == [25]


@with_workers
def test_without_retries(opened: Open, tmp_path: Path) -> None:
    with opened(retries=0) as engine, pytest.raises(PostilError, match=r"^shard 1: .*attempt 1, the last"):
        list(engine.map(work.Fragile(tmp_path, at=0), range(2)))


@every_engine
def test_closing_early(opened: Open) -> None:
    with opened() as engine:
        results = engine.map(work.square, range(1_000_000))
        assert next(results) == 0
        results.close()  # type: ignore[attr-defined]
        assert list(engine.map(work.square, range(3))) == [0, 1, 4]


@with_workers
def test_a_closed_engine_does_nothing(opened: Open) -> None:
    engine = opened()
    results = engine.map(work.square, range(100))
    next(results)
    engine.close()
    with pytest.raises(PostilError, match="the engine was closed"):
        list(results)
    with pytest.raises(PostilError, match="the engine is closed"):
        list(engine.map(work.square, [1]))
    with pytest.raises(PostilError, match="the engine is closed"):
        engine.start_workers(work.square, [1])
    engine.close()


@every_engine
def test_stateful_workers(opened: Open, tmp_path: Path) -> None:
    with opened() as engine, engine.start_workers(work.Part, ((n, tmp_path) for n in range(3))) as workers:
        assert workers.call(work.tell, 7) == [(n, [7]) for n in range(3)]
        assert workers.call(work.tell, 8) == [(n, [7, 8]) for n in range(3)]
        assert list(engine.map(work.square, [2])) == [4]
    assert [(tmp_path / f"loaded-{n}").read_text() for n in range(3)] == ["x"] * 3


@every_engine
def test_no_shards_at_all(opened: Open) -> None:
    with opened() as engine, engine.start_workers(work.Part, []) as workers:
        assert workers.call(work.tell, 7) == []


@every_engine
def test_the_first_shard_that_fails_is_the_one_that_is_heard(opened: Open, tmp_path: Path) -> None:
    with opened() as engine, engine.start_workers(work.Part, [(n, tmp_path) for n in range(3)]) as workers:
        with pytest.raises(Undefined, match=r"^part 1"):
            workers.call(work.tell_or_fail, 1)
        assert workers.call(work.tell_or_fail, 9) == [0, 1, 2]


@every_engine
def test_an_exception_of_load(opened: Open, tmp_path: Path) -> None:
    with opened() as engine:
        with pytest.raises(InvalidInput, match=r"^99: bad shard"):
            engine.start_workers(work.Part, [(n, tmp_path) for n in (1, 99)])
        assert list(engine.map(work.square, [2])) == [4]


@with_workers
def test_a_killed_worker_is_made_again(opened: Open, tmp_path: Path) -> None:
    said: list[str] = []
    with (
        opened(on_message=said.append, retries=1) as engine,
        engine.start_workers(work.Part, [(n, tmp_path) for n in range(3)]) as workers,
    ):
        assert workers.call(work.tell_or_die, 2) == [0, 1, 2]
        assert workers.call(work.tell_or_die, 2) == [0, 1, 2]
    assert len(said) == 1
    assert "3" in said[0].partition(":")[0]
    assert (tmp_path / "loaded-2").read_text() == "xx"
    assert (tmp_path / "loaded-1").read_text() == "x"
