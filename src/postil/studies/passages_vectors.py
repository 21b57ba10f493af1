"""Word vectors of the study of passages: those that it trains on the collection, and those that it is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput, UsageError
from postil.messages import Command, Message, Setting
from postil.studies.passages_figures import Model
from postil.studies.stages import Stage, as_line, settings_of, words_of
from postil.text.vectors import Vectors
from postil.vectors.calls import VectorTrainingOptions, train_on_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.data.progress import OnMessage
    from postil.metrics.passages.collection import PassageCollection
    from postil.vectors.training import OutputLayer, Word2VecModel

__all__ = ["GIVEN_UNITS", "PAPER", "TRAINED", "Training", "given_vectors", "opened", "vectors_stage"]


@dataclass(frozen=True, slots=True)
class Training:
    """A training of word vectors on the collection.

    Args:
        pairs: True for vectors of pairs of words.
        model: Model of word2vec.
        output: Its output layer.
    """

    pairs: bool
    model: Word2VecModel = "skip-gram"
    output: OutputLayer = "negative"


TRAINED: Final = {"w2v-words": Training(pairs=False), "w2v-pairs": Training(pairs=True)}
"""Word vectors trained on the collection, by name."""

OTHERS: Final[tuple[tuple[Word2VecModel, OutputLayer], ...]] = (
    ("skip-gram", "hierarchical"),
    ("cbow", "negative"),
    ("cbow", "hierarchical"),
)
"""Kinds of word2vec besides the one that stands for the paper's, skip-gram with negative sampling."""

PAPER: Final = {
    name: training
    for main, pairs in (("w2v_c", False), ("w2v_c_bi", True))
    for name, training in (
        (main, Training(pairs)),
        *((f"{main}-{model}-{output}", Training(pairs, model, output)) for model, output in OTHERS),
    )
}
"""Word vectors that the preset of the paper trains; the first of words and of pairs are the paper's measures."""

GIVEN: Final = {"google_news": "w2v_g", "wiki": "w2v_wp_bi"}
"""The paper's names of vectors from elsewhere, and the measures that use them."""

GIVEN_UNITS: Final = {"w2v_g": False, "w2v_wp_bi": True}
"""True if the vectors of a measure are of pairs of words."""

PAIRS: Final = Message(
    "pairs of words ({command})", command=Command("vectors convert", settings=settings_of({"bigrams": True}))
)
"""Units of such vectors, and how they are made."""


def given_vectors(vectors: Mapping[str, str]) -> dict[str, Path]:
    """The given vectors by the paper's names of their measures.

    Args:
        vectors: Folders by name.

    Raises:
        UsageError: Two names mean the same, or one is that of vectors trained here.
        InvalidInput: A folder holds vectors of other units, or none.

    >>> given_vectors({})
    {}
    """
    found: dict[str, Path] = {}
    for given, folder in vectors.items():
        name, setting = GIVEN.get(given, given), Setting("vectors", given)
        if name in found:
            raise UsageError("{setting}: {name} is given twice; name it once", setting=setting, name=name)
        if name in PAPER:
            raise UsageError("{setting}: the study trains vectors of that name; give another", setting=setting)
        if name in GIVEN_UNITS and Vectors.open(folder).bigrams is not GIVEN_UNITS[name]:
            units = PAIRS if GIVEN_UNITS[name] else "words"
            raise InvalidInput(Message("expected vectors of {units} for {name}", units=units, name=name), where=folder)
        found[name] = Path(folder)
    return found


def vectors_stage(
    name: str, passages: Path, folder: Path, options: VectorTrainingOptions, on_message: OnMessage
) -> Stage:
    """The stage that trains word vectors.

    Args:
        name: Their name.
        passages: The collection.
        folder: Output folder.
        options: Training options.
        on_message: Callback for status messages.
    """
    settings = settings_of(
        {
            "tokenizer": options.tokenizer,
            "stop": options.stop,
            "seed": options.seed,
            "bigrams": options.bigrams or None,
            "model": options.model if options.model != "skip-gram" else None,
            "output": options.output if options.output != "negative" else None,
        }
    )
    return Stage(
        name=name,
        outputs=[folder],
        inputs=[passages],
        request={"flags": words_of(settings)},
        command=as_line(Command("vectors train", (str(passages),), (*settings_of({"out": folder}), *settings))),
        work=lambda: train_on_file(str(passages), str(folder), options, on_message),
    )


def opened(name: str, folder: Path, collection: PassageCollection | None = None) -> Model:
    """Describe word vectors.

    Args:
        name: Their name.
        folder: Their folder.
        collection: Passages of which the units without a vector are counted; None to leave that out.
    """
    vectors = Vectors.open(folder)
    return Model(
        name,
        f"cosine(vectors={folder})",
        len(vectors),
        pairs=vectors.bigrams,
        made=str(vectors.metadata.get("spec", "")),
        unknown=None if collection is None else collection.vector_sums(vectors).unknown,
    )
