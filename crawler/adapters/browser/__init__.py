"""Chromium: starting, visiting, its egress proxy, and the browser lane."""
