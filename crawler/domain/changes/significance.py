"""Whether what changed between two crawls is significant: many new pages, or a large share of changed ones.

Thresholds are options of a crawl (`significant_new_pages`, `significant_changed_share`). Whether somebody is told is
decided after it, by the schedule (`should_notify` in `domain/notices/notice.py`).
"""

from crawler.domain.changes.comparison import Changes

SIGNIFICANT_NEW_PAGES = 5
SIGNIFICANT_CHANGED_SHARE = 0.1


def is_significant(
    changes: Changes,
    *,
    new_pages: int = SIGNIFICANT_NEW_PAGES,
    changed_share: float = SIGNIFICANT_CHANGED_SHARE,
    template_pages: int = 0,
    expected: int = 0,
) -> bool:
    """`template_pages`: pages that show an edit of the template and did not change otherwise.

    `expected`: how many pages should have been compared, where that is more than were: one edit on the only page that
    was seen is no edit of the whole site.

    Division, not multiplication: 3 of 30 is 0.1 exactly, but 0.1 × 30 is more than 3.
    """
    arrived = len(changes.new) + len(changes.moved)  # a moved page is a new address, too
    moved_and_edited = sum(bool(move.edits) for move in changes.moved)
    edited = len(changes.changed) + template_pages + moved_and_edited
    compared = len(changes.changed) + len(changes.unchanged)
    return arrived >= new_pages or (edited > 0 and edited / max(compared, expected, 1) >= changed_share)
