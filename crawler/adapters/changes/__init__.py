"""Compared pages and noise rules in Postgres."""
