"""The language of a page: what its text shows, else what it declares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.pages.language import detect, primary_tag

SENTENCES = {
    "en": "Our shop is open every day from nine to six. If you have questions about your order, please write to us.",
    "de": "Unser Geschäft ist jeden Tag von neun bis sechs geöffnet. Bei Fragen zu Ihrer Bestellung schreiben Sie uns.",
    "fr": "Notre boutique est ouverte tous les jours de neuf heures à six heures. Écrivez-nous pour toute question.",
    "es": "Nuestra tienda está abierta todos los días de nueve a seis. Si tiene preguntas sobre su pedido, escríbanos.",
    "it": "Il nostro negozio è aperto tutti i giorni dalle nove alle sei. Se avete domande sull'ordine, scriveteci.",
    "pt": "A nossa loja está aberta todos os dias das nove às seis. Se tiver perguntas sobre a encomenda, escreva-nos.",
    "nl": "Onze winkel is elke dag geopend van negen tot zes uur. Als u vragen over uw bestelling heeft, schrijf ons.",
    "sv": "Vår butik är öppen varje dag från nio till sex. Om du har frågor om din beställning kan du skriva till oss.",
    "pl": "Nasz sklep jest otwarty codziennie od dziewiątej do szóstej. Jeśli masz pytania, napisz do nas.",
    "tr": "Mağazamız her gün dokuzdan altıya kadar açıktır. Siparişinizle ilgili sorularınız varsa lütfen bize yazın.",
    "ru": "Наш магазин открыт каждый день с девяти до шести. Если у вас есть вопросы о заказе, напишите нам.",
    "el": "Το κατάστημά μας είναι ανοιχτό κάθε μέρα από τις εννέα έως τις έξι. Αν έχετε ερωτήσεις, γράψτε μας.",
    "he": "החנות שלנו פתוחה בכל יום מתשע עד שש. אם יש לכם שאלות על ההזמנה, כתבו לנו ונענה תוך יומיים.",
    "ja": "当店は毎日九時から六時まで営業しています。ご注文についてご質問がございましたら、ご連絡ください。",
    "zh": "我们的商店每天九点到六点营业。如果您对订单有任何疑问，请写信给我们，我们将在两天内答复。",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_text_tells_its_language(code: str) -> None:
    assert detect(SENTENCES[code]) == code


def test_the_text_beats_a_template_that_declares_another_language() -> None:
    assert detect(SENTENCES["de"], "en-US") == "de"


def test_the_middle_of_a_page_decides_not_its_language_menu() -> None:
    menu = "English Deutsch Français Español Italiano Português Polski Русский 日本語\n"
    assert detect(menu + "\n".join([SENTENCES["sv"]] * 10), "en") == "sv"


@pytest.mark.parametrize("text", ["", "1234 5678", "x", "foo(bar) == 0x1f; i++"])
def test_a_declaration_helps_where_the_text_says_too_little(text: str) -> None:
    assert detect(text, "de-AT") == "de"
    assert detect(text) is None


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("EN", "en"),
        ("pt_BR", "pt"),
        ("iw", "he"),
        ("nb-NO", "no"),
        (" fr ", "fr"),
        ("zh-Hant-TW", "zh"),
        ("de, en", None),
        ("english", None),
        ("", None),
        (None, None),
        ("x", None),
        ("{{lang}}", None),
    ],
)
def test_declared_tags_are_reduced_to_their_language(declared: str | None, code: str | None) -> None:
    assert primary_tag(declared) == code


def test_characters_the_detector_refuses_do_not_hide_the_language() -> None:
    assert detect(f"\x01{SENTENCES['fr'][:60]}\x85\ufffe{SENTENCES['fr'][60:]}") == "fr"


@given(st.text(max_size=500))
def test_no_text_raises(text: str) -> None:
    code = detect(text.encode("utf-8", "replace").decode())
    assert code is None or 2 <= len(code) <= 3
