"""Networks as ONNX graphs, with ``tokenizer.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.encoders.token_models import read_json
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.encoders.token_models import ModelFiles

__all__ = ["OnnxModel"]

LAST: Final = "last_hidden_state"
PADDED: Final = frozenset({"camembert", "mpnet", "roberta", "xlm-roberta"})
"""Kinds whose positions begin after that of padding."""


class OnnxModel:
    """An ONNX graph; see `postil.encoders.token_models.TokenModel`.

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
