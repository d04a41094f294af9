"""A page that answers 200 and says that there is nothing, and pages that only speak of it."""

import pytest

from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.diffs.soft_not_found import says_not_found, says_so_instead


def page(title: str, heading: str = "", words: int = 20) -> bytes:
    return f"<title>{title}</title><body><h1 class='x'>{heading}</h1><p>{'word ' * words}</p></body>".encode()


@pytest.mark.parametrize("said", [
    "Page not found", "404", "Error 404", "404 Not Found", "Not found",
    "Oops! The page you are looking for was not found",
    "This page could not be found.", "Sorry, this product is no longer available", "This page doesn't exist",
    "Seite nicht gefunden", "Page introuvable", "Página no encontrada", "The page can't be found", "404 Error",
])  # fmt: skip
def test_a_title_or_heading_that_says_nothing_else_says_it(said: str) -> None:
    assert says_not_found(page(said), "text/html")
    assert says_not_found(page(f"{said} | Acme"), "text/html; charset=utf-8")
    assert says_not_found(page("Acme", said), "text/html")


@pytest.mark.parametrize("said", [
    "पृष्ठ नहीं मिला", "পৃষ্ঠাটি পাওয়া যায়নি", "صفحہ نہیں ملا", "ไม่พบหน้าที่คุณต้องการ", "Sidan kunde inte hittas",
    "Sidan hittades inte", "Strony nie znaleziono", "Sorry, we can’t find that page",
    "La página que buscas no existe", "No se encontró la página", "Esta página ya no está disponible",
    "Die angeforderte Seite wurde leider nicht gefunden", "Diese Seite existiert nicht mehr",
    "お探しのページは見つかりませんでした。", "ページが存在しません", "404エラー",
    "La page demandée n’existe plus", "Cette page est introuvable", "Página não encontrada", "A página não existe mais",
    "Страница не найдена", "СТРАНИЦА НЕ НАЙДЕНА", "Такой страницы не существует", "Ошибка 404",
    "Pagina non trovata", "La pagina richiesta non esiste", "Pagina niet gevonden", "Deze pagina bestaat niet meer",
    "Strona nie istnieje", "Nie znaleziono strony", "Sayfa bulunamadı", "SAYFA BULUNAMADI", "404 hatası",
    "صفحه مورد نظر یافت نشد", "صفحه پیدا نشد", "页面不存在",
    "找不到网页", "您访问的页面不存在！", "404错误", "找不到頁面",
    "Không tìm thấy trang", "Trang bạn yêu cầu không tồn tại",
    "Halaman tidak ditemukan", "Maaf, halaman yang Anda cari tidak ada",
    "Stránka nenalezena", "Stranka nebyla nalezena", "페이지를 찾을 수 없습니다", "존재하지 않는 페이지입니다",
    "Сторінку не знайдено", "Такої сторінки не існує", "Az oldal nem található", "A keresett oldal nem létezik",
    "الصفحة غير موجودة", "عذراً، الصفحة المطلوبة غير موجودة", "لم يتم العثور على الصفحة",
    "404 Nicht gefunden", "404：找不到", "Pagina no encontrada",
])  # fmt: skip
def test_the_languages_most_used_on_the_web_are_understood(said: str) -> None:
    assert says_not_found(page(said), "text/html; charset=utf-8")
    assert says_not_found(page(f"Acme – {said}"), "text/html; charset=utf-8")
    assert says_not_found(page("Acme", said), "text/html; charset=utf-8")


@pytest.mark.parametrize("title", [
    "Cómo arreglar el error 404", "Как исправить ошибку 404",
    "404号室の料金", "404 hatası nasıl çözülür", "404エラーとは",
    "페이지를 찾을 수 없음 오류 해결 방법", "如何解决页面不存在的问题", "Страница найдена",
    "Stránka nalezena", "找到了页面", "ページが見つかりました",
    "Introuvable", "Nicht gefunden", "Страница не найдена в архиве музея",
    "Seite gefunden", "La página", "找不到", "صفحه",
    "Die verlorene Seite wurde nicht gefunden, aber die Suche geht weiter", "Halaman", "Nie znaleziono winnych",
])  # fmt: skip
def test_a_page_about_something_in_another_language_does_not(title: str) -> None:
    assert not says_not_found(page(title, title), "text/html; charset=utf-8")


def test_a_long_page_is_long_in_scripts_without_blanks_too() -> None:
    text = "このページでは見つからない場合の対処法を説明します。" * 30
    body = f"<title>ページが見つかりません</title><body><h1>ページが見つかりません</h1><p>{text}</p></body>"
    assert not says_not_found(body.encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize("title", [
    "Peugeot 404", "Cars | 404", "How to fix 404 errors", "Lost and found", "The lost page",
    "Room 404 - Rates and photos",
    "Not found guilty", "Acme", "The species was not found in Norway", "",
])  # fmt: skip
def test_a_page_about_something_does_not(title: str) -> None:
    assert not says_not_found(page(title, title), "text/html")


def test_neither_does_a_long_page_nor_what_is_no_html() -> None:
    assert not says_not_found(page("404 Not Found", words=300), "text/html")
    assert not says_not_found(page("404 Not Found"), "application/pdf")
    assert not says_not_found(b"", "text/html")


MENU = "<ul><li>Start<li>Index<li>Search<li>Log in</ul>"
FOOT = "<p>Made with a wiki that many people like to use.</p>"
SOWN = "<p>Barley is sown in month {} of the year, and cut some weeks later.</p>"
ABOUT = f"<h2>Barley</h2>{''.join(map(SOWN.format, range(9)))}"


def instead(said: str, url: str = "https://wiki.test/wiki/GrainBarley", before: str = ABOUT) -> bool:
    old, new = (f"<title>GrainBarley – Farm</title>{MENU}{text}{FOOT}".encode() for text in (before, said))
    return says_so_instead(read_blocks(old), read_blocks(new), url)


@pytest.mark.parametrize("said", [
    "<p>The page GrainBarley does not exist. You can create it here.</p>",
    "<p>Page “GrainBarley” not found</p>", "<p>GrainBarley does not exist</p><p>Create this page</p>",
    "<p>This page does not exist yet.</p><ul><li>Create new empty page</ul>",
    "<p>Die Seite GrainBarley existiert nicht.</p>",
    "<p>No such page: GrainBarley</p>", "<p>La page GrainBarley n’existe pas.</p>",
])  # fmt: skip
def test_a_sentence_in_place_of_all_that_a_page_said_says_it(said: str) -> None:
    assert instead(said)
    assert instead(said, "https://wiki.test/view?page=GrainBarley&lang=en")


@pytest.mark.parametrize("said", [
    "<p>The page GrainWheat does not exist. You can create it here.</p>",
    ABOUT.replace(SOWN.format(3), "<p>This product is no longer available.</p>"),
    "<p>This page does not exist in the archive of the museum, which was closed.</p>",
    "<p>The page GrainBarley does not exist.</p>" + "<p>Here is a long story of something else, at length.</p>" * 5,
    "<p>Barley grows everywhere.</p>",
    "<p>Sorry, this item is no longer available.</p>", "<p>This product was not found.</p>",
    "<p>この商品はありません</p>",
    "<p>GrainBarley is no longer available.</p>", "<p>This content is no longer available. Ask at the counter.</p>",
])  # fmt: skip
def test_an_edit_that_speaks_of_it_does_not(said: str) -> None:
    assert not instead(said)


def test_a_page_that_said_so_before_does_not_say_it_instead() -> None:
    assert not instead(
        "<p>The page GrainBarley does not exist. Create it.</p>", before="<p>GrainBarley does not exist.</p>"
    )
