"""Documents: chunks, vectors, search."""
