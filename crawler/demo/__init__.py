"""A small site on loopback, so that a newcomer can watch a crawl without bothering anyone."""
