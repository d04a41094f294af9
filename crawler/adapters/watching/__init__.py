"""Watch rules in Postgres."""
