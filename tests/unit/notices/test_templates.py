"""Templates of people: what they make, and what they cannot do."""

from typing import Any

import pytest

from crawler.domain.notices.notice import Mail
from crawler.domain.notices.templates import (
    LONGEST_BODY,
    Rendered,
    check_template,
    rendered,
    templated_mail,
    templated_payload,
)

VALUES: dict[str, Any] = {"project": {"name": "Shop"}, "watched": [{"words": "price 9 → 8"}], "changed_pages": 1}
MAIL = Mail("[Acme] Changes", "The text\n", "<html><body><p>The text</p></body></html>")


def test_a_template_sees_values() -> None:
    written = "{{ project.name }}: {% for one in watched %}{{ one.words }}{% endfor %}"
    assert rendered(written, VALUES, LONGEST_BODY) == Rendered("Shop: price 9 → 8")


@pytest.mark.parametrize(
    "written",
    [
        "{{ nothing }}",
        "{{ 1 / 0 }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ project.__init__.__globals__ }}",
        "{{ watched.append(1) }}",
        "{% include 'x' %}",
        "{{ range(10 ** 9) | list }}",
        "{{ cycler.__init__.__globals__ }}",
    ],
)
def test_a_template_that_fails_says_so_and_does_nothing_else(written: str) -> None:
    found = rendered(written, VALUES, LONGEST_BODY)
    assert found.text is None
    assert found.problem
    mail = templated_mail(MAIL, None, found)
    assert mail.text.startswith("The template could not be used: ")
    assert mail.text.endswith("The text\n"), "nobody loses a notice"
    assert templated_payload({"event": "x"}, found) == {"event": "x", "template_problem": found.problem}


@pytest.mark.parametrize(
    "written",
    ["{{", "{% for %}", "{% endif %}", f"{{{{{'(' * 5000}1{')' * 5000}}}}}", "{% if 1 %}" * 900 + "{% endif %}" * 900],
)
def test_what_is_no_template_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="no template"):
        check_template(written)


def test_a_mail_and_a_webhook_in_own_words() -> None:
    mail = templated_mail(MAIL, Rendered("Cheap\nnow"), Rendered("<b>8</b>"))
    assert (mail.subject, mail.text) == ("Cheap now", "<b>8</b>")
    assert "<b>8" not in mail.html
    assert templated_payload({"event": "x"}, Rendered('{"text": "8"}')) == {"text": "8"}
    assert "template_problem" in templated_payload({"event": "x"}, Rendered("[1]"))
    assert "template_problem" in templated_payload({"event": "x"}, Rendered("oops"))


@pytest.mark.parametrize("written", ["a{{ '%c' % 0 }}b", "a{{ '\\ud800' }}b"])
def test_what_no_mail_and_no_database_can_hold_is_left_out(written: str) -> None:
    text = rendered(written, VALUES, LONGEST_BODY).text
    assert text in ("a\ufffdb", "a?b")
    told = templated_payload({"event": "x"}, rendered('{"text": "\\u0000"}', VALUES, LONGEST_BODY))
    assert (told["event"], told["template_problem"]) == ("x", "what the template makes holds the character NUL")
