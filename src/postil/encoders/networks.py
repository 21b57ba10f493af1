"""Networks in local folders that give each token of a text a vector: ONNX graphs, and those of transformers."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from postil.encoders.base import check_no_pickles
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import torch
    import transformers
    from numpy.typing import NDArray

__all__ = ["METADATA", "ModelFiles", "OnnxModel", "TokenModel", "TransformersModel", "one_thread", "read_json"]

CONFIG: Final = "config.json"
METADATA: Final = "metadata.json"
GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""Files of which a tokenizer has at least one."""
OF_TOKENIZER: Final = (
    *TOKENIZERS,
    "added_tokens.json",
    "merges.txt",
    "special_tokens_map.json",
    "tokenizer_config.json",
)
BLOCK: Final = 1 << 22


class TokenModel(Protocol):
    """A tokenizer, and the layers of a network that are run on its tokens."""

    longest: int
    """Largest number of tokens of a text, special ones included."""
    rows: int
    """Number of token ids that the network knows."""
    wide: int
    """Number of tokens that are run together where many texts have one padded length."""
    step: int
    """Texts are padded to a multiple of this number of tokens; 1 where the network takes no mask."""
    padding: int
    """Token id of padding."""

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """Token ids of texts with the special tokens, cut to the largest number.

        Args:
            texts: The texts.
            longest: Largest number of tokens of a text, special ones included.
        """

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Hidden states of b texts, float32[b, l, d].

        Args:
            ids: int64[b, l], padded at the end.
            mask: int64[b, l], 1 for tokens and 0 for padding.
        """


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Files of a model in a local folder.

    Args:
        folder: The folder.
        config: Content of ``config.json``.
        weights: Files with the weights, ``*.safetensors``; or the one ONNX graph and its data.
        graph: The ONNX graph; None where the weights are in safetensors files.
    """

    folder: Path
    config: dict[str, object]
    weights: tuple[Path, ...]
    graph: Path | None = None

    @classmethod
    def find(cls, folder: Path) -> ModelFiles:
        """Find the files of a folder.

        Args:
            folder: The folder.

        Raises:
            InvalidInput: It holds no model, one whose weights are a pickle, or no tokenizer.
        """
        weights = tuple(sorted(folder.glob("*.safetensors")))
        graph = None if weights else next((folder / name for name in GRAPHS if (folder / name).is_file()), None)
        if graph is not None:
            weights = tuple(sorted(each for each in graph.parent.glob(f"{graph.name}*") if each.is_file()))
        if not weights:
            check_no_pickles(folder, "*.safetensors or model.onnx")
            raise InvalidInput("no model here: neither *.safetensors nor model.onnx", where=str(folder))
        wanted = TOKENIZERS if graph is None else TOKENIZERS[:1]
        if not any(any(folder.glob(name)) for name in wanted):
            raise InvalidInput(f"no tokenizer here: expected {' or '.join(wanted)}", where=str(folder))
        return cls(folder, read_json(folder / CONFIG), weights, graph)

    @property
    def layers(self) -> int:
        """Number of layers of the network.

        Raises:
            InvalidInput: ``config.json`` does not say it.
        """
        for key in ("num_hidden_layers", "n_layers", "n_layer", "encoder_layers", "num_layers"):
            value = self.config.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        raise InvalidInput("num_hidden_layers: expected the number of layers", where=str(self.folder / CONFIG))

    def layer(self, asked: int | None) -> int:
        """The layer that was asked for, by default the one that ``metadata.json`` names.

        Args:
            asked: Number of layers to run, or None.

        Raises:
            UsageError: The network has fewer layers; or none was asked for, and the folder names none.
        """
        layer: object = asked
        if asked is None and (self.folder / METADATA).is_file():
            layer = read_json(self.folder / METADATA).get("layer")
        layers = f"the model in {self.folder} has {self.layers} layers"
        if layer is None:
            raise UsageError(
                f"layer: expected a number, as no layer is the best of all models; {layers}: 0 to {self.layers}"
            )
        if not isinstance(layer, int) or isinstance(layer, bool) or not 0 <= layer <= self.layers:
            raise UsageError(f"layer: expected 0 to {self.layers}, got {layer}; {layers}")
        return layer

    @property
    def signature(self) -> str:
        """Kind of the network and hashes of the model's and the tokenizer's files.

        Raises:
            InvalidInput: A file cannot be read.
        """
        tokenizer = sorted({path for name in OF_TOKENIZER for path in self.folder.glob(name)})
        kind = "onnx" if self.graph else str(self.config.get("model_type", "model"))
        return f"{kind}-{_hash((self.folder / CONFIG, *self.weights))}-{_hash(tokenizer)}"


def read_json(path: Path) -> dict[str, object]:
    """Read a JSON object of a model's folder.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is missing or no JSON object.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(f"no model here: {path.name} is missing", where=str(path.parent)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"not readable JSON: {error}", where=str(path)) from error
    if not isinstance(found, dict):
        raise InvalidInput(f"expected a JSON object, got {type(found).__name__}", where=str(path))
    return found


def _hash(paths: Sequence[Path]) -> str:
    """12 hexadecimal digits of the SHA-256 of files and their names."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            digest.update(f"{path.name}:{path.stat().st_size}:".encode())
            with path.open("rb") as stream:
                while block := stream.read(BLOCK):
                    digest.update(block)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error}", where=str(path)) from error
    return digest.hexdigest()[:12]


LAST: Final = "last_hidden_state"
PADDED: Final = frozenset({"camembert", "mpnet", "roberta", "xlm-roberta"})
"""Kinds whose positions begin after that of padding."""


class OnnxModel:
    """An ONNX graph; see `postil.encoders.networks.TokenModel`.

    The hidden states of layer N are the output ``hidden_states.N``, those of the last layer ``last_hidden_state``; only
    what an output needs is run.

    Args:
        files: Files of the model.
        layer: The layer.

    Raises:
        InvalidInput: The graph or the tokenizer cannot be read, or the graph asks for more than token ids.
        UsageError: The graph has no output for the layer.
    """

    wide = 1024

    def __init__(self, files: ModelFiles, layer: int) -> None:
        import onnxruntime  # noqa: PLC0415 - heavy, and part of an extra
        import tokenizers  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                str(files.graph), options, onnxruntime.get_available_providers()
            )
        except Exception as error:
            problem = f"not a graph that onnxruntime {onnxruntime.__version__} reads: {str(error).splitlines()[0]}"
            raise InvalidInput(problem, where=str(files.graph)) from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(files.folder / "tokenizer.json"))
        except Exception as error:
            problem = f"not a tokenizer: {error}"
            raise InvalidInput(problem, where=str(files.folder / "tokenizer.json")) from error
        self._tokenizer.no_padding()
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = f"hidden_states.{layer}" if f"hidden_states.{layer}" in outputs else LAST
        if self._output not in outputs or (self._output == LAST and layer != files.layers):
            problem = f"layer {layer}: {files.graph} has no output hidden_states.{layer}, only {', '.join(outputs)}"
            raise UsageError(problem)
        self._inputs = [each.name for each in self._session.get_inputs()]
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise InvalidInput(f"asks for the input {min(unknown)}, which is not known", where=str(files.graph))
        self.step = 8 if "attention_mask" in self._inputs else 1
        self.padding = _whole_number(files.config.get("pad_token_id"), 0)
        self.rows = _whole_number(files.config.get("vocab_size"), 2**31)
        self.longest = _longest(files)

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """See `TokenModel.tokenize`."""
        self._tokenizer.enable_truncation(longest)
        return [each.ids for each in self._tokenizer.encode_batch_fast(list(texts))]

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `TokenModel.vectors`."""
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        given = {name: known[name] for name in self._inputs}
        return np.asarray(self._session.run([self._output], given)[0], dtype=np.float32)


def _longest(files: ModelFiles) -> int:
    """Largest number of tokens of a text, as the files say it."""
    most = _whole_number(files.config.get("max_position_embeddings"), 2**31)
    if files.config.get("model_type") in PADDED:
        most -= _whole_number(files.config.get("pad_token_id"), 1) + 1
    said = files.folder / "tokenizer_config.json"
    return min(most, _whole_number(read_json(said).get("model_max_length"), 2**31) if said.is_file() else 2**31)


def _whole_number(value: object, default: int, most: int = 2**31) -> int:
    return value if isinstance(value, int) and 0 < value < most else default


ENOUGH: Final = {"cpu": 1024, "cuda": 16384}
"""Number of tokens in a batch, from which on more make nothing faster."""


class TransformersModel:
    """The first layers of a network; see `postil.encoders.networks.TokenModel`.

    Only safetensors are read, no code of the folder runs, and nothing is downloaded. It runs on a GPU if there is one.

    Args:
        files: Files of the model.
        layer: Number of layers to run. What the architecture applies after its last layer (some have a norm there) is
            applied after these.

    Raises:
        InvalidInput: The files are no model or no tokenizer that the library knows, or do not fit together.
    """

    step = 8

    def __init__(self, files: ModelFiles, layer: int) -> None:
        import torch  # noqa: PLC0415 - heavy, and part of an extra, as below
        import transformers  # noqa: PLC0415

        folder = files.folder
        with _quiet(), _reading(folder):
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            config.num_hidden_layers = layer
            if isinstance(getattr(config, "layer_types", None), list):
                config.layer_types = config.layer_types[:layer]
            network, report = transformers.AutoModel.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                local_files_only=True,
                output_loading_info=True,
                trust_remote_code=False,
                use_safetensors=True,
            )
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        missing = sorted(name for name in report["missing_keys"] if "pooler." not in name)
        if missing:
            problem = f"tensor {missing[0]} is missing ({len(missing)} in all); are these weights of that config.json?"
            raise InvalidInput(problem, where=str(folder))
        self._network = (network.get_encoder() if config.is_encoder_decoder else network).eval()
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._network.to(self._device)
        self.rows = int(network.get_input_embeddings().num_embeddings)
        self.longest = min(int(min(self._tokenizer.model_max_length, 2**31)), _positions(network, config))
        self.wide = ENOUGH[self._device.type]
        self.padding = int(getattr(self._tokenizer, "pad_token_id", None) or 0)

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """See `TokenModel.tokenize`."""
        if not texts:
            return []
        with _quiet():
            ids: list[list[int]] = self._tokenizer(
                list(texts), truncation=True, max_length=longest, return_attention_mask=False, verbose=False
            )["input_ids"]
        return ids

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `TokenModel.vectors`."""
        import torch  # noqa: PLC0415

        given, there = (torch.from_numpy(each).to(self._device) for each in (ids, mask))
        with torch.inference_mode():
            states = self._network(input_ids=given, attention_mask=there)[0]
        found: NDArray[np.float32] = states.float().cpu().numpy()
        return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch calculate with the thread that calls it, so that sums do not depend on the number of cores."""
    import torch  # noqa: PLC0415

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _positions(network: torch.nn.Module, config: transformers.PretrainedConfig) -> int:
    """Largest number of tokens that have positions; those of RoBERTa begin after that of padding."""
    import torch  # noqa: PLC0415

    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    most = getattr(config, "max_position_embeddings", None)
    return most if isinstance(most, int) and most > 0 else 2**31


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's reports and progress bars from standard error; what matters is checked here."""
    from transformers.utils import logging  # noqa: PLC0415

    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Report what the library raises, which may be any error, as a problem of the folder."""
    import transformers  # noqa: PLC0415

    try:
        yield
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[0] if lines else type(error).__name__
        raise InvalidInput(
            f"transformers {transformers.__version__} cannot read it: {said}", where=str(folder)
        ) from error
