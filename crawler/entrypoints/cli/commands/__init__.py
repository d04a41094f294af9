"""The commands, a file for each word."""
