"""Crawls, their URLs and their projects, for readers."""
