"""Values that move by themselves between two fetches, and edits that look much like them.

In each text `{…}` is a format of `strftime`, filled in with the moment the server had at the fetch, in its zone.
"""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

FIRST = datetime(2026, 11, 14, 9, 13, 42, tzinfo=UTC)
"""A Saturday."""
SAME_DAY = FIRST + timedelta(hours=3, minutes=24)
NEXT_DAY = FIRST + timedelta(hours=20, minutes=51)
_MONTHS = {
    "de": "November", "fr": "novembre", "es": "noviembre", "it": "novembre", "pt": "novembro", "nl": "november",
    "sv": "november", "pl": "listopada", "cs": "listopadu", "ru": "ноября", "tr": "Kasım", "fi": "marraskuuta",
}  # fmt: skip


class Clock(NamedTuple):
    text: str
    hours: float = 0
    """How far the server's zone is ahead of UTC."""

    @property
    def is_mere_time(self) -> bool:
        return "%H:" in self.text and "%d" not in self.text

    def at(self, moment: datetime) -> str:
        local = moment + timedelta(hours=self.hours)
        text = local.strftime(self.text)
        for language, name in _MONTHS.items():
            text = text.replace(f"<{language}>", name)
        epoch = int(moment.timestamp())
        return text.replace("<epoch>", str(epoch)).replace("<millis>", str(epoch * 1000 + 217))


CLOCKS_TO_THE_MINUTE = [
    Clock("Es ist %d.%m.%Y, %H:%M Uhr", 1),
    Clock("%Y-%m-%d %H:%M"),
    Clock("Now: %Y-%m-%dT%H:%M:%SZ"),
    Clock("%a, %d %b %Y %H:%M:%S +0000"),
    Clock("%a %b %d %H:%M:%S UTC %Y"),
    Clock("Page fetched %B %d, %Y %I:%M %p", -8),
    Clock("Page fetched %B %d, %Y, %I:%M:%S %p", -5),
    Clock("%d %B %Y, at %H:%M", 5.5),
    Clock("Retrieved %H:%M, %d %B %Y from the archive of this house"),
    Clock("<<%Y/%m/%d %H:%M>>", 9),
    Clock("Samstag, %d. <de> %Y, %H:%M Uhr", 1),
    Clock("Nous sommes le %d <fr> %Y à %H:%M", 1),
    Clock("Nous sommes le %d <fr> %Y à %Hh%M", 1),
    Clock("%d de <es> de %Y, %H:%M", 1),
    Clock("%d de <es> de %Y a las %H:%M", -3),
    Clock("%d <it> %Y alle %H:%M", 1),
    Clock("%d de <pt> de %Y às %H:%M", -3),
    Clock("%d <nl> %Y om %H:%M", 1),
    Clock("%d <sv> %Y kl. %H:%M", 1),
    Clock("%d <pl> %Y, %H:%M", 1),
    Clock("%d. <cs> %Y v %H:%M", 1),
    Clock("%d <ru> %Y, %H:%M", 3),
    Clock("%d <ru> %Y в %H:%M", 3),
    Clock("%d <tr> %Y %H:%M", 3),
    Clock("%d. <fi> %Y klo %H.%M", 2),
    Clock("%d. <sv> %Y kl. %H.%M", 1),
    Clock("%Y年%m月%d日 %H:%M", 9),
    Clock("現在の時刻は%Y年%m月%d日%H時%M分です", 9),
    Clock("%Y년 %m월 %d일 %H:%M", 9),
    Clock("%m/%d/%Y %I:%M %p", -6),
    Clock("%d/%m/%Y %H:%M", 5.75),
    Clock("Stamp %Y%m%d%H%M%S"),
    Clock("%Y%m%dT%H%M%SZ"),
    Clock("Ticket <epoch>"),
    Clock("t=<millis>"),
    Clock("It is %H:%M:%S", 2),
]
"""Quiet at once: that a moment to the minute is that of our fetch, twice, is evidence enough."""

CLOCKS_THAT_NEED_MORE = [
    Clock("In our shop it is %H:%M", 1),
    Clock("Today is %A, %d %B %Y", 13),
    Clock("Accessed %d-%B-%Y", 13),
    Clock("%d. <de> %Y, %H:00 Uhr", 1),
    Clock("Am %d.%m.%Y", 13),
]
"""Told the first time, for an author may write such a value too; quiet when three versions say that it runs."""


class Stamp(NamedTuple):
    """A line before and after, with days and times in `strftime` formats of the moments given."""

    old: str
    new: str


STAMPS = [
    Stamp("Last modified: 2026/05/03 18:02 by admin", "Last modified: %Y/%m/%d %H:%M by admin"),
    Stamp("Last modified: 2026/05/03 18:02 by admin", "Last modified: %Y/%m/%d %H:%M by Anna Lee"),
    Stamp("Last modified: 2026/05/03 18:02 by 10.0.0.7", "Last modified: %Y/%m/%d %H:%M by 192.168.1.4"),
    Stamp("house.txt · Last modified: 2026/05/03 by bob", "house.txt · Last modified: %Y/%m/%d by anna"),
    Stamp("Zuletzt geändert von Anna am 3. Mai 2026", "Zuletzt geändert von Bert am %d. November %Y"),
    Stamp("Diese Seite wurde zuletzt am 3. Mai 2026 um 18:02 Uhr bearbeitet.",
          "Diese Seite wurde zuletzt am %d. November %Y um %H:%M Uhr bearbeitet."),
    Stamp("Edited 3 times; last by bob on 3 May 2026", "Edited 5 times; last by eve on %d November %Y"),
    Stamp("Revision 14, saved on 2026-05-03 by Anna", "Revision 16, saved on %Y-%m-%d by Anna"),
    Stamp("Dernière modification le 3 mai 2026 par Zoé", "Dernière modification le %d novembre %Y par Luc"),
    Stamp("La dernière modification de cette page a été faite le 3 mai 2026 à 18:02.",
          "La dernière modification de cette page a été faite le %d novembre %Y à %H:%M."),
    Stamp("Última actualización: 3 de mayo de 2026", "Última actualización: %d de noviembre de %Y"),
    Stamp("Ultima modifica: 3 maggio 2026 alle 18:02", "Ultima modifica: %d novembre %Y alle %H:%M"),
    Stamp("Esta página foi modificada pela última vez em 3 de maio de 2026",
          "Esta página foi modificada pela última vez em %d de novembro de %Y"),
    Stamp("Deze pagina is voor het laatst bewerkt op 3 mei 2026 om 18:02",
          "Deze pagina is voor het laatst bewerkt op %d november %Y om %H:%M"),
    Stamp("Sidan redigerades senast den 3 maj 2026 kl. 18.02", "Sidan redigerades senast den %d november %Y kl. %H.%M"),
    Stamp("Tę stronę ostatnio edytowano 3 maja 2026", "Tę stronę ostatnio edytowano %d listopada %Y"),
    Stamp("Последнее изменение этой страницы: 3 мая 2026", "Последнее изменение этой страницы: %d ноября %Y"),
    Stamp("最終更新日時：2026年5月3日 18:02", "最終更新日時：%Y年%m月%d日 %H:%M"),
    Stamp("本页面最后编辑于2026年5月3日", "本页面最后编辑于%Y年%m月%d日"),
    Stamp("Last updated 190 days ago by Bob", "Last updated 5 minutes ago by Eve"),
    Stamp("Last edited: 3 May 2026. All texts are free.", "Last edited: %d November %Y. All texts are free."),
    Stamp("Page generated 2026-05-03 18:02", "Page generated %Y-%m-%d %H:%M"),
    Stamp("© 2026 Harbour - Last updated 2026-05-03 18:02", "© 2026 Harbour - Last updated %Y-%m-%d %H:%M"),
    Stamp("Harbour - site built 2026-05-03 by release 1.0", "Harbour - site built %Y-%m-%d by release 1.1"),
    Stamp("Documentation generated by Quill 4.0.2 on Sun May 03 2026 18:02:11 GMT+0000 (Coordinated Universal Time)",
          "Documentation generated by Quill 4.0.3 on %a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"),
    Stamp("Generated on Sun May 3 2026 18:02:11 for Old Harbour by quill 1.9.4",
          "Generated on %a %b %d %Y %H:%M:%S for Old Harbour by quill 1.9.4"),
    Stamp("Generated on Sun May 3 18:02:11 2026 by quill 0.9.36 (lang-3.0.2).",
          "Generated on %a %b %d %H:%M:%S %Y by quill 0.9.37 (lang-3.0.2)."),
    Stamp("This manual was generated on May 3, 2026 using quill.",
          "This manual was generated on %B %d, %Y using quill."),
    Stamp("generated by quill v1.2.3 (git 2.39.1) at 2026-05-03 18:02:08 +0000",
          "generated by quill v1.2.4 (git 2.39.1) at %Y-%m-%d %H:%M:%S +0000"),
    Stamp("Docs built with Quill 3.1 at 2026-05-03 18:02.", "Docs built with Quill 3.1 at %Y-%m-%d %H:%M."),
    Stamp("Generiert am 03.05.2026 18:02 mit Feder", "Generiert am %d.%m.%Y %H:%M mit Feder"),
    Stamp("Last published: 2026-05-03", "Last published: %Y-%m-%d"),
]  # fmt: skip
"""Lines that only say when, and by whom, the page itself was changed."""

NEAR_MISSES = [
    ("Meeting: 12 May 2026 by Anna", "Meeting: 19 May 2026 by Anna"),
    ("Meeting: 14 November 2026, 09:15", "Meeting: 14 November 2026, 12:40"),
    ("Meeting: 14 November 2026, 10:13", "Meeting: 14 November 2026, 12:13"),
    ("Next bus 2026-11-14 09:13", "Next bus 2026-11-14 12:37"),
    ("Registration closes on 14 November 2026 at 09:13", "Registration closes on 14 November 2026 at 12:37"),
    ("Talk by Anna, 14 November 2026, 09:20", "Talk by Anna, 14 November 2026, 12:44"),
    ("The launch was at 09:13 UTC", "The launch was at 10:13 UTC"),
    ("Show today at 19:00 in hall 2", "Show today at 21:30 in hall 2"),
    ("Prices last modified: 3 May 2026 by Ann", "Prices last modified: 14 November 2026 by Ann"),
    ("Terms updated 3 May 2026", "Terms updated 14 November 2026"),
    ("Last modified: 3 May 2026 by admin", "Last modified: 3 May 2026 by Anna"),
    ("Last modified: 3 May 2026 by admin", "Last modified: 9 June 2026 by admin"),
    ("Last modified: 3 May 2026 by admin", "Last modified: 14 December 2027 by admin"),
    ("Last modified: 3 May 2026 by admin", "Last modified: 14 November 2026 by admin: we move to Lyon"),
    ("Last modified: 3 May 2026 by admin", "Last modified: 14 November 2026 by order of the court, closed"),
    ("Last modified: 3 May 2026. Open to all.", "Last modified: 14 November 2026. Open to members."),
    ("Edited by Anna Lee", "Edited by Bob Ray"),
    ("Version 3 updated 3 May 2026", "Version 4 updated 14 November 2026"),
    ("Rev. 13 (3 May 2026)", "Rev. 14 (14 November 2026)"),
    ("Updated 3 May 2026: 12 rooms", "Updated 14 November 2026: 13 rooms"),
    ("Ticket 1794646422", "Ticket 1794646499"),
    ("Order 20261114", "Order 20261117"),
    ("Published 3 May 2026", "Published 14 November 2026"),
    ("Invoice generated 3 May 2026", "Invoice generated 14 November 2026"),
    ("Generated on 3 May 2026 for Anna Lee", "Generated on 14 November 2026 for Bob Ray"),
    ("Bridge built 3 May 2026 with oak", "Bridge built 14 November 2026 with oak"),
    ("Updated with new prices 3 May 2026", "Updated with new prices 14 November 2026"),
    ("Documentation updated 3 May 2026", "Documentation updated 14 November 2026"),
    ("Prices - 3 May 2026", "Prices - 14 November 2026"),
    ("Zuletzt gewählt von Anna am 3. Mai 2026", "Zuletzt gewählt von Anna am 14. November 2026"),
    ("最終列車：2026年11月14日 09:20", "最終列車：2026年11月14日 12:44"),
    ("締切：2026年11月14日", "締切：2026年11月15日"),
    ("Nächster Termin: 14. November 2026, 09:13 Uhr", "Nächster Termin: 14. November 2026, 12:37 Uhr"),
    ("Fermeture le 14 novembre 2026 à 09:13", "Fermeture le 14 novembre 2026 à 12:37"),
    ("Last modified: 3 May 2026 by ida. 12 rooms.", "Last modified: 14 November 2026 by bob. 13 rooms."),
    ("Last modified: 3 May 2026 by ida · from $12", "Last modified: 14 November 2026 by bob · from $13"),
    ("Last modified: 3 May 2026 by ida · due 3 May 2026", "Last modified: 14 November 2026 by bob · due 9 May 2027"),
    ("The page was edited on 3 May 2026 by ida", "The post was edited on 14 November 2026 by bob"),
    ("File updated 3 May 2026", "File updated 14 November 2026"),
    ("Delivery within 4 days", "Delivery within 3 days"),
    ("Change on 3 May 2026", "Change on 14 November 2026"),
    ("Änderung am 3. Mai 2026", "Änderung am 14. November 2026"),
    ("Edición: 3 de mayo de 2026", "Edición: 14 de noviembre de 2026"),
    ("Time change: 3 May 2026", "Time change: 14 November 2026"),
    ("Amended 3 May 2026", "Amended 14 November 2026"),
    ("Changed from 3 May 2026", "Changed from 14 November 2026"),
    ("Page 3 of the edition of 3 May 2026", "Page 4 of the edition of 14 November 2026"),
]
"""Edits between FIRST and SAME_DAY (or the day after) that must be told."""
