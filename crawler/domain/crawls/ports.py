"""Ports to read one crawl or one project, for handlers of several folders."""

from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project


class CrawlReader(Protocol):
    def get_crawl(self, crawl_id: UUID) -> CrawlJob: ...


class ProjectReader(Protocol):
    def get_project(self, project_id: UUID) -> Project: ...
