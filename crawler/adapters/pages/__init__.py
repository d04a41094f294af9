"""Pages, URLs and projects for readers."""
