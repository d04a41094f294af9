"""What happens to a wiki while it is watched: quiet hours first, then edits of every kind, one before each crawl."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from benchmarks.wikis.content import NEWS, SECTIONS, SIDEBAR, START, Text, harbour
from benchmarks.wikis.judging import Truth
from benchmarks.wikis.wiki import Wiki

QUIET_HOURS = (0.7, 3.0, 1.0, 8.5, 0.2, 26.0)
HOURS = 2.0
"""Between the crawls after that."""
LISTS = frozenset({NEWS})
"""Shows the newest changes, where the software can."""


class Step(NamedTuple):
    what: str
    act: Callable[[Wiki], Truth | None] | None = None
    """None where this wiki has no such thing."""
    hours: float = HOURS
    passing: Truth = Truth()
    """What time alone does."""


def story() -> Sequence[Step]:
    quiet = [Step("nothing", hours=hours) for hours in QUIET_HOURS]
    return [
        *quiet,
        Step("a sentence of one page, a fee of another", _sentence_and_fee),
        Step("the start page and another", _start_and_another),
        Step("nothing"),
        Step("a new page and a link to it", _new_page),
        Step("a page removed; an edit that is reverted at once", _removed_and_reverted),
        Step("an edit", lambda wiki: _rewrite(wiki, "crews/eider", _other_sentence)),
        Step("that edit reverted; a comment elsewhere", _reverted_and_comment),
        Step("the sidebar", _sidebar),
        Step("a page renamed", lambda wiki: wiki.rename("routes/gannet", "routes/western gannet")),
        Step("a template that many pages include", lambda wiki: wiki.edit_template()),
        Step("closed to visitors", lambda wiki: _close(wiki, to_all=False)),
        Step("open again", lambda wiki: _close(wiki, to_all=True)),
        Step("nothing", hours=26.0),
        Step("nothing", hours=6 * 24.0, passing=Truth(may=LISTS)),
    ]


def _rewrite(wiki: Wiki, name: str, how: Callable[[Text], Text]) -> Truth:
    wiki.save(name, how(harbour()[name]))
    return Truth(changed=frozenset({name}), may=LISTS)


def _other_sentence(text: Text) -> Text:
    first, *others = text.paragraphs
    return replace(text, paragraphs=[f"{first} A second engine was built in last spring.", *others])


def _other_fee(text: Text) -> Text:
    return replace(text, facts={**text.facts, "Fee": "1204 crowns"})


def _sentence_and_fee(wiki: Wiki) -> Truth:
    return _together(_rewrite(wiki, "boats/osprey", _other_sentence), _rewrite(wiki, "piers/tern", _other_fee))


def _start_and_another(wiki: Wiki) -> Truth:
    return _together(_rewrite(wiki, START, _other_sentence), _rewrite(wiki, "routes/skua", _other_fee))


def _new_page(wiki: Wiki) -> Truth:
    new = "routes/puffin"
    pages = harbour()
    wiki.save(
        new, replace(pages["routes/heron"], title="Puffin of the routes", paragraphs=["To the outer islands, daily."])
    )
    hub = pages["routes"]
    wiki.save("routes", replace(hub, links=[*hub.links, new]))
    return Truth(changed=frozenset({"routes"}), new=frozenset({new}), may=LISTS | {"category:routes"})


def _removed_and_reverted(wiki: Wiki) -> Truth:
    wiki.remove("piers/gannet")
    _rewrite(wiki, "crews/osprey", _other_sentence)
    _rewrite(wiki, "crews/osprey", lambda text: text)
    return Truth(removed=frozenset({"piers/gannet"}), may=LISTS | {"category:piers"})


def _reverted_and_comment(wiki: Wiki) -> Truth:
    reverted = _rewrite(wiki, "crews/eider", lambda text: text)
    return _together(reverted, wiki.comment("boats/heron", "Who painted her last?"))


def _sidebar(wiki: Wiki) -> Truth:
    wiki.set_sidebar([START, *SECTIONS, NEWS, "routes/puffin"])
    return Truth(template=frozenset(harbour()), may=LISTS | {SIDEBAR})


def _close(wiki: Wiki, *, to_all: bool) -> Truth:
    wiki.set_open(to_all=to_all)
    return Truth()


def _together(one: Truth, other: Truth) -> Truth:
    return Truth(changed=one.changed | other.changed, new=one.new | other.new, may=one.may | other.may)


def between(step: Step) -> timedelta:
    return timedelta(hours=step.hours)
