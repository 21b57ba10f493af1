"""Client of OpenAI-compatible endpoints: requests, a cache of answers, limits. Only the named host is spoken to."""

from __future__ import annotations

from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import AllCut, Answer, CutWatch, Failed, Message, Request, read_extra
from postil.endpoint.client import Client, Pace, Timing, Usage
from postil.endpoint.error_bodies import refusal_words
from postil.endpoint.limits import Limits, Price, Rate
from postil.endpoint.prompts import PromptTemplate, fingerprint, first_words, marked

__all__ = [
    "AllCut",
    "Answer",
    "AnswerCache",
    "Client",
    "CutWatch",
    "Failed",
    "Limits",
    "Message",
    "Pace",
    "Price",
    "PromptTemplate",
    "Rate",
    "Request",
    "Timing",
    "Usage",
    "fingerprint",
    "first_words",
    "marked",
    "read_extra",
    "refusal_words",
]
