"""What stands in the wikis: a small harbour's pages, the same for each; each writes them in its own markup."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

SECTIONS = ("boats", "piers", "crews", "routes")
NAMES = ("heron", "osprey", "tern", "gannet", "eider", "skua")
START, SIDEBAR, NEWS = "start", "sidebar", "news"
PAINT = "boats/heron"
"""A page with facts, a picture and a talk page later on."""

_SUBJECTS = (
    "The crew",
    "A visitor",
    "The harbour master",
    "Every second boat",
    "The old pier",
    "Our pilot",
    "The tide",
)
_VERBS = ("keeps", "follows", "repairs", "remembers", "carries", "avoids", "counts", "paints")
_OBJECTS = ("the northern channel", "a box of lanterns", "two coils of rope", "the winter timetable", "the green buoy",
            "a chart of the bay", "the ferry to the islands", "some barrels of tar")  # fmt: skip
_ENDS = ("before dawn", "in heavy weather", "without a word", "since the great storm", "as the rules ask",
         "with some pride", "when the wind turns", "for a small fee")  # fmt: skip


@dataclass
class Text:
    """A page as its writers think of it."""

    title: str
    paragraphs: list[str]
    facts: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    section: str | None = None
    picture: bool = False


def harbour() -> dict[str, Text]:
    """All pages by name; the same at each call."""
    dice = random.Random(17)
    pages = {START: Text("Harbour handbook", prose(dice, 3), links=[*SECTIONS, NEWS])}
    for section in SECTIONS:
        members = [f"{section}/{name}" for name in NAMES]
        pages[section] = Text(section.capitalize(), prose(dice, 2), links=members)
        for number, name in enumerate(NAMES):
            neighbour = f"{SECTIONS[(SECTIONS.index(section) + 1) % len(SECTIONS)]}/{NAMES[number - 1]}"
            facts = {"Built": str(1950 + dice.randrange(60)), "Fee": f"{dice.randrange(20, 900)} crowns",
                     "Length": f"{dice.randrange(8, 60)} m"}  # fmt: skip
            pages[f"{section}/{name}"] = Text(
                f"{name.capitalize()} of the {section}", prose(dice, 4), facts, [section, neighbour], section
            )
    pages[PAINT].picture = True
    pages[NEWS] = Text("News of the harbour", prose(dice, 1), links=[START])
    return pages


def prose(dice: random.Random, paragraphs: int) -> list[str]:
    return [" ".join(_sentences(dice, 4)) for _ in range(paragraphs)]


def _sentences(dice: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield f"{dice.choice(_SUBJECTS)} {dice.choice(_VERBS)} {dice.choice(_OBJECTS)} {dice.choice(_ENDS)}."


def picture() -> bytes:
    """A small red square, as PNG."""
    return bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000028000000280802000000039c2f3a0000002f49444154789cedcd310d000008"
        "03b049997f1548c304094f93fecdb42f22168bc562b1582c168bc562b1582c16df59718c405be1c8d3740000000049454e44ae426082"
    )
