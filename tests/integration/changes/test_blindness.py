"""A crawl that sees too little of a site says so, and takes no wall for the page."""

from collections.abc import Callable
from typing import Any

import pytest

from crawler.adapters.operating.live_workers import WorkerState
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from crawler.domain.hosts.credentials import CredentialKind
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site

TEXT = "<p>This is all about {0}: how it is made, who makes it, and what it costs when it is new.</p><p>Ask {0}!</p>"
PATHS = [f"/p{n}" for n in range(12)]


def lay_pages(site: Site, edited: str = "", paths: list[str] = PATHS) -> None:
    lay(site, {"/": page(*paths, title="Home", body=TEXT.format("home"))})
    lay(site, {path: article(path, path == edited) for path in paths})


def article(path: str, edited: bool = False) -> str:
    return page(title=f"All of {path}", body=TEXT.format(path) + ("<p>News of today.</p>" if edited else ""))


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def paths_of(urls: list[str]) -> list[str]:
    return ["/" + url.split("/", 3)[3] for url in urls]


def coverage(crawl: CrawlJob) -> dict[str, Any]:
    found: dict[str, Any] = told(crawl)["coverage"]
    return found


def quiet(crawl: CrawlJob) -> bool:
    counts = told(crawl)["summary"]
    return not any(counts[f"{kind}_pages"] for kind in ("new", "changed", "removed")) and not told(crawl)["moved"]


WORKS = "<h1>Umbauarbeiten</h1><p>Wir richten gerade alles neu ein.</p><p>Bitte kommen Sie morgen wieder vorbei.</p>"
WALLS: dict[str, Callable[[str, int], str]] = {
    "one text": lambda path, run: page(title="Umbau", body=WORKS),
    "another time each run": lambda path, run: page(title="Umbau", body=f"{WORKS}<p>Stand: 10:{run:02} Uhr</p>"),
    "names what was asked for": lambda path, run: page(
        title="Keine Verbindung",
        body=f"<p>All of {path} ist nicht da: die Datenbank antwortet nicht.</p><p>Vorgang 7f3a{run}c{len(path)}e</p>",
    ),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("wall", WALLS)
def test_a_text_in_place_of_most_pages_is_no_page_however_long_it_stands(
    crawler: Engine, site: Site, wall: str
) -> None:
    lay_pages(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawl.change_summary is None
    for run in range(4):
        lay(site, {path: WALLS[wall](path, run) for path in PATHS})
        crawl = crawler.again(crawl)
        assert quiet(crawl), f"run {run}"
        found = coverage(crawl)
        assert (found["expected"], found["compared"], found["failing"], found["code"]) == (13, 1, True, "same_page")
        assert found["sentence"].startswith("Only 1 of 13 pages could be compared, because 12 ")
        assert not told(crawl)["is_significant"]
    lay_pages(site, edited="/p3")
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/p3"]
    assert (coverage(crawl)["failing"], coverage(crawl)["sentence"]) == (False, None)
    (digest,) = crawler.tools.changes.digest(crawl.id)
    assert (digest.removed, digest.added) == ((), ("News of today.",))
    (changed,) = crawler.tools.changes.describe(crawl, pages=True).changed_pages or ()
    (before,) = crawler.rows("SELECT title FROM page_versions WHERE id = :id", id=changed.from_version)
    assert before["title"] == "All of /p3", "not the wall"
    assert quiet(crawler.again(crawl)), "once"


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("status", [403, 500])
def test_pages_that_are_refused_for_several_runs_are_neither_forgotten_nor_quiet(
    crawler: Engine, site: Site, status: int
) -> None:
    """Also when nothing links to them meanwhile: the home page shows a splash."""
    lay_pages(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    faults = [site.set_fault(path, status=status) for path in PATHS]
    lay(site, {"/": page(title="Home", body=TEXT.format("home"))})
    for run in range(5):
        crawl = crawler.again(crawl)
        found = coverage(crawl)
        assert (found["expected"], found["compared"], found["failing"]) == (13, 1, True), f"run {run}"
    assert found["code"] == ("refused" if status == 403 else "server_error")
    for fault in faults:
        site.mend(fault)
    lay_pages(site, edited="/p5")
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/", "/p5"]
    assert (told(crawl)["new_page_urls"], coverage(crawl)["failing"]) == ([], False)


@pytest.mark.slow
def test_an_address_that_leads_on_and_shows_the_wall_meanwhile_is_neither_new_nor_removed(
    crawler: Engine, site: Site
) -> None:
    lay_pages(site)
    lay(site, {"/haus": page(*PATHS, "/", title="Home", body=TEXT.format("home"))})
    leads = site.set_fault("/", redirect="/haus")
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawl.pages_crawled == 13
    site.mend(leads)
    for run in range(2):
        body = f"{WORKS}<p>Stand: 10:{run:02} Uhr</p>"
        lay(site, dict.fromkeys(["/", "/haus", *PATHS], page(*PATHS, "/haus", title="Umbau", body=body)))
        crawl = crawler.again(crawl)
        assert quiet(crawl), f"run {run}"
        assert coverage(crawl)["failing"]
    lay_pages(site, edited="/p3")
    lay(site, {"/haus": page(*PATHS, "/", title="Home", body=TEXT.format("home"))})
    leads = site.set_fault("/", redirect="/haus")
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/p3"]
    assert (told(crawl)["new_page_urls"], told(crawl)["removed_page_urls"], told(crawl)["moved"]) == ([], [], [])
    site.mend(leads)
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["new_page_urls"]) == ["/"], "now it is a page"


CLOSED = ["/intern/a", "/intern/b", "/intern/c/d"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("how", ["redirect", "form", "refused"])
def test_one_closed_section_is_a_wall_over_that_section(crawler: Engine, site: Site, how: str) -> None:
    """The sign-in page is not called by an English name, and the rest is compared as usual."""
    everything = [*PATHS, *CLOSED]
    lay_pages(site, paths=everything)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    form = page(title="Zugang", body='<h1>Zugang</h1><form><p>Kennwort</p><input type="password"></form>')
    if how == "form":
        lay(site, dict.fromkeys(CLOSED, form))
    lay(site, {"/zugang": form})
    faults = [
        site.set_fault(path, **({"redirect": f"/zugang?weiter={path}", "status": 302} if how == "redirect" else
                                {"status": 403}))
        for path in CLOSED if how != "form"
    ]  # fmt: skip
    for run in range(3):
        edited = f"/p{run}"
        lay(site, {edited: article(edited, edited=True)})
        crawl = crawler.again(crawl)
        assert paths_of(told(crawl)["changed_page_urls"]) == [edited]
        assert (told(crawl)["new_page_urls"], told(crawl)["removed_page_urls"]) == ([], [])
        found = coverage(crawl)
        assert found["expected"] - found["compared"] == 3
        assert (found["failing"], found["code"]) == (True, "section_closed")
        (group,) = found["unseen"]
        assert (group["cause"], group["section"]) == ("refused" if how == "refused" else "sign_in", "/intern/")
        assert "3 below /intern/ " in found["sentence"]
    for fault in faults:
        site.mend(fault)
    lay(site, {path: article(path, path == CLOSED[0]) for path in CLOSED})
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == [CLOSED[0]]
    assert not coverage(crawl)["failing"]


def test_a_redirect_of_all_pages_to_one_place_is_told_in_each_run_and_its_target_is_no_page(
    crawler: Engine, site: Site
) -> None:
    lay_pages(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/pause": page(title="Pause", body=TEXT.format("the break"))})
    faults = [site.set_fault(path, redirect=f"/pause?von={path}", status=302) for path in PATHS]
    for _ in range(4):
        crawl = crawler.again(crawl)
        assert quiet(crawl)
        assert (coverage(crawl)["failing"], coverage(crawl)["code"]) == (True, "redirect")
    for fault in faults:
        site.mend(fault)
    lay(site, {"/p7": article("/p7", edited=True)})
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/p7"]
    assert (told(crawl)["new_page_urls"], told(crawl)["removed_page_urls"]) == ([], [])
    assert not coverage(crawl)["failing"]


@pytest.mark.slow
def test_a_sign_in_page_that_robots_txt_forbids_is_not_missed_when_the_wall_is_gone(
    crawler: Engine, site: Site
) -> None:
    """While the wall stands, robots.txt asks to sign in as well, so that nothing is forbidden."""
    lay_pages(site)
    lay(site, {"/login": page(title="Sign in", body="<form><input type=password></form>")})
    rules = "User-agent: *\nDisallow: /login\n"
    open_robots = site.set_robots(rules)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    site.mend(open_robots)
    robots = site.set_robots("Who are you?", status=401)
    faults = [site.set_fault(path, redirect=f"/login?back={path}", status=302) for path in ("/", *PATHS)]
    crawl = crawler.again(crawl)
    assert (coverage(crawl)["failing"], coverage(crawl)["code"]) == (True, "sign_in")
    for fault in (robots, *faults):
        site.mend(fault)
    site.set_robots(rules)
    lay(site, {"/p7": article("/p7", edited=True)})
    for edited in (["/p7"], []):
        crawl = crawler.again(crawl)
        assert paths_of(told(crawl)["changed_page_urls"]) == edited
        assert (coverage(crawl)["expected"], coverage(crawl)["compared"]) == (len(PATHS) + 1, len(PATHS) + 1)
        assert coverage(crawl)["sentence"] is None


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize(("max_pages", "new"), [(6, []), (100, ["/fresh"])], ids=["limited", "whole"])
def test_what_a_blind_crawl_did_not_meet_is_not_new(
    crawler: Engine, site: Site, max_pages: int, new: list[str]
) -> None:
    """It found nothing else to fetch: that says nothing about which pages there are."""
    lay_pages(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_pages=max_pages)
    lay(site, {"/sign-in": page(title="Sign in", body="<form><input type=password name=p></form>")})
    faults = [site.set_fault(path, redirect="/sign-in", status=302) for path in ("/", *PATHS)]
    for _ in range(2):
        crawl = crawler.again(crawl)
        assert (quiet(crawl), coverage(crawl)["failing"], coverage(crawl)["compared"]) == (True, True, 0)
        assert coverage(crawl)["expected"] == min(max_pages, 13), "neither the page that asks who is there"
    for fault in faults:
        site.mend(fault)
    lay(site, {"/": page("/fresh", *reversed(PATHS), title="Home", body=TEXT.format("home")), "/fresh": article("/f")})
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["new_page_urls"]) == new
    assert told(crawl)["removed_page_urls"] == []


@pytest.mark.slow
def test_an_app_that_nobody_can_show_is_said_in_each_run(crawler: Engine, site: Site) -> None:
    """A short page with a script is a page, as far as anybody knows."""
    crawler.tools.operating.live_workers.announce("renderer", ["render"], WorkerState("none is here"))
    run = "<script src=/static/bundle.js></script>"
    lay(site, {"/": f"<html><head><title>App</title></head><body><div id=root></div>{run}</body></html>"})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, render="auto")
    for _ in range(2):
        crawl = crawler.again(crawl)
        assert (coverage(crawl)["failing"], coverage(crawl)["code"]) == (True, "needs_browser")
        assert coverage(crawl)["sentence"] == (
            "None of 1 page could be compared, because 1 needs a browser, and there was none."
        )
    words = "<p>Our small shop is open from nine to five, and on Sundays by appointment.</p>"
    lay(site, {"/": f"<html><head><title>Shop</title></head><body>{words}{run}</body></html>"})
    assert not coverage(crawler.again(crawler.again(crawl)))["failing"]


@pytest.mark.slow
def test_a_first_page_that_loses_its_links_is_told_once_and_hides_no_edit(crawler: Engine, site: Site) -> None:
    lay_pages(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    splash = {"/": page(title="Welcome", body="<p>Welcome to our splendid new world.</p>")}
    lay(site, {**splash, "/p4": article("/p4", edited=True)})
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/", "/p4"]
    assert (coverage(crawl)["failing"], coverage(crawl)["lost_links"], told(crawl)["is_significant"]) == (
        False, True, True,
    )  # fmt: skip
    assert str(coverage(crawl)["sentence"]).startswith("No link led to 12 of 13 pages this time")
    crawl = crawler.again(crawl)
    assert (quiet(crawl), told(crawl)["is_significant"], coverage(crawl)["sentence"]) == (True, False, None)


@pytest.mark.slow
def test_a_site_that_truly_shrinks_is_not_blind(crawler: Engine, site: Site) -> None:
    lay_pages(site)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    for path in PATHS[2:]:
        site.remove(path)
    lay(site, {"/": page(*PATHS[:2], title="Home", body=TEXT.format("home"))})
    second = crawler.again(first)
    assert told(second)["summary"]["removed_pages"] == 10
    assert (coverage(second)["failing"], coverage(second)["expected"]) == (False, 3)


@pytest.mark.slow
def test_what_the_user_leaves_out_is_not_missed(crawler: Engine, site: Site) -> None:
    lay_pages(site)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    project = crawler.tools.store.get_project(first.project_id)
    config = {"delay_seconds": 0, "use_sitemaps": False}
    few = crawler.run(crawler.start(project, config={**config, "max_pages": 2}))
    assert (coverage(few)["failing"], coverage(few)["compared"]) == (False, 2)
    left_out = crawler.run(crawler.start(project, config={**config, "exclude_patterns": ["/p1"]}))
    assert (coverage(left_out)["failing"], coverage(left_out)["sentence"]) == (False, None)


def test_a_robots_txt_that_forbids_most_pages_now_is_blindness_and_removes_nothing(crawler: Engine, site: Site) -> None:
    lay_pages(site)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    site.edit("/robots.txt", html="User-agent: *\nDisallow: /p")
    second = crawler.again(first)
    assert (coverage(second)["failing"], coverage(second)["code"]) == (True, "robots")
    assert second.change_summary is not None
    assert second.change_summary["summary"]["removed_pages"] == 0
    assert "12 are forbidden by robots.txt now" in coverage(second)["sentence"]


def give_cookie(crawler: Engine, project: Project) -> None:
    origin = str(project.website_url)
    crawler.tools.projects.credentials.set(project.id, origin, CredentialKind.COOKIE, "session", "good")


def signed_in(pages: dict[str, str], wall: Callable[[Request], bytes], taken: set[str]) -> Callable[..., bytes]:
    def respond(_: object, request: Request) -> bytes:
        if request.path not in {*pages, "/anmeldung"}:
            return response(b"", "404 Not Found")
        if request.path == "/anmeldung" or not taken & set(request.headers.values()):
            return wall(request)
        return response(pages[request.path].encode())

    return respond


FORM = page(title="Anmeldung", body='<h1>Hallo!</h1><form><input name="n"><input type="password" name="k"></form>')
REFUSALS: dict[str, Callable[[Request], bytes]] = {
    "form": lambda request: response(FORM.encode()),
    "redirect": lambda request: response(FORM.encode()) if request.path == "/anmeldung"
    else response(b"", "302 Found", "Location: /anmeldung"),
}  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("how", REFUSALS)
@pytest.mark.parametrize("pages", [1, 3])
def test_credentials_that_the_site_takes_no_more_are_said_and_its_sign_in_page_is_no_page(
    crawler: Engine, how: str, pages: int
) -> None:
    paths = ["/", *PATHS[: pages - 1]]
    site = {path: page(*paths[1:], title=f"All of {path}", body=TEXT.format(path)) for path in paths}
    taken = {"session=good"}
    with serving(signed_in(site, REFUSALS[how], taken)) as server:
        project = crawler.project(server.url("/"), use_sitemaps=False, delay_seconds=0)
        give_cookie(crawler, project)
        crawl = crawler.run(crawler.start(project))
        taken.clear()
        for _ in range(2):
            crawl = crawler.again(crawl)
            assert quiet(crawl)
            assert (coverage(crawl)["failing"], coverage(crawl)["code"]) == (True, "credentials_expired")
            assert f"renew the credentials of {project.name}." in coverage(crawl)["sentence"]
        taken.add("session=good")
        site[paths[-1]] = page(*paths[1:], title=f"All of {paths[-1]}", body=TEXT.format("edits"))
        crawl = crawler.again(crawl)
        assert paths_of(told(crawl)["changed_page_urls"]) == [paths[-1]]
        assert (told(crawl)["new_page_urls"], coverage(crawl)["failing"]) == ([], False)


def test_a_site_that_refuses_the_credentials_at_its_first_page_says_so(crawler: Engine, site: Site) -> None:
    lay_pages(site)
    project = crawler.project(site.url(), use_sitemaps=False, delay_seconds=0)
    give_cookie(crawler, project)
    site.set_fault("/", status=401)
    crawl = crawler.run(crawler.start(project))
    assert crawl.status == "failed"
    assert f"renew the credentials of {project.name}." in str(crawl.error_message)


@pytest.mark.slow
def test_a_page_behind_a_wall_is_the_same_page_when_another_spelling_of_its_address_is_met_first(
    crawler: Engine, site: Site
) -> None:
    """Which of the links to a page is met first is chance."""
    lay_pages(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {path: page(title="Umbau", body=WORKS) for path in PATHS})
    crawl = crawler.again(crawl)
    assert coverage(crawl)["failing"]
    lay_pages(site, paths=["/P3", *PATHS])
    lay(site, {"/": page("/P3", *PATHS, title="Home", body=TEXT.format("home")), "/P3": article("/p3")})
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/"]
    assert (told(crawl)["not_compared_urls"], told(crawl)["behind_walls"]) == ([], {})
    lay(site, {"/P3": article("/p3", edited=True)})
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/P3"]
    lay_pages(site, edited="/p3")
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/"], "once, whatever its address"


BOX = "<form action=/enter><input name=user><input type=password name=secret></form>"
WAYS = [f"/go/{n}" for n in range(8)]


def boxed(*links: str, title: str, more: str = "") -> str:
    """A page of a site that lets visitors sign in on each of its pages."""
    return page(*links, title=title, body=BOX + TEXT.format(title) + more)


def lay_boxed(site: Site, *, home: str = "", shelf: str = "") -> None:
    lay(site, {"/": boxed(*PATHS, *WAYS, title="Home", more=home)})
    lay(site, {path: boxed(title=f"All of {path}") for path in PATHS})
    lay(site, {"/shelf": boxed(title="Shelf", more=shelf)})


def test_a_new_page_to_which_links_lead_by_redirects_is_new_on_a_site_that_asks_for_passwords_on_each_page(
    crawler: Engine, site: Site
) -> None:
    lay_boxed(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/fresh": boxed(title="Fresh")})
    for path in WAYS:
        site.set_fault(path, redirect="/fresh", status=302)
    crawl = crawler.again(crawl)
    assert (paths_of(told(crawl)["new_page_urls"]), told(crawl)["not_compared_urls"]) == (["/fresh"], [])


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("outage", ["wall", "error"])
def test_a_page_to_which_links_lead_by_redirects_is_compared_again_after_an_outage(
    crawler: Engine, site: Site, outage: str
) -> None:
    """That each page of the site has a field for a password does not make a sign-in page of it."""
    lay_boxed(site)
    for n, path in enumerate(WAYS):
        site.set_fault(path, redirect="/" if n % 2 else "/shelf", status=302)
    crawl = crawler.again(crawler.crawl(site.url(), use_sitemaps=False))
    assert (quiet(crawl), coverage(crawl)["compared"]) == (True, 14)
    if outage == "wall":
        lay(site, {path: page(title="Umbau", body=WORKS) for path in ("/", "/shelf", *PATHS)})
        crawl = crawler.again(crawl)
    else:
        faults = [site.set_fault(path, status=500) for path in ("/shelf", *PATHS)]
        crawl = crawler.again(crawl)
        for fault in faults:
            site.mend(fault)
    assert coverage(crawl)["failing"]
    lay_boxed(site, home="<p>News of today.</p>", shelf="<p>News of the shelf.</p>")
    crawl = crawler.again(crawl)
    assert paths_of(told(crawl)["changed_page_urls"]) == ["/", "/shelf"]
    assert told(crawl)["not_compared_urls"] == []
    lay_boxed(site, home="<p>News of today.</p>")
    assert paths_of(told(crawler.again(crawl))["changed_page_urls"]) == ["/shelf"]
