"""The tables of Automatic Article Commenting (ACL 2018): what was found here, and below it what the paper prints."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from postil.app.evaluating.references import HUMAN
from postil.app.report.words import control, listed, number
from postil.app.study.stages import paper
from postil.commenters.evaluation import distinct
from postil.errors import Undefined
from postil.metaeval.human import HALVES
from postil.metaeval.table import CONTROL
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.commenters.store import Model
    from postil.records.rows import Candidate
    from postil.records.scale import Scale

    Row = dict[str, Any]

__all__ = ["Told", "comments_study", "weights_in_words"]

SPLITS: Final = ("train", "dev", "test", "all")
PRINTED: Final = "in the paper"
DRAWN: Final = "a comment of each article, drawn with seed {seed}, that is no reference for anybody"
KAPPAS: Final = {"kappa-unweighted-pairs": "unweighted", "kappa-quadratic-pairs": "with quadratic weights"}
"""Those that are told: the mean over pairs of annotators."""
CATEGORIES: Final = 15
"""The paper's Figure 2 has as many."""

STATISTICS: Final = {
    "articles": ("articles", 0),
    "comments_an_article": ("comments an article", 1),
    "upvotes": ("upvotes a comment", 1),
    "title_words": ("words a title", 1),
    "content_words": ("words a content", 1),
    "comment_words": ("words a comment", 1),
    "distinct_words": ("distinct words", 0),
    "categories": ("categories", 0),
    "grades": ("grade of a comment", 2),
    "grades_sd": ("… standard deviation", 2),
    "top_grade_comments": ("share of comments with the top grade", 3),
}


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the tables are about.

    Args:
        where: The corpus.
        tokenizer: Its tokenizer.
        articles: How many test articles there are.
        left_out: How many more have no two comments that differ.
        weights: Where weights come from.
        scale: The scale of the grades, if weights come from them.
        chosen: Whether somebody chose that.
        fitting: The configuration that fits the paper's own tables.
        seed: The seed.
        models: The commenters.
        others: Those of them that were made of another corpus.
        given: Systems that were run elsewhere, each with the file that says so.
        statistics: What `postil corpus stats` printed.
        scores: What `postil score` printed.
        candidates: What each system says of each article.
        judged: What `postil correlate` printed; None where there are no judgements.
    """

    where: str
    tokenizer: str
    articles: int
    left_out: int
    weights: str
    scale: Scale | None
    chosen: bool
    fitting: str
    seed: int
    models: Mapping[str, Model]
    others: Sequence[str]
    given: Mapping[str, str]
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


def comments_study(told: Told) -> dict[str, Any]:
    """The study as a result that `postil report` takes.

    Args:
        told: What it is about.
    """
    printed, weights = paper("comments"), weights_in_words(told.weights, told.scale, chosen=told.chosen)
    return {
        "schema": 1,
        "kind": "study",
        "name": PurePath(told.where).name,
        "title": "Automatic article commenting, table by table",
        "data": f"{told.articles:,} test articles; {_systems_in_words(told)}; {weights}",
        "weights": weights,
        "conclusion": [
            *_highest(told.scores, printed["systems"]),
            f"Rows “{PRINTED}”: {printed['of']}. On other corpora the order compares, not the numbers.",
        ],
        "parts": [
            _corpus(told.statistics, printed),
            *([_commenters(told.models)] if told.models else []),
            _systems(told, printed, weights),
            _people(told, printed, weights),
        ],
        "settings": [
            ["corpus", told.where],
            ["words", told.tokenizer],
            list(weights.split(": ", 1)),
            *([["left out", f"articles without two comments that differ: {told.left_out:,}"]] if told.left_out else []),
            *([["run elsewhere", f"{listed(list(told.given))} ({file})"] for file in set(told.given.values())]),
            *([[HUMAN, DRAWN.format(seed=told.seed)]] if HUMAN not in told.given else []),
            *(
                [["made of another corpus", f"{listed(told.others)}; what they have seen is not known"]]
                if told.others
                else []
            ),
            ["the paper", printed["source"]],
        ],
    }


def _systems_in_words(told: Told) -> str:
    given = [system for system in told.given if system != HUMAN]
    said = [
        f"{n} {name}{'s' * (n > 1)}" for n, name in ((len(told.models), "commenter"), (len(given), "given system")) if n
    ]
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
    options = model.made.get("options", {})
    network = options.get("network", {}) or options.get("relevance", {})
    said = [f"ranked by {options['ranker']}"] if "ranker" in options else []
    said += [f"{name} {value}" for name, value in {**network, **options.get("training", {})}.items()]
    return ", ".join(said) or "as usual"


def _dev(model: Model) -> str:
    dev = model.made.get("dev")
    if isinstance(dev, dict) and dev.get("loss") is not None:
        return f"perplexity {math.exp(dev['loss']):,.1f} a word"
    rows = dev if isinstance(dev, list) else []
    own = [row for row in rows if row["scorer"] == rows[0]["scorer"] and row["measure"] in {"recall@1", "mrr"}]
    return ", ".join(f"{row['measure']} {row['value']:.3f}" for row in own) or "none"


def _systems(told: Told, printed: Mapping[str, Any], weights: str) -> dict[str, Any]:
    """Table 7: a row a metric, a column a system."""
    cells: dict[str, dict[str, float]] = {}
    for row in told.scores["scores"]:
        cells.setdefault(row["metric"], {})[row["system"]] = row["score"]
    systems = list(dict.fromkeys(row["system"] for row in told.scores["scores"]))
    rows: list[Row] = []
    for metric, by_system in cells.items():
        rows.append({"name": _short(metric, told), "cells": [by_system.get(system) for system in systems]})
        rows += _printed_row(printed["systems"], _named(metric, told), systems)
    rows += _of_people(told.judged, printed["systems"], systems)
    rows += _of_texts(told, systems)
    table = {
        "key": "table-7",
        "caption": f"Table 7: the best suggestion of each system, over {told.articles:,} articles; {weights}",
        "head": ["", *systems],
        "rows": rows,
    }
    words = f"“The paper’s reading” is {told.fitting}: with weights grade / 5 it fits the paper’s own tables best."
    return {"key": "systems", "title": "The systems (Table 7)", "tables": [table], "words": [words]}


def _named(metric: str, told: Told) -> str:
    """The paper's name of a metric."""
    plain = told.fitting.removeprefix("w-").replace(",corpus=chosen", "")
    return {told.fitting: "w-meteor", plain: "meteor"}.get(metric, metric)


def _short(metric: str, told: Told) -> str:
    """What a metric is called in a table."""
    named = _named(metric, told)
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


def _of_texts(told: Told, systems: Sequence[str]) -> list[Row]:
    """What each system says, whatever the references."""
    cut = named_tokenizer(told.tokenizer)
    columns: dict[str, list[float | int | None]] = {}
    for system in systems:
        texts = [row.text for row in told.candidates if row.system == system]
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


def _people(told: Told, printed: Mapping[str, Any], weights: str) -> dict[str, Any]:
    """Table 3: each metric against people, its controls below it."""
    judged = told.judged
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
        rows.append(
            _against(_short(metric, told), found[metric], "", printed["correlations"].get(_named(metric, told), {}))
        )
        for name, of in found.items():
            match = CONTROL.fullmatch(name)
            if match and match["metric"] == metric:
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
