"""Form parsing and validation for the dashboard's pages."""
