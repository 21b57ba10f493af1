from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest

from postil.encoders.classifiers import Classifier, open_classifier
from postil.errors import InvalidInput, UsageError
from tiny_models import WORDS, tensors, write_classifier, write_onnx, write_onnx_classifier, write_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

TEXTS = ["The rain falls on the hill.", "snow", "", "long " * 60, "the day and the night", " snow ", "\U0001f600"]
LABELS = ("toxic", "insult", "threat")


class Letters:
    """A network of letters: how many there are, and the number of the first."""

    longest, rows, wide, step, padding, has_segments = 6, 123, 16, 1, 0, False

    def __init__(self) -> None:
        self.shapes: list[tuple[int, int]] = []

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        return [[ord(each) for each in text][:longest] for text in texts]

    def logits(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        assert mask.all()
        self.shapes.append(ids.shape)
        return np.stack([mask.sum(axis=1), ids[:, 0] / 100], axis=1).astype(np.float32)


def test_numbers_of_texts_and_their_probabilities() -> None:
    model = Letters()
    alone = Classifier(model, ("long", "late"), "letters", exclusive=False)
    texts = ["ab", " ab ", "", "abcdefghi", "x"]
    wanted = np.array([[2, 0.97], [2, 0.97], [1, 0], [6, 0.97], [1, 1.2]])
    np.testing.assert_allclose(alone.log_odds(texts), wanted, atol=1e-6)
    np.testing.assert_allclose(alone.probabilities(texts), 1 / (1 + np.exp(-wanted)), atol=1e-6)
    assert sorted(model.shapes[:3]) == [(1, 2), (1, 6), (2, 1)]  # equal texts once, no padding
    one = Classifier(model, ("long", "late"), "letters", exclusive=True)
    shares = np.exp(wanted) / np.exp(wanted).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(one.probabilities(texts), shares, atol=1e-6)
    np.testing.assert_allclose(one.log_odds(texts), np.log(shares / (1 - shares)), atol=1e-6)
    assert one.probabilities([]).shape == (0, 2)


def test_certain_probabilities_stay_finite() -> None:
    class Certain(Letters):
        def logits(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
            return np.array([[5000, -5000, 0]], np.float32).repeat(len(ids), axis=0) + 0 * mask[:, :1]

    for exclusive in (True, False):
        classifier = Classifier(Certain(), LABELS, "certain", exclusive=exclusive)
        assert classifier.probabilities(["a"]).tolist() == [[1, 0, 0 if exclusive else 0.5]]
        assert np.isfinite(classifier.log_odds(["a"])).all()


def test_of_a_long_text_a_part_is_tokenized() -> None:
    class Counting(Letters):
        characters = 0

        def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
            self.characters = sum(map(len, texts))
            return super().tokenize(texts, longest)

    model = Counting()
    classifier = Classifier(model, ("long", "late"), "letters", exclusive=False)
    assert classifier.log_odds([" " * 2000 + "b" * 10**6])[0, 0] == 6
    assert model.characters == 600


def test_batches_hold_texts_of_one_length() -> None:
    model = Letters()
    Classifier(model, ("long", "late"), "letters", exclusive=False).log_odds([f"a{i}" for i in range(20)])
    assert sorted(model.shapes) == [(2, 2), (4, 3), (6, 3), (8, 2)]


def test_no_such_folder() -> None:
    with pytest.raises(UsageError, match=r"toxic-bert: no such folder; a classifier is read .*nothing is downloaded"):
        open_classifier("toxic-bert")


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("something asks for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def piped(folder: Path, texts: Sequence[str], labels: Sequence[str]) -> NDArray[np.float64]:
    """Probabilities of the library's own pipeline."""
    import transformers  # noqa: PLC0415

    run = transformers.pipeline("text-classification", str(folder), top_k=None, device="cpu")
    found = [run(text.strip(), truncation=True) for text in texts]
    by_label = [
        {each["label"]: each["score"] for each in (row[0] if isinstance(row[0], list) else row)} for row in found
    ]
    return np.array([[row[label] for label in labels] for row in by_label])


@pytest.mark.integration
@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize("write", [write_classifier, write_onnx_classifier])
@pytest.mark.parametrize(
    ("problem", "labels"),
    [
        ("multi_label_classification", LABELS),
        ("single_label_classification", LABELS),
        (None, LABELS),
        (None, ("toxic",)),
    ],
)
def test_probabilities_are_those_of_the_library(
    write: Callable[..., Path], problem: str | None, labels: tuple[str, ...], tmp_path: Path
) -> None:
    classifier = open_classifier(str(write(tmp_path / "model", labels, problem)))
    assert classifier.labels == labels
    wanted = piped(write_classifier(tmp_path / "wanted", labels, problem), TEXTS, labels)
    found = classifier.probabilities(TEXTS)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert np.ptp(found, axis=0).min() > 0.01, "texts are told apart"
    assert classifier.exclusive == (problem != "multi_label_classification" and len(labels) > 1)
    assert np.allclose(found.sum(axis=1), 1) == classifier.exclusive


@pytest.mark.integration
@pytest.mark.parametrize("write", [write_classifier, write_onnx_classifier])
def test_a_text_does_not_depend_on_its_batch_on_jobs_or_on_other_threads(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice([*WORDS, "zebra"], rng.integers(0, 50))) for _ in range(120)]
    classifier = open_classifier(str(write(tmp_path / "model", LABELS)))
    whole = classifier.probabilities(texts)
    np.testing.assert_array_equal(classifier.probabilities(texts, jobs=2), whole)
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda text: classifier.probabilities([text])[0], texts))
    np.testing.assert_allclose(np.array(alone), whole, atol=1e-6)


@pytest.mark.integration
def test_other_architectures(tmp_path: Path) -> None:
    """Heads that read the last token, count the ends, or number positions otherwise."""
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    torch.manual_seed(4)
    size = {"vocab_size": 130, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_labels": 3}
    bart = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in {"layers": 1, "attention_heads": 2, "ffn_dim": 32}.items()
    }
    made = {
        "bart": transformers.BartConfig(
            vocab_size=130,
            d_model=16,
            max_position_embeddings=40,
            eos_token_id=3,
            pad_token_id=0,
            bos_token_id=2,
            decoder_start_token_id=2,
            num_labels=3,
            **bart,
        ),
        "distilbert": transformers.DistilBertConfig(
            vocab_size=130, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=40, num_labels=3
        ),
        "gpt2": transformers.GPT2Config(
            vocab_size=130, n_embd=16, n_layer=2, n_head=2, n_positions=40, pad_token_id=None, num_labels=3
        ),
        "roberta": transformers.RobertaConfig(num_hidden_layers=2, max_position_embeddings=42, pad_token_id=1, **size),
        "t5": transformers.T5Config(
            vocab_size=130,
            d_model=16,
            d_kv=8,
            d_ff=32,
            num_layers=1,
            num_heads=2,
            eos_token_id=3,
            pad_token_id=0,
            decoder_start_token_id=0,
            num_labels=3,
        ),
    }
    texts = ["the rain", "the rain and [SEP] the snow", "snow", "a day", "long " * 30, ""]
    for name, config in made.items():
        folder = tmp_path / name
        network = transformers.AutoModelForSequenceClassification.from_config(config)
        for weight in network.parameters():
            weight.data.mul_(8)  # numbers far from each other
        network.save_pretrained(folder)
        write_tokenizer(folder)
        said = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 40}
        (folder / "tokenizer_config.json").write_text(json.dumps(said), "utf-8")
        classifier = open_classifier(str(folder))
        assert classifier.labels == ("LABEL_0", "LABEL_1", "LABEL_2"), name
        found = classifier.probabilities(texts)
        np.testing.assert_allclose(found, piped(folder, texts, classifier.labels), atol=1e-5, err_msg=name)
        assert np.ptp(found, axis=0).max() > 0.01, name


@pytest.mark.integration
@pytest.mark.parametrize("write", [write_classifier, write_onnx_classifier])
def test_a_copy_of_its_files_is_whole(write: Callable[..., Path], tmp_path: Path) -> None:
    folder = write(tmp_path / "model", LABELS)
    (folder / "training_args.bin").write_bytes(b"a pickle")
    classifier = open_classifier(str(folder))
    for name, file in classifier.files().items():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(file.read_bytes())
    copy = open_classifier(str(tmp_path / "copy"))
    assert copy.signature == classifier.signature
    assert "training_args.bin" not in copy.files()
    np.testing.assert_array_equal(copy.probabilities(TEXTS), classifier.probabilities(TEXTS))


@pytest.mark.integration
def test_weights_in_several_files_and_a_graph_in_a_folder(tmp_path: Path) -> None:
    import transformers  # noqa: PLC0415

    folder = write_classifier(tmp_path / "model", LABELS)
    wanted = open_classifier(str(folder)).probabilities(TEXTS)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    network.save_pretrained(folder, max_shard_size="40KB")
    found = open_classifier(str(folder))
    assert {"model.safetensors.index.json", "config.json", "tokenizer.json"} < set(found.files())
    np.testing.assert_allclose(found.probabilities(TEXTS), wanted, atol=1e-6)
    graph = write_onnx_classifier(tmp_path / "graph", LABELS)
    (graph / "onnx").mkdir()
    (graph / "model.onnx").rename(graph / "onnx" / "model.onnx")
    assert "onnx/model.onnx" in open_classifier(str(graph)).files()


@pytest.mark.integration
def test_the_signature_is_of_the_content_and_the_kind_of_labels(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "model", LABELS)
    one, several = (open_classifier(str(folder), multi_label=each) for each in (None, True))
    assert (one.signature.split("-")[0], one.signature.split("-")[-1]) == ("bert", "softmax")
    assert several.signature == one.signature.replace("softmax", "sigmoid")
    assert several.exclusive is False
    assert open_classifier(str(folder)) is one
    same, other = (write_classifier(tmp_path / str(seed), LABELS, seed=seed) for seed in (5, 6))
    assert open_classifier(str(same)).signature == one.signature
    assert open_classifier(str(other)).signature != one.signature
    named = write_classifier(tmp_path / "named", ("rude", *LABELS[1:]))
    assert open_classifier(str(named)).signature != one.signature


def changed(**said: object) -> Callable[[Path], None]:
    """Harm to a folder: other entries of its configuration, without those that are None."""

    def change(folder: Path) -> None:
        path = folder / "config.json"
        new = json.loads(path.read_text(encoding="utf-8")) | said
        path.write_text(json.dumps({name: value for name, value in new.items() if value is not None}), encoding="utf-8")

    return change


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"x")


def without_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink()


def without_head(folder: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415

    body = {f"bert.{name}": value for name, value in tensors().items()}
    save_file(body, folder / "model.safetensors", {"format": "pt"})


def not_finite(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file  # noqa: PLC0415

    made = load_file(folder / "model.safetensors")
    made["classifier.bias"][1] = np.inf
    save_file(made, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.integration
@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json: missing; was the folder copied whole?"),
        (lambda folder: (folder / "model.safetensors").unlink(), "neither .*safetensors nor model.onnx"),
        (pickled, "pytorch_model.bin is a pickle, which can run any code, and is not read"),
        (without_tokenizer, "no tokenizer here: expected tokenizer.json"),
        (without_head, r"tensor bert.pooler.dense.bias is missing \(4 in all\)"),
        (not_finite, "model: the network gives numbers that are not finite"),
        (changed(architectures=["BertModel"]), "architectures: expected a network for the classification .*BertModel"),
        (changed(architectures=["BertForTokenClassification"]), "classification of sequences, got BertForToken"),
        (
            changed(architectures=None, id2label=None),
            "config.json: id2label: expected the names of the labels, such as",
        ),
        (changed(id2label={"0": "a", "1": "a", "2": "b"}), "id2label: expected the names of the labels 0 to 2, each"),
        (changed(id2label={"1": "a", "2": "b", "3": "c"}), "id2label: expected the names of the labels 0 to 2, each"),
        (changed(id2label={"0": "a", "1": "b"}), r"has the shape \(3,\), expected \(2,\) for the 2 labels of id2label"),
        (changed(problem_type="regression"), "problem_type: regression gives numbers that are no probabilities"),
        (changed(problem_type="ranking"), "problem_type: expected multi_label_classification or single_label_cl"),
        (changed(model_type="my-bert", auto_map={"AutoConfig": "mine.Mine"}), "transformers .* cannot read it"),
    ],
)
def test_bad_folders(harm: Callable[[Path], object], problem: str, tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "model", LABELS)
    (folder / "mine.py").write_text("raise SystemExit('this code ran')", encoding="utf-8")
    harm(folder)
    with pytest.raises(InvalidInput, match=problem):
        open_classifier(str(folder)).probabilities(TEXTS)


def graph_of(change: Callable[[object], object]) -> Callable[[Path], None]:
    """Harm to a folder: a graph that was changed."""

    def harm(folder: Path) -> None:
        import onnx  # noqa: PLC0415

        model = onnx.load(folder / "model.onnx")
        change(model.graph)
        onnx.save(model, folder / "model.onnx")

    return harm


@pytest.mark.integration
@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (changed(id2label={"0": "a", "1": "b"}), "id2label: expected 3 labels, as the network has, got 2: a, b"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"no graph"), "model.onnx: not a graph that onnxruntime"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer here: expected tokenizer.json"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "tokenizer.json: not a tokenizer"),
        (graph_of(lambda graph: setattr(graph.input[0].type.tensor_type.shape.dim[1], "dim_value", 16)),
            r"input input_ids has the shape \['batch', 16\], expected one for any number of texts and tokens"),
        (lambda folder: write_onnx(folder) and changed(id2label={"0": "a"})(folder), "no output logits, only hidden_s"),
    ],
)  # fmt: skip
def test_bad_graphs(harm: Callable[[Path], object], problem: str, tmp_path: Path) -> None:
    folder = write_onnx_classifier(tmp_path / "model", LABELS)
    harm(folder)
    with pytest.raises(InvalidInput, match=problem):
        open_classifier(str(folder))


@pytest.mark.integration
def test_labels_that_the_configuration_leaves_to_the_library(tmp_path: Path) -> None:
    folder = write_onnx_classifier(tmp_path / "model", LABELS)
    changed(id2label=None)(folder)
    assert open_classifier(str(folder)).labels == ("LABEL_0", "LABEL_1", "LABEL_2")


@pytest.mark.integration
def test_segments_besides_the_first_are_refused(tmp_path: Path) -> None:
    folder = write_onnx_classifier(tmp_path / "model", LABELS)
    said = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    parts = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[CLS]", "type_id": 2}}]
    tokens = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}
    pair = [*parts, {"Sequence": {"id": "B", "type_id": 1}}]
    said["post_processor"] = {"type": "TemplateProcessing", "single": parts, "pair": pair, "special_tokens": tokens}
    (folder / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(InvalidInput, match="puts tokens of one text into several segments"):
        open_classifier(str(folder))


@pytest.mark.integration
def test_graphs_that_scale_by_their_batch_run_each_text_alone(tmp_path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic  # noqa: PLC0415

    folder = write_onnx_classifier(tmp_path / "model", LABELS)
    exact = open_classifier(str(folder))
    texts = [" ".join(pair) for pair in zip(WORDS, WORDS[::-1], strict=True)]
    wanted = exact.probabilities(texts)
    (folder / "model.onnx").rename(tmp_path / "model.onnx")
    quantize_dynamic(tmp_path / "model.onnx", folder / "model.onnx")
    quantized = open_classifier(str(folder))
    found = quantized.probabilities(texts)
    alone = np.concatenate([quantized.probabilities([text]) for text in texts])
    np.testing.assert_allclose(found, alone, atol=1e-6)
    assert 1e-6 < np.abs(found - wanted).max() < 0.2
