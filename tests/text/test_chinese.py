"""rjieba, mended, against jieba: the same tokens on everything."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.errors import UsageError
from postil.text import tokenizers
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("jieba", reason="needs the extra zh")
pytest.importorskip("rjieba", reason="needs the extra zh")

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("POSTIL_DATA", ROOT.parent / "shared" / "data"))
COMMENTS = DATA / "articles" / "checked.zh.jsonl.gz"

CHARACTERS = st.one_of(
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FD5),
    st.sampled_from("的一是不了在人有我他这中来上个国们到说时要就出会可你哈危羊"),
    st.sampled_from("abcXYZT0123456789"),
    st.sampled_from(".-_&+#%"),
    st.sampled_from(" \t\r\n\u3000\x1c\x85\u2028\u200b,!?;:\"'()[]<>@/\\*=，。！？、；：“”（）…—·"),
    st.sampled_from("鿖鿿㐀䶿豈𠀀𪛟々〇①かア한é½Ａ１％．²٣ǅγ😀👍🏽"),
    st.characters(exclude_categories=["Cs"]),
)
PIECES = st.one_of(
    st.text(CHARACTERS, max_size=6),
    st.sampled_from(
        ["C++", "c#", "AT&T", "T恤", "γ射线", "卡拉OK", "3-0", "11.5%", "B超", "i5-7300HQ", "qq.com", "\r\n"]
    ),
    st.builds(lambda unit, times: unit * times, st.text(CHARACTERS, min_size=1, max_size=4), st.integers(2, 7)),
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


@examples(1000)
@given(TEXTS)
def test_rjieba_is_jieba_on_random_text(text: str) -> None:
    assert tokenizers.split_rjieba(text) == tokenizers.split_jieba(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \n\u3000", []),
        ("我爱北京天安门。", ["我", "爱", "北京", "天安门", "。"]),
        ("比分3-0,kuaibao.qq.com", ["比分", "3", "-", "0", ",", "kuaibao", ".", "qq", ".", "com"]),
        ("C++和AT&T恤", ["C++", "和", "AT&T", "恤"]),
        ("c+ 11.5% 1.2.3", ["c", "+", "11.5%", "1.2", ".", "3"]),
        ("-𠀀&#㐀.", ["-", "𠀀", "&#", "㐀", "."]),
        ("a\r\nb", ["a", "b"]),
        ("你\ud800好", ["你", "\ud800", "好"]),
        ("深圳，危危危危危", ["深圳", "，", "危危危", "危危"]),
        ("徹徹徹徹徹", ["徹徹徹", "徹徹"]),
        ("渝傅傅傅慍", ["渝", "傅", "傅傅", "慍"]),
    ],
)
def test_frozen_cases(text: str, tokens: list[str]) -> None:
    assert tokenizers.split_jieba(text) == tokens
    assert tokenizers.split_rjieba(text) == tokens


@given(TEXTS)
def test_only_white_space_is_lost(text: str) -> None:
    assert "".join(tokenizers.split_rjieba(text)) == "".join(text.split())


def comments() -> Iterator[str]:
    with gzip.open(COMMENTS, "rt", encoding="utf-8") as file:
        for line in file:
            yield from (comment["text"] for comment in json.loads(line)["comments"])


@pytest.mark.skipif(not COMMENTS.exists(), reason=f"needs the data file {COMMENTS.name} under POSTIL_DATA")
def test_rjieba_is_jieba_on_real_comments() -> None:
    texts = list(islice(comments(), 0, 90_000, 30))
    assert len(texts) == 3000
    assert [text for text in texts if tokenizers.split_rjieba(text) != tokenizers.split_jieba(text)] == []


def test_the_runs_kept_whole_are_those_of_the_dictionary() -> None:
    dictionary = tokenizers._jieba_cut().__self__.FREQ  # type: ignore[attr-defined]
    words = [word for word, frequency in dictionary.items() if frequency]
    assert {word for word in words if re.search(r"[#%&+\-._]", word)} == tokenizers.DICTIONARY_RUNS


def test_signatures_name_the_versions() -> None:
    for name in ("jieba", "rjieba"):
        one = tokenizer(name)
        assert re.fullmatch(name + r"-\d[\w.]*", one.signature)
        assert one.native is None
        assert one == tokenizer(name)
        assert one.split_all(["我们 好", ""]) == [["我们", "好"], []]


@pytest.mark.parametrize(("name", "wanted"), [("jieba", "jieba;"), ("rjieba", r"'postil\[zh\]'")])
def test_a_missing_package_is_named(name: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=rf"tokenizer '{name}' .*pip install {wanted}"):
        tokenizer(name)


def test_without_jieba_equal_paths_are_those_of_rjieba(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = tokenizer("rjieba")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jieba" else object())
    alone = tokenizer("rjieba")
    assert beside.signature.replace("rjieba-", "rjieba-2-") == alone.signature
    assert alone != beside
    assert beside.split("危危危危危") == ["危危危", "危危"]
    assert alone.split("危危危危危") == ["危危", "危危危"]
    assert alone.split("我 爱北京,i5-7300HQ") == beside.split("我 爱北京,i5-7300HQ")


SILENT = """
import sys
from postil.text.tokenizers import tokenizer
assert "jieba" not in sys.modules and "rjieba" not in sys.modules
print(tokenizer("rjieba").split("我爱北京"))
assert "jieba" not in sys.modules
print(tokenizer("jieba").split("我爱北京"))
"""


def test_jieba_is_silent_and_leaves_nothing_behind(tmp_path: Path) -> None:
    caches, temporary = tmp_path / "pycache", tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", "-c", SILENT],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONPYCACHEPREFIX": str(caches),  # jieba's warnings come when it is compiled
            "PYTHONIOENCODING": "utf-8",
            "TMPDIR": str(temporary),
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['我', '爱', '北京']\n" * 2
    assert list(temporary.iterdir()) == []
