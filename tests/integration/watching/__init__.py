"""Watch rules against real servers."""
