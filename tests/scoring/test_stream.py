from __future__ import annotations

import errno
import random
import tempfile
import tracemalloc
from array import array
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from made_models import put_in_place
from postil.data.grades import Scale
from postil.data.row_files import write
from postil.data.rows import Candidate, Reference
from postil.errors import InvalidInput, PostilError, Undefined
from postil.scoring import files as scoring_files
from postil.scoring.files import score_files
from postil.scoring.graded import ItemIndex
from postil.scoring.options import ScoreOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

METRICS = ("bleu-4", "bleu-2(smooth=exp)", "rouge-l", "meteor(params=other)", "rouge-1", "rouge-l(over=mean)", "chrf")
VECTORS = Path(__file__).parents[1] / "law/vectors"
OPTIONS = ScoreOptions(metrics=METRICS)
WORDS = ("the", "a", "cat", "cats", "dog", "sat", "sits", "on", "mat", "red", "big", "house", "and", "ran", "not")


def text(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(1, 12)))


def files(folder: Path, items: int, *, by: str = "system", systems: int = 3, seed: int = 1) -> tuple[str, str]:
    """Candidates of several systems, system after system or item after item, some missing; and references."""
    draw = random.Random(seed)  # noqa: S311 - texts, not secrets
    references = [
        Reference(f"i{n}", text(draw), grade=draw.randint(1, 5), weight=None, upvotes=draw.randint(0, 9))
        for n in range(items)
        for _ in range(draw.randint(1, 4))
    ]
    pairs = [(n, s) for n in range(items) for s in range(systems) if draw.random() < 0.9]
    if by == "system":
        pairs.sort(key=lambda pair: pair[1])
    if by == "nothing":
        draw.shuffle(pairs)
    write(folder / "c.jsonl", (Candidate(f"i{n}", f"s{s}", text(draw)) for n, s in pairs))
    write(folder / "r.jsonl", references)
    return str(folder / "c.jsonl"), str(folder / "r.jsonl")


Said = tuple[object, list[str], bytes]
"""Result, remarks and item scores."""


class Runs:
    """Runs of small files, which stream too; says of each run if it did."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch, self.streamed = folder, patch, list[bool]()
        made = scoring_files.streamed

        def noted(*arguments: object) -> object:
            found = made(*arguments)  # type: ignore[arg-type]
            self.streamed.append(found is not None)
            return found

        patch.setattr("postil.scoring.files.streamed", noted)
        self.from_size(0)

    def from_size(self, smallest: int) -> None:
        self.patch.setattr(scoring_files, "SMALLEST", smallest)

    def chunks(self, candidates: int, items: int | None = None) -> None:
        self.patch.setattr("postil.scoring.graded.CHUNK", candidates)
        if items is not None:
            self.patch.setattr(scoring_files, "CHUNK", items)

    def write(self, candidates: Iterable[Candidate], references: Iterable[Reference]) -> tuple[str, str]:
        write(self.folder / "c.jsonl", candidates)
        write(self.folder / "r.jsonl", references)
        return str(self.folder / "c.jsonl"), str(self.folder / "r.jsonl")

    def both(self, paths: tuple[str, str], options: ScoreOptions, *, items: bool = False) -> tuple[Said, Said]:
        """Streamed and not."""
        found: list[Said] = []
        if items:
            options = replace(options, items=str(self.folder / "items.jsonl"))
        for smallest in (0, 1 << 60):
            self.from_size(smallest)
            remarks: list[str] = []
            result = score_files(*paths, options, remarks.append)
            found.append((result.to_json(), remarks, Path(options.items).read_bytes() if options.items else b""))
        return found[0], found[1]

    def same(self, paths: tuple[str, str], options: ScoreOptions, *, items: bool = False, streams: bool = True) -> Said:
        """Lines that both say."""
        streamed, whole = self.both(paths, options, items=items)
        assert self.streamed == [streams, False]
        assert streamed == whole
        return streamed

    def errors(self, paths: tuple[str, str], options: ScoreOptions, match: str) -> None:
        """Both refuse in the same words."""
        said = []
        for smallest in (0, 1 << 60):
            self.from_size(smallest)
            with pytest.raises(InvalidInput, match=match) as caught:
                score_files(*paths, options, list[str]().append)
            said.append(str(caught.value))
        assert said[0] == said[1]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def append(path: str, line: str) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def test_models_stream_unless_they_read_all_references(runs: Runs) -> None:
    put_in_place(runs.patch)
    runs.patch.setattr(scoring_files, "CHUNK", 29)
    metrics = ("w-bertscore(model=m,layer=1)", "sentence-cosine(model=m)", "w-sentence-cosine(model=m,over=mean)")
    paths = files(runs.folder, 60)
    runs.same(paths, ScoreOptions(metrics=metrics, scale=Scale(1, 5)), items=True)
    runs.from_size(0)
    for spec in ("bertscore(model=m,layer=1,idf=true)", "sentence-cosine(model=m,baseline=auto)"):
        score_files(*paths, ScoreOptions(metrics=(spec,)), lambda _: None)
        assert not runs.streamed.pop()


def test_references_that_rows_repeat_count_once(runs: Runs) -> None:
    paths = files(runs.folder, 40)
    references = Path(paths[1])
    lines = references.read_text(encoding="utf-8").splitlines()
    again = [line for line in lines for _ in range(3)] + [lines[-1][:-1] + ',"id":"another"}']
    references.write_text("\n".join(again), encoding="utf-8")
    options = ScoreOptions(metrics=("rouge-l(over=mean)", "cider", "w-rouge-1"), scale=Scale(1, 5))
    streamed, whole = runs.both(paths, options)
    assert runs.streamed == [True, False]
    assert (streamed[0], sorted(streamed[1])) == (whole[0], sorted(whole[1]))
    unique = len(set(lines))
    assert any(f"{3 * len(lines) - unique:,} references that several rows" in remark for remark in streamed[1])
    references.write_text("\n".join([*dict.fromkeys(lines), again[-1]]), encoding="utf-8")
    assert runs.both(paths, options)[0][0] == streamed[0]


def test_too_many_han_texts_are_refused_at_their_row(runs: Runs) -> None:
    rows = [Reference(f"i{n}", "中文文本在这里" if n > 5 else "a b") for n in range(20) for _ in range(2)]
    paths = runs.write([Candidate(f"i{n}", "s", "a b") for n in range(20)], rows)
    with pytest.raises(InvalidInput, match=r"r\.jsonl:13: text: "):
        score_files(*paths, ScoreOptions(metrics=("rouge-l",)), lambda _: None)
    assert not runs.streamed


@pytest.mark.parametrize("by", ["system", "item"])
@pytest.mark.parametrize(("jobs", "together"), [(1, 1 << 24), (3, 1 << 24), (1, 300)])
def test_the_same_bytes(runs: Runs, by: str, jobs: int, together: int) -> None:
    runs.chunks(37)
    runs.patch.setattr(scoring_files, "TOGETHER", together)
    said = runs.same(files(runs.folder, 120, by=by), ScoreOptions(metrics=METRICS, jobs=jobs), items=True)
    assert any("no candidate for" in remark for remark in said[1])


def test_a_few_long_items_are_read_at_once(runs: Runs) -> None:
    for items, streams in ((10, False), (40, True)):
        names = [f"i{n}" for n in range(items)]
        paths = runs.write(
            (Candidate(name, "s", "a b") for name in names), (Reference(name, "a b c " * 200) for name in names)
        )
        score_files(*paths, ScoreOptions(metrics=METRICS[:1]), lambda _: None)
        assert runs.streamed.pop() is streams


def test_names_are_told_apart_however_far_their_hashes_are() -> None:
    assert ItemIndex(array("q", [2**62, -(2**63), 2**63 - 1])).distinct
    assert not ItemIndex(array("q", [5, -(2**63), 5])).distinct


WEIGHTED = ("w-rouge-l", "rouge-l", "w-bleu-4", "w-meteor(params=other)", "delta-bleu", "w-rouge-l(over=mean)")


@pytest.mark.parametrize(
    "options",
    [
        ScoreOptions(metrics=WEIGHTED, scale=Scale(1, 5)),
        ScoreOptions(metrics=WEIGHTED[:3], scale=Scale(1, 5), weights="minmax"),
        ScoreOptions(metrics=WEIGHTED, scale=Scale(1, 5), weights="item-max"),
        ScoreOptions(metrics=WEIGHTED, scale=Scale(1, 5), weights="votes"),
        ScoreOptions(metrics=("delta-bleu", "bleu-2"), scale=Scale(1, 5), weights="signed"),
        ScoreOptions(metrics=WEIGHTED, weights="consensus"),
        ScoreOptions(metrics=WEIGHTED[:2], weights="consensus(meteor)"),
    ],
)
def test_the_same_weighted_bytes(runs: Runs, options: ScoreOptions) -> None:
    runs.chunks(37, 29)
    runs.same(files(runs.folder, 80), options, items=True)


@pytest.mark.parametrize(
    ("grade", "error"),
    [("", r"r\.jsonl:\d+: grade"), (', "grade": 9', r"r\.jsonl:\d+: grade: expected a number from 1 to 5, got 9")],
)
def test_wrong_weights_are_the_same_errors(runs: Runs, grade: str, error: str) -> None:
    paths = files(runs.folder, 30)
    append(paths[1], f'{{"item": "z", "text": "a"{grade}}}')
    runs.errors(paths, ScoreOptions(metrics=WEIGHTED, scale=Scale(1, 5)), error)
    assert runs.streamed == [False, False]


@pytest.mark.parametrize("by", ["system", "item"])
@pytest.mark.parametrize(
    "options",
    [
        ScoreOptions(),
        ScoreOptions(scale=Scale(1, 5), jobs=3),
        ScoreOptions(metrics=("cider-d", "cider", "cider-d(order=2)", "cider(order=1)", "cider(order=9)")),
        ScoreOptions(metrics=("w-cider-d", "w-cider"), scale=Scale(1, 5), weights="votes", tokenizer="space"),
        ScoreOptions(metrics=("rouge-l", "w-rouge-l"), weights="consensus(cider-d)"),
        ScoreOptions(metrics=("cider-d",), tokenizer="ptb"),
    ],
)
def test_the_same_document_frequencies(runs: Runs, temporary: Path, options: ScoreOptions, by: str) -> None:
    runs.chunks(37, 29)
    paths = files(runs.folder, 80, by=by)
    for path, item in zip(paths, ('"i0", "system": "s9"', '"i79", "grade": 1, "upvotes": 2'), strict=True):
        # n-grams that only other items have, and one that comes twice in an item
        append(path, f'{{"item": {item}, "text": "zoo animals ran the big red zoo animals ran"}}')
    said = runs.same(paths, options, items=True)
    assert "background:references/80" in str(said[0]) or options.weights == "consensus(cider-d)"
    assert list(temporary.iterdir()) == []


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    (folder := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_document_frequencies_are_counted_for_larger_files(runs: Runs) -> None:
    paths = files(runs.folder, 20)
    runs.from_size(Path(paths[1]).stat().st_size)
    for metrics in ((), ("cider",), ("bleu-1",)):
        score_files(*paths, ScoreOptions(metrics=metrics), list[str]().append)
    assert runs.streamed == [False, False, True]


@pytest.mark.parametrize(("missing", "weighted"), [(None, True), (20, False), (0, False)])
def test_weights_that_one_row_lacks_are_no_weights(runs: Runs, missing: int | None, weighted: bool) -> None:
    texts = [text(random.Random(n)) for n in range(60)]  # noqa: S311 - texts
    rows = [Reference(f"i{n}", texts[n], weight=None if n == missing else n / 30) for n in range(30)]
    paths = runs.write((Candidate(f"i{n}", "s", texts[30 + n]) for n in range(30)), rows)
    assert ("w-cider-d" in str(runs.same(paths, ScoreOptions())[0])) == weighted


def test_one_item_has_no_document_frequencies(runs: Runs) -> None:
    paths = files(runs.folder, 1)
    streamed, whole = runs.both(paths, ScoreOptions())
    assert streamed == whole
    assert any("cider-d is excluded" in remark for remark in streamed[1])
    runs.from_size(0)
    with pytest.raises(Undefined, match="at least two items, got one"):
        score_files(*paths, ScoreOptions(metrics=("bleu-1", "cider")), list[str]().append)
    assert not any(runs.streamed)


def test_a_full_disk_is_said_and_leaves_nothing(runs: Runs, temporary: Path) -> None:
    paths = files(runs.folder, 20)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    runs.patch.setattr("postil.metrics.background.np.save", full)
    with pytest.raises(PostilError, match=r"TMPDIR.*cannot be written: No space left on device"):
        score_files(*paths, ScoreOptions(metrics=("cider",)), list[str]().append)
    assert list(temporary.iterdir()) == []
    assert runs.streamed == []


@pytest.mark.parametrize(
    ("options", "by"),
    [
        (ScoreOptions(metrics=("w-rouge-l(over=near)",), scale=Scale(1, 5)), "system"),
        (ScoreOptions(metrics=(f"vector-f1(vectors={VECTORS},weigh=idf,baseline=auto)",)), "system"),
        (OPTIONS, "nothing"),
    ],
)
def test_what_needs_all_references_and_another_order_are_read_whole(runs: Runs, options: ScoreOptions, by: str) -> None:
    runs.same(files(runs.folder, 60, by=by), options, streams=False)


def test_references_apart_are_read_whole(runs: Runs) -> None:
    paths = files(runs.folder, 20)
    append(paths[1], '{"item": "i0", "text": "one more"}')
    runs.same(paths, OPTIONS, streams=False)


def test_han_texts_are_counted_over_the_whole_file(runs: Runs) -> None:
    runs.chunks(10)

    def paths(*han: int) -> tuple[str, str]:
        candidates = (Candidate(f"i{n}", "s", "好好好" if n == 5 else "a cat") for n in range(60))
        return runs.write(candidates, (Reference(f"i{n}", "好好好" if n in han else "a cat") for n in range(60)))

    assert len(runs.same(paths(1, 2), ScoreOptions(metrics=("bleu-1",)))[1]) >= 2
    runs.errors(paths(*range(20)), ScoreOptions(metrics=("bleu-1",)), r"r\.jsonl:1: text")


def test_metrics_of_characters_take_han_texts(runs: Runs) -> None:
    names = [f"i{n}" for n in range(20)]
    paths = runs.write(
        [Candidate(name, "s", "今天天气很好") for name in names], [Reference(name, "今天天气好") for name in names]
    )
    runs.same(paths, ScoreOptions(metrics=("chrf",)))
    runs.errors(paths, ScoreOptions(metrics=("chrf", "rouge-1")), r"r\.jsonl:1: text: Han text")


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ('"i3", "system": "s0", "text": "again"', "expected one candidate for each item and system"),
        ('"i999", "system": "s0", "text": "x"', "expected an item that has references"),
    ],
)
def test_errors_are_the_same(runs: Runs, row: str, error: str) -> None:
    paths = files(runs.folder, 30, systems=1)
    append(paths[0], f'{{"item": {row}}}')
    runs.errors(paths, OPTIONS, error)


def test_a_file_that_changes_is_an_error(runs: Runs) -> None:
    candidates, references = files(runs.folder, 30, systems=1)
    in_order = scoring_files._in_order

    def changing(*arguments: object) -> bool:
        lines = Path(references).read_text("utf-8").splitlines(keepends=True)
        Path(references).write_text("".join(lines[: len(lines) // 2]), "utf-8")
        return in_order(*arguments)  # type: ignore[arg-type]

    runs.patch.setattr(scoring_files, "_in_order", changing)
    with pytest.raises(InvalidInput, match="it was changed while it was read"):
        score_files(candidates, references, OPTIONS, list[str]().append)
    assert runs.streamed == [True]


def test_memory_does_not_grow_with_the_references(runs: Runs) -> None:
    runs.chunks(64, 64)
    peaks = []
    for items in (400, 2400):
        (folder := runs.folder / str(items)).mkdir()
        paths = files(folder, items, systems=1)
        tracemalloc.start()
        score_files(*paths, ScoreOptions(metrics=("bleu-4", "rouge-l")), list[str]().append)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert runs.streamed == [True, True]
    assert peaks[1] < peaks[0] + 2000 * 100  # an index of the items; their texts and rows take many times that
