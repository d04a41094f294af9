"""A small demo site on loopback: shows a crawl without requests to anybody's server."""
