"""What a page shows, gathered and put in order."""
