"""The acquisition queue in Postgres, and extraction in a process of its own."""
