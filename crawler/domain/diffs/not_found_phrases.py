"""How pages say that there is nothing, in the languages most used on the web. Nothing else may stand beside it.

A phrase names the page and what it lacks. The bare "not found" of a language needs a 404 before it: by itself it may be
a title. Accents do not count, because many leave them out; neither do the variants of Arabic and Persian letters.
"""

import re
import unicodedata

from crawler.domain.late_pattern import late

_ERROR = (
    "error|status|fehler|erreur|errore|erro|fout|błąd|hata(?:sı)?|ошибка|помилка|chyba|hiba|lỗi|kesalahan|galat|"
    "خطا|خطای|错误|錯誤|エラー|오류|에러"
)
_404 = rf"(?:(?:http )?(?:{_ERROR})(?: code| kod)?\W*)?404(?:\W*(?:{_ERROR}))?"

_SORRY = (
    "oops|sorry|ups|hoppla|leider|désolée?|oups|lo sentimos|lo siento|vaya|desculpe|ops|spiacenti|siamo spiacenti|"
    "helaas|przepraszamy|üzgünüz|извините|к сожалению|упс|вибачте|на жаль|maaf|mohon maaf|rất tiếc|xin lỗi|bohužel|"
    "omlouváme se|sajnáljuk|عذرا|متاسفیم|متاسفانه|申し訳ございません|申し訳ありません|很?抱歉|对不起|對不起|죄송합니다"
)

_THING = (
    "(?:the |this |that |your )?(?:requested )?"
    "(?:page|file|article|product|content|document|item|site|topic|entry|post)"
)

_PHRASES = {
    "en": (
        rf"(?:{_THING} )?(?:you requested |you are looking for "
        rf")?(?:(?:was|is|could|can) ?)?(?:not|n?[’']t) (?:be )?found|"
        rf"{_THING} (?:does not exist|doesn[’']t exist|no longer exists)(?: any ?more| yet)?|no such {_THING}|"
        rf"{_THING} (?:is )?no longer available|"
        rf"we (?:can ?not|could not|can[’']t|couldn[’']t) find {_THING}"
    ),
    "es": (
        "(?:la |esta )?página(?: web)?(?: solicitada| que (?:buscas?|"
        "estás buscando))? (?:no (?:ha sido |fue )?encontrada|"
        "no se (?:ha encontrado|encuentra|encontró|pudo encontrar)|"
        "(?:ya )?no (?:existe|está disponible)|no disponible)|"
        "no se (?:ha encontrado|encuentra|encontró|pudo encontrar) la página"
    ),
    "de": (
        "(?:die |diese )?(?:angeforderte |gesuchte |gewünschte )?(?:web)?seite (?:(?:wurde |konnte )?(?:leider )?nicht "
        "gefunden(?: werden)?|existiert (?:leider )?nicht(?: mehr)?|"
        "ist (?:leider )?nicht (?:mehr )?(?:verfügbar|vorhanden))"
    ),
    "ja": (
        "(?:お探しの|指定された|ご指定の|該当する|この)?(?:ページ|ファイル|記事|商品)(?:が|は)?"
        "(?:見つかりません(?:でした)?|存在しません|ありません|見つかりませんでした)"
    ),
    "fr": (
        "(?:la |cette )?page (?:demandée |recherchée |que vous "
        "(?:re)?cherchez )?(?:(?:est )?introuvable|non trouvée|inexistante|"
        "n[’']a pas (?:été trouvée|pu être trouvée)|n[’']existe (?:pas|plus)|n[’']est (?:pas|plus) disponible)"
    ),
    "pt": (
        "(?:a |esta )?página (?:solicitada |que (?:você )?(?:procura|está procurando) )?(?:inexistente|"
        "não (?:foi )?(?:encontrada|localizada)|não pôde ser encontrada|"
        "(?:já )?não (?:existe|está)(?: mais)?(?: disponível)?)"
    ),
    "ru": (
        "(?:запрашиваемая |запрошенная |данная |эта )?страница(?:,? которую вы (?:ищете|искали|запрашиваете),?)? "
        "(?:не найдена|(?:больше )?не существует|(?:больше )?не "
        "?доступна|отсутствует)|(?:такой |этой )?страницы не существует"
    ),
    "it": (
        "(?:la |questa )?pagina (?:richiesta |cercata |che (?:stai "
        "cercando|cerchi) )?(?:non (?:è stata )?trovata|inesistente|"
        "non esiste(?: più)?|non è (?:più )?disponibile)"
    ),
    "nl": (
        "(?:de |deze )?(?:opgevraagde |gevraagde )?pagina (?:die (?:u|je) zoekt )?(?:(?:is |werd )?niet gevonden|"
        "(?:kan|kon) niet (?:worden gevonden|gevonden worden)|"
        "bestaat niet(?: meer)?|(?:is )?niet (?:meer )?beschikbaar)"
    ),
    "pl": (
        "(?:podana |ta |szukana |żądana )?strona (?:nie została "
        "(?:znaleziona|odnaleziona)|nie znaleziona|(?:już )?nie istnieje)|"
        "strony nie znaleziono|(?:nie znaleziono|nie można (?:znaleźć|odnaleźć)) (?:takiej |żądanej |szukanej )?strony"
    ),
    "tr": "(?:aradığınız |istenen |bu )?sayfa (?:bulunamadı|bulunamıyor|(?:artık )?mevcut değil)",
    "fa": "صفحه(?:ی|ای)?(?: مورد نظر(?: شما)?| درخواستی| درخواست شده)? (?:(?:یافت|پیدا) نشد|وجود ندارد)",
    "zh": (
        "(?:(?:您|你)?(?:所|要)?(?:访问|查找|寻找|请求|訪問|尋找|查詢|請求)的)?(?:页面|网页|頁面|網頁)"
        "(?:不存在|未找到|找不到|没有找到|沒有找到|无法找到|無法找到|已不存在)了?|"
        "(?:找不到|未找到|无法找到|無法找到|没有找到|沒有找到)(?:该|此|該|您要的|您请求的)?(?:页面|网页|頁面|網頁)"
    ),
    "vi": (
        "(?:không tìm thấy|không tồn tại) trang(?: này| web| bạn yêu cầu)?|"
        "trang (?:này |web |bạn (?:yêu cầu|tìm kiếm|đang tìm(?: kiếm)?) )?không (?:tồn tại|tìm thấy|được tìm thấy)"
    ),
    "id": "halaman (?:ini |yang (?:anda|kamu) cari )?tidak (?:ditemukan|tersedia|ada)",
    "cs": "(?:požadovaná |hledaná |tato )?stránka (?:nenalezena|nebyla nalezena|(?:již )?neexistuje|není k dispozici)",
    "ko": (
        "(?:요청하신 |요청한 |찾으시는 |해당 )?페이지(?:를|가|는)? ?(?:찾을 "
        "수 없(?:습니다|음|어요)|존재하지 않(?:습니다|음)|없습니다)|"
        "(?:존재하지 않는|없는) 페이지(?:입니다)?"
    ),
    "uk": (
        "(?:запитувана |ця )?сторінк(?:у|а) не (?:знайдено|знайдена)|(?:ця )?сторінка (?:більше )?не існує|"
        "(?:такої )?сторінки не існує"
    ),
    "hu": "(?:az? )?(?:keresett |kért )?oldal (?:nem található|(?:már )?nem (?:létezik|elérhető))",
    "ar": (
        "(?:هذه )?(?:ال)?صفحة(?: المطلوبة| التي تبحث عنها)? (?:غير (?:موجودة|متوفرة|متاحة)|لم يتم العثور عليها)|"
        "لم يتم العثور على (?:هذه )?الصفحة(?: المطلوبة)?"
    ),
    "hi": "(?:यह |अनुरोधित )?(?:पृष्ठ|पेज) (?:नहीं मिला|मौजूद नहीं है|उपलब्ध नहीं है)",
    "bn": "(?:পৃষ্ঠা|পাতা|পেজ)(?:টি)? (?:খুঁজে )?পাওয়া যায়নি",
    "ur": "(?:مطلوبہ )?صفحہ (?:نہیں ملا|موجود نہیں(?: ہے)?)",
    "th": "ไม่พบ(?:หน้า|เพจ)(?:เว็บ)?(?:นี้|ที่คุณ(?:ต้องการ|ค้นหา|กำลังค้นหา|ร้องขอ))?",
    "sv": "(?:den här |denna )?sidan (?:hittades inte|kunde inte hittas|finns inte(?: längre)?)",
}

_BARE = (
    "no encontrad[oa]|nicht gefunden|見つかりません(?:でした)?|"
    "non trouvée?|introuvable|não encontrad[oa]|не найден[ао]?|"
    "non trovat[oa]|niet gevonden|nie znaleziono|bulunamadı|"
    "(?:یافت|پیدا) نشد|未找到|找不到|không tìm thấy|tidak ditemukan|"
    "nenalezeno|찾을 수 없(?:습니다|음)|не знайдено|nem található|غير موجودة?|(?:page )?not found"
)

_LETTERS = str.maketrans("يك", "یک", "\u200c\u200d\u200e\u200f\u0640")
_LONGEST = 200
_ENDS = " \t\n.!?…:;-–—。！？．،؛¡¿"


def folded(text: str) -> str:
    """Without what many leave out: accents, and the variants of Arabic and Persian letters."""
    plain = (char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", "".join(plain)).translate(_LETTERS)


_SAYS = late(
    folded(rf"(?:(?:{_SORRY})\W+)?(?:{_404}|(?:{_404}\W*)?(?:{'|'.join(_PHRASES.values())})|{_404}\W*(?:{_BARE}))"),
    re.IGNORECASE,
)


def says_it(text: str) -> bool:
    said = text.strip(_ENDS)
    return len(said) <= _LONGEST and _SAYS.fullmatch(folded(said)) is not None
