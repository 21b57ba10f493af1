"""Tiny models with weights from a seed, in folders as the libraries write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORDS = [
    "the",
    "a",
    "rain",
    "snow",
    "wind",
    "falls",
    "on",
    "in",
    "over",
    "hill",
    "plain",
    "and",
    "cold",
    "warm",
    "day",
    "night",
    "good",
    "bad",
    "news",
    "long",
    "short",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]
VOCABULARY = [
    *SPECIAL,
    *WORDS,
    *(x for x in LETTERS if x not in WORDS),
    *(f"##{x}" for x in LETTERS),
    *".,!?0123456789",
]
WIDTH, HEADS, INNER, POSITIONS = 32, 2, 64, 48


def tensors(layers: int = 3, seed: int = 5) -> dict[str, np.ndarray]:
    """Weights of a BERT, by the names that the transformers library gives them."""
    random = np.random.default_rng(seed)

    def normal(*shape: int, scale: float) -> np.ndarray:
        return random.normal(0, scale, shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": normal(len(VOCABULARY), WIDTH, scale=0.5),
        "embeddings.position_embeddings.weight": normal(POSITIONS, WIDTH, scale=0.2),
        "embeddings.token_type_embeddings.weight": normal(2, WIDTH, scale=0.1),
    }
    norms = ["embeddings.LayerNorm"]
    for i in range(layers):
        head = f"encoder.layer.{i}."
        for name, (out, into) in {
            "attention.self.query": (WIDTH, WIDTH),
            "attention.self.key": (WIDTH, WIDTH),
            "attention.self.value": (WIDTH, WIDTH),
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (INNER, WIDTH),
            "output.dense": (WIDTH, INNER),
        }.items():
            made[f"{head}{name}.weight"] = normal(out, into, scale=0.25)
            made[f"{head}{name}.bias"] = normal(out, scale=0.1)
        norms += [f"{head}attention.output.LayerNorm", f"{head}output.LayerNorm"]
    for name in norms:
        made[f"{name}.weight"] = 1 + normal(WIDTH, scale=0.1)
        made[f"{name}.bias"] = normal(WIDTH, scale=0.1)
    return made


def write_tokenizer(folder: Path) -> None:
    """Write ``vocab.txt`` and the tokenizer made of it."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415

    (folder / "vocab.txt").write_text("\n".join([*VOCABULARY, ""]), encoding="utf-8")
    made = Tokenizer(models.WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token=SPECIAL[1]))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(SPECIAL)
    made.save(str(folder / "tokenizer.json"))
    said = {"tokenizer_class": "BertTokenizer", "model_max_length": POSITIONS, "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")


def write_bert(folder: Path, *, layers: int = 3, seed: int = 5) -> Path:
    """Write a BERT of some 130 kB."""
    from safetensors.numpy import save_file  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": POSITIONS,
        "model_type": "bert",
        "num_attention_heads": HEADS,
        "num_hidden_layers": layers,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": len(VOCABULARY),
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(tensors(layers, seed), folder / "model.safetensors", {"format": "pt"})
    write_tokenizer(folder)
    return folder


def write_pooling(folder: Path, mode: str = "mean", *, normalize: bool = False) -> Path:
    """Add to a folder what sentence-transformers needs."""
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), *([("2_Normalize", "Normalize")] if normalize else [])]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "sentence_bert_config.json").write_text(
        '{"max_seq_length": 20, "do_lower_case": false}', encoding="utf-8"
    )
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"word_embedding_dimension": WIDTH} | {
        f"pooling_mode_{name}": key == mode
        for key, name in {
            "cls": "cls_token",
            "max": "max_tokens",
            "mean": "mean_tokens",
            "lasttoken": "lasttoken",
        }.items()
    }
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    return folder


def write_onnx(folder: Path, *, layers: int = 3, seed: int = 5) -> Path:
    """Write the network of `write_bert` as an ONNX graph that has the hidden states of each layer."""
    import onnx  # noqa: PLC0415
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_type": "bert", "num_hidden_layers": layers, "max_position_embeddings": POSITIONS}
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": len(VOCABULARY)}), encoding="utf-8")
    write_tokenizer(folder)
    made = tensors(layers, seed)
    nodes, constants = [], [numpy_helper.from_array(value, name) for name, value in made.items()]
    depth = WIDTH // HEADS
    numbers = {"split": [0, 0, HEADS, depth], "whole": [0, 0, WIDTH], "zero": [0], "one": [1], "two": [2]}
    constants += [numpy_helper.from_array(np.array(value, dtype=np.int64), name) for name, value in numbers.items()]
    constants += [
        numpy_helper.from_array(np.float32(value), name) for name, value in (("scale", depth**-0.5), ("far", 1e9))
    ]
    constants += [
        numpy_helper.from_array(np.float32(1), "float-one"),
        numpy_helper.from_array(np.array([1, 2]), "inner"),
    ]
    constants += [numpy_helper.from_array(np.int64(each), f"scalar-{each}") for each in (0, 1)]

    def add(kind: str, *inputs: str, out: str, **attributes: object) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def norm(name: str, value: str, out: str) -> str:
        weights = f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias"
        return add("LayerNormalization", value, *weights, out=out, axis=-1, epsilon=1e-12)

    def dense(name: str, value: str) -> str:
        turned = add("Transpose", f"{name}.weight", out=f"{name}.turned", perm=[1, 0])
        product = add("MatMul", value, turned, out=f"{name}.product")
        return add("Add", product, f"{name}.bias", out=f"{name}.out")

    there = add(
        "Unsqueeze", add("Cast", "attention_mask", out="float-mask", to=TensorProto.FLOAT), "inner", out="wide-mask"
    )
    unseen = add("Mul", add("Sub", there, "float-one", out="minus-unseen"), "far", out="unseen")
    length = add("Gather", add("Shape", "input_ids", out="shape"), "scalar-1", out="length")
    places = add("Range", "scalar-0", length, "scalar-1", out="places")
    words = add("Gather", "embeddings.word_embeddings.weight", "input_ids", out="words")
    positions = add("Gather", "embeddings.position_embeddings.weight", places, out="positions")
    types = add("Gather", "embeddings.token_type_embeddings.weight", "token_type_ids", out="types")
    state = norm("embeddings", add("Sum", words, positions, types, out="sum"), "hidden_states.0")
    for i in range(layers):
        head, last = f"encoder.layer.{i}", f"hidden_states.{i + 1}"
        parts = {}
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            cut = add("Reshape", dense(f"{head}.attention.self.{part}", state), "split", out=f"{head}.{part}.cut")
            parts[part] = add("Transpose", cut, out=f"{head}.{part}", perm=order)
        scores = add("MatMul", parts["query"], parts["key"], out=f"{head}.scores")
        shares = add(
            "Softmax",
            add("Add", add("Mul", scores, "scale", out=f"{head}.scaled"), unseen, out=f"{head}.seen-scores"),
            out=f"{head}.shares",
            axis=-1,
        )
        seen = add("MatMul", shares, parts["value"], out=f"{head}.seen")
        seen = add("Transpose", seen, out=f"{head}.turned", perm=[0, 2, 1, 3])
        seen = dense(f"{head}.attention.output.dense", add("Reshape", seen, "whole", out=f"{head}.whole"))
        state = norm(f"{head}.attention.output", add("Add", seen, state, out=f"{head}.more"), f"{head}.attended")
        inner = add("Gelu", dense(f"{head}.intermediate.dense", state), out=f"{head}.inner")
        outer = dense(f"{head}.output.dense", inner)
        state = norm(f"{head}.output", add("Add", outer, state, out=f"{head}.last"), last)
    add("Identity", state, out="last_hidden_state")

    def described(name: str, kind: int, *shape: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, list(shape))

    inputs = [
        described(name, TensorProto.INT64, "batch", "length")
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    names = [*(f"hidden_states.{i}" for i in range(layers + 1)), "last_hidden_state"]
    outputs = [described(name, TensorProto.FLOAT, "batch", "length", WIDTH) for name in names]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, folder / "model.onnx")
    return folder


def head_tensors(labels: int, seed: int = 5) -> dict[str, np.ndarray]:
    """Weights of a head for sequences, which make numbers far from 0 and from each other."""
    random = np.random.default_rng(100 + seed)
    made = {
        "bert.pooler.dense.weight": random.normal(0, 0.25, (WIDTH, WIDTH)),
        "bert.pooler.dense.bias": random.normal(0, 0.1, WIDTH),
        "classifier.weight": random.normal(0, 0.8, (labels, WIDTH)),
        "classifier.bias": random.normal(0, 0.5, labels),
    }
    return {name: value.astype(np.float32) for name, value in made.items()}


def write_labels(folder: Path, labels: Sequence[str], problem: str | None) -> None:
    """Add to the configuration of a folder what makes it one of a classifier."""
    said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    said |= {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)},
    } | ({"problem_type": problem} if problem else {})
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")


def write_classifier(folder: Path, labels: Sequence[str], problem: str | None = None, *, seed: int = 5) -> Path:
    """Write the network of `write_bert` with a head for labels."""
    from safetensors.numpy import save_file  # noqa: PLC0415

    write_bert(folder, seed=seed)
    write_labels(folder, labels, problem)
    body = {f"bert.{name}": value for name, value in tensors(seed=seed).items()}
    save_file(body | head_tensors(len(labels), seed), folder / "model.safetensors", {"format": "pt"})
    return folder


def write_onnx_classifier(folder: Path, labels: Sequence[str], problem: str | None = None, *, seed: int = 5) -> Path:
    """Write the network of `write_classifier` as an ONNX graph with logits alone."""
    import onnx  # noqa: PLC0415
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

    write_onnx(folder, seed=seed)
    write_labels(folder, labels, problem)
    model = onnx.load(folder / "model.onnx")
    made = head_tensors(len(labels), seed)
    for name, value in made.items():
        turned = value.T.copy() if name.endswith("weight") else value
        model.graph.initializer.append(numpy_helper.from_array(turned, name))
    for kind, inputs, out, attributes in (
        ("Gather", ("last_hidden_state", "scalar-0"), "first", {"axis": 1}),
        ("MatMul", ("first", "bert.pooler.dense.weight"), "pooled-product", {}),
        ("Add", ("pooled-product", "bert.pooler.dense.bias"), "pooled-sum", {}),
        ("Tanh", ("pooled-sum",), "pooled", {}),
        ("MatMul", ("pooled", "classifier.weight"), "product", {}),
        ("Add", ("product", "classifier.bias"), "logits", {}),
    ):
        model.graph.node.append(helper.make_node(kind, list(inputs), [out], **attributes))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(labels)]))
    onnx.save(model, folder / "model.onnx")
    return folder
