"""The dashboard: HTML pages for people, served beside the API. CONTRIBUTING.md says how a page is added."""
