"""Reports and export files."""
