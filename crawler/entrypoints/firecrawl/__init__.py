"""The door at `/v2` for programs that speak Firecrawl's API: its paths, names and error shapes, on our own handlers."""
