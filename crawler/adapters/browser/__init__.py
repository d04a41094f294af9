"""The browser: Chromium's process, page visits, its egress proxy, and the fetcher of the browser lane."""
