"""The sentence encoder of a calibration: vectors of a model by an encoder that the user names, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.comments.sentence_vectors import article_text, encode_model, model_requests
from postil.corpus.store import Corpus
from postil.data.model_folders import training_folder
from postil.encoders.encoder_options import is_address
from postil.encoders.endpoint_encoder import EncoderEndpoint, Fingerprint, endpoint_model, open_encoder, requests_for
from postil.endpoint.dry_run import DryRunResult, dry_run
from postil.errors import UsageError
from postil.messages import Blank, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from postil.calibration.options import CalibrateOptions
    from postil.comments.retrieval import Retriever
    from postil.corpus.passes import OnProgress
    from postil.data.progress import OnMessage
    from postil.data.rows import Article
    from postil.endpoint.limits import Price

__all__ = ["encoded", "encoding_work"]


def encoded(
    retriever: Retriever, options: CalibrateOptions, on_message: OnMessage, on_progress: OnProgress
) -> Retriever:
    """Give a model the vectors of the encoder that the options name, which are its own where it has them.

    Args:
        retriever: The model.
        options: Options of the command, with an encoder.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Raises:
        InvalidInput: The corpus is another one than that of the model, or the encoder is damaged.
        UsageError: There is no such encoder, or its name at the endpoint or the corpus is missing.
        MissingExtra: The library that runs the encoder or speaks to the endpoint is not installed.
        EncoderFailed: The endpoint gives no vectors; those so far are kept.
    """
    model, sentences = retriever.model, retriever.sentences
    folder = training_folder(options.out or model.path)
    name = _encoder_model(retriever, options)
    known = _known(retriever, name, folder)
    encoder = open_encoder(options.encoder or "", name, known, on_message=on_message)
    if sentences is not None and sentences.signature == encoder.signature:
        return retriever.encoded_by(sentences.opened(encoder))
    sentences = encode_model(
        encoder,
        retriever.pool,
        _corpus(retriever, options),
        contents=model.kind == "ir-tc",
        folder=folder,
        jobs=options.jobs,
        on_message=on_message,
        on_progress=on_progress,
    )
    return retriever.encoded_by(sentences)


def encoding_work(
    retriever: Retriever,
    articles: Sequence[Article],
    options: CalibrateOptions,
    price: Price | None,
    on_message: OnMessage,
) -> DryRunResult:
    """Estimate what a calibration would ask of the endpoint of an encoder; nothing is asked.

    Vectors that the model or an interrupted run has of an encoder of this name are taken as those of the same one.

    Args:
        retriever: The model.
        articles: The articles of the labels.
        options: Options of the command.
        price: Price of tokens.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: The corpus is another one than that of the model.
        UsageError: The encoder is behind no endpoint, or its name there or the corpus is missing.
        MissingExtra: httpx2 is not installed.
    """
    folder = training_folder(options.out or retriever.model.path)
    name = _encoder_model(retriever, options)
    if options.encoder is None or name is None:
        raise UsageError(
            "only an endpoint is asked, and has a dry run: {encoder}", encoder=Setting("encoder", Blank("URL"))
        )
    contents = retriever.model.kind == "ir-tc"
    requests = list(
        requests_for(name, [article_text(one.title, one.content or "" if contents else "") for one in articles])
    )
    known = [each for each in _known(retriever, name, folder) if each.model == name]
    if retriever.sentences is None or retriever.sentences.fingerprint not in known:
        corpus = _corpus(retriever, options)
        requests += model_requests(name, known, retriever.pool, corpus, contents=contents, folder=folder)
    with EncoderEndpoint(url=options.encoder, on_message=on_message).client(price) as client:
        return dry_run(client, requests)


def _encoder_model(retriever: Retriever, options: CalibrateOptions) -> str | None:
    """The endpoint's name of an encoder: by default the one that the model has; None where it is behind no endpoint."""
    if not is_address(options.encoder or ""):
        return None
    sentences = retriever.sentences
    kept = None if sentences is None or sentences.fingerprint is None else sentences.fingerprint.model
    return endpoint_model(options.encoder_model or kept)


def _known(retriever: Retriever, name: str | None, folder: Path) -> list[Fingerprint]:
    """Fingerprints of encoders behind endpoints: that of the model, and that of a run that was interrupted."""
    sentences = retriever.sentences
    mine = [] if sentences is None or sentences.fingerprint is None else [sentences.fingerprint]
    return mine + (Fingerprint.kept(folder, name) if name is not None else [])


def _corpus(retriever: Retriever, options: CalibrateOptions) -> Corpus:
    """The corpus that a new encoder reads."""
    if options.corpus is None:
        raise UsageError(
            "{model} has no vectors of this encoder; name the corpus that it was trained on with {corpus}",
            model=str(retriever.model.path),
            corpus=Setting("corpus", "DIR"),
        )
    return Corpus.open(options.corpus)
