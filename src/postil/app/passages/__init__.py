"""The journeys of `postil passages` and `postil interesting`."""
