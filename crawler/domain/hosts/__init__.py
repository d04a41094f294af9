"""Hosts: politeness, robots.txt, which addresses may be dialled, credentials."""
