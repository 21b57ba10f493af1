"""Client of OpenAI-compatible endpoints: requests, a cache of answers, limits. Only the named host is spoken to."""

from __future__ import annotations

from postil.endpoint.cache import AnswerCache
from postil.endpoint.chat import Answer, Failed, Message, Request
from postil.endpoint.client import Client, Pace, Timing, Usage
from postil.endpoint.limits import Limits, Price, Rate
from postil.endpoint.prompts import PromptTemplate, fingerprint, first_words, marked

__all__ = [
    "Answer",
    "AnswerCache",
    "Client",
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
]
