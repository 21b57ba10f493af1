"""Contextual encoders: a vector for each token of a text, from one layer of a network in a local folder.

Networks are ONNX graphs, and those of transformers.
"""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from postil.data.artifacts import read_object
from postil.encoders.base import Encoded, check_no_pickles, distinct_raw_texts, model_folder, open_once
from postil.errors import InvalidInput, UsageError, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import torch
    import transformers
    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

__all__ = [
    "EXTRA",
    "METADATA",
    "ContextualEncoder",
    "ModelFiles",
    "OnnxModel",
    "TokenLists",
    "TokenModel",
    "TransformersModel",
    "contextual_encoder",
    "one_thread",
]

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


LAST: Final = "last_hidden_state"
PADDED: Final = frozenset({"camembert", "mpnet", "roberta", "xlm-roberta"})
"""Kinds whose positions begin after that of padding."""


class OnnxModel:
    """An ONNX graph; see `postil.encoders.contextual.TokenModel`.

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
    return min(most, _whole_number(read_object(said).get("model_max_length"), 2**31) if said.is_file() else 2**31)


def _whole_number(value: object, default: int, most: int = 2**31) -> int:
    return value if isinstance(value, int) and 0 < value < most else default


ENOUGH: Final = {"cpu": 1024, "cuda": 16384}
"""Number of tokens in a batch, from which on more make nothing faster."""


class TransformersModel:
    """The first layers of a network; see `postil.encoders.contextual.TokenModel`.

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


EXTRA: Final = "neural"
NARROW: Final = 64
"""Smallest number of tokens in a batch; a shorter one is filled up. Libraries multiply fewer rows by other code, whose
last bits differ."""
REMEMBERED: Final = 1 << 28
"""Bytes of vectors of texts that are remembered, so that a text is not encoded again for the next batch or control."""
IN_MEMORY: Final = 1 << 30
"""Bytes of vectors above which those of many texts are in a temporary file, of which the system reads what is used."""


@dataclass(frozen=True, eq=False, slots=True)
class TokenLists:
    """Texts as token ids.

    Args:
        ids: Token ids of each of n texts with the special ones.
        truncated: bool[n], True for texts that had more tokens.
    """

    ids: list[list[int]]
    truncated: NDArray[np.bool_]


class ContextualEncoder:
    """Vectors of length 1 for the tokens of texts, special tokens included; an `Encoder`.

    A text is stripped of white space at both ends and cut at the longest that the model takes. It is padded to a number
    of tokens that depends on the text alone, and batches hold texts of one such number and at least `NARROW` tokens, so
    that the vectors of a text are the same to the last bit whatever is encoded with it; on a GPU they are within
    rounding of single precision.

    Args:
        model: The network and its tokenizer.
        name: Name of the model in signatures, by its content.
        layer: Number of layers that are run.
        where: Folder of the model, for messages.
        single: Context in which the calling thread calculates alone; by default none is needed.

    >>> class Letters:
    ...     longest, rows, wide, step, padding = 4, 128, 256, 1, 0
    ...
    ...     def tokenize(self, texts, longest):
    ...         return [[1, *map(ord, text)][:longest] for text in texts]
    ...
    ...     def vectors(self, ids, mask):
    ...         return np.stack([ids, np.zeros_like(ids)], axis=2).astype(np.float32)
    >>> from postil.text.tokens import Vocabulary
    >>> encoded = ContextualEncoder(Letters(), "letters", 1).encode(Vocabulary().encode_tokens([["ab"], ["a"], ["ab"]]))
    >>> encoded.texts.tolist(), encoded.ids.tolist(), encoded.special.tolist(), encoded.vectors[1].tolist()
    ([0, 1, 0], [1, 97, 98, 1, 97], [True, False, False, True, False], [1.0, 0.0])
    """

    reads_tokens = False

    def __init__(
        self,
        model: TokenModel,
        name: str,
        layer: int,
        *,
        where: str = "model",
        single: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._model = model
        self.name = name
        self.layer = layer
        self._where = where
        self._single = single
        self._remembered: dict[tuple[str, int], NDArray[np.float32]] = {}
        self._bytes = 0

    @property
    def signature(self) -> str:
        """See `Encoder.signature`."""
        return f"{self.name}-layer-{self.layer}"

    @cached_property
    def special(self) -> NDArray[np.int64]:
        """Ids of the special tokens that the model adds to a text: those of an empty one."""
        return np.unique(np.asarray(self._model.tokenize([""], self._model.longest)[0], dtype=np.int64))

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, d."""
        with self._single():
            one = np.zeros((1, 1), dtype=np.int64)
            return int(self._model.vectors(one, one + 1).shape[2])

    def encode(self, texts: Tokens, jobs: int = 1) -> Encoded:
        """See `Encoder.encode`.

        Raises:
            InvalidInput: The tokenizer has ids that the network does not know, or its numbers are not finite.
        """
        distinct, index = distinct_raw_texts(texts)
        tokens = self.tokenize(distinct)
        offsets = np.cumsum([0, *map(len, tokens.ids)], dtype=np.int64)
        vectors = _array(int(offsets[-1]), self.dimensions)
        for i, states in self.states(distinct, tokens, jobs):
            vectors[offsets[i] : offsets[i + 1]] = _of_length_one(states)
        ids = np.fromiter(chain.from_iterable(tokens.ids), np.int64, len(vectors))
        return Encoded(
            index,
            offsets,
            np.arange(len(ids), dtype=np.int32),
            ids,
            vectors,
            np.zeros(len(distinct), np.int64),
            np.isin(ids, self.special),
            tokens.truncated,
        )

    def tokenize(self, texts: Sequence[str], longest: int | None = None) -> TokenLists:
        """Token ids of texts.

        Args:
            texts: n raw texts.
            longest: Largest number of tokens of a text, where it is less than the model's.

        Raises:
            InvalidInput: The tokenizer has an id that the network does not know.
        """
        stripped = [text.strip() for text in texts]
        longest = min(self._model.longest, longest or self._model.longest)
        ids = self._model.tokenize(stripped, longest)
        most = max((max(each, default=0) for each in ids), default=0)
        if most >= self._model.rows:
            problem = f"the tokenizer has the id {most}, the network knows {self._model.rows}; are they of one model?"
            raise InvalidInput(problem, where=self._where)
        truncated = np.array([len(each) == longest for each in ids], dtype=np.bool_)
        full = np.flatnonzero(truncated)
        again = self._model.tokenize([stripped[i] for i in full.tolist()], longest + 1)
        truncated[full] = [len(each) > longest for each in again]
        return TokenLists(ids, truncated)

    def states(
        self, texts: Sequence[str], tokens: TokenLists, jobs: int = 1
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Compute the hidden states of texts.

        Args:
            texts: n distinct raw texts.
            tokens: The same as token ids.
            jobs: Number of threads; the result does not depend on it.

        Yields:
            The index of each text that has tokens, in any order, and its states, float32[l, d].

        Raises:
            InvalidInput: They are not finite.
        """
        new = []
        keys = [(text.strip(), len(ids)) for text, ids in zip(texts, tokens.ids, strict=True)]
        for i, ids in enumerate(tokens.ids):
            known = self._remembered.get(keys[i])
            if known is not None:
                yield i, known
            elif ids:
                new.append(i)
        batches = list(_batches({i: self._padded(len(tokens.ids[i])) for i in new}, self._model.wide))
        run = partial(self._run, tokens.ids)
        with self._single(), ThreadPoolExecutor(max(1, jobs)) as pool:
            for places, states in zip(batches, (pool.map if jobs > 1 else map)(run, batches), strict=True):
                for i, padded in zip(places, states, strict=False):  # copies fill the batch up
                    found = padded[: len(tokens.ids[i])]
                    if not np.isfinite(found).all():
                        problem = "the network gives numbers that are not finite; was the folder copied whole?"
                        raise InvalidInput(problem, where=self._where)
                    self._remember(keys[i], found)
                    yield i, found

    def _padded(self, tokens: int) -> int:
        """Number of tokens that a text is padded to."""
        return min(-(-tokens // self._model.step) * self._model.step, max(tokens, self._model.longest))

    def _run(self, ids: list[list[int]], places: list[int]) -> NDArray[np.float32]:
        length = self._padded(len(ids[places[0]]))
        rows = np.full((max(len(places), -(-NARROW // length)), length), self._model.padding, dtype=np.int64)
        mask = np.zeros_like(rows)
        for row, place in enumerate(places):
            rows[row, : len(ids[place])] = ids[place]
            mask[row, : len(ids[place])] = 1
        rows[len(places) :], mask[len(places) :] = rows[0], mask[0]
        with self._single():
            return self._model.vectors(rows, mask)

    def _remember(self, key: tuple[str, int], states: NDArray[np.float32]) -> None:
        if states.nbytes > REMEMBERED or key in self._remembered:
            return
        self._bytes += states.nbytes
        while self._bytes > REMEMBERED:
            oldest = next(iter(self._remembered))
            self._bytes -= self._remembered.pop(oldest).nbytes
        self._remembered[key] = states.copy()


def contextual_encoder(folder: str, layer: int | None = None) -> ContextualEncoder:
    """Open the model of a local folder; the same one is opened once.

    Args:
        folder: A folder of the transformers library with safetensors, or one with ``model.onnx`` and
            ``tokenizer.json``. Nothing is downloaded.
        layer: Number of layers to run; by default ``layer`` of its ``metadata.json``.

    Raises:
        UsageError: There is no such folder, or it has fewer layers; or no layer is named.
        InvalidInput: The folder holds no model, one that is pickled, or parts that do not fit together.
        MissingExtra: The library that runs it is not installed.
    """
    files = ModelFiles.find(model_folder(folder, "a model"))
    return open_once(files.folder, _Layers(files.layer(layer)))


@dataclass(frozen=True, slots=True)
class _Layers:
    """Function that opens the first layers of a model; equal ones find it open."""

    layer: int

    def __call__(self, folder: Path) -> ContextualEncoder:
        files = ModelFiles.find(folder)
        model: TokenModel
        single: Callable[[], AbstractContextManager[None]] = nullcontext
        with needs(f"the model in {files.folder}", EXTRA):
            if files.graph is not None:
                model = OnnxModel(files, self.layer)
            else:
                model, single = TransformersModel(files, self.layer), one_thread
        return ContextualEncoder(model, files.signature, self.layer, where=str(folder), single=single)


def _batches(lengths: Mapping[int, int], wide: int) -> Iterator[list[int]]:
    """Texts of one padded length, of about `wide` tokens together."""
    by_length: dict[int, list[int]] = {}
    for place, length in lengths.items():
        by_length.setdefault(length, []).append(place)
    for length, places in sorted(by_length.items()):
        size = -(-wide // length)
        for begin in range(0, len(places), size):
            yield places[begin : begin + size]


def _of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors of length 1; one of zeros stays so."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(vectors * scale, dtype=np.float32)


def _array(rows: int, width: int) -> NDArray[np.float32]:
    """An array to fill, in memory or, if it is large, in a file that is gone when nothing uses it."""
    if rows * width * 4 <= IN_MEMORY:
        return np.empty((rows, width), dtype=np.float32)
    with tempfile.TemporaryFile(prefix="postil-vectors-") as file:
        return np.memmap(file, np.float32, "w+", shape=(rows, width))
