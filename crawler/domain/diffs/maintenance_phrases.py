"""How titles and headings say that a site is being worked on, in the languages most used on the web.

A phrase is enough on a short page. The bare noun is a subject like any other: a page must say hardly anything else.
"""

import re

from crawler.domain.diffs.not_found_phrases import folded
from crawler.domain.late_pattern import late

MOST_WORDS = 7
"""Of the title or heading: what is longer is a sentence about something."""
_LONGEST = 100

_PHRASES = (
    # English
    "(?:under(?:going)?|in|(?:down|closed|offline) for) (?:(?:scheduled|planned|routine|urgent) )?maintenance",
    "(?:site|website|server|system|service) (?:is )?(?:in |under )?maintenance",
    "maintenance (?:mode|in progress|break|underway)|(?:we[’']ll|we will) be (?:right )?back(?: soon| shortly)?",
    # Spanish, Portuguese, Italian, French, Romanian
    "en mantenimiento|modo (?:de )?mantenimiento|(?:trabajos|tareas) de mantenimiento|mantenimiento (?:web|del sitio)",
    "em manutenção|modo (?:de )?manutenção|manutenção (?:do site|em andamento|em curso)",
    "in manutenzione|lavori di manutenzione|manutenzione (?:in corso|del sito)|modalità (?:di )?manutenzione",
    "en (?:cours de )?maintenance|maintenance en cours|mode maintenance|maintenance du site",
    "în (?:curs de )?(?:mentenanță|întreținere)|lucrări de (?:mentenanță|întreținere)|mod(?:ul)? (?:de )?mentenanță",
    # German, Dutch, Swedish, Danish, Norwegian
    "wartungs(?:arbeiten|modus|pause|betrieb)|in (?:der )?wartung|wegen wartung",
    "wird (?:gerade |derzeit |zurzeit )?gewartet",
    "onderhouds(?:modus|werkzaamheden|werk)|in onderhoud|onderhoud aan (?:de|onze) (?:web)?site|wordt onderhouden",
    "underhålls(?:arbete|läge|stopp)|under underhåll|driftstopp|underhåll pågår",
    "vedligeholdelses(?:arbejde|tilstand)|under vedligehold(?:else)?|vedlikeholds(?:arbeid|modus)",
    "under vedlikehold|driftsstans",
    # Russian, Ukrainian, Polish, Czech, Slovak, Croatian and Serbian
    "технические работы|техработы|технических работ|профилактические работы|на (?:техническом )?обслуживании",
    "технічні роботи|технічних робіт|профілактичні роботи|на (?:технічному )?обслуговуванні",
    "przerwa (?:techniczna|konserwacyjna)|prace (?:konserwacyjne|serwisowe|techniczne)",
    "tryb konserwacji|w trakcie konserwacji",
    "údržba (?:webu|stránek|systému|serveru)|probíhá (?:plánovaná )?údržba|režim údržby",
    "(?:technická|servisní) odstávka|údržba (?:webovej )?(?:stránky|stránok)|prebieha (?:plánovaná )?údržba",
    "u održavanju|održavanje (?:u tijeku|u toku|stranice|sajta)|radovi na održavanju",
    # Turkish, Hungarian, Finnish, Greek
    "bak[ıi]mda(?:y[ıi]z|d[ıi]r)?|bak[ıi]m (?:çal[ıi]şmas[ıi]|modu|aşamas[ıi]nda)",
    "bak[ıi]m çal[ıi]şmas[ıi]nda(?:y[ıi]z|d[ıi]r)?",
    "karbantartás (?:alatt|miatt)|karbantartási (?:munkálatok|mód|üzemmód)",
    "huoltokatkos?|huoltotila|huollossa|huoltotauko",
    "υπό συντήρηση|εργασίες συντήρησης|λειτουργία συντήρησης|σε συντήρηση",
    # Vietnamese, Indonesian
    "đang (?:được )?bảo trì|bảo trì (?:hệ thống|website|trang web|máy chủ)|chế độ bảo trì",
    "(?:sedang|dalam)(?: dalam)? (?:perbaikan|pemeliharaan|maintenance)|mode pemeliharaan",
    # Arabic, Persian, Hebrew, Hindi
    "تحت الصيانة|قيد الصيانة|(?:في )?وضع الصيانة|أعمال (?:ال)?صيانة",
    "در (?:حال|دست) (?:تعمیر|بروزرسانی|به ?روز ?رسانی)|حالت تعمیر",
    "בתחזוקה|עבודות תחזוקה|מצב תחזוקה",
    "रखरखाव (?:के अधीन|के लिए|मोड)|रखरखाव जारी",
)
_UNSPACED = (
    "メンテナンス中|(?:サーバー?|システム|サイト|緊急|定期)メンテナンス|メンテナンスのお知らせ",
    "(?:正在|系统|系統|网站|網站|服务器|伺服器)[维維][护護]|[维維][护護]中|停机[维維]护",
    "점검 ?중|(?:시스템|서버|사이트|정기|서비스) ?점검",
    "ปิดปรับปรุง|ระหว่าง(?:การ)?ปรับปรุง|กำลังปรับปรุง",
)
_BARE = (
    "(?:(?:scheduled|planned|routine) )?maintenance|mantenimiento(?: programado)?|wartung|メンテナンス|"
    "manutenção(?: programada)?|(?:техническое )?обслуживание|manutenzione(?: programmata)?|(?:gepland )?onderhoud|"
    "konserwacja|bak[ıi]m|[维維][护護]|bảo trì|údržba|pemeliharaan|점검|(?:технічне )?обслуговування|karbantartás|"
    "underhåll|(?:ال)?صيانة|mentenanță|συντήρηση|vedligeholdelse|vedlikehold|huolto|תחזוקה|"
    "održavanje|maintenance (?:programmée|prévue)|रखरखाव"
)

_SAYS = late(
    folded(rf"(?<!\w)(?:{'|'.join(_PHRASES)})(?!\w)|{'|'.join(_UNSPACED)}"),
    re.IGNORECASE,
)
_IS_BARE = late(folded(_BARE), re.IGNORECASE)
_ENDS = " \t\n.!?…:;-–—。！？．،؛¡¿"


def says_maintenance(text: str) -> bool:
    """Whether a title or heading says so."""
    if len(text) > _LONGEST or text.count(" ") >= MOST_WORDS:
        return False
    return _SAYS.search(folded(text)) is not None


def names_maintenance(text: str) -> bool:
    """Whether a title or heading is the bare word for it."""
    return len(text) <= _LONGEST and _IS_BARE.fullmatch(folded(text.strip(_ENDS))) is not None
