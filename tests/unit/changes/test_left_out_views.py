"""Pages of the crawl before that a crawl leaves out by its own guess, and not because somebody said so."""

from crawler.domain.changes.newly_watched import left_out_views
from crawler.domain.changes.removals import LostPage, Removal
from crawler.domain.crawls.crawl_choices import QueryParams
from crawler.domain.crawls.learned_params import ParamRole
from crawler.domain.urls.url import QueryRule

RULE = QueryRule(QueryParams.AUTO, frozenset(), {("/query", "milestone"): ParamRole.VIEW})


def test_only_pages_that_a_learned_view_excludes_are_left_out_by_guess() -> None:
    pages = [
        LostPage("https://e.org/query?milestone=one", None, Removal.EXCLUDED),
        LostPage("https://e.org/private", None, Removal.EXCLUDED),
        LostPage("https://e.org/query?milestone=two", None, Removal.GONE),
        LostPage("https://e.org/query?owner=ida", None, Removal.EXCLUDED),
    ]
    assert left_out_views(pages, RULE) == ["https://e.org/query?milestone=one"]
