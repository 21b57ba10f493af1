"""Change folders of every kind at random and use them: each has to be refused, or answer well.

python tools/fuzz_folders.py [--minutes 10] [--seed N] [--only KIND ...] [--trials N]

Each trial runs in a child process, so that a crash is found and its seed is told; `make sanitize` runs all of it with a
kernel that is built with AddressSanitizer and UndefinedBehaviorSanitizer. A trial passes where a `PostilError` says
what is wrong, where the answer is that of the unchanged folder, or where it is well-formed: finite scores, documents
that there are. (What was changed within its range, such as how often a word comes, only the hashes of a folder tell.)
The kernel's functions are called with numbers that cannot be as well; they may raise a ValueError, TypeError or
MemoryError.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import postil
from postil import kernel
from postil.combination.model import ColumnConfig, CombinationConfig, encoded, open_combination, save
from postil.comments.candidate_pool import CandidatePool, save_retriever
from postil.comments.feature_ranker import FeatureModel, FeatureRanker, RelevanceFeatures, TextVectors, person_ids
from postil.comments.index import Index
from postil.comments.rankers import CommentTexts
from postil.comments.retrieval import Retriever
from postil.comments.text_arrays import StringArray
from postil.corpus.store import Corpus
from postil.data.model_folders import ModelWriter, checksum
from postil.data.rows import Article, Comment
from postil.encoders.static import open_static
from postil.errors import PostilError
from postil.interest.model import named, open_model, page_scores, save_model
from postil.learners.boosting import Tree, Trees
from postil.learners.linear import Logistic
from postil.meta.grade_fits import isotonic_fit, ridge_fit
from postil.metrics.background import DocumentFrequencies
from postil.metrics.references import References
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

REFUSED, SAME, OTHER, FOUND = 0, 10, 11, 12
SECONDS = 120
"""A trial that takes longer hangs."""
CALLS = 50
"""Calls of the kernel in one trial."""
native: Any = kernel  # takes what its types do not allow
WORDS = [f"w{number}" for number in range(40)]


class Wrong(Exception):  # noqa: N818 - says what is wrong
    """An answer that is not well-formed."""


def require(right: object, what: str) -> None:
    """See to something about an answer."""
    if not right:
        raise Wrong(what)


@dataclass(frozen=True)
class Kind:
    """A kind of folder.

    Args:
        make: Makes one.
        use: Opens it and gives an answer.
        reseal: Makes what the folder says of its own files fit them again.
    """

    make: Callable[[Path], object]
    use: Callable[[Path], object]
    reseal: Callable[[Path], object]


def articles(count: int = 70) -> list[Article]:
    """Articles of random words, with comments."""
    draw = random.Random(1)  # noqa: S311 - no secret

    def text(most: int) -> str:
        return " ".join(draw.choices(WORDS, weights=range(1, len(WORDS) + 1), k=draw.randint(1, most)))

    return [
        Article(f"a{n}", text(9), tuple(Comment(f"c{n}-{place}", text(12)) for place in range(3)), text(30), lang="en")
        for n in range(count)
    ]


def make_retriever(folder: Path, *, ranker: str, form: str = "two-tower", weighting: Any = "tf-idf") -> None:
    """Make a retriever with an untrained network."""
    some, words, cut = articles(), Vocabulary(), tokenizer("words")
    texts = words.encode([one.title for one in some], cut)
    comments = [comment for one in some for comment in one.comments]
    said = words.encode([comment.text for comment in comments], cut)
    pool = CandidatePool.of(some)
    config = {"tokenizer": "words", "neighbors": 5, "weighting": weighting, "idf": "smooth", "ranker": ranker}
    index = Index.of(texts.ids, texts.offsets, len(words), weighting=weighting, idf="smooth")
    kept: dict[str, NDArray[Any]] = {"words.ids": said.ids, "words.offsets": said.offsets}
    if ranker != "relevance":
        kept["idf"] = index.idf_weights
    config |= {"segments": 1, "interpolation_weight": 0.5, "feature_weight": 0.5}
    if ranker in {"features", "both"}:
        make_vectors(Path(f"{folder}.vectors"))
        by_features = _features(words, CommentTexts(said, list(pool.texts)), f"{folder}.vectors")
        signature = open_static(f"{folder}.vectors").signature
        config |= {"features": list(by_features.features.names), "vectors": signature, "trees": 1}
        kept |= by_features.arrays()
    with ModelWriter(folder, "ir-t", config, {"seed": 1}) as new:
        if ranker in {"relevance", "both"}:
            kept |= _network(new, len(words), said, form)
        if ranker in {"features", "both"}:
            shutil.copytree(f"{folder}.vectors", new.path("vectors/words.txt").parent, dirs_exist_ok=True)
            shutil.rmtree(f"{folder}.vectors")
        save_retriever(new, index, pool, words.words(), ranker=kept)


def _features(words: Vocabulary, comments: CommentTexts, folder: str) -> FeatureRanker:
    """A ranker by features, with a tree of three nodes."""
    vectors = TextVectors(open_static(folder), "words")
    hubs = np.zeros((1, 6), np.float32)
    features = RelevanceFeatures(np.ones(len(words)), person_ids(words), False, vectors, hubs)  # noqa: FBT003
    m = len(features.names)
    one, none = np.ones(m), np.zeros(m)
    nodes = np.array([0, -1, -1], np.int32), np.array([0.5, 0, 0]), np.array([1, 0, 0], np.int32)
    tree = Tree(*nodes, np.array([2, 0, 0], np.int32), np.array([0.0, -1.0, 1.0]))
    model = FeatureModel(Logistic(none, one, one, 0.0), Trees(0.0, (tree,), none))
    return FeatureRanker(features, model, features.comments(comments))


def _network(new: ModelWriter, words: int, said: Any, form: Any) -> dict[str, NDArray[Any]]:
    from postil.comments.nn import models  # noqa: PLC0415 - it needs torch
    from postil.comments.nn.relevance import KIND, Relevance, RelevanceNetwork  # noqa: PLC0415
    from postil.comments.options import RelevanceOptions  # noqa: PLC0415

    options = RelevanceOptions(architecture=form, vocab_size=words + 4, embedding_dim=8, filters=4, output_dim=8)
    model = Relevance(RelevanceNetwork(options, words + 4).eval(), options)
    target = new.path("relevance/config.json").parent
    target.rmdir()
    models.save(target, KIND, model.network, {"vocab_size": words + 4, "options": asdict(options)}, {"seed": 1})
    return {"vectors": model.encode_comments(said)} if form == "two-tower" else {}


def use_retriever(folder: Path) -> object:
    """Suggest comments."""
    asked = [Article("q", "w3 w5 w9 w30 w39", ()), Article("r", " ".join(WORDS), (), lang="en")]
    found = Retriever.open(folder).comment(asked, 5)
    for row in found:
        for one in row.suggestions:
            require(np.isfinite(one.score), f"suggestion {one}")
    return [[(one.text, one.score) for one in row.suggestions] for row in found]


def make_generator(folder: Path) -> None:
    """Make a generator with an untrained network."""
    from postil.comments.neural_commenter import CopyIndex, save_generator  # noqa: PLC0415
    from postil.comments.nn import models  # noqa: PLC0415
    from postil.comments.nn.generator import KIND  # noqa: PLC0415
    from postil.comments.nn.seq2seq import Seq2SeqNetwork  # noqa: PLC0415
    from postil.comments.options import GeneratorOptions  # noqa: PLC0415
    from postil.comments.text_arrays import SpanIndex  # noqa: PLC0415 - with what needs torch

    some, words = articles(), Vocabulary()
    comments = [comment for one in some for comment in one.comments]
    said = words.encode([comment.text for comment in comments], tokenizer("words"))
    starts = np.cumsum([0, *(len(one.comments) for one in some)])
    ids, names = StringArray.of(comment.id for comment in comments), StringArray.of(one.id for one in some)
    options = GeneratorOptions(vocab_size=len(words) + 4, hidden_size=8, embedding_dim=8, comment_words=9)
    network = Seq2SeqNetwork(options, len(words) + 4).eval()
    with ModelWriter(folder, "att", {"tokenizer": "words", "reads": "title", "writes": "comments"}, {"seed": 1}) as new:
        save_generator(new, words.words(), CopyIndex(SpanIndex.of(said.ids, said.offsets), names, starts, ids))
        target = new.path("generator/config.json").parent
        target.rmdir()
        models.save(target, KIND, network, {"vocab_size": len(words) + 4, "options": asdict(options)}, {"seed": 1})


def use_generator(folder: Path) -> object:
    """Write comments, with what they copy."""
    from postil.comments.neural_commenter import NeuralCommenter  # noqa: PLC0415 - it needs torch
    from postil.comments.options import DecodingOptions  # noqa: PLC0415
    from postil.screening.filtering import CandidateFilter  # noqa: PLC0415

    how = DecodingOptions(beam_size=2, max_words=6)
    commenter = NeuralCommenter.open(
        folder, candidate_filter=CandidateFilter(min_words=0, dedup_threshold=None), decoding=how
    )
    (found,) = commenter.comment([Article("q", "w3 w5 w9", ())], 2)
    for one in found.suggestions:
        require(np.isfinite(one.score), f"suggestion {one}")
    known = [commenter.words.index(word) for word in ("w38", "w39", "w38") if word in commenter.words]
    run = commenter.copy_index.spans.longest(known)
    source = None if run is None else commenter.copy_index.source(run.text)
    return [(one.text, one.score) for one in found.suggestions], source


def reseal_model(folder: Path) -> None:
    """Let every ``metadata.json`` tell the sizes of the files as they are."""
    for file in sorted(folder.rglob("metadata.json"), key=lambda path: -len(path.parts)):  # a model within one first
        try:
            made = json.loads(file.read_bytes())
            for name in made["files"]:
                if (file.parent / name).is_file():
                    made["files"][name] = checksum(file.parent / name)
            file.write_text(json.dumps(made))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue


def make_corpus(folder: Path) -> None:
    """Build a corpus."""
    from postil.corpus.calls import build_corpus  # noqa: PLC0415 - it needs pyarrow
    from postil.corpus.options import BuildOptions, Share  # noqa: PLC0415
    from postil.data.row_files import write  # noqa: PLC0415

    rows = folder.with_name("rows.jsonl")
    write(str(rows), articles())
    free: dict[str, Any] = {"min_content_words": 0, "min_comments": 1, "test_min_comments": 0, "test_min_upvotes": 0}
    options = BuildOptions(source="a site", license="ours", dev=Share(size=9), test=Share(size=0), **free)
    build_corpus([rows], folder, options, jobs=1)


def use_corpus(folder: Path) -> object:
    """Read the words and the token arrays, and index them."""
    corpus = Corpus.open(folder)
    words, counts = corpus.words(), corpus.counts()
    found: list[Any] = [len(words), int(counts.sum())]
    for split in corpus.splits:
        starts = corpus.starts(split)
        for field in ("title", "content", "comments"):
            tokens = corpus.tokens(split, field)
            index = Index.of(tokens.ids, tokens.offsets, len(words))
            found += [
                len(tokens),
                index.search(tokens.ids[:5], np.array([0, len(tokens.ids[:5])]), 3).documents.tolist(),
            ]
        require(starts[-1] == len(corpus.tokens(split, "comments")), "starts")
    return found


def make_background(folder: Path) -> None:
    """Count the n-grams of texts."""
    texts = [one.content or "" for one in articles()]
    cut = tokenizer("words")
    tokens = Vocabulary().encode(texts, cut)
    DocumentFrequencies.of(References(tokens, np.arange(len(texts) + 1)), cut.signature, 3).save(folder)


def use_background(folder: Path) -> object:
    """Score texts by CIDEr."""
    texts = [one.title for one in articles(9)]
    found = postil.score(
        texts,
        [[text, "w1 w2 w3"] for text in texts],
        metrics=["cider(order=3)", "cider-d(order=3)"],
        background=DocumentFrequencies.load(folder),
    )
    values = [float(value) for each in found.items.values() for value in each]
    require(np.isfinite(values).all(), f"scores {values}")
    return values


def reseal_background(folder: Path) -> None:
    """Let the hash be that of what there is now."""
    try:
        config = json.loads((folder / "config.json").read_text())
        words = tuple(json.loads((folder / "words.json").read_text()))
        arrays = [
            tuple(np.load(folder / f"{name}-{n}.npy") for n in range(1, config["order"] + 1))
            for name in ("grams", "df")
        ]
        config["hash"] = DocumentFrequencies(config["items"], config["tokenizer"], words, *arrays).hash
        (folder / "config.json").write_text(json.dumps(config))
    except Exception:  # noqa: S110 - what cannot be read stays as it is
        pass


def make_vectors(folder: Path) -> None:
    """Save word vectors."""
    Vectors(tuple(WORDS), np.random.default_rng(1).standard_normal((len(WORDS), 6)).astype(np.float32)).save(folder)


def use_vectors(folder: Path) -> object:
    """Sum vectors, and look for near ones."""
    vectors = Vectors.open(folder)
    sums = vectors.sums(Vocabulary().encode_tokens([["w1", "w2", "w9"], ["none"]]))
    require(np.isfinite(sums.vectors).all(), "sums")
    near = vectors.nearest(["w3"], 4) if "w3" in vectors.words else []
    require(all(-1 <= cosine <= 1 for row in near for _, cosine in row), f"cosines {near}")
    return sums.vectors.tolist(), near


def make_interest(folder: Path) -> None:
    """Save a model of interest."""
    save_model(folder, named({"cues": 0.5, "names": 0.25}, {"w3": -0.25, "w5 w9": 0.5}), {})


def use_interest(folder: Path) -> object:
    """Score the passages of a page."""
    found = page_scores([one.title for one in articles(9)], open_model(folder)).scores
    require(np.isfinite(found).all(), f"scores {found}")
    return found.tolist()


def make_combination(folder: Path, method: Any) -> None:
    """Save a combination of two columns, or of one."""
    names = ["m"] if method == "isotonic" else ["m", "n"]
    columns = tuple(ColumnConfig(metric=name, signature="s", falls=False, transform="") for name in names)
    config = CombinationConfig(format=1, method=method, columns=columns, penalty=0.01, monotone=False)
    draw = np.random.default_rng(1)
    scores = draw.standard_normal((30, len(names)))
    nodes = np.array([0, -1, -1], np.int32), np.array([0.5, 0, 0]), np.array([1, 0, 0], np.int32)
    trees = Trees(0.0, (Tree(*nodes, np.array([2, 0, 0], np.int32), np.array([0.0, -1.0, 1.0])),), np.ones(2))
    fits: dict[str, Any] = {"ridge": ridge_fit, "isotonic": isotonic_fit}
    save(folder, encoded(config, fits[method](scores, scores.sum(1)) if method in fits else trees)[0], {"scale": None})


def use_combination(folder: Path) -> object:
    """Grade texts."""
    saved = open_combination(folder)
    found = saved.model.predict(np.ones((3, len(saved.config.columns))))
    require(np.isfinite(found).all(), f"grades {found}")
    return found.tolist()


def reseal_combination(folder: Path) -> None:
    """Let the hash be that of what there is now."""
    try:
        files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "metadata.json"}
        metadata = json.loads((folder / "metadata.json").read_bytes())
        shutil.rmtree(folder)
        save(folder, files, {name: value for name, value in metadata.items() if name not in {"hash", "format"}})
    except (ValueError, AttributeError, PostilError):
        pass


KINDS: dict[str, Kind] = {
    "retriever": Kind(lambda f: make_retriever(f, ranker="tf-idf"), use_retriever, reseal_model),
    "retriever-bm25": Kind(lambda f: make_retriever(f, ranker="tf-idf", weighting="bm25"), use_retriever, reseal_model),
    "retriever-features": Kind(lambda f: make_retriever(f, ranker="features"), use_retriever, reseal_model),
    "background": Kind(make_background, use_background, reseal_background),
    "vectors": Kind(make_vectors, use_vectors, lambda _: None),
    "interest": Kind(make_interest, use_interest, lambda _: None),
}
for method in ("ridge", "isotonic", "boosting"):
    KINDS[method] = Kind(lambda f, method=method: make_combination(f, method), use_combination, reseal_combination)  # type: ignore[misc]
if find_spec("pyarrow"):
    KINDS["corpus"] = Kind(make_corpus, use_corpus, lambda _: None)
if find_spec("torch") and find_spec("safetensors"):
    KINDS["retriever-towers"] = Kind(lambda f: make_retriever(f, ranker="both"), use_retriever, reseal_model)
    KINDS["retriever-pairs"] = Kind(
        lambda f: make_retriever(f, ranker="relevance", form="interaction"), use_retriever, reseal_model
    )
    KINDS["generator"] = Kind(make_generator, use_generator, reseal_model)

TYPES = ("<i4", "<i8", "<u2", "<f4", "<f8", "|u1", ">i4", ">i8", "|b1", "<c8", "<M8[s]", "<U3", "|O")
EXTREMES = (
    0,
    1,
    -1,
    2,
    63,
    64,
    255,
    65_535,
    2**15,
    2**31 - 1,
    -(2**31),
    2**32,
    2**40,
    -(2**40),
    2**62,
    2**63 - 1,
    -(2**63),
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    2,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    -5,
    "",
    "x",
    [],
    {},
    [1],
    [[]],
)
LARGE: tuple[Any, ...] = (2**31, 2**63, 2**64, -(2**63), 10**30)


def change_values(draw: random.Random, array: NDArray[Any]) -> NDArray[Any]:
    """Put other numbers into an array, or none in another order."""
    flat = array.reshape(-1).copy()
    if not flat.size:
        return np.zeros(draw.randint(1, 9), array.dtype)
    how = draw.choice(("extreme", "extreme", "all", "near", "swap", "reverse", "random", "nan"))
    with np.errstate(all="ignore"):
        if how in {"extreme", "all"}:
            value = np.array(draw.choice(EXTREMES), dtype=object).astype("f8").astype(array.dtype)
            if array.dtype.kind in "iu":
                info = np.iinfo(array.dtype)
                value = np.array(min(max(draw.choice(EXTREMES), info.min), info.max), array.dtype)
            some = slice(None) if how == "all" else draw.sample(range(flat.size), min(flat.size, draw.randint(1, 4)))
            flat[some] = value
        elif how == "near":
            place, step = draw.randrange(flat.size), np.array([draw.choice((1, 2, 9))]).astype(array.dtype)
            some_near = flat[place : place + 1]
            flat[place] = (some_near + step if draw.random() < 0.5 or array.dtype == bool else some_near - step)[0]
        elif how == "swap":
            one, other = draw.randrange(flat.size), draw.randrange(flat.size)
            flat[[one, other]] = flat[[other, one]]
        elif how == "reverse":
            flat = flat[::-1]
        elif how == "random":
            flat = np.frombuffer(draw.randbytes(flat.nbytes), array.dtype)
        elif array.dtype.kind == "f":
            flat[draw.randrange(flat.size)] = draw.choice((np.nan, np.inf, -np.inf, -1.0, 1e300))
    return np.ascontiguousarray(flat).reshape(array.shape)


def change_array(draw: random.Random, file: Path) -> None:
    """Write another array into a file."""
    try:
        array = np.load(file)
    except Exception:
        return change_bytes(draw, file)
    how = draw.choice(
        ("values", "values", "values", "values", "dtype", "cut", "longer", "shape", "order", "empty", "bytes")
    )
    if how == "bytes":
        return change_bytes(draw, file)
    if how == "values":
        array = change_values(draw, array)
    elif how == "dtype":
        kind = draw.choice(TYPES)
        array = np.array([None, {}], object) if kind == "|O" else array.astype(kind)
    elif how == "cut":
        array = array[: draw.randrange(len(array) + 1)]
    elif how == "longer":
        array = np.concatenate([array, array[-draw.randint(1, 3) :]])
    elif how == "shape":
        array = array.reshape(draw.choice(((-1,), (1, -1), (-1, 1), (-1, 1, 1))))
    elif how == "order":
        array = np.asfortranarray(np.stack([array, array]))
    else:
        array = array[:0]
    np.save(file, array, allow_pickle=True)
    return None


def change_bytes(draw: random.Random, file: Path) -> None:
    """Flip some bytes of a file, cut it, or put another in its place."""
    data = bytearray(file.read_bytes())
    how = draw.choice(("flip", "flip", "head", "cut", "double", "random", "zip"))
    if how in {"flip", "head"} and data:
        for _ in range(draw.randint(1, 6)):
            data[draw.randrange(min(len(data), 128) if how == "head" else len(data))] = draw.randrange(256)
    elif how == "cut":
        del data[draw.randrange(len(data) + 1) :]
    elif how == "double":
        data = data + data
    elif how == "random":
        data = bytearray(draw.randbytes(draw.randint(0, 300)))
    else:
        data = bytearray(b"PK\x03\x04") + data
    file.write_bytes(data)


def change_json(draw: random.Random, file: Path, *, large: bool) -> None:
    """Put another value somewhere into JSON."""
    try:
        value = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return change_bytes(draw, file)
    if draw.random() < 0.1:
        return change_bytes(draw, file)
    at = value
    places: list[tuple[Any, Any]] = []
    while isinstance(at, (dict, list)) and at and (not places or draw.random() < 0.7):
        key: Any = draw.choice(list(at)) if isinstance(at, dict) else draw.randrange(len(at))
        places.append((at, key))
        at = at[key]
    if places:
        inside, key = places[-1]
        if draw.random() < 0.1:
            del inside[key]
        else:
            inside[key] = draw.choice(VALUES + LARGE if large else VALUES)
    file.write_text(json.dumps(value))
    return None


def change(draw: random.Random, folder: Path, kind: Kind) -> str:
    """Change files of a folder; say which."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    told = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        file = draw.choice(files)
        told.append(file.relative_to(folder).as_posix())
        if draw.random() < 0.03:
            other = draw.choice(files)
            file.write_bytes(other.read_bytes())
        elif file.suffix == ".npy":
            change_array(draw, file)
        elif file.suffix == ".json":
            # Sizes of networks are those of their weights; absurd ones are another matter than arrays.
            change_json(draw, file, large="options" not in file.read_text(errors="replace"))
        else:
            change_bytes(draw, file)
    if draw.random() < 0.85:
        kind.reseal(folder)
    return ", ".join(told)


def numbers(draw: random.Random, kind: str, size: int | None = None) -> NDArray[Any]:
    """An array for the kernel, seldom what it wants."""
    size = draw.choice((0, 1, 2, 3, 5, 9, 65, 130)) if size is None else size
    if kind == "float64":
        return np.array([draw.choice((0.0, 1.0, 0.5, -1.0, 1e300, float("nan"), float("inf"))) for _ in range(size)])
    if kind == "offsets":
        steps = [draw.choice((0, 1, 1, 2, 3)) for _ in range(max(0, size - 1))]
        values = np.cumsum([0, *steps])[:size] if size else np.zeros(0, np.int64)
        if size and draw.random() < 0.3:
            values[draw.randrange(size)] = draw.choice(EXTREMES)
        return np.asarray(values, dtype=np.int64)
    top = np.iinfo(np.dtype(kind)).max
    # Words up to a million or so: one of two billion would ask for tables of its size.
    some = [draw.choice((0, 1, 2, 3, 5, 9)) for _ in range(size)]
    if size and draw.random() < 0.3:
        some[draw.randrange(size)] = draw.choice((-1, -5, -(2**31), 70, 1000, min(top, 2**20)))
    return np.array([value % (top + 1) if top < 2**31 - 1 else value for value in some], dtype=kind)


def texts(draw: random.Random) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ids and offsets that fit in most cases."""
    offsets = numbers(draw, "offsets")
    fits = draw.random() < 0.8 and len(offsets) and 0 <= offsets[-1] < 10_000
    return numbers(draw, "int32", int(offsets[-1]) if fits else None), offsets


def call_overlap(draw: random.Random) -> None:
    """Overlaps and what reads them."""
    (candidates, begins), (references, offsets) = texts(draw), texts(draw)
    sets = numbers(draw, "int32", len(begins) - 1 if draw.random() < 0.8 and len(begins) else None)
    groups = np.array([0, max(0, len(offsets) - 1)]) if draw.random() < 0.7 else numbers(draw, "offsets")
    sets = sets * 0 if draw.random() < 0.7 else sets
    held = native.overlap(candidates, begins, sets, references, offsets, groups, draw.choice((1, 2, -1)))
    right = draw.random() < 0.8
    weights = numbers(draw, "float64", len(offsets) - 1 if right else None)
    native.bleu_stats(held, weights, draw.choice((0, 1, 4, 9, 10)), draw.random() < 0.5)
    native.rouge_l(held, weights, 1.0, draw.random() < 0.5)
    native.rouge_n(held, weights, draw.choice((1, 2, 9)), draw.choice((-1, 0, 4)))
    function = numbers(draw, "uint8", draw.choice((0, 10, 2**20 + 1)))
    senses = numbers(draw, "offsets", len(function) + 1) if draw.random() < 0.5 and len(function) < 99 else None
    synsets = None if senses is None else numbers(draw, "int32", int(senses[-1]) if 0 <= senses[-1] < 99 else 3)
    native.meteor(
        held,
        weights,
        [0.9, 3.0, 0.5, 0.5],
        [1, 1, 1],
        draw.choice((0, 1, 40)),
        candidates,
        references,
        function,
        senses,
        synsets,
    )
    grams = native.count_grams(
        references, offsets, groups, numbers(draw, "int32", max(0, len(groups) - 1)), draw.choice((1, 2, 4))
    )
    native.cider(held, weights, grams, np.full((len(weights), draw.choice((grams.order, 3))), -1.0), 6.0)


def call_search(draw: random.Random) -> None:
    """Rows, lists, bounds and searches."""
    ids, offsets = texts(draw)
    rows = list(native.count_terms(ids, offsets, draw.choice((1, 2))))
    words = draw.choice((10, 2**20 + 1, -1))
    lists = list(native.invert(*rows, words))
    factors, scales = np.ones(len(rows[0]) - 1), np.abs(numbers(draw, "float64", len(lists[0]) - 1))
    gain = draw.choice(("cosine", "bm25"))
    bounds = list(native.search_bounds(tuple(lists), factors, scales, gain))
    for arrays in draw.sample([rows, lists, bounds], draw.randint(0, 2)):
        place = draw.randrange(len(arrays))
        arrays[place] = change_values(draw, arrays[place])
        if draw.random() < 0.2:
            arrays[place] = arrays[place][: draw.randrange(len(arrays[place]) + 1)]
    factors = change_values(draw, factors) if draw.random() < 0.2 else factors
    search = native.searcher(tuple(rows), tuple(lists), tuple(bounds), factors, scales, gain)
    queries, begins = texts(draw)
    documents, _ = search.search(queries, begins, draw.choice((1, 3, 200)), draw.choice((1, 2)))
    require(((documents >= -1) & (documents < len(factors))).all(), f"documents {documents}")
    if draw.random() < 0.3:
        native.search_bounds(tuple(lists), factors, scales, gain)


def call_units(draw: random.Random) -> None:
    """Units and pools."""
    ids, offsets = texts(draw)
    _, begins, units, counts = native.count_units(
        ids, offsets, draw.choice((0, 1, 2)), draw.choice((0, 1, 4)), draw.random() < 0.5
    )
    distinct = int(units.max(initial=-1)) + 1
    units = change_values(draw, units) if draw.random() < 0.2 and len(units) else units
    if draw.random() < 0.2 and len(counts):
        counts = np.minimum(change_values(draw, counts), 2**20)  # ROUGE's table has a place for each
    texts_there = max(1, len(begins) - 1)
    chosen = np.arange(texts_there, dtype=np.int32) if draw.random() < 0.8 else numbers(draw, "int32")
    pool = np.array([0, len(chosen)])
    own = (
        (np.arange(len(chosen) + 1), np.arange(len(chosen))) if draw.random() < 0.8 else (numbers(draw, "offsets"),) * 2
    )
    weights = numbers(draw, "float64", len(chosen)) if draw.random() < 0.5 else np.ones(len(chosen))
    measures = [(name, 1.0) for name in ("f", "kl", "js", "logsim", "rouge", "tf-idf")]
    share = np.full(distinct, 0.5)
    native.pooled_scores((begins, units, counts), (pool, chosen, weights), (pool, chosen), own, measures, share, share)


def call_vectors(draw: random.Random) -> None:
    """Greedy matches of texts with vectors."""
    dimensions, sides = draw.choice((0, 1, 5)), []
    for _ in range(2):
        rows, offsets = texts(draw)
        known = draw.choice((0, 1, 30))
        rows = rows % np.int32(max(known, 1)) if draw.random() < 0.9 else rows
        vectors = np.ones((known, draw.choice((*(dimensions,) * 9, 2))), np.float32)
        sides.append((vectors, rows, offsets, np.ones(len(rows) + (draw.random() < 0.1))))
    pairs = (numbers(draw, "int32", 9) if draw.random() < 0.3 else np.zeros(9, np.int32) for _ in range(2))
    native.greedy_matches(sides[0], sides[1], tuple(pairs), draw.choice((1, 3)))


def call_others(draw: random.Random) -> None:
    """Document frequencies, ranks, softmax and vocabularies."""
    size = draw.choice((0, 1, 5))
    grams = [numbers(draw, "int32", size * n).reshape(size, n) for n in range(1, draw.choice((2, 4)))]
    loaded = native.load_grams(
        draw.choice((-1, 0, 1, 9, 2**40)), grams, [numbers(draw, "int32", draw.choice((size, size, 2))) for _ in grams]
    )
    loaded.norms(*texts(draw))
    loaded.table(draw.choice((-1, 0, 1, 2, 9)))


def call_ranks(draw: random.Random) -> None:
    """Ranks, softmax and vocabularies."""
    n, columns = draw.choice((0, 1, 5, 9)), draw.choice((0, 1, 3))
    counts = np.abs(numbers(draw, "int32", 2 * 4).reshape(2, 4))
    x, y = numbers(draw, "int32", n * columns).reshape(n, columns), numbers(draw, "int32", n)
    scores = numbers(draw, "float64", n * 70).reshape(n, 70).astype(np.float32)
    native.log_sums(scores)
    native.highest(scores, draw.choice((0, 1, 5, 64, 65, 70, 71)))
    native.bleu_score(np.ones((n, draw.choice((0, 1, 2, 4, 10, 30)))), "exp", 0.1, draw.random() < 0.5)
    words = native.Interner()
    words.encode_tokens([WORDS])
    words.flags(frozenset({"w1", "é", 5}), draw.choice((-1, 0, 50)))
    words.words(draw.choice((-1, 0, 50)))
    kind = draw.choice(("spearman", "kendall-b", "kendall-c", "x"))
    if draw.random() < 0.5:
        sums = numbers(draw, "float64", 2 * columns * n).reshape(2, columns, n)
        slack = numbers(draw, "float64", 4).reshape(2, 2)
        native.order_counts(sums, sums, *(numbers(draw, "int32", 4).reshape(2, 2) for _ in range(2)), slack, 2)
    native.rank_correlations(x, y, numbers(draw, "int32", n), counts, kind)
    nodes = [np.array(each, np.int32) for each in ((0, 1, -1, -1, -1), (1, 2, 0, 0, 0), (4, 3, 0, 0, 0))]
    place = draw.randrange(4)
    if place < len(nodes):
        nodes[place] = change_values(draw, nodes[place])
    values = numbers(draw, "float64", 5)
    starts = np.array([0, 5]) if draw.random() < 0.7 else numbers(draw, "offsets")
    trees = nodes[0], values, nodes[1], nodes[2], values
    native.tree_sums(numbers(draw, "float64", 3 * draw.choice((1, 2, 3))).reshape(3, -1), trees, starts, 0.5)


ENTRIES = (call_overlap, call_search, call_search, call_units, call_vectors, call_others, call_ranks)


def call_kernel(seed: int) -> int:
    """Call the kernel with numbers that cannot be."""
    for number in range(CALLS):
        draw = random.Random(f"{seed}-{number}")  # noqa: S311 - no secret
        try:
            draw.choice(ENTRIES)(draw)
        except (ValueError, TypeError, MemoryError):
            continue
    return OTHER


def try_folder(seed: int, name: str, made: Path, right: str, work: Path) -> int:
    """Change a folder, use it, and say what came of it."""
    kind, draw = KINDS[name], random.Random(seed)  # noqa: S311 - no secret
    folder = work / f"{name}-{seed}"
    shutil.copytree(made, folder)
    told = change(draw, folder, kind)
    try:
        answer = repr(kind.use(folder))
    except PostilError as error:
        require(str(error), "an error without words")
        return REFUSED
    except BaseException:
        print(f"changed: {told}", file=sys.stderr)
        raise
    return SAME if answer == right else OTHER


def in_child(run: Callable[[], int]) -> tuple[int, int]:
    """Run something in a child process: its exit status, and the signal that ended it or 0."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = FOUND
        try:
            signal.alarm(SECONDS)
            warnings.simplefilter("ignore")
            status = run()
        except BaseException:
            import traceback  # noqa: PLC0415

            traceback.print_exc()
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(ended)
    return (code, 0) if code >= 0 else (FOUND, -code)


def main() -> None:
    """Run trials until the time is up."""
    parser = argparse.ArgumentParser(description="Change folders at random and use them.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--trials", type=int, help="so many instead")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--only", nargs="*", choices=[*KINDS, "kernel"])
    given = parser.parse_args()
    faulthandler.enable()
    if find_spec("torch"):
        import torch  # noqa: PLC0415

        torch.set_num_threads(1)
        torch.manual_seed(1)
    names = given.only or [*KINDS, "kernel"]
    print(f"kernel {kernel.NAME}, seed {given.seed}, {', '.join(names)}", flush=True)
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    with tempfile.TemporaryDirectory() as there:
        made, right = {}, {}
        for name in [name for name in names if name != "kernel"]:
            made[name] = Path(there) / name
            KINDS[name].make(made[name])
            right[name] = repr(KINDS[name].use(made[name]))
        begin, seed = time.monotonic(), given.seed
        while seed - given.seed < given.trials if given.trials else time.monotonic() - begin < 60 * given.minutes:
            name = names[seed % len(names)]
            with tempfile.TemporaryDirectory(dir=there) as work:
                run = (
                    (lambda: call_kernel(seed))  # noqa: B023 - called at once
                    if name == "kernel"
                    else (lambda: try_folder(seed, name, made[name], right[name], Path(work)))  # noqa: B023
                )
                status, by = in_child(run)
            what = {REFUSED: "refused", SAME: "same answer", OTHER: "well-formed answer"}.get(status, "found")
            counts[name, what] += 1
            if what == "found":
                found.append(seed)
                ended = f"ended by signal {by}" if by else f"exit status {status}"
                print(f"found: {name}, {ended}; again: --only {name} --seed {seed} --trials 1", flush=True)
            seed += 1
    print(f"{seed - given.seed} trials in {time.monotonic() - begin:.0f} s")
    for (name, what), count in sorted(counts.items()):
        print(f"{name:18} {what:18} {count:7}")
    print(f"{len(found)} found")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
