"""Links that end a session: `/logout`, `?action=signout`. A crawl that is signed in does not follow them."""

import re

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
