"""One age without "ago" on a page, as that of the last check-in: it begins anew with each, and goes on by the clock."""

from datetime import timedelta

from tests.integration.handmade import Clock, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

PAGE = (
    '<h1>Branches</h1><table class="branches"><tr><th>Name</th><th>Last change</th><th>Check-ins</th></tr>'
    "<tr><td>trunk</td><td>{}</td><td>{}</td></tr></table>"
)
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Branches:
    """A page with the age of the last check-in, looked at by one crawl after the other."""

    def __init__(self, crawler: Engine, site: Site) -> None:
        self._crawler, self._site = crawler, site
        self._clock = Clock(crawler)
        self._checked_in = self._clock() - 10 * _DAY
        self._check_ins = 8
        self._lay()
        self._crawl = crawler.crawl(site.url())

    def check_in(self) -> None:
        self._checked_in, self._check_ins = self._clock(), self._check_ins + 1

    def is_told_after(self, *, age: str = "", **time: float) -> bool:
        """Whether a crawl that much later tells a change."""
        self._clock.forward(**time)
        self._lay(age)
        self._crawl = self._crawler.again(self._crawl)
        assert self._crawl.change_summary is not None
        return bool(self._crawl.change_summary["changed_page_urls"])

    def _lay(self, age: str = "") -> None:
        lay(self._site, {"/": PAGE.format(age or self._age(), self._check_ins)})

    def _age(self) -> str:
        ago = self._clock() - self._checked_in
        if ago < _HOUR:
            return f"{ago / _MINUTE:.1f} minutes"
        return f"{ago / _HOUR:.1f} hours" if ago < 2 * _DAY else f"{ago / _DAY:.1f} days"


def test_an_age_that_began_anew_is_told_with_the_edit_and_not_again_when_it_goes_on(
    crawler: Engine, site: Site
) -> None:
    page = Branches(crawler, site)
    assert page.is_told_after(hours=24), "it may be a duration"
    assert not page.is_told_after(hours=24), "it moved with the clock before"
    page.check_in()
    assert page.is_told_after(minutes=20)
    assert not page.is_told_after(hours=3)
    assert not page.is_told_after(hours=24)
    page.check_in()
    assert page.is_told_after(minutes=40)
    assert not page.is_told_after(hours=24)
    assert page.is_told_after(hours=3, age="20.1 hours"), "nothing of it went on with the clock"
