"""Debian's `mediawiki` as its installer makes it, on SQLite, with uploads and three of its bundled extensions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from benchmarks.wikis import php
from benchmarks.wikis.clock import MovedClock
from benchmarks.wikis.content import NEWS, SECTIONS, SIDEBAR, START, Text, harbour, picture
from benchmarks.wikis.forms import Upload, Visitor
from benchmarks.wikis.judging import Truth
from benchmarks.wikis.wiki import PASSWORD, USER

SHARE = Path("/usr/share/mediawiki")
CONF = "LocalSettings.php"
HOST = "127.0.0.22"
PICTURE = "Harbour.png"
TITLES = {START: "Main Page", SIDEBAR: "MediaWiki:Sidebar"}
TEMPLATE = "Template:Facts"
NOW = "It was {{CURRENTTIME}} on {{CURRENTDAYNAME}} when this was shown. There are {{NUMBEROFARTICLES}} articles."
SETTINGS = """
$wgEnableUploads = true;
$wgUploadDirectory = "{images}";
$wgUploadPath = "$wgScriptPath/img_auth.php";
$wgUseImageMagick = false;
wfLoadExtension( 'Cite' );
wfLoadExtension( 'CiteThisPage' );
wfLoadExtension( 'ParserFunctions' );
"""
_PAGE = """<page><title>{title}</title><revision><timestamp>{at:%Y-%m-%dT%H:%M:%SZ}</timestamp>
<contributor><username>Admin</username></contributor><model>wikitext</model><format>text/x-wiki</format>
<text xml:space="preserve">{text}</text></revision></page>"""
_DUMP = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">{pages}</mediawiki>'


class MediaWiki:
    software = "mediawiki"
    options: Mapping[str, Any] = {"exclude_patterns": ("Special:",)}

    def __init__(self, home: Path, url: str, clock: MovedClock) -> None:
        self.home = home
        self.url = url
        self._clock = clock
        self._pages = harbour()
        self._visitor = Visitor(url)

    def populate(self) -> None:
        """By its own import, each page written at another time; the picture by its form."""
        texts = {_title(name): _markup(text, dynamic=name == NEWS) for name, text in self._pages.items()}
        texts |= {f"Category:{section.capitalize()}": f"All {section}." for section in SECTIONS}
        texts |= {TEMPLATE: _facts("Known facts"), TITLES[SIDEBAR]: _sidebar([START, *SECTIONS, NEWS])}
        dump = self.home / "dump.xml"
        dump.write_text(_dump(texts, self._clock()))
        self._maintain("importDump.php", "--username-prefix=", str(dump))
        self._maintain("rebuildrecentchanges.php")
        self._maintain("initSiteStats.php", "--update")
        self.sign_in()
        file = Upload(PICTURE, picture(), "image/png")
        values = {"wpDestFile": PICTURE, "wpUpload": "1", "wpIgnoreWarning": "1"}
        self._visitor.submit("index.php?title=Special:Upload", "wpUploadFile", values, ("wpUploadFile", file))
        self.settle()

    def sign_in(self) -> None:
        self._visitor = Visitor(self.url)
        self._visitor.submit(
            "index.php?title=Special:UserLogin", "wpPassword", {"wpName": USER, "wpPassword": PASSWORD}
        )

    def save(self, name: str, text: Text) -> None:
        self._pages[name] = text
        self._write(_title(name), _markup(text, dynamic=name == NEWS))

    def remove(self, name: str) -> None:
        where = f"index.php?title={quote(_title(name))}&action=delete"
        self._visitor.submit(where, "wpConfirmB", {"wpReason": "done", "wpConfirmB": "1"})

    def rename(self, old: str, new: str) -> Truth:
        """The old address leads there, and lists of pages show the new name."""
        values = {"wpNewTitleMain": _title(new), "wpReason": "better name", "wpMove": "1"}
        self._visitor.submit(f"index.php?title=Special:MovePage/{quote(_title(old))}", "wpNewTitleMain", values)
        section = self._pages[old].section
        self._pages[new] = self._pages.pop(old)
        return Truth(moved={old: new}, may=frozenset({NEWS, f"category:{section}"}))

    def comment(self, name: str, words: str) -> Truth:
        where = f"index.php?title=Talk:{quote(_title(name))}&action=edit&section=new"
        values = {"wpTextbox1": f"{words} ~~~~", "wpSummary": "A question", "wpSave": "1"}
        self._visitor.submit(where, "wpTextbox1", values)
        return Truth(new=frozenset({f"talk:{name}"}), may=frozenset({NEWS}))

    def set_sidebar(self, links: Sequence[str]) -> None:
        self._write(TITLES[SIDEBAR], _sidebar(links))

    def edit_template(self) -> Truth:
        self._write(TEMPLATE, _facts("What the register says"))
        showing = frozenset(name for name, text in self._pages.items() if text.facts)
        return Truth(template=showing, may=frozenset({NEWS, TEMPLATE.lower()}))

    def set_open(self, *, to_all: bool) -> None:
        with (self.home / CONF).open("a") as local:
            local.write(f"$wgGroupPermissions['*']['read'] = {'true' if to_all else 'false'};\n")

    def settle(self) -> None:
        self._maintain("runJobs.php", "--maxjobs=500")

    def name_of(self, url: str) -> str | None:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        if parts.path not in {"/", "/index.php"} and not parts.path.startswith("/index.php/"):
            return None
        title = unquote(parts.path.removeprefix("/index.php").strip("/")) or query.pop("title", [TITLES[START]])[0]
        title = title.replace("_", " ").lower()
        if query or title.startswith("special:"):
            return None
        return {written.lower(): name for name, written in TITLES.items()}.get(title, title)

    def _write(self, title: str, wikitext: str) -> None:
        where = f"index.php?title={quote(title)}&action=edit"
        self._visitor.submit(where, "wpTextbox1", {"wpTextbox1": wikitext, "wpSummary": "edited", "wpSave": "1"})

    def _maintain(self, script: str, *arguments: str) -> None:
        conf = str(self.home / CONF)
        php.run(SHARE / "maintenance" / script, "--conf", conf, *arguments, env=self._clock.environment())


@contextmanager
def mediawiki(home: Path, clock: MovedClock) -> Iterator[MediaWiki]:
    """Running, and empty."""
    images, port = home / "images", php.free_port(HOST)
    url = f"http://{HOST}:{port}"
    images.mkdir(parents=True)
    php.run(
        SHARE / "maintenance" / "install.php", "--dbtype", "sqlite", "--dbpath", str(home / "data"), "--dbname", "wiki",
        "--server", url, "--scriptpath", "", "--confpath", str(home), "--pass", PASSWORD, "Harbour", USER,
        env=clock.environment(),
    )  # fmt: skip
    conf = home / CONF
    with conf.open("a") as local:
        local.write(SETTINGS.replace("{images}", str(images)))
    env = {**clock.environment(), "MW_CONFIG_FILE": str(conf)}
    with php.serve(SHARE, HOST, port, env=env, log=home / "php.log"):
        yield MediaWiki(home, f"{url}/", clock)


def _title(name: str) -> str:
    return TITLES.get(name) or name.capitalize()


def _markup(text: Text, *, dynamic: bool) -> str:
    given = "".join(f"|{label.lower()}={value}" for label, value in text.facts.items())
    facts = f"{{{{Facts{given}}}}}" if given else ""
    shown = f"[[File:{PICTURE}|thumb|{text.title}]]" if text.picture else ""
    links = "\n".join(f"* [[{_title(name)}|{name.rpartition('/')[2].capitalize()}]]" for name in text.links)
    filed = f"[[Category:{text.section.capitalize()}]]" if text.section else ""
    lists = f"{NOW}\n\n{{{{Special:RecentChanges/5}}}}" if dynamic else ""
    parts = [f"== {text.title} ==", shown, *text.paragraphs, facts, lists, links, filed]
    return "\n\n".join(part for part in parts if part)


def _facts(caption: str) -> str:
    rows = "".join(f"|-\n! {label}\n| {{{{{{{label.lower()}}}}}}}\n" for label in ("Built", "Fee", "Length"))
    return f'{{| class="wikitable"\n|+ {caption}\n{rows}|}}'


def _sidebar(links: Sequence[str]) -> str:
    listed = "".join(f"** {_title(name)}|{name.capitalize()}\n" for name in links)
    return f"* navigation\n** mainpage|mainpage-description\n** recentchanges-url|recentchanges\n* Harbour\n{listed}"


def _dump(texts: dict[str, str], now: datetime) -> str:
    """Each page some hours older than the one before."""
    aged = ((title, text, timedelta(minutes=431 * number + 60)) for number, (title, text) in enumerate(texts.items()))
    pages = (_PAGE.format(title=escape(title), at=now - age, text=escape(text)) for title, text, age in aged)
    return _DUMP.format(pages="".join(pages))
