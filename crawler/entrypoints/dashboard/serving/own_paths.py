"""Paths that a page was given to lead back to: only ever to a page of this dashboard."""


def own_path(given: str) -> str:
    """The path to go back to, only if it is a crawl's or project's page of ours; else empty."""
    safe = given.startswith(("/crawls/", "/projects/")) and "\\" not in given and "//" not in given.partition("?")[0]
    return given if safe and given.isprintable() else ""
