"""Folders of models that give each token of a text a vector: what is in them, and the content hash of their files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from postil.encoders import check_no_pickles
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["METADATA", "ModelFiles", "TokenModel", "read_json"]

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
