"""Sentences of our own for the tokenizer ``ptb``: captions, news and hard cases, made by a seed of the parts beside."""

from __future__ import annotations

import random
from pathlib import Path

PARTS: dict[str, list[str]] = {}
for _line in Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n")[:-1]:
    if _line.startswith("== "):
        PARTS[_line[3:]] = []
    else:
        PARTS[[*PARTS][-1]].append(_line)
ENDS = [".", ".", ".", "", "", " .", "!", "?", "...", "!!", ".)", '."']


def _captions(draw: random.Random) -> str:
    text = " ".join(draw.choice(PARTS[part]) for part in ("who", "does", "what", "where")) + draw.choice(ENDS)
    return text[0].upper() + text[1:] if draw.random() < 0.7 else text


def _news(draw: random.Random) -> str:
    text = f"{draw.choice(PARTS['subjects'])} {draw.choice(PARTS['said'])} {draw.choice(PARTS['news'])}"
    if draw.random() < 0.5:
        text += f", {draw.choice(PARTS['subjects'])} {draw.choice(PARTS['said'])} {draw.choice(PARTS['news'])}"
    return text + draw.choice(ENDS)


def _hard(draw: random.Random) -> str:
    pieces = draw.choices(PARTS["pieces"], k=draw.randint(2, 12))
    return "".join(piece + draw.choice([" ", " ", " ", ""]) for piece in pieces).strip() or "a"


KINDS = {"captions": _captions, "news": _news, "hard": _hard}


def made(kind: str, n: int, *, seed: int = 341) -> list[str]:
    """n different sentences of a kind."""
    draw = random.Random(f"{kind} {seed}")  # noqa: S311 - texts, not secrets
    texts: dict[str, None] = {}
    while len(texts) < n:
        texts[KINDS[kind](draw)] = None
    return list(texts)
