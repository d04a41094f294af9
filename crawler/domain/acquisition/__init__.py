"""The acquisition queue: entries, categories, selectors, extraction."""
