"""The pages of the demo site, an imaginary lighthouse museum, in two versions.

Version 2 differs in exactly three pages: `/exhibitions` is changed, `/exhibitions/old-maps` is gone and
`/exhibitions/night-walks` is new.
"""

from html import escape
from typing import NamedTuple

ROBOTS_TXT = "User-agent: *\nDisallow: /office/\n"

STYLE = (
    "body{font:17px/1.6 Georgia,serif;max-width:42rem;margin:2rem auto;padding:0 1rem;color:#223}"
    "nav a,li a{color:#06528a}nav a{margin-right:1rem}footer{margin-top:3rem;color:#667;font-size:.85em}"
)


class Page(NamedTuple):
    title: str
    description: str
    text: str
    """Paragraphs, separated by blank lines."""
    links: tuple[tuple[str, str], ...] = ()


NAVIGATION = (
    ("/", "Home"),
    ("/visit", "Visit"),
    ("/tower", "The tower"),
    ("/exhibitions", "Exhibitions"),
    ("/shop", "Shop"),
    ("/contact", "Contact"),
)

FIRST: dict[str, Page] = {
    "/": Page(
        "Gannet Point Lighthouse",
        "A working lighthouse and a museum of the people who kept it alight.",
        """
        For a hundred and sixty years a light has turned at Gannet Point. Ships that will never call at our harbour
        know it by its rhythm: two flashes, a breath of dark, and one flash more.

        Today the lamp looks after itself and the keepers' cottages are a museum. Climb the tower, try the signal
        flags, and stay for tea when the fog comes in.
        """,
    ),
    "/visit": Page(
        "Plan your visit",
        "Opening hours, the way here and what to bring.",
        """
        Allow two hours for the tower and the cottages, and longer if you bring children: nobody has ever left the
        signal room early.

        The stairs have one hundred and ninety-six steps and no lift. From the garden you can follow the climb on a
        screen, and the museum itself is all on one floor.
        """,
        (("/visit/opening-hours", "Opening hours"), ("/visit/getting-here", "Getting here")),
    ),
    "/visit/opening-hours": Page(
        "Opening hours",
        "When the tower and the museum are open.",
        """
        From April to October we open every day from ten to five. In winter we open at weekends from eleven to
        three, and on any day when the sea is worth looking at.

        The tower closes when the wind is above force eight. Ring before you set out in a storm; somebody is always
        awake.
        """,
    ),
    "/visit/getting-here": Page(
        "Getting here",
        "By bus, by bicycle, on foot along the cliffs or by boat.",
        """
        The bus from the harbour stops at the gate four times a day. The coast path takes an hour and a half from
        town and is the better way to arrive.

        Boats may use the old supply landing on a calm day. It is steep, it is slippery, and it was good enough for
        the coal.
        """,
    ),
    "/tower": Page(
        "The tower",
        "Thirty-one metres of granite and what is at the top of them.",
        """
        The tower was cut in a quarry forty miles away, put together there to see that it fitted, taken apart again
        and shipped here stone by stone over two summers.

        Each course is dovetailed into the next. Storms have broken the windows of the lamp room three times; they
        have never moved a stone.
        """,
        (("/tower/lens", "The lens"), ("/tower/keepers", "The keepers")),
    ),
    "/tower/lens": Page(
        "The lens",
        "Four tonnes of glass that one finger can turn.",
        """
        The lens floats in a bath of mercury, so that its four tonnes turn at the push of a finger. One lamp no
        stronger than a car's headlight is seen from twenty-two miles away.

        Every prism was ground by hand. Two of them were put in upside down in 1871, and because ships had learnt
        the flaw by heart they have been left so ever since.
        """,
    ),
    "/tower/keepers": Page(
        "The keepers",
        "Three families, one well and a great deal of paint.",
        """
        Three keepers lived here with their families: one on watch, one asleep and one painting something. The log
        books they kept are all in the museum, down to the last complaint about the tea.

        The last keeper, Edith Marrow, switched the lamp to automatic in 1988, wrote the time in the log and walked
        home along the cliffs.
        """,
    ),
    "/exhibitions": Page(
        "Exhibitions",
        "What is on in the keepers' cottages this season.",
        """
        This season the long room shows the great storm of 1953, hour by hour, from the log book of the keeper on
        watch.

        In the map room hang three centuries of charts of our coast. The oldest puts the headland a mile too far
        north, which explains the wrecks.
        """,
        (("/exhibitions/great-storm", "The great storm"), ("/exhibitions/old-maps", "Old maps")),
    ),
    "/exhibitions/great-storm": Page(
        "The great storm",
        "One night in 1953, as the keeper on watch wrote it down.",
        """
        At nine in the evening the barometer fell off the wall. At ten the spray reached the lamp room. The keeper's
        handwriting gets larger with every entry and never once unsteady.

        Walk through the night in eleven rooms, with the sound of the wind as it was measured at the point, played a
        little more quietly than it was.
        """,
    ),
    "/exhibitions/old-maps": Page(
        "Old maps",
        "Three centuries of getting the coast nearly right.",
        """
        Sea charts were secrets, and sometimes they were lies. Compare nine maps of the same bay and find the island
        that a bored engraver made up in 1702.

        Visitors may draw the coast from memory and hang the result beside the masters. The difference is smaller
        than you would think.
        """,
    ),
    "/shop": Page(
        "Shop",
        "Postcards, prints and the blue enamel mug.",
        """
        The shop is in the old oil store and smells of it. Everything we sell is made within sight of the light,
        apart from the rubber gannets, which we cannot explain.

        What you spend here paints the tower: a tin of white lasts a square metre and eleven months.
        """,
        (("/shop/postcards", "Postcards"),),
    ),
    "/shop/postcards": Page(
        "Postcards",
        "Twelve views of the light, one of them in fog.",
        """
        Twelve views of the lighthouse in all weathers, printed in the village. Number seven shows the point in
        thick fog and is a plain grey card. It is our best seller.

        Single cards and the whole set are at the counter. We post them for you from the box at the gate, which is
        emptied when the postman is passing.
        """,
    ),
    "/contact": Page(
        "Contact",
        "How to reach the people who look after the light.",
        """
        Write to the curator at Gannet Point, ring the bell at the green door, or signal in international code:
        there is always somebody in the garden who would be glad of the practice.

        Schools are welcome on weekday mornings. Please tell us how many children, and whether they have been
        promised a storm.
        """,
        (("/office/rota", "Volunteers' rota"),),
    ),
}

_NIGHT_WALKS = Page(
    "Night walks",
    "Under the beam with a guide and a covered lantern.",
    """
    On the last Friday of the month we walk the headland under the beam, with a guide, a covered lantern and as
    little talking as possible.

    You will see the light as ships do: two flashes, a breath of dark, and one flash more. Wear shoes that you
    trust.
    """,
)

_EXHIBITIONS = Page(
    "Exhibitions",
    "What is on in the keepers' cottages this season.",
    """
    This season the long room shows the great storm of 1953, hour by hour, from the log book of the keeper on watch.

    The map room is closed while its roof is mended. Instead there are night walks under the beam, on the last
    Friday of the month.
    """,
    (("/exhibitions/great-storm", "The great storm"), ("/exhibitions/night-walks", "Night walks")),
)


def version(number: int) -> dict[str, Page]:
    """The pages by path: version 1, or the edited version 2."""
    if number == 1:
        return FIRST
    kept = {path: page for path, page in FIRST.items() if path != "/exhibitions/old-maps"}
    return {**kept, "/exhibitions": _EXHIBITIONS, "/exhibitions/night-walks": _NIGHT_WALKS}


def html(page: Page) -> str:
    navigation = "".join(_link(*entry) for entry in NAVIGATION)
    text = "\n".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in page.text.split("\n\n"))
    links = "".join(f"<li>{_link(*entry)}</li>" for entry in page.links)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(page.title)}</title>\n'
        f'<meta name="description" content="{escape(page.description)}">\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n<nav>{navigation}</nav>\n<main>\n<h1>{escape(page.title)}</h1>\n{text}\n"
        f"{f'<ul>{links}</ul>' if links else ''}\n</main>\n<footer>Gannet Point Lighthouse is invented.</footer>\n"
        "</body>\n</html>\n"
    )


def _link(path: str, words: str) -> str:
    return f'<a href="{escape(path)}">{escape(words)}</a>'
