"""Filters that read a sentence encoder: trained, calibrated, used, updated and erased from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from postil.calibration.fit import fit_labels
from postil.comments.retrieval import Retriever
from postil.comments.selecting_commenter import SelectingCommenter, Selector
from postil.comments.sentence_vectors import FOLDER, NUMBERS, SentenceVectors, article_text, encode_texts
from postil.data.model_folders import Model
from postil.data.row_files import read, write
from postil.data.suggestions import Label
from postil.encoders import sentences
from postil.encoders.sentences import SentenceEncoder, sentence_encoder
from postil.endpoint.chat import Answer, Failed, Request
from postil.meta.resampling import Draws
from postil.screening.filtering import CandidateFilter
from retrieval_models import BY_WORDS, TOPICS, article, train_retrievers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from conftest import Outcome, Postil

ENCODER = "package:topics"
NEW = range(100, 112)


def by_topic(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Vectors with the number of times that each topic is named, and whether a text says much."""
    del jobs
    rows = [[*(text.count(topic) for topic in TOPICS), 2 * ("nowhere" in text), 0.5] for text in texts]
    return np.array(rows, np.float32).reshape(-1, len(TOPICS) + 2), np.zeros(len(texts), np.bool_)


@pytest.fixture(autouse=True)
def _package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sentences._PACKAGES, "topics", lambda: (by_topic, "topics-1"))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = train_retrievers(tmp_path_factory.mktemp("models"), kinds=("ir-tc",))
    write(str(folder / "new.jsonl"), [article(number) for number in NEW])
    retriever = Retriever.open(folder / "tc", candidate_filter=CandidateFilter(repeat=0))
    found = retriever.comment([article(number) for number in range(100, 130)], 3)
    random = np.random.default_rng(4)
    rows = [
        Label(
            each.article,
            one.text,
            bool(random.random() < (0.9 if "nowhere" in one.text else 0.1)),
            title=article(int(each.article[1:])).title,
            content=article(int(each.article[1:])).content,
        )
        for each in found
        for one in each.suggestions
    ]
    write(str(folder / "labels.jsonl"), rows)
    return folder


def calibrated(postil: Postil, models: Path, out: str, *more: object) -> Outcome:
    labels = ("--labels", models / "labels.jsonl", "--resamples", 50)
    return postil("calibrate", models / "tc", *labels, "--encoder", ENCODER, "--out", out, *more)


def rows_of(done: Outcome) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_calibrated_model_keeps_the_vectors_and_orders_by_probability(postil: Postil, models: Path) -> None:
    done = calibrated(postil, models, "cal", "--corpus", models / "corpus")
    assert done.code == 0, done.err
    assert "encoder topics-1|: 16 articles and 48 comments" in done.err
    assert "intervals over resamples of the articles" in done.out
    Model.open("cal").verify()
    kept = json.loads(Path("cal/show/filter.json").read_text())
    assert set(NUMBERS) <= set(kept["columns"])
    assert (kept["reorders"], kept["depth"]) == (True, 10)
    # The same model is trained with the encoder, and calibrated without naming it again.
    train = ("train", "ir-tc", "--corpus", models / "corpus", "--out", "m", *BY_WORDS, "--encoder", ENCODER)
    assert postil(*train).code == 0
    again = postil("calibrate", "m", "--labels", models / "labels.jsonl", "--resamples", 50)
    assert again.code == 0, again.err
    for name in ("show/filter.json", "encoder/articles.npy", "encoder/comments.npy", "encoder/hub.npy"):
        assert Path("m", name).read_bytes() == Path("cal", name).read_bytes()

    new = models / "new.jsonl"
    chosen = ("comment", new, "--repeat", 0, "--model", "cal", "--format", "jsonl")
    before = rows_of(postil("comment", new, "--repeat", 0, "--model", models / "tc", "-k", 10, "--format", "jsonl"))
    for found, plain in zip(rows_of(postil(*chosen, "-k", 2)), before, strict=True):
        probabilities = [one["probability"] for one in found["suggestions"]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert [one["rank"] for one in found["suggestions"]] == [1, 2]
        assert {one["text"] for one in found["suggestions"]} <= {one["text"] for one in plain["suggestions"]}
        assert "nowhere" in found["suggestions"][0]["text"]
    points = json.loads(calibrated(postil, models, "c2", "--corpus", models / "corpus", "--format", "json").out)
    most = points["points"][-2]
    for found in rows_of(postil(*chosen, "--coverage", most["coverage"])):
        assert all(one["probability"] >= most["threshold"] for one in found["suggestions"])
        assert bool(found["suggestions"]) == (found["reason"] is None)


def test_a_language_model_chooses_among_the_ten_of_a_filter(postil: Postil, models: Path) -> None:
    """The estimate asks what the run asks; without a usable answer the order is that of the filter."""
    assert calibrated(postil, models, "chosen", "--corpus", models / "corpus").code == 0
    articles, asked = [article(number) for number in NEW], list[Request]()

    def ask(requests: Iterable[Request]) -> Iterator[Answer | Failed]:
        for request in requests:
            asked.append(request)
            yield Answer(text='{"show": [1]}') if len(asked) > 1 else Failed("status 500")

    commenter = SelectingCommenter(
        Retriever.open("chosen", candidate_filter=CandidateFilter(repeat=0)), Selector(model="m"), ask
    )
    found = commenter.comment(articles, 10)
    assert asked == list(commenter.requests(articles, 10))
    likely = [one.probability or 0 for one in found[0].suggestions]
    assert len(set(likely)) > 1
    assert likely == sorted(likely, reverse=True)
    assert all(len(each.suggestions) == 1 and each.suggestions[0].probability for each in found[1:])


def test_a_new_encoder_needs_the_corpus_of_the_model(postil: Postil, models: Path) -> None:
    done = calibrated(postil, models, "cal")
    assert done.code == 2
    assert "has no vectors of this encoder; name the corpus that it was trained on with --corpus DIR" in done.err
    other = train_retrievers(Path.cwd(), "more", kinds=())
    rows = [article(number) for number in range(3)]
    write("raw.jsonl", rows)
    shutil.rmtree(other / "corpus")
    least = ("--min-content-words", 0, "--min-comments", 1, "--test-min-comments", 0, "--test-min-upvotes", 0)
    small = ("corpus", "build", "raw.jsonl", *least, "--dev", 0, "--test", 0, "--source", "s", "--license", "l")
    assert postil(*small, "--out", "corpus").code == 0
    done = calibrated(postil, models, "cal", "--corpus", "corpus")
    assert done.code == 3
    assert "articles of the model are not in it, such as a" in done.err
    assert "name the corpus that the model was trained on" in done.err
    unknown = postil("calibrate", models / "tc", "--labels", models / "labels.jsonl", "--encoder", "package:none")
    assert unknown.code == 2
    assert "unknown package of a sentence encoder 'none'" in unknown.err


def test_another_version_or_dimension_of_the_encoder_is_named(
    postil: Postil, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert calibrated(postil, models, "cal", "--corpus", models / "corpus").code == 0
    comment = ("comment", models / "new.jsonl", "--model", "cal")
    monkeypatch.setitem(sentences._PACKAGES, "topics", lambda: (by_topic, "topics-2"))
    done = postil(*comment)
    assert done.code == 3
    assert "expected the encoder topics-1|, got topics-2|; train or calibrate the model again" in done.err

    def longer(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        vectors, cut = by_topic(texts, jobs)
        return np.hstack([vectors, vectors]), cut

    monkeypatch.setitem(sentences._PACKAGES, "topics", lambda: (longer, "topics-1"))
    done = postil(*comment)
    assert done.code == 3
    assert "expected vectors of 6 dimensions, got 12" in done.err


def test_updates_and_erasures_reach_the_vectors(postil: Postil, models: Path) -> None:
    assert calibrated(postil, models, "cal", "--corpus", models / "corpus").code == 0
    updated = postil("train", "--update", "cal", "--corpus", models / "corpus", "--out", "up")
    assert updated.code == 0, updated.err
    for folder in ("cal", "up"):
        retriever = Retriever.open(folder)
        found, pool = retriever.sentences, retriever.pool
        assert found is not None
        texts = {one.id: article_text(one.title, one.content or "") for one in map(article, range(24))}
        read = [texts[name] for name in pool.articles]
        for kept, some in ((found.articles, read), (found.comments, list(pool.texts))):
            wanted = encode_texts(found.encoder, some, on_progress=lambda _what, things, _total=None: plain(things))
            np.testing.assert_array_equal(kept, wanted)
    gone = Retriever.open("up").pool
    erased = postil("forget", "--comment", f"{gone.articles[0]}:{gone.ids[0]}", "up")
    assert erased.code == 0, erased.err
    after = Retriever.open("up")
    assert after.sentences is not None
    assert len(after.sentences.comments) == len(after.pool) == len(gone) - 1


class plain:  # noqa: N801 - a context of a plain iterator
    def __init__(self, things: Sequence[Any]) -> None:
        self._things = things

    def __enter__(self) -> Any:
        return iter(self._things)

    def __exit__(self, *_: object) -> None:
        return None


def test_blocks_of_an_interrupted_run_are_read(tmp_path: Path) -> None:
    calls: list[int] = []

    def counted(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        calls.append(len(texts))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return by_topic(texts, jobs)

    encoder = SentenceEncoder(counted, "counted")
    texts = [f"rain {number}" for number in range(1000)]
    progress = lambda _what, things, _total=None: plain(things)  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        encode_texts(encoder, texts, folder=tmp_path, on_progress=progress)
    found = encode_texts(encoder, texts, folder=tmp_path, on_progress=progress)
    assert calls == [512, 488, 488]
    np.testing.assert_array_equal(found, encode_texts(encoder, texts, on_progress=progress))


def test_numbers_are_cosines() -> None:
    encoder = SentenceEncoder(by_topic, "topics")
    unit = np.eye(6, dtype=np.float16)
    vectors = SentenceVectors(
        lambda: encoder, encoder.signature, "", unit[:2], unit[[0, 5]], np.full(6, 0.1, np.float32)
    )
    rain = by_topic(["rain"], 1)[0][0]
    rain /= np.linalg.norm(rain)
    found = vectors.numbers("rain", "", np.array([0, 1]), np.array([1, 0]), ["rain", "no word of it"])
    wanted = [
        [rain[0], rain[0] - 0.1, rain[1], 0, np.log(2)],
        [rain[5], rain[5] - 0.1, rain[0], 0, np.log(5)],
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-3)


def test_the_expected_precision_is_that_of_new_articles() -> None:
    """Ten suggestions per article, of which three drawn at random have labels."""
    random = np.random.default_rng(9)
    blocks = [np.arange(1, 4), np.arange(12)]
    held, reached, told = 0, [], []

    def drawn(articles: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        columns = random.normal(size=(articles, 10, 12))
        return columns, 1 / (1 + np.exp(1.3 - columns[..., 1:4] @ np.array([1.0, 0.8, -0.6])))

    new, chances = drawn(4000)
    for _ in range(12):
        columns, rates = drawn(80)
        some = np.sort(np.argsort(random.random((80, 10)), axis=1)[:, :3], axis=1)
        labeled = np.take_along_axis(columns, some[..., None], 1).reshape(-1, 12)
        shown = random.random((80, 3)) < np.take_along_axis(rates, some, 1)
        of = np.repeat(np.arange(80), 3)
        draws = Draws(resamples=200, seed=1)
        fit = fit_labels(labeled, shown.ravel(), of, draws, first=tuple(columns), blocks=blocks)
        assert fit.reorders
        assert fit.depth == 10
        assert fit.kept.columns.tolist() == [1, 2, 3]
        logits = fit.kept.logistic.predict(new.reshape(-1, 12)[:, 1:4]).reshape(-1, 10)
        probable = 1 / (1 + np.exp(-(fit.kept.slope * logits + fit.kept.offset)))
        point = next(one for one in fit.points if one.coverage >= 0.3)
        best, above = probable.argmax(1), probable.max(1) >= point.threshold
        true = np.take_along_axis(chances, best[:, None], 1)[above, 0].mean()
        held += point.low <= true <= point.high
        told.append(point.precision)
        reached.append(true)
        assert abs(above.mean() - point.coverage) < 0.25
    assert held >= 8
    assert abs(np.mean(told) - np.mean(reached)) < 0.05


@pytest.mark.integration
def test_a_folder_of_sentence_transformers_is_kept_in_the_model(postil: Postil, models: Path, tmp_path: Path) -> None:
    from tiny_models import write_bert, write_pooling  # noqa: PLC0415

    folder = write_pooling(write_bert(tmp_path / "encoder"), "mean")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle, which is not copied")
    more = ("--encoder", folder, "--corpus", models / "corpus", "--out", "cal")
    done = postil("calibrate", models / "tc", "--labels", models / "labels.jsonl", *more, "--resamples", 20)
    assert done.code == 0, done.err
    if not Path("cal").exists():
        pytest.fail(done.out)
    assert not list(Path("cal").rglob("*.bin"))
    copy, there = sentence_encoder(f"cal/{FOLDER}"), sentence_encoder(str(folder))
    assert copy.signature == there.signature == Model.open("cal").config["encoder"]
    shutil.rmtree(folder)
    assert postil("comment", models / "new.jsonl", "--model", "cal").code == 0
    assert list(read(str(models / "labels.jsonl"), Label))


def test_a_campaign_of_labels_goes_on_after_an_encoder_was_added(postil: Postil, models: Path) -> None:
    shutil.copytree(models / "tc", "mine")
    label = ("label", models / "new.jsonl", "--model", "mine", "--out", "l.jsonl", "--no-serve", "--articles", 6)
    assert postil(*label).code == 0
    more = ("--encoder", ENCODER, "--corpus", models / "corpus", "--resamples", 9)
    done = postil("calibrate", "mine", "--labels", models / "labels.jsonl", *more)
    assert done.code == 0, done.err
    assert Model.open("mine").config["encoder"] == "topics-1|"
    again = postil(*label)
    assert again.code == 0, again.err
    assert "the campaign is there and is continued; nothing new is drawn" in again.err
