"""Large bytes outside Postgres: in object storage, or in a directory."""
