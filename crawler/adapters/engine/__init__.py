"""The engine's reads and writes in Postgres: batch commit, ledger, crawl state, hosts, probes."""
