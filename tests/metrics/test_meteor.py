"""METEOR: stages, function words, characters, the original's alignment; and the WordNet of its synonyms."""

from __future__ import annotations

import re
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

import postil
from postil.errors import InvalidInput, UsageError
from postil.metrics import meteor
from postil.metrics.meteor import Meteor, WordNet
from postil.metrics.spec import parse_metric
from postil.text.stop_words import function_words, function_words_signature

LICENCE = "  1 This is a small WordNet made for a test.  \n  2 WordNet 9.7 Copyright nobody.  \n"


def score(spec: str, candidate: str, *references: str) -> float:
    return postil.score([candidate], [list(references)], metrics=[spec], tokenizer="space").corpus[spec]


def signature(spec: str) -> str:
    return postil.score(["a"], [["a"]], metrics=[spec], tokenizer="space").signatures[spec]


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    return write(tmp_path / "wordnet")


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


def test_a_text_that_repeats_words_is_scored_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of 9,000 of 10,000 equal words, whatever the alignment; a remark where the search was cut short."""
    python = import_module("postil.kernel.python.meteor")
    monkeypatch.setattr(python, "STEPS", python.STEPS >> 5)  # which take Python half a minute
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


FILES = {
    # lemma pos synset_cnt p_cnt [symbols] sense_cnt tagsense_cnt offsets
    "index.noun": LICENCE
    + "automobile n 1 0 1 1 00000010  \n"
    + "axe n 1 1 @ 1 0 00000050  \n"
    + "axis n 2 3 @ ~ #p 2 1 00000060 00000070  \n"
    + "bus n 1 1 @ 1 1 00000090  \n"
    + "car n 2 2 @ ~ 2 1 00000010 00000020  \n"
    + "fly n 1 1 @ 1 1 00000030  \n"
    + "h n 1 1 @ 1 0 00000095  \n"
    + "ice_cream n 1 1 @ 1 0 00000040  \n"
    + "icecream n 1 1 @ 1 0 00000040  \n"
    + "man n 1 1 @ 1 0 00000080  \n"
    + "pope n 1 1 @ 1 0 00000085  \n"
    + "pop n 1 1 @ 1 0 00000086  \n"
    + "wagon n 1 0 1 0 00000020  \n",
    "index.verb": LICENCE
    + "bar v 1 1 @ 1 0 00000010  \n"
    + "bare v 1 1 @ 1 0 00000020  \n"
    + "buy v 1 0 1 0 00000012  \n"
    + "fly v 1 1 @ 1 1 00000030  \n"
    + "matte v 1 0 1 0 00000040  \n"
    + "pass v 1 0 1 0 00000045  \n"
    + "purchase v 1 0 1 0 00000012  \n"
    + "run v 1 0 1 0 00000050  \n",
    "index.adj": LICENCE + "late a 1 1 & 1 0 00000010  \nmatt a 1 1 & 1 0 00000020  \nred a 1 1 & 1 0 00000030  \n",
    "index.adv": LICENCE + "late r 1 0 1 0 00000010  \n",
    "noun.exc": "axes axis axe\nruns bus\n",
    "verb.exc": "ran run\naxes axe\nbought buy\n",
    "adj.exc": "redder red\nbaser baser\n",
    "adv.exc": "",
}
V, A, R = 10**8, 2 * 10**8, 3 * 10**8


def write(folder: Path, **changed: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (FILES | {key.replace("_", "."): value for key, value in changed.items()}).items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
    return folder


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any WordNet."""
    monkeypatch.delenv("POSTIL_WORDNET", raising=False)
    monkeypatch.setattr(meteor, "_usual_places", lambda: iter(()))


@pytest.fixture
def small(tmp_path: Path) -> WordNet:
    return WordNet.read(write(tmp_path / "small"))


@pytest.mark.parametrize(
    ("word", "synsets"),
    [
        ("car", (10, 20)),
        ("automobile", (10,)),
        ("late", (A + 10, R + 10)),
        ("fly", (30, V + 30)),
        ("cars", (10, 20)),
        ("flies", (30, V + 30)),  # a base form of one part of speech counts as all its parts
        ("buses", (90,)),
        ("men", (80,)),
        ("barred", ()),  # no rule for a doubled letter
        ("bared", (V + 20,)),  # "ed" to "e" comes before cutting "ed"
        ("baring", (V + 20,)),
        ("barer", (V + 10,)),  # "er" is cut before it becomes "e", and the base may be any part of speech
        ("matter", (A + 20,)),
        ("latest", (A + 10, R + 10)),
        ("popes", (85,)),  # cutting "s" comes before cutting "es"
        ("axes", (50, 60, 70)),  # every base form of every exception list
        ("runs", (90,)),  # in an exception list, so no rule
        ("baser", ()),
        ("ran", (V + 50,)),
        ("passes", (V + 45,)),
        ("buss", ()),  # none for "ss"
        ("hs", ()),  # nor for two letters
        ("Car", ()),
        ("ice_cream", (40,)),
        ("", ()),
        ("我们", ()),
    ],
)
def test_synsets_of_a_word_and_its_base_forms(small: WordNet, word: str, synsets: tuple[int, ...]) -> None:
    assert small.synsets(word) == synsets


def test_version_and_signature(tmp_path: Path, small: WordNet) -> None:
    assert small.version == "9.7"
    assert re.fullmatch("wordnet-9.7-[0-9a-f]{12}", small.signature)
    assert WordNet.read(write(tmp_path / "again")).signature == small.signature
    other = write(tmp_path / "other", verb_exc="sought seek\n")
    assert WordNet.read(other).signature not in (small.signature, "wordnet-9.7")
    plain = {f"index_{part}": FILES[f"index.{part}"].replace("9.7", "x") for part in ("noun", "verb", "adj", "adv")}
    assert WordNet.read(write(tmp_path / "plain", **plain)).signature == small.signature.replace("-9.7", "")


def test_path_then_variable_then_usual_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = (write(tmp_path / name) for name in ("one", "two", "three"))
    monkeypatch.setattr(meteor, "_usual_places", lambda: iter([tmp_path / "absent", three]))
    monkeypatch.setenv("POSTIL_WORDNET", str(two))
    assert WordNet.find(one).place == one
    assert WordNet.find().place == two
    monkeypatch.delenv("POSTIL_WORDNET")
    assert WordNet.find().place == three


def test_the_usual_places_are_those_of_debian_and_nltk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    places = list(meteor._usual_places())
    assert places[:3] == [
        Path("/usr/share/wordnet"),
        tmp_path / "nltk" / "corpora" / "wordnet",
        tmp_path / "nltk" / "corpora" / "wordnet.zip",
    ]
    assert tmp_path / "env" / "share" / "nltk_data" / "corpora" / "wordnet" in places


def test_an_archive_as_nltk_keeps_it(tmp_path: Path, nowhere: None) -> None:  # noqa: ARG001
    write(tmp_path / "wordnet")
    place = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name in FILES:
            archive.write(tmp_path / "wordnet" / name, f"wordnet/{name}")
    assert WordNet.find(place).synsets("cars") == (10, 20)


def test_none_found_says_how_to_get_it(nowhere: None) -> None:  # noqa: ARG001
    with pytest.raises(UsageError) as caught:
        WordNet.find()
    for way in ("apt-get install wordnet-base", "nltk.downloader wordnet", "POSTIL_WORDNET"):
        assert way in str(caught.value)


def test_a_place_given_must_be_a_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "part")
    (folder / "verb.exc").unlink()
    with pytest.raises(UsageError, match=r"no WordNet in '.*part': verb\.exc is not there"):
        WordNet.find(folder)
    monkeypatch.setenv("POSTIL_WORDNET", str(folder))
    with pytest.raises(UsageError, match=r"\(POSTIL_WORDNET\): verb\.exc is not there"):
        WordNet.find()
    with pytest.raises(InvalidInput, match=r"verb\.exc is not there"):
        WordNet.read(folder)


@pytest.mark.parametrize(
    "line",
    [
        "car",
        "car n 2 0 2 0 00000010",
        "car n 1 0 1 0 x",
        "car n one 0 1 0 00000010",
        "car n 0 0 0 0",
        "car n 1 0 1 0 123456789",
        "car n 1 0 1 0 -1",
    ],
)
def test_a_bad_line_of_an_index_is_named(tmp_path: Path, line: str) -> None:
    folder = write(tmp_path / "bad", index_verb=f"{LICENCE}{line}\n")
    with pytest.raises(InvalidInput, match=r"index\.verb:3: expected an entry of a WordNet index, got 'car"):
        WordNet.read(folder)


def test_other_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"adj\.exc:1: expected a form and its base forms, got 'redder'"):
        WordNet.read(write(tmp_path / "short", adj_exc="redder\n"))
    folder = write(tmp_path / "latin")
    (folder / "noun.exc").write_bytes(b"axes axe\ncaf\xe9s caf\xe9\n")
    with pytest.raises(InvalidInput, match=r"noun\.exc:2: expected UTF-8 text"):
        WordNet.read(folder)


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    place = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as archive:
        for name, content in FILES.items():
            archive.writestr(f"wordnet/{name}", content)
    place.write_bytes(place.read_bytes().replace(b"automobile n 1", b"automobile n 2"))
    with pytest.raises(InvalidInput, match=r"index\.noun: cannot be read"):
        WordNet.read(place)


def test_a_real_wordnet() -> None:
    try:
        wordnet = WordNet.find()
    except UsageError:
        pytest.skip("needs WordNet (Debian's wordnet-base or NLTK's corpus)")
    assert set(wordnet.synsets("cars")) & set(wordnet.synsets("automobile"))
    assert wordnet.base_forms("mice") == ("mouse",)
    assert not set(wordnet.synsets("dog")) & set(wordnet.synsets("automobile"))
    assert len(wordnet.lemmas) > 100_000
