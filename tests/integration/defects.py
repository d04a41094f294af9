"""A small site with every defect a report knows."""

from tests.integration.handmade import lay
from tests.site.client import Site

WORDS = "Enough words to be a page of its own. "


def html(
    title: str | None,
    *links: tuple[str, str] | str,
    head: str = "",
    h1: str | None = "A heading",
    description: str | None = "",
) -> str:
    """A page without a defect unless it is told otherwise; its description is its own."""
    named = f"<title>{title}</title>" if title else ""
    if description is not None:
        named += f'<meta name="description" content="{description or f"About {title}"}">'
    heading = f"<h1>{h1}</h1>" if h1 else ""
    pairs = [(link, f"to {link}") if isinstance(link, str) else link for link in links]
    anchors = "".join(f'<a href="{href}">{words}</a> ' for href, words in pairs)
    body = f"{heading}<p>{WORDS}{title}</p>{anchors}"
    return f"<!doctype html><html><head>{named}{head}</head><body>{body}</body></html>"


def canonical(href: str) -> str:
    return f'<link rel="canonical" href="{href}">'


def hreflang(**tags: str) -> str:
    return "".join(f'<link rel="alternate" hreflang="{t.replace("_", "-")}" href="{u}">' for t, u in tags.items())


def sitemap(site: Site, *paths: str) -> None:
    inside = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in paths)
    body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inside}</urlset>'
    site.set_fault("/sitemap.xml", status=200, body=body, content_type="application/xml")


CANONICALS = ("/c-broken", "/c-moved", "/c-away", "/c-loop-a", "/c-loop-b", "/c-chain", "/c-hidden", "/c-two", "/c-ok")
LANGUAGES = ("/l-en", "/l-de", "/l-lonely", "/l-code", "/l-gone", "/l-ok-a", "/l-ok-b")
OTHERS = ("/plain", "/untitled", "/twin-a", "/twin-b", "/mute", "/echo-a", "/echo-b", "/headless", "/hidden", "/heavy")


def spoil(site: Site) -> None:
    """Lay it all out; the crawl begins at /."""
    lay(
        site,
        {
            "/": html(
                "Home",
                *CANONICALS,
                *LANGUAGES,
                *OTHERS,
                ("/gone", "the lost page"),
                ("/hop-1", "old news"),
                ("/hop-last", "moved"),
                ("/circle-a", "round"),
                ("/to-nothing", "nothing"),
            ),
            "/plain": html("Plain", ("/Gone/", "lost again"), ("/gone?from=plain", "and again")),
            "/end": html("End"),
            "/untitled": html(None, description="Nobody named it"),
            "/twin-a": html("Twins"),
            "/twin-b": html("Twins", description="The other one"),
            "/mute": html("Mute", description=None),
            "/echo-a": html("Echo A", description="Echo"),
            "/echo-b": html("Echo B", description="Echo"),
            "/headless": html("Headless", h1=None),
            "/hidden": html("Hidden", head='<meta name="robots" content="noindex">'),
            "/heavy": html("Heavy", head=f"<!-- {'x' * 30_000} -->"),
            "/c-broken": html("Canonical of nothing", head=canonical("/gone")),
            "/c-moved": html("Canonical that moved", head=canonical("/hop-last")),
            "/c-away": html("Canonical elsewhere", head=canonical("https://other.example/page")),
            "/c-loop-a": html("Canonical circle a", head=canonical("/c-loop-b")),
            "/c-loop-b": html("Canonical circle b", head=canonical("/c-loop-a")),
            "/c-chain": html("Canonical chain", head=canonical("/c-broken")),
            "/c-hidden": html("Canonical of the hidden", head=canonical("/hidden")),
            "/c-two": html("Two canonicals", head=canonical("/c-two") + canonical("/end")),
            "/c-ok": html("Canonical of itself", head=canonical("/C-ok/")),
            "/l-en": html("English", head=hreflang(en="/l-en", de="/l-de")),
            "/l-de": html("Deutsch", head=hreflang(de="/l-de")),
            "/l-lonely": html("Lonely", head=hreflang(de="/l-de")),
            "/l-code": html("Codes", head=hreflang(en_UK="/l-code")),
            "/l-gone": html("Translated away", head=hreflang(en="/l-gone", fr="/gone")),
            "/l-ok-a": html("Fine", head=hreflang(en="/l-ok-a", de="/l-ok-b", x_default="/l-ok-a")),
            "/l-ok-b": html("Gut", head=hreflang(en="/l-ok-a", de="/l-ok-b", x_default="/l-ok-a")),
            "/alone": html("Alone", "/alone", "/"),
        },
    )
    site.remove("/gone")
    site.set_fault("/hop-1", redirect="/hop-2", status=301)
    site.set_fault("/hop-2", redirect="/hop-last", status=301)
    site.set_fault("/hop-last", redirect="/end", status=301)
    site.set_fault("/circle-a", redirect="/circle-b")
    site.set_fault("/circle-b", redirect="/circle-a")
    site.set_fault("/to-nothing", redirect="/gone")
    sitemap(site, "/plain", "/alone", "/never")
    site.remove("/never")
