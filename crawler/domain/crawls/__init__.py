"""A crawl and its project: options, states, progress, and the words of the frontier."""
