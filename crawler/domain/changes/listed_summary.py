"""What lists of crawls show of a change summary: a summary names every page of a site, and a list has hundreds of them.

Apart from the summary's own model (`summary.py`), because every process that stores a crawl needs this.
"""

from collections.abc import Mapping
from typing import Any

LISTED = ("compared_to", "summary", "is_significant", "moved_pages", "coverage")
UNLISTED = (
    "crawl_id",
    "state",
    "reason",
    "new_page_urls",
    "removed_page_urls",
    "changed_page_urls",
    "not_compared",
    "not_compared_urls",
    "changed_share",
    "moved",
    "removals",
    "removal_counts",
    "quiet_pages",
    "quiet_page_urls",
    "template_changes",
    "walls",
    "redirected_together",
    "template_pages",
    "wall_notes",
    "also_at",
    "left_out_places",
    "by_hash_pages",
    "by_hash",
    "watched_changes",
    "watched",
    "watch_unread",
    "advice",
    "texts",
    "changed_pages",
    "barrier_urls",
    "behind_walls",
    "failed_parts",
    "further_back",
    "only_walls",
    "told_meanwhile",
)
"""Keys of a stored summary that lists leave out."""


def short_changes(summary: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The part of a crawl's change summary that fits into a list of crawls."""
    return {name: summary[name] for name in LISTED if name in summary} if summary else None
