"""Runs or watches one crawl in a terminal, from its start to its summary."""
