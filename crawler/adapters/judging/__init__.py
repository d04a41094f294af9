"""Judging pages in processes that can be ended."""
