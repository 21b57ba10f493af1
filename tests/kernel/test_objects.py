"""Both kernels say of the same lines that they are plain: one object a line, and no key that a parser would lose."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import KERNELS


@pytest.fixture(params=KERNELS, scope="module")
def plain_objects(request):
    return request.param.plain_objects


KEYS = st.one_of(st.sampled_from(["a", "b", "", 'q"', "\\", "é", "𝄞", "\x7f", "\n"]), st.text(max_size=2)).filter(
    lambda key: not any("\ud800" <= character <= "\udfff" for character in key)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.sampled_from(['"', '":', "{", '\\"a\\":', "}"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(st.tuples(KEYS, inner), max_size=20).map(tuple)),
    max_leaves=12,
)


def written(value, draw):
    """A value as JSON, objects as tuples of pairs; keys escaped or not, with blanks or without."""
    if isinstance(value, list):
        return f"[{','.join(written(inner, draw) for inner in value)}]"
    if isinstance(value, tuple):
        pairs = (
            f"{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(st.sampled_from(['', ' ', '  ']))}:"
            f"{written(inner, draw)}"
            for key, inner in value
        )
        return f"{{{','.join(pairs)}}}"
    return json.dumps(value)


def is_plain(text):
    """Return True if a line is one object in which no key is repeated, by Python's parser."""
    twice = []

    def of_pairs(pairs):
        twice.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    return isinstance(json.loads(text, object_pairs_hook=of_pairs), dict) and not any(twice)


@given(st.lists(VALUES, max_size=3), st.data())
def test_what_is_plain(plain_objects, values, data):
    lines = [written(value, data.draw) for value in values]
    assert plain_objects("\n".join(lines).encode()) == all(map(is_plain, lines))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"a":1}\r\n {"a":1} \n',
        b'{"a":{"a":[{"a":1}]},"b":"a","c":"\\"a\\":"}',
        b'{"a\\\\":1,"a\\\\\\"":1}',
        b"{" + b",".join(b'"k%d":1' % n for n in range(100)) + b"}",
    ],
)
def test_plain_objects(plain_objects, data):
    assert plain_objects(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}',
        b'{"a":1}\n{"b":1,"b":2}\n{"a":1}',
        b'{"text":1,"te\\u0078t" :1}',
        b'{"\\ud834\\udd1e":1,"\xf0\x9d\x84\x9e":1}',
        b'{"\\n":1,"\\u000a":1}',
        b'{"a\\\\":1,"a\\\\\\"":1,"a\\\\":2}',
        b"{" + b",".join(b'"k%d":1' % n for n in range(100)) + b',"k50":2}',
        b"{}{}",
        b"{}\n\n{}{}",
        b"{}\n{}{}\n\n",
        b'{"a":[\n{}]}{}',
        b'{"a":\n1}{}',
        b"[{}]",
        b"5",
        b"\n",
        b'{"a":1}\n{"b":1,"b',
    ],
)
def test_what_is_not_plain(plain_objects, data):
    assert not plain_objects(data)
