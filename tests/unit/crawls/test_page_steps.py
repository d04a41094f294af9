"""Steps in a browser: which lines are steps, and for which pages."""

import pytest

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.crawls.page_steps import Do, InvalidSteps, Step, login_steps, page_steps, parse_step, steps_at
from crawler.domain.rendering.signals import decide_mode, decide_steps

LOGIN = ["open https://example.org/in", "fill #user from user", "fill [name='pass word'] from password", "click button"]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("open https://example.org/in?a=1", Step(Do.OPEN, url="https://example.org/in?a=1")),
        ("fill input[name=from] from user", Step(Do.FILL, "input[name=from]", secret="user")),
        ("click  .accept", Step(Do.CLICK, ".accept")),
        ("click .accept if there", Step(Do.CLICK, ".accept", needed=False)),
        ("click a.more up to 5 times", Step(Do.CLICK, "a.more", times=5, needed=False)),
        ("wait for main > p:nth-child(2)", Step(Do.WAIT, "main > p:nth-child(2)")),
        ("wait for xpath://p[@id='a']", Step(Do.WAIT, "xpath://p[@id='a']")),
        ("scroll up to 1 time", Step(Do.SCROLL, times=1, needed=False)),
        ("at /shop/\\d+ wait for .price", Step(Do.WAIT, ".price", pattern="/shop/\\d+")),
    ],
)
def test_a_line_is_a_step(line: str, step: Step) -> None:
    assert parse_step(line) == step._replace(line=" ".join(line.split()))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "run alert(1)",
        "open javascript:alert(1)",
        "open file:///etc/passwd",
        "fill #user",
        "fill #user from ../user",
        "click",
        "click .more up to 51 times",
        "click .more up to 0 times",
        "scroll",
        "wait for [a=')'",
        "wait for a >> b",
        "wait for a)",
        "at ( click .more",
        "click " + "a" * 1200,
    ],
)
def test_what_is_no_step_is_refused_with_a_sentence(line: str) -> None:
    with pytest.raises(InvalidSteps, match=r"\."):
        parse_step(line)


def test_secrets_and_other_pages_are_for_signing_in_only() -> None:
    assert [step.do for step in login_steps(LOGIN)] == [Do.OPEN, Do.FILL, Do.FILL, Do.CLICK]
    for line in LOGIN[:2]:
        with pytest.raises(InvalidSteps, match="to sign in"):
            page_steps([line])
    for lines in ([], LOGIN[1:], LOGIN[:1], [*LOGIN, "at /a click b"], [LOGIN[0]] * 21):
        with pytest.raises(InvalidSteps):
            login_steps(lines)


def test_pages_with_steps_need_a_browser_and_others_do_not() -> None:
    config = CrawlConfig(page_steps=("at /shop/ click .more up to 3 times", "at /shop/a wait for b"))
    assert [step.do for step in steps_at(config.page_steps, "https://example.org/shop/a")] == [Do.CLICK, Do.WAIT]
    assert decide_mode(config) is None
    assert decide_steps(config, "https://example.org/about") is None
    chosen = decide_steps(config, "https://example.org/shop/b")
    assert chosen is not None
    assert chosen.words == "steps before reading are asked for"
    never = CrawlConfig(page_steps=("wait for b",), render="never")
    assert decide_steps(never, "https://example.org/") is None
    everywhere = decide_mode(CrawlConfig(page_steps="click .accept if there\n\nscroll up to 2 times"))
    assert everywhere == chosen


def test_a_project_with_wrong_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="is no step"):
        CrawlConfig(page_steps=("eval x",))
