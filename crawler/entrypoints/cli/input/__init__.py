"""Parsing and checking of command line arguments, and messages about wrong ones."""
