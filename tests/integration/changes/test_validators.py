"""Validators that cover only a part of the page: the rest must not change unseen behind a 304."""

from uuid import UUID

from crawler.domain.engine.conditional import ASKED_ANEW, is_asked_anew
from tests.integration.changes.test_known_pages import paths, told
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.site.client import Site

ARTICLES = [f"/article-{number}" for number in range(12)]


def publish(site: Site, menu: str, *, title: str = "Home", edited: str = "") -> None:
    """Pages whose ETag stands for the article alone, not for the menu around it."""
    site.edit("/", html=page(*ARTICLES, title=title, body=f"<nav><p>{menu}</p></nav>"), etag='"home"')
    for path in ARTICLES:
        words = f"<nav><p>{menu}</p></nav><p>The article at {path}{edited if path == ARTICLES[3] else ''}.</p>"
        tag = f'"{path}{edited if path == ARTICLES[3] else ""}"'
        site.edit(path, html=page(title=path, body=words), etag=tag)


def statuses(site: Site, since: int) -> list[int]:
    return [request.status for request in site.requests()[since:] if request.path in {"/", *ARTICLES}]


def test_an_edit_of_the_frame_is_told_by_the_next_crawl_although_every_validator_stands_still(
    crawler: Engine, site: Site
) -> None:
    publish(site, "Opening hours: nine to five")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    publish(site, "Opening hours: ten to four")
    second = crawler.again(first)
    (change,) = told(second)["template_changes"]
    assert change["pages"] == len(ARTICLES) + 1
    publish(site, "Opening hours: ten to four", edited=" was edited")
    third = crawler.again(second)
    assert paths(site, told(third)["changed_page_urls"]) == [ARTICLES[3]]
    assert told(third)["template_changes"] == [], "told once"


def test_validators_are_believed_again_when_they_prove_right(crawler: Engine, site: Site) -> None:
    publish(site, "One")
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    publish(site, "Two")
    crawl = crawler.again(crawl)
    since = len(site.requests())
    crawl = crawler.again(crawl)
    assert set(statuses(site, since)) == {200}, "the crawl after one that was deceived asks for everything, too"
    since = len(site.requests())
    crawl = crawler.again(crawl)
    unconditional = 1 + sum(is_asked_anew(site.url(path), crawl.id) for path in ARTICLES)
    assert sorted(statuses(site, since)) == [200] * unconditional + [304] * (len(ARTICLES) + 1 - unconditional)


def test_each_crawl_asks_for_other_pages_without_conditions() -> None:
    urls = [f"https://h.test/{number}" for number in range(2000)]
    chosen = [{url for url in urls if is_asked_anew(url, UUID(int=crawl))} for crawl in range(60)]
    assert all(0.5 < len(some) * ASKED_ANEW / len(urls) < 1.5 for some in chosen)
    assert len(set().union(*chosen)) > 0.9 * len(urls), "sooner or later all of them"
