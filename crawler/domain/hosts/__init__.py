"""Hosts: rate limits and delays, robots.txt, which addresses may be connected to, credentials."""
