"""Which pages are looked at twice, and how a probe stands in the frontier."""

from uuid import UUID

from crawler.domain.changes.probes import MOST_AGAIN, Probe, Purpose, choose_second_looks, probe_entry
from crawler.domain.crawls.frontier import Kind, Priority, score
from crawler.domain.engine.ledger import UrlKey
from crawler.domain.urls.url import digest


def pages(*paths: str) -> list[tuple[str, str]]:
    return [(f"https://e.org{path}", f"https://e.org{path}") for path in paths]


def test_second_looks_are_spread_over_the_kinds_of_urls() -> None:
    site = pages("/", "/about", *(f"/blog/{n}" for n in range(100)), *(f"/shop/item/{n}" for n in range(100)))
    chosen = [url for url, _ in choose_second_looks(site)]
    assert len(chosen) == MOST_AGAIN
    assert {"https://e.org/", "https://e.org/about"} <= set(chosen)
    assert sum("/blog/" in url for url in chosen) == sum("/shop/" in url for url in chosen) == 9


def test_the_same_pages_give_the_same_sample_in_whatever_order_they_come() -> None:
    site = pages(*(f"/blog/post-{n}" for n in range(200)))
    assert choose_second_looks(site) == choose_second_looks(site[::-1])
    assert choose_second_looks(site) != sorted(choose_second_looks(site)), "not only the first by name"


def test_pages_that_were_never_looked_at_twice_come_before_those_that_were() -> None:
    site = pages("/", *(f"/blog/post-{n}" for n in range(50)))
    looked: dict[str, int] = {}
    for _ in range(3):
        for url, _key in choose_second_looks(site, looked):
            looked[url] = looked.get(url, 0) + 1
    assert set(looked) == {url for url, _ in site}, "three times twenty are all of fifty-one"
    assert max(looked.values()) == 2


def test_pages_that_were_told_before_are_looked_at_again_but_leave_room_for_others() -> None:
    site = pages(*(f"/blog/post-{n}" for n in range(50)))
    urls = [url for url, _ in site]
    looked = dict.fromkeys(urls[:30], 3)
    assert urls[7] not in [url for url, _ in choose_second_looks(site, looked)]
    assert urls[7] in [url for url, _ in choose_second_looks(site, looked, {urls[7]})]
    chosen = [url for url, _ in choose_second_looks(site, looked, set(urls[:30]))]
    assert len(set(chosen)) == MOST_AGAIN
    assert len(set(chosen) - set(urls[:30])) == MOST_AGAIN // 2


def test_a_small_site_is_looked_at_whole() -> None:
    assert sorted(choose_second_looks(pages("/", "/a"))) == pages("/", "/a")
    assert choose_second_looks([]) == []


def test_a_probe_is_not_the_page_it_asks_for() -> None:
    url = "https://e.org/a"
    probe = Probe(UrlKey(UUID(int=1), url), url, "e.org", Purpose.MISSING, 7)
    entry = probe_entry(probe)
    assert (entry.kind, entry.score, entry.host) == (Kind.PROBE, score(Priority.PROBE, 7), "e.org")
    assert entry.digest != digest(url)
