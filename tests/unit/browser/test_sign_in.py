"""Which redirects lead to the sign-in page of a login."""

import pytest

from crawler.adapters.browser.sign_in import leads_to_login
from crawler.domain.crawls.page_steps import Do, Step
from crawler.domain.hosts.logins import Login


@pytest.mark.parametrize(
    ("opened", "location", "leads"),
    [
        ("/login", "/login?next=/a", True),
        ("/login?from=start", "/login?next=/a", True),
        ("/login", "/account", False),
        ("/index.php?page=login", "/index.php?page=login&back=7", True),
        ("/index.php?page=login", "/index.php?page=news", False),
        ("/index.php?page=login", "http://[", False),
    ],
)
def test_a_redirect_leads_to_the_page_that_the_login_opens(opened: str, location: str, *, leads: bool) -> None:
    login = Login("https://e.org", (Step(do=Do.OPEN, url=f"https://e.org{opened}"),))
    assert leads_to_login("https://e.org/a", location, login) is leads
