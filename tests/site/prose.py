"""Plain English-looking words from a seed, so that every page's text is known to the test that reads it."""

from random import Random

# fmt: off
NOUNS = (
    "river", "stone", "lantern", "harbour", "meadow", "window", "garden", "bridge", "copper", "orchard",
    "valley", "letter", "morning", "winter", "market", "engine", "island", "candle", "forest", "ladder",
    "basket", "thunder", "compass", "village", "feather", "mirror", "needle", "ocean", "pepper", "quarry",
    "saddle", "tunnel", "violin", "wagon", "barley", "canyon", "desert", "ember", "falcon", "glacier",
    "hammer", "ivory", "jasmine", "kettle",
)
ADJECTIVES = (
    "quiet", "amber", "narrow", "gentle", "hollow", "bright", "silver", "distant", "early", "faded",
    "golden", "humble", "idle", "jolly", "keen", "little", "mild", "noble", "open", "pale", "rapid",
    "sharp", "tender", "upper", "vivid", "warm", "young", "ancient", "broken", "clever", "deep", "even",
    "firm", "grey",
)
VERBS = (
    "follows", "carries", "holds", "meets", "crosses", "keeps", "leaves", "turns", "finds", "lifts",
    "marks", "opens", "passes", "reaches", "shades",
)
# fmt: on


def slug(rng: Random) -> str:
    return f"{rng.choice(ADJECTIVES)}-{rng.choice(NOUNS)}"


def heading(rng: Random) -> str:
    return f"The {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)} and the {rng.choice(NOUNS)}"


def sentence(rng: Random) -> str:
    pick = rng.choice
    return (
        f"The {pick(ADJECTIVES)} {pick(NOUNS)} {pick(VERBS)} the {pick(NOUNS)}"
        f" while every {pick(ADJECTIVES)} {pick(NOUNS)} {pick(VERBS)} a {pick(NOUNS)}."
    )


def paragraph(rng: Random, sentences: int = 4) -> str:
    return " ".join(sentence(rng) for _ in range(sentences))
