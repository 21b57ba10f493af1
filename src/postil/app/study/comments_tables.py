"""The tables of Automatic Article Commenting (ACL 2018): what was found here, and below it what the paper prints."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.app.readers import HUMAN
from postil.app.study.comments_options import FITTING, FITTING_PLAIN
from postil.app.study.stages import paper
from postil.commenters.ranking_evaluation import distinct
from postil.errors import Undefined
from postil.records.names import HALVES, control, metric_of
from postil.records.results import StudyResult
from postil.render.formats import counted, listed
from postil.render.numbers import number
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.study.comments import CommentsStudy
    from postil.commenters.store import Model
    from postil.records.rows import Candidate
    from postil.records.scale import Scale

    Row = dict[str, Any]

__all__ = ["Made", "comments_study", "weights_in_words"]

SPLITS: Final = ("train", "dev", "test", "all")
PRINTED: Final = "in the paper"
DRAWN: Final = "a comment of each article, drawn with seed {seed}, that is no reference for anybody"
TIED: Final = "in {:,} of {:,} articles no reference has more votes than another; all weigh 1 there"
KAPPAS: Final = {"kappa-unweighted-pairs": "unweighted", "kappa-quadratic-pairs": "with quadratic weights"}
"""Those that are told: the mean over pairs of annotators."""
CATEGORIES: Final = 15
"""The paper's Figure 2 has as many."""

STATISTICS: Final = {
    "articles": ("articles", 0),
    "comments_per_article": ("comments per article", 1),
    "upvotes": ("upvotes per comment", 1),
    "title_words": ("words per title", 1),
    "content_words": ("words per content", 1),
    "comment_words": ("words per comment", 1),
    "distinct_words": ("distinct words", 0),
    "categories": ("categories", 0),
    "grades": ("grade per comment", 2),
    "grades_sd": ("… standard deviation", 2),
    "top_grade_comments": ("share of comments with the top grade", 3),
}


@dataclass(frozen=True, kw_only=True)
class Made:
    """What the stages before the tables have made.

    Args:
        models: The commenters.
        statistics: What `postil corpus stats` printed.
        scores: What `postil score` printed.
        candidates: What each system says of each article.
        judged: What `postil correlate` printed; None where there are no judgements.
    """

    models: Mapping[str, Model]
    statistics: Mapping[str, Any]
    scores: Mapping[str, Any]
    candidates: Sequence[Candidate]
    judged: Mapping[str, Any] | None


def weights_in_words(method: str, scale: Scale | None, *, chosen: bool = False) -> str:
    """Where the weights of references come from.

    Args:
        method: A weights method, or ``consensus``.
        scale: The scale of the grades, if they are read.
        chosen: Whether somebody chose it, though there may be grades.

    >>> weights_in_words("votes", None)
    'weights of references: readers’ votes, for want of human grades'
    """
    why = "" if chosen else ", for want of human grades"
    if scale is not None:
        return f"weights of references: people’s grades on the scale {scale} ({method})"
    if method == "votes":
        return f"weights of references: readers’ votes{why}"
    if method.startswith("consensus"):
        why = "" if chosen else ", for want of human grades and votes"
        return f"weights of references: likeness to the article’s other references ({method}){why}"
    return f"weights of references: {method}"


def comments_study(study: CommentsStudy, made: Made) -> StudyResult:
    """The study as a result that `postil report` takes.

    Args:
        study: What it is about.
        made: What was found.
    """
    printed, readers, options = paper("comments"), study.readers, study.options
    weights = weights_in_words(study.weights, study.scale, chosen=options.weights is not None)
    others = [name for name, model in made.models.items() if study.is_foreign(model)]
    kind, source = weights.split(": ", 1)
    settings = {
        "corpus": str(study.folder),
        "words": study.corpus.tokenizer,
        kind: source,
        "votes": study.weights == "votes" and readers.tied() and TIED.format(readers.tied(), len(readers.articles)),
        "left out": readers.left_out and f"articles without two comments that differ: {readers.left_out:,}",
        "run elsewhere": study.given and f"{listed(list(study.given))} ({options.candidates})",
        HUMAN: HUMAN not in study.given and DRAWN.format(seed=options.seed),
        "made of another corpus": others and f"{listed(others)}; what they have seen is not known",
        "the paper": printed["source"],
    }
    found = {
        "kind": "study",
        "name": study.folder.name,
        "title": "Automatic article commenting, table by table",
        "data": f"{len(readers.articles):,} test articles; {_systems_in_words(study)}; {weights}",
        "weights": weights,
        "conclusion": [
            *_highest(made.scores, printed["systems"]),
            f"Rows “{PRINTED}”: {printed['of']}. On other corpora the order compares, not the numbers.",
        ],
        "parts": [
            _corpus(made.statistics, printed),
            *([_commenters(made.models)] if made.models else []),
            _systems(study, made, printed, weights),
            _people(made.judged, printed, weights),
        ],
        "settings": [[name, value] for name, value in settings.items() if value],
    }
    return msgspec.convert(found, StudyResult)


def _systems_in_words(study: CommentsStudy) -> str:
    given = [system for system in study.given if system != HUMAN]
    said = [counted(n, noun) for n, noun in ((len(study.models), "commenter"), (len(given), "given system")) if n]
    return listed([*said, f"{HUMAN}, a comment of a reader"])


def _highest(scores: Mapping[str, Any], printed: Mapping[str, Any]) -> Iterator[str]:
    """Which commenter has the highest score by which metric of the paper's table, readers aside."""
    best: dict[str, list[str]] = {}
    for metric in dict.fromkeys(row["metric"] for row in scores["scores"] if row["metric"] in printed):
        rows = [row for row in scores["scores"] if row["metric"] == metric and row["system"] != HUMAN]
        top = max(rows, key=lambda row: row["score"])
        best.setdefault(top["system"], []).append(metric)
    if best and len({row["system"] for row in scores["scores"]}) > 2:
        said = (f"{system} by {listed(metrics)}" for system, metrics in best.items())
        yield f"Of the commenters the highest score has {'; '.join(said)}. Which differences are clear is said below."


def _corpus(statistics: Mapping[str, Any], printed: Mapping[str, Any]) -> dict[str, Any]:
    """Table 2, and the categories of Figure 2."""
    splits = statistics["statistics"]["splits"]
    columns = [name for name in SPLITS if name in splits]
    rows: list[Row] = []
    for key, (name, digits) in STATISTICS.items():
        ours = [_statistic(splits[column], key) for column in columns]
        theirs = [printed["statistics"][key].get(column) for column in columns]
        if any(value is not None for value in ours):
            rows += [{"name": name, "cells": ours, "digits": digits}, _theirs(theirs, digits)]
    categories = splits["all"]["categories"]
    names, counts = list(categories)[:CATEGORIES], list(categories.values())[:CATEGORIES]
    if rest := list(categories.values())[CATEGORIES:]:
        names, counts = [*names, f"{len(rest)} others"], [*counts, sum(rest)]
    picture = {
        "title": "Articles by category",
        "caption": "Figure 2: articles by category, all splits together",
        "names": names,
        "counts": counts,
        "aside": int(bool(rest)),
    }
    table = {"key": "table-2", "caption": "Table 2: the corpus", "head": ["", *columns], "rows": rows}
    return {
        "key": "corpus",
        "title": "The corpus (Table 2)",
        "tables": [table],
        "pictures": [picture] if any(counts) else [],
    }


def _statistic(split: Mapping[str, Any], key: str) -> float | int | None:
    if key == "grades_sd":
        found = split["grades"]["sd"]
    elif key == "categories":
        found = len(split[key]) or None
    else:
        found = split[key]["mean"] if isinstance(split[key], dict) else split[key]
    return None if found is None else found if isinstance(found, int) else float(found)


def _commenters(models: Mapping[str, Model]) -> dict[str, Any]:
    """What was trained, and how well it did on dev."""
    rows = [
        {"name": name, "cells": [model.kind, _made(model), _dev(model), model.hash]} for name, model in models.items()
    ]
    table = {
        "key": "commenters",
        "caption": "The commenters; dev is told by each model’s own measure",
        "head": ["commenter", "kind", "made", "dev", "hash"],
        "rows": rows,
    }
    return {"key": "commenters", "title": "The commenters", "tables": [table]}


def _made(model: Model) -> str:
    options = model.metadata.get("options", {})
    network = options.get("network", {}) or options.get("relevance", {})
    said = [f"ranked by {options['ranker']}"] if "ranker" in options else []
    said += [f"{name} {value}" for name, value in {**network, **options.get("training", {})}.items()]
    return ", ".join(said) or "as usual"


def _dev(model: Model) -> str:
    dev = model.metadata.get("dev")
    if isinstance(dev, dict) and dev.get("loss") is not None:
        return f"perplexity {math.exp(dev['loss']):,.1f} a word"
    rows = dev if isinstance(dev, list) else []
    own = [row for row in rows if row["scorer"] == rows[0]["scorer"] and row["measure"] in {"recall@1", "mrr"}]
    return ", ".join(f"{row['measure']} {row['value']:.3f}" for row in own) or "none"


def _systems(study: CommentsStudy, made: Made, printed: Mapping[str, Any], weights: str) -> dict[str, Any]:
    """Table 7: a row a metric, a column a system."""
    cells: dict[str, dict[str, float]] = {}
    for row in made.scores["scores"]:
        cells.setdefault(row["metric"], {})[row["system"]] = row["score"]
    systems = list(dict.fromkeys(row["system"] for row in made.scores["scores"]))
    rows: list[Row] = []
    for metric, by_system in cells.items():
        rows.append({"name": _short(metric), "cells": [by_system.get(system) for system in systems]})
        rows += _printed_row(printed["systems"], _named(metric), systems)
    rows += _of_people(made.judged, printed["systems"], systems)
    rows += _of_texts(study.corpus.tokenizer, made.candidates, systems)
    n = len(study.readers.articles)
    table = {
        "key": "table-7",
        "caption": f"Table 7: the best suggestion of each system, over {n:,} articles; {weights}",
        "head": ["", *systems],
        "rows": rows,
    }
    words = f"“The paper’s reading” is {FITTING}: with weights grade / 5 it fits the paper’s own tables best."
    return {"key": "systems", "title": "The systems (Table 7)", "tables": [table], "words": [words]}


def _named(metric: str) -> str:
    """The paper's name of a metric."""
    return {FITTING: "w-meteor", FITTING_PLAIN: "meteor"}.get(metric, metric)


def _short(metric: str) -> str:
    """What a metric is called in a table."""
    named = _named(metric)
    return metric if named == metric else f"{named}, the paper’s reading"


def _printed_row(table: Mapping[str, Mapping[str, float]], name: str, columns: Sequence[str]) -> list[Row]:
    values = table.get(name, {})
    return [_theirs([values.get(column) for column in columns], 3)] if any(c in values for c in columns) else []


def _theirs(cells: Sequence[float | int | None], digits: int) -> Row:
    return {"name": PRINTED, "cells": list(cells), "kind": "control", "digits": digits}


def _of_people(
    judged: Mapping[str, Any] | None, printed: Mapping[str, Mapping[str, float]], systems: Sequence[str]
) -> list[Row]:
    if judged is None:
        return []
    means = {row["system"]: row for row in judged["systems"]}
    grades = [means[system]["grade"] if system in means else None for system in systems]
    n = [means[system]["n"] if system in means else None for system in systems]
    return [
        {"name": "people’s mean grade", "cells": grades, "kind": "people"},
        *_printed_row(printed, "people", systems),
        {"name": "… of so many texts", "cells": n, "kind": "people"},
    ]


def _of_texts(tokenizer: str, candidates: Sequence[Candidate], systems: Sequence[str]) -> list[Row]:
    """What each system says, whatever the references."""
    cut = named_tokenizer(tokenizer)
    columns: dict[str, list[float | int | None]] = {}
    for system in systems:
        texts = [row.text for row in candidates if row.system == system]
        tokens = Vocabulary().encode(texts, cut, allow_han=True)
        said = sum(map(bool, texts))
        varied: list[float | None] = []
        for n in (1, 2):
            varied.append(None)
            with suppress(Undefined):
                varied[-1] = distinct(tokens.ids, tokens.offsets, n)
        columns[system] = [said, len(tokens.ids) / said if said else None, *varied]
    names = ("suggestions", "mean words", "distinct-1", "distinct-2")
    return [
        {"name": "What they say, whatever the references", "kind": "group"},
        *(
            {"name": name, "cells": [columns[system][place] for system in systems], "digits": 1 if place == 1 else 3}
            for place, name in enumerate(names)
        ),
    ]


def _people(judged: Mapping[str, Any] | None, printed: Mapping[str, Any], weights: str) -> dict[str, Any]:
    """Table 3: each metric against people, its controls below it."""
    part: dict[str, Any] = {"key": "people", "title": "Metrics against people (Table 3)"}
    if judged is None:
        words = (
            "Nobody has graded these suggestions. Let people grade candidates.jsonl (postil annotate) and give the "
            "same command --judgements FILE; what is done is not done again. Below is what the paper found."
        )
        rows = [
            {"name": name, "cells": [of["spearman"], of["pearson"]], "digits": 4}
            for name, of in printed["correlations"].items()
        ]
        table = {
            "key": "table-3",
            "caption": f"Table 3, {PRINTED}",
            "head": ["metric", "Spearman", "Pearson"],
            "rows": rows,
        }
        return {**part, "words": [words], "tables": [table]}
    found: dict[str, dict[str, list[float]]] = {}
    for row in [*judged["correlations"], *judged["human"].get("rows", ())]:
        found.setdefault(row["metric"], {})[row["coefficient"]] = [row["value"], row["low"], row["high"]]
    metrics = [name for name in found if not name.startswith(("control:", "human:"))]
    rows = []
    for metric in metrics:
        rows.append(_against(_short(metric), found[metric], "", printed["correlations"].get(_named(metric), {})))
        for name, of in found.items():
            if metric_of(name) == metric:
                rows.append(_against(control(name), of, "control", {}))
    if "control:length" in found:
        rows.append(_against(control("control:length"), found["control:length"], "", {}))
    if HALVES in found:
        rows.append(_against("Human: split halves", found[HALVES], "people", printed["correlations"]["human"]))
    table = {
        "key": "table-3",
        "caption": f"Table 3: correlation with people, 95 % intervals over articles; controls indented; {weights}",
        "head": ["metric", "Spearman", f"{PRINTED}", "Pearson", f"{PRINTED} "],
        "rows": rows,
    }
    return {**part, "words": list(_of_agreement(judged, printed)), "tables": [table]}


def _against(name: str, of: Mapping[str, list[float]], kind: str, theirs: Mapping[str, float]) -> Row:
    cells = [cell for each in ("spearman", "pearson") for cell in (of.get(each), theirs.get(each))]
    return {"name": name, "cells": cells, "kind": kind}


def _of_agreement(judged: Mapping[str, Any], printed: Mapping[str, Any]) -> Iterator[str]:
    theirs = printed["agreement"]
    estimates = (judged.get("agreement") or {}).get("estimates", {})
    kappas = [f"{number(estimates[name]['value'])} {said}" for name, said in KAPPAS.items() if name in estimates]
    if kappas:
        said = f"{PRINTED} {theirs['kappa']}, {theirs['what']}"
        yield f"Agreement of the annotators, Cohen’s kappa: {listed(kappas)}; {said}."
    if judged["human"].get("ceiling") is not None:
        ceiling = number(judged["human"]["ceiling"])
        yield f"With these grades nothing can be expected above Pearson {ceiling} (the ceiling)."
    yield (
        "The chapter Metrics against people has Figure 1 (scores against grades), Tables 5 and 6 (the texts on which "
        "METEOR and BLEU-1, and W-METEOR and METEOR, differ most) and tests of all differences."
    )
