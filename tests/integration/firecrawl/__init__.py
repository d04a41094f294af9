"""The door at /v2, by the unmodified clients of Firecrawl."""
