"""One implementation of one port a file; foreign errors are mapped here."""
