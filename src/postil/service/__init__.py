"""The HTTP service of models: routes, workers, tokens, limits, logs and the store."""
