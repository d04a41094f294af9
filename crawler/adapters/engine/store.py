"""What most of the product reads and writes in Postgres: projects, crawls and API keys."""

from crawler.adapters.engine.crawl_store import CrawlStore
from crawler.adapters.engine.key_store import KeyStore
from crawler.adapters.engine.project_store import ProjectStore


class Store(ProjectStore, CrawlStore, KeyStore):
    """All three on one pool of connections."""
