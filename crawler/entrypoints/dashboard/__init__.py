"""The dashboard: pages for people, served beside the API. docs/dashboard.md says how a room is added."""
