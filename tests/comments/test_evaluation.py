"""Commenters against readers: references and their weights, that numbers are score's, and evaluations over time."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

import postil
from made_retrievers import changed
from postil.comments.commenter import load_commenter
from postil.comments.evaluation import Readers, evaluate_commenters, read_readers
from postil.comments.options import METRICS, EvaluateOptions, RetrieverTrainOptions
from postil.comments.result import ReferenceCounts
from postil.data.grades import Scale
from postil.data.rows import Article, Comment
from postil.data.suggestions import Provenance, Source, Suggestion, Suggestions
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.metrics.evaluation import bind_references
from postil.screening.filtering import CandidateFilter
from postil.text.tokenizers import tokenizer
from postil.training.retrievers import train_retriever
from topic_corpora import corpus_of

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from postil.corpus.store import Corpus


PLAIN = ("rouge-l", "w-rouge-l", "bleu-1")


class Parrot:
    """Suggests the titles it is shown, and nothing where they hold a word."""

    def __init__(self, silent: str = "") -> None:
        self.silent = silent
        self.asked: list[Article] = []

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        self.asked += articles
        made = Provenance.generated("parrot", "0")
        return [
            Suggestions(
                one.id,
                ()
                if self.silent and self.silent in one.title
                else tuple(Suggestion(f"{one.title} {'again ' * n}", -n, n + 1, made) for n in range(k)),
            )
            for one in articles
        ]


def articles(count: int) -> list[Article]:
    words = ("rain", "chess", "votes", "bread")
    return [
        Article(
            f"a{n:02}",
            f"{words[n % 4]} in town{n}",
            tuple(Comment(f"c{c}", f"{words[(n + c) % 4]} reader{c} says so", upvotes=c * (n % 3)) for c in range(6)),
        )
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Six articles of test with four references each and two comments set aside, six of dev."""
    return corpus_of(tmp_path_factory.mktemp("made"), articles(24), 6, 6, references_per_article=4)


def test_a_plugin_scores(corpus: Corpus, tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text("def title_like(candidate, references, weights): return weights[0] * len(candidate)\n")
    options = EvaluateOptions(metrics=("title_like", "w-title_like", "rouge-l"), plugins=(str(plugin),))
    found = evaluate_commenters({"parrot": Parrot()}, corpus, options)
    lengths = [len(each.text) for each in found.candidates if each.system == "parrot"]
    scores = {each.metric: each.score for each in found.result.scores if each.system == "parrot"}
    assert scores["title_like"] == np.mean(lengths) > scores["w-title_like"] > 0
    assert all(each.words for each in found.result.suggestions)  # tokens, which the metric does not read
    alone = evaluate_commenters({"parrot": Parrot()}, corpus, replace(options, metrics=("title_like",)))
    assert alone.result.suggestions == found.result.suggestions


def test_the_numbers_are_those_of_score(corpus: Corpus) -> None:
    parrot = Parrot()
    found = evaluate_commenters({"parrot": parrot}, corpus, EvaluateOptions(metrics=METRICS))
    test = list(corpus.articles("test"))
    texts = {one.item: one.text for one in found.candidates if one.system == "parrot"}
    assert texts == {one.id: f"{one.title} " for one in test}
    assert all(one.comments == () for one in parrot.asked)
    ranks = [np.array([-(comment.upvotes or 0) for comment in one.comments]) for one in test]
    weights = [[float(1 - np.log(1 + (votes < v).sum()) / np.log(5)) for v in votes] for votes in ranks]
    again = postil.score(
        [texts[one.id] for one in test],
        [[comment.text for comment in one.comments] for one in test],
        weights=weights,
        metrics=METRICS,
        items=[one.id for one in test],
    )
    scores = {one.metric: one.score for one in found.result.scores if one.system == "parrot"}
    assert scores == pytest.approx(again.corpus, abs=1e-12)
    for spec in METRICS:
        values = [one.score for one in found.items if (one.system, one.metric) == ("parrot", spec)]
        assert values == pytest.approx(again.items[spec].tolist(), abs=1e-12)
    signatures = {one.metric: one.signature for one in found.result.scores}
    assert "weights:votes|references:4|" in signatures["w-meteor"]
    assert "weights" not in signatures["meteor"]
    assert (found.result.settings.weights, found.result.articles, found.result.left_out) == ("votes", 6, 0)
    assert found.result.references == ReferenceCounts(least=4, most=4, mean=4.0)


def test_humans_say_what_is_no_reference(corpus: Corpus) -> None:
    options = [EvaluateOptions(split=split, metrics=PLAIN, seed=seed) for split in ("test", "dev") for seed in (1, 2)]
    said = []
    for each in options:
        found = evaluate_commenters({"parrot": Parrot()}, corpus, each)
        humans = {one.item: one.text for one in found.candidates if one.system == "human"}
        assert list(dict.fromkeys(one.system for one in found.result.scores)) == ["parrot", "human"]
        said.append(humans)
        for one in corpus.articles(each.split):
            own = {comment.text for comment in one.held_out or one.comments}
            assert humans[one.id] in own
            assert bool(one.held_out) is (each.split == "test")
        counts = found.result.references
        assert (counts.least, counts.most) == ((4, 4) if each.split == "test" else (5, 5))
        assert evaluate_commenters({"parrot": Parrot()}, corpus, each) == found
    assert said[0] != said[1]
    assert said[2] != said[3]


class Thief(Parrot):
    """Suggests for each article a comment of its own, by id; and nothing for the others."""

    def __init__(self, said: dict[str, str]) -> None:
        super().__init__()
        self.said = said

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        del k
        made = Provenance.generated("thief", "0")
        texts = {one.id: (Suggestion(self.said[one.id], 0, 1, made),) for one in articles if one.id in self.said}
        return [Suggestions(one.id, texts.get(one.id, ())) for one in articles]


def test_suggestions_that_are_references_are_counted(corpus: Corpus) -> None:
    test = list(corpus.articles("test"))
    said = {one.id: f" {one.comments[0].text}" for one in test[:2]}
    found = evaluate_commenters({"thief": Thief(said)}, corpus, EvaluateOptions(metrics=("rouge-l",)))
    assert (
        "2 of 12 candidates are references of their own items, so metrics compare them with themselves"
        in found.result.remarks
    )
    assert {one.item for one in found.items if one.equal_references} == set(said)
    none = evaluate_commenters({"parrot": Parrot()}, corpus, EvaluateOptions(metrics=("rouge-l",)))
    assert not any("of their own" in remark for remark in none.result.remarks)


def comments(*texts: str, **fields: Any) -> tuple[Comment, ...]:
    return tuple(Comment(str(n), text, **fields) for n, text in enumerate(texts))


class Stub:
    """A corpus of one split."""

    path = "stub"

    def __init__(self, *some: Article) -> None:
        self.some = some

    def articles(self, _: str) -> Sequence[Article]:
        return self.some


def test_what_is_set_aside_is_no_reference_in_other_words() -> None:
    """Nor is a reader's comment that says the same as a reference drawn where there is another."""
    some = Stub(
        Article("a", "", comments("one", "two", "one"), held_out=comments("two", "three")),
        Article("b", "", comments("one", "two", "one"), held_out=comments("two")),
        Article("c", "", comments("one", "one")),
        Article("d", "", comments("one"), held_out=comments("other")),
        Article("e", "", ()),
    )
    drawn = set()
    for seed in range(20):
        readers = read_readers(some, "test", seed)  # type: ignore[arg-type]
        assert [one.id for one in readers.articles] == ["a", "b", "d"]
        assert readers.left_out == 2
        a, b, d = readers.humans
        assert (a, d) == ("three", "other")
        drawn.add(b)
        assert readers.references == ["one", "two", "one", *(["two"] if b == "one" else ["one", "one"]), "one"]
        assert readers.offsets.tolist() == [0, 3, *([4, 5] if b == "one" else [5, 6])]
    assert drawn == {"one", "two"}
    with pytest.raises(UsageError, match="stub, test: no article has two comments that differ"):
        read_readers(Stub(*some.some[2:3]), "test", 1)  # type: ignore[arg-type]


def weights(name: str | None, scale: Scale | None, *some: Article, lowest: float = 0.0) -> tuple[str, list[float]]:
    readers = Readers("here", some, [], 0)
    name = name or readers.usual_method()
    references = bind_references(readers.weighted(name, scale, lowest=lowest), tokenizer("words"))
    return name, references.weights.tolist()


def test_weights_come_from_grades_else_votes_else_the_others() -> None:
    graded = Article("a", "", (Comment("1", "x y", 5, grade=4.0), Comment("2", "x z", 9, grade=2.0)))
    voted = Article("b", "", (Comment("1", "x y", 5), Comment("2", "x z", 9)))
    third = 1 - np.log(2) / np.log(3)
    assert weights(None, Scale(1, 4), graded) == ("score", [1.0, 0.5])
    assert weights(None, Scale(1, 4), graded, voted) == ("votes", pytest.approx([third, 1, third, 1]))
    bare = Article("c", "", comments("a b", "a c", "d b"))
    # "a b" shares a word with each of the others, which share none
    assert weights(None, None, bare) == ("consensus", [1.0, 0.5, 0.5])
    assert weights("minmax", Scale(1, 4), graded)[1] == pytest.approx([1, 1 / 3])
    assert weights("consensus(rouge-1)", None, graded) == ("consensus(rouge-1)", [1.0, 1.0])


def test_votes_of_nobody_are_no_weights() -> None:
    """Without different votes within an article, votes are no weights."""
    nobody = Article("a", "", comments("x y", "x z", upvotes=0))
    everybody = Article("b", "", comments("x y", "x z", "x y z", upvotes=3))
    voted = Article("c", "", (Comment("1", "x y", 5), Comment("2", "x z", 9)))
    assert weights(None, None, nobody)[0] == "consensus"
    assert weights(None, None, nobody, everybody)[0] == "consensus"
    assert weights(None, None, nobody, voted)[0] == "votes"
    assert weights("votes", None, nobody, everybody)[1] == [1.0] * 5
    assert [Readers("here", some, [], 0).tied() for some in ((nobody,), (nobody, voted), (voted,))] == [1, 1, 0]


@pytest.mark.parametrize(("votes", "tied"), [((0, 0), 6), ((2, 2), 6), ((0, 1), 0)])
def test_what_votes_say_is_told(votes: tuple[int, int], tied: int, tmp_path: Path) -> None:
    some = [msgspec.structs.replace(one, comments=tuple(
        msgspec.structs.replace(comment, upvotes=votes[n % 2]) for n, comment in enumerate(one.comments)
    )) for one in articles(8)]  # fmt: skip
    made = corpus_of(tmp_path, some, 0, 6, references_per_article=4)
    for asked, method in (("votes", "votes"), (None, "consensus" if tied else "votes")):
        options = EvaluateOptions(metrics=PLAIN, weights=asked)
        found = evaluate_commenters({"parrot": Parrot()}, made, options)
        scores = {one.metric: one.score for one in found.result.scores if one.system == "parrot"}
        assert found.result.settings.weights == method
        (line,) = [line for line in found.result.remarks if line.startswith("weights: ")]
        if method == "consensus":
            assert line.endswith("; not every reference has a grade, and no reference has more votes than another")
        elif tied:
            assert line == (
                "weights: all 1, since no reference has more votes than another of its article (votes): "
                "metrics with w- are the same as without"
            )
            assert scores["w-rouge-l"] == scores["rouge-l"]
        else:
            assert line == "weights: the readers' votes for each reference (votes)"
            assert scores["w-rouge-l"] < scores["rouge-l"]


def test_articles_that_nobody_voted_on_are_counted(corpus: Corpus) -> None:
    """Every third article of the corpus has no votes."""
    options = EvaluateOptions(metrics=PLAIN)
    found = evaluate_commenters({"parrot": Parrot()}, corpus, options)
    tied = sum(len({comment.upvotes for comment in one.comments}) == 1 for one in corpus.articles("test"))
    assert 0 < tied < 6
    line = "weights: the readers' votes for each reference (votes); all 1 in "
    assert f"{line}{tied} of 6 articles, where no reference has more votes than another" in found.result.remarks


@pytest.mark.parametrize(
    ("name", "scale", "kind", "message"),
    [
        ("score", None, UsageError, r"here: the grades need a scale \(weights 'score'\): scale=postil\.Scale\("),
        ("score", Scale(1, 3), InvalidInput, "here: grade: article a: expected a number from 1 to 3, got 4"),
        ("votes", None, InvalidInput, "here: 1 of 2 comments has no number of upvotes, .*; consensus needs none"),
        ("given", None, UnknownName, "unknown weights method 'given'"),
        ("vote", None, UnknownName, "unknown weights method 'vote'; did you mean 'votes'"),
        ("signed", Scale(1, 4), UsageError, "'signed' gives weights below 0"),
        ("consensus(w-meteor)", None, UsageError, "expected a metric that reads no weights"),
    ],
)
def test_weights_that_cannot_be(name: str, scale: Scale | None, kind: type[PostilError], message: str) -> None:
    graded = Article("a", "", (Comment("1", "x y", 5, grade=4.0), Comment("2", "x z", grade=2.0)))
    with pytest.raises(kind, match=message):
        weights(name, scale, graded)


def test_signed_weights_are_for_delta_bleu() -> None:
    graded = Article("a", "", (Comment("1", "x y", grade=4.0), Comment("2", "x z", grade=1.0)))
    assert weights("signed", Scale(1, 4), graded, lowest=-1.0) == ("signed", [1.0, -1.0])


def test_who_says_nothing_scores_nothing(corpus: Corpus) -> None:
    test = list(corpus.articles("test"))
    word = test[0].title.split()[-1]
    found = evaluate_commenters(
        {"quiet": Parrot(word), "mute": Parrot(" "), "parrot": Parrot()}, corpus, EvaluateOptions(metrics=PLAIN)
    )
    quiet, mute, parrot, human = found.result.suggestions
    assert (quiet.nothing, mute.nothing, parrot.nothing, human.nothing) == (1, 6, 0, 0)
    assert (mute.words, mute.distinct_1, mute.distinct_2, mute.hash) == (None, None, None, None)
    assert parrot.words == quiet.words == 3
    words = [one.title.split() for one in test]
    assert parrot.distinct_1 == len({word for each in words for word in each}) / 18
    assert parrot.distinct_2 == len({pair for each in words for pair in pairwise(each)}) / 12
    scores = {(one.system, one.metric): (one.score, one.n) for one in found.result.scores}
    assert scores["mute", "rouge-l"] == (0, 6)
    items = {one.item: one.score for one in found.items if (one.system, one.metric) == ("quiet", "rouge-l")}
    assert items[test[0].id] == 0
    assert scores["quiet", "rouge-l"] == (pytest.approx(sum(items.values()) / 6), 6)


def test_models_are_opened_from_folders(corpus: Corpus, tmp_path: Path) -> None:
    for kind in ("t", "u"):
        (tmp_path / kind).mkdir()
        train_retriever(
            "ir-t", corpus.path, tmp_path / kind / "m", RetrieverTrainOptions(ranker="tf-idf", eval_negatives=5)
        )
    t, u = tmp_path / "t" / "m", tmp_path / "u" / "m"
    found = evaluate_commenters([t], corpus.path, EvaluateOptions(metrics=PLAIN))
    hashes = {one.system: one.hash for one in found.result.suggestions}
    assert hashes == {"m": json.loads((t / "metadata.json").read_text())["hash"], "human": None}
    commenter = postil.load_commenter(t, candidate_filter=CandidateFilter(repeat=0))  # each article by itself
    suggested = commenter.comment(list(corpus.articles("test")), 1)
    texts = [row.suggestions[0].text if row.suggestions else "" for row in suggested]
    assert [one.text for one in found.candidates if one.system == "m"] == texts
    two = evaluate_commenters([t, u], corpus, EvaluateOptions(metrics=PLAIN, jobs=2))
    assert [one.system for one in two.result.suggestions] == [str(t), str(u), "human"]
    assert {one.score for one in two.result.scores if one.metric == "bleu-1" and one.system != "human"} == {
        one.score for one in found.result.scores if one.metric == "bleu-1" and one.system == "m"
    }
    with pytest.raises(UsageError, match="expected models of different names, none of them human"):
        evaluate_commenters([t, t], corpus)
    changed(shutil.copytree(u, tmp_path / "zh"), "config.json", {"tokenizer": "rjieba"})
    with pytest.raises(InvalidInput, match=r"zh: its tokenizer is rjieba, that of .* words-2; train it on a corpus"):
        evaluate_commenters([tmp_path / "zh"], corpus)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"split": "train"}, UnknownName, "unknown split 'train'"),
        ({"metrics": ()}, UsageError, "no metric: expected at least one"),
        ({"metrics": ("metor",)}, UnknownName, "unknown metric 'metor'; did you mean 'meteor'"),
        ({"weights": "signed", "scale": Scale(1, 5)}, UsageError, "gives weights below 0"),
    ],
)
def test_what_makes_no_sense_is_refused(
    changes: dict[str, Any], kind: type[PostilError], message: str, corpus: Corpus
) -> None:
    with pytest.raises(kind, match=message):
        evaluate_commenters({"parrot": Parrot()}, corpus, EvaluateOptions(**changes))


def test_names_are_clear(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match="none of them human, got human"):
        evaluate_commenters({"human": Parrot()}, corpus)
    with pytest.raises(UsageError, match="expected at least one model"):
        evaluate_commenters([], corpus)


def test_without_weights_nothing_is_weighed(corpus: Corpus) -> None:
    found = evaluate_commenters({"parrot": Parrot()}, corpus, EvaluateOptions(metrics=("bleu-1",)))
    assert (found.result.settings.weights, found.result.settings.scale) == (None, None)


def test_one_article_has_no_cider(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(iter(corpus.articles("test")))
    monkeypatch.setattr(type(corpus), "articles", lambda *_: iter([one]))
    with pytest.raises(Undefined, match="test: one article alone has no document frequencies for CIDEr"):
        evaluate_commenters({"parrot": Parrot()}, corpus)
    assert evaluate_commenters({"parrot": Parrot()}, corpus, EvaluateOptions(metrics=PLAIN)).result.articles == 1


OPTIONS = EvaluateOptions(metrics=("rouge-l", "bleu-1"))
WORDS = ("rain", "chess", "votes", "bread")


def article(month: int, *, dated: bool = True) -> Article:
    said = (f"{WORDS[(month + place) % 4]} reader{place} of {month} says so" for place in range(5))
    date = f"{2023 + month // 12}-{month % 12 + 1:02}-10"
    comments = tuple(
        Comment(f"c{place}", text, date=f"{date}T12:00:00Z" if dated else None) for place, text in enumerate(said)
    )
    return Article(f"a{month:02}", f"{WORDS[month % 4]} in town{month}", comments, date=date if dated else None)


def built(folder: Path, name: str, articles: Iterable[Article], test: int = 0, **options: Any) -> postil.Corpus:
    return corpus_of(folder, articles, 0, test, name, **options)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Monthly articles of two years, the last eight of them test; and a model."""
    folder = tmp_path_factory.mktemp("site")
    built(folder, "corpus", map(article, range(24)), 8, split_by="date")
    train_retriever("ir-t", folder / "corpus", folder / "model", RetrieverTrainOptions(ranker="tf-idf"))
    return folder


def test_newer_articles_are_told_from_what_a_model_knows(site: Path) -> None:
    found = evaluate_commenters([site / "model"], site / "corpus", OPTIONS).result
    (period,) = found.training
    assert (period.articles, period.undated, period.dated, period.earlier, period.shared) == (16, 0, 8, 0, 0)
    assert (period.first, period.last) == ("2023-01-10T00:00:00Z", "2024-04-10T00:00:00Z")
    told = "model: all 8 articles of test with a date are newer than its newest training article (2024-04-10)"
    assert told in found.remarks
    assert found.periods == ()


def test_a_model_that_knows_the_future_is_told(site: Path, tmp_path: Path) -> None:
    later = built(tmp_path, "later", [article(20), article(26)])
    postil.update_model(site / "model", later, tmp_path / "model")
    found = evaluate_commenters([tmp_path / "model"], site / "corpus", OPTIONS).result
    (period,) = found.training
    assert (period.articles, period.earlier, period.shared) == (18, 8, 1)
    text = "\n".join(found.remarks)
    assert "8 of 8 articles of test with a date are no newer than its newest training article (2025-03-10)" in text
    assert "model: 1 of 8 articles of test is in train" in text


def test_scores_by_period_are_those_of_its_articles_alone(site: Path, tmp_path: Path) -> None:
    corpus = postil.Corpus.open(site / "corpus")
    found = evaluate_commenters([site / "model"], corpus, replace(OPTIONS, by_date="quarter")).result
    rows = {(row.system, row.period): row for row in found.periods}
    assert [period for system, period in rows if system == "model"] == ["2024-Q2", "2024-Q3", "2024-Q4"]
    assert [row.articles for (system, _), row in rows.items() if system == "human"] == [2, 3, 3]
    assert rows["model", "2024-Q2"].days == 45.5  # from April 10 to the middle of May 10 and June 10
    assert rows["human", "2024-Q2"].days is None
    some = [one for one in corpus.articles("test") if one.date and one.date < "2024-07"]
    train = [*corpus.articles("train")]
    alone = built(tmp_path, "alone", [*train, *some], 2, split_by="date")
    expected = evaluate_commenters({"model": load_commenter(site / "model")}, alone, OPTIONS).result
    scores = {row.metric: row.score for row in expected.scores if row.system == "model"}
    assert rows["model", "2024-Q2"].scores == pytest.approx(scores)


def test_periods_of_as_many_articles(site: Path) -> None:
    found = evaluate_commenters([site / "model"], site / "corpus", replace(OPTIONS, by_date="3")).result
    human = [(row.period, row.articles, row.first[:7]) for row in found.periods if row.system == "human"]
    assert human == [("1/3", 3, "2024-05"), ("2/3", 3, "2024-08"), ("3/3", 2, "2024-11")]


class Archivist(Parrot):
    """Suggests a comment that is 30 days old, once one from the next day, and once one without a date."""

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        del k
        dates = {"a16": "2024-05-11", "a17": None}
        found = []
        for one in articles:
            date = dates.get(one.id, f"{one.date[:7] if one.date else ''}-01")
            source = Source("a0", "c0", date=date)
            found.append(Suggestions(one.id, (Suggestion("rain", 1.0, 1, Provenance.retrieved("x", "0", [source])),)))
        return found


def test_suggestions_have_an_age(site: Path) -> None:
    found = evaluate_commenters({"old": Archivist()}, site / "corpus", OPTIONS).result
    old, human = found.suggestions
    assert (old.dated, old.later, human.age, human.dated) == (7, 1, None, 0)
    assert old.age == pytest.approx((6 * 9 - 1) / 7)
    assert found.training == ()
    assert "mean age in days" in str(found.to_html())


@pytest.mark.parametrize(
    ("by", "kind", "problem"),
    [
        ("quater", UnknownName, "unknown period 'quater'; did you mean 'quarter'"),
        ("0", UsageError, "by_date: expected 1 to 8 periods, as there are articles with dates, got 0"),
        ("9", UsageError, "by_date: expected 1 to 8 periods"),
    ],
)
def test_periods_that_make_no_sense(site: Path, by: str, kind: type[Exception], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        evaluate_commenters([site / "model"], site / "corpus", replace(OPTIONS, by_date=by))


def test_articles_without_dates_have_no_periods(tmp_path: Path) -> None:
    corpus = built(tmp_path, "undated", [article(month, dated=False) for month in range(12)], 4)
    with pytest.raises(UsageError, match=r"undated, test: by_date=.month.: its articles have no dates"):
        evaluate_commenters({"old": Archivist()}, corpus, replace(OPTIONS, by_date="month"))
