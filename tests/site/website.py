"""The site's state and the answer to each request: graph, edits, faults. No sockets."""

from dataclasses import dataclass, replace

from tests.site import oddities, pages, sitemaps
from tests.site.answers import Answer, Request, not_modified, with_validators
from tests.site.faults import FaultList
from tests.site.graph import STATUS, Graph, Kind, Page, Spec, address, build

FIRST_VERSION_AT = 1_704_067_200
"""Last-Modified of everything in version 1: 2024-01-01; each later version is a day younger."""
DAY = 86_400


@dataclass(frozen=True)
class Edit:
    """One page changed by hand."""

    html: str | None = None
    """The whole page."""
    append: str | None = None
    """A paragraph added to what the graph has there."""
    status: int | None = None
    """Answer with this and no page: 404 removes it."""
    etag: str | None = None
    """The page's ETag, whatever is on it."""
    made: int = 1
    """Which edit of this run it is; decides Last-Modified."""


class Website:
    def __init__(self, spec: Spec, port: int) -> None:
        self.port = port
        self.faults = FaultList()
        self._hosts = {address(host): host for host in range(spec.hosts)}
        self._edits: dict[tuple[int, str], Edit] = {}
        self._edits_made = 0
        self._graph = build(spec)
        self._made: dict[tuple[int, str], Answer] = {}

    @property
    def graph(self) -> Graph:
        return self._graph

    def set_version(self, version: int) -> None:
        self._graph = build(replace(self._graph.spec, version=version))
        self._made.clear()

    def edit(self, host: int, path: str, edit: Edit | None) -> None:
        """Change a page, or with None bring back what the graph has there."""
        self._edits_made += 1
        self._made.pop((host, path), None)
        if edit is None:
            self._edits.pop((host, path), None)
        else:
            self._edits[host, path] = replace(edit, made=self._edits_made)

    def answer(self, request: Request) -> Answer:
        fault = self.faults.hit(request) if self.faults else None
        plain = self._plain(request)
        return fault.applied(plain) if fault else plain

    def _plain(self, request: Request) -> Answer:
        host, path = self._hosts[request.address], request.path
        answer = self._made.get((host, path))
        if answer is None:
            answer = self._stored(host, path)
            if answer is None:
                return self._odd(request)
            self._made[host, path] = answer
        return replace(answer, status=304, body=b"") if not_modified(answer, request) else answer

    def _odd(self, request: Request) -> Answer:
        """What is made anew for each request."""
        try:
            found = oddities.answer(request, f"http://{request.address}:{self.port}")
        except (ValueError, KeyError):
            return Answer.text("That oddity does not understand this address.\n", 400)
        return found or Answer.text("There is no such page.\n", 404)

    def _stored(self, host: int, path: str) -> Answer | None:
        edit = self._edits.get((host, path))
        if edit:
            return self._edited(edit, host, path)
        if path == "/robots.txt":
            return Answer.text(pages.robots_txt(self._graph, host, self.port))
        if path.startswith("/sitemap") and host in self._graph.sitemap_hosts:
            return self._sitemap(host, path)
        page = self._graph.find(host, path)
        return self._page(page) if page else None

    def _edited(self, edit: Edit, host: int, path: str) -> Answer:
        if edit.status is not None:
            return Answer.text("This page was taken away.\n", edit.status)
        page = self._graph.find(host, path)
        own = pages.html(self._graph, page, self.port).decode() if page else ""
        html = edit.html if edit.html is not None else own
        if edit.append is not None:
            html = html.replace("</h1>", f"</h1>\n<p>{edit.append}</p>", 1)
        modified_at = FIRST_VERSION_AT + 365 * DAY + edit.made
        if edit.etag is not None:
            return Answer.html(html.encode(), ("ETag", edit.etag))
        return with_validators(Answer.html(html.encode()), modified_at)

    def _sitemap(self, host: int, path: str) -> Answer | None:
        origin = f"http://{address(host)}:{self.port}"
        if path == "/sitemap.xml":
            return sitemaps.index([f"{origin}/sitemap-pages.xml.gz"])
        if path == "/sitemap-pages.xml.gz":
            return sitemaps.zipped(sitemaps.urlset(pages.listed(self._graph, host, self.port)))
        return None

    def _page(self, page: Page) -> Answer:
        if page.kind is Kind.REDIRECT and page.target is not None:
            target = self._graph.pages[page.target]
            return Answer.redirect(self._graph.url(target, self.port), STATUS[page.kind])
        if page.kind is Kind.PDF:
            return Answer(200, (("Content-Type", "application/pdf"),), b"%PDF-1.4\n")
        if page.kind in STATUS:
            status = STATUS[page.kind]
            return replace(Answer.html(pages.document(f"{status}", f"<h1>{status}</h1>")), status=status)
        modified_at = FIRST_VERSION_AT + (page.revision - 1) * DAY
        return with_validators(Answer.html(pages.html(self._graph, page, self.port)), modified_at)
