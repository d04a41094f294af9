"""Pages that answer 200 and say that there is nothing: by a title or heading that says so and nothing else."""

import re

from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.pages.markup_bombs import UnparsablePage

MOST_WORDS = 200
"""A page with more to say is about something."""
MAX_BYTES = 500_000
_APART = re.compile(r"\s[|–—·»-]+\s|[|»]|:\s")
_HEADING = re.compile(r"(?:^|>)h1\b[^>]*$")
_THING = r"(?:the |this |that |your )?(?:requested )?(?:page|file|article|product|content|document|item|site)"
_SAYS = re.compile(
    r"(?:oops\W+|sorry\W+)?(?:"
    r"(?:(?:http )?(?:error|status|fehler|erreur)(?: code)? )?404(?: error)?(?: (?:page )?not found)?|"
    rf"(?:{_THING} )?(?:you requested |you are looking for )?(?:(?:was|is|could|can) ?)?(?:not|n?[’']t) (?:be )?found|"
    rf"{_THING} (?:does not exist|doesn[’']t exist|no longer exists)(?: any ?more)?|"
    rf"{_THING} (?:is )?no longer available|"
    r"(?:die )?seite (?:wurde )?nicht gefunden|page (?:introuvable|non trouvée)|p[áa]gina no encontrada|"
    r"pagina non trovata|p[áa]gina n[ãa]o encontrada|pagina niet gevonden)",
    re.IGNORECASE,
)


def says_not_found(body: bytes, content_type: str) -> bool:
    if not body or len(body) > MAX_BYTES or "html" not in content_type.lower():
        return False
    try:
        page = read_blocks(body, content_type)
    except UnparsablePage:
        return False
    return page.words <= MOST_WORDS and any(map(_says, [*_title(page), *_headings(page)]))


def _title(page: PageBlocks) -> list[str]:
    """Its parts: sites put their name before or after. A number alone that is not the first may be what it is about."""
    parts = _APART.split(page.title)
    return [part for at, part in enumerate(parts) if at == 0 or not part.strip().isdigit()]


def _headings(page: PageBlocks) -> list[str]:
    """The first line of each; further ones are among the lines of the page."""
    blocks = (page.block(at) for at in range(len(page) - len(page.body), len(page)))
    return [block.text for block in blocks if _HEADING.search(block.place)]


def _says(part: str) -> bool:
    return _SAYS.fullmatch(part.strip(" \t\n.!?…:;-–—")) is not None
