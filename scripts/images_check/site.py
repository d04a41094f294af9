"""A website of two pages, run in a container beside the others: one as it is sent, one that a script makes."""

import http.server

WORDS = "Plenty of words on a page of its own. " * 40
PAGES = {
    "/": f"<title>Light</title><h1>Light</h1><p>{WORDS}</p><a href=/app>app</a>",
    "/app": "<title>App</title><div id=root></div>"
    "<script>root.innerHTML = '<h1>Rendered</h1>' + '<p>Made by a script.</p>'.repeat(30)</script>",
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("", 80), Handler).serve_forever()
