"""A file that is no markup but is kept as a page, because the project's `content_types` take it."""

from hashlib import sha256

from crawler.domain.crawls.render_rule import ENOUGH_TAGS
from crawler.domain.pages.measure import Measure
from crawler.domain.pages.parsing import ParsedPage

_NO_SHELL = Measure(1, 1, ENOUGH_TAGS, has_bundle=False, has_scripts=False)
"""A browser would show nothing else."""


def is_pdf(content_type: str, body: bytes) -> bool:
    """Whatever its type says: no markup begins so."""
    return content_type.partition(";")[0].strip().lower() == "application/pdf" or body.startswith(b"%PDF-")


def file_page(body: bytes, url: str) -> ParsedPage:
    """Nothing of it is read here; another file is another content."""
    return ParsedPage(
        title=None,
        h1=None,
        meta_description=None,
        text="",
        word_count=0,
        links=[],
        base_url=url,
        canonical=None,
        noindex=False,
        nofollow=False,
        hreflang=[],
        language=None,
        declared_language=None,
        content_hash=sha256(body).digest(),
        charset="",
        measure=_NO_SHELL,
    )
