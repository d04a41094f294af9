"""Postgres: connections, transactions, schema version, tables, retention, encryption of secrets."""
