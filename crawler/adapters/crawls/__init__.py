"""Read models of crawls in Postgres: URLs, pace, reasons, explanations, and the list of projects."""
