"""URLs in a ledger row stand beside its key, which they mostly repeat. They are folded: stored as what differs from it.

A folded URL is a mark, one character for how much of the key it begins with, and its rest. `crawl_urls` has them so;
the view `crawl_discovered_urls` shows them whole, and whoever only reads uses that.
"""

_MARK = "~"
_FIRST = 32
"""The character of this number stands for nothing in common."""
_MOST = 2000


def folded(url: str, key: str) -> str:
    """The URL as it is stored beside this key: folded where that is shorter."""
    both = zip(url[:_MOST], key, strict=False)
    common = next((n for n, (ours, its) in enumerate(both) if ours != its), min(len(url), len(key), _MOST))
    short = f"{_MARK}{chr(_FIRST + common)}{url[common:]}"
    return short if len(short) < len(url) or url.startswith(_MARK) else url


def unfolded(column: str) -> str:
    """SQL for the whole URL in a column of `crawl_urls u` that may be folded."""
    whole = f"left(u.normalized_url, ascii(substr(u.{column}, 2, 1)) - {_FIRST}) || substr(u.{column}, 3)"
    return f"""CASE WHEN starts_with(u.{column}, '{_MARK}') THEN {whole} ELSE u.{column} END COLLATE "default\""""


WHOLE_URL = f"coalesce({unfolded('url')}, u.normalized_url)"
"""SQL for the URL of a row of `crawl_urls u`; one that is the key itself is not stored."""
