"""The two versions of each page that changed between two crawls, from both crawls' ledgers.

Which pages count as changed: `handlers/changes/diff_crawl.py`. Which older version:
`adapters/engine/compared_versions.py`.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.engine.compared_versions import OLD_VERSION
from crawler.adapters.postgres.database import transaction
from crawler.domain.changes.summary import ChangedPage


class ChangedPagesReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(
        self, crawl_id: UUID, compared_to: UUID, keys: Sequence[str], further: int = 0
    ) -> tuple[ChangedPage, ...]:
        """The changed pages at these normalized URLs, with both versions, by URL. What was pruned is left out.

        With `further`, the older version is so many further back.
        """
        given = {"crawl": crawl_id, "before": compared_to, "keys": list(keys), "further": further}
        with transaction(self._engine) as db:
            rows = db.execute(text(_CHANGED), given)
            return tuple(ChangedPage.model_validate(row._asdict()) for row in rows)


_CHANGED = f"""
SELECT u.url, v.page_id, o.id AS from_version, v.id AS to_version
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
{OLD_VERSION}
WHERE u.crawl_job_id = :crawl AND u.normalized_url = ANY(:keys) ORDER BY u.url
"""  # noqa: S608 - both parts are constants
