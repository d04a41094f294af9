"""Terminal output: live view of a crawl, summaries, tables, diffs."""
