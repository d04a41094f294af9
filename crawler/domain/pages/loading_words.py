"""How pages say in words that something is still to come: a line that says this and nothing else."""

MOST_CHARS = 60
"""Of a line that says it. What is longer is a sentence."""
MOST_WORDS = 5
"""Of one that names what is loading: "Loading the latest offers…"."""

_DOTS = " .…·⋯"
_IN_LANGUAGES = (
    "loading|loading data|loading content|loading results|now loading|please wait|loading, please wait|"
    "loading please wait|please wait, loading|one moment please|one moment, please|just a moment|fetching data|"
    "lädt|laden|wird geladen|lade daten|daten werden geladen|inhalt wird geladen|bitte warten|einen moment bitte|"
    "chargement|chargement en cours|en cours de chargement|veuillez patienter|patientez|"
    "cargando|cargando datos|por favor espere|espere por favor|carregando|a carregar|carregando dados|aguarde|"
    "por favor aguarde|caricamento|caricamento in corso|attendere prego|attendere|bezig met laden|even geduld|"
    "even geduld a.u.b|laddar|läser in|indlæser|henter|laster|laster inn|ladataan|hleð|ładowanie|wczytywanie|"
    "proszę czekać|trwa ładowanie|načítání|načítá se|načítavam|načítava sa|betöltés|betöltés folyamatban|se încarcă|"
    "učitavanje|učitava se|nalaganje|зареждане|загрузка|идёт загрузка|идет загрузка|загружается|подождите|"
    "пожалуйста, подождите|завантаження|φόρτωση|yükleniyor|yükleniyor, lütfen bekleyin|lütfen bekleyin|"
    "جار التحميل|جاري التحميل|جارٍ التحميل|טוען|בטעינה|در حال بارگذاری|लोड हो रहा है|กำลังโหลด|đang tải|memuat|"
    "sedang memuat|memuatkan|加载中|正在加载|载入中|正在载入|請稍候|请稍候|載入中|正在載入|讀取中|読み込み中|"
    "読み込み中です|ロード中|お待ちください|로딩 중|로딩중|불러오는 중|불러오는 중입니다"
)
PHRASES = frozenset(_IN_LANGUAGES.split("|"))
"""Whole lines, without dots at their end."""
BEGINNINGS = (
    "loading ", "lade ", "chargement d", "cargando ", "carregando ", "a carregar ", "caricamento ", "laddar ",
    "загрузка ", "загружаем ", "ładowanie ", "načítám ", "wczytywanie ", "正在加载", "正在載入", "加载",
)  # fmt: skip
"""Of lines that name what is loading. Only with dots at their end: "Loading docks" is a heading."""
# Words that are also the name of a thing, in the language of their site: alone they need dots.
_AMBIGUOUS = frozenset({"laden", "henter", "attendere", "memuat", "betöltés", "laster", "carregando dados"})


def says_loading(line: str) -> bool:
    """Whether a line says that something is loading, and nothing else."""
    if len(line) > MOST_CHARS:
        return False
    whole = " ".join(line.split()).casefold()
    said = whole.rstrip(_DOTS)
    has_dots = whole[len(said) :].strip() not in ("", ".")
    if said in PHRASES:
        return has_dots or said not in _AMBIGUOUS
    return has_dots and said.startswith(BEGINNINGS) and len(said.split()) <= MOST_WORDS
