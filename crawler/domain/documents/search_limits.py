"""Limits of a search, apart from `searching.py`: the command shows them without loading Pydantic."""

LONGEST_QUERY = 500
MOST_HITS = 100
