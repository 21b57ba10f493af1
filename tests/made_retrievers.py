"""Folders of retrievers made of a few articles, without training, and folders of models that were changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from postil.comments.candidate_pool import CandidatePool, save_retriever
from postil.comments.index import Index
from postil.comments.show_filter import FILE
from postil.data.model_folders import ModelWriter, checksum
from postil.data.rows import Article, Comment
from postil.text.tokenizers import stored_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from postil.comments.show_filter import ShowFilter


def article(name: str, title: str, *comments: str, content: str | None = None, lang: str | None = None) -> Article:
    return Article(name, title, tuple(Comment(str(n), text) for n, text in enumerate(comments)), content, lang=lang)


NEWS = (
    article("n1", "Rain today", "Rain today, rain tomorrow.", "ok", lang="en"),
    article("n2", "Rain and snow", "rain today RAIN tomorrow!", "Snow is what I want.", lang="en"),
    article("n3", "Chess today", "A draw, how dull."),
    article("n4", "Snow", "Der snow ist da.", lang="de"),
)


def made(
    folder: Path,
    articles: Sequence[Article],
    kind: str = "ir-t",
    relevance: Any = None,
    show: ShowFilter | None = None,
    **changes: Any,
) -> Path:
    """A model of some articles, as `postil train` makes it; `relevance` is given words and comments, `show` is its
    calibration."""
    words, cut = Vocabulary(), stored_tokenizer(changes.get("tokenizer", "words-2"))
    with_content = kind == "ir-tc"
    texts = words.encode([f"{one.title}\n{(one.content or '') * with_content}" for one in articles], cut)
    comments = [comment for one in articles for comment in one.comments]
    said = words.encode([comment.text for comment in comments], cut)
    config = {"tokenizer": "words-2", "neighbors": 20, "weighting": "tf-idf", "idf": "plain", "ranker": "tf-idf"}
    config |= {"segments": 1, **changes}
    formula = {name: config[name] for name in ("weighting", "idf")}
    pool = CandidatePool.of(articles)
    ranker = {"words.ids": said.ids, "words.offsets": said.offsets}
    with ModelWriter(folder, kind, config, {"seed": 1}) as new:
        if relevance is not None:
            ranker = relevance(new.path("relevance/config.json").parent, len(words), said, ranker)
        index = Index.of(texts.ids, texts.offsets, len(words), **formula)
        if config["ranker"] != "relevance":
            ranker["idf"] = index.idf_weights  # of titles, so that the numbers below can be worked out by hand
        if show is not None:
            new.path(FILE).write_bytes(show.encoded())
        save_retriever(new, index, pool, words.words(), ranker=ranker)
    return folder


def changed(folder: Path, name: str, change: Any) -> Path:
    """A folder of a model, one file of which was changed on purpose: the folder says the size that it now has.

    `change` is a function of an array, fields of JSON, or a text.
    """
    file, metadata = folder / name, folder / "metadata.json"
    if name.endswith(".npy"):
        np.save(file, change(np.load(file)), allow_pickle=True)
    else:
        file.write_text(json.dumps(json.loads(file.read_text()) | change) if isinstance(change, dict) else change)
    made = json.loads(metadata.read_text())
    made["files"][name] = checksum(file)
    metadata.write_text(json.dumps(made))
    return folder
