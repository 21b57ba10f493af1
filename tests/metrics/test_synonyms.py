from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

from postil.errors import InvalidInput, UsageError
from postil.metrics import meteor
from postil.metrics.meteor import WordNet

LICENCE = "  1 This is a small WordNet made for a test.  \n  2 WordNet 9.7 Copyright nobody.  \n"
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
    + "pop n 1 1 @ 1 0 00000086  \n",
    "index.verb": LICENCE
    + "bar v 1 1 @ 1 0 00000010  \n"
    + "bare v 1 1 @ 1 0 00000020  \n"
    + "fly v 1 1 @ 1 1 00000030  \n"
    + "matte v 1 0 1 0 00000040  \n"
    + "pass v 1 0 1 0 00000045  \n"
    + "run v 1 0 1 0 00000050  \n",
    "index.adj": LICENCE + "late a 1 1 & 1 0 00000010  \nmatt a 1 1 & 1 0 00000020  \nred a 1 1 & 1 0 00000030  \n",
    "index.adv": LICENCE + "late r 1 0 1 0 00000010  \n",
    "noun.exc": "axes axis axe\nruns bus\n",
    "verb.exc": "ran run\naxes axe\n",
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
    other = write(tmp_path / "other", verb_exc="bought buy\n")
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
