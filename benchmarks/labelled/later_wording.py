"""Words of the third part of the pairs.

Written when the numbers of the second part were known, before anybody looked at why rules had failed there.
"""

from benchmarks.labelled import moments, wording

LATER: dict[tuple[str, ...], tuple[str, ...]] = {
    wording.REQUEST: (
        "Session {token} is open",
        "Log entry {token}",
        "If you write to us, name {token} please",
        "{token}",
    ),
    wording.SERVED: (
        "This answer took {millis} ms",
        "Delivered by {server} after {seconds} s",
        "cache miss, {millis} ms, {server}",
    ),
    wording.VIEWS: (
        "Seen {count} times",
        "Clicks so far: {count}",
        "{count} page impressions",
        "Called up {count} times",
    ),
    wording.ONLINE: (
        "{few} others look at this now",
        "In the chat: {few}",
        "{few} visitors at the moment, {fewer} writing",
    ),
    wording.SLOW_COUNTS: (
        "{count} people follow this topic",
        "{count} thumbs up",
        "Cited {count} times",
        "Installed on {count} machines",
    ),
    wording.CLOCK: ("Our clock says {time}", "Here it is {time}", "{time} on {date}", "As seen on {date} at {time}"),
    wording.TODAY: ("Calendar: {date}", "{weekday} {date}", "Good morning, it is {date}", "News for {date}"),
    wording.STAMP: (
        "Document rev. {date}",
        "Published by the build of {date}",
        "Exported {date} {time}",
        "Last touched on {date}",
    ),
    wording.AGO: ("Someone changed this {ago}", "Freshness: {ago}", "{ago} touched by a bot", "Indexed {ago}"),
    wording.COMMENT: ("“{remark}” – {name}, {ago}", "{name} ({ago}) {remark}", "Reply from {name}, {ago}. {remark}"),
    wording.REMARKS: (
        "We moved to the new syntax and it reads better.",
        "Does anybody know whether this is cached?",
        "The third row should say bytes.",
        "Works for me since the update.",
    ),
    wording.ADS: (
        "Pianos, tuned at home.",
        "Our winter coats are here, and they are warm.",
        "Cheap flights to islands nobody knows.",
        "Learn chess from a master.",
        "A dentist who has time.",
        "Paint that dries in minutes.",
        "Seeds for small balconies.",
        "Books by the kilogram.",
    ),
    wording.AD_HEADS: ("Ad", "Paid content", "Our friends say"),
    wording.QUOTES: (
        "Proverb: haste makes waste.",
        "Word of the hour: serendipity.",
        "Fact: bees can count.",
        "Riddle: what has keys and opens no door?",
    ),
    wording.RELATED_HEADS: ("In this series", "Keep reading", "From the archive"),
    wording.TITLES: (
        "Caching without tears",
        "A tour of the console",
        "What changed in spring",
        "Rows, columns and nulls",
        "Signals and threads",
        "Writing a plugin",
        "Bulk imports at scale",
        "Reading the log",
        "Glossary of errors",
        "Upgrading in place",
    ),
    wording.BANNERS: (
        "The shop is open on Sundays from now on.",
        "Meet us at the fair in hall three.",
        "Our telephone lines are down this afternoon.",
        "A new manual for beginners is out.",
    ),
    wording.SHOPS: ("Tax number on request.", "Printed on recycled bits."),
    wording.SENTENCES: (
        "It was never meant for production.",
        "The second form is shorter.",
        "Neither option can be combined with it.",
        "Callers must hold the lock.",
        "An empty string counts as missing.",
    ),
    wording.WORDS: ("obsolete", "atomic", "lazily", "reserved", "immutable"),
    wording.FACTS: (
        "Costs {price} a year",
        "Now at {version}",
        "Opens {date}",
        "Deposit {price}",
        "Valid through {date}",
    ),
    wording.CLASSES: ("strip", "panel", "badge", "side-note", "foot-item", "promo-slot"),
    moments.DATES: ("%d/%m/%Y", "%A %d %B %Y", "%Y.%m.%d", "%d-%b-%Y"),
    moments.TIMES: ("%H:%M:%S", "%I:%M%p", "%H:%M UTC"),
}
