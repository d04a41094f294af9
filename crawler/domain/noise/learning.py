"""What a site changes by itself, learned from pages that were fetched twice in a row.

A rule is learned only for places that vary in most of the pages that were looked at twice; a value in the midst of
ordinary text is learned with the words around it. Lines that were the same at every look are no part of the rule,
though they stand at the same place: the telephone number above a rotating advertisement still counts. So do the values
of a line that stayed the same beside one that varied.

A class or id often names a container and not the thing: `div#content>p` is a box of sayings on one page and the article
on the next. Where other pages have lines of their own at the place, which stayed, only kinds of pages or single pages
that were seen to vary are masked there (`Seen.is_other_elsewhere`). The same holds for all of a place where other
pages have a line of their own of which only a number varies (`Seen.is_worded_elsewhere`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from crawler.domain.noise.columns import Cells
from crawler.domain.noise.learned_rule import ANYWHERE, LearnedRule, Varies, is_named, names_a_line
from crawler.domain.noise.old_copies import by_page
from crawler.domain.noise.second_looks import SITE, Scope, TwoLooks
from crawler.domain.noise.seen_places import Seen, SeenAt, compare, observe

MOST_RULES = 200
"""Per project; a site that varies in more places is not masked further."""
MOST_KEPT = 500
"""Lines of a place that may be left out of a rule; with more of them it is no place that varies."""
MOST_LINES = 20
"""Lines of one place that get a rule each, so that one place does not take all rules of a site."""
SHARED_BY = 2
"""Pages on which lines that vary read alike, on average, for a rule that names each of them."""
_ANY_CELL = Cells()


def learn(looks: Iterable[TwoLooks], still: Iterable[TwoLooks] = ()) -> list[LearnedRule]:
    """Rules for what differs by itself. The same looks always give the same rules.

    `still`: some pages that did not change at all since the crawl before.
    """
    looks = list(looks)
    seen: dict[str, SeenAt] = defaultdict(lambda: defaultdict(Seen))
    for look, of_page in by_page(looks):
        observe(look, seen, of_page)
    varied = {place: scopes for place, scopes in seen.items() if scopes[SITE].varied}
    for look in (*looks, *still):
        compare(look, varied)
    rules = [rule for place, scopes in sorted(varied.items()) for rule in _rules_at(place, scopes)]
    rules.sort(key=lambda rule: rule.page is not None)  # one that holds for a page alone takes no other's room
    return (_lines_anywhere(varied) + rules)[:MOST_RULES]


def _lines_anywhere(seen: Mapping[str, SeenAt]) -> list[LearnedRule]:
    """A line that varies wherever it stands is known by its words."""
    lines: dict[str, list[set[int]]] = defaultdict(list)
    for scopes in seen.values():
        for line, values in scopes[SITE].restless_lines.items():
            lines[line].append(values)
    words = Counter(line for scopes in seen.values() for line in scopes[SITE].restless_patterns)
    found = [
        LearnedRule(ANYWHERE, Varies.VALUES, None, line, (), tuple(sorted(set().union(*values))))
        for line, values in sorted(lines.items())
        if len(values) > 1 and names_a_line(line)
    ]
    return found + [
        LearnedRule(ANYWHERE, Varies.WORDS, None, line)
        for line, count in sorted(words.items())
        if count > 1 and names_a_line(line)
    ]


def _rules_at(place: str, scopes: SeenAt, scope: Scope = SITE) -> list[LearnedRule]:
    """Rules for a place: for the whole site if it varies nearly everywhere, else for kinds of pages where it does.

    For a page alone if two crawls saw it vary there, or if it is another thing on too many others.
    """
    seen = scopes[scope]
    below = sorted(one for one in scopes if one.above == scope)
    if not seen.mostly_varies:
        return [
            rule
            for one in below
            if one.page is None or scopes[one].varied > 1
            for rule in _rules_at(place, scopes, one)
        ]
    rules = _PlaceRules(place, scope, seen).learned()
    is_other = seen.is_other_elsewhere or any(scopes[one].is_all_other_than(seen) for one in below)
    kept = [rule for rule in rules if _names_the_thing(rule)] if is_other else rules
    if seen.is_worded_elsewhere:
        kept = [rule for rule in kept if rule.varies is not Varies.ALL]
    if seen.is_ordered_elsewhere:
        kept = [rule for rule in kept if rule.varies is not Varies.ORDER]
    known = {(rule.varies, rule.line) for rule in kept if rule.names_its_line}
    if not below or len(known) == len(rules):
        return rules
    others = [rule for one in below for rule in _rules_at(place, scopes, one)]
    return kept + [rule for rule in others if (rule.varies, rule.line) not in known]


def _names_the_thing(rule: LearnedRule) -> bool:
    """Whether a rule says what varies, and not only what it stands in: by its words, its row, or the class of a value.

    Such a class names a thing on one kind of pages. On a whole site, `value` may be that of anything.
    """
    if rule.varies is not Varies.VALUES:
        return rule.varies is Varies.WORDS
    is_own = is_named(_last_step(rule.place)) and (rule.shape or rule.page or rule.cells.name_it)
    return bool(is_own or (rule.line and names_a_line(rule.line)))


def _last_step(place: str) -> str:
    """The element itself that the lines stand in, without what it stands in."""
    return place.rpartition(">")[2]


class _PlaceRules:
    """The rules for one place, on pages of one scope."""

    def __init__(self, place: str, scope: Scope, seen: Seen) -> None:
        self._place = place
        self._scope = scope
        self._seen = seen
        self._fixed_lines = seen.stable.positions
        self._varies_whole = seen.varies_whole and is_named(place)
        self._is_confirmed = seen.differed > 1 or seen.pages == 1
        """It differed on more than one page, unless there is only one."""

    def learned(self) -> list[LearnedRule]:
        if self._masks_everything:
            rule = self._rule(Varies.ALL, keeps=self._fixed_lines)
            return [rule._replace(**self._seen.rotation.known._asdict(), lists=self._seen.lists.all_apart)]
        return [*self._shared_texts(), *self._word_rules(), *self._order_rules(), *self._value_rules()]

    def _shared_texts(self) -> list[LearnedRule]:
        """Of a box that nothing names, only texts that came by themselves on several pages may come and go."""
        is_bare_box = self._seen.is_box and not is_named(self._place) and len(self._fixed_lines) <= MOST_KEPT
        shared = self._seen.rotation.shared
        if not (is_bare_box and Varies.ALL in self._seen.how and shared.texts):
            return []
        return [self._rule(Varies.ALL, keeps=self._fixed_lines)._replace(**shared._asdict())]

    @property
    def _masks_everything(self) -> bool:
        is_box = self._seen.is_box and is_named(self._place)
        is_small = len(self._fixed_lines) <= MOST_KEPT
        return Varies.ALL in self._seen.how and self._is_confirmed and is_small and (self._varies_whole or is_box)

    def _word_rules(self) -> list[LearnedRule]:
        return [self._rule(Varies.WORDS, line) for line in sorted(self._seen.restless_patterns)]

    def _order_rules(self) -> list[LearnedRule]:
        learns = Varies.ORDER in self._seen.how and self._is_confirmed
        return [self._rule(Varies.ORDER)._replace(torn=tuple(sorted(self._seen.torn)))] if learns else []

    def _value_rules(self) -> list[LearnedRule]:
        """One rule for all values of the place if that is safe; else one for each line, with the values that varied."""
        seen = self._seen
        if Varies.VALUES not in seen.how or (seen.priced and seen.varied <= 1):
            return []
        if self._masks_all_values:
            rule = self._rule(Varies.VALUES, keeps=self._fixed_lines)
            return [rule._replace(lists=seen.lists.all_apart)]
        alone = seen.stable.alone
        keeps = alone if len(alone) <= MOST_KEPT else ()
        return [
            self._rule(Varies.VALUES, line, keeps=keeps, values=tuple(sorted(values)), cells=cells)._replace(
                lists=seen.lists.apart(line)
            )
            for line, values in sorted(seen.restless_lines.items())[:MOST_LINES]
            for cells in self._cells(line)
        ]

    def _rule(
        self,
        varies: Varies,
        line: str | None = None,
        *,
        keeps: tuple[int, ...] = (),
        values: tuple[int, ...] = (),
        cells: Cells = _ANY_CELL,
    ) -> LearnedRule:
        shape, page = self._scope
        columns, headings, rows, tables = cells
        shape = None if page else shape
        return LearnedRule(self._place, varies, shape, line, keeps, values, columns, page, headings, rows, tables)

    def _cells(self, line: str) -> list[Cells]:
        kind = is_named(_last_step(self._place))
        return self._seen.columns.apart(line, kind=kind, said=names_a_line(line))

    @property
    def _masks_all_values(self) -> bool:
        if not self._varies_whole or self._seen.fixed_values or self._seen.priced:
            return False
        if self._seen.is_reworded_elsewhere or len(self._seen.restless_lines) < len(self._seen.lines):
            return False
        if any(any(cells) for line in self._seen.lines for cells in self._cells(line)):
            return False
        if len(self._fixed_lines) > MOST_KEPT:
            return False
        if not all(map(names_a_line, self._seen.lines)):
            return True
        # What varies says by its words what it is. A sentence of one page may share its class.
        are_shared = SHARED_BY * len(self._seen.lines) <= self._seen.varied
        return not (self._fixed_lines or are_shared)
