"""Preprocessing of passages, apart from what it loads so that help does without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.errors import UsageError
from postil.messages import Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from postil.data.row_locations import RowLocations
    from postil.data.rows import Passage
    from postil.metrics.passage_pools import PassageCollection
    from postil.text.tokens import Tokens

__all__ = ["Preprocessing"]


@options(group="Words")
class Preprocessing:
    """Preprocessing of passages: tokenization, stop words, stems; or the anchors in place of the words.

    Args:
        tokenizer: Tokenizer: words, space, 13a or ptb; for Chinese jieba, rjieba (the same, faster) or characters.
        stem: none, or a stemmer such as porter.
        stop: none, or a list of stop words such as en.
        anchors: Take the passages' anchors for their words.
    """

    tokenizer: Annotated[str, Flag(metavar="NAME")] = "words"
    stem: Annotated[str, Flag(metavar="NAME")] = "none"
    stop: Annotated[str, Flag(metavar="LANG", first=True)] = "none"
    anchors: bool = False

    @property
    def signature(self) -> str:
        """The part of a score's signature that says how passages were read."""
        from postil.text.stems import stems_signature  # noqa: PLC0415 - help does without it
        from postil.text.tokenizers import tokenizer  # noqa: PLC0415

        stem = "none" if self.stem == "none" else stems_signature(self.stem)
        words = "anchors" if self.anchors else tokenizer(self.tokenizer).signature
        return f"words:{words}|stop:{self._stop}|stem:{stem}"

    @property
    def word_facts(self) -> dict[str, str]:
        """The facts that word vectors depend on: ``tokenizer`` and ``stop``; anchors have no stop words."""
        from postil.text.tokenizers import tokenizer  # noqa: PLC0415 - help does without it

        if self.anchors:
            return {"tokenizer": "anchors"}
        return {"tokenizer": tokenizer(self.tokenizer).signature, "stop": self._stop}

    @property
    def _stop(self) -> str:
        from postil.text.stop_words import stop_words_signature  # noqa: PLC0415 - help does without it

        return "none" if self.stop == "none" else stop_words_signature(self.stop)

    def collection(
        self,
        passages: Sequence[Passage],
        places: RowLocations,
        jobs: int = 1,
        longest: NDArray[np.int64] | None = None,
        stops: Sequence[str] | None = None,
    ) -> PassageCollection:
        """Tokenize passages.

        Args:
            passages: n passages.
            places: Their locations, for messages.
            jobs: Number of threads; the result does not depend on it.
            longest: int64[n], number of words, stop words among them, at which each passage is cut; by default none is.
            stops: Stop list of each passage, in place of `stop`.

        Raises:
            InvalidInput: More than a tenth of the passages are Han text and meet the ``words`` tokenizer.
            UnknownName: There is no such tokenizer, stop list or stemmer.
            UsageError: The anchors are asked for and no passage has any.
        """
        from postil.metrics.passage_pools import PassageCollection  # noqa: PLC0415 - help does without it
        from postil.text.han import HanTexts, all_remarks  # noqa: PLC0415
        from postil.text.stems import stems  # noqa: PLC0415
        from postil.text.stop_words import without_stop_words  # noqa: PLC0415
        from postil.text.tokenizers import tokenizer  # noqa: PLC0415
        from postil.text.tokens import Tokens, Vocabulary  # noqa: PLC0415
        from postil.text.vectors import as_written  # noqa: PLC0415

        split_by = tokenizer(self.tokenizer)
        if self.anchors:
            anchors = [[" ".join(each.lower().split()) for each in passage.anchors] for passage in passages]
            if not any(anchors):
                raise UsageError(
                    "{anchors}: no passage has any; fill the field anchors or leave it out", anchors=Setting("anchors")
                )
            whole = [[" ".join(each.split()) for each in passage.anchors] for passage in passages]
            return PassageCollection(
                Vocabulary().encode_tokens(anchors),
                passages=passages,
                written=lambda: Vocabulary().encode_tokens(whole),
            )
        texts = [passage.text for passage in passages]
        han = HanTexts(split_by, "passages")
        han.see(texts)
        han.check(lambda place, problem: places.error(place, "text", problem))
        encoded = split = Vocabulary().encode(texts, split_by, jobs, allow_han=True, keep_texts=True)
        cut = 0
        if longest is not None:
            cut = int((encoded.lengths > longest).sum())
            encoded = encoded.truncated(longest)
        words = tokens = without_stop_words(encoded, self.stop, stops)
        if self.stem != "none":
            # One call of the stemmer per distinct word, not per token.
            stem_of = Vocabulary().encode_tokens([stems(words.vocabulary.words(), self.stem)])
            tokens = Tokens(stem_of.ids[words.ids], words.offsets, stem_of.vocabulary)

        def written() -> Tokens:
            forms = as_written(split)
            return without_stop_words(forms if longest is None else forms.truncated(longest), self.stop)

        remark = "; ".join(all_remarks(han))
        return PassageCollection(
            tokens, words, remark, cut=cut, lengths=encoded.lengths, passages=passages, written=written
        )
