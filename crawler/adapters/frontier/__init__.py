"""The frontier in Redis, decided by Lua scripts."""
