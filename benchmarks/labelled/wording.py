"""What sites write around their pages. Each half of the pairs has words of its own."""

from collections.abc import Sequence
from random import Random

from benchmarks.labelled.values import Half

REQUEST = (
    "Request ID: {token}",
    "Ray ID {token}",
    "Trace {token}",
    "ref. {token}",
    "Your reference is {token}.",
    "Error reports: quote {token}",
    "Correlation-Id {token}",
    "x-cache {token} HIT",
)
SERVED = (
    "Page generated in {seconds} seconds",
    "Served by {server} in {seconds} s",
    "Rendered in {millis} ms",
    "{queries} queries in {seconds} s",
    "Node {server}, {millis} ms",
    "Load time: {millis} ms ({server})",
)
VIEWS = (
    "Viewed {count} times",
    "{count} views",
    "Page views: {count}",
    "This page was read {count} times.",
    "Visitors: {count}",
    "Hits: {count}",
    "You are visitor number {count}",
    "{count} reads so far",
)
ONLINE = (
    "{few} people are reading this page",
    "Currently {few} users online",
    "Online now: {few}",
    "{few} readers right now",
    "Active sessions: {few}",
    "{few} guests and {fewer} members online",
)
SLOW_COUNTS = (
    "{count} downloads this week",
    "Downloaded {count} times",
    "{count} followers",
    "Stars: {count}",
    "Shared {count} times",
    "Likes: {count}",
    "{count} subscribers",
    "{count} comments",
)
CLOCK = (
    "It is now {time} UTC",
    "Server time {time}",
    "Local time: {time}",
    "{date}, {time}",
    "Printed at {time} on {date}",
    "Time: {time}",
)
TODAY = (
    "Today is {weekday}, {date}",
    "{weekday}, {date}",
    "Issue of {date}",
    "Welcome! Today: {date}",
    "{date}",
    "As of {date}",
)
STAMP = (
    "Last updated: {date}",
    "Last updated on {date} at {time}",
    "This page was generated on {date}.",
    "Page built {date}",
    "Last modified {date}",
    "Created with the manual builder on {date} {time}",
    "Updated {date}",
    "Retrieved {date}",
)
AGO = (
    "Edited {ago}",
    "Last change {ago}",
    "Updated {ago}",
    "Checked {ago} by our editors",
    "Last build: {ago}",
    "Reviewed {ago}",
)
COMMENT = (
    "{name} wrote {ago}: {remark}",
    "{name}, {ago}: {remark}",
    "Comment by {name} ({ago}): {remark}",
    "{ago} {name} said: {remark}",
)
REMARKS = (
    "Thank you, this solved my problem with the second example.",
    "Note that the order of the arguments matters here.",
    "On older systems one has to quote the name.",
    "The table above leaves out the empty case.",
    "This also works with views, as far as I tried.",
    "Please mention the limit on nested calls.",
    "I had to restart the service before it took effect.",
    "An example with two keys would help beginners.",
)
NAMES = (
    "Anna",
    "Bengt",
    "Chidi",
    "Dora",
    "Emre",
    "Farah",
    "Goran",
    "Hanako",
    "Ines",
    "Jonas",
    "Kavya",
    "Luca",
)
ADS = (
    "Fast hosting for small teams, first month free.",
    "Learn to sail this summer at the lake.",
    "Shoes that last ten years.",
    "The backup service that calls you when it fails.",
    "Fresh coffee, sent every second week.",
    "Sleep better on wool.",
    "Your invoices, written while you work.",
    "A bank account without branches.",
    "Train for the half marathon with us.",
    "Glasses from home: try five pairs.",
    "Our conference is in Lisbon this year.",
    "Hire people who read manuals.",
    "Green power for your office.",
    "Language lessons by telephone.",
    "Rent a garden near the station.",
    "Bread like your grandmother baked.",
)
AD_HEADS = (
    "Advertisement",
    "Sponsored",
    "Our partners",
    "Promotion",
    "From our sponsors",
    "Anzeige",
)
QUOTES = (
    "Tip: press the slash key to search.",
    "Did you know? Every page can be printed.",
    "Tip: examples can be copied whole.",
    "Hint: tables can be sorted by their heads.",
    "Did you know? There is an index by subject.",
    "Tip: bookmarks keep your place.",
    "Hint: the glossary explains each term.",
    "Did you know? Errors can be reported by mail.",
)
RELATED_HEADS = (
    "Related pages",
    "See also",
    "You may also like",
    "Read next",
    "Others also read",
    "More like this",
)
TITLES = (
    "Getting started in ten minutes",
    "Moving from an older release",
    "How locking works",
    "Reading plans",
    "Writing extensions",
    "Backing up and restoring",
    "Working with dates",
    "Handling errors",
    "Tuning memory",
    "Logging what matters",
    "Connecting through a proxy",
    "Testing your code",
    "Packaging a library",
    "Sorting and collation",
    "Text and encodings",
    "Regular maintenance",
    "Roles and rights",
    "Batch jobs at night",
    "Measuring before tuning",
    "Common mistakes",
)
BANNERS = (
    "We are moving to a new data centre next week.",
    "Our survey is open: tell us what you think.",
    "Version 4 is out, see what is new.",
    "The office is closed during the holidays.",
    "Join our community meeting in spring.",
    "New: dark colours for tired eyes.",
    "Please read our new terms of use.",
    "The old forum will be switched off soon.",
)
MENU = (
    "Home",
    "Products",
    "Pricing",
    "Support",
    "Blog",
    "Jobs",
    "Contact",
    "Partners",
    "Press",
    "Events",
    "Training",
    "Forum",
)
SHOPS = (
    "All rights reserved.",
    "Imprint and privacy",
    "Made with care in Ghent.",
    "Registered in Tallinn.",
)
SENTENCES = (
    "The limit was raised in the last release.",
    "This does not apply to temporary objects.",
    "Ask an administrator first.",
    "The command now waits until all writers are done.",
    "Older clients ignore this field.",
    "Support for it ends next year.",
    "Values outside the range are refused.",
    "A warning is written to the log instead.",
    "The default is safe for most sites.",
    "Both forms are accepted.",
)
WORDS = (
    "never",
    "always",
    "deprecated",
    "optional",
    "required",
    "private",
    "shared",
    "removed",
    "mandatory",
    "silently",
)
FACTS = (
    "Price: {price}",
    "Latest version: {version}",
    "Release date: {date}",
    "Price per seat and month: {price}",
    "Supported until {date}",
    "Current release {version}",
    "From {price} plus tax",
    "Registration closes on {date}",
)
CLASSES = (
    "meta",
    "info-bar",
    "widget",
    "page-note",
    "box",
    "tools",
    "sub",
    "sidebar-item",
    "line",
    "aux",
    "extra",
    "teaser",
)


def own(words: Sequence[str], half: Half) -> list[str]:
    """The half's share: every second of them, in an order that has nothing to do with how they were written down."""
    shuffled = sorted(words)
    Random(f"wording {len(words)} {shuffled[0]}").shuffle(shuffled)
    return shuffled[half is Half.UNSEEN :: 2]
