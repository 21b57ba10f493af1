"""Encoders: texts to vectors, one for each unit of a text (a word or subword) or one for each text."""
