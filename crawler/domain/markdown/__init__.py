"""Pages as markdown."""
