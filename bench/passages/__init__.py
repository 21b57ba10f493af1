"""Run time of the passage measures, compared with loops over dictionaries and with sparse matrices."""
