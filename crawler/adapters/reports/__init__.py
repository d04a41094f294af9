"""Reports of what is wrong with a site."""
