"""What the engine reads and writes in Postgres."""
