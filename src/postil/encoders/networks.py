"""Networks in local folders, opened by the libraries that run them: ONNX graphs, and those of transformers.

Only safetensors and graphs are read, no code of a folder runs, and nothing is downloaded.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from postil.encoders.model_files import UNLIMITED, whole_number
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import torch
    import transformers
    from numpy.typing import NDArray

    from postil.encoders.model_files import ModelFiles

    Loader: TypeAlias = Literal["AutoModel", "AutoModelForSequenceClassification"]

__all__ = ["EXTRA", "OnnxNetwork", "TransformersNetwork", "one_thread"]

EXTRA: Final = "neural"


class OnnxNetwork:
    """An ONNX graph, and the tokenizer beside it.

    Args:
        files: Files of the model.

    Raises:
        InvalidInput: The graph or the tokenizer cannot be read, or the graph asks for more than token ids.
    """

    wide = 1024

    def __init__(self, files: ModelFiles) -> None:
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
        self.outputs = [each.name for each in self._session.get_outputs()]
        self.inputs = {each.name: each.shape for each in self._session.get_inputs()}
        unknown = set(self.inputs) - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise InvalidInput(f"asks for the input {min(unknown)}, which is not known", where=str(files.graph))
        self.step = 8 if "attention_mask" in self.inputs else 1
        self.padding = whole_number(files.config.get("pad_token_id"), 0)
        self.rows = whole_number(files.config.get("vocab_size"), UNLIMITED)
        self.longest = files.longest

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """See `TokenReader.tokenize`."""
        self._tokenizer.enable_truncation(longest)
        return [each.ids for each in self._tokenizer.encode_batch_fast(list(texts))]

    @property
    def has_segments(self) -> bool:
        """True if tokens of a single text are in segments besides the first, which the graph is not told."""
        return any(self._tokenizer.encode("a").type_ids)

    def run(self, output: str, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """An output of the graph for b texts, with b rows.

        Args:
            output: Its name.
            ids: int64[b, l], padded at the end.
            mask: int64[b, l], 1 for tokens and 0 for padding.
        """
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        given = {name: known[name] for name in self.inputs}
        return np.asarray(self._session.run([output], given)[0], dtype=np.float32)


ENOUGH: Final = {"cpu": 1024, "cuda": 16384}
"""Number of tokens in a batch, from which on more make nothing faster."""


class TransformersNetwork:
    """A network of the transformers library, and its tokenizer. It runs on a GPU if there is one.

    Args:
        files: Files of the model.
        loader: Class of the library that reads it: without a head, or with one of labels.
        layers: Number of layers to run; None for all. What the architecture applies after its last layer (some have a
            norm there) is applied after these.

    Raises:
        InvalidInput: The files are no model or no tokenizer that the library knows, or do not fit together.
    """

    step = 8

    def __init__(self, files: ModelFiles, loader: Loader, layers: int | None = None) -> None:
        import torch  # noqa: PLC0415 - heavy, and part of an extra, as below
        import transformers  # noqa: PLC0415

        folder = files.folder
        with _quiet(), _reading(folder):
            self.config = transformers.AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            if layers is not None:
                _keep_layers(self.config, layers)
            network, report = getattr(transformers, loader).from_pretrained(
                folder,
                config=self.config,
                dtype=torch.float32,
                ignore_mismatched_sizes=True,  # they are reported, and refused below
                local_files_only=True,
                output_loading_info=True,
                trust_remote_code=False,
                use_safetensors=True,
            )
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        has_head = loader != "AutoModel"
        labels = self.config.num_labels if has_head else 0
        _check_shapes(report["mismatched_keys"], folder, labels)
        missing = sorted(name for name in report["missing_keys"] if has_head or "pooler." not in name)
        if missing:
            problem = f"tensor {missing[0]} is missing ({len(missing)} in all); are these weights of that config.json?"
            raise InvalidInput(problem, where=str(folder))
        is_part = self.config.is_encoder_decoder and not has_head
        self._network = (network.get_encoder() if is_part else network).eval()
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._network.to(self._device)
        self.rows = int(network.get_input_embeddings().num_embeddings)
        self.longest = min(int(min(self._tokenizer.model_max_length, UNLIMITED)), _positions(network, self.config))
        self.wide = ENOUGH[self._device.type]
        self.padding = int(getattr(self._tokenizer, "pad_token_id", None) or 0)

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """See `TokenReader.tokenize`."""
        if not texts:
            return []
        with _quiet():
            ids: list[list[int]] = self._tokenizer(
                list(texts), truncation=True, max_length=longest, return_attention_mask=False, verbose=False
            )["input_ids"]
        return ids

    @property
    def has_segments(self) -> bool:
        """True if tokens of a single text are in segments besides the first, which the network is not told."""
        return any(self._tokenizer("a", return_token_type_ids=True)["token_type_ids"])

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """The first output of the network for b texts, with b rows.

        Args:
            ids: int64[b, l], padded at the end.
            mask: int64[b, l], 1 for tokens and 0 for padding.
        """
        import torch  # noqa: PLC0415

        given, there = (torch.from_numpy(each).to(self._device) for each in (ids, mask))
        with torch.inference_mode():
            states = self._network(input_ids=given, attention_mask=there)[0]
        found: NDArray[np.float32] = states.float().cpu().numpy()
        return found


def _check_shapes(differing: Collection[tuple[str, Sequence[int], Sequence[int]]], folder: Path, labels: int) -> None:
    """Refuse weights in place of which the library would take random numbers.

    Args:
        differing: Tensors of another shape than the configuration's: their name, their shape, and that.
        folder: Folder of the model.
        labels: Number of labels in the configuration; 0 for a network without them.
    """
    for name, found, wanted in sorted(differing):
        shapes = f"tensor {name} has the shape {tuple(found)}, expected {tuple(wanted)}"
        why = (
            f"for the {labels} labels of id2label in config.json"
            if tuple(wanted[:1]) == (labels,)
            else "by config.json"
        )
        raise InvalidInput(f"{shapes} {why}", where=str(folder))


def _keep_layers(config: transformers.PretrainedConfig, layers: int) -> None:
    config.num_hidden_layers = layers
    if isinstance(getattr(config, "layer_types", None), list):
        config.layer_types = config.layer_types[:layers]


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
