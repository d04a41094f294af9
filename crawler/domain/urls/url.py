"""URLs: read once by one parser, kept canonical; the string that was judged is the string that is fetched.

Two parsers that disagree about a URL are how internal addresses get dialled, so whatever other software might read
differently (user names, backslashes or line breaks at a host, odd IPv4 notations) is refused instead of mended.
A backslash in a path hides no host: it is a slash, as browsers read it.

`normalize` makes one key of the spellings of a URL. Two URLs with the same content are two pages.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Self

from ada_url import URL, join_url

from crawler.domain.crawls.crawl_choices import QueryParams
from crawler.domain.crawls.learned_params import ANY_NAME, ANY_PATH, ParamRole
from crawler.domain.reasons import Reason
from crawler.domain.urls.tracking import is_tracking
from crawler.errors import InvalidUrl

if TYPE_CHECKING:
    from crawler.domain.crawls.crawl import CrawlConfig

MAX_LENGTH = 2000
"""Characters of a URL as it is fetched, without its fragment."""
MAX_HOST = 255
"""Characters of a host with its port. Names have 253 at most."""

# What is longer as written cannot shrink to MAX_LENGTH except by tricks ("/../" repeated), so it is not even parsed.
_MAX_WRITTEN = 4 * MAX_LENGTH
_MAX_CACHED = 300
_CACHE_SIZE = 1 << 14

_SCHEMES = ("http", "https")
_WHOLE = ("http://", "https://")
_SHORTEST_ORIGIN = len("http://a")
_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
_SLASHES = ("\\\\", "\\/", "/\\")
"""What browsers read as the two slashes before a host, and others as a path."""
_HEAD = re.compile(r"(?:([a-zA-Z][a-zA-Z0-9+.\-]*):)?(?://([^/?#]*))?").match
_IPV4 = re.compile(r"\d+\.\d+\.\d+\.\d+").fullmatch
_UNRESERVED = re.compile(r"%(?:2d|2e|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7e)").sub
_PATH_PART = re.compile(r"[^/;]+").sub
_BROKEN_ESCAPE = re.compile(r"%(?![0-9a-f]{2})").search
# Not behind a dot segment: dropping the parameter of "..;jsessionid=1" would make a parent reference of it.
_PATH_SESSION = re.compile(r"(?<!\.)(?<!%2e);jsessionid=[^/;]*").sub
# A segment of its own, as ASP.NET without cookies writes it: (S(…)) names the session, A, F and X stand beside it.
_SEGMENT_SESSION = re.compile(r"/(?:\(|%28)(?:[afsx](?:\(|%28)[\w.!*~-]+(?:\)|%29))+(?:\)|%29)(?=/|$)").sub

_Why = tuple[Reason, str]
_TOO_LONG: _Why = (Reason.TOO_LONG, f"The URL has more than {MAX_LENGTH} characters.")
_USERINFO: _Why = (Reason.EGRESS, "The URL holds a user name or password; those are not sent.")


class Url(NamedTuple):
    """A URL that may be fetched as far as its text is concerned."""

    href: str
    """Canonical by WHATWG, no fragment, the path's case kept: what is fetched."""
    scheme: str
    hostname: str
    """Lower case, punycode, no trailing dot; IPv6 in brackets."""
    host: str
    """Whom politeness is owed: the hostname, with its port unless that is the scheme's default."""
    path: str
    query: str
    """Without the question mark."""

    @property
    def origin(self) -> str:
        """Scheme, host and port: https://example.org, or http://example.org:8080."""
        return f"{self.scheme}://{self.host}"


class Unusable(NamedTuple):
    """Something written where a URL was expected."""

    raw: str
    reason: Reason
    rule: str
    """A sentence. It never quotes the URL, which may hold a password."""


class UrlRefused(InvalidUrl):
    """This is not a URL the crawler can fetch."""

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message, reason=str(reason))
        self.reason = reason


class QueryRule(NamedTuple):
    """Which query parameters tell pages apart."""

    mode: QueryParams
    meaningful: frozenset[str]
    """Names in lower case."""
    learned: Mapping[tuple[str, str], ParamRole] = MappingProxyType({})
    """By path and name, both as in keys."""

    @classmethod
    def of(cls, config: "CrawlConfig") -> Self:
        names = frozenset(name.lower() for name in config.meaningful_params)
        if config.query_params is not QueryParams.AUTO:
            return cls(config.query_params, names)
        return cls(config.query_params, names, {(one.path, one.name): one.role for one in config.learned_params})

    def role(self, path: str, name: str) -> ParamRole | None:
        """What a parameter is at a path, by its key; None when nobody knows yet."""
        if self.learned and (role := self.learned.get((path, name))) is not None:
            return role
        if name in self.meaningful:
            return ParamRole.KEPT
        if is_tracking(name):
            return ParamRole.DROPPED
        return self.learned.get((ANY_PATH, name)) or self.learned.get((ANY_PATH, ANY_NAME))

    def keeps(self, path: str, name: str) -> bool:
        if self.mode is QueryParams.AUTO:
            return self.role(path, name) not in (None, ParamRole.DROPPED)
        return name in self.meaningful if self.mode is QueryParams.MEANINGFUL else not is_tracking(name)

    def leaves_open(self, url: Url) -> bool:
        """Whether it has to be found out first what a parameter of this URL means."""
        if self.mode is not QueryParams.AUTO or not url.query:
            return False
        path = path_key(url)
        roles = {self.role(path, name) for name in param_names(url)}
        return bool(roles & {None, ParamRole.TRIED}) and ParamRole.VIEW not in roles

    def waits(self, url: Url) -> bool:
        """Whether a link is followed only when nothing else is left: its parameters are not known yet, or it names a
        page with more than that page's own address has, which may still be met."""
        if self.leaves_open(url):
            return True
        if self.mode is not QueryParams.AUTO or not url.query or not self.learned or self.view(url):
            return False
        path = path_key(url)
        return any(self.role(path, name) is ParamRole.DROPPED and not is_tracking(name) for name in param_names(url))

    def view(self, url: Url) -> str | None:
        """The parameter by which this URL only shows a known page in another way."""
        if self.mode is not QueryParams.AUTO or not url.query or not self.learned:
            return None
        path = path_key(url)
        return next((name for name in param_names(url) if self.role(path, name) is ParamRole.VIEW), None)


def path_key(url: Url) -> str:
    """The path as it stands in keys."""
    path = url.path.lower()
    if "%" in path:
        path = _PATH_PART(lambda part: _plain(part.group()), path)
    while ";" in path and (shorter := _PATH_SESSION("", path)) != path:
        path = shorter  # what stood before the next one may have been a session, too
    if "))" in path or "%29" in path:
        path = _SEGMENT_SESSION("", path)
    return path.rstrip("/") or "/"


def params(url: Url) -> list[tuple[str, str]]:
    """Names and values of the query as they stand in keys. What stands alone is a value without a name: ?HomePage."""
    pairs = (_plain(pair) for pair in url.query.lower().split("&") if pair)
    return [(name := param_name(pair), pair.partition("=")[2] if name else pair.removeprefix("=")) for pair in pairs]


def param_name(pair: str) -> str:
    return pair.partition("=")[0] if "=" in pair else ""


def param_names(url: Url) -> list[str]:
    return list(dict.fromkeys(name for name, _ in params(url)))


def parse(raw: str, base: str | None = None) -> Url:
    """The URL written as `raw`, relative to `base` (the `href` of another one)."""
    url = read(raw, base)
    if isinstance(url, Unusable):
        raise UrlRefused(url.rule, url.reason)
    return url


def read(raw: str, base: str | None = None) -> Url | Unusable:
    """Read a URL as `parse` does, for callers to whom an unusable URL is an expected answer."""
    if len(raw) <= _MAX_CACHED and (base is None or len(base) <= _MAX_CACHED):
        return _read_cached(raw, base)
    return _read_anew(raw, base)


def resolver(base: str) -> Callable[[str], Url | Unusable | None]:
    """Reads the hrefs of one page; None for links into the page itself.

    Pages of one directory share what was parsed, and all pages of a site what does not depend on the directory:
    navigation links cost a dictionary lookup on all pages but the first.
    """
    directory = base[: base.partition("?")[0].rindex("/") + 1]
    site = base[: base.index("/", _SHORTEST_ORIGIN) + 1]

    def resolve(href: str) -> Url | Unusable | None:
        raw = href.partition("#")[0].strip(_C0_AND_SPACE)
        if not raw:
            return None
        first = raw[0]
        if first == "/" or (first == "h" and raw.startswith(_WHOLE)):
            return read(raw, site)
        return read(raw, base if first == "?" else directory)

    return resolve


def links(hrefs: Iterable[str], base: str) -> Iterator[Url | Unusable]:
    """What these hrefs of a page point to, in order; repeats and links into the page itself are left out."""
    resolve = resolver(base)
    for raw in dict.fromkeys(href.partition("#")[0].strip(_C0_AND_SPACE) for href in hrefs):
        url = resolve(raw)
        if url is not None:
            yield url


def _read_anew(raw: str, base: str | None) -> Url | Unusable:
    text = raw.strip(_C0_AND_SPACE)
    clean = text.translate(_LINE_BREAKS) if "\n" in text or "\t" in text or "\r" in text else text
    head = _HEAD(clean)
    assert head is not None  # every part of it is optional
    scheme, authority = head.groups()
    if len(clean) > _MAX_WRITTEN and (scheme is None or scheme.lower() in _SCHEMES):
        return Unusable(raw, *_TOO_LONG)
    if scheme is not None or authority is not None or base is None:
        refusal = _bad_scheme(scheme, base) or _bad_authority(authority, text.startswith(head.group()))
        if refusal:
            return Unusable(raw, *refusal)
    if "\\" in clean and (clean.startswith(_SLASHES) or "\\" in (authority or "")):
        return Unusable(raw, Reason.EGRESS, "The URL has a backslash at its host; programs disagree about it.")
    try:
        href = join_url(base, clean) if base is not None else URL(clean).href
    except ValueError:  # lone surrogates too: they cannot be encoded
        return Unusable(raw, Reason.EGRESS, "The URL cannot be read: its host or port is not valid.")
    return _canonical(raw, href.partition("#")[0], authority)


_read_cached = lru_cache(maxsize=_CACHE_SIZE)(_read_anew)


def _bad_scheme(scheme: str | None, base: str | None) -> _Why | None:
    if scheme is None:
        return None if base else (Reason.SCHEME, "The URL must begin with http:// or https://.")
    if scheme.lower() not in _SCHEMES:
        return Reason.SCHEME, f"Only http and https are crawled, not {scheme[:20].lower()}."
    return None


def _bad_authority(authority: str | None, unbroken: bool) -> _Why | None:
    """What is wrong with a host as it is written, before a parser makes sense of it."""
    if not authority:
        return Reason.EGRESS, "The URL has no host after its two slashes."
    if "@" in authority:
        return _USERINFO
    if "%" in authority:
        return Reason.EGRESS, "The URL has a percent sign in its host."
    if not unbroken:
        return Reason.EGRESS, "The URL has a tab or line break in its host."
    return None


def _canonical(raw: str, href: str, authority: str | None) -> Url | Unusable:
    scheme, _, rest = href.partition("://")
    if scheme not in _SCHEMES:
        return Unusable(raw, Reason.SCHEME, "Only http and https are crawled.")
    host = rest[: rest.index("/")]
    hostname = host if host[-1] == "]" else host.rpartition(":")[0] or host
    if "@" in host:  # from the base: the text itself was checked
        return Unusable(raw, *_USERINFO)
    if hostname[-1] == ".":
        if hostname.rstrip(".") != hostname[:-1] or len(hostname) == 1:
            return Unusable(raw, Reason.EGRESS, "The URL has a host that ends in several dots.")
        href = href.replace(hostname, hostname[:-1], 1)
        return _canonical(raw, href, authority)
    if len(host) > MAX_HOST:
        return Unusable(raw, Reason.EGRESS, "The URL's host is longer than names of hosts can be.")
    if host[-2:] == ":0":
        return Unusable(raw, Reason.EGRESS, "The URL names port 0, which nobody can reach.")
    if authority is not None and _IPV4(hostname) and authority.partition(":")[0] != hostname:
        return Unusable(raw, Reason.EGRESS, "The URL writes an IPv4 address in an unusual notation.")
    if len(href) > MAX_LENGTH:
        return Unusable(raw, *_TOO_LONG)
    path, _, query = rest[len(host) :].partition("?")
    return Url(href, scheme, hostname, host, path, query)


def shortened(raw: str, base: str) -> str:
    """The part of a too long URL that can be kept and shown. Nobody fetches it; it holds no password."""
    clean = raw.strip(_C0_AND_SPACE).translate(_LINE_BREAKS)[:MAX_LENGTH].replace("\x00", "")
    head = _HEAD(clean)
    assert head is not None  # every part of it is optional
    scheme, authority = head.groups()
    page = base.partition("#")[0].partition("?")[0]
    origin = "/".join(page.split("/", 3)[:3])
    if authority is not None:
        start = f"{scheme or page.partition(':')[0]}://{authority.rpartition('@')[2]}"
    elif scheme is not None:
        start = f"{scheme}:"
    else:
        start = origin if clean.startswith("/") else page.rpartition("/")[0] + "/"
    return (start + clean[head.end() :]).encode("ascii", "backslashreplace").decode()[:MAX_LENGTH]


def normalize(url: Url, rule: QueryRule) -> str:
    """The key of a page: spellings of one page share it. Normalizing it again changes nothing."""
    path = path_key(url)
    key = f"{url.scheme}://{url.host}{path}"
    if url.query and rule.mode is not QueryParams.DROP:
        kept = _kept(path, url.query, rule)
        if kept:
            return f"{key}?{kept}"
    return key


def _kept(path: str, query: str, rule: QueryRule) -> str:
    pairs = [_plain(pair) for pair in query.lower().split("&") if pair]
    is_auto = rule.mode is QueryParams.AUTO
    return "&".join(
        sorted(pair for pair in pairs if rule.keeps(path, param_name(pair) if is_auto else pair.partition("=")[0]))
    )


def _plain(text: str) -> str:
    """Escapes of characters that need none are undone: %7Euser is ~user.

    A part with a broken escape stays as it is: undoing "%%34%31" gives "%41", which would be undone the next time.
    Parts are judged one by one, because the one with the broken escape may be one that a key leaves out.
    """
    if "%" not in text or _BROKEN_ESCAPE(text):
        return text
    return _UNRESERVED(lambda found: chr(int(found.group()[1:], 16)).lower(), text)


def host_of(normalized: str) -> str:
    """The host in a key that `normalize` made; empty if it is none."""
    parts = normalized.split("/", 3)
    return parts[2] if len(parts) > 2 else ""


def digest(normalized: str) -> bytes:
    """16 bytes that stand for the key in seen-sets."""
    return blake2b(normalized.encode(), digest_size=16).digest()
