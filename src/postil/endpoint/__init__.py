"""Client of OpenAI-compatible endpoints: requests, a cache of answers, limits. Only the named host is spoken to."""
