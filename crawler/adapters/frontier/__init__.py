"""The frontier in Redis: URL queues, leases, host delays and limits, changed by Lua scripts."""
