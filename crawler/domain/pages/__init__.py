"""Pages: from bytes to title, text, links and language."""
