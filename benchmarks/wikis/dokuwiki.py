"""Debian's `dokuwiki` as it comes, with a user who may edit."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.wikis import php
from benchmarks.wikis.clock import MovedClock
from benchmarks.wikis.content import NEWS, SECTIONS, SIDEBAR, START, Text, harbour, picture
from benchmarks.wikis.forms import Upload, Visitor
from benchmarks.wikis.judging import Truth
from benchmarks.wikis.wiki import PASSWORD, USER

SHARE, SETTINGS = Path("/usr/share/dokuwiki"), Path("/etc/dokuwiki")
HOST = "127.0.0.21"
PICTURE = "harbour.png"
FOLDERS = ("attic", "cache", "index", "locks", "log", "media", "media_attic", "media_meta", "meta", "pages", "tmp")
OPEN, CLOSED = "* @ALL 1\n* @user 16\n", "* @ALL 0\n* @user 16\n"
ACCESS = "acl.auth.php"
_HASH = "<?php echo password_hash($argv[1], PASSWORD_BCRYPT, ['cost' => 4]);"


class DokuWiki:
    software = "dokuwiki"
    options: Mapping[str, Any] = {"meaningful_params": ("id",), "follow_nofollow": True}

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self._pages = harbour()
        self._visitor = Visitor(url)

    def populate(self) -> None:
        self.sign_in()
        for name, text in self._pages.items():
            self.save(name, text)
        self.set_sidebar([START, *SECTIONS, NEWS])
        file = Upload(PICTURE, picture(), "image/png")
        self._visitor.submit("lib/exe/mediamanager.php?ns=", "mediaid", {"mediaid": PICTURE}, ("upload", file))

    def sign_in(self) -> None:
        self._visitor = Visitor(self.url)
        self._visitor.submit("doku.php?id=start&do=login", "u", {"u": USER, "p": PASSWORD})

    def save(self, name: str, text: Text) -> None:
        self._pages[name] = text
        self._write(_id(name), _markup(text))

    def remove(self, name: str) -> None:
        """That is how: a page without text is none."""
        self._write(_id(name), "")

    def rename(self, old: str, new: str) -> Truth:
        """By hand, as there is no form for it: the text under a new name, the links to it changed."""
        text = self._pages.pop(old)
        self.save(new, text)
        linking = [name for name, page in self._pages.items() if old in page.links]
        for name in linking:
            page = self._pages[name]
            page.links = [new if link == old else link for link in page.links]
            self.save(name, page)
        self.remove(old)
        return Truth(changed=frozenset(linking), moved={old: new})

    def comment(self, name: str, words: str) -> Truth:
        """At the end of the page: it has no others for that."""
        self._pages[name].paragraphs.append(f"> {words}")
        self.save(name, self._pages[name])
        return Truth(changed=frozenset({name}))

    def set_sidebar(self, links: Sequence[str]) -> None:
        self._write(SIDEBAR, "".join(map(_bullet, links)))

    def edit_template(self) -> None:
        return None

    def set_open(self, *, to_all: bool) -> None:
        (self.home / "conf" / ACCESS).write_text(OPEN if to_all else CLOSED)

    def settle(self) -> None: ...

    def name_of(self, url: str) -> str | None:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        if parts.path not in {"/", "/doku.php"} or not {*query} <= {"id"}:
            return None
        return query.get("id", [START])[0].strip(":").replace(":", "/").replace("_", " ")

    def _write(self, page: str, wikitext: str) -> None:
        values = {"do[save]": "1", "wikitext": wikitext, "summary": "edited"}
        self._visitor.submit(f"doku.php?id={page}&do=edit", "wikitext", values)


@contextmanager
def dokuwiki(home: Path, clock: MovedClock) -> Iterator[DokuWiki]:
    """Running, and empty."""
    conf, data, port = home / "conf", home / "data", php.free_port(HOST)
    shutil.copytree(SETTINGS, conf, ignore=shutil.ignore_patterns(ACCESS, "users.auth.php"))
    for folder in FOLDERS:
        (data / folder).mkdir(parents=True)
    (conf / ACCESS).write_text(OPEN)
    hashed = php.say(_HASH, PASSWORD)
    (conf / "users.auth.php").write_text(f"{USER}:{hashed}:Ada Admin:ada@example.test:admin,user\n")
    with (conf / "local.php").open("a") as local:
        local.write(f"\n$conf['savedir'] = '{data}';\n")
    first = home / "first.php"
    first.write_text(f"<?php define('DOKU_CONF', '{conf}/');\n")
    options = ("-d", f"auto_prepend_file={first}")
    with php.serve(SHARE, HOST, port, *options, env=clock.environment(), log=home / "php.log"):
        yield DokuWiki(home, f"http://{HOST}:{port}/")


def _id(name: str) -> str:
    return name.replace("/", ":")


def _bullet(name: str) -> str:
    return f"  * [[:{_id(name)}|{name.rpartition('/')[2].capitalize()}]]\n"


def _markup(text: Text) -> str:
    facts = "".join(f"^ {label} | {value} |\n" for label, value in text.facts.items())
    shown = f"{{{{:{PICTURE}}}}}\n\n" if text.picture else ""
    links = "".join(map(_bullet, text.links))
    return f"====== {text.title} ======\n\n{shown}" + "\n\n".join([*text.paragraphs, facts, links])
