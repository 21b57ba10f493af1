"""Human ratings in a study of comments: Tables 3 and 4, Figure 1, agreement, and texts with their grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.data.groups import nested
from postil.meta.parts import HALVES, Agreement, Correlation, Points
from postil.results.formats import excerpt, listed
from postil.results.names import LENGTH, control, metric_of
from postil.results.numbers import grade, number
from postil.studies.options import FITTING, FITTING_PLAIN
from postil.studies.papers import PRINTED, CommentsPaper
from postil.studies.result import StudyCell, StudyPart, StudyPicture, StudyRow, StudyTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.correlation.result import CorrelationResult, DisagreementPair
    from postil.data.parts import Estimate
    from postil.data.rows import Article

__all__ = [
    "agreement_part",
    "base",
    "disagreements_part",
    "examples_part",
    "first_reading",
    "pairs",
    "people_part",
    "printed_name",
    "short",
    "unjudged_part",
]

KAPPAS: Final = {"kappa-unweighted-pairs": "unweighted", "kappa-quadratic-pairs": "with quadratic weights"}
"""The kappas that are shown: means over pairs of annotators."""
PIS: Final = {"kappa-unweighted-pooled": "unweighted", "kappa-quadratic-pooled": "with quadratic weights"}
"""The statistics beside them that need no names of annotators."""
PEOPLE: Final = "Metrics against human ratings (Table 3)"
COEFFICIENTS: Final = {"spearman": "Spearman", "pearson": "Pearson"}
PANELS: Final = ("bleu-1", "meteor", "w-meteor")
"""The metrics of Figure 1."""


def base(metric: str) -> str:
    """Name of a metric without its options.

    >>> base("w-meteor(params=2005,penalty=outside)")
    'w-meteor'
    """
    return metric.partition("(")[0]


def first_reading(wanted: str, metrics: Iterable[str]) -> str:
    """The first of several forms of a metric; its bare name where there is none.

    Args:
        wanted: Name of the metric without options.
        metrics: Metrics with their options.

    >>> first_reading("meteor", ["w-meteor", "meteor(params=2005)", "meteor"]), first_reading("cider", [])
    ('meteor(params=2005)', 'cider')
    """
    return next((metric for metric in metrics if base(metric) == wanted), wanted)


def printed_name(metric: str, *, readings: bool) -> str:
    """Name of a metric in the paper.

    Args:
        metric: The metric.
        readings: True if every form of a metric is a reading of the paper’s equation.

    >>> printed_name("cider(n=2)", readings=False), printed_name("cider(n=2)", readings=True)
    ('cider(n=2)', 'cider')
    """
    return base(metric) if readings or metric in {FITTING, FITTING_PLAIN} else metric


def short(metric: str) -> str:
    """Label of a metric in a table.

    >>> short("w-bleu-1")
    'w-bleu-1'
    """
    return f"{base(metric)}, the paper’s reading" if metric in {FITTING, FITTING_PLAIN} else metric


def unjudged_part(printed: CommentsPaper) -> StudyPart:
    """Table 3 of the paper alone.

    Args:
        printed: The paper.
    """
    words = (
        "These suggestions have no human ratings. Have candidates.jsonl rated (postil annotate) and run the same "
        "command with --judgements FILE; finished stages are not repeated. Below are the numbers of the paper."
    )
    rows = (
        StudyRow(name=name, cells=(of["spearman"], of["pearson"]), digits=4)
        for name, of in printed.correlations.items()
    )
    head = ("metric", "Spearman", "Pearson")
    table = StudyTable(key="table-3", caption=f"Table 3, {PRINTED}", head=head, rows=tuple(rows))
    return StudyPart(key="people", title=PEOPLE, words=(words,), tables=(table,))


def people_part(judged: CorrelationResult, printed: CommentsPaper, weights: str, *, tested: bool) -> StudyPart:
    """Table 3: the correlation of each metric with human ratings, its controls below it.

    Args:
        judged: The correlations.
        printed: The paper.
        weights: Source of the references’ weights, in words.
        tested: True for p-values and Figure 1 as well; every form of a metric is then a reading of the paper’s.
    """
    caption = (
        f"{'Tables 3 and 4' if tested else 'Table 3'}: correlation with human ratings, 95 % confidence intervals over "
        f"articles; controls indented; {weights}"
    )
    if tested:
        least = number(2 / (judged.settings.resamples + 1), 4)
        caption += f"; p two-sided by the same resamples, {least} at least; {PRINTED} all p < .01"
    columns = ("p", PRINTED) if tested else (PRINTED,)
    heads = [
        (name, *(f"{column}{' ' * place}" for column in columns)) for place, name in enumerate(COEFFICIENTS.values())
    ]
    table = StudyTable(
        key="table-3",
        caption=caption,
        head=("metric", *heads[0], *heads[1]),
        rows=tuple(_correlated(judged, printed, tested=tested)),
    )
    if not tested:
        return StudyPart(key="people", title=PEOPLE, words=tuple(_in_words(judged, printed)), tables=(table,))
    return StudyPart(
        key="people",
        title="Metrics against human ratings (Tables 3 and 4, Figure 1)",
        words=tuple(_ceiling(judged)),
        tables=(table,),
        pictures=tuple(_figure_1(judged)),
    )


def _correlated(judged: CorrelationResult, printed: CommentsPaper, *, tested: bool) -> Iterator[StudyRow]:
    """The rows of Table 3."""
    found = nested((row.metric, row.coefficient, row) for row in [*judged.correlations, *judged.human.rows])
    digits = 4 if tested else 3

    def cells(name: str, theirs: Mapping[str, float]) -> Iterator[StudyCell]:
        for coefficient in COEFFICIENTS:
            row = found[name].get(coefficient)
            yield _estimated(row)
            if tested:
                yield row.p if row else None
            yield theirs.get(coefficient)

    for metric in found:
        if metric.startswith(("control:", "human:")):
            continue
        theirs = printed.correlations.get(printed_name(metric, readings=tested), {})
        yield StudyRow(name=short(metric), cells=tuple(cells(metric, theirs)), digits=digits)
        for name in found:
            if metric_of(name) == metric:
                yield StudyRow(name=control(name), cells=tuple(cells(name, {})), kind="control", digits=digits)
    if LENGTH in found:
        yield StudyRow(name=control(LENGTH), cells=tuple(cells(LENGTH, {})), digits=digits)
    if HALVES in found:
        halves = tuple(cells(HALVES, printed.correlations["human"]))
        yield StudyRow(name="human: split-half correlation", cells=halves, kind="people", digits=digits)


def _in_words(judged: CorrelationResult, printed: CommentsPaper) -> Iterator[str]:
    estimates = judged.agreement.estimates if judged.agreement else {}
    kappas = [f"{number(estimates[name].value)} {said}" for name, said in KAPPAS.items() if name in estimates]
    if kappas:
        said = f"{PRINTED} {printed.agreement.kappa}, {printed.agreement.what}"
        yield f"Inter-annotator agreement, Cohen’s kappa: {listed(kappas)}; {said}."
    yield from _without_kappa(judged.agreement, "suggestions")
    yield from _ceiling(judged)
    yield (
        "The chapter Metrics against human ratings has Figure 1 (scores against ratings), Tables 5 and 6 (the texts on "
        "which METEOR and BLEU-1, and W-METEOR and METEOR, differ most) and tests of all differences."
    )


def _without_kappa(found: Agreement | None, what: str) -> Iterator[str]:
    """A sentence where annotators are numbered by position, or have too few texts."""
    reason = found and found.absent.get(next(iter(KAPPAS)))
    if reason:
        yield f"Of the ratings of {what} there is no Cohen’s kappa to compare with that of the paper: {reason}."


def _ceiling(judged: CorrelationResult) -> Iterator[str]:
    """The reliability ceiling, and what intervals over few articles do not allow."""
    yield from (f"{few}." for few in judged.few_remarks())
    if judged.human.ceiling is not None:
        ceiling = number(judged.human.ceiling)
        yield f"The reliability ceiling, the expected upper bound of Pearson’s coefficient, is {ceiling} here."


def _figure_1(judged: CorrelationResult) -> Iterator[StudyPicture]:
    """The scores of three metrics against the ratings: of several readings of a metric the first."""
    points = judged.points
    if points is None:
        return
    names = [name for wanted in PANELS if (name := first_reading(wanted, points.scores)) in points.scores]
    if not names:
        return
    values = {(row.metric, row.coefficient): row.value for row in judged.correlations}
    notes = (
        ", ".join(
            f"{label} {number(values[name, key])}" for key, label in COEFFICIENTS.items() if (name, key) in values
        )
        for name in names
    )
    yield StudyPicture(
        key="figure-1",
        title="Scores against ratings",
        caption=f"Figure 1: scores against the mean ratings of {len(points.grades):,} texts, with the least-squares "
        "line. Only in the picture, ratings of at most 50 different values have Gaussian noise of standard deviation "
        ".05",
        points=Points(grades=points.grades, scores={name: points.scores[name] for name in names}),
        notes=tuple(notes),
        xlabel="human rating",
        ylabel="score",
    )


def agreement_part(judged: CorrelationResult | None, references: Agreement | None, printed: CommentsPaper) -> StudyPart:
    """Cohen’s kappa of the ratings of references and of suggestions, and the split-half correlation of the latter.

    Args:
        judged: Correlations with the ratings of suggestions; None where there are no ratings.
        references: Agreement of the ratings of references; None where no reference has two.
        printed: The paper.
    """
    both = (references, judged.agreement if judged else None)
    theirs = printed.agreement
    raters = ((len(each.raters) or "not told apart") if each else None for each in both)
    ratings = (each.ratings / each.texts if each else None for each in both)
    rows = [
        StudyRow(name="annotators", cells=(*raters, theirs.annotators)),
        StudyRow(name="ratings per text", cells=(*ratings, theirs.ratings), digits=1),
    ]
    for name, said in KAPPAS.items():
        kappas = (_estimated(each.estimates.get(name) if each else None) for each in both)
        rows.append(StudyRow(name=f"Cohen’s kappa, {said}", cells=(*kappas, theirs.kappa)))
    for name, said in PIS.items():
        pis = (_estimated(each.estimates.get(name) if each else None) for each in both)
        rows.append(StudyRow(name=f"Scott’s pi, {said}", cells=(*pis, None)))
    halves = {row.coefficient: row for row in (judged.human.rows if judged else ()) if row.metric == HALVES}
    for coefficient, label in COEFFICIENTS.items():
        cells = (None, _estimated(halves.get(coefficient)), printed.correlations["human"][coefficient])
        rows.append(StudyRow(name=f"split-half correlation, {label}", cells=cells, digits=4))
    table = StudyTable(
        key="agreement",
        caption="Inter-annotator agreement, 95 % confidence intervals over articles; kappa is the mean over pairs of "
        "annotators, Scott’s pi over all pairs of ratings. The kappa of the paper is that of its references; it cites "
        "weighted kappa without naming weights",
        head=("", "references", "suggestions", PRINTED),
        rows=tuple(rows),
    )
    named = zip(both, ("the references", "the suggestions"), strict=True)
    words = tuple(sentence for found, what in named for sentence in _without_kappa(found, what))
    return StudyPart(key="agreement", title="Inter-annotator agreement", words=words, tables=(table,))


def _estimated(found: Correlation | Estimate | None) -> StudyCell:
    return None if found is None else (found.value, found.low, found.high)


TITLE: Final = 100
COMMENT: Final = 300
CONTENT: Final = 1000
"""Largest numbers of characters of a title, a comment and a content."""

REFERENCES: Final = 100
"""Largest number of references of an example; the paper has 27."""

SHOWN: Final = 3
"""Largest number of texts of a pair of metrics in each direction; the paper has one."""

TABLES: Final = {("meteor", "bleu-1"): 5, ("w-meteor", "meteor"): 6}
"""Numbers of the paper's tables of disagreements, by the pair of metrics."""


def pairs(metrics: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of metrics of Tables 5 and 6, each in its first reading.

    Args:
        metrics: The metrics of the study; those that are not among them have their bare names.

    >>> pairs(["meteor(alignment=2005)", "bleu-1"])
    (('meteor(alignment=2005)', 'bleu-1'), ('w-meteor', 'meteor(alignment=2005)'))
    """
    names = list(metrics)
    return tuple((first_reading(one, names), first_reading(other, names)) for one, other in TABLES)


def disagreements_part(judged: CorrelationResult, articles: Sequence[Article]) -> StudyPart | None:
    """Tables 5 and 6: the texts on which two metrics differ most, with the scores on the scale of the ratings.

    Args:
        judged: The correlations.
        articles: The articles, for their titles.

    Returns:
        The section; None where none of these metrics was scored.
    """
    found: dict[int, DisagreementPair] = {}
    for pair in judged.disagreements:
        place = TABLES.get((base(pair.first), base(pair.second)))
        if place is not None and pair.texts:
            found.setdefault(place, pair)
    if not found:
        return None
    titles = {article.id: article.title for article in articles}
    limits = judged.data.scale or "their range"
    words = (
        "Scores are normalized to the mean and the variance of the human ratings and clipped to "
        f"{limits}; the original score is in parentheses. Titles are cut at {TITLE} characters, comments at {COMMENT}."
    )
    return StudyPart(
        key="disagreements",
        title="Examples of scores (Tables 5 and 6)",
        words=(words,),
        tables=tuple(_of_pair(place, found[place], titles) for place in sorted(found)),
    )


def _of_pair(place: int, pair: DisagreementPair, titles: Mapping[str, str]) -> StudyTable:
    """A table in the paper’s form: below one another a text’s title, comment and scores."""
    rows: list[StudyRow] = []
    for name, sign in ((pair.first, 1), (pair.second, -1)):
        for text in [text for text in pair.texts if text.difference * sign > 0][:SHOWN]:
            rows.append(StudyRow(name=f"{name} is higher", kind="group"))
            values = {
                "title": excerpt(titles.get(text.item, text.item), TITLE),
                "comment": None if text.text is None else excerpt(text.text, COMMENT),
                "system": text.system,
                "human": grade(text.grade),
            }
            for metric, normalized, score in zip((pair.first, pair.second), text.normalised, text.scores, strict=True):
                values[metric] = f"{grade(normalized)} ({number(score)})"
            rows += [StudyRow(name=label, cells=(value,)) for label, value in values.items()]
    return StudyTable(
        key=f"table-{place}",
        caption=f"Table {place}: texts on which {pair.first} and {pair.second} differ most, {SHOWN} at most in each "
        "direction",
        head=("", "text"),
        rows=tuple(rows),
    )


def examples_part(articles: Sequence[Article]) -> StudyPart:
    """Tables 8 and 9: two articles with their references.

    Args:
        articles: The test articles; the first two are taken.
    """
    words = (
        f"The first two test articles with their references as they are stored, {REFERENCES} at most; contents are cut "
        f"at {CONTENT:,} characters, comments at {COMMENT}."
    )
    return StudyPart(
        key="examples",
        title="Examples of articles (Tables 8 and 9)",
        words=(words,),
        tables=tuple(_example(place, article) for place, article in enumerate(articles[:2], 8)),
    )


def _example(place: int, article: Article) -> StudyTable:
    rows = [
        StudyRow(name="article", cells=(article.id,)),
        StudyRow(name="title", cells=(excerpt(article.title, CONTENT),)),
    ]
    if article.content:
        rows.append(StudyRow(name="content", cells=(excerpt(article.content, CONTENT),)))
    measure, values = _quality(article)
    references = list(zip(values, article.comments, strict=True))[:REFERENCES]
    rows.append(StudyRow(name=f"{measure} and text of each reference", kind="group"))
    rows += [StudyRow(name=value, cells=(excerpt(comment.text, COMMENT),)) for value, comment in references]
    total = len(article.comments)
    some = f"{REFERENCES} of {total:,}" if total > REFERENCES else f"its {total}"
    return StudyTable(
        key=f"table-{place}",
        caption=f"Table {place}: a test article with {some} references",
        head=("", "text"),
        rows=tuple(rows),
    )


def _quality(article: Article) -> tuple[str, Sequence[str]]:
    """The quality of an article’s references as it is stored, by name: grades, else votes, else their numbers."""
    grades = [comment.mean_grade for comment in article.comments]
    votes = [comment.upvotes for comment in article.comments]
    if all(value is not None for value in grades):
        return "grade", [grade(value) for value in grades if value is not None]
    if all(value is not None for value in votes):
        return "upvotes", [f"{value:,}" for value in votes if value is not None]
    return "number", [str(place) for place in range(1, len(article.comments) + 1)]
