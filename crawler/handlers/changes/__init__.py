"""Comparing crawls and pages."""
