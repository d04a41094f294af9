"""Bodies that several resources share."""
