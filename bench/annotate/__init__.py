"""Benchmark of campaigns: ratings per second over HTTP, and durability of acknowledged ratings."""
