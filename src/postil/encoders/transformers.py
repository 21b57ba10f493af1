"""Networks of the transformers library in local folders, with the tokenizer beside them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import torch
    import transformers
    from numpy.typing import NDArray

    from postil.encoders.token_models import ModelFiles

__all__ = ["TransformersModel", "one_thread"]

ENOUGH: Final = {"cpu": 1024, "cuda": 16384}
"""Number of tokens in a batch, from which on more make nothing faster."""


class TransformersModel:
    """The first layers of a network; see `postil.encoders.token_models.TokenModel`.

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
