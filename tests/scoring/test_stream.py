from __future__ import annotations

import errno
import random
import tempfile
import tracemalloc
from array import array
from dataclasses import replace
from pathlib import Path

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

METRICS = ("bleu-4", "bleu-2(smooth=exp)", "rouge-l", "meteor(params=other)", "rouge-1", "rouge-l(over=mean)", "chrf")
VECTORS = Path(__file__).parents[1] / "law/vectors"
OPTIONS = ScoreOptions(metrics=METRICS)
WORDS = [
    "the",
    "a",
    "cat",
    "cats",
    "dog",
    "sat",
    "sits",
    "on",
    "under",
    "mat",
    "red",
    "big",
    "house",
    "and",
    "ran",
    "not",
]


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


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Small files stream too; says of each run if it did."""
    monkeypatch.setattr(scoring_files, "SMALLEST", 0)
    ran: list[bool] = []
    made = scoring_files.streamed

    def noted(*arguments: object) -> object:
        found = made(*arguments)  # type: ignore[arg-type]
        ran.append(found is not None)
        return found

    monkeypatch.setattr("postil.scoring.files.streamed", noted)
    return ran


def both(
    paths: tuple[str, str], options: ScoreOptions, monkeypatch: pytest.MonkeyPatch
) -> tuple[tuple[object, list[str], bytes], tuple[object, list[str], bytes]]:
    """Result, remarks and item scores, streamed and not."""
    found = []
    for smallest in (0, 1 << 60):
        monkeypatch.setattr(scoring_files, "SMALLEST", smallest)
        remarks: list[str] = []
        result = score_files(*paths, options, remarks.append)
        items = Path(options.items).read_bytes() if options.items else b""
        found.append((result.to_json(), remarks, items))
    return found[0], found[1]


def test_models_stream_unless_they_read_all_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    put_in_place(monkeypatch)
    monkeypatch.setattr(scoring_files, "CHUNK", 29)
    metrics = ("w-bertscore(model=m,layer=1)", "sentence-cosine(model=m)", "w-sentence-cosine(model=m,over=mean)")
    options = ScoreOptions(metrics=metrics, scale=Scale(1, 5), items=str(tmp_path / "items.jsonl"))
    paths = files(tmp_path, 60)
    streamed, whole = both(paths, options, monkeypatch)
    assert streaming == [True, False]
    assert streamed == whole
    monkeypatch.setattr(scoring_files, "SMALLEST", 0)
    for spec in ("bertscore(model=m,layer=1,idf=true)", "sentence-cosine(model=m,baseline=auto)"):
        score_files(*paths, ScoreOptions(metrics=(spec,)), lambda _: None)
        assert not streaming.pop()


def test_references_that_rows_repeat_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    candidates, references = files(tmp_path, 40)
    lines = Path(references).read_text(encoding="utf-8").splitlines()
    again = [line for line in lines for _ in range(3)] + [lines[-1][:-1] + ',"id":"another"}']
    Path(references).write_text("\n".join(again), encoding="utf-8")
    options = ScoreOptions(metrics=("rouge-l(over=mean)", "cider", "w-rouge-1"), scale=Scale(1, 5))
    streamed, whole = both((candidates, references), options, monkeypatch)
    assert streaming == [True, False]
    assert (streamed[0], sorted(streamed[1])) == (whole[0], sorted(whole[1]))
    unique = len(set(lines))
    assert any(f"{3 * len(lines) - unique:,} references that several rows" in remark for remark in streamed[1])
    Path(references).write_text("\n".join([*dict.fromkeys(lines), again[-1]]), encoding="utf-8")
    assert both((candidates, references), options, monkeypatch)[0][0] == streamed[0]


def test_too_many_han_texts_are_refused_at_their_row(tmp_path: Path, streaming: list[bool]) -> None:
    rows = [Reference(f"i{n}", "中文文本在这里" if n > 5 else "a b") for n in range(20) for _ in range(2)]
    write(tmp_path / "r.jsonl", rows)
    write(tmp_path / "c.jsonl", [Candidate(f"i{n}", "s", "a b") for n in range(20)])
    paths = str(tmp_path / "c.jsonl"), str(tmp_path / "r.jsonl")
    with pytest.raises(InvalidInput, match=r"r\.jsonl:13: text: "):
        score_files(*paths, ScoreOptions(metrics=("rouge-l",)), lambda _: None)
    assert not streaming


@pytest.mark.parametrize("by", ["system", "item"])
@pytest.mark.parametrize(("jobs", "together"), [(1, 1 << 24), (3, 1 << 24), (1, 300)])
def test_the_same_bytes(  # noqa: PLR0917
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], by: str, jobs: int, together: int
) -> None:
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 37)
    monkeypatch.setattr(scoring_files, "TOGETHER", together)
    paths = files(tmp_path, 120, by=by)
    options = ScoreOptions(metrics=METRICS, items=str(tmp_path / "items.jsonl"), jobs=jobs)
    streamed, whole = both(paths, options, monkeypatch)
    assert streaming == [True, False]
    assert streamed == whole
    assert any("no candidate for" in remark for remark in streamed[1])


def test_a_few_long_items_are_read_at_once(tmp_path: Path, streaming: list[bool]) -> None:
    for items, streams in ((10, False), (40, True)):
        names = [f"i{n}" for n in range(items)]
        write(tmp_path / "c.jsonl", (Candidate(name, "s", "a b") for name in names))
        write(tmp_path / "r.jsonl", (Reference(name, "a b c " * 200) for name in names))
        score_files(
            str(tmp_path / "c.jsonl"), str(tmp_path / "r.jsonl"), ScoreOptions(metrics=METRICS[:1]), lambda _: None
        )
        assert streaming.pop() is streams


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
def test_the_same_weighted_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], options: ScoreOptions
) -> None:
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 37)
    monkeypatch.setattr(scoring_files, "CHUNK", 29)
    options = replace(options, items=str(tmp_path / "items.jsonl"))
    streamed, whole = both(files(tmp_path, 80), options, monkeypatch)
    assert streaming == [True, False]
    assert streamed == whole


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('{"item": "z", "text": "a"}', r"r\.jsonl:\d+: grade"),
        ('{"item": "z", "text": "a", "grade": 9}', r"r\.jsonl:\d+: grade: expected a number from 1 to 5, got 9"),
    ],
)
def test_wrong_weights_are_the_same_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], line: str, error: str
) -> None:
    candidates, references = files(tmp_path, 30)
    with Path(references).open("a") as file:
        file.write(line + "\n")
    said = []
    for smallest in (0, 1 << 60):
        monkeypatch.setattr(scoring_files, "SMALLEST", smallest)
        with pytest.raises(InvalidInput, match=error) as caught:
            score_files(candidates, references, ScoreOptions(metrics=WEIGHTED, scale=Scale(1, 5)), list[str]().append)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert streaming == [False, False]


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
def test_the_same_document_frequencies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], options: ScoreOptions, by: str
) -> None:
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 37)
    monkeypatch.setattr(scoring_files, "CHUNK", 29)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    candidates, references = files(tmp_path, 80, by=by)
    for path, item in (
        (candidates, '"item": "i0", "system": "s9"'),
        (references, '"item": "i79", "grade": 1, "upvotes": 2'),
    ):
        with Path(path).open("a") as file:  # n-grams that only other items have, and one that comes twice in an item
            file.write(f'{{{item}, "text": "zoo animals ran the big red zoo animals ran"}}\n')
    streamed, whole = both((candidates, references), replace(options, items=str(tmp_path / "items.jsonl")), monkeypatch)
    assert streaming == [True, False]
    assert streamed == whole
    assert "background:references/80" in str(streamed[0]) or options.weights == "consensus(cider-d)"
    assert list((tmp_path / "temporary").iterdir()) == []


def test_document_frequencies_are_counted_for_larger_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    paths = files(tmp_path, 20)
    monkeypatch.setattr(scoring_files, "SMALLEST", Path(paths[1]).stat().st_size)
    for metrics in ((), ("cider",), ("bleu-1",)):
        score_files(*paths, ScoreOptions(metrics=metrics), list[str]().append)
    assert streaming == [False, False, True]


@pytest.mark.parametrize("metrics", [(), ("bleu-1", "cider")])
def test_one_item_has_no_document_frequencies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], metrics: tuple[str, ...]
) -> None:
    paths = files(tmp_path, 1)
    if not metrics:
        streamed, whole = both(paths, ScoreOptions(), monkeypatch)
        assert streamed == whole
        assert any("cider-d is excluded" in remark for remark in streamed[1])
    else:
        monkeypatch.setattr(scoring_files, "SMALLEST", 0)
        with pytest.raises(Undefined, match="at least two items, got one"):
            score_files(*paths, ScoreOptions(metrics=metrics), list[str]().append)
    assert not any(streaming)


def test_a_full_disk_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    paths = files(tmp_path, 20)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("postil.metrics.background.np.save", full)
    with pytest.raises(PostilError, match=r"TMPDIR.*cannot be written: No space left on device"):
        score_files(*paths, ScoreOptions(metrics=("cider",)), list[str]().append)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert streaming == []


@pytest.mark.parametrize(
    "options",
    [
        ScoreOptions(metrics=("w-rouge-l(over=near)",), scale=Scale(1, 5)),
        ScoreOptions(metrics=(f"vector-f1(vectors={VECTORS},weigh=idf,baseline=auto)",)),
    ],
)
def test_what_needs_all_references_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], options: ScoreOptions
) -> None:
    streamed, whole = both(files(tmp_path, 40), options, monkeypatch)
    assert streaming == [False, False]
    assert streamed == whole


def test_another_order_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]) -> None:
    streamed, whole = both(files(tmp_path, 60, by="nothing"), OPTIONS, monkeypatch)
    assert streaming == [False, False]
    assert streamed == whole


def test_references_apart_are_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    candidates, references = files(tmp_path, 20)
    with Path(references).open("a") as file:
        file.write('{"item": "i0", "text": "one more"}\n')
    streamed, whole = both((candidates, references), OPTIONS, monkeypatch)
    assert streaming == [False, False]
    assert streamed == whole


def test_han_texts_are_counted_over_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 10)
    write(tmp_path / "c.jsonl", (Candidate(f"i{n}", "s", "好好好" if n == 5 else "a cat") for n in range(60)))
    write(tmp_path / "r.jsonl", (Reference(f"i{n}", "好好好" if n in {1, 2} else "a cat") for n in range(60)))
    paths = str(tmp_path / "c.jsonl"), str(tmp_path / "r.jsonl")
    streamed, whole = both(paths, ScoreOptions(metrics=("bleu-1",)), monkeypatch)
    assert streaming == [True, False]
    assert streamed == whole
    assert len(streamed[1]) >= 2
    write(tmp_path / "r.jsonl", (Reference(f"i{n}", "好好好" if n < 20 else "a cat") for n in range(60)))
    for smallest in (0, 1 << 60):
        monkeypatch.setattr(scoring_files, "SMALLEST", smallest)
        with pytest.raises(InvalidInput, match=r"r\.jsonl:1: text"):
            score_files(*paths, ScoreOptions(metrics=("bleu-1",)), list[str]().append)


@pytest.mark.parametrize(("metrics", "refused"), [(("chrf",), False), (("chrf", "rouge-1"), True)])
def test_metrics_of_characters_take_han_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], metrics: tuple[str, ...], refused: bool
) -> None:
    write(tmp_path / "c.jsonl", [Candidate(f"i{n}", "s", "今天天气很好") for n in range(20)])
    write(tmp_path / "r.jsonl", [Reference(f"i{n}", "今天天气好") for n in range(20)])
    paths = str(tmp_path / "c.jsonl"), str(tmp_path / "r.jsonl")
    if refused:
        with pytest.raises(InvalidInput, match=r"r\.jsonl:1: text: Han text"):
            both(paths, ScoreOptions(metrics=metrics), monkeypatch)
    else:
        streamed, whole = both(paths, ScoreOptions(metrics=metrics), monkeypatch)
        assert streaming == [True, False]
        assert streamed == whole


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (Candidate("i3", "s0", "again"), "expected one candidate for each item and system"),
        (Candidate("i999", "s0", "x"), "expected an item that has references"),
    ],
)
def test_errors_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool], row: Candidate, error: str
) -> None:
    candidates, references = files(tmp_path, 30, systems=1)
    assert streaming == []
    with Path(candidates).open("a") as file:
        file.write(f'{{"item": "{row.item}", "system": "{row.system}", "text": "{row.text}"}}\n')
    said = []
    for smallest in (0, 1 << 60):
        monkeypatch.setattr(scoring_files, "SMALLEST", smallest)
        with pytest.raises(InvalidInput, match=error) as caught:
            score_files(candidates, references, OPTIONS, list[str]().append)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_file_that_changes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    candidates, references = files(tmp_path, 30, systems=1)
    in_order = scoring_files._in_order

    def changing(*arguments: object) -> bool:
        lines = Path(references).read_text("utf-8").splitlines(keepends=True)
        Path(references).write_text("".join(lines[: len(lines) // 2]), "utf-8")
        return in_order(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(scoring_files, "_in_order", changing)
    with pytest.raises(InvalidInput, match="it was changed while it was read"):
        score_files(candidates, references, OPTIONS, list[str]().append)
    assert streaming == [True]


def test_memory_does_not_grow_with_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: list[bool]
) -> None:
    monkeypatch.setattr("postil.scoring.graded.CHUNK", 64)
    monkeypatch.setattr(scoring_files, "CHUNK", 64)
    peaks = []
    for items in (400, 2400):
        folder = tmp_path / str(items)
        folder.mkdir()
        paths = files(folder, items, systems=1)
        tracemalloc.start()
        score_files(*paths, ScoreOptions(metrics=("bleu-4", "rouge-l")), list[str]().append)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert streaming == [True, True]
    assert peaks[1] < peaks[0] + 2000 * 100  # an index of the items; their texts and rows take many times that
