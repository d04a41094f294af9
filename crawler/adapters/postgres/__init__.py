"""Postgres: connections, schema, tables, and what all stores share."""
