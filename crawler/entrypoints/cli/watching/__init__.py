"""One crawl from its start to its summary, watched in a terminal."""
