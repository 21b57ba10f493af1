from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

import postil
from postil.errors import InvalidInput, UsageError
from postil.metrics import meteor
from postil.metrics.meteor import Meteor
from postil.metrics.spec import parse_metric
from postil.text.stop_words import function_words, function_words_signature

if TYPE_CHECKING:
    from pathlib import Path

LICENCE = "  1 This is a small WordNet made for a test.  \n  2 WordNet 9.7 Copyright nobody.  \n"
INDEX = {
    "noun": "automobile n 1 0 1 1 00000010  \ncar n 2 0 2 1 00000010 00000020  \nwagon n 1 0 1 0 00000020  \n",
    "verb": "buy v 1 0 1 0 00000010  \npurchase v 1 0 1 0 00000010  \n",
    "adj": "",
    "adv": "",
}


def score(spec: str, candidate: str, *references: str) -> float:
    return postil.score([candidate], [list(references)], metrics=[spec], tokenizer="space").corpus[spec]


def signature(spec: str) -> str:
    return postil.score(["a"], [["a"]], metrics=[spec], tokenizer="space").signatures[spec]


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    folder = tmp_path / "wordnet"
    folder.mkdir()
    for part, entries in INDEX.items():
        (folder / f"index.{part}").write_text(LICENCE + entries, "utf-8")
        (folder / f"{part}.exc").write_text("bought buy\n" if part == "verb" else "", "utf-8")
    return folder


def test_presets_differ() -> None:
    scores = {
        params: score(f"meteor(params={params},stages=exact)", "a b x d", "a b c d")
        for params in ("en", "other", "2005")
    }
    assert len(set(scores.values())) == 3


def test_stages_build_on_each_other(wordnet: Path) -> None:
    """car - car exact, runs - running stem (of "run"), bought - purchase synonym: .5 where only the first matches."""
    candidate, reference = "car runs bought", "car running purchase"
    exact, stem, synonym = (
        score(f"meteor(params=other,stages={stages})", candidate, reference)
        for stages in ("exact", "exact+stem", f"exact+stem+synonym,wordnet={wordnet}")
    )
    # All match, in one chunk: P = R = F = (1 + .6 + .8) / 3 without a penalty.
    assert synonym == pytest.approx(2.4 / 3)
    assert stem == pytest.approx(1.6 / 3 * (1 - 0.7 * (1 / 2) ** 1.4))
    assert exact == pytest.approx(1 / 3 * (1 - 0.7))


@pytest.mark.parametrize(
    ("candidate", "reference", "matches"),
    [("automobile", "car", True), ("wagon", "cars", True), ("automobile", "wagon", False), ("car", "buy", False)],
)
def test_synonyms_share_a_synset(wordnet: Path, candidate: str, reference: str, *, matches: bool) -> None:
    spec = f"meteor(params=2005,stages=exact+stem+synonym,wordnet={wordnet})"
    assert score(spec, candidate, reference) == (1.0 if matches else 0.0)


def test_wordnet_stands_in_the_signature(wordnet: Path) -> None:
    spec = f"meteor(stages=exact+stem+synonym,wordnet={wordnet})"
    assert "|synonyms:wordnet-9.7-" in signature(spec)
    assert str(wordnet) not in signature(spec)
    assert "|stems:english-" in signature(spec)
    assert "stems" not in signature("meteor(stages=exact)")
    assert "synonyms" not in signature("meteor")


def test_synonyms_without_a_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSTIL_WORDNET", raising=False)
    monkeypatch.setattr(meteor, "_usual_places", lambda: iter(()))
    with pytest.raises(UsageError, match="wordnet-base"):
        score("meteor(stages=exact+stem+synonym)", "a", "a")
    with pytest.raises(UsageError, match=r"index\.noun is not there"):
        score(f"meteor(stages=exact+stem+synonym,wordnet={tmp_path})", "a", "a")


def test_a_signature_has_the_function_words_by_their_content(tmp_path: Path) -> None:
    """Not by their path: one signature is one number, wherever the list lies."""
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    one.write_text("the\na\n", "utf-8")
    same.write_text("# another order\na\nthe\n", "utf-8")
    other.write_text("the\n", "utf-8")
    signatures = [signature(f"meteor(function_words={path})") for path in (one, same, other)]
    assert signatures[0] == signatures[1] != signatures[2]
    assert not any(str(tmp_path) in text for text in signatures)
    assert f"function_words={function_words_signature(one)})|" in signatures[0]
    one.write_text("the\nan\n", "utf-8")
    assert signature(f"meteor(function_words={one})") != signatures[0]


def test_a_signature_has_the_list_of_the_package_too(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_text("\n".join(function_words()), "utf-8")
    assert f",function_words={function_words_signature()})|" in signature("meteor")
    assert signature(f"meteor(function_words={copy})") == signature("meteor")
    for spec in ("meteor(characters=true)", "w-meteor(over=mean)"):
        assert f",function_words={function_words_signature()})" in parse_metric(spec).signature
    assert "function_words" not in signature("meteor(params=other)")  # where delta is .5, no word counts less


def test_a_spec_has_the_path_and_parses_back(tmp_path: Path) -> None:
    path = tmp_path / "my words (of 1999) = 2.txt"
    path.write_text("the\n", "utf-8")
    metric = parse_metric(f"w-meteor( over=mean, function_words={path} )")
    assert metric == Meteor(weighted=True, over="mean", function_words=str(path))
    assert str(path) in str(metric)
    assert parse_metric(str(metric)) == metric
    assert metric.signature.endswith(f",function_words={function_words_signature(path)})")


def test_a_list_of_function_words_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    shipped, none = tmp_path / "shipped", tmp_path / "none"
    shipped.write_text("\n".join(sorted(function_words())), "utf-8")
    none.write_text("", "utf-8")
    texts = "the cat of the house", "The cat in a house"  # "The" is one in either case
    assert score(f"meteor(function_words={shipped})", *texts) == score("meteor", *texts)
    assert score(f"meteor(function_words={none})", *texts) != score("meteor", *texts)
    with pytest.raises(InvalidInput, match="expected a file of function words"):
        score(f"meteor(function_words={tmp_path / 'absent'})", *texts)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("手机 很好用", "手 机 很 好 用"),
        ("iPhone手机 2018年5G", "iphone 手 机 2018 年 5g"),
        ("Привет, é Ünï!", "привет , é ünï !"),
        ("ひらがな 한국", "ひ ら が な 한 국"),
        ("😀好", "😀 好"),
    ],
)
def test_characters(text: str, cut: str) -> None:
    """The pieces are those of the text cut by hand: in another order they are as many chunks."""
    backwards = " ".join(reversed(cut.split()))
    spec, plain = "meteor(params=other,stages=exact,characters=true)", "meteor(params=other,stages=exact)"
    assert score(spec, text, cut) == 1.0
    assert score(spec, text, backwards) == score(plain, cut, backwards) < 1.0


def test_characters_do_not_mind_where_a_tokenizer_cuts() -> None:
    spec = "w-meteor(params=other,characters=true)"
    texts = ["我喜欢这个手机", "不好用,别买"], [["我很喜欢手机", "这个好"], ["别买这个", "不好"]]
    results = [
        postil.score(*texts, weights=[[0.5, 1.0], [1.0, 0.25]], metrics=[spec, spec.removeprefix("w-")], tokenizer=name)
        for name in ("jieba", "characters", "space")
    ]
    for result in results[1:]:
        assert result.items[spec].tolist() == results[0].items[spec].tolist()
        assert result.corpus == results[0].corpus
    assert results[0].corpus[spec] > 0.0


def test_characters_take_stems_and_notes_along() -> None:
    assert score("meteor(params=2005,characters=true)", "Cats", "cat") == 1.0
    assert "|stems:english-" in signature("meteor(characters=true)")
    assert signature("meteor(characters=true)").startswith(
        "meteor(params=en,stages=exact+stem,characters=true,corpus=stats,over=max,function_words="
    )


def test_only_another_place_of_the_penalty_is_printed() -> None:
    assert str(parse_metric("meteor(penalty=inside)")) == str(parse_metric("meteor"))
    outside = parse_metric("w-meteor(penalty=outside)")
    assert str(outside).endswith(",over=max,penalty=outside)")
    assert ",penalty=outside," in outside.signature
    assert "penalty" not in parse_metric("meteor").signature


@pytest.mark.parametrize("over", ["mean", "top-2", "near"])
def test_a_penalty_outside_needs_a_maximum(over: str) -> None:
    with pytest.raises(UsageError, match=f"over={over} has no maximum; take over=max, or leave penalty out"):
        parse_metric(f"meteor(over={over},penalty=outside)")
    assert parse_metric(f"meteor(over={over},penalty=inside)") == parse_metric(f"meteor(over={over})")


ORIGINAL = "meteor(params=2005,alignment=2005)"


def test_the_original_takes_a_penalty_from_equal_texts() -> None:
    """Three equal words are one chunk of three: .5 (1/3)^3."""
    for spec in (ORIGINAL, f"w-{ORIGINAL}", "w-meteor(params=2005,alignment=2005,over=mean)"):
        result = postil.score(["a b c"], [["a b c"]], weights=[[1.0]], metrics=[spec])
        assert result.items[spec][0] == pytest.approx(1 - 0.5 / 27)
    assert postil.score(["a b c"], [["a b c"]], metrics=["meteor(params=2005)"]).corpus["meteor(params=2005)"] == 1.0


def test_the_fewest_crossings_before_the_fewest_chunks() -> None:
    """The beam keeps ``a b`` together, which crosses two pairs; one crossing leaves three chunks of one word."""
    original, beam = "meteor(params=2005,stages=exact,alignment=2005)", "meteor(params=2005,stages=exact)"
    result = postil.score(["a a b"], [["a b a"]], metrics=[original, beam], tokenizer="space")
    assert result.items[original][0] == pytest.approx(1 - 0.5)
    assert result.items[beam][0] == pytest.approx(1 - 0.5 * (2 / 3) ** 3)
    assert "alignment=2005" in result.signatures[original]
    assert "alignment" not in result.signatures[beam]


def test_a_text_that_repeats_words_is_scored_within_the_bound() -> None:
    """A chunk of 9,000 of 10,000 equal words, whatever the alignment; a remark where the search was cut short."""
    texts = ([" ".join(["the"] * 10_000)], [[" ".join(["the"] * 9_000)]])
    beam = "meteor(params=2005)"
    expected = 1 / (0.1 / 0.9 + 0.9 / 1.0)
    assert postil.score(*texts, metrics=[beam]).corpus[beam] == pytest.approx(expected)
    with pytest.warns(UserWarning, match="the search for the fewest crossings was cut short"):
        assert postil.score(*texts, metrics=[ORIGINAL]).corpus[ORIGINAL] == pytest.approx(expected)
    draw = Random(1)  # noqa: S311 - texts
    hard = [" ".join(draw.choices("abcdefgh", k=60)) for _ in range(2)]
    for spec in (
        ORIGINAL,
        "meteor(params=2005,alignment=2005,characters=true)",
        "meteor(params=2005,alignment=2005,over=mean)",
    ):
        with pytest.warns(UserWarning, match="alignment=2005: some texts repeat too many words"):
            postil.score(hard[:1], [hard[1:]], metrics=[spec])


def test_the_original_has_no_synonyms() -> None:
    with pytest.raises(UsageError, match="alignment=2005 has the stages exact and exact\\+stem"):
        parse_metric("meteor(alignment=2005,stages=exact+stem+synonym)")
