"""Files of a model in a local folder: its network, as safetensors or an ONNX graph, and its tokenizer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.data.artifacts import read_object
from postil.encoders.base import check_no_pickles
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["CONFIG", "METADATA", "UNLIMITED", "ModelFiles", "whole_number"]

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
READ: Final = ("*.json", "*.txt", "*.model", "*.codes")
"""Files besides the weights that a library may read: settings, tables of tokens, the index of weights in parts."""
PADDED: Final = frozenset({"camembert", "mpnet", "roberta", "xlm-roberta"})
"""Kinds whose positions begin after that of padding."""
UNLIMITED: Final = 2**31
"""Number of tokens of a text where the files say none."""


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
        return cls(folder, read_object(folder / CONFIG), weights, graph)

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
            layer = read_object(self.folder / METADATA).get("layer")
        layers = f"the model in {self.folder} has {self.layers} layers"
        if layer is None:
            raise UsageError(
                f"layer: expected a number, as no layer is the best of all models; {layers}: 0 to {self.layers}"
            )
        if not isinstance(layer, int) or isinstance(layer, bool) or not 0 <= layer <= self.layers:
            raise UsageError(f"layer: expected 0 to {self.layers}, got {layer}; {layers}")
        return layer

    @property
    def longest(self) -> int:
        """Largest number of tokens of a text, special ones included, as the files say it."""
        most = whole_number(self.config.get("max_position_embeddings"), UNLIMITED)
        if self.config.get("model_type") in PADDED:
            most -= whole_number(self.config.get("pad_token_id"), 1) + 1
        said = self.folder / "tokenizer_config.json"
        return min(most, whole_number(read_object(said).get("model_max_length"), UNLIMITED)) if said.is_file() else most

    def by_name(self) -> dict[str, Path]:
        """Files by their name in the folder, those that opening a copy reads."""
        found = {*self.weights, *(path for name in READ for path in self.folder.glob(name) if path.is_file())}
        return {path.relative_to(self.folder).as_posix(): path for path in sorted(found)}

    @property
    def signature(self) -> str:
        """Kind of the network and hashes of the model's and the tokenizer's files.

        Raises:
            InvalidInput: A file cannot be read.
        """
        tokenizer = sorted({path for name in OF_TOKENIZER for path in self.folder.glob(name)})
        kind = "onnx" if self.graph else str(self.config.get("model_type", "model"))
        return f"{kind}-{_hash((self.folder / CONFIG, *self.weights))}-{_hash(tokenizer)}"


def _hash(paths: Sequence[Path]) -> str:
    """12 hexadecimal digits of the SHA-256 of files and their names."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            digest.update(f"{path.name}:{path.stat().st_size}:".encode())
            with path.open("rb") as stream:
                hashlib.file_digest(stream, lambda: digest)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error}", where=str(path)) from error
    return digest.hexdigest()[:12]


def whole_number(value: object, default: int) -> int:
    """A positive number of a file, or the default where it has none or one without meaning.

    Args:
        value: Value in the file.
        default: The number instead.

    >>> whole_number(512, 0), whole_number(None, 0), whole_number(10**30, UNLIMITED)
    (512, 0, 2147483648)
    """
    return value if isinstance(value, int) and 0 < value < UNLIMITED else default
