"""From a request to a page: session, templates, files, headers, errors."""
