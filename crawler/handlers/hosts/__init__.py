"""Hosts: operators' orders, recovery, overviews."""
