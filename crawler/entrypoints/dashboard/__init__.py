"""The dashboard: pages for people, served beside the API. docs/dashboard.md says how a page is added."""
