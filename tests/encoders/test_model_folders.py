"""Folders of models, with the libraries that run them."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest

from postil.encoders.contextual import contextual_encoder
from postil.errors import InvalidInput, UsageError
from postil.text.tokens import Vocabulary
from tiny_models import SPECIAL, WORDS, tensors, write_bert, write_onnx, write_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.encoders.base import Encoded

pytestmark = pytest.mark.integration

TEXTS = ["The rain falls on the hill.", "", "snow", "long " * 60, "the day and the night"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("something asks for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def encoded(folder: Path, layer: int | None, texts: list[str], jobs: int = 1) -> Encoded:
    return contextual_encoder(str(folder), layer).encode(Vocabulary().encode_tokens([[text] for text in texts]), jobs)


def test_hidden_states_are_those_of_the_library(bert: Path) -> None:
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    network = transformers.AutoModel.from_pretrained(bert).eval()
    for layer in range(4):
        found = encoded(bert, layer, TEXTS)
        for i, text in enumerate(TEXTS):
            inputs = tokenizer(text, return_tensors="pt", truncation=True)
            with torch.no_grad():
                wanted = network(**inputs, output_hidden_states=True).hidden_states[layer][0].numpy()
            wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
            begin, end = found.offsets[i : i + 2]
            np.testing.assert_allclose(found.vectors[begin:end], wanted, atol=1e-6)
    assert found.truncated is not None
    assert found.truncated.tolist() == [False, False, False, True, False]


def test_the_graph_gives_what_the_network_gives(bert: Path, tmp_path: Path) -> None:
    graph = write_onnx(tmp_path / "onnx")
    for layer in range(4):
        one, other = encoded(bert, layer, TEXTS), encoded(graph, layer, TEXTS)
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.truncated, other.truncated)  # type: ignore[arg-type]
        np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-5)
    assert contextual_encoder(str(graph), 3).name.startswith("onnx-")


@pytest.mark.parametrize("write", [write_bert, write_onnx])
def test_a_text_does_not_depend_on_its_batch_or_on_jobs(write: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = write(tmp_path / "model")
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice([*WORDS, "zebra"], rng.integers(0, 30))) for _ in range(100)]
    whole = encoded(folder, 2, texts, jobs=2)
    (tmp_path / "again").mkdir()
    for i in (0, 17, 60, 99):
        alone = encoded(write(tmp_path / "again" / str(i)), 2, [texts[i]])
        begin, end = whole.offsets[whole.texts[i] :][:2]
        np.testing.assert_array_equal(whole.vectors[begin:end], alone.vectors)


def test_the_signature_is_of_the_content(bert: Path, tmp_path: Path) -> None:
    name = contextual_encoder(str(bert), 2).name
    assert contextual_encoder(str(write_bert(tmp_path / "same")), 2).name == name
    assert contextual_encoder(str(write_bert(tmp_path / "other", seed=6)), 2).name != name
    changed = write_bert(tmp_path / "words")
    said = json.loads((changed / "tokenizer.json").read_text(encoding="utf-8"))
    said["normalizer"]["lowercase"] = False
    (changed / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")
    other = contextual_encoder(str(changed), 2).name
    assert (other.split("-")[1] == name.split("-")[1], other.split("-")[2] == name.split("-")[2]) == (True, False)


def test_the_default_layer_is_in_the_folder(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "bert")
    with pytest.raises(UsageError, match=r"no layer is the best of all models; .* has 3 layers: 0 to 3"):
        contextual_encoder(str(folder))
    (folder / "metadata.json").write_text('{"layer": 2}', encoding="utf-8")
    assert contextual_encoder(str(folder)).layer == 2
    with pytest.raises(UsageError, match="layer: expected 0 to 3, got 4"):
        contextual_encoder(str(folder), 4)


def without(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink()


def pickled(folder: Path) -> None:
    without(folder, "model.safetensors")
    (folder / "pytorch_model.bin").write_bytes(b"x")


def renamed(folder: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415

    made = {name.replace("query", "question"): value for name, value in tensors().items()}
    save_file(made, folder / "model.safetensors", {"format": "pt"})


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])


def smaller(folder: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415

    made = tensors()
    made["embeddings.word_embeddings.weight"] = made["embeddings.word_embeddings.weight"][:9]
    save_file(made, folder / "model.safetensors", {"format": "pt"})
    said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(said | {"vocab_size": 9}), encoding="utf-8")


def own_code(folder: Path) -> None:
    said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    said |= {"model_type": "my-bert", "auto_map": {"AutoConfig": "mine.MyConfig", "AutoModel": "mine.MyModel"}}
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    (folder / "mine.py").write_text("raise SystemExit('this code ran')", encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda folder: without(folder, "config.json"), "config.json: missing; was the folder copied whole?"),
        (lambda folder: without(folder, "model.safetensors"), "neither .*safetensors nor model.onnx"),
        (lambda folder: without(folder, "vocab.txt", "tokenizer.json"), "no tokenizer here: expected tokenizer.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json: not JSON, "),
        (pickled, "pytorch_model.bin is a pickle"),
        (renamed, "tensor encoder.layer.0.attention.self.query.bias is missing .4 in all.; are these weights of that"),
        (cut, "transformers .* cannot read it"),
        (smaller, "the tokenizer has the id [0-9]+, the network knows 9; are they of one model"),
        (own_code, "transformers .* cannot read it"),
    ],
)
def test_bad_folders(harm: Callable[[Path], object], problem: str, tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "bert")
    harm(folder)
    with pytest.raises(InvalidInput, match=problem):
        encoded(folder, 2, TEXTS)


def test_bad_graphs(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "onnx")
    with pytest.raises(UsageError, match="layer: expected 0 to 3, got 9"):
        encoded(folder, 9, TEXTS)
    without(folder, "tokenizer.json")
    with pytest.raises(InvalidInput, match=r"no tokenizer here: expected tokenizer.json"):
        encoded(folder, 2, TEXTS)
    write_tokenizer(folder)
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(InvalidInput, match=r"model.onnx: not a graph that onnxruntime"):
        encoded(folder, 2, TEXTS)


def test_special_tokens_of_a_text_count_as_special(bert: Path) -> None:
    found = encoded(bert, 1, [f"snow {SPECIAL[3]} rain"])
    assert found.special is not None
    assert found.special.tolist() == [True, False, True, False, True]


def test_other_architectures_run_their_first_layers(tmp_path: Path) -> None:
    """Networks that name their layers otherwise, or keep a list of them in their configuration."""
    import transformers  # noqa: PLC0415

    size = {"vocab_size": 130, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    made = {
        "distilbert": transformers.DistilBertConfig(vocab_size=130, dim=16, n_layers=3, n_heads=2, hidden_dim=32),
        "gpt2": transformers.GPT2Config(vocab_size=130, n_embd=16, n_layer=3, n_head=2, n_positions=40),
        "modernbert": transformers.ModernBertConfig(num_hidden_layers=4, pad_token_id=0, **size),
        "roberta": transformers.RobertaConfig(num_hidden_layers=3, max_position_embeddings=42, **size),
        "t5": transformers.T5Config(vocab_size=130, d_model=16, d_kv=8, d_ff=32, num_layers=3, num_heads=2),
    }
    for name, config in made.items():
        folder = tmp_path / name
        transformers.AutoModel.from_config(config).save_pretrained(folder)
        write_tokenizer(folder)
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', "utf-8")
        one, two = (encoded(folder, layer, ["the rain", "long " * 60]) for layer in (1, 2))
        assert one.vectors.shape[1] == 16, name
        assert np.abs(one.vectors - two.vectors).max() > 1e-4, name
        assert {"roberta": 40, "gpt2": 40}.get(name, one.lengths[1]) == one.lengths[1], name
