"""Provider of nCG for `ir_measures`, with real grades.

Importing this module registers the measure ``nCG`` and the provider ``postil``, so that
``ir_measures.parse_measure("nCG@10")`` and ``ir_measures.calc_aggregate`` know it. The providers of `ir_measures`
itself take integers as grades alone.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, get_args

import numpy as np

from postil.errors import InvalidInput, UnknownName, UsageError
from postil.passages.gain import Ranked, Ties, share_of_best

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["query_gains", "rich_queries"]


def query_gains(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Mapping[str, float]],
    cutoff: int,
    ties: Ties = "expected",
) -> dict[str, float]:
    """Compute nCG of each query: the gain of the best k documents of a run / the best sum of k grades.

    Source: `postil.passages.gain.normalized_gains`. As usual in information retrieval, a document that the run does not
    have adds nothing, and one without a grade has grade 0.

    Args:
        qrels: Grade of each document by query, real numbers of at least 0.
        run: Score of each document by query; higher is better.
        cutoff: Rank cutoff k, 1 or more.
        ties: `expected` takes the mean over all orders of tied documents; `key` puts the lower document id first.

    Returns:
        nCG from 0 to 1 by query, in the order of the run. Queries without a grade above 0 have none, and the provider
        leaves them out of the mean; queries that the run does not have are 0 there.

    Raises:
        InvalidInput: A grade is negative or not finite, or a score is NaN; says which.
        UsageError: The cutoff is below 1; `UnknownName` for another tie rule.

    >>> query_gains({"q": {"a": 0.5, "b": 2.0, "c": 0.0}}, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}, 2)
    {'q': 0.2}
    """
    if cutoff < 1:
        raise UsageError(f"cutoff: expected an integer of at least 1, got {cutoff}")
    UnknownName.check("tie rule", ties, get_args(Ties))
    k = np.array([cutoff])
    judged = rich_queries(qrels)
    found = {}
    for query, documents in run.items():
        if query not in judged or not documents:
            continue
        scores = np.array(list(documents.values()), np.float64)
        for place in np.flatnonzero(np.isnan(scores)):
            raise InvalidInput(f"{query}: {list(documents)[place]}: expected a number, got NaN", where="run")
        gains = np.array([qrels[query].get(document, 0.0) for document in documents], np.float64)
        ranked = Ranked(scores, gains, list(documents) if ties == "key" else None)
        best = Ranked.best(np.array(list(qrels[query].values()), np.float64))
        found[query] = float(share_of_best(ranked, best, k)[0, 0])
    return found


def rich_queries(qrels: Mapping[str, Mapping[str, float]]) -> set[str]:
    """Queries that have a grade above 0, and so an nCG; 0 would be a value of a ranking that nobody can improve.

    Args:
        qrels: Grade of each document by query.

    Raises:
        InvalidInput: A grade is negative or not finite; says which.

    >>> rich_queries({"q1": {"a": 0.25}, "q2": {"a": 0.0}})
    {'q1'}
    """
    for query, documents in qrels.items():
        for document, grade in documents.items():
            if not 0 <= grade < np.inf:
                problem = f"expected a finite number of at least 0, got {grade:g}"
                raise InvalidInput(f"{query}: {document}: {problem}", where="qrels")
    return {query for query, documents in qrels.items() if any(documents.values())}


def __getattr__(name: str) -> object:
    if name in {"nCG", "PostilProvider"}:
        raise UsageError(f"{name} needs the package ir_measures: pip install ir_measures")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


if find_spec("ir_measures") is not None:
    import ir_measures
    from ir_measures import Metric, ParamInfo
    from ir_measures.providers import registry
    from ir_measures.providers.base import Any as AnyValue
    from ir_measures.util import QrelsConverter, RunConverter

    class _NCG(ir_measures.Measure):  # type: ignore[misc]  # ir_measures has no types that are found
        """Normalized cumulative gain, without a discount, of grades that may be real numbers."""

        __name__ = "nCG"
        NAME = "nCG"
        PRETTY_NAME = "Normalized Cumulative Gain"
        SHORT_DESC = "The sum of the grades of the best documents, normalized by the best possible sum."
        SUPPORTED_PARAMS = {  # noqa: RUF012 - as ir_measures has it
            "cutoff": ParamInfo(dtype=int, required=True, desc="rank cutoff"),
            "ties": ParamInfo(dtype=str, choices=list(get_args(Ties)), default="expected", desc="tie rule"),
        }
        # Of a query without a grade above 0, where another measure of the same call has a value for it.
        DEFAULT = float("nan")

        def aggregator(self) -> _MeanOfDefined:
            return _MeanOfDefined()

    class _MeanOfDefined(ir_measures.MeanAgg):  # type: ignore[misc]  # the same
        """Mean over the queries that have a value."""

        def add(self, value: float) -> None:
            if not np.isnan(value):
                super().add(value)

    class PostilProvider(ir_measures.Provider):  # type: ignore[misc]  # the same
        """Provider of nCG; see `query_gains`."""

        NAME = "postil"
        SUPPORTED_MEASURES = [_NCG(cutoff=AnyValue(required=True), ties=AnyValue())]  # noqa: RUF012 - the same

        def _evaluator(self, measures: Iterable[_NCG], qrels: object) -> _Evaluator:
            return _Evaluator(list(measures), QrelsConverter(qrels).as_dict_of_dict())

    class _Evaluator(ir_measures.Evaluator):  # type: ignore[misc]  # the same
        """nCG of any number of runs for the same grades."""

        def __init__(self, measures: list[_NCG], qrels: Mapping[str, Mapping[str, float]]) -> None:
            super().__init__(measures, sorted(rich_queries(qrels)))
            self._qrels = qrels

        def _iter_calc(self, run: object) -> Iterator[Metric]:
            scored = RunConverter(run).as_dict_of_dict()
            for measure in self.measures:
                gains = query_gains(self._qrels, scored, measure["cutoff"], measure["ties"])
                for query in self.qrel_qids:
                    yield Metric(query_id=query, measure=measure, value=gains.get(query, 0.0))

    if "nCG" not in ir_measures.measures.registry:
        ir_measures.measures.register(_NCG(), name="nCG")
    nCG = ir_measures.measures.registry["nCG"]  # noqa: N816 - named as measures of ir_measures are
    if PostilProvider.NAME not in registry:
        ir_measures.DefaultPipeline.providers.append(ir_measures.providers.register(PostilProvider()))
