"""What is served with status 200 in place of a page. It says nothing about the page."""

from random import Random

from benchmarks.labelled.shares import share
from benchmarks.labelled.values import Half

_WALLS = (
    "<title>Just a moment...</title><h1>Checking your browser</h1><p>This process is automatic. Please wait.</p>",
    "<title>Attention Required!</title><h1>Please verify you are human</h1><p>Complete the security check.</p>",
    "<title>Security check</title><p>To continue, prove that you are not a robot.</p><div class='g-recaptcha'></div>",
    "<title>Access denied</title><h1>Access denied</h1><p>You don't have permission to access this server.</p>",
    "<title>Pardon our interruption</title><p>Something about your browser made us think you are a bot.</p>",
    "<title>Are you a robot?</title><p>We have detected unusual traffic from your network.</p><form>captcha</form>",
)
_ERRORS = (
    "<title>503 Service Unavailable</title><h1>Service Unavailable</h1><p>Please try again later.</p>",
    "<title>Error</title><h1>500 Internal Server Error</h1><p>nginx</p>",
    "<title>Maintenance</title><h1>We'll be back soon</h1><p>The site is down for maintenance.</p>",
    "<title>Error establishing a database connection</title><h1>Error establishing a database connection</h1>",
    "<title>Oops</title><h1>Something went wrong</h1><p>An unexpected error occurred. Try again later.</p>",
    "<title>504</title><h1>504 Gateway Time-out</h1><hr><center>cloud</center>",
    "<h1>Bad gateway</h1><p>The server is temporarily unable to answer.</p>",
    "<title>Too many requests</title><p>You have sent too many requests. Slow down.</p>",
)
_EMPTY = ("", "<title></title>", "<title>Loading</title><div id='app'></div>", "<p> </p>")


def wall(random: Random, half: Half) -> bytes:
    kind = random.choice((_WALLS, _ERRORS, _EMPTY))
    words = random.choice(share(kind, half))
    return f"<!DOCTYPE html><html><body>{words}<!-- {random.random()} --></body></html>".encode()
