"""Watch rules: kept, tried on stored pages, and applied when crawls are compared."""
