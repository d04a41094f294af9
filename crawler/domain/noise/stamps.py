"""Stamps: lines that only say when, and by whom, the page itself was last changed or made.

Every word of such a line belongs to a small vocabulary: changing or making, the page, little words, and a name after
`by`. Any other word makes it a line about something else: `Prices updated 3 May` is what the page says. And words are
not enough: the new moment must lie between the two fetches.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from crawler.domain.noise.ages import Span, is_age, spans_of
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moments import dates_in
from crawler.domain.noise.moving_values import ValueKind, parts_of, skeleton

_CHANGED = re.compile(
    r"updated|modified|edited|revised|changed|generated|regenerated|rebuilt|refreshed|built|saved|rendered|cached|compiled|"
    r"aktualisiert|geändert|bearbeitet|überarbeitet|gespeichert|erzeugt|generiert|"
    r"modifiée?|mise?|actualisée?|éditée?|révisée?|générée?|actualizad[ao]|modificad[ao]|editad[ao]|generad[ao]|"
    r"aggiornat[ao]|modificat[ao]|generat[ao]|atualizad[ao]|alterad[ao]|gerad[ao]|"
    r"bijgewerkt|gewijzigd|bewerkt|aangepast|gegenereerd|"
    r"uppdatera(?:d|des|t)|ändra(?:d|des|t)|redigera(?:d|des|t)|opdateret|oppdatert|ændret|endret|redigeret|redigert|"
    r"zmodyfikowan[oay]|edytowan[oay]|zaktualizowan[oay]|zmienion[oay]|změněn[oay]|upraven[oay]|aktualizován[oay]|editován[oay]|"
    r"päivitetty|muokattu|muutettu|güncellendi|değiştirildi|düzenlendi|"
    r"изменен[оа]?|изменён|обновлен[оа]?|обновлён|отредактирован[оа]?|змінено|оновлено|modificată|actualizată?|módosítva|frissítve"
).fullmatch
# Of these it must be the last one: `Change on 12 May` is a notice.
_CHANGE = re.compile(
    r"update|modification|change|edit|build|aktualisierung|änderung|bearbeitung|modifications?|actualización|modificación|edición|"
    r"aggiornamento|modifica|atualização|modificação|alteração|edição|wijziging|bewerking|uppdatering|ändring|endring|ændring|"
    r"modyfikacja|aktualizacja|zmiana|edycja|změna|úprava|aktualizace|güncelleme|değiştirilme|düzenleme|düzenlenme|"
    r"изменение|обновление|правка|редактирование|actualizare|modificare|módosítás"
).fullmatch
_LAST = re.compile(
    r"last|latest|letzter?|letztes|dernière|últim[ao]|ultim[ao]|laatste|senaste|siste|sidste|ostatnia|poslední|viimeisin|son|"
    r"последн(?:ее|яя)|utolsó"
).fullmatch
_PLAIN_WORDS = """
this the page document article text site website entry topic post wiki it was were has been is last latest most
recent recently on at of date
diese dieser dieses die das der dem seite dokument artikel eintrag beitrag zuletzt letzte letzter letztes am um wurde
uhr
cette ce la le les page article texte dernière dernier fois à a été était jour de du date faite fait
esta este el página documento artículo sitio última último vez fecha las fue
questa questo pagina articolo documento ultima ultimo volta il alle ore data è stata stato
o os em às foi pela pelo
deze dit pagina artikel laatst laatste voor het op om is werd
denna sida sidan senast den kl denne siden side sist sidst ble blev
tę ta tej strona stronę strony artykuł ostatnio ostatnia ostatnie dnia raz
tato této stránka stránky naposledy poslední dne byla v
sivu sivua viimeksi viimeisin klo bu sayfa son tarihi
эта этой эту страница страницы страницу последнее последний последняя раз дата в была
această ultima oară la utolsó utoljára az oldal
"""
_COUNTED_WORDS = """
rev revision revisions revid edit edits edited times changes mal änderungen bearbeitungen révision fois revisión veces
revisione volte revisão vezes revisie keer ревизия раз
"""
_BY_WORDS = "by von durch par por da door av af przez"
_PLAIN, _COUNTED, _BY = (frozenset(words.split()) for words in (_PLAIN_WORDS, _COUNTED_WORDS, _BY_WORDS))
_EAST = re.compile(
    r"(?:(?:この|本|此)?(?:ページ|页面|頁面|页|頁|文章|記事|条目|이\s?페이지|문서)(?:は|的|는|은|를)?)?"
    r"(?:最終|最后|最後|上次|마지막|최종)?(?:に)?(?:更新|编辑|編集|編輯|修改|変更|生成|수정|편집|업데이트)"
    r"(?:日時?|时间|時間|于|於|일시?|된)?"
).fullmatch
_TOKEN = re.compile(r"[@#]|[^\W_][\w.'’-]*|[:(\[,]")
_NAME_ENDS = frozenset("@:([,")
_NUMBER = "#"
_LONGEST_NAME = 3
_LONGEST_LABEL = 200
_DAY = timedelta(days=1)


class _Part(NamedTuple):
    """A part of a line that may be a stamp."""

    text: str
    values: tuple[tuple[ValueKind, str], ...]

    @property
    def moments(self) -> list[str]:
        return [text for kind, text in self.values if kind is ValueKind.MOMENT]


class Stamp(NamedTuple):
    """What a line with stamps says."""

    words: tuple[str, ...]
    """Without names, times and other parts of the line."""
    moments: tuple[str, ...]


class _Reading(NamedTuple):
    """What a part says that has no other words than stamps do."""

    says: bool
    """That something was changed or made."""
    words: tuple[str, ...]
    """Its words without the name."""


def moved_stamp(around: str, old: str, new: str, moments: Moments) -> bool:
    """Whether a moment in a part of a line is all that a stamp says anew."""
    return _is_made_of_stamps([around]) and _was_between(old, new, moments)


def moved_stamp_line(old: str, new: str, moments: Moments, label: str = "") -> bool:
    """Whether two lines differ only in what stamps say: when, by whom, the how manieth time.

    `label`: the line before, on both sides, which may be the beginning of the stamp.
    """
    before, after = _parts(old), _parts(new)
    if len(before) != len(after):
        return False
    pairs = [(*pair, _differ_as_stamps(*pair)) for pair in zip(before, after, strict=True)]
    if any(one != other for one, other, is_stamp in pairs if not is_stamp):
        return False
    stamps = [(one, other) for one, other, is_stamp in pairs if is_stamp]
    if not _is_made_of_stamps([label, *(one.text for one, _ in stamps)]):
        return False
    shown = [texts for one, other in stamps for texts in zip(one.moments, other.moments, strict=True)]
    moved = [texts for texts in shown if texts[0] != texts[1]] or shown
    return bool(moved) and all(_was_between(*texts, moments) for texts in moved)


def _differ_as_stamps(old: _Part, new: _Part) -> bool:
    """Whether both parts have the words of the same stamp; moments, counts and the name may be others."""
    before, after = _reads(old.text), _reads(new.text)
    return before is not None and before == after and len(old.moments) == len(new.moments)


def read_stamp(line: str, label: str = "") -> Stamp | None:
    """The stamps in a line, read as one; None if there are none. `label`: the line before."""
    begins = _reads(label) if is_label(label) else None
    found = [(reading, part) for part in _parts(line) if part.moments and (reading := _reads(part.text)) is not None]
    readings = [*([begins] if begins else []), *(reading for reading, _ in found)]
    if not found or not any(reading.says for reading in readings):
        return None
    words = tuple(word for reading in readings for word in reading.words)
    return Stamp(words, tuple(moment for _, part in found for moment in part.moments))


def is_label(line: str) -> bool:
    """Whether a line is the words of a stamp without its moment: `Last modified:`."""
    return len(line) <= _LONGEST_LABEL and not skeleton(line).values and _is_made_of_stamps([line])


def _is_made_of_stamps(parts: Sequence[str]) -> bool:
    """Whether these parts have no other words than stamps do, and among them one of changing or making."""
    found = [_reads(part) for part in parts if part]
    return None not in found and any(one.says for one in found if one)


@lru_cache(maxsize=256)
def _reads(part: str) -> _Reading | None:
    """What a part says; None if it has other words than a stamp."""
    tokens = [token.strip(".'’-") or token for token in _TOKEN.findall(part.lower())]
    is_last = any(map(_LAST, tokens))
    says, words, at = False, list[str](), 0
    for here, token in enumerate(tokens):
        if here < at:
            continue
        if _CHANGED(token) or _EAST(token) or (is_last and _CHANGE(token)):
            says = True
        elif token in _BY:
            at = _name_end(tokens, here + 1)
        elif token in _NUMBER:
            if not _COUNTED.intersection(tokens[max(here - 1, 0) : here + 2]):
                return None
        elif not (token in _NAME_ENDS or token in _PLAIN or token in _COUNTED or _LAST(token)):
            return None
        words.append(token)
    return _Reading(says, tuple(words))


def _name_end(tokens: Sequence[str], start: int) -> int:
    """Where a name ends that begins here."""
    for at in range(start, min(start + _LONGEST_NAME, len(tokens))):
        if tokens[at] in _NAME_ENDS or (at > start and tokens[at] in _PLAIN):
            return at
    return min(start + _LONGEST_NAME, len(tokens))


def _parts(line: str) -> list[_Part]:
    words, values = skeleton(line)
    found: list[_Part] = []
    left = 0
    for start, end in parts_of(words):
        first = left
        while left < len(values) and values[left][2] < end:
            left += 1
        found.append(_Part(words[start:end].strip(), tuple((kind, text) for kind, text, _ in values[first:left])))
    return found


def _was_between(old: str, new: str, moments: Moments) -> bool:
    """A stamp goes forward, and says that somebody was here since we were; it never lies in the future."""
    if moments.old is None or moments.new is None:
        return False
    if is_age(old) or is_age(new):
        since, known = Span(moments.old, moments.new), moments.old + _DAY
        before = [span for span in spans_of(old, moments.old) if span.first <= known]
        return bool(before) and any(span.meets(since) for span in spans_of(new, moments.new))
    first, last = moments.old.date(), moments.new.date()
    return any(
        before <= after and before <= first + _DAY and first - _DAY <= after <= last + _DAY
        for before in dates_in(old)
        for after in dates_in(new)
    )
