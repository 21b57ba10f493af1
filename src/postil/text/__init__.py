"""Tokenization, vocabularies, n-gram units, stemming, synonyms and word vectors."""

from __future__ import annotations

from postil.text.function_words import function_words, function_words_signature
from postil.text.stems import STEMMERS, stems, stems_signature
from postil.text.stop_words import STOP_LISTS, stop_words, stop_words_signature
from postil.text.synonyms import WordNet
from postil.text.tokenizers import TOKENIZERS, Tokenizer, is_han_text, tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.text.units import Units, ngram_units

__all__ = [
    "STEMMERS",
    "STOP_LISTS",
    "TOKENIZERS",
    "Tokenizer",
    "Tokens",
    "Units",
    "Vocabulary",
    "WordNet",
    "function_words",
    "function_words_signature",
    "is_han_text",
    "ngram_units",
    "stems",
    "stems_signature",
    "stop_words",
    "stop_words_signature",
    "tokenizer",
]
