"""One text in place of many pages: which is a wall, whatever language it speaks, and which is news."""

from collections.abc import Callable

import pytest

from crawler.domain.changes.shared_walls import with_shared_walls
from crawler.domain.diffs.file_blocks import stored_blocks
from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import apply_noise_rules

NAMES = ["oak", "elm", "ash", "fir", "yew", "pine", "lime", "plum", "pear", "fig", "alder", "larch"]
MENU = "<nav><ul><li>Garden</li><li>Forest and field</li><li>Tools for all seasons</li></ul></nav>"
FOOT = "<footer><p>Open from Monday to Friday, all the year round.</p><p>Call us before you come.</p></footer>"
Make = Callable[[str], str]


def document(title: str, body: str, *, framed: bool = True) -> PageBlocks:
    inside = f"{MENU}<main>{body}</main>{FOOT}" if framed else body
    return read_blocks(f"<title>{title}</title><body>{inside}</body>".encode())


def article(name: str, more: str = "", framed: bool = True) -> PageBlocks:
    text = f"<h1>The {name}</h1><p>Everything about the {name}, its leaves and its wood.</p><p>{name} likes rain.</p>"
    return document(f"The {name}", text + more, framed=framed)


def walls(make: Callable[[str], PageBlocks], names: list[str] = NAMES, others: int = 0, *, framed: bool = True,
          has_credentials: bool = False) -> list[Wall | None]:  # fmt: skip
    pages = {name: apply_noise_rules(article(name, framed=framed), make(name)) for name in names}
    found = with_shared_walls(pages, len(names) + others, has_credentials=has_credentials)
    return list(dict.fromkeys(page.wall for page in found.values()))


WORK = "<h1>Travaux en cours</h1><p>Nous revenons demain matin, merci de votre patience.</p>"


def test_a_foreign_text_in_place_of_half_of_the_site_is_a_wall() -> None:
    assert walls(lambda _: document("Travaux", WORK, framed=False), others=12) == [Wall.SAME]
    assert walls(lambda _: document("Travaux", WORK, framed=False), others=20) == [None], "that may be a recall"


def test_a_web_page_in_place_of_a_few_files_is_a_wall() -> None:
    def text(name: str) -> PageBlocks:
        return stored_blocks(f"Everything about the {name}.\nIt likes rain.\n".encode(), "text/plain")

    pardon = document("Pardon", "<p>Nous sommes fermés ce soir, revenez demain.</p>", framed=False)
    came = {name: apply_noise_rules(text(name), pardon) for name in NAMES[:4]}
    went = {name: apply_noise_rules(pardon, text(name)) for name in NAMES[:4]}
    assert {page.wall for page in with_shared_walls(came, 100).values()} == {Wall.SAME}
    assert {(page.wall, page.passed) for page in with_shared_walls(went, 100).values()} == {(Wall.SAME, True)}
    said = stored_blocks(b"Withdrawn, because it is wrong.\nAsk us for a new one.\n", "text/plain")
    withdrawn = {name: apply_noise_rules(text(name), said) for name in NAMES[:4]}
    assert {page.wall for page in with_shared_walls(withdrawn, 100).values()} == {None}, "files still"


def test_it_may_say_which_page_was_asked_for_and_when() -> None:
    def failing(name: str) -> PageBlocks:
        said = (
            f"<p>La page The {name} ne peut être lue: base de données indisponible.</p><p>Dossier 4f{len(name)}e7</p>"
        )
        return document("Erreur", said, framed=False)

    assert walls(failing, others=5) == [Wall.SAME]


def test_a_page_whose_title_has_words_of_the_wall_is_behind_it_with_the_others() -> None:
    """Which words are the page's name, and which the wall's own, only the other pages tell."""
    long = document("Nous merci votre patience: Travaux", "<p>Everything about the patience of trees in winter.</p>")
    work = document("Arbres", WORK, framed=False)
    pages = {name: apply_noise_rules(article(name), work) for name in NAMES}
    found = with_shared_walls({**pages, "long": apply_noise_rules(long, work)}, len(NAMES) + 1)
    assert {page.wall for page in found.values()} == {Wall.SAME}


def test_a_text_inside_the_frame_of_the_site_must_be_on_nearly_all_pages() -> None:
    assert walls(lambda _: document("Forest", WORK), others=2) == [Wall.SAME]
    assert walls(lambda _: document("Forest", WORK), others=8) == [None]


def test_a_field_for_a_password_is_a_wall_over_three_pages() -> None:
    def form(_: str) -> PageBlocks:
        return document("Accès", '<form><p>Mot secret</p><input type="PASSWORD"></form>')

    assert walls(form, NAMES[:3], others=60) == [Wall.SIGN_IN]
    assert walls(form, NAMES[:2], others=60) == [None]
    assert walls(form, NAMES[:1], others=60, has_credentials=True) == [Wall.SIGN_IN], "it let us in before"


def test_a_form_beside_what_the_page_says_is_no_wall() -> None:
    def with_form(name: str) -> PageBlocks:
        return article(name, '<form><p>Mot secret</p><input type="password"></form>')

    assert walls(with_form) == [None]
    assert walls(with_form, has_credentials=True) == [None]


def test_a_banner_on_all_pages_is_no_wall_though_each_was_edited_too() -> None:
    def edited(name: str) -> PageBlocks:
        text = (
            f"<h1>The {name}</h1><p>Everything about the {name}, its leaves and its wood.</p><p>{name} needs rain.</p>"
        )
        return document(f"The {name}", f"<p>We close for good on Friday, come and say goodbye.</p>{text}")

    assert walls(edited) == [None]


@pytest.mark.parametrize("count", [3, 6, 9])
def test_a_few_pages_with_one_new_text_are_news(count: int) -> None:
    assert walls(lambda _: document("Recall", "<p>Do not eat it. Bring it back.</p>"), NAMES[:count], others=9) == [
        None
    ]


def test_a_long_page_may_stand_behind_a_wall() -> None:
    long = "".join(f"<p>Line {n} of what is said here about {{0}}.</p>" for n in range(200))
    pages = {
        name: apply_noise_rules(article(name, long.format(name)), document("Travaux", WORK, framed=False))
        for name in NAMES
    }
    assert {page.wall for page in with_shared_walls(pages, 20).values()} == {Wall.SAME}


@pytest.mark.parametrize("also", ["", "<p>New fares</p>"])
def test_tables_of_numbers_that_all_change_are_no_wall_over_their_pages(also: str) -> None:
    """A page of fares has hardly a word of its own beside its name."""
    fares = ("Adult", "Child", "Dog", "Bike", "Car", "Van", "Cart", "Horse", "Canoe", "Tandem", "Trike", "Coach")

    def stop(name: str, at: int, factor: float, more: str = "") -> PageBlocks:
        prices = [f"<tr><td>{one}<td>{(10 + row) * factor + at:.2f} EUR" for row, one in enumerate(fares)]
        return document(name, f"<h1>{name}</h1>{more}<table><tr><th>Passenger<th>Single{''.join(prices)}</table>")

    pages = {name: apply_noise_rules(stop(name, at, 1.0), stop(name, at, 1.1, also)) for at, name in enumerate(NAMES)}
    assert {page.wall for page in with_shared_walls(pages, len(pages)).values()} == {None}
    assert all(len(page.edits) >= len(fares) for page in pages.values())
