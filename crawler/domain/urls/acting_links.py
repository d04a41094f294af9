"""Links that do something when they are followed. A crawl that is signed in leaves them alone.

They end its session (`/logout`, `?action=signout`), or delete, stop or reset something (`/posts/3/delete`,
`?action=restart`). Sites should not do that by a link, and many do.
"""

import re
from urllib.parse import unquote

from crawler.domain.urls.url import Url

_WORDS = (
    r"log[-_ ]?(?:out|off)|sign[-_ ]?(?:out|off)|abmelden|ausloggen|se[-_]?deconnecter|deconnexion|déconnexion"
    r"|cerrar[-_]?sesion|cerrar[-_]?sesión|desconectar|terminar[-_]?sessao|uitloggen|afmelden|logga[-_]?ut|logg[-_]?ut"
    r"|log[-_]?ud|wyloguj|odhlasit|odhlaseni|kirjaudu[-_]?ulos|выйти|çıkış[-_]?yap"
)
# The last part of a path, or a name or value of the query: an article about it has other words beside.
_IN_PATH = re.compile(rf"/(?:{_WORDS})(?:\.\w{{1,5}})?/?$", re.IGNORECASE).search
_IN_QUERY = re.compile(rf"(?:^|[=&;])(?:{_WORDS})(?:$|[=&;])", re.IGNORECASE).search


def signs_out(url: Url) -> bool:
    return bool(_IN_PATH(url.path) or (url.query and _IN_QUERY(url.query)))


_VERBS = (
    r"del|delete|remove|destroy|erase|purge|trash|wipe|unpublish|unsubscribe|deactivate|disable|revoke|reset|restart"
    r"|reboot|shutdown|poweroff|kill|terminate|rollback|löschen|loeschen|entfernen|supprimer|eliminar|borrar|excluir"
    r"|elimina|verwijderen|usun|usuń|smazat|poista|slett|slet|radera|ta-?bort|удалить|sil|削除|删除"
)
_OBJECT = r"(?:all|[-_]\w[-\w]{0,30})?"
_VERB = rf"(?:{_VERBS}){_OBJECT}"
"""Alone, or with its object: `delete_user`."""
# A verb alone may be the title of a page about it. With what it is done to beside it, it is an order.
_THING = r"(?:\d+|[0-9a-f]{8,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_DONE_TO = re.compile(
    rf"/{_THING}/(?:{_VERBS})(?:\.\w{{1,5}})?/?$|/(?:{_VERBS})(?:\.\w{{1,5}})?/{_THING}/?$", re.IGNORECASE
).search
# Words with hyphens between them are a title, too.
_SCRIPT = re.compile(
    rf"/(?:{_VERBS})(?:_\w{{1,30}})?/?$|/{_VERB}\.(?:php\d?|aspx?|jsp|cgi|pl|do|cfm)$", re.IGNORECASE
).search
_NAMES = r"action|act|do|cmd|command|op|oper|operation|task|method|_method|todo|func|function|event"
# Buses stop, too: that word is an order only where one is expected.
_ORDERED = re.compile(
    rf"(?:^|[&;])(?:(?:{_NAMES})=(?:{_VERBS}|stop){_OBJECT}|{_VERB}=[^&;]+)(?:$|[&;])", re.IGNORECASE
).search
_TAIL = 200
"""Only the end of a path says what is done. Slashes without end would be looked at one by one."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def changes_something(url: Url) -> bool:
    """Whether the link says by itself that something is deleted, stopped or reset."""
    path = _readable(url.path[-_TAIL:])
    if _DONE_TO(path):
        return True
    return bool(url.query) and bool(_SCRIPT(path) or _ORDERED(_readable(url.query)))


def _readable(text: str) -> str:
    """Letters instead of their bytes, and `removeItem` as `remove_Item`."""
    return _HUMP.sub("_", unquote(text))
