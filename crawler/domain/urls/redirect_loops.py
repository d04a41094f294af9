"""Redirects that lead back to where they began."""

from collections.abc import Mapping


def loops(targets: Mapping[str, str]) -> set[str]:
    """The URLs that redirect in a circle; a URL that only leads into one is not in it."""
    looping: set[str] = set()
    done: set[str] = set()
    for start in targets:
        path: dict[str, int] = {}
        at = start
        while at in targets and at not in done and at not in path:
            path[at] = len(path)
            at = targets[at]
        if at in path:
            looping.update(url for url, place in path.items() if place >= path[at])
        done.update(path)
    return looping
