"""What broken programs print in place of a page, as the common languages, frameworks and databases do it.

Each line is known by how it begins, in forms that nobody writes by hand: prose that quotes an error begins otherwise. A
page that explains an error has prose, too; what a program prints has little.
"""

import re
from collections.abc import Iterable, Sequence

from crawler.domain.late_pattern import late

MOST_PROSE = 40
"""Words beside the error: what a reader may do about it."""
_FIRST_LINES = 12
"""Where the error begins: above it stand a heading and what is left of a page's frame."""
_LONGEST = 1000
"""Characters of a line that are looked at."""
_BRIEF = 15
"""Words of a line that says in plain words that there is no database."""

_WHERE = r"\bin (?=\S{0,300}[/\\.])\S{1,300}?(?: on line |:)\d"
_WORDS = (
    # PHP
    rf"(?:php )?(?:(?:[a-z]{{4,12}} )?(?:fatal|parse) error|warning|notice|deprecated) ?: [^\n]{{0,600}}?{_WHERE}",
    r"(?:php )?fatal error ?: (?:uncaught \S|allowed memory size of \d|maximum execution time of \d|call to \w+ )",
    r"uncaught (?:[\w\\]+)?(?:exception|error)\b(?: ?:|$)",
    r"sqlstate ?\[\w+\]",
    r"there has been a critical error on (?:this|your) (?:web ?)?site",
    r"the website encountered an unexpected error",
    r"sorry! this site is experiencing technical difficulties",
    r"(?:whoops|oops)[,!]? (?:looks like something went wrong|an error occurred)",
    r"there has been an error processing your request",
    r"mediawiki internal error|\[[\w-]{10,30}\] [\d :-]{10,30}fatal exception of type",
    # Java
    r"whitelabel error page",
    r"exception in thread \"",
    r"http status 500\b",
    r"type exception report\b",
    # .NET, ASP, ColdFusion
    r"server error in ['‘’\"][^'‘’\"]{0,200}['‘’\"] application",
    r"(?:an )?unhandled exception\b",
    r"microsoft [\w ()]{2,80} error ['‘’\"]?[\da-f]{8}",
    r"adodb\.\w{1,40} error ['‘’\"]",
    r"active server pages error\b",
    r"error occurred while processing request",
    # Python, Ruby, Node, Go, Rust, Perl
    r"traceback \(most recent call last\)",
    r"action controller: exception caught",
    r"web application could not be started",
    r"application error: an? (?:client|server)-side exception has occurred",
    r"unhandled runtime error",
    r"(?:\w+ )?error: (?:\w+ )?e(?:conn[a-z]{3,8}|notfound|timedout|ai_again|hostunreach|pipe)\b",
    r"panic: (?=.*\b(?:runtime error|goroutine|nil|error)\b)",
    r"goroutine \d+ \[",
    r"runtime error: (?:invalid memory|index out|slice bounds|integer divide|nil)",
    r"thread '[^']{0,80}' panicked at",
    r"software error:$",
    r"dbi connect\(",
    # databases
    r"ora-\d{5}:",
    r"(?:fatal|error) ?: ?(?:sorry, )?(?:too many (?:clients|connections)|remaining connection slots)",
    r"(?:fatal|error) ?: ?(?:password authentication failed|the database system is|database \"[^\"]{0,80}\" does)",
    r"access denied for user ['‘’\"]",
    r"unknown database ['‘’\"]",
)
_KIND = r"(?:Exception|Error|Failure|NotFound|NotEstablished|Timeout|Invalid)(?![\w$])"
_CLASSES = (
    # java.lang.NullPointerException, ActiveRecord::ConnectionNotEstablished, System.Data.SqlClient.SqlException: …
    rf"(?:Caused by: |Uncaught )?(?:[A-Za-z_$][\w$]{{0,60}}(?:\.|::|\\)){{1,12}}[A-Z][\w$]{{0,80}}?{_KIND}(?:$|[:(\s])",
    # TypeError: …, OperationalError at /boats, NoMethodError in BoatsController#show
    r"(?:Uncaught )?[A-Z][A-Za-z]{2,60}(?:Error|Exception)(?:: | at /| in [A-Z]\w{2,80}#)",
)
_TRACE = (
    r"at [^\s(]{1,300}(?: \[as \w+\])?(?: ?\(|:\d)",
    r"#\d{1,4} \S",
    r"stack ?trace:?$",
    r"thrown in \S",
    r"\.\.\. \d+ (?:more|common)",
    r"caused by: ",
    r"file \"[^\"]{1,300}\", line \d",
    r"[^\s:]{1,300}\.(?:rb|erb|php|py|m?js|tsx?|go|java|kt|cs|vb|aspx?|p[lm]|exs?|rs|jsp|cf[mc])(?:[:(]\d|, line \d)",
    r"[\w$.<>/*]{3,200}\((?:[^()\n]{0,200}\.java:\d+|0x[\da-f][^()\n]{0,200})",
    r"created by \S+ in goroutine|exit status \d|[~^ ]+$",
)
_LABELS = late(
    r"(?:description|details|notes?|message|type|exception(?: details)?|source (?:error|file)|stack trace|"
    r"version information|root cause|apache tomcat/|line \d+)(?![\w-])",
    re.IGNORECASE,
)
"""What stands below the headings of servers."""
_HEADED = late(r"server error in |http status 500\b|type exception report\b", re.IGNORECASE)
_BEGINS = late(f"(?:{'|'.join(_WORDS)})", re.IGNORECASE)
_NAMED = late(f"(?:{'|'.join(_CLASSES)})")
_GOES_ON = late(f"(?:{'|'.join(_TRACE)})", re.IGNORECASE)
_FRAME = late(r"file \"[^\"]{1,300}\", line \d", re.IGNORECASE)
_BASE = r"(?:data ?bases?|db|mysql|mariadb|postgres(?:ql)?|sql|mongo(?:db)?|oracle|redis)(?: server| host)?"
_NO_DATABASE = late(
    r"(?:can(?:no|[’'])t|could ?n(?:o|[’'])t|unable to|failed to|error|failure) (?:connect(?:ing)?|"
    rf"(?:establish(?:ing)? )?(?:a )?connection) to (?:the |our |local |remote )?{_BASE}\b|"
    rf"\b{_BASE} (?:connection )?(?:error|failed|failure|unavailable|is (?:down|locked|unavailable|not available))"
    r"(?= *(?:$|[:.!(#]))|"
    rf"\bconnection to (?:the |our )?{_BASE} (?:failed|refused|was lost|timed out|could not)|"
    r"\bserver has gone away|\blost connection to mysql|(?:^|: )too many connections *(?:$|[.!(])|"
    r"\bdatenbank(?:fehler|verbindung(?= ?(?:$|fehl|konnte|nicht)))|\bverbindung (?:zur|mit der) datenbank|"
    r"\berreur (?:\w+ ){0,4}connexion à la base de données|"
    r"\berror (?:\w+ ){0,4}(?:conexión|conectar) (?:a|con) la base de datos|"
    r"\berrore (?:\w+ ){0,4}connessione (?:al|con il) database|\berro ao \w+ (?:\w+ )?conexão com o banco de dados|"
    r"\bfout (?:\w+ ){0,4}verbinding met de database|\bbłąd (?:\w+ ){0,4}z bazą danych|"
    r"\bошибка (?:\w+ ){0,4}с базой данных|\bveritabanı bağlantısı (?:\w+ ){0,4}hata",
    re.IGNORECASE,
)


def is_program_error(lines: Sequence[str]) -> bool:
    """Whether these lines, which no earlier version has, are what a program prints that broke."""
    cut = [line[:_LONGEST] for line in lines[:_FIRST_LINES]]
    first = next((line for line in cut if _is_error(line)), None)
    if first is None or "status=404" in "".join(cut):
        return False
    return _prose(lines, headed=_HEADED.match(first) is not None) <= MOST_PROSE


def _is_error(line: str) -> bool:
    if _BEGINS.match(line) or _NAMED.match(line):
        return True
    return line.count(" ") < _BRIEF and _NO_DATABASE.search(line) is not None


def _prose(lines: Iterable[str], *, headed: bool) -> int:
    """Words of lines that are no part of the error; counted up to what is too many."""
    words, is_code = 0, False
    for line in lines:
        start = line[:_LONGEST]
        is_part = is_code or _GOES_ON.match(start) or _is_error(start) or (headed and _LABELS.match(start))
        is_code = _FRAME.match(start) is not None  # the next line quotes the program
        words += 0 if is_part else line.count(" ") + 1
        if words > MOST_PROSE:
            break
    return words
