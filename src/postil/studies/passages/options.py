"""Options of `postil study passages`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final

from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Command, Setting
from postil.metrics.folds import FoldsBy
from postil.options import Flag, options
from postil.passages.options import Asked, EqualTexts, PassagesOptions, RankingOptions, RepeatedTexts

__all__ = ["PAPER_PRESET", "PassagesStudyOptions"]

PRESETS: Final = ("paper",)
PAPER_PRESET: Final = Setting("preset", "paper")


@options
class PassagesStudyOptions(RankingOptions):
    """Options of `postil study passages`; see `postil.passages.options.PassagesOptions`.

    Args:
        preset: Preset of all other options: paper, the measures, models and sentences of the publication.
        vectors: Word vectors besides those trained on the collection; repeatable. With the preset, w2v_g (or
            google_news) and w2v_wp_bi (or wiki) are those of the paper.
        summaries: Runs of summarizers (item: the topic, system, text) to score against the pool; with the preset.
        articles: Articles (topic, text): the other reference of the runs.
        measures: Spec of a measure besides those of the study; repeatable. Of whole passages, not of anchors.
        folds_by: Folds of topics: seed, order or consecutive; see postil passages.
        repeated_texts: A text that is informative for several topics: each or once; by default each, once with the
            preset.
        equal_texts: Texts of other topics that are equal to the scored passage: leave or stay.
        train: Train vectors of words and pairs of words on the collection.
        tokenizer: Tokenizer.
        stem: Stemmer, or none; vectors are of words without stemming.
        stop: List of stop words, or none.
        stage: Run this stage alone; by default all that are not done yet.
    """

    preset: Annotated[str | None, Flag(metavar="NAME", first=True)] = None
    vectors: Annotated[Mapping[str, str], Flag(metavar="NAME=FOLDER", first=True)] = field(default_factory=dict)
    summaries: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    articles: Annotated[str | None, Flag(metavar="FILE", once=True, group="Summaries")] = None
    measures: Annotated[tuple[str, ...], Flag("measure", short="m", metavar="SPEC", first=True)] = ()
    folds_by: Annotated[FoldsBy, Flag(metavar="HOW", group="References")] = "seed"
    repeated_texts: Annotated[RepeatedTexts | None, Flag(metavar="HOW", group="References")] = None
    equal_texts: Annotated[EqualTexts, Flag(metavar="HOW", group="References")] = "leave"
    train: Annotated[bool, Flag(group="Measures")] = True
    tokenizer: Annotated[str, Flag(metavar="NAME", group="Words")] = "words"
    stem: Annotated[str, Flag(metavar="NAME", group="Words")] = "porter"
    stop: Annotated[str, Flag(metavar="LANG", group="Words")] = "en"
    stage: Annotated[str | None, Flag(metavar="NAME", first=True)] = None

    def __post_init__(self) -> None:
        if self.preset not in (None, *PRESETS):
            raise UnknownName("preset", str(self.preset), PRESETS)
        if self.measures and self.preset is not None:
            raise UsageError(
                "measure: {preset} has the measures of the paper alone; leave one of them out", preset=PAPER_PRESET
            )
        if self.summaries is not None and self.preset is None:
            raise UsageError(
                "summaries: whole runs belong to {preset}; {command} scores them alone",
                preset=PAPER_PRESET,
                command=Command(
                    "passages", settings=(Setting("summaries"),), call="postil.passages.summaries.score_summaries(…)"
                ),
            )
        if self.articles is not None and self.summaries is None:
            raise UsageError(
                "articles: they are a reference of runs; expected {summaries} as well",
                summaries=Setting("summaries", Blank("FILE")),
            )

    def of(self, reference: Asked, measures: tuple[str, ...], *, anchors: bool) -> PassagesOptions:
        """Options of one run of `postil passages`.

        Args:
            reference: The protocol.
            measures: Specs.
            anchors: True to measure anchors in place of whole passages.
        """
        others = reference == "others"
        return PassagesOptions(
            measures=measures,
            reference=reference,
            folds=self.folds,
            folds_by=self.folds_by if others else "seed",
            repeated_texts=(self.repeated_texts or ("each" if self.preset is None else "once")) if others else "each",
            equal_texts=self.equal_texts if others else "leave",
            leave_one_out=reference == "topic",
            pool=self.pool,
            k=self.k,
            tokenizer=self.tokenizer,
            stem=self.stem,
            stop=self.stop,
            anchors=anchors,
            scale=self.scale,
            resamples=self.resamples,
            seed=self.seed,
            jobs=self.jobs,
        )
