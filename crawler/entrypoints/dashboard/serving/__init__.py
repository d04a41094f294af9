"""From a request to an HTML page: sessions, templates, static files, headers, error pages."""
