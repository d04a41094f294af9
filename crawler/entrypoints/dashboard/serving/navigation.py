"""Navigation links between the dashboard's sections, in the order in which people see them. Add a new section here."""

from typing import NamedTuple


class Way(NamedTuple):
    name: str
    """The link's name; a template sets `here` to the name of its own section."""
    words: str
    path: str
    """The URL path, with `{id}` in links to one project or crawl."""
    admin: bool = False
    """Shown only to admin keys."""
    whole: bool = False
    """Shown only to keys that see all projects."""


MAIN = (
    Way("projects", "Home", "/"),
    Way("queue", "Queue", "/queue", whole=True),
    Way("notifications", "Notifications", "/notifications"),
    Way("system", "System", "/system", admin=True),
)

PROJECT = (
    Way("overview", "Overview", "/projects/{id}"),
    Way("changes", "Changes", "/projects/{id}/changes"),
    Way("pages", "Pages", "/projects/{id}/pages"),
    Way("documents", "Documents", "/projects/{id}/documents"),
    Way("schedule", "Schedule", "/projects/{id}/schedule"),
    Way("noise", "Noise", "/projects/{id}/noise"),
    Way("watch", "Watched", "/projects/{id}/watched"),
    Way("settings", "Settings", "/projects/{id}/edit"),
)

CRAWL = (
    Way("progress", "Progress", "/crawls/{id}"),
    Way("changes", "Changes", "/crawls/{id}/changes"),
    Way("urls", "URLs", "/crawls/{id}/urls"),
    Way("report", "Report", "/crawls/{id}/report"),
)

# Tabs of one stored page: `{id}` stands for the project's id, /pages/ and the page's id.
PAGE = (
    Way("page", "Page", "/projects/{id}"),
    Way("versions", "Versions", "/projects/{id}/versions"),
    Way("links", "Links", "/projects/{id}/links"),
    Way("markdown", "Markdown", "/projects/{id}/markdown"),
    Way("source", "Source", "/projects/{id}/source"),
    Way("pick", "Pick a part", "/projects/{id}/pick"),
)

SYSTEM = (
    Way("health", "Health", "/system"),
    Way("hosts", "Hosts", "/system/hosts"),
    Way("settings", "Settings", "/system/settings"),
    Way("keys", "Keys", "/system/keys"),
)

QUEUE = (
    Way("entries", "Entries", "/queue"),
    Way("add", "Add", "/queue/add"),
    Way("categories", "Categories", "/queue/categories"),
)
