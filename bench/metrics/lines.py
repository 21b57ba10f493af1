"""Lines of the benchmark: metrics of postil, each with the peers that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bench.metrics import peers, rouge_peers
from bench.metrics.peers import Peer, simple

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from bench.metrics.peers import Score

ASCII_ONLY = "not counted: drops text that is not ASCII, so zh27 is scored as empty"
LENGTH_ONLY = "not counted: the length of the common subsequence alone"
NOT_ALL_REFERENCES = "best reference by F1, not precision and recall apart"


@dataclass(frozen=True)
class Line:
    """One row group: postil's specs and what is measured beside them.

    Attributes:
        name: As in the table, and what ``--line`` takes.
        title: For people.
        specs: Metric specs of postil, scored in one call; a second row scores their weighted forms.
        peers: Packages that are compared with them.
    """

    name: str
    title: str
    specs: tuple[str, ...]
    peers: tuple[Peer, ...] = ()

    @property
    def weighted(self) -> tuple[str, ...]:
        return tuple(f"w-{spec}" for spec in self.specs)


BLEU = ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
METEOR = "meteor(params=en,stages=exact)"


def _peer(
    line: str, name: str, package: str, start: Callable[[], AbstractContextManager[Score]], note: str = ""
) -> Peer:
    return Peer(name, package, line, start, note=note)


def _slow(
    line: str, name: str, package: str, start: Callable[[], AbstractContextManager[Score]], note: str = ""
) -> Peer:
    return Peer(name, package, line, start, slow=True, note=note)


def _jar(line: str, *options: str) -> Peer:
    name = " ".join(f'"{option}"' if " " in option else option for option in options)
    return Peer(f"METEOR jar {name}", "pycocoevalcap", line, peers.jar(*options), java=True)


def _all() -> Line:
    line, package = "all", "pycocoevalcap"
    own = "METEOR with its own flags, -l en -norm"
    coco = (
        Peer("pycocoevalcap, METEOR exact", package, line, peers.coco_all_exact, slow=True, java=True),
        Peer("pycocoevalcap as it is", package, line, peers.coco_all, slow=True, note=own, java=True),
    )
    return Line(line, "BLEU-1..4 + METEOR + ROUGE-L + CIDEr-D in one call", (*BLEU, METEOR, "rouge-l", "cider-d"), coco)


def _bleu() -> list[Line]:
    line, one = "bleu", "bleu-4"
    every = (
        _slow(line, "pycocoevalcap Bleu", "pycocoevalcap", simple(peers.coco_bleu)),
        _slow(line, "nltk sentence_bleu, 4 orders", "nltk", simple(peers.nltk_sentences), "items alone"),
        _slow(line, "fast-bleu 2..4", "fast-bleu", simple(peers.fast_bleu), "items alone, no order 1"),
    )
    last = (
        _peer(one, "bleuscore", "bleuscore", simple(peers.bleuscore_corpus), "corpus alone"),
        _slow(one, "sacrebleu sentence_score", "sacrebleu", simple(peers.sacrebleu_sentences), "items alone"),
        _slow(one, "sacrebleu corpus_score", "sacrebleu", simple(peers.sacrebleu_corpus), "corpus alone"),
        _slow(one, "nltk corpus_bleu", "nltk", simple(peers.nltk_corpus), "corpus alone"),
    )
    return [Line(line, "BLEU-1..4", BLEU, every), Line(one, "BLEU-4", ("bleu-4",), last)]


def _meteor() -> list[Line]:
    line, other, stem = "meteor", "meteor-other", "meteor-stem"
    coco = Peer(
        "pycocoevalcap Meteor (-l en -norm)",
        "pycocoevalcap",
        line,
        peers.coco_meteor,
        slow=True,
        note="not counted: all four stages; Chinese by character",
        java=True,
    )
    exact = (
        _jar(line, "-l", "en", "-m", "exact", "-w", "1.0"),
        _slow(line, "nltk, exact matches alone", "nltk", simple(peers.nltk_meteor), "a greedy alignment"),
        coco,
    )
    return [
        Line(line, "METEOR, exact, en", (METEOR,), exact),
        Line(other, "METEOR, exact, other", ("meteor(params=other,stages=exact)",), (_jar(other, "-l", "other"),)),
        Line(
            stem,
            "METEOR, exact and stem, en",
            ("meteor(params=en,stages=exact+stem)",),
            (_jar(stem, "-l", "en", "-m", "exact stem", "-w", "1.0 0.6"),),
        ),
    ]


def _rouge_scorers(line: str, *types: str) -> tuple[Peer, ...]:
    note = NOT_ALL_REFERENCES
    characters = f"{note}; Chinese by character"
    return (
        _peer(line, "rapidrouge", "rapidrouge", rouge_peers.rouge_scorer("rapidrouge", *types), note),
        _peer(line, "rouge-score-rs", "rouge-score-rs", rouge_peers.rouge_score_rs(*types), characters),
        _slow(line, "rouge-score", "rouge-score", rouge_peers.rouge_scorer("rouge_score", *types), note),
    )


def _rouge() -> list[Line]:
    line, grams = "rouge-l", "rouge-n"
    longest = (
        _slow(line, "pycocoevalcap Rouge", "pycocoevalcap", simple(peers.coco_rouge)),
        *_rouge_scorers(line, "rougeL"),
        _slow(line, "rouge-metric", "rouge-metric", rouge_peers.rouge_metric(rouge_l=True), "best reference by recall"),
        _peer(line, "rapidfuzz LCSseq", "rapidfuzz", simple(rouge_peers.rapidfuzz_lcs), LENGTH_ONLY),
        _peer(line, "rouge-rust (1, 2 and L)", "rouge-rust", simple(rouge_peers.rouge_rust), ASCII_ONLY),
    )
    counted = (
        *_rouge_scorers(grams, "rouge1", "rouge2"),
        _slow(grams, "rouge-metric", "rouge-metric", rouge_peers.rouge_metric(rouge_n=2), "best reference by recall"),
    )
    scored, types = "rouge-score", ("rouge1", "rouge2", "rougeL", "rougeLsum")
    same = (
        _slow(scored, "rouge-score", "rouge-score", rouge_peers.rouge_scorer("rouge_score", *types)),
        _peer(scored, "rapidrouge", "rapidrouge", rouge_peers.rouge_scorer("rapidrouge", *types)),
    )
    f_measures = ("rouge-1(part=f)", "rouge-2(part=f)", "rouge-l(reading=best,beta=1)", "rouge-lsum")
    skips = "rouge-su4"
    pairs = (
        _slow(
            skips, "rouge-metric", "rouge-metric", rouge_peers.rouge_metric(rouge_su=True, skip_gap=4), "best reference"
        ),
    )
    return [
        Line(line, "ROUGE-L", ("rouge-l",), longest),
        Line(grams, "ROUGE-1 and ROUGE-2", ("rouge-1", "rouge-2"), counted),
        Line(scored, "ROUGE-1, -2, -L and -Lsum, F of the best reference", f_measures, same),
        Line(skips, "ROUGE-SU4", ("rouge-su4",), pairs),
    ]


def _cider() -> list[Line]:
    line = "cider-d"
    coco = _slow(line, "pycocoevalcap Cider", "pycocoevalcap", simple(peers.coco_cider))
    return [Line(line, "CIDEr-D", ("cider-d",), (coco,)), Line("cider", "CIDEr", ("cider",))]


def _chrf() -> list[Line]:
    lines = []
    for spec, title, words in (("chrf", "chrF", 0), ("chrf++", "chrF++", 2)):
        sentences, corpus = simple(partial(peers.chrf_sentences, words)), simple(partial(peers.chrf_corpus, words))
        same = (
            _slow(spec, "sacrebleu sentence_score", "sacrebleu", sentences, "items alone"),
            _slow(spec, "sacrebleu corpus_score", "sacrebleu", corpus, "corpus alone"),
        )
        lines.append(Line(spec, title, (spec,), same))
    return lines


LINES: tuple[Line, ...] = (_all(), *_bleu(), *_meteor(), *_rouge(), *_cider(), *_chrf())
