"""Documents, search and vectors."""
