"""Watch rules: which parts and values of pages matter to somebody, and when a change of them is told."""
