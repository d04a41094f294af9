"""Errors of programs and notes about maintenance, served with status 200 in place of a page."""

import pytest

from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.diffs.walls import Wall, is_walled, wall_between
from crawler.domain.noise.page_noise import apply_noise_rules

SAID = "".join(f"<p>The {ship} sails at {n} from the northern quay with nets and salt.</p>" for n, ship in enumerate(
    ("Heron", "Osprey", "Tern", "Eider", "Plover")))  # fmt: skip
PAGE = f"<title>Fleet of the harbour</title><h1>Our fleet</h1>{SAID}"
FRAME = "<nav><a>Start</a> <a>Boats</a> <a>Hours</a></nav>{}<footer>Quay 4</footer>"


def read(html: str) -> PageBlocks:
    return read_blocks(f"<!doctype html><html><body>{html}</body></html>".encode())


TRACES = {
    "php": "<br />\n<b>Fatal error</b>:  Uncaught mysqli_sql_exception: No such host in /srv/shop/lib/Db.php:88\n"
    "Stack trace:\n#0 /srv/shop/lib/Db.php(88): go()\n#1 {main}\n  thrown in <b>/srv/shop/lib/Db.php</b>",
    "php memory": "Fatal error: Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in "
    "/srv/a.php on line 9",
    "php parse": "<b>Parse error</b>: syntax error, unexpected token \"}\" in <b>/srv/x/conf.php</b> on line <b>3</b>",
    "php warning": "Warning: pg_connect(): Unable to connect to PostgreSQL server: refused in /srv/x.php on line 4",
    "pdo": "SQLSTATE[08006] [7] timeout expired",
    "wordpress": "<p>There has been a critical error on this website.</p><p>Learn more about troubleshooting.</p>",
    "drupal": "The website encountered an unexpected error. Please try again later.",
    "spring": "<h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error, so you are seeing "
    "this as a fallback.</p><div>Wed Nov 18 10:00:00 UTC 2026</div><div>There was an unexpected error (type=Service "
    "Unavailable, status=503).</div>",
    "tomcat": "<title>HTTP Status 500 – Internal Server Error</title><h1>HTTP Status 500 – Internal Server Error</h1>"
    "<p><b>Type</b> Exception Report</p><p><b>Message</b> Unable to compile class for JSP</p><p><b>Description</b> The "
    "server encountered an unexpected condition that prevented it from fulfilling the request.</p><p>Exception</p><pre>"
    "org.apache.jasper.JasperException: Unable to compile\n" + "\torg.apache.jasper.Page.go(Page.java:7)\n" * 20 +
    "</pre><p><b>Note</b> The full stack trace of the root cause is available in the server logs.</p>",
    "java": "java.lang.IllegalStateException: no pool<br>" + "at org.quay.Pool.take(Pool.java:12)<br>" * 30,
    "java in one line": "javax.servlet.ServletException: gone at org.quay.A.b(A.java:1) at org.quay.C.d(C.java:2)",
    "asp.net": "<title>Runtime Error</title><h1>Server Error in '/boats' Application.</h1><h2>Runtime Error</h2>"
    "<p><b>Description:</b> An application error occurred on the server. The current custom error settings for this "
    "application prevent the details of the application error from being viewed remotely (for security reasons). It "
    "could, however, be viewed by browsers running on the local server machine.</p><p><b>Details:</b> To enable the "
    "details of this specific error message to be viewable on remote machines, please create a tag within a "
    "configuration file located in the root directory of the current web application.</p>",
    "asp": "<p>Microsoft OLE DB Provider for SQL Server error '80004005'</p><p>Login timeout</p><p>/a.asp, line 9",
    "python": "<pre>Traceback (most recent call last):\n" + '  File "/srv/app.py", line 31, in go\n    row = rows[0]\n'
    * 15 + "IndexError: list index out of range</pre>",
    "django": "<h1>OperationalError at /boats/</h1><pre>could not translate host name</pre>",
    "rails": "<h1>ActiveRecord::ConnectionNotEstablished</h1><p>connection to server at 10.0.0.4 failed</p>",
    "ruby": "<h1>NoMethodError in BoatsController#show</h1><p>undefined method `name' for nil:NilClass</p>",
    "node": "<pre>TypeError: Cannot read properties of null (reading 'row')\n    at show (/srv/app/boats.js:7:21)\n"
    "    at Layer.handle (/srv/app/node_modules/express/lib/router/layer.js:95:5)</pre>",
    "node network": "Error: connect ECONNREFUSED 10.0.0.4:27017",
    "next": "Application error: a client-side exception has occurred (see the browser console for more information).",
    "go": "<pre>panic: runtime error: invalid memory address or nil pointer dereference\ngoroutine 7 [running]:\n"
    "main.show(0xc00001)\n\t/srv/boats/main.go:31 +0x1d</pre>",
    "rust": "thread 'main' panicked at src/main.rs:4:5:",
    "perl": "<h1>Software error:</h1><pre>DBI connect('fleet','web',...) failed: gone</pre>",
    "mysql": "Can't connect to local MySQL server through socket '/run/mysqld/mysqld.sock' (2)",
    "mysql user": "Access denied for user 'web'@'10.0.0.4' (using password: YES)",
    "postgres": "FATAL: sorry, too many clients already",
    "oracle": "ORA-12541: TNS:no listener",
    "plain words": "<h1>Database error</h1><p>We could not connect to the database.</p>",
    "german": "<h1>Fehler beim Aufbau einer Datenbankverbindung</h1>",
    "french": "<h1>Erreur lors de la connexion à la base de données</h1>",
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_what_a_broken_program_prints_in_place_of_a_page_is_no_change(name: str) -> None:
    page, broken = read(PAGE), read(TRACES[name])
    assert wall_between(page, broken) is wall_between(broken, page) is Wall.ERROR
    assert (is_walled(page, broken), is_walled(broken, page)) == (False, True)
    assert apply_noise_rules(page, broken).edits == ()


@pytest.mark.parametrize("name", ["php", "php warning", "pdo", "java", "python", "node", "go"])
def test_it_may_stand_inside_the_frame_of_the_site_and_below_its_title(name: str) -> None:
    head = "<title>Fleet of the harbour</title>"
    page, broken = (read(head + FRAME.format(said)) for said in (SAID, TRACES[name]))
    assert wall_between(page, broken) is wall_between(broken, page) is Wall.ERROR


@pytest.mark.parametrize("name", ["php", "php warning", "java", "python"])
@pytest.mark.parametrize("kept", [5, 3, 1])
def test_above_a_part_of_the_page_it_is_an_edit(name: str, kept: int) -> None:
    sentences = SAID.split("</p>")[:kept]
    page, other = read(PAGE), read(f"<title>Fleet of the harbour</title>{TRACES[name]}{'</p>'.join(sentences)}</p>")
    assert wall_between(page, other) is wall_between(other, page) is None
    assert apply_noise_rules(page, other).edits


MANUAL = (
    "<p>{}</p><p>This message means that something was thrown and that no part of your program took care of it. Look "
    "at the last line first: it names the file and the line where it happened.</p><p>Put the call into a block that "
    "handles the case, write what you learned into your own log, and show your readers a page that says what to do. "
    "Do not switch such messages off before you have read them.</p>"
)


@pytest.mark.parametrize(
    "line",
    [
        "Fatal error: Uncaught PDOException: SQLSTATE[HY000] in /srv/a.php:3",
        "Traceback (most recent call last):",
        "java.lang.NullPointerException",
        "panic: runtime error: index out of range",
        "Server Error in '/' Application.",
        "Access denied for user 'web'@'localhost'",
    ],
)
def test_a_page_that_explains_such_an_error_is_a_page(line: str) -> None:
    page, manual = read(PAGE), read(f"<title>{line}</title><h1>{line}</h1>{MANUAL.format(line)}")
    assert wall_between(page, manual) is wall_between(manual, page) is None
    other = read(f"<title>{line}</title><h1>{line}</h1>{MANUAL.format(line).replace('your readers', 'people')}")
    assert len(apply_noise_rules(manual, other).edits) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Warning: in winter the quay is slippery, so please walk in the middle of it and wear good shoes.",
        "Notice: in May on line 4 no trams run.",
        "Too many connections at the junction are missed, says the railway.",
        "Fatal error in the final: the keeper let the ball slip, and the cup is lost for another year.",
        "A panic: the ferry left without its captain.",
        "Our database is new: look up each boat by its name.",
    ],
)
def test_prose_with_such_words_is_news(said: str) -> None:
    page, news = read(PAGE), read(f"<title>News</title><p>{said}</p>")
    assert wall_between(page, news) is wall_between(news, page) is None


MAINTENANCE = [
    ("Site under maintenance", "We are working on it."),
    ("Scheduled maintenance", "Back at noon."),
    ("Wartungsmodus", "Bitte versuchen Sie es später noch einmal."),
    ("Unsere Seite wird gerade gewartet", "Bis gleich."),
    ("Sitio web en mantenimiento", "Volvemos enseguida."),
    ("Site en maintenance", "Merci de votre patience."),
    ("Site em manutenção", "Voltamos já."),
    ("Sito in manutenzione", "Ci scusiamo."),
    ("Технические работы", "Мы скоро вернёмся."),
    ("Onderhoudswerkzaamheden", "We zijn er zo weer."),
    ("Przerwa techniczna", "Zapraszamy później."),
    ("Sitemiz bakımda", "Kısa süre sonra."),
    ("ただいまメンテナンス中です", "しばらくお待ちください。"),
    ("网站维护中", "请稍后再试。"),
    ("網站維護中", "請稍後再試。"),
    ("서버 점검 중입니다", "잠시 후 다시 접속해 주세요."),
    ("سایت در حال تعمیر است", "به زودی برمی‌گردیم."),
    ("الموقع تحت الصيانة", "سنعود قريبا."),
    ("Website đang bảo trì", "Vui lòng quay lại sau."),
    ("Probíhá údržba webu", "Zkuste to prosím později."),
    ("Situs sedang dalam pemeliharaan", "Silakan kembali nanti."),
    ("Ведуться технічні роботи", "Скоро повернемось."),
    ("Karbantartás alatt", "Kérjük, látogasson vissza."),
    ("Underhållsarbete pågår", "Vi är snart tillbaka."),
    ("Huoltokatko", "Palvelu palaa pian."),
    ("Siden er under vedligeholdelse", "Vi er straks tilbage."),
    ("Υπό συντήρηση", "Επιστρέφουμε σύντομα."),
    ("Site în mentenanță", "Revenim curând."),
    ("האתר בתחזוקה", "נחזור בקרוב."),
    ("ปิดปรับปรุงเว็บไซต์ชั่วคราว", "ขออภัยในความไม่สะดวก"),
]


@pytest.mark.parametrize(("says", "more"), MAINTENANCE, ids=[says for says, _ in MAINTENANCE])
def test_maintenance_in_place_of_a_page_is_no_change(says: str, more: str) -> None:
    page = read(PAGE)
    for html in (
        f"<title>{says}</title><h1>{says}</h1><p>{more}</p>",
        f"<title>{says} | Harbour</title><p>{more}</p>",
        f"<title>Fleet of the harbour</title><h2>{says}</h2><p>{more}</p>",
    ):
        other = read(html)
        assert wall_between(page, other) is wall_between(other, page) is Wall.ERROR, html
        assert apply_noise_rules(page, other).edits == ()


@pytest.mark.parametrize("noun", ["Maintenance", "Wartung", "Mantenimiento", "Manutenzione", "Обслуживание", "维护"])
def test_the_bare_word_is_enough_on_a_page_that_says_nothing_else(noun: str) -> None:
    assert wall_between(read(PAGE), read(f"<title>{noun}</title><h1>{noun}</h1>")) is Wall.ERROR
    service = "We look after the engine of your boat each spring, change its oil, and tell you what else it needs."
    assert wall_between(read(PAGE), read(f"<title>{noun}</title><h1>{noun}</h1><p>{service}</p>")) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PAGE, f"{PAGE}<h2>Wartungsarbeiten</h2><p>Am Montag bleibt der Kran stehen.</p>"),
        (PAGE, "<title>Crane</title><p>The crane is under maintenance until May.</p>"),
        (
            PAGE,
            f"<title>Wartungsarbeiten</title><h1>Wartungsarbeiten</h1>{'<p>Wir warten jeden Kran im Hafen.</p>' * 8}",
        ),
        (
            "<h1>Wartungsarbeiten</h1><p>Am Kran, bis Mai.</p><p>Fragen beantwortet Ann im Büro am Nordkai gern.</p>",
            "<h1>Wartungsarbeiten</h1><p>Am Kran, bis Juni.</p><p>Fragen beantwortet Bob im Büro am Nordkai gern.</p>",
        ),
        ("<title>Wartung</title><p>Am Kran.</p>", "<title>Wartung</title><p>Am Tor.</p>"),
    ],
)
def test_what_is_about_maintenance_is_an_edit(old: str, new: str) -> None:
    before, after = read(old), read(new)
    assert wall_between(before, after) is wall_between(after, before) is None
    assert apply_noise_rules(before, after).edits
